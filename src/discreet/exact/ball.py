"""Ball arithmetic: numbers that carry a proved bound on their own error.

Thin wrappers around Arb (by way of python-flint). A ball is a midpoint and a radius, and every operation returns a ball
that contains all the results its operands allow. A ball is right at any working precision; precision decides only how
small it is. Importing this file imports flint, which takes about a tenth of a second, so the samplers import it when a
draw first needs it.

Source: Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic" (2017), the section on
ball arithmetic.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock

from flint import arb, ctx, fmpq

_LOCK = RLock()
_LONGEST = 1 << 24  # bits of a numerator or denominator that someone might still want to see
_MOST_BITS = 1 << 16  # an expression that isn't tight by then contains a zero that no precision resolves


def _unlock() -> None:
    """Start a forked child with a lock of its own: the thread that held the old one isn't there to let go of it."""
    global _LOCK  # noqa: PLW0603 — the lock is the process's, and this is another process
    _LOCK = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work at `bits` of precision inside the block.

    Flint keeps one precision for the whole process, so one thread at a time is let in. A thread that changes it
    elsewhere can make balls wider, never wrong.

    Args:
        bits: of the midpoints; 2 or more.
    """
    with _LOCK, ctx.workprec(bits):
        yield


def ball(value: Fraction | int) -> arb:
    """A ball that contains `value`: exact if it is an integer, else as tight as the working precision.

    Examples:
        >>> ball(Fraction(1, 3)) * 3 == 1, (ball(Fraction(1, 3)) * 3).contains(arb(1))
        (False, True)
    """
    if isinstance(value, int):
        return arb(value)
    return arb(fmpq(value.numerator, value.denominator))


def fraction(point: arb) -> Fraction:
    """The rational that is the midpoint of `point`, exactly.

    Raises:
        ArithmeticError: it has millions of digits, and flint would end the process rather than write them out; or it
            isn't a number.
    """
    middle = point.mid()
    if not middle.is_finite():
        raise ArithmeticError("a ball without a finite midpoint has no fraction")
    if abs(int(middle.man_exp()[1])) > _LONGEST:
        raise ArithmeticError("the number is too large or too small to be written as a fraction")
    exact = middle.fmpq()
    return Fraction(int(exact.p), int(exact.q))


def enclose(compute: Callable[[], arb], *, bits: int) -> tuple[Fraction, Fraction]:
    """Rational bounds of a real number, with a relative gap of at most about 2^-bits.

    Args:
        compute: evaluates the number at the working precision; called again at higher ones until it is tight.
        bits: how tight; 1 or more.

    Returns:
        A lower and an upper bound; the same number twice if the value is found exactly.

    Raises:
        ArithmeticError: it doesn't get tight: the number is undefined, or a zero that arithmetic can't prove.

    Examples:
        >>> low, high = enclose(lambda: ball(2).sqrt(), bits=64)
        >>> low * low < 2 < high * high
        True
    """
    working = bits + 32
    while working <= _MOST_BITS + 2 * bits:
        with precision(working):
            value = compute()
            if value.is_finite() and value.rel_accuracy_bits() >= bits:
                return fraction(value.lower()), fraction(value.upper())
        working *= 2
    raise ArithmeticError("no precision makes this number tight: it is undefined or a hidden zero")


def common_floor(one: arb, other: arb) -> int | None:
    """The floor that every number between the two balls shares, both included; None if that isn't certain.

    Examples:
        >>> common_floor(arb("2.25"), arb("2.5")), common_floor(arb("1.9"), arb("2.1"))
        (2, None)
    """
    floors = one.floor().unique_fmpz(), other.floor().unique_fmpz()
    return None if floors[0] is None or floors[0] != floors[1] else int(floors[0])
