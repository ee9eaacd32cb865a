"""Tracing: members stand out among strangers as theory says, and privacy bounds by how much."""

from __future__ import annotations

from fractions import Fraction
from math import erf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.attacks.answers import made_up_tracing, most_advantage, tracing
from discreet.attacks.answers.guessing import most_lead
from discreet.attacks.answers.tracing import scores
from discreet.errors import InvalidArgument
from discreet.noise import discrete_laplace
from discreet.privacy import ADD_REMOVE
from discreet.stats import lower_bound, upper_bound

TRIALS, FAILURES = 20, 8


@pytest.mark.parametrize(
    ("attributes", "low", "high", "twin"),
    [(100, 0.5, 0.85, 3000), (1_000, 0.85, 0.99, 100), (10_000, 0.995, 1.0, 1_000)],
)
def test_members_stand_out(attributes: int, low: float, high: float, twin: int) -> None:
    """A hundred people: the area under the curve is near 0.68, 0.94 and 1.

    Theory has Φ(√(d/4n)), for √(d/2n) deviations between members and strangers; that of one trial varies by 0.04 for
    100 attributes and less for more. A trial is outside of the ends with a chance below 1 %, so that more than 8 of 20
    are with a chance below C(20,9)·0.01⁹ < 1e-12. A twin with other attributes must be outside more often.
    """
    trials = TRIALS if attributes < 10_000 else 12
    failures = sum(not low <= made_up_tracing(attributes=attributes).auc <= high for _ in range(trials))
    assert failures <= FAILURES
    assert low <= (1 + erf(sqrt(attributes / 400) / sqrt(2))) / 2 <= high
    assert sum(not low <= made_up_tracing(attributes=twin).auc <= high for _ in range(TRIALS)) > FAILURES


@pytest.mark.parametrize("epsilon", [1, 10])
def test_privacy_hides_members(epsilon: int) -> None:
    """At ε = 1, or 10, for 1,000 attributes together, members are all but hidden: 0.94 becomes about a half.

    One trial's area has a standard deviation of 0.042 about 0.50 and 0.53 (of 1,000 simulated trials, none of which is
    outside), so it is outside with a chance far below 1 %, and more than 8 of 20 are with a chance below C(20,9)·0.01⁹,
    which is below 1e-12. The twin, no noise, is above 0.85 as often, as the test before shows.
    """
    found = [made_up_tracing(attributes=1_000, epsilon=epsilon).auc for _ in range(TRIALS)]
    assert sum(not 0.3 <= auc <= 0.75 for auc in found) <= FAILURES


@given(st.integers(1, 4).flatmap(lambda wide: st.lists(st.tuples(*[st.booleans()] * wide), min_size=3, max_size=9)))
def test_scores_are_their_definition(people: list[tuple[bool, ...]]) -> None:
    """Person by person and attribute by attribute; and the area, pair by pair, a tie counting half."""
    table, wide = np.array(people), len(people[0])
    members, strangers, known = (table[place::3] for place in range(3))
    shares, reference = members.mean(axis=0), known.mean(axis=0)
    inside, outside = (
        [sum((float(row[j]) - reference[j]) * (shares[j] - reference[j]) for j in range(wide)) for row in part]
        for part in (members, strangers)
    )
    assert scores(members, shares, reference) == pytest.approx(inside)
    found = tracing(shares, members=members, strangers=strangers, reference=reference)
    gaps = [a - b for a in scores(members, shares, reference) for b in scores(strangers, shares, reference)]
    assert found.auc == pytest.approx(sum((gap > 0) + (gap == 0) / 2 for gap in gaps) / len(gaps))
    assert (found.bound, found.epsilon, found.people, found.attributes) == (None, None, len(members), wide)
    private = tracing(
        shares, members=members, strangers=strangers, reference=reference, epsilon=1, adjacency=ADD_REMOVE
    )
    assert (private.bound, private.epsilon) == (most_lead(1, ADD_REMOVE), 1.0)
    assert private.auc == found.auc
    assert scores(strangers, shares, reference) == pytest.approx(outside)


def test_members_found_at_low_rates() -> None:
    """A hundred strangers tell of a rate of one in a hundred and not of one in a thousand.

    With 10,000 attributes members and strangers are 7 deviations apart. Half of the members are missed if two strangers
    are above half of them, 6 deviations out at the least, but for a chance of half of the members being a deviation
    below their mean, which is below 1e-12: a chance below C(100,2)·(1e-9)² < 1e-14.
    """
    found = made_up_tracing(attributes=10_000)
    assert found.found_at[0] is None
    assert found.found_at[1] is not None
    assert found.found_at[1] > 0.5  # nearly all are
    assert found.found_at[2] >= found.found_at[1]
    assert made_up_tracing(attributes=10, epsilon=1).bound == most_advantage(1)
    assert {guess.what for guess in found.guesses} == {"is a member"}


def flagged(scale: Fraction, member: NDArray[np.bool_], stranger: NDArray[np.bool_], rounds: int) -> tuple[int, int]:
    """How often a person is called a member, where they are in the table, and where the stranger is in their place.

    The table holds that one person. Each round publishes the counts of all attributes with fresh noise.
    """
    reference = np.full(len(member), 0.5)
    calls = []
    for held in (member, stranger):
        noisy = held.astype(np.float64) + discrete_laplace(scale, (rounds, len(member)))
        calls.append(int(sum(scores(member[np.newaxis], shares, reference)[0] > 0 for shares in noisy)))
    return calls[0], calls[1]


@pytest.mark.parametrize("attributes", [1, 3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_the_bound_holds(epsilon: Fraction, attributes: int) -> None:
    """For one person who has what the stranger lacks, it is kept; half the noise breaks it, where it is reached.

    Exact bounds, at 1e-9 together; 20,000 rounds of each. With one attribute the advantage is the bound: 0.245 at ε = ½
    (its twin 0.462), 0.762 at ε = 2 (its twin 0.964), each with a deviation below 0.005.
    """
    rounds, level = 20_000, 1 - Fraction(1, 2 * 10**9)
    member, stranger = np.ones(attributes, dtype=np.bool_), np.zeros(attributes, dtype=np.bool_)

    def least(scale: Fraction) -> float:
        """A bound below the advantage."""
        hits, alarms = flagged(scale, member, stranger, rounds)
        return lower_bound(hits, rounds, level) - upper_bound(alarms, rounds, level)

    assert least(attributes / epsilon) <= most_advantage(epsilon)
    if attributes == 1:
        assert least(attributes / epsilon / 2) > most_advantage(epsilon)


@pytest.mark.parametrize("wrong", [{"people": 0}, {"attributes": 0}, {"strangers": 0}, {"epsilon": 0}])
def test_nonsense_is_refused(wrong: dict[str, int]) -> None:
    """Nobody, nothing, and no ε."""
    with pytest.raises(InvalidArgument):
        made_up_tracing(**{"people": 2, "attributes": 2, **wrong})  # type: ignore[arg-type]  # by name


def test_shapes_must_fit() -> None:
    """One share and one reference for each attribute; members and strangers with all of them."""
    one = np.ones((1, 2), dtype=np.bool_)
    for shares, members, reference in [
        (np.ones(3), one, np.ones(2)),
        (np.ones(2), one[:, :1], np.ones(2)),
        (np.ones(2), one[:0], np.ones(2)),
        (np.ones(2), one, np.ones(1)),
    ]:
        with pytest.raises(InvalidArgument):
            tracing(shares, members=members, strangers=one, reference=reference)
