"""Every way in which a command can fail: reported, with an exit code, and without a value of any row.

An error from outside discreet's own tree could quote a person's row. Only its type and the line that raised it are
shown.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NoReturn, ParamSpec

import typer

from discreet.cli.common.exit_codes import ExitCode, exit_code
from discreet.cli.common.interrupt import Abandoned
from discreet.cli.show.errors import excerpt_on_screen, raised_at, show_error
from discreet.cli.show.formats import Format, TextFormat
from discreet.errors import ConfigError, DiscreetError, QueryError, SourceError
from discreet.hints import Door

P = ParamSpec("P")


def reported(command: Callable[P, None]) -> Callable[P, None]:
    """Make a command report whatever goes wrong in it, and end with the exit code of that."""

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
    """A context manager that writes a command's errors, with what they may refer to.

    Args:
        as_json: whether errors are written as JSON.
        question: the SQL that a query error's place lies in; empty if there is none.
        config: the file that a configuration error's place lies in.
        spelled: puts what a hint says of options into the words of where it is read.
    """

    as_json: bool
    question: str
    config: Path | None
    spelled: Callable[[str], str] = str

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Report an error and end the command with its exit code; pass on what Typer itself handles."""
        if isinstance(error, DiscreetError):
            # The options of a source are in the configuration, if there is one.
            door: Door = "file" if isinstance(error, SourceError) and self.config is not None else "cli"
            shown = {**error.to_dict(), "hint": self.spelled(error.hint_at(door))}
            show_error(shown, self._excerpt(error), as_json=self.as_json)
            raise typer.Exit(exit_code(error)) from None
        if isinstance(error, KeyboardInterrupt):
            hint = error.hint if isinstance(error, Abandoned) else ""
            if not hint and self.question:
                hint = "`discreet history` shows what was reserved"
            message = "stopped by Ctrl-C" + ("; what had been paid for stays spent" if self.question else "")
            show_error({"code": "interrupted", "message": message, "hint": hint, "place": None}, as_json=self.as_json)
            if isinstance(error, Abandoned):
                end_at_once(ExitCode.INTERRUPTED)
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        if isinstance(error, Exception) and not isinstance(error, _TYPERS_OWN):
            message = f"discreet stopped on an error of its own: {raised_at(error, trace)}"
            hint = "its text is withheld because it could quote a row; please report the line above"
            show_error({"code": "defect", "message": message, "hint": hint, "place": None}, as_json=self.as_json)
            raise typer.Exit(ExitCode.DEFECT) from None

    def _excerpt(self, error: DiscreetError) -> list[str]:
        """The line that an error's place lies in, with a caret under the place."""
        if error.place is None:
            return []
        text = self.question if isinstance(error, QueryError) else ""
        if isinstance(error, ConfigError) and self.config is not None and self.config.is_file():
            text = self.config.read_text(encoding="utf-8", errors="replace")
        return excerpt_on_screen(text, *error.place)


def end_at_once(code: ExitCode) -> NoReturn:
    """End the process while errands go on: an orderly end would wait for the engine."""
    from discreet.duckdb.session import remove_directories

    remove_directories()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


_TYPERS_OWN = (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError)


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
    """Write one line on an error that no command caught."""
    if error is not None and sys.stderr is not None:
        sys.stderr.write(f"error[defect]: discreet stopped on an error of its own: {raised_at(error, trace)}\n")
