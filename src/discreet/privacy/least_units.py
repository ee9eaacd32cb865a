"""The k-persons rule: values of fewer units than a custodian says aren't shown."""

from __future__ import annotations

from discreet.errors import InvalidArgument
from discreet.hints import Hint

_MOST = 1_000_000


def checked_least_units(number: int) -> int:
    """A least number of units, if it may be declared; 0 stands for no rule.

    Raises:
        InvalidArgument: it isn't a whole number, or not from 0 to a million.

    Examples:
        >>> checked_least_units(10)
        10
    """
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= _MOST:
        raise InvalidArgument(
            f"values may be withheld of fewer than 0 to {_MOST:,} units",
            hint=Hint.of("{least_units}", least_units=10).in_file(),
        )
    return number
