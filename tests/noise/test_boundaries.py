"""At every scale, the uniform number at which a draw changes is where the formula puts it, to more than 60 bits.

A draw is a step function of a uniform number U. The steps are computed here from the docstrings' formulas with 600 bits
or more; tapes just below, on and just above a step must give n, no decision yet, and n − 1. This reaches what no
sample can: a scale of 2^-10, where all but e^(-1024) of the draws are 0, and the far tails.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from discreet.noise import laplace
from discreet.noise.bernoulli import bernoulli_each, draw_bernoulli_exp
from discreet.noise.floored_exponential import FlooredExponential, floored_exponential, no_shift
from discreet.noise.geometric import draw_geometric, geometric_law
from support.tapes import Tape, TapeRanOut, words_of

WIDTH = 63
WRONG = Fraction(103, 100)
ONE_WORD_SCALES = [Fraction(1, 1024), Fraction(1, 3), Fraction(1), Fraction(10), Fraction(1000), Fraction(2**20)]
SPLIT_SCALES = [Fraction(2**24) + Fraction(1, 7), Fraction(2**40), Fraction(10**15, 3), Fraction(2**60)]


def ball(x: Fraction) -> Any:
    """A rational as a ball."""
    return arb(fmpq(x.numerator, x.denominator))


def cell_of(step: Any, bits: int) -> int:
    """The number of the cell of 2^-bits in which a step lies."""
    with ctx.workprec(bits + 300):
        cell = (step() * arb(2) ** bits).floor().unique_fmpz()
    assert cell is not None
    return int(cell)


def laplace_step(scale: Fraction, n: int) -> Any:
    """|noise| ≥ n iff U ≤ 2q^n/(1 + q)."""
    return lambda: 2 * ball(-n / scale).exp() / (1 + ball(-1 / scale).exp())


def around(draw: Any, step: Any, bits: int) -> list[int | None]:
    """What is drawn with U's first bits just below a step, at it, and just above; None if more bits are asked for."""
    found: list[int | None] = []
    for number in (cell_of(step, bits) + offset for offset in (-1, 0, 1)):
        try:
            found.append(draw(number, bits))
        except TapeRanOut:
            found.append(None)
    return found


def one_laplace(scale: Fraction, sign: int, number: int, bits: int) -> int:
    """One draw where the magnitude's U begins with `bits` (62 + 63j) given bits; the first word's last is the sign."""
    rest = bits - (WIDTH - 1)
    first = (number >> rest) << 1 | sign
    tape = Tape([first, *words_of(number & (2**rest - 1), bits=rest, width=WIDTH)], width=WIDTH)
    return int(laplace.draw_laplace(laplace.laplace_law(scale), object, 1, tape)[0])


def one_geometric(scale: Fraction, number: int, bits: int) -> int:
    """One draw whose U begins with the given bits, 63 to a word."""
    tape = Tape(words_of(number, bits=bits, width=WIDTH), width=WIDTH)
    return int(draw_geometric(geometric_law(scale), object, 1, tape)[0])


@pytest.mark.parametrize("scale", ONE_WORD_SCALES, ids=str)
@pytest.mark.parametrize("far", [0, 1, 20])
def test_laplace_steps(scale: Fraction, far: int) -> None:
    """Discrete Laplace changes from n − 1 to n exactly at 2q^n/(1 + q), on either side of 0; a wrong one doesn't."""
    n = max(1, round(far * scale))
    bits = 62 + 63 * (2 + int(n / scale * 3 / 2 / 63))
    step = laplace_step(scale, n)
    assert around(partial(one_laplace, scale, 0), step, bits) == [n, None, n - 1]
    assert around(partial(one_laplace, scale, 1), step, bits) == [-n, None, 1 - n]
    assert around(partial(one_laplace, scale * WRONG, 0), step, bits) != [n, None, n - 1]


@pytest.mark.parametrize("scale", ONE_WORD_SCALES, ids=str)
@pytest.mark.parametrize("far", [0, 1, 20])
def test_geometric_steps(scale: Fraction, far: int) -> None:
    """The geometric changes from n − 1 to n exactly at q^n; one of a wrong scale doesn't."""
    n = max(1, round(far * scale))
    bits = 63 * (3 + int(n / scale * 3 / 2 / 63))

    def step() -> Any:
        return ball(-n / scale).exp()

    assert around(partial(one_geometric, scale), step, bits) == [n, None, n - 1]
    assert around(partial(one_geometric, scale * WRONG), step, bits) != [n, None, n - 1]


def laws(scale: Fraction) -> tuple[FlooredExponential, FlooredExponential]:
    """The magnitudes of the geometric and of the discrete Laplace."""
    return floored_exponential(scale, no_shift), floored_exponential(scale, partial(laplace.centre, scale))


@pytest.mark.parametrize("scale", SPLIT_SCALES, ids=str)
def test_high_digit_steps(scale: Fraction) -> None:
    """Of a large scale, the multiple of the span changes from a − 1 to a exactly where E = a·span/scale."""
    for law in laws(scale):
        assert law.low is not None
        span, a = law.low.span, round(3 * scale / law.low.span)

        def step(ratio: Fraction = a * span / scale) -> Any:
            return ball(-ratio).exp()

        def draw(number: int, bits: int, law: FlooredExponential = law) -> int:
            first, *more = words_of(number, bits=bits, width=WIDTH)
            tape = Tape([2**62 + 12345, *more], width=WIDTH)
            return int(law.draw(np.array([first]), WIDTH, tape, object)[0])

        below, at, above = around(draw, step, 189)
        assert below is not None
        assert above is not None
        assert (below // span, at, above // span) == (a, None, a - 1)
        assert below % span == above % span


@pytest.mark.parametrize("scale", SPLIT_SCALES, ids=str)
def test_low_digit_steps(scale: Fraction) -> None:
    """Of a large scale, the rest changes from r − 1 to r exactly where scale·E + shift = r, given E < span/scale."""
    for law in laws(scale):
        assert law.low is not None
        span, r = law.low.span, law.low.span // 3

        def step(law: FlooredExponential = law, span: int = span, r: int = r) -> Any:
            shift = law.high.shift() if law.low is None else law.low.shift()
            return (1 - ((shift - r) / ball(scale)).exp()) / (1 - ball(-span / scale).exp())

        def draw(number: int, bits: int, law: FlooredExponential = law) -> int:
            tape = Tape(words_of(number, bits=bits, width=WIDTH), width=WIDTH)
            return int(law.draw(np.array([2**62 + 12345]), WIDTH, tape, object)[0])

        below, at, above = around(draw, step, 189)
        assert below is not None
        assert above is not None
        assert (below % span, at, above % span) == (r - 1, None, r)
        assert below // span == above // span


@pytest.mark.parametrize(
    ("chance", "words", "expected"),
    [
        (Fraction(1, 2), [2**62 - 1], True),
        (Fraction(1, 2), [2**62], False),
        (Fraction(1, 3), [2**63 // 3, 0], True),
        (Fraction(1, 3), [2**63 // 3, 2**63 - 1], False),
        (Fraction(1, 3), [2**63 // 3], None),
    ],
)
def test_coins_that_are_tossed_together_step(
    chance: Fraction, words: list[int], expected: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They change exactly at their probability, and ask for more bits where the first ones don't tell."""
    monkeypatch.setitem(bernoulli_each.__globals__, "Keystream", lambda: Tape(words, width=WIDTH))
    try:
        assert bernoulli_each(lambda: [ball(chance)], 1) == [expected]
    except TapeRanOut:
        assert expected is None


@pytest.mark.parametrize("x", [Fraction(1, 10**9), Fraction(1, 3), Fraction(5), Fraction(300)], ids=str)
def test_bernoulli_exp_step(x: Fraction) -> None:
    """Bernoulli(e^(-x)) changes exactly at e^(-x); at a wrong x it doesn't."""

    def toss(x: Fraction, number: int, bits: int) -> int:
        return int(draw_bernoulli_exp(x, 1, Tape(words_of(number, bits=bits, width=WIDTH), width=WIDTH))[0])

    def step() -> Any:
        return ball(-x).exp()

    assert around(partial(toss, x), step, 630) == [1, None, 0]
    assert around(partial(toss, x * WRONG), step, 630) != [1, None, 0]
