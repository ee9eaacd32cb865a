"""The command line as a whole: each command is loaded and built when it is used, since most calls use one of them."""

from __future__ import annotations

import sys
from collections import UserDict
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.main import get_command

from discreet.cli.common.failures import hold_tongues
from discreet.cli.common.help import Command, Group
from discreet.cli.common.screen import say

_HOMES = {
    "demo": "demo",
    "init": "init",
    "admit": "admit",
    "tables": "connecting",
    "explain": "questions",
    "ask": "questions",
    "budget": "account",
    "history": "account",
    "verify": "verification",
    "key": "verification",
    "witness": "verification",
    "audit": "audit",
    "risk": "risk",
    "anonymize": "anonymize",
    "attack": "attack",
    "plot": "plot",
    "ledger": "ledger",
    "serve": "serving",
    "token": "serving",
    "request": "request",
    "connect": "connecting",
    "conform": "conform",
}
"""Where each command is, in the order in which somebody meets them."""


class _Commands(UserDict[str, Any]):
    """The commands by name: of one that wasn't used yet, the module that it is in."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 — a command of Typer's, which has no public type
        """The command; its options take some milliseconds to be read, so this is done once, and not for all."""
        if isinstance(found := super().__getitem__(name), str):
            command = getattr(import_module(f"discreet.cli.{found}"), name)
            if not isinstance(command, typer.Typer):
                alone = typer.Typer(rich_markup_mode="markdown", add_completion=False)
                alone.command(name, cls=Command)(command)
                command = alone
            self[name] = get_command(command)
        return super().__getitem__(name)


_ALL = _Commands(_HOMES)


class _Group(Group):
    """All commands."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 — as Typer has them
        """Build none yet, and none twice."""
        super().__init__(**settings)
        self.commands = _ALL

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 — as Typer calls it
        """The names."""
        return list(_HOMES)


app = typer.Typer(
    cls=_Group,
    name="discreet",
    help="Private answers from sensitive tables.",
    epilog=(
        "Exit codes: 0 done · 1 refused, nothing charged · 2 wrong usage · 3 the budget doesn't allow it · "
        "4 the ledger can't be used, or something doesn't verify · 5 failed after it was paid for · "
        "6 an audit rejects · 7 a scheduled admission could read nothing new · "
        "8 a server can't be used · "
        "70 a defect · 130 Ctrl-C"
    ),
    rich_markup_mode="markdown",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        from discreet.version import __version__

        say(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def discreet(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Private answers from sensitive tables."""


def main() -> None:
    """Run the command line: the entry point `discreet`."""
    hold_tongues()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a screen that has no ε still gets an answer
    get_command(app)(prog_name="discreet")
