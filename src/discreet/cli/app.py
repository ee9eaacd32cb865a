"""The command line as a whole: its commands, each loaded when it is used."""

from __future__ import annotations

import sys
from collections import UserDict
from importlib import import_module
from itertools import chain
from typing import Annotated, Any, cast

import typer
from typer.main import get_command

from discreet.cli.common.help import Command, Group
from discreet.cli.common.reporting import hold_tongues
from discreet.cli.show.screen import say

_PANELS = {
    "Custodian": ("init", "admit", "declare", "serve", "token", "request", "failures", "ledger", "risk", "anonymize"),
    "Analyst": ("connect", "tables", "explain", "ask", "shell", "summary"),
    "Auditor": ("budget", "history", "verify", "key", "witness", "audit", "conform"),
    "Learn": ("demo", "plot", "attack", "deidentify", "uniqueness", "generalize"),
}
"""The commands by who uses them most, in the order in which people meet them, each in the module of its name."""


class _Commands(UserDict[str, Any]):
    """The commands by name; None for one that hasn't been used yet."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 — a command of Typer's, which has no public type
        found = super().__getitem__(name)
        if found is None:  # reading the options of all commands would take longer than most of them do
            command = getattr(import_module(f"discreet.cli.{name}"), name)
            if not isinstance(command, typer.Typer):
                alone = typer.Typer(rich_markup_mode="markdown", add_completion=False)
                alone.command(name, cls=Command)(command)
                command = alone
            found = self[name] = cast("Any", get_command(command))  # Typer's types don't know of panels
            found.rich_help_panel = next(panel for panel, names in _PANELS.items() if name in names)
        return found


_ALL = _Commands(dict.fromkeys(chain.from_iterable(_PANELS.values())))


class _Group(Group):
    """All commands."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 — as Typer has them
        super().__init__(**settings)
        self.commands = _ALL

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 — as Typer calls it
        """In the order in which people meet them."""
        return list(_ALL)


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
