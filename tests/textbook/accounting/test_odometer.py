"""Odometers against adaptive analysts, by every transcript."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import Odometer
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.privacy import ZCDP, AnyLoss, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.textbook.accounting.odometer import lines


def crossings(odometer: Odometer, show: Callable[[Odometer], float], ask: Callable[[int], Fraction]) -> float:
    """The probability on x that the privacy loss is ever above what is shown, over all transcripts."""

    def visit(now: Odometer, node: int, depth: int, loss: float) -> float:
        if depth and loss > show(now) * (1 + 1e-12):
            return 1.0
        if depth == 9:
            return 0.0
        epsilon = ask(node)
        truth = 1 / (1 + exp(-float(epsilon)))
        after = now.record(PureDP(epsilon))
        right, wrong = (visit(after, 2 * node + k, depth + 1, loss + s * float(epsilon)) for k, s in ((0, 1), (1, -1)))
        return truth * right + (1 - truth) * wrong

    return visit(odometer, 1, 0, 0.0)


CHOICES = [Fraction(n, 10) for n in (1, 2, 4, 6, 10)]


@given(st.lists(st.sampled_from(CHOICES), min_size=1, max_size=9), st.integers(1, 10**6))
def test_an_odometer_is_hardly_ever_passed(menu: list[Fraction], salt: int) -> None:
    """Whatever is asked after whatever answer, the loss ever passes what is shown with probability at most δ."""
    odometer = Odometer.start("0.2")
    passed = crossings(odometer, lambda now: float(now.bound), lambda node: menu[node * salt % 104_729 % len(menu)])
    assert passed <= 0.2


def test_an_odometer_that_shows_what_holds_at_one_moment_is_passed() -> None:
    """A wrong twin: half of Hoeffding's bound for the moment, shown all the time, is passed more often than its δ."""

    def moment(now: Odometer) -> float:
        rho = float(now.rho)
        return rho + sqrt(-rho * log(0.2))

    assert crossings(Odometer.start("0.2"), moment, lambda _: Fraction(2, 5)) > 0.2
    assert crossings(Odometer.start("0.2"), lambda now: float(now.bound), lambda _: Fraction(2, 5)) <= 0.2


def test_an_odometer_is_near_the_bound_of_the_moment() -> None:
    """From a total of ρ = 10⁻⁵ to 100, at most 30 % above ρ + 2√(ρ·ln(1/δ)), which holds at one moment only."""
    for exponent in range(-10, 5):
        odometer = Odometer.start("1e-6").record(ZCDP(Fraction(3) ** exponent))
        rho = 3.0**exponent
        assert rho + 2 * sqrt(rho * log(1e6)) <= float(odometer.bound) <= 1.3 * (rho + 2 * sqrt(rho * log(1e6)))


def test_pure_sums_are_shown_where_they_are_less() -> None:
    """Three tenths are 0.3; with anything Gaussian beside them no longer."""
    odometer = Odometer.start("1e-6")
    assert odometer.bound == 0
    for _ in range(3):
        odometer = odometer.record(PureDP("0.1"))
    assert odometer.bound == Fraction(3, 10)
    assert odometer.record(GaussianDP("0.01")).bound > Fraction(3, 10)
    assert odometer.record(GaussianDP(1)).rho == odometer.rho + Fraction(1, 2)


def test_the_shares_of_delta_add_up() -> None:
    """The union over all levels is within δ: each line's δⱼ is read back from its offset."""
    spent = sum(exp(-float(rate * offset)) for rate, offset in lines(Fraction(1, 100)))
    assert 0.95 * 0.01 <= spent <= 0.01


@pytest.mark.parametrize("loss", [ZCDP(1, "1e-9"), ApproxDP(1, 0), RenyiDP(2, 1)], ids=str)
def test_an_odometer_counts_what_implies_zcdp(loss: AnyLoss) -> None:
    """And nothing with a δ of its own."""
    record: Any = Odometer.start("1e-6").record
    with pytest.raises(LossNotAccepted):
        record(loss)


def test_the_delta_of_an_odometer_is_a_probability() -> None:
    """With none there would be no bound."""
    with pytest.raises(InvalidArgument):
        Odometer.start(0)
