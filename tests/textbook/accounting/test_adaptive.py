"""Filters against adaptive analysts, by every transcript; bounds that are no filters are refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from fractions import Fraction
from math import exp, fsum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm  # type: ignore[import-untyped]  # SciPy ships no types

from discreet.accounting import (
    AdaptiveTotal,
    ApproxSum,
    GaussianSum,
    PrivacyFilter,
    PureSum,
    RenyiSum,
    ZCDPSum,
    advanced,
    gaussian_to_delta,
    optimal,
    pure_to_gaussian,
    pure_to_renyi,
    pure_to_zcdp,
    renyi_curve_of,
    renyi_to_delta,
    zcdp_to_delta,
)
from discreet.errors import BudgetExhausted, InvalidArgument, LossNotAccepted
from discreet.privacy import ZCDP, AnyLoss, ApproxDP, GaussianDP, LaplaceEvent, PureDP, RenyiDP
from discreet.textbook.accounting.adaptive import Amounts
from support.project import ROOT

ALPHA = 3


def depth_for(limit: AnyLoss) -> int:
    """How many questions are asked: releases with a δ have four outcomes, the others two."""
    return 5 if isinstance(limit, ApproxDP | ZCDP) and limit.delta else 8


LIMITS: list[AnyLoss] = [
    PureDP(1),
    ApproxDP(1, "0.05"),
    ZCDP("0.3"),
    ZCDP("0.3", "0.05"),
    GaussianDP("0.8"),
    RenyiDP(ALPHA, 1),
]

Steps = list[tuple[float, float]]
"""A release: for each outcome its probability on x and on x′."""


def worst(epsilon: Fraction, delta: Fraction) -> Steps:
    """Says with probability δ which neighbour it is; else randomised response."""
    truth, kept = 1 / (1 + exp(-float(epsilon))), 1 - float(delta)
    return [(kept * truth, kept * (1 - truth)), (kept * (1 - truth), kept * truth)] + (
        [(float(delta), 0.0), (0.0, float(delta))] if delta else []
    )


def loss_for(limit: AnyLoss, epsilon: Fraction, delta: Fraction) -> tuple[AnyLoss, Steps]:
    """A release, and its loss in the terms of a limit; without a δ where the kind has none."""
    match limit:
        case PureDP():
            return PureDP(epsilon), worst(epsilon, Fraction(0))
        case ApproxDP():
            return ApproxDP(epsilon, delta), worst(epsilon, delta)
        case ZCDP():
            rare = delta if limit.delta else Fraction(0)
            return ZCDP(pure_to_zcdp(epsilon), rare), worst(epsilon, rare)
        case GaussianDP():
            return GaussianDP(pure_to_gaussian(epsilon)), worst(epsilon, Fraction(0))
        case RenyiDP():
            return pure_to_renyi(epsilon, ALPHA), worst(epsilon, Fraction(0))


def delta_allowed(limit: AnyLoss, epsilon: float) -> float:
    """The δ that a limit allows at ε."""
    match limit:
        case PureDP():
            return max(0.0, (exp(float(limit.epsilon)) - exp(epsilon)) / (1 + exp(float(limit.epsilon))))
        case ApproxDP():
            own = float(limit.delta)
            return own + (1 - own) * delta_allowed(PureDP(limit.epsilon), epsilon)
        case ZCDP():
            return float(limit.delta) + float(zcdp_to_delta(limit.rho, repr(epsilon)))
        case GaussianDP():
            return float(gaussian_to_delta(limit.mu, repr(epsilon)))
        case RenyiDP():
            return float(renyi_to_delta(limit, repr(epsilon)))


Ask = Callable[[int], tuple[Fraction, Fraction]]
"""An analyst: what is asked at each node of the conversation, which numbers all that went before."""


def transcripts(account: PrivacyFilter[Any], ask: Ask, node: int = 1, depth: int = 0) -> Iterator[tuple[float, float]]:
    """The probabilities of each transcript; a release that isn't admitted is refused, and the analyst goes on."""
    if depth == depth_for(account.limit):
        yield 1.0, 1.0
        return
    loss, steps = loss_for(account.limit, *ask(node))
    admitted = account.admits(loss)
    after = account.spend(loss) if admitted else account
    for branch, (p, q) in enumerate(steps if admitted else [(1.0, 1.0)]):
        for rest_p, rest_q in transcripts(after, ask, 4 * node + branch, depth + 1):
            yield p * rest_p, q * rest_q


MENU = [(Fraction(n, 20), Fraction(d, 400)) for n, d in ((1, 1), (3, 4), (5, 2), (8, 1), (12, 8), (20, 1))]


def excesses(account: PrivacyFilter[Any], allowed: AnyLoss, ask: Ask) -> list[float]:
    """By how much the δ of the whole conversation exceeds what is allowed, at a few ε."""
    pairs = list(transcripts(account, ask))
    at = [0.1, 0.5, 1.0]
    return [fsum(max(0.0, p - exp(e) * q) for p, q in pairs) - delta_allowed(allowed, e) for e in at]


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@given(st.lists(st.sampled_from(MENU), min_size=1, max_size=24), st.integers(1, 10**6))
def test_no_adaptive_analyst_exceeds_the_limit(
    limit: AnyLoss, menu: list[tuple[Fraction, Fraction]], salt: int
) -> None:
    """Whatever is asked after whatever answer, the exact δ at each ε is within that of the limit."""
    over: Any = PrivacyFilter.over
    assert max(excesses(over(limit), limit, lambda node: menu[node * salt % 104_729 % len(menu)])) <= 1e-9


def small(_: int) -> tuple[Fraction, Fraction]:
    """Always the same small question."""
    return Fraction(2, 5), Fraction(1, 50)


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_a_filter_that_admits_more_is_found_out(limit: AnyLoss) -> None:
    """Twice what the limit says, spent on small questions, exceeds it in the same sum over transcripts."""
    wide: AnyLoss
    match limit:
        case PureDP(epsilon=epsilon):
            wide = PureDP(2 * epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            wide = ApproxDP(2 * epsilon, 2 * delta)
        case ZCDP(rho=rho, delta=delta):
            wide = ZCDP(6 * rho, 2 * delta)
        case GaussianDP(mu=mu):
            wide = GaussianDP(2 * mu)
        case RenyiDP(alpha=alpha, epsilon=epsilon):
            wide = RenyiDP(alpha, 4 * epsilon)
    over: Any = PrivacyFilter.over
    assert max(excesses(over(wide), limit, small)) > 1e-4


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_a_filter_is_spent_to_the_last_digit(limit: AnyLoss) -> None:
    """The limit itself fits once; after it not a crumb does, and what was spent is refused by name."""
    over: Any = PrivacyFilter.over
    account = over(limit)
    full = account.spend(limit)
    assert account.admits(limit)
    crumb, _ = loss_for(limit, Fraction(1, 10**9), Fraction(1, 10**9))
    assert not full.admits(crumb)
    with pytest.raises(BudgetExhausted):
        full.spend(crumb)
    assert account.spent == Amounts()


def test_gaussians_add_up_as_squares() -> None:
    """Sixteen releases at μ/4 fit μ, and their product is as far apart as the limit says."""
    account = PrivacyFilter.over(GaussianDP(1))
    for _ in range(16):
        account = account.spend(GaussianDP("0.25"))
    assert not account.admits(GaussianDP("0.001"))
    truth = float(norm.cdf(0.5 - 1) - exp(1) * norm.cdf(-0.5 - 1))
    assert float(gaussian_to_delta(1, 1)) == pytest.approx(truth)


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("loss", [PureDP(1), ApproxDP(1, 0), ZCDP(1), GaussianDP(1), RenyiDP(5, 1)], ids=str)
def test_losses_of_another_kind_or_order_are_refused(limit: AnyLoss, loss: AnyLoss) -> None:
    """Each filter counts one kind."""
    over: Any = PrivacyFilter.over
    if type(loss) is not type(limit) or isinstance(loss, RenyiDP):
        with pytest.raises(LossNotAccepted):
            over(limit).admits(loss)


@pytest.mark.parametrize("total", [PureSum, ApproxSum, ZCDPSum, RenyiSum, GaussianSum])
def test_each_total_names_the_theorem_it_rests_on(total: type[AdaptiveTotal[Any]]) -> None:
    """Authors, a year, and a proof."""
    text = total.__doc__ or ""
    assert any(name in text for name in ("Rogers", "Whitehouse", "Feldman", "Smith, Thakurta"))
    assert "proof" in text.lower()


# ── What is proved for fixed sequences only is no filter ──────────────────────────────────────────────────────────────

FIXED = [
    optimal,
    advanced,
    renyi_curve_of(LaplaceEvent(scale=Fraction(1), l1=1)),
    sum,
]


@pytest.mark.parametrize("bound", FIXED)
def test_a_bound_for_fixed_sequences_is_refused_when_the_program_runs(bound: object) -> None:
    """Optimal and advanced composition, a Rényi curve, any function: a typed error, before anything is asked."""
    make: Any = PrivacyFilter
    with pytest.raises(LossNotAccepted, match="chosen after answers were seen"):
        make(ApproxDP(1, "1e-6"), bound)


def test_a_curve_of_loss_distributions_is_refused_too() -> None:
    """It is tight, and it is for fixed sequences."""
    pld = pytest.importorskip("discreet.textbook.accounting.pld")
    make: Any = PrivacyFilter
    with pytest.raises(LossNotAccepted, match="chosen after answers were seen"):
        make(ApproxDP(1, "1e-6"), pld.curve_of(LaplaceEvent(scale=Fraction(1), l1=1)))


def test_a_total_of_another_kind_is_refused() -> None:
    """ρ isn't kept within a limit on ε."""
    make: Any = PrivacyFilter
    with pytest.raises(LossNotAccepted):
        make(PureDP(1), ZCDPSum())
    with pytest.raises(LossNotAccepted):
        make(RenyiDP(3, 1), RenyiSum(Fraction(2)))
    with pytest.raises(LossNotAccepted):
        make.over("ε = 1")


SNIPPET = """
from fractions import Fraction
from discreet.accounting import ApproxSum, PrivacyFilter, ZCDPSum, optimal, renyi_curve_of
from discreet.privacy import ApproxDP, LaplaceEvent, PureDP

right = PrivacyFilter(ApproxDP(1, "1e-6"), ApproxSum())
PrivacyFilter(ApproxDP(1, "1e-6"), optimal)
PrivacyFilter(ApproxDP(1, "1e-6"), renyi_curve_of(LaplaceEvent(scale=Fraction(1), l1=1)))
PrivacyFilter(PureDP(1), ZCDPSum())
right.spend(PureDP(1))
"""


def test_a_bound_for_fixed_sequences_is_refused_by_mypy(tmp_path: Path) -> None:
    """The right filter passes; optimal composition, a Rényi curve, another kind's sum and another loss don't."""
    pytest.importorskip("mypy")
    program = tmp_path / "snippet.py"
    program.write_text(SNIPPET, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(program)],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    lines_found = sorted({int(line.split(":")[1]) for line in run.stdout.splitlines() if "snippet.py:" in line})
    assert lines_found == [7, 8, 9, 10], run.stdout


def test_a_fixed_sequence_bound_used_as_a_filter_would_be_wrong() -> None:
    """Why: an analyst who stops when ahead beats the bound for k fixed responses, at the same k and δ."""
    epsilon, times = Fraction(1, 2), 12
    bound = float(optimal(PureDP(epsilon), times, "0.02").epsilon)
    truth = 1 / (1 + exp(-float(epsilon)))

    def exceed(left: int, loss: float) -> float:
        if loss > bound:  # stop asking: nothing can bring the loss down again
            return 1.0
        if not left:
            return 0.0
        up, down = (exceed(left - 1, loss + sign * float(epsilon)) for sign in (1, -1))
        return truth * up + (1 - truth) * down

    def fixed(left: int, loss: float) -> float:
        if not left:
            return float(loss > bound)
        return truth * fixed(left - 1, loss + float(epsilon)) + (1 - truth) * fixed(left - 1, loss - float(epsilon))

    assert exceed(times, 0.0) > 1.05 * fixed(times, 0.0)


def test_accounts_dont_change() -> None:
    """Spending makes another account, and amounts can't be negative."""
    account: Any = PrivacyFilter.over(PureDP(1))
    with pytest.raises(FrozenInstanceError):
        account.spent = Amounts()
    with pytest.raises(InvalidArgument):
        Amounts(Fraction(-1))
