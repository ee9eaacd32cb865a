"""`discreet connect`: try a server's address and a token."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import reached
from discreet.cli.show.declared import show_declared
from discreet.cli.show.formats import TextFormat
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import show_json
from discreet.cli.show.waiting import working
from discreet.printable import printable


@reported
def connect(
    server: Annotated[str, typer.Argument(metavar="URL", envvar="DISCREET_SERVER", help="The address of the server.")],
    *,
    token_file: options.TokenFile = None,
    key: options.PublicKeyOption = None,
    fingerprint: options.Fingerprint = None,
    format_: options.TextOrJson = TextFormat.TABLE,
) -> None:
    """Try a server's address and a token: show whose it is, what it allows, and what may be asked about.

    Give the token in --token-file, a file that nobody else can read, or in the variable DISCREET_TOKEN; never on the
    command line, where other programs of the machine see it. Nothing is spent, and nothing is remembered: give other
    commands the address by --server, or in the variable DISCREET_SERVER.
    """
    with working("connecting"), reached(server, token_file, key, fingerprint) as remote:
        caller = remote.me()
        signed_by = remote.key.text
        schema = remote.schema if caller.get("role") != "operator" else None
    if format_ is TextFormat.JSON:
        show_json({"caller": dict(caller), "key": signed_by, "dataset": schema})
        return
    ceiling = caller.get("most_epsilon")
    most = "" if ceiling is None else f"; a question may cost ε = {ceiling}"
    who = f"{caller.get('subject')}, {caller.get('role')}, until {caller.get('expires')}{most}"
    say(printable(f"you are    {who}"))
    say(f"signed by  {signed_by}" + ("" if key else ", by its own account: check with the custodian"))
    if schema is not None:
        say()
        show_declared(schema["tables"])
