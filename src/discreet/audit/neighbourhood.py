"""The neighbourhood of a dataset: states that differ from it in one unit, those first that seem to matter most."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from discreet.audit.tables import Rows
from discreet.audit.units import Packets, packets_of
from discreet.noise import uniform
from discreet.privacy import SUBSTITUTION
from discreet.tables import Dataset

_AT_RANDOM = 8
"""So many units are tried whatever they hold."""


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
        tried: how many units are taken away at the most.
    """
    packets = packets_of(dataset, rows)
    units = list(dict.fromkeys([*_largest(packets), *_extreme(dataset, rows, packets), *_some(packets)]))[:tried]
    for unit in units:
        yield Neighbour(_without(rows, packets, unit), "one unit taken away")
    single = [unit for unit in units if sum(map(len, packets[unit].values())) == 1]
    if dataset.adjacency is SUBSTITUTION and dataset.owner(dataset.private[0]) is not None:
        for one, other in zip(single, single[1:] + single[:1], strict=True):
            replaced = _replaced(rows, packets, one, other)
            if replaced is not None and one != other:
                yield Neighbour(replaced, "one row replaced by another")


def _largest(packets: Packets) -> Iterator[Hashable]:
    """The units with the most rows."""
    yield from sorted(packets, key=lambda unit: -sum(map(len, packets[unit].values())))[:3]


def _extreme(dataset: Dataset, rows: Rows, packets: Packets) -> Iterator[Hashable]:
    """The units that hold the least and greatest numbers of a column, or its rarest value."""
    whose = {
        (table, place): unit for unit, held in packets.items() for table, places in held.items() for place in places
    }
    for table in dataset.private:
        held = rows[table.name]
        for name in held.column_names:
            for place in _ends(held.column(name).to_pylist()):
                if (table.name, place) in whose:
                    yield whose[table.name, place]


def _ends(values: list[Any]) -> list[int]:
    """Where a column's least, greatest and rarest values are, if it has any."""
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
    """A cell among others: numbers by size, written as text or not, before everything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 1, 0.0, str(value)
    return (0, number, "") if number == number else (1, 0.0, "nan")  # noqa: PLR0124 — only NaN differs from itself


def _some(packets: Packets) -> Iterator[Hashable]:
    """A few units at random."""
    units = list(packets)
    for place in uniform(len(units), size=_AT_RANDOM).tolist() if units else ():
        yield units[place]


def _without(rows: Rows, packets: Packets, unit: Hashable) -> Rows:
    """The rows but the unit's."""
    gone = packets[unit]
    return {name: _taken(held, set(gone.get(name, ()))) for name, held in rows.items()}


def _taken(held: Any, gone: set[int]) -> Any:  # noqa: ANN401 — an Arrow table
    """A table without some rows."""
    return held.take([place for place in range(held.num_rows) if place not in gone]) if gone else held


def _replaced(rows: Rows, packets: Packets, one: Hashable, other: Hashable) -> Rows | None:
    """The rows with the one in the place of the other, where both are a single row of one table."""
    ((name, (place,)),) = packets[one].items()
    ((its_name, (its_place,)),) = packets[other].items()
    if name != its_name or not (isinstance(one, tuple) and one[0] == name):
        return None
    held = rows[name]
    return {**rows, name: held.take([its_place if each == place else each for each in range(held.num_rows)])}
