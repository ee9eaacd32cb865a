"""Sensitivities: sound and tight against every pair of contributions a unit could make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import pytest

from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Adjacency, Limits
from discreet.query import ir
from discreet.query.planner.sensitivities import contribution, measure_sensitivity
from discreet.tables import Kind

ONE = ir.Literal(1, ir.Type(Kind.INTEGER, Fraction(1), Fraction(1), nullable=False))
GROUPS = 4


def _contributions(lo: int, hi: int, limits: Limits, groups: int) -> list[tuple[int, ...]]:
    """Every extreme contribution of one unit: the norms are convex, so their maxima are among these."""
    rows = limits.rows if limits.rows is not None else limits.rows_per_group
    assert rows is not None
    one = sorted({rows * lo, 0, rows * hi})
    if groups == 1:
        return [(value,) for value in one]
    kept = limits.groups if limits.rows is None and limits.groups is not None else 1
    return [vector for vector in product(one, repeat=groups) if sum(value != 0 for value in vector) <= kept]


def _norms(vector: tuple[int, ...]) -> tuple[int, int, int, int]:
    """ℓ0, ℓ∞, ℓ1 and the square of ℓ2."""
    sizes = [abs(value) for value in vector]
    return sum(size > 0 for size in sizes), max(sizes), sum(sizes), sum(size**2 for size in sizes)


CASES = [
    (lo, hi, limits, groups)
    for lo, hi in [(1, 1), (0, 3), (-2, 3), (-3, 1), (2, 3), (-3, -2), (-3, 3)]
    for limits in [
        Limits(groups=1, rows_per_group=1),
        Limits(groups=2, rows_per_group=3),
        Limits(groups=3, rows_per_group=2),
        Limits(rows=1),
        Limits(rows=5),
        Limits(rows=5, groups=2),
    ]
    for groups in (1, 2, 3, GROUPS)
]


@pytest.mark.parametrize("adjacency", [ADD_REMOVE, SUBSTITUTION])
@pytest.mark.parametrize(("lo", "hi", "limits", "groups"), CASES)
def test_every_pair_of_contributions_stays_within_and_some_pair_reaches_it(
    lo: int, hi: int, limits: Limits, groups: int, adjacency: Adjacency
) -> None:
    """No pair of neighbours exceeds a norm, and none of the norms could be declared smaller."""
    measure = ir.Sum(name="m", value=ONE, grid=0, lo=lo, hi=hi)
    declared = measure_sensitivity(measure, limits, adjacency, groups=groups)
    vectors = _contributions(lo, hi, limits, groups)
    others = [(0,) * groups] if adjacency is ADD_REMOVE else vectors
    moved = [_norms(tuple(a - b for a, b in zip(one, other, strict=True))) for one in vectors for other in others]
    l0, linf, l1, l2_squared = (max(norm) for norm in zip(*moved, strict=True))
    assert (linf, l1, l2_squared) == (declared.linf, declared.l1, declared.l2_squared)
    assert l0 <= declared.l0


def test_the_textbook_table() -> None:
    """Counts 1; histograms 1 and 2; bounded sums by the larger end, or by the width."""
    row, keyed = Limits(rows=1), Limits(groups=1, rows_per_group=1)
    count = ir.Sum(name="m", value=ONE, grid=0, lo=1, hi=1)
    ages = ir.Sum(name="m", value=ONE, grid=0, lo=0, hi=110)
    signed = ir.Sum(name="m", value=ONE, grid=0, lo=-40, hi=60)
    table = (
        {("count", adjacency): measure_sensitivity(count, row, adjacency, groups=1).l1 for adjacency in Adjacency}
        | {
            ("histogram", adjacency): measure_sensitivity(count, keyed, adjacency, groups=10).l1
            for adjacency in Adjacency
        }
        | {("sum", adjacency): measure_sensitivity(ages, row, adjacency, groups=1).l1 for adjacency in Adjacency}
        | {("signed", adjacency): measure_sensitivity(signed, row, adjacency, groups=1).l1 for adjacency in Adjacency}
    )
    assert table == {
        ("count", ADD_REMOVE): 1,
        ("count", SUBSTITUTION): 1,
        ("histogram", ADD_REMOVE): 1,
        ("histogram", SUBSTITUTION): 2,
        ("sum", ADD_REMOVE): 110,
        ("sum", SUBSTITUTION): 110,
        ("signed", ADD_REMOVE): 60,
        ("signed", SUBSTITUTION): 100,
    }


PARTS = 3


def _in_parts(most: int, limits: Limits, groups: int) -> list[tuple[int, ...]]:
    """Every extreme contribution of one unit to a vector: in each group all that it may add, in one of the sums."""
    rows = limits.rows if limits.rows is not None else limits.rows_per_group
    kept = 1 if limits.rows is not None else limits.groups
    assert rows is not None
    assert kept is not None
    none = (0,) * PARTS
    whole = [tuple(rows * most * (place == each) for each in range(PARTS)) for place in range(PARTS)]
    chosen = (each for each in product([none, *whole], repeat=groups) if sum(map(any, each)) <= kept)
    return [tuple(number for group in each for number in group) for each in chosen]


@pytest.mark.parametrize("adjacency", [ADD_REMOVE, SUBSTITUTION])
@pytest.mark.parametrize(
    ("limits", "groups"),
    [
        (Limits(rows=1), 1),
        (Limits(rows=5), 3),
        (Limits(groups=1, rows_per_group=1), 1),
        (Limits(groups=2, rows_per_group=3), 2),
        (Limits(groups=2, rows_per_group=3), 3),
        (Limits(groups=3, rows_per_group=2), 3),
    ],
    ids=str,
)
def test_the_sums_of_a_vector_move_together_as_far_as_declared(
    limits: Limits, groups: int, adjacency: Adjacency
) -> None:
    """Sound, and tight, against every pair of extreme contributions; the norms are convex.

    The wrong twin is the sensitivity of one of its sums: what a substitution takes from one and adds to another exceeds
    that, and so does what rounding adds.
    """
    vector = vector_of(PARTS, -3)
    units = _in_parts(vector.most, limits, groups)
    others = [(0,) * groups * PARTS] if adjacency is ADD_REMOVE else units
    moves = [tuple(a - b for a, b in zip(one, other, strict=True)) for one in units for other in others]
    declared = measure_sensitivity(vector, limits, adjacency, groups=groups)
    assert _norms_reached(moves) == (declared.linf, declared.l1, declared.l2_squared)
    assert max(_norms(move)[0] for move in moves) <= declared.l0
    (twin, *_) = (measure_sensitivity(each, limits, adjacency, groups=groups) for each in vector.sums)
    assert _norms_reached(moves)[1] > twin.l1


@pytest.mark.parametrize("adjacency", [ADD_REMOVE, SUBSTITUTION])
def test_what_units_leave_moves_as_far_as_declared(adjacency: Adjacency) -> None:
    """Each unit adds its whole, part by part; the wrong twin counts units beside the whole that rows may fill."""
    vector = replace(vector_of(PARTS - 1, -3), rows=2)
    whole = 2 * vector.most
    filled = [(0, 0, 0), *((one, other, whole - one - other) for one in (0, whole) for other in (0, whole - one))]
    others = [(0, 0, 0)] if adjacency is ADD_REMOVE else filled
    moves = [tuple(a - b for a, b in zip(one, other, strict=True)) for one in filled for other in others]
    declared = measure_sensitivity(vector, Limits(rows=2), adjacency, groups=1)
    assert vector.whole == whole
    assert _norms_reached(moves) == (declared.linf, declared.l1, declared.l2_squared)
    assert max(_norms(move)[0] for move in moves) <= declared.l0
    twin = [(one, other, whole) for one, other, _ in filled]
    assert _norms_reached(twin)[1] > measure_sensitivity(vector, Limits(rows=2), ADD_REMOVE, groups=1).l1


def test_rows_are_put_in_parts_on_grids_that_float64_is_good_for() -> None:
    """What a row adds is bounded with rounding; a grid on which that proof doesn't hold is refused."""
    assert [vector_of(9, grid).most for grid in (-32, -2, 0, 1, 2, 9)] == [
        2**32 + 4, 8, 5, 5, 4, 4,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="2\\^-36 and coarser"):
        vector_of(1, -37)


def test_counting_units_ignores_their_rows() -> None:
    """A unit counts 1 in a group however many rows it has there."""
    units = ir.Units(name="m")
    assert measure_sensitivity(units, Limits(groups=3, rows_per_group=10), ADD_REMOVE, groups=9).l1 == 3
    assert measure_sensitivity(units, Limits(groups=3, rows_per_group=10), SUBSTITUTION, groups=9).l1 == 6


def vector_of(number: int, grid: int) -> ir.Vector:
    """A vector of so many sums."""
    return ir.Vector(name="m", values=(ONE,) * number, grid=grid, parts=(Fraction(1, number),) * number)


def _units_of(rows: int, kept: int, groups: int) -> list[tuple[int, ...]]:
    """Every way in which a unit with so many rows at the most is counted: its groups, or as many as it keeps."""
    spread = (set(places) for size in range(rows + 1) for places in product(range(groups), repeat=size))
    sets = {frozenset(chosen) for there in spread for chosen in combinations(there, min(kept, len(there)))}
    return [tuple(int(group in chosen) for group in range(groups)) for chosen in sets]


@pytest.mark.parametrize("adjacency", [ADD_REMOVE, SUBSTITUTION])
@pytest.mark.parametrize(("rows", "kept", "groups"), [(1, 1, 4), (2, 2, 4), (3, 3, 4), (4, 4, 4), (4, 2, 5), (2, 2, 2)])
def test_units_of_few_rows_are_in_few_groups(rows: int, kept: int, groups: int, adjacency: Adjacency) -> None:
    """All spreads of a unit's rows over groups, and all choices of those it keeps: sound, and tight."""
    declared = measure_sensitivity(ir.Units(name="m"), Limits(rows=rows, groups=kept), adjacency, groups=groups)
    units = _units_of(rows, kept, groups)
    others = [(0,) * groups] if adjacency is ADD_REMOVE else units
    moves = [tuple(a - b for a, b in zip(one, other, strict=True)) for one in units for other in others]
    assert _norms_reached(moves) == (declared.linf, declared.l1, declared.l2_squared)
    assert max(_norms(move)[0] for move in moves) == declared.l0
    loose = _units_of(rows + 1, kept + 1, groups + 1)
    assert max(sum(unit) for unit in loose) > min(kept, groups)  # one group more than declared, and it would be missed


def test_units_are_not_counted_under_a_limit_on_rows_alone() -> None:
    """A unit may have its rows in any number of groups as far as such a limit goes."""
    with pytest.raises(AssertionError):
        measure_sensitivity(ir.Units(name="m"), Limits(rows=5), ADD_REMOVE, groups=9)


def test_a_measure_that_cannot_move_still_gets_noise() -> None:
    """Sensitivity 0 would mean an exact release, and nothing may be released exactly."""
    nothing = ir.Sum(name="m", value=ONE, grid=0, lo=0, hi=0)
    assert measure_sensitivity(nothing, Limits(rows=1), ADD_REMOVE, groups=1).l1 == 1


def _norms_reached(moves: Iterable[tuple[int, ...]]) -> tuple[int, int, Fraction]:
    """The greatest ℓ∞, ℓ1 and square of ℓ2."""
    found = [_norms(move) for move in moves]
    return max(each[1] for each in found), max(each[2] for each in found), Fraction(max(each[3] for each in found))


def _kept_pairs(limits: Limits, groups: int, values: int) -> list[frozenset[tuple[int, int]]]:
    """Every set of pairs of group and value that one unit may keep."""
    pairs = list(product(range(groups), range(values)))
    sets = (frozenset(chosen) for size in range(len(pairs) + 1) for chosen in combinations(pairs, size))
    return [chosen for chosen in sets if _is_within(chosen, limits)]


def _is_within(chosen: frozenset[tuple[int, int]], limits: Limits) -> bool:
    """Whether limits let a unit keep these pairs."""
    per_group = Counter(group for group, _ in chosen)
    if limits.rows is not None:
        return len(chosen) <= limits.rows
    return len(per_group) <= (limits.groups or 0) and all(
        count <= (limits.rows_per_group or 0) for count in per_group.values()
    )


def _different(pairs: frozenset[tuple[int, int]], groups: int) -> tuple[int, ...]:
    """How many values each group has."""
    return tuple(sum(group == each for each, _ in pairs) for group in range(groups))


@pytest.mark.parametrize("adjacency", [ADD_REMOVE, SUBSTITUTION])
@pytest.mark.parametrize(
    ("limits", "groups", "values"),
    [
        (Limits(rows=2), 1, 4),
        (Limits(groups=1, rows_per_group=2), 1, 4),
        (Limits(groups=1, rows_per_group=1), 3, 2),
        (Limits(groups=1, rows_per_group=2), 3, 2),
        (Limits(groups=2, rows_per_group=1), 3, 2),
        (Limits(rows=2), 3, 2),
    ],
)
def test_different_values_move_no_further(limits: Limits, groups: int, values: int, adjacency: Adjacency) -> None:
    """Whatever others keep: the union over units, with and without one, or with another in its place."""
    declared = measure_sensitivity(ir.DistinctValues(name="m", value=ONE), limits, adjacency, groups=groups)
    units = _kept_pairs(limits, groups, values)
    everything = [frozenset(chosen) for chosen in _kept_pairs(Limits(rows=groups * values), groups, values)]
    replaced = [frozenset[tuple[int, int]]()] if adjacency is ADD_REMOVE else units
    moves = {
        tuple(a - b for a, b in zip(_different(rest | one, groups), _different(rest | other, groups), strict=True))
        for rest in everything
        for one in units
        for other in replaced
    }
    assert _norms_reached(moves) == (declared.linf, declared.l1, declared.l2_squared)


@pytest.mark.parametrize(
    ("limits", "groups", "each", "total", "known"),
    [
        (Limits(rows=5), 1, 5, 5, 1),
        (Limits(rows=5), 4, 5, 5, 4),
        (Limits(groups=2, rows_per_group=3), 4, 3, 6, 4),
        (Limits(groups=9, rows_per_group=3), 4, 3, 12, 4),
        (Limits(groups=2, rows_per_group=3), 2**48, 3, 6, None),
        (Limits(rows=5, groups=2), 4, 5, 5, 4),
    ],
)
def test_what_a_unit_contributes_to_a_histogram(
    limits: Limits, groups: int, each: int, total: int, known: int | None
) -> None:
    """Its rows, within the limits, in steps of the counts."""
    histogram = ir.Histogram(name="h", value=ONE, values=None, size=9, grid=-3)
    found = contribution(histogram, limits, ADD_REMOVE, groups=groups)
    assert (found.each, found.total, found.groups) == (each * 8, total * 8, known)
