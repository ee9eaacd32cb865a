"""Unit columns: whose each row is, as a column that can be asked about, and limits that cut nothing off a unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Coded, Codes, encode
from discreet.anonymity.grouping import group
from discreet.anonymity.records import Records, read
from discreet.privacy import Limits

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymity.records import Unit as WhoseRow
    from discreet.anonymity.records import Units

_NAME = "unit_number"


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


def limits_of(records: Records, groupings: Sequence[Sequence[Coded]]) -> Limits | None:
    """Limits within which all units of a table are; None if each row is a unit.

    They are read off the table, as only a custodian may who tries an attack on rows that they have: limits that protect
    a table for real must come from what is known in public.

    Args:
        records: the table.
        groupings: the columns by which each of the questions that group rows does; none if no question does.

    Examples:
        >>> from discreet.anonymity import read
        >>> visits = read({"id": [1, 1, 1, 2], "ill": ["flu", "flu", "cold", "gout"]}, unit="id")
        >>> print(limits_of(visits, []), limits_of(visits, [[visits.column("ill")]]), sep="; ")
        3 rows in 1 groups; 3 rows in 2 groups
    """
    whose = records.units
    if whose is None:
        return None
    groups = [1]
    for columns in groupings:
        own = group([whose.codes, *(each.codes for each in columns)], [whose.number, *(each.size for each in columns)])
        groups.append(_most(own.tuples()[:, 0]))
    return Limits(rows=_most(whose.codes), groups=max(groups))


def _numbers(units: Units) -> pa.Array:
    """Of each row, the number of its unit."""
    import pyarrow as pa

    return pa.array(units.codes, pa.int64())


def _most(owners: Codes) -> int:
    """How often the commonest occurs; 1 of nobody."""
    return int(np.bincount(owners).max(initial=1))
