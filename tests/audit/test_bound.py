"""The bound: its formula, its confidence added up exactly, and what it says where there is nothing to say."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit import Audit
from discreet.audit.bound import epsilon_bound
from discreet.privacy import ApproxDP, PureDP
from discreet.stats import lower_bound, upper_bound

TRIALS = 24


def chance(hits: int, p: float) -> float:
    """Pr[Bin(TRIALS, p) = hits]."""
    return comb(TRIALS, hits) * p**hits * (1 - p) ** (TRIALS - hits)


def exceeds(p: float, q: float, delta: float, bounds: dict[tuple[int, int], float]) -> float:
    """How often a bound is above what is true of an event or of its opposite, over all counts there can be."""
    truth = max(log((p - delta) / q), log((1 - q - delta) / (1 - p)))
    return sum(chance(a, p) * chance(b, q) for (a, b), bound in bounds.items() if bound > truth)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 100)])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
def test_no_bound_is_above_the_truth_oftener_than_stated(confidence: Fraction, delta: Fraction) -> None:
    """Exactly, over all counts; while what the counts say without caution exceeds it every third time or oftener."""
    counts = [(a, b) for a in range(TRIALS + 1) for b in range(TRIALS + 1)]
    bounds = {hits: epsilon_bound(hits, TRIALS, delta, confidence).epsilon for hits in counts}
    naive = {(a, b): max(ratio(a, b), ratio(TRIALS - b, TRIALS - a)) for a, b in counts}
    for p, q in [(0.5, 0.2), (0.9, 0.5), (0.3, 0.3 / 2.7), (0.98, 0.02)]:
        assert exceeds(p, q, float(delta), bounds) <= 1 - confidence
        assert exceeds(p, q, float(delta), naive) > 0.3


def ratio(one: int, other: int) -> float:
    """The log ratio of two counts; infinite where there is nothing to divide by."""
    return log(one / other) if one and other else float("inf" if one else "-inf")


@given(st.integers(0, 60), st.integers(0, 60), st.fractions(0, Fraction(1, 10)))
def test_the_bound_is_its_formula(first: int, second: int, delta: Fraction) -> None:
    """ln((p − δ)/q), or that of the opposite, with half of the doubt on either side; 0 where that is less."""
    bound = epsilon_bound((first, second), 60, delta, Fraction(19, 20))
    p, q = lower_bound(first, 60, Fraction(39, 40)), upper_bound(second, 60, Fraction(39, 40))
    ways = (p - float(delta)) / q, (1 - q - float(delta)) / (1 - p)
    assert bound.epsilon == pytest.approx(max(0.0, log(max(*ways, 1e-300))), rel=1e-9, abs=1e-12)
    assert bound.opposite == (bound.epsilon > 0 and ways[1] > ways[0])


def test_certainty_has_a_bound_that_grows_with_draws() -> None:
    """Always here and never there proves no infinite ε, but more the longer it goes on."""
    bounds = [epsilon_bound((n, 0), n, Fraction(0), Fraction(999, 1000)).epsilon for n in (10, 1000, 100_000)]
    assert bounds == sorted(bounds)
    assert bounds[0] < 1
    assert 4 < bounds[1] < bounds[2] < 12


def found(bound: float, claim: PureDP | ApproxDP) -> Audit:
    """A result with a bound."""
    return Audit(
        subject="a mechanism",
        neighbours="0 and 1",
        claim=claim,
        bound=bound,
        confidence=1 - Fraction(1, 10**9),
        event="output = 1",
        hits=(9, 1),
        draws=10,
        learned=0,
    )


def test_a_result_says_what_it_refutes() -> None:
    """Above the claim it rejects; at it, to the last digit, it doesn't."""
    assert found(1.0000000001, PureDP(1)).rejects
    assert not found(1.0, PureDP(1)).rejects
    shown = str(found(2.5, ApproxDP(1, "1e-6")))
    assert "ε ≥ 2.5 at 99.9999999 % confidence, at δ = 1e-06" in shown
    assert "rejected: it gives away more than ε = 1, δ = 1e-06" in shown
    assert "seen       in 0.9 and 0.1 of 10 outputs each" in shown


def test_a_result_is_json_ready() -> None:
    """Plain numbers and texts."""
    assert found(0.5, ApproxDP(1, "1e-6")).to_dict() == {
        "subject": "a mechanism",
        "neighbours": "0 and 1",
        "claim": {"epsilon": 1.0, "delta": 1e-6},
        "bound": 0.5,
        "confidence": 1 - 1e-9,
        "event": "output = 1",
        "hits": [9, 1],
        "draws": 10,
        "learned": 0,
        "rejects": False,
    }
