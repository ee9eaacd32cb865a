"""Drafts: a question with its request, and all that the rules of planning have decided about it so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from discreet.mechanisms import Threshold
from discreet.mechanisms.histogram import Contribution
from discreet.privacy import Adjacency, KeyValue, Limits, Sensitivity, Unit
from discreet.query import ir
from discreet.query.estimates import Estimator, Noise, Noisy, Pick, Selection, integer
from discreet.query.planner.cells import Cells
from discreet.query.planner.request import Request
from discreet.tables.schema.dataset import CHOSEN_BY

_ONE_ROW = Limits(rows=1)


@dataclass(frozen=True, slots=True)
class Together:
    """Keys of one public table, of which a group has values that some row of it has together.

    Args:
        places: of the keys.
        values: of the rows, in the order of these places.
    """

    places: tuple[int, ...]
    values: frozenset[tuple[KeyValue, ...]]

    def has(self, key: Sequence[KeyValue]) -> bool:
        """Whether there is a row like a group."""
        return tuple(key[place] for place in self.places) in self.values


def laws_of(noises: Iterable[Noise]) -> dict[str, Noise]:
    """The noise of each number that measures consist of, by its name."""
    return {one.measure.name: one for noise in noises for one in noise.numbers}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The decisions of the rules so far; each rule fills in its part, and none changes another's.

    Args:
        question: bound and typed.
        request: what is offered.
        adjacency: which tables are neighbours.
        chosen_by: the hash by which the engine chooses what a unit over the limits keeps.
        least_units: values of groups with fewer units than this are withheld; 0 if all are shown.
        without_rows: why public facts alone say that the answer is one of no rows, in words; empty where they don't.
        keys: by `public_keys`.
        together: by `public_keys`; which values of several keys some row of a public table has together.
        limits: by `contributions`.
        blocks: the names of aggregates that are read from the same cells; those of others aren't in any.
        saved: how many times as much it would err, or cost, with each measured apart.
        counts_ranks: whether several quantiles of one expression are read from noisy counts; else each is chosen.
        ranks_apart: by how many rows one of them might be off if each were chosen, for a reader; 0 where each is.
        measures: by `measures`; those that are counted or added up.
        cells: by `measures`; one for each block.
        histograms: by `measures`; those that something is chosen from.
        picks: by `measures`; what is chosen from histograms.
        estimators: by `measures`; from what is released to the aggregates, by aggregate name.
        selector: by `measures`; the measure that decides which private groups are released; None if all are public.
        counter: by `measures`; the measure by which groups are found too small; None if all are shown.
        sensitivities: by `sensitivities`, one per measure.
        contributions: by `sensitivities`, one per histogram.
        noises: by `calibrate`, one per measure.
        selections: by `calibrate`, one per pick.
        needed: by `calibrate`; the least offer that is accurate enough, which may be more than what is offered; None if
            no accuracy was asked for, or no offer is enough.
        threshold: by `selection`.
    """

    question: ir.Question
    request: Request
    adjacency: Adjacency
    chosen_by: str = CHOSEN_BY
    least_units: int = 0
    without_rows: str = ""
    keys: tuple[ir.Key, ...] = ()
    limits: Limits = _ONE_ROW
    blocks: tuple[frozenset[str], ...] = ()
    saved: float = 1.0
    counts_ranks: bool = False
    ranks_apart: float = 0.0
    measures: tuple[ir.Measured, ...] = ()
    cells: tuple[Cells, ...] = ()
    histograms: tuple[ir.Histogram, ...] = ()
    picks: tuple[Pick, ...] = ()
    estimators: tuple[tuple[str, Estimator], ...] = ()
    selector: str | None = None
    counter: str | None = None
    sensitivities: tuple[Sensitivity, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    together: tuple[Together, ...] = ()
    noises: tuple[Noise, ...] = ()
    selections: tuple[Selection, ...] = ()
    needed: Fraction | None = None
    threshold: Threshold | None = None

    @property
    def scans(self) -> tuple[ir.Scan, ...]:
        """The tables that are read."""
        return tuple(dict.fromkeys(ir.scans(self.question.source)))

    @property
    def unit(self) -> Unit:
        """The unit whose presence is hidden."""
        owner = ir.owner_of(self.question.source)
        if owner is None:
            raise TypeError("a question reads a private table")
        return owner.unit

    @property
    def laws(self) -> Mapping[str, Noise]:
        """The noise of every number that is released, by the name it is released under."""
        return laws_of(self.noises)

    @property
    def least_count(self) -> int:
        """The least noisy number of units, in its steps, of a group that isn't withheld; 0 if none is."""
        return 0 if self.counter is None else ceil(self.least_units / self.laws[self.counter].step)

    def withholds(self, noisy: Noisy) -> bool:
        """Whether a released group is too small to be shown. One that a threshold selected never is."""
        return self.counter is not None and integer(self.counter, noisy) < self.least_count

    def has(self, key: Sequence[KeyValue]) -> bool:
        """Whether there can be a group of this key: some row of each public table has what comes from it together."""
        return all(each.has(key) for each in self.together)

    @property
    def has_private_keys(self) -> bool:
        """Whether some key's values aren't known in public."""
        return any(key.values is None for key in self.keys)
