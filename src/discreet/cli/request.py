"""`discreet request`: questions above an analyst's ceiling, to be approved by the custodian."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from discreet.cli.common import options
from discreet.cli.common.help import Command, group
from discreet.cli.common.reporting import reported
from discreet.cli.common.terms import offering
from discreet.cli.common.where import Where, opened, somewhere
from discreet.cli.show.formats import Format, TextFormat
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet, refuse_binary_to_screen, show_json
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.interfaces.client import RemoteRequest
    from discreet.ledger import ApprovalRequest

Name: TypeAlias = Annotated[str, typer.Argument(metavar="REQUEST", help="Its id in `discreet request list`.")]
By: TypeAlias = Annotated[
    str, typer.Option("--by", metavar="NAME", help="Who decides; never the one who made the request.")
]
request = group("request", "Questions above a ceiling, and the custodian's approval of them.")


@request.command(cls=Command)
@reported
@offering
@somewhere
def create(
    question: options.Question,
    *,
    terms: dict[str, Any],
    purpose: Annotated[
        str, typer.Option("--purpose", metavar="TEXT", help="What the answer is for; the custodian reads this.")
    ],
    format_: options.TextOrJson = TextFormat.TABLE,
    where: Where,
) -> None:
    """Request a server's approval for a question that costs more than your ceiling.

    An approval is for the question's plan as it is now, and for asking it once: use --approval, with the same question
    and offer. The command also says who else may read the answer.
    """
    from discreet.interfaces.client import Remote

    if where.server is None:
        raise InvalidArgument(
            "a request is made at a server, in the name of the token's holder", hint="name it with --server"
        )
    with where.opened() as tables:
        if isinstance(tables, Remote):
            made = tables.request(question, purpose=purpose, **terms)
    if format_ is TextFormat.JSON:
        show_json({**dict(zip(_COLUMNS, _row(made, Format.JSON), strict=True)), "readers": made.readers})
        return
    say(f"requested {made.id}, at {made.cost}; ask it with --approval {made.id} once it is approved")
    say(printable(made.readers))


@request.command("list", cls=Command)
@reported
@somewhere
def list_(*, format_: options.Formatted = Format.TABLE, raw: options.Raw = False, where: Where) -> None:
    """Show the requests of analysts: the question, its cost, its purpose, and what became of it.

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
    days: Annotated[int, typer.Option("--days", min=1, help="How many days the approval is valid.")] = 7,
    any_version: Annotated[
        bool, typer.Option("--any-version", help="For any version of the tables, not only the one in force.")
    ] = False,
    by: By = "custodian",
    config: options.Config = options.CONFIG,
) -> None:
    """Let the analyst who requested a question ask it once, with the plan that they requested.

    Its answer is stored like any other: other analysts get it free if they may ask the question themselves, and anyone
    may get what follows from it.
    """
    from discreet.gateway import declarations_digest
    from discreet.ledger import Approver
    from discreet.service import request_of

    with opened(config) as tables:
        found = tables.requests.find(name)
        plan = ""
        if found is not None:
            plan = tables.plan_request(found.question, request_of(found.subject, found.terms)).digest
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
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="The reason, for the analyst who requested it.")
    ] = "",
    by: By = "custodian",
    config: options.Config = options.CONFIG,
) -> None:
    """Deny a request, or take back an approval that wasn't used."""
    from discreet.ledger import Approver

    with opened(config) as tables:
        denied = tables.requests.deny(name, Approver(subject=by), reason)
    say(f"denied {name}, of {printable(denied.subject)}")


_COLUMNS = ("request", "name", "question", "epsilon", "rho", "purpose", "state", "until", "reason")


def _row(found: ApprovalRequest | RemoteRequest, as_format: Format) -> list[str | None]:
    """A request as a row of a sheet; its cost is exact for programs and rounded for people."""
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


def _amount(exact: str | None, as_format: Format) -> str | None:
    from fractions import Fraction

    from discreet.exact.rounding import shown

    return exact if exact is None or as_format is not Format.TABLE else shown(Fraction(exact))
