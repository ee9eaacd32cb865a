"""Draws of an index: exact on every tape, at every step, in what floats decide, and in how often they can't."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from discreet.entropy import Keystream, Words
from discreet.errors import InvalidArgument
from discreet.noise import categorical
from discreet.noise.categorical import HEAVIEST, MOST_ENTRIES, Categorical, prepared
from discreet.noise.sampling import LazyUniform
from discreet.stats import likelihood_ratio, likelihood_ratio_critical
from support.distributions import categorical_pmf
from support.tapes import Tape, TapeRanOut, outcomes, words_of

MODULE = importlib.import_module("discreet.noise.categorical")  # the package's attribute is the function
BITS = 63
ALARM = Fraction(1, 10**10)
WRONG = Fraction(103, 100)

LISTS: list[tuple[list[int], Fraction, list[int]]] = [
    ([0, -1, -3], Fraction(1, 2), [1, 1, 1]),
    ([5, 7, 7, 0, 6], Fraction(1, 3), [2, 1, 1, 9, 1]),
    ([-4, 0, 3], Fraction(1, 7), [0, 3, 2]),
    ([0, 0, -1], Fraction(1), [1, 2, 3]),
    ([0, -1, 0, 2], Fraction(5, 4), [7, 100, 0, 1]),
]


def law_of(scores: Sequence[int], rate: Fraction, weights: Sequence[int]) -> Categorical:
    """The sampler of lists of small integers."""
    return prepared(np.array(scores, dtype=np.int64), rate, np.array(weights, dtype=np.int64))


def one(law: Categorical) -> Callable[[Words], int]:
    """A single draw."""
    return lambda source: int(law.draw(1, source)[0])


def ball(x: Fraction) -> Any:
    """A rational as a ball."""
    return arb(fmpq(x.numerator, x.denominator))


def step_after(scores: Sequence[int], rate: Fraction, weights: Sequence[int], i: int, bits: int) -> int:
    """The number of the cell of 2^-bits that holds the U at which the draw changes from i to what follows."""
    with ctx.workprec(2 * bits + 300):
        terms = [w * (ball(rate) * (score - max(scores))).exp() for w, score in zip(weights, scores, strict=True)]
        cell = (sum(terms[: i + 1], arb(0)) / sum(terms, arb(0)) * arb(2) ** bits).floor().unique_fmpz()
    assert cell is not None
    return int(cell)


def drawn_at(law: Categorical, cell: int, bits: int) -> int | None:
    """What is drawn where U begins with these bits; None if more are asked for."""
    try:
        return one(law)(Tape(words_of(cell, bits=bits, width=BITS), width=BITS))
    except TapeRanOut:
        return None


@pytest.mark.parametrize(("scores", "rate", "weights"), LISTS, ids=str)
@pytest.mark.parametrize("width", [1, 4])
def test_every_tape_agrees_with_the_stated_probabilities(
    scores: list[int], rate: Fraction, weights: list[int], width: int
) -> None:
    """All tapes of 28 bits: what is decided is at most the pmf everywhere, and short of it by what is undecided."""
    decided, undecided = outcomes(one(law_of(scores, rate, weights)), width=width, depth=28 // width)

    def brackets(rate: Fraction) -> bool:
        pmf = categorical_pmf(scores, rate, weights)
        return all(
            decided.get(i, Fraction(0)) <= pmf(i)[1] and pmf(i)[0] <= decided.get(i, Fraction(0)) + undecided
            for i in range(len(scores))
        )

    assert sum(decided.values()) + undecided == 1
    assert undecided <= Fraction(len(scores), 2**28)
    assert brackets(rate)
    assert not brackets(rate * WRONG)


@pytest.mark.parametrize(("scores", "rate", "weights"), LISTS, ids=str)
def test_the_doubtful_path_decides_the_same(
    scores: list[int], rate: Fraction, weights: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With infinite margins every draw is settled in balls, and each tape still decides exactly what it did."""
    law = law_of(scores, rate, weights)
    floats = outcomes(one(law), width=5, depth=4)
    monkeypatch.setattr(MODULE, "_SLACK", math.inf)
    assert outcomes(one(law), width=5, depth=4) == floats


def test_equal_scores_are_decided_without_remainder() -> None:
    """Where all scores are equal the sums are exact: four options take two bits, and none is left undecided."""
    decided, undecided = outcomes(one(law_of([9] * 4, Fraction(1, 3), [1] * 4)), width=1, depth=2)
    assert undecided == 0
    assert decided == dict.fromkeys(range(4), Fraction(1, 4))


@pytest.mark.parametrize(
    ("scores", "rate", "weights", "i"),
    [
        ([0, -1], Fraction(100), [1, 1], 0),
        ([0, -1], Fraction(1000), [1, 1], 0),
        ([-1, 0], Fraction(1000), [1, 1], 0),
        ([0, -(10**6), -(10**6)], Fraction(1, 500), [1, 1, 1], 1),
        ([0, -3, -5], Fraction(1, 2**40), [HEAVIEST, 1, HEAVIEST], 1),
        ([0, -300], Fraction(1, 3), [1, HEAVIEST], 0),
        ([10**30, 0], Fraction(1, 10**30), [1, 1], 0),
        ([10**400, 0], Fraction(1, 10**400), [3, 1], 0),
        (list(range(3000)), Fraction(1, 100), [1] * 3000, 2800),
        (list(range(3000)), Fraction(1, 100), list(range(1, 3001)), 1023),
    ],
    ids=lambda value: "" if isinstance(value, list) else str(value)[:20],
)
def test_draws_change_where_the_formula_says(scores: list[int], rate: Fraction, weights: list[int], i: int) -> None:
    """Just below a running sum i is drawn, just above it i + 1, and in its cell more bits are asked for.

    To 126 bits or more beyond the least probability. A sampler with a rate 3 % off is found out.
    """
    reach = float(max(rate * (max(scores) - score) for score in scores)) * 1.4427
    bits = BITS * (4 + int(reach / BITS))
    whole = np.array(scores, dtype=np.int64 if max(scores) < 2**62 else object)
    cell = step_after(scores, rate, weights, i, bits)

    def around(rate: Fraction) -> list[int | None]:
        law = prepared(whole, rate, np.array(weights, dtype=np.int64))
        return [drawn_at(law, cell + offset, bits) for offset in (-1, 0, 1)]

    assert around(rate) == [i, None, i + 1]
    assert around(rate * WRONG) != [i, None, i + 1]


def many(length: int, distinct: int) -> tuple[NDArray[np.int64], Fraction, NDArray[np.int64]]:
    """A long list with scores and weights of all sizes."""
    words = Keystream().words(2 * length)
    return -(words[:length] % distinct), Fraction(37, distinct), words[length:] >> (23 + words[:length] % 40)


@pytest.mark.parametrize(("length", "distinct"), [(1, 1), (700, 700), (1024, 9), (1025, 1000), (2**18 + 3, 50)])
def test_floats_are_as_accurate_as_is_proved(length: int, distinct: int) -> None:
    """No running sum is further from the exact one than the bound in the docstring says: 3632·2^-53 of the total."""
    scores, rate, weights = many(length, distinct)
    weights[0] |= 1
    law = prepared(scores, rate, weights)
    with ctx.workprec(200):
        sums = law._sums()
        bound = 3632 * arb(2) ** -53 * sums[-1]
        near = zip(law.ends[1:-1].tolist(), sums[:-1], strict=True)
        assert all(abs(arb(computed) - exact) <= bound for computed, exact in near)
        assert abs(arb(law.total) - sums[-1]) <= bound


def test_what_floats_decide_is_so() -> None:
    """Where the filter sees no doubt, balls find the same entry without another bit: anywhere and close to steps.

    Where the last weight is 0, no step follows the one before it, so it is made odd. Of some 350 cells next to steps,
    more than 3 held another step in none of 772 runs, each more about a fifth as often; 34 would be a false alarm.
    """
    scores, rate, weights = many(300, 200)
    weights[[0, -1]] |= 1
    law = prepared(scores, rate, weights)
    steps = [step_after(scores.tolist(), rate, weights.tolist(), i, BITS) for i in (0, 20, 150, 298)]
    gaps = [sign * 2**power for power in range(60) for sign in (-1, 1)]
    near = [step + gap for step in steps for gap in gaps if 0 <= step + gap < 2**BITS]
    cells = [*Keystream().words(100).tolist(), *near]
    sure = 0
    for cell in cells:
        drawn = drawn_at(law, cell, BITS)
        if drawn is not None:
            settled = law.settle(LazyUniform(cell, BITS, Tape([], width=BITS)))
            assert drawn == law.kept[settled]
            sure += 1
    assert sure > len(cells) * 0.9


def test_doubt_is_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 60,000 draws from 2^14 entries at most 3 are in doubt.

    The chance of one is at most 2^14/2^39, so four or more have probability below 1e-11.
    """
    settled: list[int] = []
    settle = Categorical.settle

    def counted(law: Categorical, uniform: LazyUniform) -> int:
        settled.append(1)
        return settle(law, uniform)

    monkeypatch.setattr(Categorical, "settle", counted)
    categorical(np.arange(2**14), Fraction(1, 1000), size=60_000)
    assert len(settled) <= 3
    monkeypatch.setattr(MODULE, "_SLACK", math.inf)
    categorical(np.arange(50), Fraction(1, 1000), size=20)
    assert len(settled) >= 20


@pytest.mark.parametrize(
    ("scores", "rate", "weights"),
    [
        ([Fraction(-i) for i in range(10)], Fraction(1, 3), [1] * 10),
        ([Fraction(i * i, 7) for i in range(8)], Fraction(1, 2), [8, 7, 6, 5, 4, 3, 2, 1]),
        ([Fraction(10**20 + i, 2) for i in (3, 0, 5, 1)], Fraction(1), [1, 2**40, 1, 2**39]),
    ],
    ids=["line", "square", "heavy"],
)
def test_draws_fit_and_a_wrong_rate_does_not(scores: list[Fraction], rate: Fraction, weights: list[int]) -> None:
    """Likelihood ratio, false alarm at most 1e-10, proved; one with a rate 3 % off fails.

    The wrong rate gives a statistic of 2^22 nats times its divergence: 117 or more, against a critical value of 33
    there. It is missed with probability below 1e-11.
    """
    pmf = categorical_pmf(scores, rate, weights)
    claimed = np.array([float(pmf(i)[0]) for i in range(len(scores))])
    critical = likelihood_ratio_critical(len(scores), ALARM)

    def statistic(rate: Fraction) -> float:
        drawn = np.bincount(categorical(scores, rate, weights=weights, size=2**22), minlength=len(scores))
        return likelihood_ratio(drawn, claimed / claimed.sum())

    assert statistic(rate) <= critical
    assert statistic(rate * WRONG) > critical


def test_a_wrong_weight_does_not_fit() -> None:
    """The same test sees that one of ten weights is 3 % too small, but for 1e-16."""
    claimed = np.full(10, 0.1)
    drawn = np.bincount(categorical([0] * 10, weights=[97, *[100] * 9], size=2**22))
    assert likelihood_ratio(drawn, claimed) > likelihood_ratio_critical(10, ALARM)


@pytest.mark.parametrize("best", [0, 10**6, 10**18, 10**400, -(10**400)])
def test_what_is_far_below_the_best_is_never_drawn(best: int) -> None:
    """Where all others have probabilities below e^-1000, a thousand draws give the best."""
    scores = [best - 1000, best - 10**6, best, best - 10**9]
    assert (categorical(scores, 1, size=1000) == 2).all()


def test_no_weight_is_no_chance() -> None:
    """Entries of weight 0 are never drawn, wherever they stand and however good their score."""
    assert set(categorical([10**9, 0, 5, 0, 10**9], weights=[0, 1, 0, 1, 0], size=1000).tolist()) == {1, 3}


def test_one_entry_is_certain() -> None:
    """A single candidate is drawn, whatever its score."""
    assert [categorical([score], 10**9) for score in (0, -(10**100), Fraction(1, 3))] == [0, 0, 0]


def test_the_longest_list_can_be_drawn_from() -> None:
    """2^21 entries are taken; one more is refused."""
    assert 0 <= categorical(np.zeros(MOST_ENTRIES, dtype=np.int64)) < MOST_ENTRIES
    with pytest.raises(InvalidArgument):
        categorical(np.zeros(MOST_ENTRIES + 1, dtype=np.int64))


def test_types_and_shapes() -> None:
    """One draw is a Python int, several are int64 arrays; lists, tuples and arrays of any integers are read."""
    assert type(categorical([0, 1])) is int
    assert categorical((0, 1), size=(2, 3)).shape == (2, 3)
    for dtype in (np.int8, np.uint64, object):
        assert categorical(np.array([0, 200 if dtype != np.int8 else 100], dtype=dtype), 10, size=5).dtype == np.int64


def test_spans_beyond_64_bits_are_exact() -> None:
    """Scores whose differences overflow 64 bits are told apart."""
    assert (categorical(np.array([-(2**63), 2**63 - 1]), Fraction(1, 2**50), size=100) == 1).all()
    assert (categorical([2**64, 2**64 + 1, 2**64], 800, size=100) == 1).all()


SECRET = 987654321


@pytest.mark.parametrize(
    "scores",
    [
        *([], (), np.array([]), np.zeros((2, 2), dtype=np.int64), np.array(SECRET), SECRET, None, "12", {SECRET: 1}),
        *([SECRET, 1.0], [SECRET, "1"], [True, SECRET], [None], [[SECRET]], [SECRET, float("nan")]),
        [Fraction(SECRET, 3**n) for n in range(2600)],
    ],
    ids=lambda scores: repr(scores)[:30],
)
def test_bad_scores_are_refused_without_being_quoted(scores: Any) -> None:
    """What isn't a list of whole numbers or fractions is refused by a typed error."""
    with pytest.raises(InvalidArgument, match="score") as refused:
        categorical(scores)
    assert str(SECRET) not in str(refused.value)


@pytest.mark.parametrize(
    "weights",
    [[], [1], [1, 1, 1], [0, 0], [1, -1], [1, HEAVIEST + 1], [1, 2**70], [1, 0.5], [True, True], 1, "11", np.ones(2)],
    ids=repr,
)
def test_bad_weights_are_refused(weights: Any) -> None:
    """Weights are whole numbers from 0 to 2^40, as many as scores, and not all 0."""
    with pytest.raises(InvalidArgument, match="weight"):
        categorical([0, 1], weights=weights)


@pytest.mark.parametrize("rate", [0, -1, Fraction(-1, 10**30), float("nan"), float("inf"), None, "x"], ids=repr)
def test_bad_rates_are_refused(rate: Any) -> None:
    """A rate is a number above 0."""
    with pytest.raises(InvalidArgument, match="rate"):
        categorical([0, 1], rate)


def test_strict_floating_point_errors_do_no_harm() -> None:
    """A program that makes NumPy raise on every floating-point event still gets its draws."""
    with np.errstate(all="raise"):
        assert (categorical([0, -800, -(10**6)], size=100) == 0).all()
