"""The exceptions of PEP 249, and which of them each of discreet's errors becomes.

Exception
├── Warning
└── Error
    ├── InterfaceError          the cursor or connection is closed, or nothing was asked
    └── DatabaseError
        ├── DataError
        ├── OperationalError    the budget, a right, the server or the tables
        ├── IntegrityError
        ├── InternalError       paid for, and then failed
        ├── ProgrammingError    the question or an argument is refused
        └── NotSupportedError   SQL that isn't supported
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from discreet.errors import Category, DiscreetError, ExtraMissing, Unsupported
from discreet.interfaces.sqlstates import sqlstate_of


class Warning(Exception):  # noqa: A001 — PEP 249 names it
    """What is said beside an answer: its ±, its limits, and what it cost. It is in `Cursor.messages`, never raised."""


class Error(Exception):
    """The root: catch it to catch all errors of this module.

    Attributes:
        code: the kind of error, as `discreet.errors` names it; empty for those of this module's own.
        sqlstate: five characters, as other databases have them.
        hint: what to do about it; may be empty.
        place: where, as a one-based `(line, column)` of the question; None if it has no place.
    """

    code = ""
    sqlstate = "HY000"
    hint = ""
    place: tuple[int, int] | None = None


class InterfaceError(Error):
    """The module is used in the wrong order: after `close`, or before anything was asked."""


class DatabaseError(Error):
    """The tables, the question or the account."""


class DataError(DatabaseError):
    """Values out of range; here they are refused with the question."""


class OperationalError(DatabaseError):
    """It can't be asked as things stand: the budget, a right, the server or the tables."""


class IntegrityError(DatabaseError):
    """Never raised: nothing can be written."""


class InternalError(DatabaseError):
    """The question was paid for, and then failed."""


class ProgrammingError(DatabaseError):
    """The question, a parameter or a setting is refused; nothing was charged."""


class NotSupportedError(DatabaseError):
    """SQL, or a part of PEP 249, that isn't supported; nothing was charged."""


def error_of(error: DiscreetError) -> Error:
    """The exception of PEP 249 for an error of discreet's, with the same words.

    Examples:
        >>> from discreet.errors import BudgetExhausted
        >>> error_of(BudgetExhausted("the question would overspend the budget")).sqlstate
        '53400'
    """
    found = _kind(error)(str(error))
    found.code, found.sqlstate = error.code, sqlstate_of(error)
    found.hint, found.place = str(error.hint), error.place
    return found


def _kind(error: DiscreetError) -> type[Error]:
    """The class that an error belongs to."""
    if isinstance(error, Unsupported | ExtraMissing):
        return NotSupportedError
    match error.category:
        case Category.REFUSED:
            return ProgrammingError
        case Category.BUDGET | Category.ACCESS | Category.BUSY | Category.UNAVAILABLE:
            return OperationalError
        case Category.FAILED:
            return InternalError
        case other:
            assert_never(other)


@contextmanager
def translated() -> Iterator[None]:
    """Let errors of discreet's leave as those of PEP 249."""
    try:
        yield
    except DiscreetError as error:
        raise error_of(error) from error
