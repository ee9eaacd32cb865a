"""Errors: code, message, the place with a caret under it, and what to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from traceback import extract_tb
from types import TracebackType

from discreet.cli.show.screen import ENDLESS, error_console, width
from discreet.errors import DiscreetError
from discreet.printable import excerpt, printable

_REACH = 54

_BESIDE = 8
"""Columns that the line number takes."""


def show_error(error: Mapping[str, object], lines: Sequence[str] = (), *, as_json: bool) -> None:
    """Write an error to standard error.

    Args:
        error: its `code`, `message` and `hint`.
        lines: the excerpt that it lies in; JSON has its place instead.
        as_json: whether programs read it.
    """
    if as_json:
        sys.stderr.write(json.dumps(error, ensure_ascii=False) + "\n")
        return
    from rich.text import Text

    console = error_console()
    console.print(Text.assemble((f"error[{error['code']}]", "bold red"), f": {printable(str(error['message']))}"))
    for line in lines:
        console.print(Text(line), no_wrap=True, overflow="ignore", crop=False)
    if error["hint"]:
        console.print(Text.assemble(("hint", "bold"), f": {printable(str(error['hint']))}"))


def as_on_screen(error: DiscreetError, question: str) -> str:
    """An error as a reader of the screen has it, to be quoted.

    Examples:
        >>> from discreet.errors import BudgetExhausted
        >>> print(as_on_screen(BudgetExhausted("that is too much", hint="ask for less"), ""))
        error[budget_exhausted]: that is too much
        hint: ask for less
    """
    place = excerpt_on_screen(question, *error.place) if error.place else []
    hint = [f"hint: {error.hint}"] if error.hint else []
    return "\n".join([f"error[{error.code}]: {error.message}", *place, *hint])


def excerpt_on_screen(text: str, line: int, column: int) -> list[str]:
    """The line of a text with a caret under the column, cut to what fits a narrow screen."""
    room = (width() or ENDLESS) - _BESIDE - len(str(line))
    return excerpt(text, line, column, min(_REACH, max(room, _BESIDE) * 3 // 4))


def raised_at(error: BaseException, trace: TracebackType | None) -> str:
    """The type of an error and the line that raised it, without its text or any value.

    Examples:
        >>> raised_at(KeyError("a name from the data"), None)
        'KeyError'
    """
    kind = type(error).__name__
    frames = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in extract_tb(trace)]
    return f"{kind} at {frames[-1]}" if frames else kind
