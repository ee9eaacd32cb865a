"""Known people: what is known of each, what is true of them, and how they are named in a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from discreet.anonymity.columns import Coded, Reals, Value, Whole
from discreet.anonymity.records import Records
from discreet.attacks.attack_result import MOST_GUESSES
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.compatible import plain
from discreet.errors import InvalidArgument
from discreet.noise import uniform

Namer: TypeAlias = Callable[[int], str]
"""A row's place → how its person is called."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class People:
    """Whom an attacker looks for.

    An attacker knows one row of each. Where a table is read by unit, that is one of the unit's rows, drawn at random,
    and what is true of a unit is what is true of any of its rows.

    Args:
        known: what is known of each, one row each.
        every: all rows of theirs.
        of_row: of each of these, the person.

    Examples:
        >>> from discreet.anonymity import read
        >>> people = People.of(read({"id": [7, 9, 7], "zip": ["1", "2", "1"]}, unit="id"))
        >>> people.known.rows, people.known.column("zip").codes.tolist(), people.of_row.tolist()
        (2, [0, 1], [0, 1, 0])
    """

    known: Records
    every: Records
    of_row: Whole

    @classmethod
    def of(cls, table: object) -> People:
        """Those of a table, which `anonymity.read` takes."""
        from discreet.anonymity.records import read

        every = read(table)
        if every.units is None:
            return cls(known=every, every=every, of_row=np.arange(every.rows))
        drawn = one_of_each(every)
        return cls(known=replace(every.take(drawn), units=None), every=every, of_row=every.units.codes.astype(np.int64))


def one_of_each(records: Records) -> Whole:
    """A row of each unit, drawn at random, in the order of the units; all rows if each is one of its own."""
    if records.units is None:
        return np.arange(records.rows)
    keys: Whole = uniform(1 << 62, records.rows)
    order = np.argsort(keys, kind="stable")
    return order[np.unique(records.units.codes[order], return_index=True)[1]]


def of_units(records: Records, units: Whole) -> Records:
    """All rows of these units, by their numbers; these rows, in this order, if each is a unit of its own."""
    if records.units is None:
        return records.take(units)
    return records.take(np.flatnonzero(np.isin(records.units.codes, units)))


def refuse_rows(answers: Answering, *tables: Records) -> None:
    """Refuse answers that count rows where people have several, which would be taken for several people.

    Raises:
        InvalidArgument: they do.
    """
    for table in tables:
        if answers.unit is None and table.units is not None and table.rows > table.units.number:
            raise InvalidArgument(
                f"these answers count rows, and {table.units.number:,} units have {table.rows:,} here",
                hint="answers of a table whose unit is named: Exact(…, unit=…), or protect(…, unit=Unit(…))",
            )


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


def keys_of(one: Coded, other: Coded) -> tuple[Whole, Whole]:
    """Two columns' codes in one list of values, so that rows of either can be compared.

    Examples:
        >>> from discreet.anonymity import read
        >>> a, b = read({"id": [7, 9]}), read({"id": ["9", "3"]})
        >>> [codes.tolist() for codes in keys_of(a.column("id"), b.column("id"))]
        [[0, 1], [1, 2]]
    """
    places: dict[str | None, int] = {}
    maps = [
        np.array([places.setdefault(plain(label), len(places)) for label in column.labels()], dtype=np.int64)
        for column in (one, other)
    ]
    return maps[0][one.codes], maps[1][other.codes]


def first(sure: Reals, wanted: Whole | None = None) -> list[int]:
    """The places of the surest, at most as many as a result shows; the earlier of equals.

    Args:
        sure: of each, how sure.
        wanted: only these places; all if left out.
    """
    places = np.arange(len(sure)) if wanted is None else wanted
    order = np.argsort(-sure[places], kind="stable")
    return [int(place) for place in places[order[:MOST_GUESSES]]]
