"""Failures: how many questions may fail after they were paid for."""

from __future__ import annotations

from discreet.errors import InvalidArgument
from discreet.hints import Hint

FAILURES = 10
"""How many paid questions may fail before the custodian looks, unless declared otherwise."""

_MOST_FAILURES = 1000


def checked_failures(number: int) -> int:
    """A number of failures, if it may be declared.

    Raises:
        InvalidArgument: it isn't a whole number, or not from 1 to 1,000.

    Examples:
        >>> checked_failures(10)
        10
    """
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= _MOST_FAILURES:
        raise InvalidArgument(
            f"failures must be 1 to {_MOST_FAILURES:,}: that many questions may fail before the custodian looks "
            "into them",
            hint=Hint.of("{failures}", failures=FAILURES).in_file(),
        )
    return number
