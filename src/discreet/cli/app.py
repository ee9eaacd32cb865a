"""The command line as a whole: its commands, each loaded when it is used; its errors, and their exit codes.

A typed error is laid out for a reader: its code, what is wrong, the place in the question or file with a caret under
it, and what to do. With `--format json` it is one JSON object. Any other error could quote a person's row, so of
it only its type and where it was raised are shown.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections import UserDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from types import TracebackType
from typing import Annotated, Any, ParamSpec

import typer
from typer.main import get_command

from discreet.cli.common.help import Command, Group
from discreet.cli.common.options import Format, TextFormat
from discreet.cli.common.screen import ENDLESS, Abandoned, error_console, say, width
from discreet.errors import (
    BudgetError,
    ConfigError,
    DiscreetError,
    Door,
    LedgerError,
    QueryError,
    QuestionFailed,
    ServerError,
    SourceError,
)
from discreet.printable import printable

_HOMES = {
    "demo": "demo",
    "init": "preparing",
    "admit": "preparing",
    "declare": "preparing",
    "tables": "connecting",
    "explain": "questions",
    "ask": "questions",
    "budget": "account",
    "history": "account",
    "failures": "account",
    "verify": "ledger",
    "key": "ledger",
    "witness": "ledger",
    "audit": "audit",
    "risk": "risk",
    "anonymize": "anonymize",
    "attack": "attack",
    "plot": "plot",
    "ledger": "ledger",
    "serve": "serving",
    "token": "serving",
    "request": "connecting",
    "connect": "connecting",
    "conform": "audit",
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


# ── Errors and exit codes ─────────────────────────────────────────────────────────────────────────────────────────────

P = ParamSpec("P")


class ExitCode(IntEnum):
    """What the shell is told."""

    OK = 0
    """Done."""
    REFUSED = 1
    """A typed error: the question, the configuration or the source is refused. Nothing was charged."""
    USAGE = 2
    """The command line isn't one that discreet takes."""
    BUDGET = 3
    """The question is understood, but the budget doesn't allow it. Nothing was charged."""
    LEDGER = 4
    """The ledger can't be used; or it doesn't verify, or what was admitted doesn't."""
    FAILED = 5
    """The question failed after it was paid for. What was reserved stays spent."""
    REJECTED = 6
    """An audit refuted what is claimed."""
    SERVED_AGAIN = 7
    """A scheduled admission couldn't read the sources, and put the earlier snapshot in force again."""
    SERVER = 8
    """A server can't be used, or can't be believed. Whether a question was paid for, its history shows."""
    DEFECT = 70
    """An error of discreet's own."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C. What was reserved stays spent."""


def exit_code(error: DiscreetError) -> ExitCode:
    """The exit code of a typed error."""
    match error:
        case QuestionFailed():
            return ExitCode.FAILED
        case BudgetError():
            return ExitCode.BUDGET
        case LedgerError():
            return ExitCode.LEDGER
        case ServerError():
            return ExitCode.SERVER
        case _:
            return ExitCode.REFUSED


def reported(command: Callable[P, None]) -> Callable[P, None]:
    """Make a command report its errors and end with their exit code, whatever goes wrong in it."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        config, question = kwargs.get("config"), kwargs.get("question")
        scene = Scene(
            as_json=kwargs.get("format_") in {Format.JSON, TextFormat.JSON},
            question=question if isinstance(question, str) else "",
            config=config if isinstance(config, Path) else None,
        )
        with scene:
            command(*args, **kwargs)

    return run


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a command runs: what its errors may refer to, and how they are written. A context manager.

    Args:
        as_json: whether errors are written as JSON.
        question: the SQL that a query error's place lies in; empty if there is none.
        config: the file that a configuration error's place lies in.
    """

    as_json: bool
    question: str
    config: Path | None

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Report an error and end the command with its exit code; pass on what Typer itself handles."""
        if isinstance(error, DiscreetError):
            self._show({**error.to_dict(), "hint": error.hint_at(self._door(error))}, self._excerpt(error))
            raise typer.Exit(exit_code(error)) from None
        if isinstance(error, KeyboardInterrupt):
            hint = error.hint if isinstance(error, Abandoned) else ""
            if not hint and self.question:
                hint = "`discreet history` shows what was reserved"
            message = "stopped by Ctrl-C" + ("; what had been paid for stays spent" if self.question else "")
            self._show({"code": "interrupted", "message": message, "hint": hint, "place": None})
            if isinstance(error, Abandoned):
                from discreet.tables.session import remove_directories

                remove_directories()
                sys.stderr.flush()
                os._exit(ExitCode.INTERRUPTED)  # an orderly end would wait for the engine
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        if isinstance(error, Exception) and not isinstance(error, _TYPERS_OWN):
            message = f"discreet stopped on an error of its own: {where(error, trace)}"
            hint = "its text is withheld, since it could quote a row; please report the line above"
            self._show({"code": "defect", "message": message, "hint": hint, "place": None})
            raise typer.Exit(ExitCode.DEFECT) from None

    def _door(self, error: DiscreetError) -> Door:
        """Where what a hint speaks of is said: how a source is read, in the configuration where there is one."""
        return "file" if isinstance(error, SourceError) and self.config is not None else "cli"

    def _excerpt(self, error: DiscreetError) -> list[str]:
        """The line that an error's place lies in, with a caret under the place."""
        if error.place is None:
            return []
        text = self.question if isinstance(error, QueryError) else ""
        if isinstance(error, ConfigError) and self.config is not None and self.config.is_file():
            text = self.config.read_text(encoding="utf-8", errors="replace")
        return excerpt(text, *error.place)

    def _show(self, error: dict[str, object], lines: list[str] | None = None) -> None:
        """Write an error to standard error."""
        if self.as_json:
            sys.stderr.write(json.dumps(error, ensure_ascii=False) + "\n")
            return
        from rich.text import Text

        console = error_console()
        console.print(Text.assemble((f"error[{error['code']}]", "bold red"), f": {printable(str(error['message']))}"))
        for line in lines or []:
            console.print(Text(line), no_wrap=True, overflow="ignore", crop=False)
        if error["hint"]:
            console.print(Text.assemble(("hint", "bold"), f": {printable(str(error['hint']))}"))


_TYPERS_OWN = (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError)
_REACH = 54
_BESIDE = 8
"""Columns beside an excerpt, for the number of its line."""


def excerpt(text: str, line: int, column: int) -> list[str]:
    r"""The line of a text with a caret under the column, cut to what fits a narrow screen.

    Args:
        text: may have any characters; those that would move the cursor are shown as one `�` each.
        line: one-based.
        column: one-based.

    Examples:
        >>> print("\n".join(excerpt("SELECT agee FROM census", 1, 8)))
          1 │ SELECT agee FROM census
            │        ^
    """
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return []
    reach = min(_REACH, max((width() or ENDLESS) - _BESIDE - len(str(line)), _BESIDE) * 3 // 4)
    shown, start = printable(lines[line - 1]), max(0, column - 1 - reach)
    end = start + reach + reach // 3
    cut = ("…" if start else "") + shown[start:end] + ("…" if end < len(shown) else "")
    from rich.cells import cell_len

    indent = cell_len(("…" if start else "") + shown[start : column - 1])
    return [f"  {line} │ {cut}", f"  {' ' * len(str(line))} │ {' ' * indent}^"]


def where(error: BaseException, trace: TracebackType | None) -> str:
    """The type of an error and the line that raised it, without its text or any value.

    Examples:
        >>> where(KeyError("a name from the data"), None)
        'KeyError'
    """
    kind = type(error).__name__
    frames = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in extract_tb(trace)]
    return f"{kind} at {frames[-1]}" if frames else kind


def hold_tongues() -> None:
    """Make Python, and the libraries underneath, print nothing that could quote a row.

    Hooks for errors outside of commands show types only; warnings and stray log lines aren't printed.
    """
    import logging
    import threading
    import warnings

    sys.excepthook = lambda _, error, trace: _mutter(error, trace)
    sys.unraisablehook = lambda args: _mutter(args.exc_value, args.exc_traceback)
    threading.excepthook = lambda args: _mutter(args.exc_value, args.exc_traceback)
    warnings.simplefilter("ignore")
    logging.getLogger().addHandler(logging.NullHandler())


def _mutter(error: BaseException | None, trace: TracebackType | None) -> None:
    """One line on an error that no command caught."""
    if error is not None and sys.stderr is not None:
        sys.stderr.write(f"error[defect]: discreet stopped on an error of its own: {where(error, trace)}\n")
