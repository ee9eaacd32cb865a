"""People: whose each row is, whom an attack is tried on, what is known of each, and how they are named in a report.

Where a table is read by unit, people are units, and have several rows each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.anonymity.columns import Coded, Reals, Value, Whole, encode
from discreet.anonymity.records import Records, read
from discreet.attacks.attack_result import MOST_GUESSES
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.compatible import plain
from discreet.errors import InvalidArgument
from discreet.noise import uniform

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymity.records import Unit as WhoseRow
    from discreet.anonymity.records import Units


# ── Whom an attacker looks for ────────────────────────────────────────────────────────────────────────────────────────


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
    """So many people of a table, or all, at random and in a random order, with all of their rows.

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
    # Who comes first mustn't be told by their id: units are numbered anew, and that is the order in which they are met.
    return replace(
        chosen, units=replace(chosen.units, codes=shuffled(chosen.counted)[chosen.units.codes].astype(np.int32))
    )


# ── How people are named ──────────────────────────────────────────────────────────────────────────────────────────────

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


_NAME = "unit_number"


# ── Units as a column that can be asked about ─────────────────────────────────────────────────────────────────────────


def with_unit(records: Records) -> tuple[pa.Table, str | None]:
    """A table as Arrow has it, with a number for each unit; and the name of that column, None if rows are units.

    Examples:
        >>> from discreet.anonymity import read
        >>> table, name = with_unit(read({"id": ["b", "a", "b"], "ill": ["flu", "cold", "flu"]}, unit="id"))
        >>> name, table.column_names, table[name].to_pylist()
        ('unit_number', ['ill', 'unit_number'], [1, 0, 1])
    """
    table = records.to_arrow()
    if records.units is None:
        return table, None
    name = free_name(_NAME, table.column_names)
    return table.append_column(name, _numbers(records.units)), name


def copied(records: Records, name: str) -> tuple[Records, str]:
    """A table with a column twice, so that it can also say whose a row is; and the name of the copy.

    Raises:
        SchemaMismatch: there is no such column.

    Examples:
        >>> from discreet.anonymity import read
        >>> twice, name = copied(read({"id": ["b", "a", "b"]}), "id")
        >>> name, read(twice, unit="id").column(name).labels()
        ('id_', ('a', 'b'))
    """
    own, copy = records.column(name), free_name(name, records.names)
    column = Coded(name=copy, codes=own.codes, values=own.values, has_missing=own.has_missing)
    return replace(records, columns={**records.columns, copy: column}), copy


def pseudonymous(table: object, unit: WhoseRow) -> tuple[Records, str | None]:
    """A table that is read by unit, with a column that says whose a row is; and its name, None if rows are units.

    What it says are the values of the unit's column, or numbers where several columns name units, or none is there.

    Examples:
        >>> table, name = pseudonymous({"id": ["b", "a"], "item": ["X", "Y"]}, "id")
        >>> name, table.column(name).labels(), table.units.names
        ('id_', ('a', 'b'), ('id',))
    """
    whole = read(table)
    names = () if unit is None else (unit,) if isinstance(unit, str) else tuple(unit)
    if len(names) == 1 and names[0] in whole.names:
        whole, name = copied(whole, names[0])
        return read(whole, unit=names), name
    records = read(whole, unit=unit)
    if records.units is None:
        return records, None
    name = free_name(_NAME, records.names)
    return replace(records, columns={**records.columns, name: encode(name, _numbers(records.units))}), name


def free_name(wished: str, taken: Sequence[str]) -> str:
    """A name that no column has, in whatever case: SQL doesn't tell these apart.

    Examples:
        >>> free_name("unit", ["age", "Unit"])
        'unit_'
    """
    folded = {name.casefold() for name in taken}
    while wished.casefold() in folded:
        wished += "_"
    return wished


def _numbers(units: Units) -> pa.Array:
    """Of each row, the number of its unit."""
    import pyarrow as pa

    return pa.array(units.codes, pa.int64())
