"""Units as a column that can be asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.anonymity.columns import Coded
from discreet.anonymity.encode import encode
from discreet.anonymity.records import Records, read

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymity.records import Unit as WhoseRow
    from discreet.anonymity.records import Units
from discreet.attacks.naming import NAME


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
    name = free_name(NAME, table.column_names)
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

    Pseudonyms are the values of the unit's column, or numbers if several columns name units or there is none.

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
    name = free_name(NAME, records.names)
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
    import pyarrow as pa

    return pa.array(units.codes, pa.int64())
