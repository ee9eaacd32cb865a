"""Membership: figures are their definitions, and the bound holds and is reached."""

from __future__ import annotations

from math import ceil, exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.answers.guessing import most_advantage
from discreet.attacks.answers.membership import most_lead, told_apart
from discreet.attacks.result import MOST_GUESSES
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
