"""What comes before a question: `discreet tables`, what may be asked about; `connect`, who one is at a server.

And where a question costs more than one may: `request`, what analysts ask to be approved, and what the custodian says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from discreet.cli.app import reported
from discreet.cli.common import options
from discreet.cli.common.help import Command, group
from discreet.cli.common.screen import (
    Sheet,
    cut_list,
    limits_to_read,
    refuse_binary_to_screen,
    say,
    show_json,
    show_table,
    working,
)
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.interfaces.client import RemoteRequest
    from discreet.ledger import ApprovalRequest


@reported
@options.somewhere
def tables(
    *, format_: options.Formatted = options.Format.TABLE, raw: options.Raw = False, where: options.Where
) -> None:
    """Show what may be asked about: tables, units, limits, columns, bounds and keys, as they are declared.

    All of it is public. Nothing is read but the declarations.
    """
    from discreet.interfaces.client import Remote

    refuse_binary_to_screen(format_)
    with where.opened() as found:
        if isinstance(found, Remote):
            schema: Mapping[str, Any] = found.schema
        else:
            from discreet.tables import public_schema

            schema = public_schema(found.dataset)
    match format_:
        case options.Format.TABLE:
            _show(schema["tables"])
        case options.Format.JSON:
            show_json(schema)
        case options.Format.CSV | options.Format.ARROW:
            names = ("table", "column", "kind", "nullable", "bounds", "keys")
            Sheet(names, [[each["name"], *row] for each in schema["tables"] for row in _rows(each)]).show(
                format_, raw=raw
            )


@reported
def connect(
    server: Annotated[str, typer.Argument(metavar="URL", envvar="DISCREET_SERVER", help="The address of the server.")],
    *,
    token_file: options.TokenFile = None,
    key: options.PublicKeyOption = None,
    format_: options.TextOrJson = options.TextFormat.TABLE,
) -> None:
    """Try the address of a server and a token: say whose it is, what it allows, and what may be asked about.

    The token is in --token-file, a file that nobody else can read, or in the variable DISCREET_TOKEN; never on the
    command line, where every other program of the machine sees it. Nothing is spent, and nothing is remembered: other
    commands take the address from --server, or from the variable DISCREET_SERVER.
    """
    with working("connecting"), options.reached(server, token_file, key) as remote:
        caller = remote.me()
        signed_by = remote.key.text
        schema = remote.schema if caller.get("role") != "operator" else None
    if format_ is options.TextFormat.JSON:
        show_json({"caller": dict(caller), "key": signed_by, "dataset": schema})
        return
    ceiling = caller.get("most_epsilon")
    most = "" if ceiling is None else f"; a question may cost ε = {ceiling}"
    who = f"{caller.get('subject')}, {caller.get('role')}, until {caller.get('expires')}{most}"
    say(printable(f"you are    {who}"))
    say(f"signed by  {signed_by}" + ("" if key else ", as the server says: ask the custodian"))
    if schema is not None:
        say()
        _show(schema["tables"])


def _show(declared: Sequence[Mapping[str, Any]]) -> None:
    """Print tables for people: each with what holds for all of it, and its columns."""
    for number, table in enumerate(declared):
        if number:
            say()
        unit = "public" if table["public"] else f"unit {table['unit']}, limits {limits_to_read(table['limits'])}"
        say(printable("; ".join([f"{table['name']}  {unit}", *table["links"]])))
        keys = [_brief(column["keys"]) for column in table["columns"]]
        rows = [[name, kind, bounds, some] for (name, kind, _, bounds, _), some in zip(_rows(table), keys, strict=True)]
        show_table(("column", "kind", "bounds", "keys"), rows, right=[False] * 4)


def _rows(table: Mapping[str, Any]) -> list[list[Any]]:
    """The columns of a table, row by row."""
    return [
        [
            column["name"],
            column["kind"],
            column["nullable"],
            "" if column["bounds"] is None else "{} to {}".format(*column["bounds"]),
            "" if column["keys"] is None else ", ".join(_named(column["keys"])),
        ]
        for column in table["columns"]
    ]


def _named(keys: Sequence[Any]) -> list[str]:
    """Keys, in quotation marks where one has a comma, so that each can be told from the next."""
    names = ["NULL" if key is None else str(key) for key in keys]
    return [f'"{name}"' if "," in name else name for name in names]


def _brief(keys: Sequence[Any] | None) -> str:
    """Keys as far as they fit a line."""
    return "" if keys is None else cut_list(_named(keys), most=6)


# ── Requests ──────────────────────────────────────────────────────────────────────────────────────────────────────────

Name: TypeAlias = Annotated[str, typer.Argument(metavar="REQUEST", help="What `discreet request list` calls it.")]
By: TypeAlias = Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides; never who made the request.")]

request = group("request", "Questions above a ceiling that analysts asked to be approved.")


@request.command(cls=Command)
@reported
@options.offering
@options.somewhere
def create(
    question: options.Question,
    *,
    purpose: Annotated[str, typer.Option("--purpose", metavar="TEXT", help="What it is for, for the custodian.")],
    format_: options.TextOrJson = options.TextFormat.TABLE,
    where: options.Where,
    terms: dict[str, Any],
) -> None:
    """Request approval, at a server, for a question that costs more than one of yours may.

    What is approved is its plan as it is now, once. Ask it then with --approval, with the same question and offer. It
    says who else may read the answer.
    """
    from discreet.interfaces.client import Remote

    if where.server is None:
        raise InvalidArgument(
            "a request is made at a server, in the name of the token's holder", hint="--server says which"
        )
    with where.opened() as tables:
        if isinstance(tables, Remote):
            made = tables.request(question, purpose=purpose, **terms)
    if format_ is options.TextFormat.JSON:
        show_json({**dict(zip(_COLUMNS, _row(made, options.Format.JSON), strict=True)), "readers": made.readers})
        return
    say(f"requested {made.id}, at {made.cost}; ask it with --approval {made.id} once it is approved")
    say(printable(made.readers))


@request.command("list", cls=Command)
@reported
@options.somewhere
def list_(*, format_: options.Formatted = options.Format.TABLE, raw: options.Raw = False, where: options.Where) -> None:
    """Show what analysts asked to be approved: the question, what it costs, what for, and what became of it.

    A server shows analysts their own requests.
    """
    from discreet.interfaces.client import Remote

    refuse_binary_to_screen(format_)
    with where.opened() as tables:
        found = tables.requests() if isinstance(tables, Remote) else tables.requests.all()
    Sheet(_COLUMNS, [_row(each, format_) for each in found]).show(format_, empty="", raw=raw)


@request.command(cls=Command)
@reported
def approve(
    name: Name,
    *,
    days: Annotated[int, typer.Option("--days", min=1, help="For how many days it may be asked.")] = 7,
    any_version: Annotated[
        bool, typer.Option("--any-version", help="Of any version of the tables, not of the one in force alone.")
    ] = False,
    by: By = "custodian",
    config: options.Config = options.CONFIG,
) -> None:
    """Let a question be asked, once, by who requested it: at the plan that they requested, or not at all.

    Its answer is stored like any other: other analysts may have it free if they may ask the question themselves,
    and anybody may have what follows from it.
    """
    from discreet.gateway import declarations_digest
    from discreet.ledger import Approver
    from discreet.service import terms_of

    with options.opened(config) as tables:
        found = tables.requests.find(name)
        plan = "" if found is None else tables.plan(found.question, **terms_of(found.subject, found.terms)).digest
        approved = tables.requests.approve(
            name,
            Approver(subject=by),
            plan=plan,
            declarations=declarations_digest(tables.dataset),
            days=days,
            any_version=any_version,
        )
    say(f"approved until {approved.until:%Y-%m-%d %H:%M}, for {printable(approved.subject)}")


@request.command(cls=Command)
@reported
def deny(
    name: Name,
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="For who requested it.")] = "",
    by: By = "custodian",
    config: options.Config = options.CONFIG,
) -> None:
    """Deny a request, or take back an approval that wasn't used."""
    from discreet.ledger import Approver

    with options.opened(config) as tables:
        denied = tables.requests.deny(name, Approver(subject=by), reason)
    say(f"denied {name}, of {printable(denied.subject)}")


_COLUMNS = ("request", "name", "question", "epsilon", "rho", "purpose", "state", "until", "reason")


def _row(found: ApprovalRequest | RemoteRequest, as_format: options.Format) -> list[str | None]:
    """A request as a line of a sheet: its cost exactly for programs, and to be read in a table."""
    from discreet.results import Cost

    cost: Any = found.cost.to_json() if isinstance(found.cost, Cost) else found.cost
    return [
        found.id,
        printable(found.subject),
        printable(found.question),
        *(_amount(cost["exact"][name], as_format) for name in ("epsilon", "rho")),
        printable(found.purpose),
        str(found.state),
        None if found.until is None else f"{found.until:%Y-%m-%d %H:%M}",
        printable(found.reason),
    ]


def _amount(exact: str | None, as_format: options.Format) -> str | None:
    """An amount of a cost."""
    from fractions import Fraction

    from discreet.exact.rational import shown

    return exact if exact is None or as_format is not options.Format.TABLE else shown(Fraction(exact))
