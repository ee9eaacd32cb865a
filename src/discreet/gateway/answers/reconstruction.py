r"""Reconstruction: the groups of all levels of an answer, worked out from those that were measured.

Which levels are measured, and how much each counts, the plan says: see `planner.levels`. All of it is arithmetic on
what was released, in whole numbers: the same groups give the same answer, whenever and wherever it is worked out.

The least-squares estimate of a component C of a table, as `planner.margins` calls it, is made of what measured levels
say of it. With T running over the subsets of C, and sums over the other keys spread evenly, it is the sum of
(−1)^|C \ T| times its sums by the keys T. So a table by the keys B, of N cells, is

    Σ over T ⊆ B of (the sum over C, T ⊆ C ⊆ B, of (−1)^|C \ T| · its estimate, by T) · ∏ over T of nᵢ / N.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from discreet.gateway.answers.released import Group
from discreet.query import ir
from discreet.query.planner import UNIT, keys_of, quantum_of, subsets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.privacy import KeyValue
    from discreet.query.planner import Draft, Reconstruction

    Table = NDArray[Any]

_EXACT = 2**62
"""Numbers below it are computed in 64 bits, and all others in whole numbers of any size."""


def reconstructed(found: Reconstruction, groups: Sequence[Group]) -> list[Group]:
    """The groups of all levels that are answered, in order.

    Args:
        found: how they follow.
        groups: of the levels that were measured, as they were released.
    """
    work = _Work(found)
    numbers = [one for measure in found.drafts[0].measures for one in ir.numbers_of(measure)]
    tables = {one.name: work.answered(one, groups) for one in numbers}
    answer = []
    for level, draft in enumerate(found.drafts):
        columns = [work.listed(draft, tables[one.name][level]) for one in numbers]
        names = [one.name for one in numbers]
        keys = product(*(key.values or () for key in draft.keys))
        answer += [
            Group(key, dict(zip(names, row, strict=True)), level) for key, *row in zip(keys, *columns, strict=True)
        ]
    return answer


@dataclass(frozen=True, slots=True)
class _Work:
    """Works out tables, whose axes are in the order of all keys.

    Args:
        found: how they follow.
    """

    found: Reconstruction

    def answered(self, number: ir.Measured, groups: Sequence[Group]) -> list[Table]:
        """The tables of one number, level by level."""
        found, quantum = self.found, quantum_of(number)
        measured = [self._measured(place, number.name, groups) for place in range(len(found.measured))]
        every = frozenset(self._names)
        if found.is_summed:
            whole = measured[0] if quantum == 1 else self._stretched(measured[0], 1, quantum)
        elif not found.is_whole:
            return [self._rounded(*self._estimated(number.name, table, measured), quantum) for table in self._tables]
        else:
            whole = self._stretched(*self._estimated(number.name, every, measured), quantum)
        return [self._summed(whole, every, table) for table in self._tables]

    def listed(self, draft: Draft, table: Table) -> list[int]:
        """The numbers of the groups that a level shows, in order."""
        import numpy as np

        own = [str(key.expr) for key in draft.keys]
        held = {
            str(key.expr): {value: place for place, value in enumerate(key.values or ())} for key in self.found.keys
        }
        ordered = table.transpose([self._ordered(frozenset(own)).index(name) for name in own])
        shown = [[held[str(key.expr)][value] for value in key.values or ()] for key in draft.keys]
        values: list[int] = [int(value) for value in (ordered[np.ix_(*shown)] if shown else ordered).ravel().tolist()]
        return values

    @property
    def _names(self) -> tuple[str, ...]:
        """All keys, in order."""
        return tuple(str(key.expr) for key in self.found.keys)

    @property
    def _tables(self) -> Sequence[frozenset[str]]:
        """The keys of each level that is answered."""
        return self.found.margins.tables

    def _ordered(self, keys: frozenset[str]) -> list[str]:
        """Some keys in order."""
        return [name for name in self._names if name in keys]

    def _shape(self, keys: frozenset[str]) -> list[int]:
        return [self.found.margins.sizes[name] for name in self._ordered(keys)]

    def _measured(self, level: int, name: str, groups: Sequence[Group]) -> Table:
        """The released values of one number in one level; 0 where there can't be a group."""
        import numpy as np

        keys, possible = self.found.measured[level], self.found.possible
        draft = next(draft for draft in self.found.drafts if keys_of(draft) == keys)
        own = [str(key.expr) for key in draft.keys]
        values = {str(key.expr): key.values or () for key in self.found.keys}
        by_key = {group.key: group.noisy[name] for group in groups if group.level == level}
        cells: Iterator[tuple[KeyValue, ...]] = product(*(values[each] for each in own))
        released = [int(by_key[key]) if possible is None or key in possible else 0 for key in cells]  # type: ignore[arg-type]  # a number
        reach = UNIT * self.found.margins.cells(frozenset(self._names)) * 4 ** len(self._names)
        is_small = sum(map(abs, released)) * reach * len(self.found.measured) < _EXACT
        table = np.array(released, dtype=np.int64 if is_small else object)
        return table.reshape([len(values[each]) for each in own]).transpose(
            [own.index(each) for each in self._ordered(keys)]
        )

    def _summed(self, table: Table, keys: frozenset[str], kept: frozenset[str]) -> Table:
        """A table by some keys, summed up to fewer."""
        import numpy as np

        gone = tuple(place for place, name in enumerate(self._ordered(keys)) if name not in kept)
        return np.asarray(table.sum(axis=gone)) if gone else table

    def _estimated(self, name: str, table: frozenset[str], measured: Sequence[Table]) -> tuple[Table, int]:
        """The least-squares estimate of a level, times a number; and that number."""
        import numpy as np

        weights, sizes = self.found.weights[name], self.found.margins.sizes
        sums: dict[frozenset[str], Table] = {}
        for one in (each for each in weights if each <= table):
            told = sum(
                weight * self._summed(each, keys, one)
                for weight, each, keys in zip(weights[one], measured, self.found.measured, strict=True)
                if weight
            )
            for kept in subsets(one):
                part = self._summed(np.asarray(told), one, kept) * (-1) ** len(one - kept)
                sums[kept] = sums[kept] + part if kept in sums else part
        order = self._ordered(table)
        whole: Any = 0
        for kept, part in sums.items():
            wide = part.reshape([sizes[each] if each in kept else 1 for each in order])
            whole = whole + wide * prod(sizes[each] for each in kept)
        return np.broadcast_to(whole, self._shape(table)), UNIT * prod(self._shape(table))

    def _rounded(self, table: Table, times: int, quantum: int) -> Table:
        """A level in whole multiples of a quantum, each the nearest."""
        whole = times * quantum
        return (2 * table + whole) // (2 * whole) * quantum

    def _stretched(self, table: Table, times: int, quantum: int) -> Table:
        """The table by all keys in whole multiples of a quantum: sums from the first cell on are the nearest ones."""
        import numpy as np

        names, sizes, axes = self._names, self.found.margins.sizes, self.found.axes
        order = [name for axis in axes for name in axis]
        sums = table.transpose([names.index(name) for name in order])
        sums = sums.reshape([prod(sizes[name] for name in axis) for axis in axes])
        for place in range(len(axes)):
            sums = sums.cumsum(axis=place)
        parts = self._rounded(sums, times, quantum)
        for place in range(len(axes)):
            parts = np.diff(parts, axis=place, prepend=0)
        return parts.reshape([sizes[name] for name in order]).transpose([order.index(name) for name in names])
