"""The discrete Gaussian's stair: boxes end where they may, tables hold them exactly, and floats decide what is so.

Together with `DiscreteGaussian`'s docstring this proves the law at full size; `test_exact.py` tries all tapes of small
ones, and here fresh noise is counted.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from discreet.entropy import Keystream
from discreet.noise import discrete_gaussian, gaussian
from discreet.noise.gaussian import DiscreteGaussian
from discreet.stats import chi_square_critical, clopper_pearson, likelihood_ratio, likelihood_ratio_critical
from support.distributions import gaussian_cdf
from support.tapes import Tape, TapeRanOut

SIGMAS = [
    Fraction(1, 1024),
    Fraction(1, 11),
    Fraction(1, 3),
    Fraction(1),
    Fraction(22, 7),
    Fraction(204),
    Fraction(1000),
    Fraction(9833, 6),
    Fraction(2**20),
    Fraction(10**15, 3),
    Fraction(2**52),
    Fraction(2**60),
]


def units(law: DiscreteGaussian) -> NDArray[np.int64]:
    """The units of area that pick each index of the table, in whole numbers."""
    table, count = law.table, len(law.table.last)
    columns = np.arange(count, dtype=np.int64)
    own = (table.last - (columns << table.shift) + 1) >> table.fraction
    shares = np.zeros(count, dtype=np.int64)
    np.add.at(shares, table.indices[::2], own)
    np.add.at(shares, table.indices[1::2], (1 << table.shift - table.fraction) - own)
    return shares


def is_sound(law: DiscreteGaussian) -> bool:
    """Whether lower boxes end nowhere above the curve, the stair nowhere below it, and the table holds just these."""
    ends, stair, span = law.ends.tolist(), law.stair.tolist(), 1 << law.shift
    others = np.diff(law.ends, prepend=0)
    lower, count = (law.stair - others).tolist(), len(law.ends) - 1
    shares = units(law)
    held = shares[0] >= ends[-1] and shares[1:].tolist() == lower[1:-1] and lower[0] == lower[-1] == 0
    reach = count // 2 * span
    with ctx.workprec(400):
        over_tails = all(law.tail_curve(start, 0) <= stair[i] for i, start in ((0, reach - span + 1), (count, reach)))
        return bool(
            held
            and over_tails
            and all(
                lower[i] <= law.curve(n) <= stair[i]
                for i in range(1, count)
                for n in (i * span - reach, (i + 1) * span - reach - 1)
            )
        )


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_the_stair_is_over_the_curve_and_lower_boxes_under_it(sigma: Fraction) -> None:
    """At both ends of each strip, in balls; the table gives each lower box its units, and all others to index 0."""
    law = gaussian.prepared(sigma)
    assert int(units(law).sum()) == 2**30
    assert is_sound(law)


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(1000), Fraction(2**40)], ids=str)
def test_a_stair_that_is_one_unit_off_is_noticed(sigma: Fraction) -> None:
    """Wrong twins: one step a unit too low, one border between columns a number off."""
    law = gaussian.prepared(sigma)
    stair, last = law.stair.copy(), law.table.last.copy()
    stair[len(stair) // 2] -= 1
    last[len(last) // 2] -= 1
    assert not is_sound(replace(law, stair=stair))
    assert not is_sound(replace(law, table=replace(law.table, last=last)))


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_few_points_look_at_the_curve(sigma: Fraction) -> None:
    """Below 1 in 100, so that the rate is that of the table."""
    assert units(gaussian.prepared(sigma))[0] < 2**30 / 100


def decisions(law: DiscreteGaussian, n: int) -> tuple[list[bool | None], list[bool | None]]:
    """What is decided of points at n just below the curve, and just above: by levels, and by the first bits of y.

    None stands for asking for more bits than there are.
    """
    with ctx.workprec(4000):
        level, share = int(law.curve(n).floor().unique_fmpz()), law.curve(n)
        cell = int(((share - level) * arb(2) ** 63).floor().unique_fmpz())
    owner = n // (1 << law.shift) + (len(law.ends) - 1) // 2

    def decided(level: int, words: list[int]) -> bool | None:
        rank = level - int(law.stair[owner]) + int(law.ends[owner])
        try:
            tape = Tape(words, width=63)
            return bool(law._compared(np.array([n], dtype=object), np.array([owner]), np.array([rank]), tape)[1][0])
        except TapeRanOut:
            return None

    gaps = [2**i for i in range(12)]
    below = [*(decided(level - gap, []) for gap in gaps), *(decided(level, [each]) for each in range(cell)[-1:])]
    above = [*(decided(level + gap, []) for gap in gaps), decided(level, [cell + 1]), decided(level, [2**63 - 1])]
    return below, above


@pytest.mark.parametrize("sigma", [sigma for sigma in SIGMAS if sigma >= 1], ids=str)
@pytest.mark.parametrize("units", [30, 60])
def test_points_next_to_the_curve_are_told_apart(sigma: Fraction, units: int) -> None:
    """Points a hair below the curve are kept, and those above are not: a level off, or one in its 2^63 parts."""
    law = gaussian.prepared(sigma, units=units)
    for n in {0, 1, -1, *(round(sigma * times) for times in (Fraction(1, 3), 1, -2, Fraction(7, 2), -4))}:
        below, above = decisions(law, n)
        assert below == [True] * len(below)
        assert above == [False] * len(above)


def test_floats_alone_would_not_tell_them_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin takes floats for exact: of 2^60 units it misjudges some."""
    law = gaussian.prepared(Fraction(22, 7), units=60)
    monkeypatch.setattr(gaussian, "_SLACK", 0.0)
    found = [decisions(law, n) for n in range(1, 20)]
    assert any(not all(below) or any(above) for below, above in found)


def test_too_few_units_are_refused() -> None:
    """A stair that doesn't fit is no stair: 8 units aren't enough for 15 strips."""
    with pytest.raises(ArithmeticError, match="too few"):
        gaussian.prepared(Fraction(1), strips=4, units=3, bits=4)


ALARM = 2e-11
"""Of each case: those of a test share less than 1e-9."""


def fits(draws: NDArray[Any], edges: NDArray[np.float64], sigma: Fraction) -> bool:
    """Whether the numbers of draws up to each edge, and beyond the last, agree with the distribution function."""
    probabilities = np.diff(gaussian_cdf(sigma).at_most(edges), prepend=0.0, append=1.0)
    counts = np.bincount(np.searchsorted(edges, draws.astype(np.float64)), minlength=len(edges) + 1)
    return likelihood_ratio(counts, probabilities) <= likelihood_ratio_critical(len(counts), ALARM)


def test_few_wide_strips_give_the_same_law() -> None:
    """With 31 strips a quarter of the points look at the curve, and every quarter of a strip has its probability.

    Wrong twins: one that keeps every point of a strip, one whose levels are a twentieth of the stair too low.
    """
    sigma = Fraction(1000)
    law = gaussian.prepared(sigma, strips=5)
    quarter = (1 << law.shift) / 4
    edges = np.arange(-16, 16) * quarter - 1
    assert fits(law.draw(np.int64, 2**20, Keystream()), edges, sigma)
    assert not fits(replace(law, height=2 * law.height).draw(np.int64, 2**20, Keystream()), edges, sigma)
    low = (law.stair.max() // 20).astype(np.int64)
    assert not fits(replace(law, stair=law.stair - low).draw(np.int64, 2**20, Keystream()), edges, sigma)


@pytest.mark.parametrize("sigma", [Fraction(13, 3), Fraction(10**15, 3)], ids=str)
def test_tails_have_their_law(sigma: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips that reach no farther than sigma leave a third of the draws to the tails, which then show their law.

    The wrong twin draws tails of a Laplace distribution: it keeps all that is proposed.
    """
    monkeypatch.setattr(gaussian, "_REACH", 1)
    law = gaussian.prepared.__wrapped__(sigma)
    assert len(law.ends) // 2 << law.shift <= sigma
    edges = np.floor(np.arange(-12, 13) / 4 * float(sigma))
    assert fits(law.draw(object, 2**13, Keystream()), edges, sigma)
    monkeypatch.setattr(DiscreteGaussian, "tail_curve", lambda *_: arb(2) ** 64)
    assert not fits(law.draw(object, 2**13, Keystream()), edges, sigma)


@pytest.mark.parametrize("sigma", [Fraction(2**20), Fraction(10**15, 3), Fraction(2**60)], ids=str)
def test_large_sigmas_have_their_moments(sigma: Fraction) -> None:
    """The sum of squares over sigma² is chi-square, and the lowest bits are fair coins; not at a sigma 3 % smaller."""
    draws = discrete_gaussian(sigma, 2**18)
    critical = chi_square_critical(len(draws), ALARM)
    squares = [float(((each.astype(np.float64) / float(sigma)) ** 2).sum()) for each in (draws, draws * 1.03)]
    assert squares[0] <= critical < squares[1]
    assert 2 * len(draws) - squares[0] <= critical
    for bit in range(3):
        low, high = clopper_pearson(int((draws.astype(object) >> bit & 1).sum()), len(draws), 1 - ALARM)
        assert low <= 0.5 <= high


@pytest.mark.parametrize("sigma", [Fraction(22, 7), Fraction(1000), Fraction(10**15, 3)], ids=str)
def test_draws_far_out_have_their_frequencies(sigma: Fraction) -> None:
    """Of 2^22 draws, those beyond one to five sigmas on either side are as many as they should be."""
    draws = discrete_gaussian(sigma, 2**22)
    cdf = gaussian_cdf(sigma)
    for times in range(1, 6):
        edge = np.floor(np.array([times * float(sigma)]))
        for beyond, chance in (
            ((draws > edge[0]).sum(), 1 - cdf.at_most(edge)),
            ((draws < -edge[0]).sum(), cdf.at_most(-edge - 1)),
        ):
            low, high = clopper_pearson(int(beyond), len(draws), 1 - ALARM)
            assert low <= float(chance[0]) * (1 + 1e-6)
            assert float(chance[0]) * (1 - 1e-6) <= high
