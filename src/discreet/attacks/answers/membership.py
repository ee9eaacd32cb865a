"""Membership: how well scores tell members from strangers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Reals
from discreet.attacks.answers.calibration import calibrated
from discreet.attacks.answers.guessing import most_lead
from discreet.attacks.attack_result import MOST_GUESSES, AttackResult, Guess
from discreet.exact.rational import Rationalizable, positive
from discreet.privacy import Adjacency

LOW_RATES = (0.001, 0.01, 0.1)
"""Rates of false alarm for which the share of members found is reported."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TracingResult(AttackResult):
    """How well members are distinguished from strangers.

    Success is that of an attacker who knows how many members there are, and calls that many people members, those with
    the highest scores.

    Args:
        people: how many members there are.
        attributes: how many shares were published.
        auc: how often a member has a higher score than a stranger; a tie counts half.
        advantage: the most, over all thresholds, by which members are called members oftener than strangers are. In
            few people some threshold fits by chance.
        bound: what it can't exceed on average over draws of members and strangers, and over the noise, for any rule
            that is fixed beforehand; None without privacy.
        epsilon: of all shares together; None without privacy.
        found_at: share of members found at each of `LOW_RATES` of false alarms; None where there are too few strangers
            to tell.
        false_alarms: for each threshold, from strict to lax: the share of strangers called members.
        found: for each threshold, the share of members called members.
    """

    people: int
    attributes: int
    auc: float
    advantage: float
    bound: float | None
    epsilon: float | None
    found_at: tuple[float | None, ...]
    false_alarms: tuple[float, ...]
    found: tuple[float, ...]


def told_apart(  # noqa: PLR0913 — two lists of scores, and what they came of, each by name
    inside: Reals,
    outside: Reals,
    *,
    attributes: int,
    against: str,
    epsilon: Rationalizable | None,
    adjacency: Adjacency,
    called: Callable[[int], str] | None = None,
) -> TracingResult:
    """How well members are distinguished from strangers by their scores.

    Args:
        inside: of each member; the higher, the likelier a member.
        outside: of each stranger.
        attributes: how many shares they came of.
        against: what was published, in words.
        epsilon: with which everything together was published; None if it wasn't privately.
        adjacency: for which neighbours.
        called: how to call a person, by their place among members and then strangers.

    Raises:
        InvalidArgument: ε isn't above 0.

    Examples:
        >>> from discreet.privacy import SUBSTITUTION
        >>> found = told_apart(
        ...     np.array([3.0, 1.0]), np.array([2.0, 0.0]), attributes=1, against="shares", epsilon=None,
        ...     adjacency=SUBSTITUTION,
        ... )
        >>> found.auc, found.advantage, [guess.right for guess in found.guesses]
        (0.75, 0.5, [True, False, True, False])
    """
    false_alarms, found = _curve(inside, outside)
    lead = found - false_alarms
    return TracingResult(
        attack="tracing",
        against=against,
        tried=len(inside) + len(outside),
        success=_right(inside, outside),
        baseline=(len(inside) ** 2 + len(outside) ** 2) / (len(inside) + len(outside)) ** 2,
        baseline_is="drawing as many by lot",
        guesses=_guesses(inside, outside, called or _numbered(len(inside))),
        people=len(inside),
        attributes=attributes,
        auc=float(np.sum(np.diff(false_alarms) * (found[1:] + found[:-1])) / 2),  # by trapezia: a tie counts half
        advantage=float(lead.max()),
        bound=None if epsilon is None else most_lead(epsilon, adjacency),
        epsilon=None if epsilon is None else float(positive(epsilon, "epsilon")),
        found_at=tuple(_found_at(rate, false_alarms, found, len(outside)) for rate in LOW_RATES),
        false_alarms=tuple(false_alarms.tolist()),
        found=tuple(found.tolist()),
    )


def _curve(inside: Reals, outside: Reals) -> tuple[Reals, Reals]:
    """The shares of strangers and of members at or above each threshold, from (0, 0) to (1, 1)."""
    thresholds = np.unique(np.concatenate([inside, outside]))[::-1]
    alarms, found = (
        np.searchsorted(np.sort(-part), -thresholds, side="right") / len(part) for part in (outside, inside)
    )
    return np.concatenate([[0.0], alarms]), np.concatenate([[0.0], found])


def _right(inside: Reals, outside: Reals) -> float:
    """The share of people called rightly, if as many are called as there are members; equal scores by lot."""
    last = np.sort(np.concatenate([inside, outside]))[len(outside)]  # the lowest score that may be called a member
    (above, tied), (wrong, level) = (
        (int((part > last).sum()), int((part == last).sum())) for part in (inside, outside)
    )
    members = above + (len(inside) - above - wrong) * tied / (tied + level)
    return (2 * members + len(outside) - len(inside)) / (len(inside) + len(outside))


def _found_at(rate: float, false_alarms: Reals, found: Reals, strangers: int) -> float | None:
    """The share of members found at no more than this rate of false alarms; None if one stranger is more than that."""
    if strangers * rate < 1:
        return None
    return float(found[false_alarms <= rate].max())


def _guesses(inside: Reals, outside: Reals, called: Callable[[int], str]) -> tuple[Guess, ...]:
    """Those who stand out most, each as likely a member as their score makes them; of equal scores by turns."""
    chances = calibrated(inside, outside)
    turns = np.concatenate([np.arange(len(inside)), np.arange(len(outside))])
    order = np.lexsort((turns, -np.concatenate([inside, outside])))
    return tuple(
        Guess(who=called(place), what="is a member", confidence=float(chances[place]), right=place < len(inside))
        for place in order[:MOST_GUESSES].tolist()
    )


def _numbered(members: int) -> Callable[[int], str]:
    """People called by their places."""
    return lambda place: f"member {place}" if place < members else f"stranger {place - members}"
