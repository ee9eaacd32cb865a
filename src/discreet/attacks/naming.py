"""How people are named in a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from discreet.anonymity.columns import Coded, Reals, Value, Whole
from discreet.anonymity.records import Records
from discreet.attacks.attack_result import MOST_GUESSES
from discreet.attacks.targets.compatible import plain

Namer: TypeAlias = Callable[[int], str]
"""A row's place → how its person is called."""


def shown(value: Value) -> str:
    """A value in a report.

    Examples:
        >>> shown(39.0), shown(None)
        ('39', 'missing')
    """
    text = plain(value)
    return "missing" if text is None else text


def named(known: Records, on: Sequence[str], who: str | None) -> Namer:
    """How to call the person of a row.

    Args:
        known: what is known of people.
        on: the columns by which they are known; their values make the name if there is no better one.
        who: the column that holds names; None if there is none.

    Raises:
        SchemaMismatch: there is no such column.

    Examples:
        >>> from discreet.anonymity import read
        >>> named(read({"age": [39], "sex": ["F"]}), ["age", "sex"], None)(0)
        'age 39, sex F'
    """
    if who is not None:
        column = known.column(who)
        return lambda row: shown(value_of(column, row))
    columns = [known.column(name) for name in on]
    return lambda row: ", ".join(f"{column.name} {shown(value_of(column, row))}" for column in columns)


def value_of(column: Coded, row: int) -> Value:
    """The value in one row."""
    value: Value = column.values[int(column.codes[row])].as_py()
    return value


def first(sure: Reals, wanted: Whole | None = None) -> list[int]:
    """The places of the surest, at most as many as a result shows; the earlier of equals.

    Args:
        sure: of each, how sure.
        wanted: only these places; all if left out.
    """
    places = np.arange(len(sure)) if wanted is None else wanted
    order = np.argsort(-sure[places], kind="stable")
    return [int(place) for place in places[order[:MOST_GUESSES]]]


NAME = "unit_number"
