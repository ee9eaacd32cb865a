"""Thresholds are compared exactly: at the boundary, with large counts, and where logarithms leave a doubt."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, log, nextafter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.columns import Coded
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    EntropyDiversity,
    Model,
    RecursiveDiversity,
)
from discreet.anonymity.models.counting import at_most, below, log_at_most
from discreet.errors import InvalidArgument
from support import slow_models as slow

BIG = st.integers(0, 2**62)
COUNTS = st.lists(st.integers(1, 2**28), min_size=1, max_size=5)
LITTLE = Fraction(1, 10**40)


def table(classes: Sequence[dict[int, int]], totals: Sequence[int]) -> Frequencies:
    """These classes (value → rows), in a table with these totals."""
    sizes = np.array([sum(held.values()) for held in classes], dtype=np.int64)
    pairs = [pair for held in classes for pair in sorted(held.items())]
    return Frequencies(
        rows=sizes,
        units=sizes,
        sizes=sizes,
        starts=np.cumsum([0, *map(len, classes)]),
        values=np.array([value for value, _ in pairs], dtype=np.int32),
        counts=np.array([count for _, count in pairs], dtype=np.int64),
        totals=np.array(totals, dtype=np.int64),
        whole=sum(totals),
        sensitive=Coded(
            name="ill", codes=np.zeros(0, np.int32), values=pa.array(range(len(totals))), has_missing=False
        ),
    )


def alone(*counts: int, totals: Sequence[int] | None = None) -> Frequencies:
    """One class that holds so many rows of each value."""
    return table([{value: count for value, count in enumerate(counts) if count}], totals or counts)


def verdict(model: Model, found: Frequencies) -> bool:
    """Whether the only class meets the model."""
    (fine,) = model.met(found).tolist()
    return bool(fine)


@given(st.lists(st.tuples(BIG, BIG), min_size=1), st.fractions(0) | st.sampled_from([Fraction(0), Fraction(10**30, 7)]))
def test_ratios_are_compared_as_fractions(ratios: list[tuple[int, int]], bound: Fraction) -> None:
    """Numbers of up to 62 bits, thresholds of any length, a denominator of 0 as infinity."""
    above, under = (np.array(column, dtype=np.int64) for column in zip(*ratios, strict=True))
    expected = [a <= bound * b for a, b in ratios]
    assert at_most(above, under, bound).tolist() == expected
    assert at_most(above.astype(object), under, bound).tolist() == expected
    assert below(above, under, bound).tolist() == [a < bound * b for a, b in ratios]


@given(st.lists(st.tuples(BIG, BIG.filter(bool)), min_size=2, max_size=5))
def test_a_ratio_is_at_most_itself(ratios: list[tuple[int, int]]) -> None:
    """The comparison isn't rounded: a threshold less by 10^-40 is passed."""
    above, under = (np.array(column, dtype=np.int64) for column in zip(*ratios, strict=True))
    own = Fraction(*ratios[0])
    assert at_most(above, under, own)[0]
    assert not below(above, under, own)[0]
    assert not own or not at_most(above, under, max(own - LITTLE, Fraction(0)))[0]


@given(COUNTS, st.lists(st.integers(0, 2**28), min_size=5, max_size=5))
def test_large_counts_at_their_own_threshold(counts: list[int], others: list[int]) -> None:
    """Each rational model is met at what the class reaches and not below; counts to 2^28, in 64 bits or beyond."""
    totals = [count + other for count, other in zip(counts, others, strict=False)]
    found = alone(*counts, totals=totals)
    held, whole = dict(enumerate(counts)), dict(enumerate(totals))
    share = slow.largest_share(held)
    assert verdict(AlphaK(share, 1, "ill"), found)
    assert not verdict(AlphaK(share - LITTLE, 1, "ill"), found)
    ratio = slow.recursive(held, 2)
    if ratio != inf:
        assert not verdict(RecursiveDiversity(Fraction(ratio), 2, "ill"), found)
        assert verdict(RecursiveDiversity(Fraction(ratio) + LITTLE, 2, "ill"), found)
    gain = slow.likeness(held, whole)
    if gain:
        assert verdict(BetaLikeness(gain, "ill"), found)
        assert gain <= LITTLE or not verdict(BetaLikeness(gain - LITTLE, "ill"), found)
    for model, distance in (
        (lambda t: Closeness(t, "ill"), slow.equal_distance(held, whole)),
        (lambda t: Closeness(t, "ill", "ordered"), slow.ordered_distance(held, whole, range(len(totals)))),
    ):
        assert verdict(model(distance), found)
        assert distance <= LITTLE or not verdict(model(distance - LITTLE), found)
        assert model(distance).measure(found)[0] == pytest.approx(float(distance), rel=1e-15)


def test_distances_beyond_64_bits() -> None:
    """Classes of nearly all of 2^31 rows beside small ones: sums of up to 2^66 stay exact."""
    totals = [2**26 + 7 * value for value in range(31)]
    large = {value: total - value % 3 for value, total in enumerate(totals)}
    small = {2: 1, 30: 2}
    found = table([large, small, {9: 1}], totals)
    whole, order = dict(enumerate(totals)), range(len(totals))
    assert sum(large.values()) * sum(totals) * 30 > 2**64
    ordered = Closeness(1, "ill", "ordered")
    expected = [slow.ordered_distance(held, whole, order) for held in (large, small, {9: 1})]
    assert ordered.measure(found).tolist() == [float(value) for value in expected]
    for value, tight in zip(expected, np.eye(3, dtype=bool), strict=True):
        assert Closeness(value, "ill", "ordered").met(found)[tight].all()
        assert not Closeness(value - LITTLE, "ill", "ordered").met(found)[tight].any()
    maps = [np.arange(31, dtype=np.int32), *((np.arange(31) // 2**level).astype(np.int32) for level in range(1, 6))]
    labels = tuple(tuple(map(str, range(int(groups[-1]) + 1))) for groups in maps)
    ladder = Ladder(name="ill", maps=tuple(maps), labels=labels)
    paths = {value: [value // 2**level for level in range(1, 6)] for value in order}
    expected = [slow.hierarchical_distance(held, whole, paths) for held in (large, small, {9: 1})]
    tree = Closeness(expected[0], "ill", "hierarchical", ladder)
    assert tree.measure(found).tolist() == [float(value) for value in expected]
    assert tree.met(found).tolist() == [value <= expected[0] for value in expected]


def test_a_ladder_without_a_root_is_given_one() -> None:
    """Two groups on the highest level are joined by one level more; without any level all values are 1 apart."""
    found = alone(4, 0, 0, totals=(4, 4, 4))
    flat = Ladder(name="ill", maps=(np.arange(3, dtype=np.int32),), labels=(("0", "1", "2"),))
    assert Closeness(1, "ill", "hierarchical", flat).measure(found) == Closeness(1, "ill").measure(found)
    two = Ladder(
        name="ill",
        maps=(np.arange(3, dtype=np.int32), np.array([0, 0, 1], np.int32)),
        labels=(("0", "1", "2"), ("low", "high")),
    )
    paths = {0: ["low", "*"], 1: ["low", "*"], 2: ["high", "*"]}
    expected = slow.hierarchical_distance({0: 4}, {0: 4, 1: 4, 2: 4}, paths)
    assert Closeness(1, "ill", "hierarchical", two).measure(found)[0] == float(expected)


@pytest.mark.parametrize("scale", [1, 3, 10**8])
@pytest.mark.parametrize(("counts", "reached"), [((1, 1), 2), ((4, *[1] * 4), 4), ((9, *[1] * 9), 6)])
def test_an_entropy_that_is_reached_exactly(counts: tuple[int, ...], reached: int, scale: int) -> None:
    """exp(H) is whole, and rounding leaves open on which side it lies: at l it is met, 10^-40 above it isn't."""
    found = alone(*(count * scale for count in counts))
    assert verdict(EntropyDiversity(reached, "ill"), found)
    assert not verdict(EntropyDiversity(reached + LITTLE, "ill"), found)
    assert verdict(EntropyDiversity(reached - LITTLE, "ill"), found)


@given(st.lists(st.integers(1, 2**20), min_size=2, max_size=6))
def test_an_entropy_next_to_the_threshold(counts: list[int]) -> None:
    """Thresholds 10^-40 on either side of exp(H), which doubles don't tell apart, are told apart."""
    with localcontext() as context:
        context.prec = 55
        shares = [Decimal(count) / sum(counts) for count in counts]
        reached = Fraction((-sum(p * p.ln() for p in shares)).exp())
    found = alone(*counts)
    assert verdict(EntropyDiversity(max(reached - LITTLE, Fraction(1)), "ill"), found)
    assert not verdict(EntropyDiversity(reached + LITTLE, "ill"), found)


def test_logarithms_next_to_the_threshold() -> None:
    """Bounds of ln 2 to thirty digits, rounded either way; ln 1 is 0."""
    under = Fraction("0.693147180559945309417232121458")
    over = under + Fraction(1, 10**30)
    assert not log_at_most(Fraction(2), under)
    assert log_at_most(Fraction(2), over)
    assert log_at_most(Fraction(1), Fraction(0))
    assert not log_at_most(Fraction(1), -LITTLE)
    found = alone(2, 1, totals=(2, 4))  # shares of ⅔ and ⅓, of ⅓ and ⅔ in the table
    assert DeltaDisclosure(1, "ill").reached(found) == pytest.approx(log(2), rel=1e-15)
    assert not verdict(DeltaDisclosure(under, "ill"), found)
    assert verdict(DeltaDisclosure(over, "ill"), found)


def test_an_enhanced_gain_next_to_its_logarithm() -> None:
    """A gain beside −ln p, for p = 1/d, down to distances that doubles don't show: every verdict is right."""
    seen = set()
    for d in range(2, 30):
        bound, rows = Fraction(slow.ln(Fraction(d))), (2**31 // d - 1) | 1  # odd: products don't fit into doubles
        for bits in range(6, 30):  # ever better fractions n/s of what fills (1 + ln d)/d of a class
            share = ((1 + bound) / d).limit_denominator(2**bits)
            expected = d * share - 1 <= bound
            found = alone(share.numerator, share.denominator - share.numerator, totals=(rows, (d - 1) * rows))
            assert verdict(BetaLikeness(10, "ill", enhanced=True), found) == expected
            seen.add((expected, abs(float(d * share - 1 - bound)) < 1e-15))
    assert seen == {(True, True), (False, True), (True, False), (False, False)}


def test_doubles_would_have_been_wrong() -> None:
    """The cases above are beyond doubles: compared so, they are decided wrongly."""
    ones = np.array([2**60 + 1]), np.array([2**60])
    assert (ones[0] / ones[1] <= 1).all()
    assert not at_most(*ones, Fraction(1)).any()
    assert nextafter(log(2), 1) > Fraction("0.693147180559945309417232121459") > Fraction(log(2))


def test_more_rows_than_fit_are_refused() -> None:
    """Products of two counts need 62 bits; tables of more than 2^31 rows are refused rather than wrapped around."""
    with pytest.raises(InvalidArgument, match="2\\^31 rows"):
        Closeness(1, "ill").met(alone(2**31, 1))
    assert verdict(Closeness(0, "ill"), alone(2**31))
    assert verdict(RecursiveDiversity(2, 3, "ill"), alone(*[2**29] * 4))
