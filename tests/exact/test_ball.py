"""Ball arithmetic: enclosures hold, doubt is reported and never guessed away."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from discreet.exact.ball import ball, common_floor, enclose, fraction, precision

FORK = """
import os, signal, threading
from discreet.exact.ball import ball, enclose, precision

inside, done = threading.Event(), threading.Event()

def hold():
    with precision(100):
        inside.set()
        done.wait()

threading.Thread(target=hold, daemon=True).start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    low, high = enclose(lambda: ball(2).sqrt(), bits=64)
    os._exit(0 if low < high else 1)
print("child exits with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done.set()
"""


@given(st.fractions(), st.integers(2, 200))
def test_a_ball_contains_its_number(value: Fraction, bits: int) -> None:
    """At any precision the ball of a rational contains it."""
    with precision(bits):
        one = ball(value)
        assert fraction(one.lower()) <= value <= fraction(one.upper())


@given(st.integers(), st.integers(0, 500))
def test_dyadic_numbers_are_read_back_exactly(mantissa: int, exponent: int) -> None:
    """What a ball's midpoint holds comes back as the same rational."""
    with precision(2000):
        assert fraction(ball(mantissa) / ball(2**exponent)) == Fraction(mantissa, 2**exponent)


@given(st.fractions(max_denominator=10**6), st.fractions(max_denominator=10**6))
def test_common_floor_is_the_floor_of_both_or_none(one: Fraction, other: Fraction) -> None:
    """A floor is given only if both numbers have it; where it is given it is right."""
    with precision(300):
        floor = common_floor(ball(one), ball(other))
    assert floor is None or floor == one // 1 == other // 1
    if one // 1 == other // 1 and one % 1 and other % 1:
        assert floor == one // 1


def test_a_floor_in_doubt_is_none() -> None:
    """A ball over an integer, an undefined number and an infinite one have no certain floor."""
    with precision(53):
        assert common_floor(arb(3, 0.1), arb(3, 0.1)) is None
        assert common_floor(arb("nan"), arb(1)) is None
        assert common_floor(arb(1), arb("inf")) is None


def test_the_precision_is_put_back() -> None:
    """Working precision holds inside the block only, also after an error."""
    before = ctx.prec
    with precision(777):
        assert ctx.prec == 777
    assert ctx.prec == before
    with pytest.raises(ZeroDivisionError), precision(777):
        Fraction(ctx.prec, 0)
    assert ctx.prec == before


def test_threads_wait_for_each_others_precision() -> None:
    """Threads at different precisions each get enclosures as tight as they asked for."""

    def gap(bits: int) -> bool:
        low, high = enclose(lambda: ball(2).sqrt(), bits=bits)
        return low * low < 2 < high * high and high - low < Fraction(2, 2**bits)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(gap, [10, 1000, 50, 3000, 100] * 40))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_isnt_locked_out() -> None:
    """A child forked while another thread works at some precision can work too; a deadlock would be killed in 60 s."""
    run = subprocess.run([sys.executable, "-c", FORK], check=False, capture_output=True, text=True)
    assert run.stdout.strip() == "child exits with 0"


def test_what_never_gets_tight_raises() -> None:
    """A zero that arithmetic can't prove, and an undefined number, raise instead of looping or guessing."""
    with pytest.raises(ArithmeticError):
        enclose(lambda: ball(Fraction(1, 3)) * 3 - 1, bits=10)
    with pytest.raises(ArithmeticError):
        enclose(lambda: ball(-1).log(), bits=10)
