"""Units: which rows of which tables are whose, so that one unit's can be taken away."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, TypeAlias

from discreet.audit.tables import Rows
from discreet.privacy import Period, Unit
from discreet.tables import Dataset, Owner, Table

Packets: TypeAlias = Mapping[Hashable, Mapping[str, Sequence[int]]]
"""By unit and table: the places of the rows that are that unit's alone."""


def packets_of(dataset: Dataset, rows: Rows) -> Packets:
    """The rows of each unit. Rows of nobody, or of several, are in no packet."""
    found: dict[Hashable, dict[str, list[int]]] = {}
    for table in dataset.private:
        owner = dataset.owner(table)
        if owner is None:
            continue
        for place, whose in enumerate(_owners(table, owner, rows)):
            if len(whose) == 1:
                found.setdefault(next(iter(whose)), {}).setdefault(table.name, []).append(place)
    return found


def _owners(table: Table, owner: Owner, rows: Rows) -> list[frozenset[Hashable]]:
    """Whose each row is, along the links."""
    held = rows[table.name]
    if owner.unit.is_row:
        return [frozenset([(table.name, place)]) for place in range(held.num_rows)]
    if not owner.hops:
        return [frozenset() if each is None else frozenset([each]) for each in _ids(table, held, owner.unit)]
    hop, *others = owner.hops
    beyond = _owners(hop.table, Owner(owner.unit, tuple(others)), rows)
    by_value: dict[Hashable, set[Hashable]] = {}
    for value, whose in zip(_values(hop.table, rows[hop.table.name], hop.to), beyond, strict=True):
        by_value.setdefault(value, set()).update(whose)
    by_value[None] = set()
    return [frozenset(by_value.get(value, ())) for value in _values(table, held, hop.column)]


def _ids(table: Table, held: Any, unit: Unit) -> list[Hashable]:  # noqa: ANN401 — an Arrow table
    """The unit of each row, None for nobody: the id, and the period where there is one."""
    ids = _values(table, held, unit.column or "")
    if unit.per is None or unit.at is None:
        return ids
    days = _values(table, held, unit.at)
    return [
        None if each is None or not isinstance(day, date) else (each, _period(day, unit.per))
        for each, day in zip(ids, days, strict=True)
    ]


def _values(table: Table, held: Any, name: str) -> list[Hashable]:  # noqa: ANN401 — an Arrow table
    """The values of a column."""
    return list(held.column(table.column(name).name).to_pylist())


def _period(day: date, per: Period) -> Hashable:
    """The period in which a day or a moment lies, by its first day, or by its hour.

    Examples:
        >>> _period(date(2024, 5, 16), "week"), _period(date(2024, 5, 16), "quarter")
        (datetime.date(2024, 5, 13), (2024, 2))
    """
    match per:
        case "hour":
            return (day.timetuple().tm_year, day.timetuple().tm_yday, day.timetuple().tm_hour)
        case "week":
            return date(day.year, day.month, day.day) - timedelta(days=day.weekday())
        case "month":
            return (day.year, day.month)
        case "quarter":
            return (day.year, (day.month + 2) // 3)
        case "year":
            return day.year
        case _:
            return (day.year, day.month, day.day)
