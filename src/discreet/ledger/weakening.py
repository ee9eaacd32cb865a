"""Weakening: which changes of declarations weaken what was promised, and the names by which a custodian allows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.errors import LedgerCorrupt

Rule: TypeAlias = Callable[[Any, Any], bool]
"""Whether the second weakens what the first promised."""


def _never(_: object, __: object) -> bool:
    """It weakens nothing: noise and limits follow from it."""
    return False


def _published(old: object, new: object) -> bool:
    """A table's rows are no longer protected."""
    return bool(new) and not old


def _lowered(old: str, new: str) -> bool:
    """A ceiling is lower: how many rows there are may have been looked up."""
    return Fraction(new) < Fraction(old)


def _narrowed(old: Any, new: Any) -> bool:  # noqa: ANN401 — JSON
    """An end lies further in, or there are bounds where there were none: either may have been read off the data."""
    if new is None:
        return False
    return old is None or _less(old[0], new[0]) or _less(new[1], old[1])


def _less(one: str, other: str) -> bool:
    """Whether an end is less than another, or they can't be compared. Dates and moments compare as they are written."""
    numbers = [_number(one), _number(other)]
    if None not in numbers:
        return numbers[0] < numbers[1]  # type: ignore[operator]  # neither is None
    return numbers != [None, None] or len(one) != len(other) or one < other


def _number(text: str) -> Fraction | None:
    """A number; None for anything else."""
    try:
        return Fraction(text)
    except ValueError:
        return None


def _more_keys(old: Any, new: Any) -> bool:  # noqa: ANN401 — JSON
    """There are keys that there weren't: whether the data has them may have been looked up."""
    if new is None:
        return False
    listed = [{json.dumps(key) for key in each or ()} for each in (old, new)]
    return old is None or not listed[1] <= listed[0]


def _without_null(old: object, new: object) -> bool:
    """NULL is said not to occur any more, which may have been looked up."""
    return bool(old) and not new


OF_TABLES: Mapping[str, tuple[str, Rule]] = {
    "public": ("publish", _published),
    "row_ceiling": ("narrow", _lowered),
    "most_rows_per_unit": ("narrow", _lowered),  # more of them move a question further, and its time follows
    "most_left_out": ("", _never),
    "name": ("", _never),
    "limits": ("", _never),
    "unit": ("", _never),  # of an account with losses it can't change
    "links": ("", _never),
    "unique": ("", _never),
    "refresh": ("", _never),
}

OF_COLUMNS: Mapping[str, tuple[str, Rule]] = {
    "bounds": ("narrow", _narrowed),
    "keys": ("keys", _more_keys),
    "nullable": ("narrow", _without_null),
    "name": ("", _never),
    "kind": ("", _never),
    "time_zone": ("", _never),
    "places": ("", _never),
    "max_length": ("", _never),
    "form": ("", _never),
}


def weakens_by(rules: Mapping[str, tuple[str, Rule]], key: str, place: str, old: Any, new: Any) -> str:  # noqa: ANN401 — JSON
    """The name by which a custodian allows a change; empty if it weakens nothing.

    Raises:
        LedgerCorrupt: nothing is known of such a key.
    """
    if key not in rules:
        raise LedgerCorrupt(f"the ledger has a {key!r} of {place}, which this version doesn't know")
    option, rule = rules[key]
    return f"{option} {place}" if rule(old, new) else ""
