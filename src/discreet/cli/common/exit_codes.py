"""Exit codes of commands, and which error ends with which."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from discreet.errors import Category, DiscreetError, LedgerError, ServerError


class ExitCode(IntEnum):
    """Exit codes, as `discreet --help` lists them."""

    OK = 0
    """Done."""
    REFUSED = 1
    """The question, the configuration or the source was refused. Nothing was charged."""
    USAGE = 2
    """The command line isn't one that discreet takes."""
    BUDGET = 3
    """The budget doesn't allow the question. Nothing was charged."""
    LEDGER = 4
    """The ledger can't be used, or it or what was admitted doesn't verify."""
    FAILED = 5
    """The question failed after it was paid for. What was reserved stays spent."""
    REJECTED = 6
    """An audit refuted a claim."""
    SERVED_AGAIN = 7
    """A scheduled admission couldn't read the sources, and put the earlier snapshot in force again."""
    SERVER = 8
    """A server can't be used or trusted. Its history shows whether a question was paid for."""
    DEFECT = 70
    """An error of discreet's own."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C. What was reserved stays spent."""


CODE_OF: Mapping[Category, ExitCode] = {
    Category.REFUSED: ExitCode.REFUSED,
    Category.BUDGET: ExitCode.BUDGET,
    Category.ACCESS: ExitCode.REFUSED,
    Category.BUSY: ExitCode.REFUSED,
    Category.UNAVAILABLE: ExitCode.REFUSED,
    Category.FAILED: ExitCode.FAILED,
}
"""The exit code of each category of errors."""

_OF_THEIR_OWN: Mapping[type[DiscreetError], ExitCode] = {LedgerError: ExitCode.LEDGER, ServerError: ExitCode.SERVER}
"""Families of errors with an exit code of their own, whatever their category."""


def exit_code(error: DiscreetError) -> ExitCode:
    """The exit code of a typed error: its family's own, or that of its category."""
    return next((one for kind, one in _OF_THEIR_OWN.items() if isinstance(error, kind)), CODE_OF[error.category])
