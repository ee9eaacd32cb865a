"""The view `door`: the rows of a table as the door lets them in, with only the columns a question needs."""

from __future__ import annotations

from discreet.dataset import Column, Table
from discreet.engine.door import identified, kept, read
from discreet.engine.expressions import DOOR
from discreet.engine.listing import list_keys
from discreet.engine.reader import RAW
from discreet.engine.session import Session
from discreet.engine.usage import Usage


def make_door(session: Session, table: Table, types: dict[str, str], used: Usage, *, keep: bool) -> None:
    """Make the door: the unit in `u0, u1`, each column as `c…` with its keys enforced, or as `r…` without.

    Rows whose unit isn't known are left out here, before anything else is asked about them.

    Args:
        session: with the raw rows in it.
        table: what is declared.
        types: of the raw columns, by the source's spelling.
        used: the columns to let in.
        keep: whether to keep what came in, since the raw rows are slow to read and may be read several times.
    """
    spelled = {name.casefold(): name for name in types}

    def reading(column: Column) -> str:
        """The column's values as the source has them, read as its kind."""
        spelling = spelled[column.name.casefold()]
        return read(column, spelling, types[spelling])

    let_in = [(number, table.columns[number]) for number in sorted({*used.checked, *used.unchecked})]
    units = _unit_columns(table)
    first = [f"{reading(column)} AS r{number}" for number, column in let_in]
    first += [f"{reading(column)} AS u{number}" for number, column in enumerate(units)]
    second = [f"{kept(column, f'r{number}')} AS r{number}" for number, column in let_in]
    second += [f"{_unit(table, number, column)} AS u{number}" for number, column in enumerate(units)]
    final = [f"u{number}" for number in range(len(units))]
    final += [f"r{number}" for number in used.unchecked]
    joins = []
    for number in used.checked:
        column = table.columns[number]
        if column.keys is None:
            final.append(f"r{number} AS c{number}")
        else:
            list_keys(session, f"keys{number}", column.kind, enumerate(column.keys))
            joins.append(f"LEFT JOIN keys{number} ON r{number} = keys{number}.v")
            final.append(f"keys{number}.v AS c{number}")
    for number, column in enumerate(units):
        if column.keys is not None:
            list_keys(session, f"ids{number}", column.kind, enumerate(column.keys))
            joins.append(f"SEMI JOIN ids{number} ON u{number} = ids{number}.v")
    known = " AND ".join(f"u{number} IS NOT NULL" for number in range(len(units))) or "true"
    session.execute(
        f"CREATE TEMP {'TABLE' if keep else 'VIEW'} {DOOR} AS SELECT {', '.join(final) or '1 AS one'} FROM "
        f"(SELECT {', '.join(second) or '1 AS one'} FROM (SELECT {', '.join(first) or '1 AS one'} FROM {RAW})) "
        f"{' '.join(joins)} WHERE {known}"
    )


def _unit_columns(table: Table) -> list[Column]:
    """The columns that say whose a row is: none, the id, or the id and the time."""
    return [table.column(name) for name in (table.unit.column, table.unit.at) if name is not None]


def _unit(table: Table, number: int, column: Column) -> str:
    """One part of the unit: the id as it is, or the beginning of the period that the time lies in."""
    value = identified(column, f"u{number}")
    return value if number == 0 else f"date_trunc('{table.unit.per}', {value})"
