"""What a search may rely on: `grows` and `merges` hold wherever a model claims them, and false claims are caught."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from discreet.anonymity.columns import Coded, Mask, Reals
from discreet.anonymity.frequencies import Frequencies, frequencies_of
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    RecursiveDiversity,
)
from discreet.anonymity.records import read
from support.examples import examples

VALUES = 3
ILL = Coded(name="ill", codes=np.zeros(0, np.int32), values=pa.array([0, 1, 2]), has_missing=False)
LADDER = Ladder(
    name="ill",
    maps=(np.array([0, 1, 2], np.int32), np.array([0, 0, 1], np.int32), np.zeros(VALUES, np.int32)),
    labels=(("0", "1", "2"), ("low", "high"), ("*",)),
)
SHARES = st.fractions(Fraction(1, 8), 1, max_denominator=8)
ABOVE = st.fractions(Fraction(1, 4), 4, max_denominator=8)
MODELS: dict[str, st.SearchStrategy[Model]] = {
    "k": st.builds(KAnonymity, st.integers(1, 6)),
    "k-map": st.builds(KMap, st.integers(1, 6)),
    "presence": st.tuples(SHARES, SHARES).map(lambda ends: DeltaPresence(*sorted(ends))),
    "presence, no lower end": st.builds(DeltaPresence, st.just(0), SHARES),
    "alpha": st.builds(AlphaK, SHARES, st.integers(1, 4), st.just("ill")),
    "alpha of one": st.builds(AlphaK, SHARES, st.integers(1, 4), st.just("ill"), st.just([1])),
    "distinct": st.builds(DistinctDiversity, st.integers(1, 3), st.just("ill")),
    "entropy": st.builds(EntropyDiversity, st.fractions(1, 3, max_denominator=8), st.just("ill")),
    "recursive": st.builds(RecursiveDiversity, ABOVE, st.integers(2, 3), st.just("ill")),
    "equal": st.builds(Closeness, SHARES, st.just("ill")),
    "ordered": st.builds(Closeness, SHARES, st.just("ill"), st.just("ordered")),
    "hierarchical": st.builds(Closeness, SHARES, st.just("ill"), st.just("hierarchical"), st.just(LADDER)),
    "basic likeness": st.builds(BetaLikeness, ABOVE, st.just("ill")),
    "enhanced likeness": st.builds(BetaLikeness, ABOVE, st.just("ill"), st.just(True)),  # noqa: FBT003 — enhanced
    "disclosure": st.builds(DeltaDisclosure, ABOVE, st.just("ill")),
}

ALWAYS_GROW = {"k", "k-map", "distinct"}
SEARCH = settings(max_examples=20_000, database=None, phases=[Phase.generate])


@dataclass(frozen=True, slots=True)
class Group:
    """Some people: how many rows have each sensitive value, and how many of the population are not in the table."""

    counts: tuple[int, ...]
    absent: int = 0

    def __add__(self, other: Group) -> Group:
        counts = tuple(one + two for one, two in zip(self.counts, other.counts, strict=True))
        return Group(counts, self.absent + other.absent)


@dataclass(frozen=True, slots=True)
class Capped:
    """A made-up model: at most three rows. Neither more rows nor unions keep it."""

    grows: bool = False
    merges: bool = False
    sensitive: str | None = None

    def measure(self, frequencies: Frequencies) -> Reals:
        """Sizes."""
        return frequencies.sizes.astype(float)

    def met(self, frequencies: Frequencies) -> Mask:
        """Whether they are small."""
        return frequencies.sizes <= 3

    def reached(self, frequencies: Frequencies) -> float:
        """The largest."""
        return float(self.measure(frequencies).max(initial=0))


groups = st.builds(Group, st.tuples(*[st.sampled_from([0, 1, 2, 3, 5, 25])] * VALUES).filter(any), st.integers(0, 5))
additions = st.builds(Group, st.tuples(*[st.sampled_from([0, 0, 1, 3, 25])] * VALUES), st.integers(0, 3))
tables = st.tuples(groups, groups, additions)


def frequencies(classes: Sequence[Group], totals: Sequence[int]) -> Frequencies:
    """These classes, in a table with these totals."""
    pairs = [(value, count) for group in classes for value, count in enumerate(group.counts) if count]
    sizes = np.array([sum(group.counts) for group in classes], dtype=np.int64)
    return Frequencies(
        rows=sizes,
        units=sizes,
        sizes=sizes,
        starts=np.cumsum([0, *(sum(map(bool, group.counts)) for group in classes)]),
        values=np.array([value for value, _ in pairs], dtype=np.int32),
        counts=np.array([count for _, count in pairs], dtype=np.int64),
        totals=np.array(totals, dtype=np.int64),
        whole=sum(totals),
        sensitive=ILL,
        population=sizes + np.array([group.absent for group in classes], dtype=np.int64),
    )


def met(model: Model | Capped, table: Sequence[Group], *chosen: Group) -> list[bool]:
    """Which of the chosen classes meet a model; the totals are those of all groups of the table and one row of each."""
    totals = [1 + sum(group.counts[value] for group in table) for value in range(VALUES)]
    verdict: list[bool] = model.met(frequencies(chosen, totals)).tolist()
    return verdict


def breaks_growth(model: Model | Capped, table: tuple[Group, Group, Group]) -> bool:
    """Whether a class meets the model and no longer does with more rows."""
    one, _, more = table
    before, after = met(model, table, one, one + more)
    return before and not after


def breaks_union(model: Model | Capped, table: tuple[Group, Group, Group]) -> bool:
    """Whether two classes meet the model and their union, with absent people whose values join theirs, doesn't."""
    one, two, more = table
    first, second, both = met(model, table, one, two, one + two + Group((0,) * VALUES, more.absent))
    return first and second and not both


@pytest.mark.parametrize("name", sorted(MODELS))
@examples(60)
@given(data=st.data(), table=tables)
def test_what_is_claimed_holds(name: str, data: st.DataObject, table: tuple[Group, Group, Group]) -> None:
    """More rows keep what grows, unions keep what merges, and what grows merges."""
    model = data.draw(MODELS[name])
    assert not (model.grows and breaks_growth(model, table))
    assert not (model.merges and breaks_union(model, table))
    assert model.merges == (name != "presence")
    assert model.grows or name not in ALWAYS_GROW


DENIALS = [(name, "grows", breaks_growth) for name in sorted(set(MODELS) - ALWAYS_GROW)] + [
    ("presence", "merges", breaks_union)
]


@pytest.mark.parametrize(("name", "fact", "breaks"), DENIALS)
def test_what_is_denied_fails(
    name: str, fact: str, breaks: Callable[[Model, tuple[Group, Group, Group]], bool]
) -> None:
    """A twin that claims what its model denies is caught by the same trial: neither denial nor trial is idle."""
    # unions break a lower end alone: any upper one would make it thirty times harder to come by
    models = st.builds(DeltaPresence, SHARES, st.just(1)) if fact == "merges" else MODELS[name]
    denied = models.filter(lambda model: not getattr(model, fact))
    model, table = find(st.tuples(denied, tables), lambda pair: breaks(*pair), settings=SEARCH)
    assert breaks(model, table)


@pytest.mark.parametrize("breaks", [breaks_growth, breaks_union])
def test_a_model_that_nothing_keeps_is_caught(
    breaks: Callable[[Capped, tuple[Group, Group, Group]], bool],
) -> None:
    """At most three rows: it would be wrong to claim either."""
    false = Capped(grows=True, merges=True)
    assert breaks(false, find(tables, lambda table: breaks(false, table), settings=SEARCH))


@pytest.mark.parametrize("name", sorted(MODELS))
@examples(6)
@given(data=st.data())
def test_unions_by_brute_force(name: str, data: st.DataObject) -> None:
    """All pairs of classes with up to three rows of each of three values, absent people aside."""
    model = data.draw(MODELS[name])
    every = [Group(counts, 2) for counts in product(range(4), repeat=VALUES) if any(counts)]
    totals = [9, 7, 20]
    fine = [group for group, good in zip(every, model.met(frequencies(every, totals)), strict=True) if good]
    unions = [one + two for one in fine for two in fine]
    assert all(model.met(frequencies(unions, totals))) or not model.merges


def test_wildcards_leave_only_growth() -> None:
    """Where missing values are wildcards a row hides in two classes and counts once in their union, which may fail."""
    rows = {"zip": ["1", "2", None], "ill": ["flu", "flu", "cold"]}
    apart = frequencies_of(read(rows, missing="wildcard"), ["zip"], "ill")
    joined = frequencies_of(read(rows | {"zip": ["*", "*", "*"]}), ["zip"], "ill")
    model = EntropyDiversity(2, "ill")
    assert model.merges
    assert model.met(apart).tolist() == [True, True, False]  # those of 1 and of 2 both hide beside the third row
    assert model.met(joined).tolist() == [False]
    assert KAnonymity(2).met(apart).all()
    assert KAnonymity(2).met(joined).all()
