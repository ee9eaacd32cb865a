"""Noisy ranks: the sensitivity of a tree's counts by brute force, and what is read of them, whatever the noise."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise, product
from math import ceil, floor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import charge_of
from discreet.errors import InvalidArgument
from discreet.mechanisms import Contribution, Gaussian, Laplace, NoisyRanks
from discreet.mechanisms.noisy_ranks import sensitivity_of, shape_of
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Adjacency, Sensitivity
from support.choices import bins_of, distances_in_rank

ALONE = Contribution(each=1, total=1)
FRACTIONS = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))
SIZE = 111
DEPTH, BRANCHING = shape_of(SIZE, is_gaussian=False)

Unit = tuple[int, ...]
"""The bins that a unit's rows are in."""


def counts_of(unit: Unit) -> dict[tuple[int, int], int]:
    """How many rows of a unit are in each range of each level."""
    found: dict[tuple[int, int], int] = {}
    for level, number in product(range(DEPTH), unit):
        node = level, number // BRANCHING ** (DEPTH - level - 1)
        found[node] = found.get(node, 0) + 1
    return found


def moved(units: Sequence[Unit], others: Sequence[Unit]) -> list[int]:
    """By how much all counts of all groups move, where units of them come and others go."""
    sizes = []
    for one, other in zip(units, others, strict=True):
        ours, theirs = counts_of(one), counts_of(other)
        sizes += [abs(ours.get(node, 0) - theirs.get(node, 0)) for node in ours.keys() | theirs.keys()]
    return [size for size in sizes if size]


def is_within(sizes: Sequence[int], declared: Sensitivity) -> bool:
    """Whether a vector lies within norms."""
    return (
        len(sizes) <= declared.l0
        and max(sizes, default=0) <= declared.linf
        and sum(sizes) <= declared.l1
        and sum(size**2 for size in sizes) <= declared.l2_squared
    )


def movements(adjacency: Adjacency, groups: int, each: int, total: int) -> Iterator[tuple[list[Unit], list[Unit]]]:
    """All neighbours: what they hold doesn't matter, as counts add up; bins of one range, of near and of far ones."""
    bins = (0, 1, BRANCHING, SIZE - 1)
    rows = [unit for number in range(each + 1) for unit in product(bins, repeat=number)]
    parts = [list(part) for part in product(rows, repeat=groups) if sum(map(len, part)) <= total]
    nobody: list[Unit] = [()] * groups
    for part in parts:
        for other in parts if adjacency is SUBSTITUTION else [nobody]:
            yield part, other


CONTRIBUTIONS = [
    Contribution(each=2, total=2, groups=1),
    Contribution(each=2, total=2, groups=1, adjacency=SUBSTITUTION),
    Contribution(each=1, total=2, groups=2, adjacency=SUBSTITUTION),
    Contribution(each=2, total=3, groups=2),
]


@pytest.mark.parametrize("contribution", CONTRIBUTIONS, ids=repr)
def test_counts_move_by_the_declared_norms_and_reach_them(contribution: Contribution) -> None:
    """Over all units: in ℓ1 and in one count they move as far as is declared, and in no norm further."""
    declared = sensitivity_of(SIZE, contribution, is_gaussian=False)
    found = [
        moved(one, other)
        for one, other in movements(
            contribution.adjacency, contribution.groups or 1, contribution.each, contribution.total
        )
    ]
    assert all(is_within(sizes, declared) for sizes in found)
    assert max(map(sum, found)) == declared.l1
    assert max(max(sizes, default=0) for sizes in found) == declared.linf


@pytest.mark.parametrize("contribution", CONTRIBUTIONS, ids=repr)
def test_norms_that_forget_a_level_or_the_other_unit_are_exceeded(contribution: Contribution) -> None:
    """Two wrong twins: the norms of a single level; and under substitution, those of a unit that only comes."""
    declared = sensitivity_of(SIZE, contribution, is_gaussian=False)
    one_level = Sensitivity(
        l0=declared.l1 // DEPTH,
        linf=declared.linf,
        l1=declared.l1 // DEPTH,
        l2_squared=declared.l2_squared / DEPTH,
    )
    coming = Contribution(each=contribution.each, total=contribution.total, groups=contribution.groups)
    wrong = [one_level]
    if contribution.adjacency is SUBSTITUTION:
        wrong.append(sensitivity_of(SIZE, coming, is_gaussian=False))
    for twin in wrong:
        assert not all(
            is_within(moved(one, other), twin)
            for one, other in movements(
                contribution.adjacency, contribution.groups or 1, contribution.each, contribution.total
            )
        )


def ranks_of(size: int = SIZE, margins: float = 1.0, epsilon: Any = 1) -> NoisyRanks:
    """Four quantiles, each with this margin."""
    return NoisyRanks(
        fractions=FRACTIONS,
        size=size,
        contribution=ALONE,
        noise=Laplace.calibrate(sensitivity_of(size, ALONE, is_gaussian=False), epsilon),
        margins=(margins,) * len(FRACTIONS),
        confidence=Fraction(19, 20),
    )


def read(
    ranks: NoisyRanks, bins: Mapping[int, int], noise: Callable[[int], int]
) -> tuple[tuple[int, ...], list[list[int]]]:
    """What is read where noise is what it is made to be; and all counts that were given for release."""
    given_: list[list[int]] = []

    def release(_self: Laplace, values: Sequence[int]) -> list[int]:
        given_.append(list(values))
        return [value + noise(value) for value in values]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Laplace, "release", release)
        return ranks.choose(bins), given_


def kinds(fraction: Fraction, table: Sequence[int]) -> tuple[int, int]:
    """The bins of the first and the last row that some kind of a quantile lies between."""
    held = list(accumulate(table))
    rank = fraction * (held[-1] - 1)
    rows = floor(rank) + 1, ceil(rank) + 1
    first, last = (next(number for number, held_ in enumerate(held) if held_ >= row) for row in rows)
    return first, last


TABLES = st.lists(st.sampled_from([0, 0, 0, 1, 2, 9, 40]), min_size=1, max_size=SIZE).filter(any)


@given(TABLES)
def test_without_noise_quantiles_are_those_of_the_table(table: list[int]) -> None:
    """The number of rows, bins that hold the rank, and intervals that hold all kinds of the quantile."""
    (rows, *found), _ = read(ranks_of(len(table)), bins_of(table), lambda _: 0)
    assert rows == sum(table)
    for place, fraction in enumerate(FRACTIONS):
        bin_, first, last = found[3 * place : 3 * place + 3]
        assert distances_in_rank(table, fraction * sum(table))[bin_] == 0
        low, high = kinds(fraction, table)
        assert first <= min(low, bin_)
        assert max(high, bin_) <= last


@given(TABLES)
def test_no_range_is_given_noise_twice(table: list[int]) -> None:
    """Twice the same count with fresh noise would tell more than was paid for."""
    whole = 10**6
    unlike = [count * whole + number for number, count in enumerate(table, start=1)]  # so no two ranges hold as much
    _, released = read(ranks_of(len(table)), bins_of(unlike), lambda value: value % 7 - 3)
    counts = [count for values in released for count in values if count]
    levels = shape_of(len(table), is_gaussian=False)[0]
    assert all(counts.count(count) <= levels for count in set(counts))
    assert len(set(map(tuple, released))) >= len(released) - sum(not any(values) for values in released)


def all_ranks(counts: Callable[[int, int], list[int]], q: float, depth: int, branching: int) -> list[float]:
    """S at all edges of all levels, by its definition: down the whole tree."""
    found: list[float] = []

    def within(level: int, node: int, low: float, high: float) -> None:
        held = [0, *accumulate(counts(level, node))]
        ranks = [low]
        for place in range(1, branching):
            w = place / branching
            ranks.append((1 - w) * (low + held[place]) + w * (high - (held[-1] - held[place])))
        ranks.append(high)
        found.extend(ranks[1:-1])
        if level + 1 < depth:
            for child in range(branching):
                within(level + 1, node * branching + child, ranks[child], ranks[child + 1])

    total = sum(counts(0, 0))
    within(0, 0, -q * total, (1 - q) * total)
    return found


def off_by(table: list[int], draws: random.Random, fraction: Fraction, reach: int) -> tuple[NoisyRanks, Any, float]:
    """One reading of a table with noise of up to some rows, and the most by which any S is off."""
    ranks = ranks_of(len(table))
    held = [0, *accumulate(table)]
    noise: dict[tuple[int, int], list[int]] = {}

    def exact(level: int, node: int) -> list[int]:
        width = ranks.branching ** (ranks.depth - level - 1)
        edges = [min((node * ranks.branching + each) * width, len(table)) for each in range(ranks.branching + 1)]
        return [held[end] - held[start] for start, end in pairwise(edges)]

    def noisy(level: int, node: int) -> list[int]:
        if (level, node) not in noise:
            noise[level, node] = [draws.randint(-reach, reach) for _ in range(ranks.branching)]
        return [count + more for count, more in zip(exact(level, node), noise[level, node], strict=True)]

    q = float(fraction)
    pairs = (all_ranks(each, q, ranks.depth, ranks.branching) for each in (noisy, exact))
    return ranks, noisy, max(abs(one - other) for one, other in zip(*pairs, strict=True))


def read_of(ranks: NoisyRanks, noisy: Any, fraction: Fraction, margin: float) -> tuple[int, int, int]:
    """The bin and the interval that are read of given noisy counts."""
    from discreet.mechanisms import noisy_ranks as code

    tree: Any = type("Tree", (), {"counts": staticmethod(noisy)})()
    q = float(fraction)
    bin_ = ranks._descend(tree, q, code._halved)
    first = ranks._descend(tree, q, partial(code._from_left, most=-margin))
    last = ranks._descend(tree, q, partial(code._from_right, least=margin))
    return bin_, min(first, bin_), max(last, bin_)


@given(TABLES, st.sampled_from(FRACTIONS), st.integers(1, 30), st.randoms(use_true_random=False))
def test_noise_within_the_margin_is_borne(
    table: list[int], fraction: Fraction, reach: int, draws: random.Random
) -> None:
    """Whatever the noise: if it carries no S further than M, intervals hold, and the bin is within M."""
    ranks, noisy, most = off_by(table, draws, fraction, reach)
    bin_, first, last = read_of(ranks, noisy, fraction, most + float(max(fraction, 1 - fraction)) + 1e-6)
    low, high = kinds(fraction, table)
    assert first <= low
    assert high <= last
    assert distances_in_rank(table, fraction * sum(table))[bin_] <= most + 1e-6


def test_a_margin_far_below_the_noise_is_not_enough() -> None:
    """The wrong twin, with an eighth of it: of 400 tables of few rows to a bin, some lose their quantile.

    By trial more than half do, so that none does with probability below 1e-100.
    """
    draws, lost = random.SystemRandom(), 0
    for _ in range(400):
        table = [draws.randint(0, 3) for _ in range(SIZE)]
        ranks, noisy, most = off_by(table, draws, Fraction(1, 2), 10)
        _, first, last = read_of(ranks, noisy, Fraction(1, 2), most / 8)
        low, high = kinds(Fraction(1, 2), table)
        lost += not first <= low <= high <= last
    assert lost > 0


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_what_is_offered_is_what_it_costs(adjacency: Adjacency) -> None:
    """In ε and in ρ exactly, however many quantiles are read."""
    of = Contribution(each=3, total=6, groups=4, adjacency=adjacency)
    by_epsilon = Laplace.calibrate(sensitivity_of(SIZE, of, is_gaussian=False), Fraction(7, 10))
    by_rho = Gaussian.for_rho(sensitivity_of(SIZE, of, is_gaussian=True), Fraction(1, 50))
    common: dict[str, Any] = {"size": SIZE, "contribution": of, "confidence": Fraction(1, 2)}
    for fractions in (FRACTIONS[:2], FRACTIONS):
        some = {**common, "fractions": fractions, "margins": (1.0,) * len(fractions)}
        assert charge_of(NoisyRanks(noise=by_epsilon, **some).event).epsilon == Fraction(7, 10)
        spent = charge_of(NoisyRanks(noise=by_rho, **some).event).rho
        assert spent is not None
        assert Fraction(1, 50) * (1 - Fraction(1, 10**6)) <= spent <= Fraction(1, 50)


@pytest.mark.parametrize("size", [1, 2, 3, 100, 1 << 10, 1 << 14, 1 << 16])
@pytest.mark.parametrize("is_gaussian", [False, True])
def test_a_tree_has_room_for_all_bins(size: int, is_gaussian: bool) -> None:
    """And not for many more."""
    depth, branching = shape_of(size, is_gaussian=is_gaussian)
    assert branching**depth >= size
    assert branching == 2 or (branching - 1) ** depth < size


@pytest.mark.parametrize(
    "wrong",
    [
        {"fractions": (Fraction(0),) * 4},
        {"fractions": (Fraction(1),) * 4},
        {"margins": (1.0,)},
        {"size": 0},
        {"noise": Laplace.calibrate(Sensitivity.scalar(1), 1)},
    ],
    ids=repr,
)
def test_other_ranks_are_refused(wrong: dict[str, Any]) -> None:
    """Known before there is any data; noise for fewer counts than there are, above all."""
    known = ranks_of()
    arguments: dict[str, Any] = {
        "fractions": known.fractions,
        "size": SIZE,
        "contribution": ALONE,
        "noise": known.noise,
        "margins": known.margins,
        "confidence": known.confidence,
    }
    with pytest.raises(InvalidArgument):
        NoisyRanks(**(arguments | wrong))
    assert ALONE.adjacency is ADD_REMOVE
