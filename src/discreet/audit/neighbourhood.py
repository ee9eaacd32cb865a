"""Neighbouring states of a dataset: its tables without one unit's rows, those units first that seem to matter most."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from discreet.errors import unforeseen
from discreet.noise import uniform
from discreet.privacy import SUBSTITUTION, Period, Unit
from discreet.tables import Dataset, Owner, Source, Table
from discreet.tables.admission import admit

Rows: TypeAlias = Mapping[str, Any]
"""The rows of each table by its name: Arrow tables, which have no type stubs."""


@dataclass(frozen=True, slots=True, repr=False)
class State:
    """One state of the tables, in memory.

    Args:
        dataset: with sources in memory.
        data: tables in memory, by the location of their source.
    """

    dataset: Dataset
    data: Mapping[str, object]


def read(dataset: Dataset, data: Mapping[str, object] = MappingProxyType({})) -> Rows:
    """All rows of all tables, with all declared columns, as they are admitted.

    Args:
        dataset: which tables.
        data: those in memory, by the location of their source.

    Raises:
        SourceError: one can't be read.
    """
    admitted = admit(dataset.tables, data, None).tables
    return {table.name: admitted[table.name.casefold()].whole() for table in dataset.tables}


def in_memory(dataset: Dataset, rows: Rows) -> State:
    """The dataset over these rows, in memory.

    Args:
        dataset: as it was.
        rows: of all tables, as `read` gives them.
    """
    sources = {table.name: Source(kind="memory", location=f"audited {table.name}") for table in dataset.tables}
    tables = tuple(replace(table, source=sources[table.name]) for table in dataset.tables)
    laid = replace(dataset, tables=tables, analysts={}, snapshots=None)
    return State(laid, {source.location: rows[name] for name, source in sources.items()})


RowsByUnit: TypeAlias = Mapping[Hashable, Mapping[str, Sequence[int]]]
"""The places of the rows that belong to one unit alone, by unit and table."""


def rows_by_unit(dataset: Dataset, rows: Rows) -> RowsByUnit:
    """The rows of each unit, without the rows that belong to nobody or to several units."""
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
    """The units that each row belongs to, along the links."""
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
        case "day":
            return (day.year, day.month, day.day)
        case _:
            raise unforeseen(per)


_AT_RANDOM = 8
"""How many units are tried whatever their rows are."""


@dataclass(frozen=True, slots=True, repr=False)
class Neighbour:
    """A state of the tables that differs from another in one unit.

    Args:
        rows: of the private tables.
        how: in which way, in words that name nobody.
    """

    rows: Rows
    how: str


def neighbours_of(dataset: Dataset, rows: Rows, tried: int) -> Iterator[Neighbour]:
    """Neighbours of a state: extreme units are taken away in turn, some others too.

    Under substitution a unit that is taken away has its place taken by one without rows; where each row is a unit, an
    extreme row is also replaced by a copy of another extreme one.

    Args:
        dataset: which tables, and which states are neighbours.
        rows: the state.
        tried: how many units are taken away at most.
    """
    owned = rows_by_unit(dataset, rows)
    largest = sorted(owned, key=lambda unit: -sum(map(len, owned[unit].values())))[:3]
    units = list(dict.fromkeys([*largest, *_extreme(dataset, rows, owned), *_some(owned)]))[:tried]
    for unit in units:
        yield Neighbour(_without(rows, owned, unit), "one unit taken away")
    single = [unit for unit in units if sum(map(len, owned[unit].values())) == 1]
    if dataset.adjacency is SUBSTITUTION and dataset.owner(dataset.private[0]) is not None:
        for one, other in zip(single, single[1:] + single[:1], strict=True):
            replaced = _replaced(rows, owned, one, other)
            if replaced is not None and one != other:
                yield Neighbour(replaced, "one row replaced by another")


def _extreme(dataset: Dataset, rows: Rows, owned: RowsByUnit) -> Iterator[Hashable]:
    """The units that hold the least and greatest numbers of a column, or its rarest value."""
    whose = {(table, place): unit for unit, held in owned.items() for table, places in held.items() for place in places}
    for table in dataset.private:
        held = rows[table.name]
        for name in held.column_names:
            for place in _ends(held.column(name).to_pylist()):
                if (table.name, place) in whose:
                    yield whose[table.name, place]


def _ends(values: list[Any]) -> list[int]:
    """The places of a column's least, greatest and rarest values, if it has any."""
    places = [place for place, value in enumerate(values) if value is not None]
    if not places:
        return []
    keys = {place: _order(values[place]) for place in places}
    often: dict[Any, int] = {}
    for key in keys.values():
        often[key] = often.get(key, 0) + 1
    return [
        min(places, key=keys.__getitem__),
        max(places, key=keys.__getitem__),
        min(places, key=lambda p: often[keys[p]]),
    ]


def _order(value: Any) -> tuple[int, float, str]:  # noqa: ANN401 — a cell
    """A sort key of a cell: numbers by size first, also those written as text, then everything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 1, 0.0, str(value)
    return (0, number, "") if number == number else (1, 0.0, "nan")  # noqa: PLR0124 — only NaN differs from itself


def _some(owned: RowsByUnit) -> Iterator[Hashable]:
    """A few units at random."""
    units = list(owned)
    for place in uniform(len(units), size=_AT_RANDOM).tolist() if units else ():
        yield units[place]


def _without(rows: Rows, owned: RowsByUnit, unit: Hashable) -> Rows:
    """The rows without those of the unit."""
    gone = owned[unit]
    return {name: _taken(held, set(gone.get(name, ()))) for name, held in rows.items()}


def _taken(held: Any, gone: set[int]) -> Any:  # noqa: ANN401 — an Arrow table
    """A table without some rows."""
    return held.take([place for place in range(held.num_rows) if place not in gone]) if gone else held


def _replaced(rows: Rows, owned: RowsByUnit, one: Hashable, other: Hashable) -> Rows | None:
    """The rows with the one in the place of the other, where both are a single row of one table."""
    ((name, (place,)),) = owned[one].items()
    ((its_name, (its_place,)),) = owned[other].items()
    if name != its_name or not (isinstance(one, tuple) and one[0] == name):
        return None
    held = rows[name]
    return {**rows, name: held.take([its_place if each == place else each for each in range(held.num_rows)])}
