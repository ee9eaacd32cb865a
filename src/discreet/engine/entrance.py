"""The view `door`: the rows of a table as the door lets them in, with only the columns a question needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from discreet.dataset import Table
from discreet.engine.door import faithful, identified, kept, read
from discreet.engine.expressions import DOOR
from discreet.engine.listing import list_keys
from discreet.engine.reader import RAW
from discreet.engine.session import Session
from discreet.engine.usage import Usage

Spelled: TypeAlias = Mapping[str, tuple[str, str]]
"""The source's spelling of each column's name, and its type, by the name in lower case."""


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
    spelled = {name.casefold(): (name, sql_type) for name, sql_type in types.items()}
    stages = _Stages()
    _let_units_in(stages, session, table, spelled)
    _let_columns_in(stages, session, table, used, spelled)
    session.execute(f"CREATE TEMP {'TABLE' if keep else 'VIEW'} {DOOR} AS {stages.sql()}")


@dataclass(slots=True)
class _Stages:
    """Three projections, one of the other, so that no value is computed twice; then joins and conditions."""

    read: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    final: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    def sql(self) -> str:
        """The query. Where nothing but the number of rows matters, it has one constant column."""
        read, kept, final = (", ".join(stage) or "1 AS one" for stage in (self.read, self.kept, self.final))
        rows = f"(SELECT {kept} FROM (SELECT {read} FROM {RAW}))"
        conditions = " AND ".join(self.conditions) or "true"
        return f"SELECT {final} FROM {rows} {' '.join(self.joins)} WHERE {conditions}"


def _let_units_in(stages: _Stages, session: Session, table: Table, spelled: Spelled) -> None:
    """Whose a row is: the id, and the beginning of the period in which the time lies."""
    names = [name for name in (table.unit.column, table.unit.at) if name is not None]
    for number, column in enumerate(map(table.column, names)):
        source = spelled[column.name.casefold()]
        value = read(column, *source)
        stages.read.append(
            f"{value if number else f'CASE WHEN {faithful(column, *source)} THEN {value} END'} AS i{number}"
        )
        stages.kept.append(f"{identified(column, f'i{number}')} AS i{number}")
        stages.final.append("i0 AS u0" if number == 0 else f"date_trunc('{table.unit.per}', i1) AS u1")
        stages.conditions.append(f"i{number} IS NOT NULL")
        if column.keys is not None:
            list_keys(session, f"ids{number}", column.kind, enumerate(column.keys))
            stages.joins.append(f"SEMI JOIN ids{number} ON i{number} = ids{number}.v")


def _let_columns_in(stages: _Stages, session: Session, table: Table, used: Usage, spelled: Spelled) -> None:
    """What is asked about a row."""
    for number in sorted({*used.checked, *used.unchecked}):
        column = table.columns[number]
        stages.read.append(f"{read(column, *spelled[column.name.casefold()])} AS r{number}")
        stages.kept.append(f"{kept(column, f'r{number}')} AS r{number}")
    stages.final += [f"r{number}" for number in used.unchecked]
    for number in used.checked:
        column = table.columns[number]
        if column.keys is None:
            stages.final.append(f"r{number} AS c{number}")
        else:
            list_keys(session, f"keys{number}", column.kind, enumerate(column.keys))
            stages.joins.append(f"LEFT JOIN keys{number} ON r{number} = keys{number}.v")
            stages.final.append(f"keys{number}.v AS c{number}")
