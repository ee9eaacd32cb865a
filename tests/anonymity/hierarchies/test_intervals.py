"""Intervals hold what lies in them, whatever the numbers are, and widen by merging."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.anonymity.columns import Coded
from discreet.anonymity.hierarchies import Intervals
from discreet.anonymity.records import read
from discreet.errors import InvalidArgument, SchemaMismatch
from support.ladders import check, column, shown

CUTS = st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique=True).map(sorted)


def merged(cuts: Sequence[Any], fanout: int, level: int) -> list[tuple[Any, Any]]:
    """The intervals of a level, from the definition: as many as `fanout` says become one."""
    found = list(pairwise(cuts))
    for _ in range(level - 1):
        found = [(found[i][0], found[min(i + fanout, len(found)) - 1][1]) for i in range(0, len(found), fanout)]
    return found


def label(number: Any, intervals: list[tuple[Any, Any]], numbers: Coded, *, clipped: bool) -> str:
    """What is shown for a number: the interval that holds it, an end, or an open interval that took an end in."""
    if number is None:
        return "(missing)"
    present = [value for value in numbers.labels() if value is not None]
    low, high = intervals[0][0], intervals[-1][1]
    if clipped and not low <= number < high:
        return f"<{low}" if number < low else f"≥{high}"
    moved = intervals[0] if number < low else intervals[-1] if number >= high else None
    one, other = moved or next(pair for pair in intervals if pair[0] <= number < pair[1])
    taken_in_below = not clipped and one == low and any(value < low for value in present)
    taken_in_above = not clipped and other == high and any(value >= high for value in present)
    if taken_in_below or taken_in_above:
        return f"<{other}" if taken_in_below else f"≥{one}"
    if any(value != int(value) for value in present):
        return f"[{one}, {other})"
    return str(one) if other - one == 1 else f"{one}{' to ' if one < 0 else '–'}{other - 1}"


@given(
    CUTS,
    st.integers(2, 4),
    st.one_of(
        st.lists(st.one_of(st.integers(-60, 60), st.none()), min_size=1, max_size=15),
        st.lists(st.integers(-600, 600).map(lambda x: x / 8), min_size=1, max_size=15),
        st.lists(st.integers(-600, 600).map(lambda x: Decimal(x) / 10), min_size=1, max_size=15),
    ),
)
def test_every_number_is_where_it_belongs(cuts: list[int], fanout: int, values: list[Any]) -> None:
    """Whole numbers, floats and decimals, at every level, against the definition."""
    numbers = column(values)
    levels, level = [], 1
    while level == 1 or len(merged(cuts, fanout, level)) > 1:
        intervals = merged(cuts, fanout, level)
        levels.append(lambda x, at=intervals, end=level == 1: label(x, at, numbers, clipped=end))
        level += 1
    check(Intervals(cuts=cuts, fanout=fanout), numbers, [*levels, lambda _: "*"])


@given(st.integers(-100, 100), st.integers(1, 300), st.integers(1, 50), st.sampled_from([1, 2, 10]))
def test_equal_widths(lo: int, length: int, width: int, parts: int) -> None:
    """Cuts from the one end to the other, a width apart, the last interval shorter; exact for tenths too."""
    step, end = Fraction(width, parts), lo + Fraction(length, parts)
    made = Intervals.equal(lo, float(end) if parts > 1 else int(end), width=float(step) if parts > 1 else width)
    wanted, at = [], Fraction(lo)
    while at < end:
        wanted.append(at)
        at += step
    assert [Fraction(cut) for cut in made.cuts] == [*wanted, end]


def test_the_ends_are_always_true() -> None:
    """`≥90` at level 1; merged, an interval is open only where a number lies beyond it."""
    inside, beyond = column([17, 89]), column([3, 17, 89, 90])
    wide = Intervals(cuts=[17, 50, 60, 90])
    assert wide.ladder(inside).labels[1:] == (("17–49", "60–89"), ("17–59", "60–89"), ("*",))
    assert wide.ladder(beyond).labels[1:] == (("<17", "17–49", "60–89", "≥90"), ("<60", "≥60"), ("*",))


def test_floats_that_are_whole_are_shown_so() -> None:
    """A missing value makes floats of whole numbers; the labels don't follow."""
    assert Intervals(cuts=[0, 10]).ladder(column([3.0, float("nan")])).labels[1] == ("0–9", "(missing)")


def test_sizes_that_floats_cannot_tell_apart() -> None:
    """Whole numbers are compared as whole numbers, also beyond 2^53 and 2^63."""
    big = 2**53
    found = shown(Intervals(cuts=[0, big + 1, big + 2]).ladder(column([big, big + 1])), column([big, big + 1]))[1]
    assert len(set(found.values())) == 2
    huge = read({"x": pa.array([2**64 - 1, 2**64 - 2], pa.uint64())}).column("x")
    assert Intervals(cuts=[0, 2**64 - 1, 2**64]).ladder(huge).groups(1) == 2


@pytest.mark.parametrize("values", [["a"], [True]])
def test_only_numbers_can_be_cut(values: list[Any]) -> None:
    """Texts and truth values can't."""
    with pytest.raises(SchemaMismatch, match="'x' holds no numbers"):
        Intervals(cuts=[0, 1]).ladder(column(values))


def test_columns_without_values() -> None:
    """No rows, or missing values only."""
    assert Intervals(cuts=[0, 1]).ladder(column([])).labels == ((), (), ())
    assert Intervals(cuts=[0, 1]).ladder(column([None])).labels == (("(missing)",), ("(missing)",), ("*",))


@pytest.mark.parametrize("cuts", [[], [1], [1, 1], [2, 1], [0, float("nan")], [0, float("inf")]])
def test_wrong_cuts_are_refused(cuts: list[float]) -> None:
    """Too few, not ascending, not finite."""
    with pytest.raises(InvalidArgument, match="cuts"):
        Intervals(cuts=cuts)


def test_other_wrong_arguments_are_refused() -> None:
    """Fan-outs, ends and widths."""
    with pytest.raises(InvalidArgument, match="fanout"):
        Intervals(cuts=[0, 1], fanout=1)
    for lo, hi, width in [(1, 1, 1), (0, 1, 0), (0, 1, float("nan")), (0, float("inf"), 1), (0, 1e9, 1e-9)]:
        with pytest.raises(InvalidArgument):
            Intervals.equal(lo, hi, width=width)


@given(CUTS, st.lists(st.floats(-60, 60), min_size=1, max_size=12))
def test_any_floats_make_a_ladder(cuts: list[int], values: list[float]) -> None:
    """Also −0, and numbers too small to see."""
    assume(len(set(values)) == len({value + 0.0 for value in values}))
    assert Intervals(cuts=cuts).ladder(column(values)).labels[-1] == ("*",)
