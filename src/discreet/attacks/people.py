"""People: whose each row is, whom an attack is tried on, and what is known of each.

Where a table is read by unit, people are units, and have several rows each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.columns import Whole
from discreet.anonymity.records import Records, read
from discreet.attacks.targets.answering import Answering
from discreet.errors import InvalidArgument
from discreet.noise import uniform


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class People:
    """The people whom an attacker looks for.

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
        """The people of a table, which `anonymity.read` takes."""
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


def shuffled(number: int) -> Whole:
    """The numbers below this one in a random order, all orders alike but for ties among 62-bit keys."""
    keys: Whole = uniform(1 << 62, number)
    return np.argsort(keys, kind="stable").astype(np.int64)


def drawn(records: Records, most: int) -> Records:
    """A number of people of a table, or all, at random and in a random order, with all of their rows.

    Args:
        records: the table.
        most: how many units, or rows if each is one of its own.

    Examples:
        >>> from discreet.anonymity import read
        >>> visits = read({"id": [1, 1, 2, 3], "ill": ["flu", "cold", "flu", "gout"]}, unit="id")
        >>> drawn(visits, 2).counted
        2
    """
    chosen = of_units(records, shuffled(records.counted)[:most])
    if chosen.units is None:
        return chosen
    # An id mustn't tell who comes first: units are renumbered, and that is the order in which they are met.
    return replace(
        chosen, units=replace(chosen.units, codes=shuffled(chosen.counted)[chosen.units.codes].astype(np.int32))
    )
