"""The command line as a whole."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from typer.main import get_command

from discreet.cli.admit import admit
from discreet.cli.anonymize import anonymize
from discreet.cli.ask import ask
from discreet.cli.attack import attack
from discreet.cli.audit import audit
from discreet.cli.budget import budget
from discreet.cli.common.failures import hold_tongues
from discreet.cli.common.screen import say
from discreet.cli.demo import demo
from discreet.cli.explain import explain
from discreet.cli.history import history
from discreet.cli.init import init
from discreet.cli.plot import plot
from discreet.cli.risk import risk
from discreet.cli.verify import verify

app = typer.Typer(
    name="discreet",
    help="Private answers from sensitive tables.",
    epilog=(
        "Exit codes: 0 done · 1 refused, nothing charged · 2 wrong usage · 3 the budget doesn't allow it · "
        "4 the ledger can't be used, or something doesn't verify · 5 failed after it was paid for · "
        "6 an audit rejects · 7 a scheduled admission could read nothing new · "
        "70 a defect · 130 Ctrl-C"
    ),
    rich_markup_mode="markdown",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, init, admit, explain, ask, budget, history, verify, audit, risk, anonymize, attack):
    app.command()(command)
app.add_typer(plot)


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
