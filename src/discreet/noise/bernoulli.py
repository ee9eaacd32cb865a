"""Coins: tosses that come up True with a probability that is a rational, e^(-x) or e^x/(e^x + a), each exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from discreet.entropy import Keystream, Words
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, rational
from discreet.noise.sampling import LazyUniform, Size, fill, settle_below

if TYPE_CHECKING:
    from flint import arb


def toss(known: int, chance: Callable[[], arb], count: int, source: Words) -> NDArray[np.bool_]:
    """`count` independent coins that come up True with the probability `chance`.

    The first bits of a uniform number U are compared with those of the probability. Only where they are equal, more
    bits are drawn and compared in ball arithmetic. It ends with probability 1.

    Args:
        known: ⌊2^width·chance⌋, the probability's first bits, as many as a word of the source has.
        chance: evaluates the probability, which lies in (0, 1), at the working precision.
        count: how many.
        source: where the bits come from.
    """
    cells, bits = source.words(count), source.width
    tosses: NDArray[np.bool_] = cells < known
    for i in np.flatnonzero(cells == known):
        tosses[i] = settle_below(chance, LazyUniform(cells[i], bits, source))
    return tosses


def first_bits(chance: Callable[[], arb], bits: int) -> int:
    """⌊2^bits·chance⌋, for a probability that isn't a multiple of 2^-bits: so enough precision tells.

    Args:
        chance: evaluates the probability at the working precision.
        bits: 1 or more.
    """
    from discreet.exact.ball import ball, common_floor, precision

    working = 2 * bits
    while True:
        with precision(working):
            scaled = chance() * ball(1 << bits)
            known = common_floor(scaled, scaled)
        if known is not None:
            return known
        working *= 2


@overload
def bernoulli(p: Rationalizable, size: None = None) -> bool: ...
@overload
def bernoulli(p: Rationalizable, size: int | tuple[int, ...]) -> NDArray[np.bool_]: ...
def bernoulli(p: Rationalizable, size: Size = None) -> bool | NDArray[np.bool_]:
    """Toss coins that come up True with probability p.

    Guarantee: exactly that probability, given uniform bits. A uniform number is compared with p by integers: its first
    bits against the same bits of p. Where they are equal, the next bits are compared with the rest of p.

    Args:
        p: a rational in [0, 1], best an int or a Fraction; it isn't rounded.
        size: how many tosses, or a shape; None for a single one.

    Returns:
        A bool if `size` is None, otherwise an array of them.

    Raises:
        InvalidArgument: p isn't a number in [0, 1], or the size is not valid.

    Examples:
        >>> bernoulli(1), bernoulli(0, size=2).tolist()
        (True, [False, False])
    """
    chance = rational(p, "p")
    if not 0 <= chance <= 1:
        raise InvalidArgument("p must be at least 0 and at most 1", hint="it is a probability")
    tosses: bool | NDArray[np.bool_] = fill(size, np.bool_, partial(draw_bernoulli, chance))
    return tosses


def draw_bernoulli(p: Fraction, count: int, source: Words) -> NDArray[np.bool_]:
    """`count` independent tosses from a source of words."""
    if p == 1:  # its first bits are a number no word holds
        return np.ones(count, dtype=np.bool_)
    known, rest = divmod(p * 2**source.width, 1)
    cells = source.words(count)
    tosses: NDArray[np.bool_] = cells < known
    for i in np.flatnonzero(cells == known):
        tosses[i] = _settle_rational(rest, source)
    return tosses


def _settle_rational(p: Fraction, source: Words) -> bool:
    """One toss; ends with probability 1, and at once if what is left of p is 0."""
    while p:
        known, p = divmod(p * 2**source.width, 1)
        word = int(source.words(1)[0])
        if word != known:
            return bool(word < known)
    return False


@overload
def bernoulli_exp(x: Rationalizable, size: None = None) -> bool: ...
@overload
def bernoulli_exp(x: Rationalizable, size: int | tuple[int, ...]) -> NDArray[np.bool_]: ...
def bernoulli_exp(x: Rationalizable, size: Size = None) -> bool | NDArray[np.bool_]:
    """Toss coins that come up True with probability e^(-x).

    Guarantee: exactly that probability, given uniform bits. A uniform number U is compared with e^(-x) by integers: its
    first bits against the same bits of e^(-x). Only where they are equal, once in 2^63 tosses, more bits are drawn
    and compared in ball arithmetic.

    Args:
        x: a rational of at least 0, best an int or a Fraction; it isn't rounded.
        size: how many tosses, or a shape; None for a single one.

    Returns:
        A bool if `size` is None, otherwise an array of them.

    Raises:
        InvalidArgument: x isn't a number of at least 0, or the size is not valid.

    Source: Canonne, Kamath, Steinke (2020), Algorithm 1, has the same output by another way.

    Examples:
        >>> bernoulli_exp(0)
        True
    """
    exponent = rational(x, "x")
    if exponent < 0:
        raise InvalidArgument("x must be at least 0", hint="the probability is e^(-x)")
    tosses: bool | NDArray[np.bool_] = fill(size, np.bool_, partial(draw_bernoulli_exp, exponent))
    return tosses


def draw_bernoulli_exp(x: Fraction, count: int, source: Words) -> NDArray[np.bool_]:
    """`count` independent tosses from a source of words."""
    if x == 0:
        return np.ones(count, dtype=np.bool_)
    return toss(_exp_first_bits(x, source.width), partial(exp_chance, x), count, source)


def exp_chance(x: Fraction) -> arb:
    """The probability e^(-x), as a ball at the working precision."""
    from discreet.exact.ball import ball

    return (-ball(x)).exp()


@lru_cache(maxsize=256)
def _exp_first_bits(x: Fraction, bits: int) -> int:
    """⌊2^bits·e^(-x)⌋ for x > 0; the number isn't an integer, because e^(-x) is irrational."""
    if x >= bits:
        return 0  # e^(-bits) < 2^(-bits)
    return first_bits(partial(exp_chance, x), bits)


@overload
def bernoulli_odds(x: Rationalizable, against: Rationalizable = 1, size: None = None) -> bool: ...
@overload
def bernoulli_odds(
    x: Rationalizable, against: Rationalizable = 1, *, size: int | tuple[int, ...]
) -> NDArray[np.bool_]: ...
def bernoulli_odds(x: Rationalizable, against: Rationalizable = 1, size: Size = None) -> bool | NDArray[np.bool_]:
    """Toss coins that come up True with odds of e^x to `against`: with probability e^x/(e^x + against).

    Guarantee: exactly that probability, given uniform bits; see `discreet.noise.bernoulli`. Every toss takes one path.

    Args:
        x: a rational above 0, best an int or a Fraction; it isn't rounded.
        against: a rational above 0.
        size: how many tosses, or a shape; None for a single one.

    Returns:
        A bool if `size` is None, otherwise an array of them.

    Raises:
        InvalidArgument: a number isn't above 0, or the size is not valid.

    Examples:
        >>> bernoulli_odds(1000), bernoulli_odds(1, against=10**40)
        (True, False)
    """
    exponent, weight = positive(x, "x"), positive(against, "against")
    tosses: bool | NDArray[np.bool_] = fill(size, np.bool_, partial(draw_bernoulli_odds, exponent, weight))
    return tosses


def draw_bernoulli_odds(x: Fraction, against: Fraction, count: int, source: Words) -> NDArray[np.bool_]:
    """`count` independent tosses from a source of words."""
    return toss(_odds_first_bits(x, against, source.width), partial(odds_chance, x, against), count, source)


def odds_chance(x: Fraction, against: Fraction) -> arb:
    """The probability 1/(1 + against·e^(-x)), as a ball at the working precision."""
    from discreet.exact.ball import ball

    return 1 / (1 + ball(against) * (-ball(x)).exp())


@lru_cache(maxsize=256)
def _odds_first_bits(x: Fraction, against: Fraction, bits: int) -> int:
    """⌊2^bits·chance⌋ for x > 0; the number isn't an integer, because e^(-x) is irrational."""
    if x >= bits + against.numerator.bit_length():
        return (1 << bits) - 1  # the chance is below 1 by less than against·e^(-x) < 2^(-bits)
    return first_bits(partial(odds_chance, x, against), bits)


def bernoulli_each(chances: Callable[[], Sequence[arb]], count: int) -> list[bool]:
    """Toss a coin for each of several probabilities that are evaluated together.

    Guarantee: exactly those probabilities, given uniform bits. A uniform number for each is compared with its
    probability in ball arithmetic, with more bits and at a higher precision until all are decided.

    Args:
        chances: evaluates the probabilities, which lie in [0, 1], at the working precision.
        count: how many they are.

    Examples:
        >>> from discreet.exact.ball import ball
        >>> bernoulli_each(lambda: [ball(0), ball(1)], 2)
        [False, True]
    """
    from discreet.exact.ball import precision

    source = Keystream()
    uniforms = [LazyUniform(0, 0, source) for _ in range(count)]
    tosses, open_ = [False] * count, set(range(count))
    while open_:
        for i in open_:
            uniforms[i].refine()
        with precision(max(uniforms[i].bits for i in open_) + 192):
            exact = chances()
            for i in list(open_):
                low, high = uniforms[i].ends()
                tosses[i] = bool(high <= exact[i])  # a ball compares as true only if it is certain
                if tosses[i] or low >= exact[i]:
                    open_.remove(i)
    return tosses


MOST_BITS = 63
"""How fine a bias may be: a multiple of 2^-63."""

_OCTET = 8


def packed_bernoulli(p: Rationalizable, size: int | tuple[int, ...]) -> NDArray[np.uint8]:
    """Toss coins that come up True with probability p, a multiple of 2^-63, and return them as the bits of bytes.

    Guarantee: exactly that probability and independence, given uniform bits; always the same work for the same p. Let
    p = 0.b₁b₂…b_L in binary. Going from b_L to b₁, all coins of a word are combined with fresh fair bits: by OR where
    b is 1, by AND where it is 0. A coin that came up with probability r does so with (1 + r)/2 after an OR and with
    r/2 after an AND, so with (b + r)/2, which after all L steps is p. It takes L fair bits a coin, but L/56 words.

    Args:
        p: a multiple of 2^-63 in [0, 1].
        size: how many bytes, or a shape. As `numpy.packbits` has it, whatever its bit order: all bits are alike.

    Returns:
        An array of bytes.

    Raises:
        InvalidArgument: p isn't such a multiple in [0, 1], or the size is not valid.

    Examples:
        >>> packed_bernoulli(1, 3).tolist(), packed_bernoulli("0.25", (2, 5)).shape
        ([255, 255, 255], (2, 5))
    """
    chance = rational(p, "p")
    if not 0 <= chance <= 1 or 2**MOST_BITS % chance.denominator:
        raise InvalidArgument("p must be a multiple of 2^-63 from 0 to 1", hint="bernoulli takes any rational")
    octets: NDArray[np.uint8] = fill(size, np.uint8, partial(draw_packed, chance))
    return octets


def draw_packed(p: Fraction, count: int, source: Words) -> NDArray[np.uint8]:
    """`count` bytes of independent coins from a source of words of 8 bits or more.

    A word gives as many whole bytes as it has; its other bits are dropped.
    """
    whole = source.width // _OCTET
    words = -(-count // whole)
    coins = np.full(words, -(p.numerator // p.denominator), dtype=np.int64)  # all of them up if p is 1, else down
    for step in range(p.denominator.bit_length() - 1):
        if p.numerator >> step & 1:
            coins |= source.words(words)
        else:
            coins &= source.words(words)
    octets = coins.astype("<i8", copy=False).view(np.uint8).reshape(-1, _OCTET)[:, :whole]
    return octets.reshape(-1)[:count]
