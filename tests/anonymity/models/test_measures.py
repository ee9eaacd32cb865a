"""Every model's measure and verdict against its paper's definition, on random tables in many forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from math import exp, inf

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.anonymity.columns import Coded
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
    RecursiveDiversity,
)
from discreet.anonymity.records import Missing, Records, read
from support import slow_models as slow
from support.examples import examples
from support.slow_models import Held, Row

QI = ["q0", "q1", "q2"]
VALUES = [3, 10, 7, 21, None]
"""Of the sensitive attribute; by size they stand in another order than as texts."""
FORMS: dict[str, Callable[[pd.DataFrame], object]] = {
    "columns": lambda frame: {name: frame[name].tolist() for name in frame},
    "pandas": lambda frame: frame,
    "permuted": lambda frame: frame.set_index(pd.Index([(7 * i + 3) % 101 for i in range(len(frame))])),
    "offset": lambda frame: frame.set_index(pd.RangeIndex(1000, 1000 + len(frame))),
    "repeated": lambda frame: frame.set_index(pd.Index([0] * len(frame))),
}
FRACTIONS = st.fractions(0, 1, max_denominator=12)


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """From no row to twelve; one quasi-identifier to three; from one sensitive value to five."""
    width = draw(st.integers(1, 3))
    keys = st.tuples(*[st.sampled_from(["a", "b", None])] * width)
    values = st.sampled_from(VALUES[: draw(st.integers(1, 5))] if draw(st.booleans()) else [None])
    return draw(st.lists(st.tuples(keys, values), max_size=12))


def read_rows(rows: Sequence[Row], form: str, missing: Missing) -> Records:
    """The rows as a table of some form, read."""
    width = len(rows[0][0]) if rows else 1
    columns = {QI[place]: [key[place] for key, _ in rows] for place in range(width)} | {"ill": [v for _, v in rows]}
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    return read(FORMS[form](frame), missing=missing)


def counted(rows: Sequence[Row], form: str, missing: Missing) -> tuple[Frequencies, list[Held], Held]:
    """The frequencies, and beside them what each class and the table hold, counted slowly."""
    found = frequencies_of(read_rows(rows, form, missing), QI[: len(rows[0][0]) if rows else 1], "ill")
    assert found.classes is not None
    labels = [column.labels() for column in found.classes.columns]
    keys = [tuple(labels[place][code] for place, code in enumerate(codes)) for codes in found.classes.tuples.tolist()]
    held = (slow.agreeing if missing is Missing.WILDCARD else slow.classes)(rows)
    assert sorted(map(repr, keys)) == sorted(map(repr, held))
    return found, [held[key] for key in keys], Counter(value for _, value in rows)


def in_order(table: Held) -> list[Hashable]:
    """The values, by size, a missing one last."""
    return sorted(table, key=lambda value: (value is None, value or 0))


def halves(size: int) -> tuple[Ladder, dict[int, tuple[Hashable, ...]]]:
    """A ladder that joins places by their remainder of 2, then all; and the paths up from each place."""
    maps = (np.arange(size, dtype=np.int32), (np.arange(size) % 2).astype(np.int32), np.zeros(size, dtype=np.int32))
    labels = (tuple(map(str, range(size))), ("even", "odd")[: min(size, 2)], ("*",) * min(size, 1))
    return Ladder(name="ill", maps=maps, labels=labels), {i: (("even", "odd")[i % 2], "*") for i in range(size)}


@pytest.mark.parametrize("missing", [Missing.OWN_VALUE, Missing.WILDCARD])
@examples(60)
@given(rows=tables(), form=st.sampled_from(sorted(FORMS)), k=st.integers(1, 5), alpha=FRACTIONS)
def test_sizes_and_shares(rows: list[Row], form: str, missing: Missing, k: int, alpha: Fraction) -> None:
    """k-anonymity, and (α, k)-anonymity of all values and of one, as defined."""
    found, held, table = counted(rows, form, missing)
    sizes = [sum(values.values()) for values in held]
    assert KAnonymity(k).measure(found).tolist() == sizes
    assert KAnonymity(k).met(found).tolist() == [size >= k for size in sizes]
    assert KAnonymity(k).reached(found) == min(sizes, default=inf)
    alpha = alpha or Fraction(1)
    for protected in (None, [in_order(table)[0]] if table else None):
        model = AlphaK(alpha, k, "ill", protected)
        largest = [slow.largest_share(values, protected) for values in held]
        assert model.measure(found).tolist() == [float(share) for share in largest]
        assert model.met(found).tolist() == [n >= k and a <= alpha for n, a in zip(sizes, largest, strict=True)]
        assert model.reached(found) == float(max(largest, default=0))


@pytest.mark.parametrize("missing", [Missing.OWN_VALUE, Missing.WILDCARD])
@examples(60)
@given(
    rows=tables(),
    form=st.sampled_from(sorted(FORMS)),
    l=st.integers(1, 4),
    bound=st.fractions(1, 4, max_denominator=6),
    c=st.fractions(Fraction(1, 4), 4, max_denominator=6),
)
def test_diversities(rows: list[Row], form: str, missing: Missing, l: int, bound: Fraction, c: Fraction) -> None:  # noqa: E741, PLR0913, PLR0917 — one argument per thing that varies
    """Distinct, entropy and recursive ℓ-diversity, as defined."""
    found, held, _ = counted(rows, form, missing)
    distinct = DistinctDiversity(l, "ill")
    assert distinct.measure(found).tolist() == [len(values) for values in held]
    assert distinct.met(found).tolist() == [len(values) >= l for values in held]
    assert distinct.reached(found) == min(map(len, held), default=inf)
    entropy = EntropyDiversity(bound, "ill")
    assert entropy.measure(found).tolist() == pytest.approx([exp(slow.entropy(values)) for values in held], rel=1e-13)
    assert entropy.met(found).tolist() == [slow.reaches_entropy(values, bound) for values in held]
    recursive = RecursiveDiversity(c, l + 1, "ill")
    ratios = [slow.recursive(values, l + 1) for values in held]
    assert recursive.measure(found).tolist() == [float(ratio) for ratio in ratios]
    assert recursive.met(found).tolist() == [ratio < c for ratio in ratios]
    assert recursive.reached(found) == float(max(ratios, default=0))


@pytest.mark.parametrize("missing", [Missing.OWN_VALUE, Missing.WILDCARD])
@examples(60)
@given(rows=tables(), form=st.sampled_from(sorted(FORMS)), t=FRACTIONS)
def test_closeness(rows: list[Row], form: str, missing: Missing, t: Fraction) -> None:
    """t-closeness by each distance, as the paper's formulas have them."""
    found, held, table = counted(rows, form, missing)
    order = in_order(table)
    ladder, paths = halves(len(order))
    by_value = {value: paths[place] for place, value in enumerate(order)}
    for distance, expected in (
        ("equal", [slow.equal_distance(values, table) for values in held]),
        ("ordered", [slow.ordered_distance(values, table, order) for values in held]),
        ("hierarchical", [slow.hierarchical_distance(values, table, by_value) for values in held]),
    ):
        model = Closeness(t, "ill", distance, ladder if distance == "hierarchical" else None)  # type: ignore[arg-type]  # one of the three
        assert model.measure(found).tolist() == [float(value) for value in expected]
        assert model.met(found).tolist() == [value <= t for value in expected]
        assert model.reached(found) == float(max(expected, default=0))


@pytest.mark.parametrize("missing", [Missing.OWN_VALUE, Missing.WILDCARD])
@examples(60)
@given(
    rows=tables(),
    form=st.sampled_from(sorted(FORMS)),
    bound=st.fractions(Fraction(1, 8), 4, max_denominator=8),
)
def test_likeness_and_disclosure(rows: list[Row], form: str, missing: Missing, bound: Fraction) -> None:
    """β-likeness, basic and enhanced, and δ-disclosure, as defined."""
    found, held, table = counted(rows, form, missing)
    gains = [slow.likeness(values, table) for values in held]
    assert BetaLikeness(bound, "ill").measure(found).tolist() == [float(gain) for gain in gains]
    assert BetaLikeness(bound, "ill").met(found).tolist() == [gain <= bound for gain in gains]
    enhanced = BetaLikeness(bound, "ill", enhanced=True)
    like = [slow.is_enhanced_like(values, table, bound) for values in held]
    assert enhanced.met(found).tolist() == like
    whatever = [slow.is_enhanced_like(values, table, Fraction(10**9)) for values in held]
    expected = [float(gain) if fine else inf for gain, fine in zip(gains, whatever, strict=True)]
    assert enhanced.measure(found).tolist() == expected
    shifts = [slow.disclosure(values, table) for values in held]
    model = DeltaDisclosure(bound, "ill")
    assert model.measure(found).tolist() == pytest.approx([float(shift) for shift in shifts], rel=1e-13, abs=1e-15)
    assert model.met(found).tolist() == [shift < float(bound) for shift in shifts]
    assert model.reached(found) == pytest.approx(float(max(shifts, default=0)), rel=1e-13, abs=1e-15)


@given(
    rows=tables(),
    others=tables(),
    form=st.sampled_from(sorted(FORMS)),
    k=st.integers(1, 5),
    ends=st.tuples(FRACTIONS, FRACTIONS),
)
def test_populations(rows: list[Row], others: list[Row], form: str, k: int, ends: tuple[Fraction, Fraction]) -> None:
    """k-map and δ-presence, as defined; also where the population lacks people of the table."""
    width = len(rows[0][0]) if rows else 1
    people = [row for row in others if len(row[0]) == width] + rows[: len(rows) // 2]
    if not people:
        people = [((None,) * width, None)]
    population = read_rows(people, form, Missing.OWN_VALUE)
    found = frequencies_of(read_rows(rows, form, Missing.OWN_VALUE), QI[:width], population=population)
    assert found.classes is not None
    labels = [column.labels() for column in found.classes.columns]
    keys = [tuple(labels[place][code] for place, code in enumerate(codes)) for codes in found.classes.tuples.tolist()]
    there = [sum(key == other for other, _ in people) for key in keys]
    here = [sum(key == other for other, _ in rows) for key in keys]
    assert KMap(k).measure(found).tolist() == there
    assert KMap(k).met(found).tolist() == [number >= k for number in there]
    assert KMap(k).reached(found) == min(there, default=inf)
    lo, hi = sorted(ends)
    presence = [Fraction(a, b) if b else inf for a, b in zip(here, there, strict=True)]
    model = DeltaPresence(lo, hi)
    assert model.measure(found).tolist() == [float(share) for share in presence]
    assert model.met(found).tolist() == [lo <= share <= hi for share in presence]
    worst = max((max(lo - share, share - hi) for share in presence), default=0)
    reached = model.reached(found)
    assert max(float(lo) - reached, reached - float(hi)) == pytest.approx(float(worst), abs=1e-12) or not presence


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any), min_size=2, max_size=5))
def test_distances_are_the_earth_movers(pairs: list[tuple[int, int]]) -> None:
    """Each distance is the least work of moving one distribution onto the other, as a linear program finds it."""
    if not sum(one for one, _ in pairs):
        return
    size = len(pairs)
    found = one_class([one for one, _ in pairs], [one + other for one, other in pairs])
    p = np.array([one for one, _ in pairs]) / sum(one for one, _ in pairs)
    q = np.array([one + other for one, other in pairs]) / sum(one + other for one, other in pairs)
    i, j = np.indices((size, size))
    ladder, _ = halves(size)
    ground = {
        "equal": (i != j).astype(float),
        "ordered": np.abs(i - j) / (size - 1),
        "hierarchical": np.where(i == j, 0, np.where(i % 2 == j % 2, 0.5, 1)),
    }
    leaving = np.kron(np.eye(size), np.ones(size))
    arriving = np.kron(np.ones(size), np.eye(size))
    for distance, costs in ground.items():
        solved = linprog(costs.reshape(-1), A_eq=np.vstack((leaving, arriving)), b_eq=np.concatenate((p, q)))
        model = Closeness(1, "ill", distance, ladder if distance == "hierarchical" else None)  # type: ignore[arg-type]  # one of the three
        assert model.measure(found)[0] == pytest.approx(solved.fun, abs=1e-7)


def one_class(counts: Sequence[int], totals: Sequence[int]) -> Frequencies:
    """One class of a table with these totals."""
    values = [place for place, count in enumerate(counts) if count]
    records = read({"ill": np.repeat(np.arange(len(totals)), totals)})
    column: Coded = records.column("ill")
    size = np.array([sum(counts)])
    return Frequencies(
        rows=size,
        units=size,
        sizes=size,
        starts=np.array([0, len(values)]),
        values=np.array(values, dtype=np.int32),
        counts=np.array([counts[value] for value in values]),
        totals=np.array(totals),
        whole=sum(totals),
        sensitive=column,
    )
