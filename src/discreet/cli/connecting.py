"""`discreet tables`, what may be asked about, here or behind a server; `discreet connect`, who one is at a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from discreet.cli.common import options
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import cut_list, limits_to_read, say, working
from discreet.cli.common.sheets import Sheet, refuse_binary_to_screen, show_json, show_table
from discreet.printable import printable


@reported
@options.somewhere
def tables(*, format_: options.Formatted = options.Format.TABLE, where: options.Where) -> None:
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
            Sheet(names, [[each["name"], *row] for each in schema["tables"] for row in _rows(each)]).show(format_)


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
        rows = [[name, kind, bounds, _brief(keys)] for name, kind, _, bounds, keys in _rows(table)]
        show_table(("column", "kind", "bounds", "keys"), rows, right=[False] * 4)


def _rows(table: Mapping[str, Any]) -> list[list[Any]]:
    """The columns of a table, row by row."""
    return [
        [
            column["name"],
            column["kind"],
            column["nullable"],
            "" if column["bounds"] is None else "{} to {}".format(*column["bounds"]),
            "" if column["keys"] is None else ", ".join("NULL" if key is None else str(key) for key in column["keys"]),
        ]
        for column in table["columns"]
    ]


def _brief(keys: str) -> str:
    """Keys as far as they fit a line."""
    return cut_list(keys.split(", "), most=6) if keys else ""
