"""Members of a study are told from strangers by scores within the bound, and scores become honest probabilities."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, exp
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from discreet.anonymity.columns import Reals
from discreet.attacks.answers.calibration import calibrated
from discreet.attacks.answers.guessing import most_advantage, most_lead
from discreet.attacks.answers.membership import told_apart
from discreet.attacks.attack_result import MOST_GUESSES
from discreet.census.pseudorandom import normal
from discreet.errors import InvalidArgument
from discreet.privacy import ADD_REMOVE, SUBSTITUTION

SCORES = st.lists(st.integers(0, 6), min_size=1, max_size=12)


def by_hand(inside: list[int], outside: list[int]) -> float:
    """How often a member has the higher score, pair by pair; a tie counts half."""
    return sum((a > b) + (a == b) / 2 for a in inside for b in outside) / (len(inside) * len(outside))


@given(inside=SCORES, outside=SCORES)
def test_figures_are_their_definitions(inside: list[int], outside: list[int]) -> None:
    """Area, lead, curve and guesses, by going through pairs and thresholds."""
    found = told_apart(
        np.array(inside, dtype=np.float64),
        np.array(outside, dtype=np.float64),
        attributes=3,
        against="shares",
        epsilon=None,
        adjacency=SUBSTITUTION,
    )
    assert found.auc == pytest.approx(by_hand(inside, outside))
    leads = [
        sum(score >= at for score in inside) / len(inside) - sum(score >= at for score in outside) / len(outside)
        for at in inside + outside
    ]
    assert found.advantage == pytest.approx(max(leads))
    members, everybody = len(inside), inside + outside
    called = [
        min(max((members - sum(a > b for a in everybody)) / everybody.count(b), 0), 1) for b in everybody
    ]  # the probability of each to be called a member
    right = sum(called[:members]) + sum(1 - chance for chance in called[members:])
    assert found.success == pytest.approx(right / len(everybody))
    by_lot = members / len(everybody)
    assert found.baseline == pytest.approx(by_lot * by_lot + (1 - by_lot) * (1 - by_lot))
    assert (found.found[0], found.found[-1], found.false_alarms[0], found.false_alarms[-1]) == (0, 1, 0, 1)
    assert list(found.found) == sorted(found.found)
    assert list(found.false_alarms) == sorted(found.false_alarms)
    assert (found.bound, found.epsilon, found.people, found.attributes) == (None, None, len(inside), 3)
    assert found.found_at[:2] == (None, None)
    sure = [guess.confidence for guess in found.guesses]
    assert sure == sorted(sure, reverse=True)
    assert len(sure) == min(len(inside) + len(outside), MOST_GUESSES)
    scores = []
    for guess in found.guesses:
        kind, place = guess.who.split()
        scores.append((inside if kind == "member" else outside)[int(place)])
        assert guess.right == (kind == "member")
    assert scores == sorted(everybody, reverse=True)[:MOST_GUESSES]


@given(epsilon=st.floats(0.01, 5), neither=st.floats(0, 1))
def test_no_rule_leads_by_more(epsilon: float, neither: float) -> None:
    """Whatever probability a rule has where neither is in the table, both neighbours hold it near."""
    with_member = min(exp(epsilon) * neither, 1 - exp(-epsilon) * (1 - neither))
    with_stranger = max(exp(-epsilon) * neither, 1 - exp(epsilon) * (1 - neither))
    assert with_member - with_stranger <= most_lead(epsilon, ADD_REMOVE) + 1e-12
    assert most_lead(epsilon, ADD_REMOVE) < most_lead(2 * epsilon, SUBSTITUTION)
    assert most_lead(epsilon, SUBSTITUTION) == most_advantage(epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_bound_is_reached(epsilon: float) -> None:
    """By a sum to which each person adds 1 or −1: the outcomes likelier with a member lead by all of it."""
    ratio, far = exp(-epsilon), ceil(40 / epsilon)
    noise = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-far, far + 1))
    lead = np.maximum(noise[:-2] - noise[2:], 0).sum()  # beyond the ends is less than 1e-17
    assert lead == pytest.approx(most_lead(epsilon, ADD_REMOVE), rel=1e-9)


def test_nonsense_is_refused() -> None:
    """An ε that isn't above 0."""
    for adjacency in (ADD_REMOVE, SUBSTITUTION):
        with pytest.raises(InvalidArgument):
            most_lead(0, adjacency)


WIDE_SCORES = st.lists(st.integers(-50, 50), min_size=1, max_size=12)


def likelihood(chances: Reals, members: int) -> float:
    """The logarithm of the likelihood of the drawn-in targets."""
    strangers = len(chances) - members
    targets = np.repeat([(members + 1) / (members + 2), 1 / (strangers + 2)], [members, strangers])
    return float((targets * np.log(chances) + (1 - targets) * np.log1p(-chances)).sum())


def rising(scores: Reals, members: int) -> Reals:
    """Platt's curve by a general optimiser, among those that don't fall."""
    spread = max(float(np.abs(scores).max()), 1.0)

    def chances(weights: Reals) -> Reals:
        return np.asarray(1 / (1 + np.exp(-weights[0] - weights[1] * scores / spread)))

    found = minimize(
        lambda weights: -likelihood(np.clip(chances(weights), 1e-15, 1 - 1e-15), members),
        np.zeros(2),
        bounds=[(-200, 200), (0, 400)],
        options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000},
    )
    return chances(found.x)


@given(inside=WIDE_SCORES, outside=WIDE_SCORES)
def test_the_curve_is_the_likeliest(inside: list[int], outside: list[int]) -> None:
    """No curve that doesn't fall is likelier, and it doesn't fall; in all, as many are called members as there are."""
    scores = np.array([*inside, *outside], dtype=np.float64)
    found = calibrated(scores[: len(inside)], scores[len(inside) :])
    assert likelihood(found, len(inside)) >= likelihood(rising(scores, len(inside)), len(inside)) - 1e-7
    order = np.argsort(scores)
    assert all(low <= high for low, high in pairwise(found[order]))
    members, strangers = len(inside), len(outside)
    targets = members * (members + 1) / (members + 2) + strangers / (strangers + 2)
    assert found.sum() == pytest.approx(targets)
    assert 0 < found.min() <= found.max() < 1


@given(inside=WIDE_SCORES, outside=WIDE_SCORES, step=st.floats(1e-3, 1e3), order=st.randoms(use_true_random=False))
def test_equal_scores_are_equally_likely(inside: list[int], outside: list[int], step: float, order: Random) -> None:
    """To the last digit, wherever people are listed; and a higher score is never less likely, not even by that digit.

    Products of matrices, which round an entry by where it stands, fail here and not on every processor.
    """
    scores = step * np.array([*inside, *outside])
    found = calibrated(scores[: len(inside)], scores[len(inside) :])
    for one, chance in zip(scores, found, strict=True):
        assert set(found[scores == one]) == {chance}
        assert (found[scores > one] >= chance).all()
    turned = [*order.sample(range(len(inside)), len(inside)), *range(len(inside), len(scores))]
    assert (calibrated(scores[turned][: len(inside)], scores[len(inside) :]) == found[turned]).all()


def test_probabilities_are_kept() -> None:
    """Scores that are normal, 0.5 to 3 deviations apart: Bayes' rule to 3 percent.

    A twin, the share of strangers who score less, is off by more than 20. The dice fall the same way each time.
    """
    for apart in (0.5, 1.0, 3.0):
        inside, outside = (
            normal(f"inside {apart}", 20_000) + apart,
            normal(f"outside {apart}", 20_000),
        )
        both = np.concatenate([inside, outside])
        truth = 1 / (1 + np.exp(-apart * both + apart * apart / 2))
        assert np.abs(calibrated(inside, outside) - truth).max() < 0.03
        ranks = np.searchsorted(np.sort(outside), both) / len(outside)
        assert np.abs(ranks - truth).max() > 0.2


def test_what_tells_nothing_makes_nobody_sure() -> None:
    """Scores alike, or the wrong way round, leave everybody as likely as members are common."""
    for inside, outside in [(np.ones(2), np.ones(6)), (np.zeros(2), np.ones(6)), (np.array([0.0, 2.0]), np.ones(6))]:
        assert calibrated(inside, outside) == pytest.approx((2 * 3 / 4 + 6 * 1 / 8) / 8)


def test_the_surest_are_as_often_right_as_they_say() -> None:
    """Of the surest twenty in 200 studies of a hundred, 0.3 deviations apart: to 5 percent.

    By the share of strangers who score less, they would say 30 more. The dice fall the same way each time.
    """
    said, right, ranked = [], [], []
    for study in range(200):
        inside, outside = (
            normal(f"inside {study}", 100) + 0.3,
            normal(f"outside {study}", 100),
        )
        found = told_apart(
            inside, outside, attributes=1, against="scores", epsilon=None, adjacency=SUBSTITUTION
        ).guesses
        said += [guess.confidence for guess in found]
        right += [bool(guess.right) for guess in found]
        both = np.sort(np.concatenate([inside, outside]))
        ranked.append((np.searchsorted(np.sort(outside), both[-20:]) / len(outside)).mean())
    assert np.mean(said) == pytest.approx(np.mean(right), abs=0.05)
    assert np.mean(ranked) > np.mean(right) + 0.3
