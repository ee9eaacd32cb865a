"""`discreet token`: who may use `discreet serve`."""

from __future__ import annotations

from pathlib import Path
from socket import gethostname
from typing import Annotated, TypeAlias

import typer

from discreet.cli.common import options
from discreet.cli.common.help import Command, group
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import opened
from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet, refuse_binary_to_screen
from discreet.errors import InvalidArgument
from discreet.printable import printable

Days: TypeAlias = Annotated[int, typer.Option("--days", min=1, help="How many days it is valid.")]
token = group("token", "The tokens that let people use `discreet serve`.")


@token.command(cls=Command)
@reported
def create(  # noqa: PLR0913 — what a token may allow, each by name
    subject: Annotated[str, typer.Argument(metavar="NAME", help="Who will hold it; questions are asked in this name.")],
    *,
    role: Annotated[str, typer.Option("--role", help="analyst, custodian, auditor or operator.")] = "analyst",
    days: Days = 90,
    most_epsilon: Annotated[
        str | None, typer.Option("--most-epsilon", metavar="NUMBER", help="The most ε that one question may cost.")
    ] = None,
    most_rho: Annotated[
        str | None,
        typer.Option(
            "--most-rho", metavar="NUMBER", help="The same in ρ; beside --most-epsilon, it allows Gaussian noise."
        ),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            "--share",
            metavar="NUMBER",
            help="The most ε that NAME may spend in all; `all` means the whole budget. A tenth of it if left out.",
        ),
    ] = None,
    share_delta: Annotated[
        str | None, typer.Option("--share-delta", metavar="NUMBER", help="The δ of that share, for Gaussian noise.")
    ] = None,
    renews: Annotated[
        str | None,
        typer.Option("--renews", metavar="monthly", help="The share is for each calendar month (UTC), not in all."),
    ] = None,
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", metavar="NAME", help="The account it is for; this one if left out.")
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            envvar="DISCREET_SERVER",
            help="The server's address, in the lines to paste.",
        ),
    ] = None,
    config: options.Config = options.CONFIG,
) -> None:
    """Make a token, and show it once. The ledger keeps only its digest, so nobody can show it again.

    The token goes to standard output. For an analyst, standard error has lines to paste: by which it is kept, and by
    which one connects with it, from a shell and from Python.
    """
    from discreet.service import ALL, Role, role_of, share_of
    from discreet.service.tokens import issue, usual_share

    if share is None and share_delta is not None:
        raise InvalidArgument("a share with a δ needs an ε too", hint="--share 1 --share-delta 1e-6")
    held, is_whole = role_of(role), share == ALL and renews is None
    with opened(config) as tables:
        said = share_of(None if share is None or is_whole else {"epsilon": share, "delta": share_delta}, renews)
        if said is None and held is Role.ANALYST and not is_whole:
            said = usual_share(tables.dataset.budget, tables.dataset.analysts)
            if said is not None:
                typer.echo(
                    f"{printable(subject)} may spend {said} in all, a tenth of the budget; or say --share", err=True
                )
        issued = issue(
            tables.tokens,
            subject,
            held,
            days=days,
            most_epsilon=most_epsilon,
            most_rho=most_rho,
            share=said,
            datasets=datasets or (),
        )
    say(issued.text)
    if held is Role.ANALYST:
        _say_how(subject, url, config)


def _say_how(subject: str, url: str | None, config: Path) -> None:
    """Say how an analyst keeps a token, and connects with it."""
    from discreet.interfaces.self_signed import SelfSigned, beside, reached_by

    own = SelfSigned.found(beside(config))
    lines = reached_by(url or f"https://{gethostname()}:8443", None if own is None else own.fingerprint)
    typer.echo(f"\n{printable(subject)} keeps it in a file, by this, the token, Enter and Ctrl-D:\n", err=True)
    typer.echo("    (umask 077; cat > discreet.token)\n\nand connects:\n", err=True)
    typer.echo(printable("\n".join(f"    {line}" for line in lines)), err=True)


@token.command("list", cls=Command)
@reported
def list_(
    *,
    format_: options.Formatted = Format.TABLE,
    raw: options.Raw = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Show the tokens: their holders, what they allow, until when, and which were revoked."""
    from discreet.service.tokens import caller_of

    refuse_binary_to_screen(format_)
    with opened(config) as tables:
        found = [(grant, caller_of(grant)) for grant in tables.tokens.all()]
    rows = [
        [
            caller.token,
            printable(caller.subject),
            str(caller.role),
            None if caller.most_epsilon is None else str(caller.most_epsilon),
            None if caller.most_rho is None else str(caller.most_rho),
            caller.share or None,
            f"{caller.expires:%Y-%m-%d %H:%M}",
            None if grant.revoked is None else f"{grant.revoked:%Y-%m-%d %H:%M}",
        ]
        for grant, caller in found
    ]
    Sheet(("token", "name", "role", "most_epsilon", "most_rho", "share", "until", "revoked"), rows).show(
        format_, empty="", raw=raw
    )


@token.command(cls=Command)
@reported
def revoke(
    name: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id in `discreet token list`.")],
    *,
    config: options.Config = options.CONFIG,
) -> None:
    """Revoke a token, for good."""
    with opened(config) as tables:
        found = tables.tokens.called(name)
        if found is None:
            raise InvalidArgument("there is no such token", hint="`discreet token list` shows their ids")
        tables.tokens.revoke(found.digest)
    say(f"revoked {name}, of {printable(found.subject)}")
