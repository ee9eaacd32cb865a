"""`discreet conform`: attack a server over the protocol that strangers use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.reporting import reported
from discreet.cli.show.formats import Format, TextFormat
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet, show_json
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.interfaces.conformance import Report

_PREFIX = "dsc_"


@reported
def conform(  # noqa: PLR0913 — each is an option of the command
    url: Annotated[str, typer.Argument(metavar="URL", help="The server, like https://host:8443.")],
    *,
    token: Annotated[
        list[str],
        typer.Option(
            "--token",
            metavar="FILE",
            envvar="DISCREET_TOKEN",
            help="A file that nobody else can read, with a test account's tokens; or a token. May be repeated.",
        ),
    ],
    spend: Annotated[str, typer.Option(metavar="NUMBER", help="The most ε that may be offered.")] = "0.5",
    twin: Annotated[
        str | None, typer.Option(metavar="URL", help="A second server whose tables differ by one person.")
    ] = None,
    canary: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A marked value that no reply may contain. May be repeated."),
    ] = None,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Try only this family. May be repeated.")
    ] = None,
    written: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A file that the server writes, such as its log. May be repeated."),
    ] = None,
    postgres: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="The server's port for PostgreSQL's protocol, to attack as well.")
    ] = "",
    format_: options.TextOrJson = TextFormat.TABLE,
) -> None:
    """Attack a server in known ways, over the protocol that strangers use.

    It takes an analyst's token. With tokens of a second analyst, a custodian, an auditor and an operator it tries more.
    It lists what it couldn't try, which never counts as passed. Expired and revoked tokens may be among them: it tries
    those, too. Use test accounts: it asks questions, and makes and revokes a token.

    It never offers more than `--spend`, whatever the server charges. If nothing broke, that proves nothing. The exit
    code is 1 if something did.
    """
    from discreet.interfaces.conformance import conform as tried

    tokens = [each for said in token for each in _tokens(said)]
    with working("trying"):
        found = tried(
            url,
            tokens,
            spend=spend,
            twin=twin,
            canaries=canary or (),
            families=family or None,
            written=written or (),
            postgres_at=postgres,
        )
    if format_ is TextFormat.JSON:
        show_json(found.to_dict())
    else:
        _show_report(found)
    if found.is_broken:
        raise typer.Exit(ExitCode.REFUSED)


def _tokens(said: str) -> list[str]:
    """The tokens in a file, or the one given on the command line.

    Raises:
        InvalidArgument: there is no such file, or others can read it.
    """
    if said.startswith(_PREFIX):
        return [said]
    path = Path(said)
    if not path.is_file():
        raise InvalidArgument("there is no such file of tokens", hint="--token FILE, or DISCREET_TOKEN")
    if path.stat().st_mode & 0o077:
        raise InvalidArgument("other users can read the file of tokens", hint=f"chmod 600 {printable(said)}")
    return path.read_text(encoding="utf-8").split()


def _show_report(found: Report) -> None:
    """Print the table, what broke, and what it cost."""
    rows = [[each.family, str(each.verdict), each.tries, each.tried] for each in found.findings]
    Sheet(("family", "verdict", "tries", "tried"), rows).show(Format.TABLE)
    for each in found.findings:
        for evidence in each.evidence:
            say(printable(f"{each.family}, {each.verdict}: {evidence}"), hang=2)
    offered = sum(float(each.offered) for each in found.findings)
    say(f"offered at most ε = {offered:.6g}; spent, as the server says: {printable(found.spent)}", hang=2)
