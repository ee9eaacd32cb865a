"""Blocks: which aggregates are read from the same cells.

Cells that tell more have more noise in each number that is read from them, and measures apart share an offer. What errs
less is found by trying: each aggregate in cells of its own, those of the same columns together, all together; and from
the best of these on, whichever two parts err less together, as long as there are such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from discreet.query import ir
from discreet.query.aggregates import Moment
from discreet.query.estimates import Total
from discreet.query.planner.accuracy import Judged
from discreet.query.planner.cells import TooManyCellsError
from discreet.query.planner.draft import Draft
from discreet.query.planner.measures import moments_of

Blocks = tuple[frozenset[str], ...]
"""Names of aggregates that are read from the same cells."""

_MOST_JOINED = 6
"""Beyond this number, only neighbours in the order of the aggregates are joined: each arrangement that is tried takes
some milliseconds."""


_MOST_TRIED = 1_000
"""How many released numbers the arrangements that are tried may have in all, over all levels: each takes about half a
millisecond. Analysts choose how many there are, and a count is the same on every machine, as a plan must be."""

_SIGNS = 200
"""The characters of aggregates' arguments that take as long as a number."""

_TIMES = 4
"""How many times as many numbers cells are taken to have as measures apart, before they are made."""

_BY = 1.01
"""Errors that are less by one part in a hundred may be so by the grids on which noise is drawn."""


_LONGER = 2
"""How many times as long cells may take to fill as measures apart, and how many more readings of a table: conditions
are looked at again for each cell, and all answers wait for as long as any may take."""


@dataclass(frozen=True)
class Trials:
    """The arrangements of a question, as they are tried.

    Args:
        apart: the drafts of all levels without blocks.
        planned: the same with blocks.
        readings: how long drafts take, in readings of a table.
        among: how many questions are planned together. They share what may be tried beyond the first arrangements.
    """

    apart: Sequence[Draft]
    planned: Callable[[Blocks], Sequence[Draft]]
    readings: Callable[[Sequence[Draft]], float]
    among: int = 1

    def best(self) -> Sequence[Draft]:
        """The drafts with the blocks that err least, of those that are tried."""
        found = self._best()
        saved = found.gain(self._apart)
        saved = saved if saved > _BY else found.gain_in_all(self._apart)
        return [replace(draft, saved=saved) for draft in found.drafts]

    def together(self) -> Sequence[Draft]:
        """The drafts with all aggregates in one block, as far as they can be."""
        names = frozenset(self._asked)
        return self.planned((names,)) if names else self.apart

    def _best(self) -> Judged:
        best, blocks, left = self._apart, Blocks(), _MOST_TRIED
        least = self._written + _TIMES * _numbers(self.apart)
        for found in filter(None, dict.fromkeys(_first(self._asked))):  # without blocks they are measured apart
            if left >= least:
                best, blocks, tried = self._better(best, blocks, found)
                left -= tried
        left //= self.among
        while len(self._asked) <= _MOST_JOINED:
            before = blocks
            for found in _joined(before, self._asked):
                if left >= least:
                    best, blocks, tried = self._better(best, blocks, found)
                    left -= tried
            if blocks == before:
                break
        return best

    @cached_property
    def _asked(self) -> Mapping[str, Sequence[Moment]]:
        """The moments of the aggregates that have any.

        Of several levels whole numbers are measured apart, so that they add up as they are shown: those that are read
        from cells are rounded group by group.
        """
        draft = self.apart[0]
        if draft.without_rows:
            return {}
        whole = {name for name, one in draft.estimators if len(self.apart) > 1 and isinstance(one, Total) and one.whole}
        return {name: asked for name, asked in moments_of(draft).items() if asked and name not in whole}

    @cached_property
    def _apart(self) -> Judged:
        return Judged(self.apart)

    def _better(self, best: Judged, blocks: Blocks, found: Blocks) -> tuple[Judged, Blocks, int]:
        """Whichever errs less, by enough to be no matter of rounding, and doesn't take much longer; and what it took.

        That is decided by the worst error, and between equal ones by all of them.

        To find out that there are too many cells takes about as long as measures apart.
        """
        try:
            drafts = self.planned(found)
        except TooManyCellsError:
            return best, blocks, self._written + _numbers(self.apart)
        tried, judged = self._written + _numbers(drafts), Judged(drafts)
        saved = judged.gain(best)
        errs_less = saved > _BY or (saved >= 1 and judged.gain_in_all(best) > _BY)
        if not errs_less or self.readings(drafts) > _LONGER * (1 + self._readings_apart):
            return best, blocks, tried
        return judged, found, tried

    @cached_property
    def _written(self) -> int:
        """How long it takes to read what aggregates are of, in numbers, over all levels."""
        values = [value for moments in self._asked.values() for each in moments for value, _ in each.powers]
        return len(self.apart) * sum(len(str(value)) for value in values) // _SIGNS

    @cached_property
    def _readings_apart(self) -> float:
        return self.readings(self.apart)


def _numbers(drafts: Sequence[Draft]) -> int:
    """How many numbers are released, over all levels."""
    return sum(len(ir.numbers_of(noise.measure)) for draft in drafts for noise in draft.noises)


def _first(asked: Mapping[str, Sequence[Moment]]) -> Iterator[Blocks]:
    """The arrangements that are tried first."""
    many = [name for name, moments in asked.items() if len(set(moments)) > 1]
    yield tuple(frozenset({name}) for name in many)
    if len(asked) > 1:
        yield (frozenset(asked),)
    columns = {
        name: {str(column) for each in moments for value, _ in each.powers for column in ir.columns_in(value)}
        for name, moments in asked.items()
    }
    yield tuple(group for group in _connected(columns) if len(group) > 1 or group & set(many))
    for size in range(2, 5) if len(asked) > _MOST_JOINED else ():
        yield tuple(frozenset(chunk) for chunk in _chunks(list(asked), size) if len(chunk) > 1)


def _chunks(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (names[start : start + size] for start in range(0, len(names), size))


def _connected(columns: Mapping[str, set[str]]) -> list[frozenset[str]]:
    """Names that share columns, also by way of others."""
    groups: list[tuple[set[str], set[str]]] = []
    for name, own in columns.items():
        touching = [each for each in groups if each[1] & own]
        groups = [each for each in groups if each not in touching]
        groups.append(({name}.union(*(each[0] for each in touching)), own.union(*(each[1] for each in touching))))
    return [frozenset(names) for names, _ in groups]


def _joined(blocks: Blocks, asked: Mapping[str, Sequence[Moment]]) -> Iterator[Blocks]:
    """The blocks with two parts made one, whether these are blocks or aggregates that are in none."""
    single = [frozenset({name}) for name in asked if not any(name in block for block in blocks)]
    for one, other in combinations([*blocks, *single], 2):
        yield (*(block for block in blocks if block not in {one, other}), one | other)
