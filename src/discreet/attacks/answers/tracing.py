"""Tracing: was somebody among the people whose shares were published? And how well scores tell members from strangers.

The published numbers are the shares q of people who have each of d attributes. The attacker knows everything about
whom they ask, x, and roughly how common each attribute is, p. The score is ⟨x − p, q − p⟩: a member pulled each q_j
towards their x_j by 1/n, which is little, but d times. With attributes alike and p well known, scores of members and
strangers are about normal, √(d/n) standard deviations apart, so nothing stays hidden once d is well above n. Where p is
taken from as many other people, they are √(d/2n) apart. For the columns of a table, `discreet.attacks.answers.study`
has a score.

Counts of d attributes move by at most 1 each, so by d in all, whether a person is replaced, added or removed; discrete
Laplace noise of scale d/ε makes all of them ε-DP together. What that allows an attacker at the most is proved in
`discreet.attacks.answers.guessing`.

*Probabilities.* A score says who is the likelier member, not how likely: it adds up evidence that says the same in
part, and so it says too much. Platt's way turns scores into probabilities: the curve 1/(1 + e^(−a − b·score)) is fitted
to whom attacks such as this one were right about, by maximum likelihood, with each side's targets drawn in from 1 and 0
as if one person of either kind had been seen before. So where scores tell nothing, everybody is as likely a member as
members are common; and nobody is called a member for sure after a few tries. The curve doesn't fall: an attacker
doesn't believe that the lower score is the member's.

Source: Dwork, Smith, Steinke, Ullman, Vadhan (2015), "Robust Traceability from Trace Amounts", the algorithm that adds
up a score, after an idea of Homer and others (2008); Platt (1999), "Probabilistic outputs for support vector machines
and comparisons to regularized likelihood methods", the section on its targets and the algorithm that fits them; Lin,
Lin, Weng (2007), "A note on Platt's probabilistic outputs for support vector machines", Algorithm 1, Newton's method
with shortened steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Mask, Reals, Whole
from discreet.attacks.answers.guessing import most_lead
from discreet.attacks.attack_result import MOST_GUESSES, AttackResult, Guess
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.noise import discrete_laplace, uniform
from discreet.privacy import SUBSTITUTION, Adjacency

_FINE = 1 << 30
"""Uniform reals are made of so many equal steps."""


def tracing(  # noqa: PLR0913 — what is published, of whom, and how, each by name
    shares: Reals,
    *,
    members: Mask,
    strangers: Mask,
    reference: Reals,
    epsilon: Rationalizable | None = None,
    adjacency: Adjacency = SUBSTITUTION,
) -> TracingResult:
    """Tell members from strangers by published shares.

    Args:
        shares: q: of each attribute, the published share of members who have it.
        members: people × attributes: who is in the table.
        strangers: people × attributes: who isn't.
        reference: p: of each attribute, how common it is, as the attacker knows it.
        epsilon: with which all shares together were published; None if they are exact.
        adjacency: for which neighbours they were.

    Raises:
        InvalidArgument: shapes don't fit together, or ε isn't above 0.

    Examples:
        >>> members = np.array([[True, True, False, True]])
        >>> tracing(np.array([1.0, 1.0, 0.0, 1.0]), members=members, strangers=~members, reference=np.full(4, 0.5)).auc
        1.0
    """
    wide = len(reference)
    fits = members.ndim == strangers.ndim == 2 and members.shape[1] == strangers.shape[1] == len(shares) == wide  # noqa: PLR2004 — people and attributes
    if not fits or not len(members) or not len(strangers) or not wide:
        raise InvalidArgument("tracing takes one share and one reference per attribute, members and strangers")
    exact = None if epsilon is None else positive(epsilon, "epsilon")
    return told_apart(
        scores(members, shares, reference),
        scores(strangers, shares, reference),
        attributes=wide,
        against=f"shares of {wide:,} attributes" + ("" if exact is None else f" at ε = {float(exact):.4g} together"),
        epsilon=exact,
        adjacency=adjacency,
    )


def made_up_tracing(
    *,
    people: int = 100,
    attributes: int = 1000,
    strangers: int = 100,
    epsilon: Rationalizable | None = None,
) -> TracingResult:
    """Trace people who were made up: each attribute by a coin of its own, between one in ten and nine in ten.

    The attacker takes how common attributes are from as many other people as are in the table. With 100 people, a
    member has a higher score than a stranger in about 68 % of cases by 100 attributes, 94 % by 1,000, and nearly always
    by 10,000; if all shares together are published at ε = 1, in little more than half.

    Args:
        people: members, and as many whom the reference is taken from; 1 or more.
        attributes: 1 or more.
        strangers: 1 or more.
        epsilon: for all shares together; None to publish them exactly.

    Raises:
        InvalidArgument: an argument is out of range.

    Examples:
        >>> made_up_tracing(people=20, attributes=2000).auc > 0.9
        True
    """
    if min(people, attributes, strangers) < 1:
        raise InvalidArgument("tracing takes one member, stranger and attribute or more")
    common = 0.1 + 0.8 * _reals((attributes,))
    members, others, known = (_reals((size, attributes)) < common for size in (people, strangers, people))
    counts = members.sum(axis=0).astype(np.float64)
    if epsilon is not None:
        counts += discrete_laplace(attributes / positive(epsilon, "epsilon"), attributes)
    return tracing(counts / people, members=members, strangers=others, reference=known.mean(axis=0), epsilon=epsilon)


def scores(people: Mask, shares: Reals, reference: Reals) -> Reals:
    """⟨x − p, q − p⟩ of each person.

    Args:
        people: people × attributes.
        shares: q.
        reference: p.

    Examples:
        >>> scores(np.array([[True], [False]]), np.array([0.75]), np.array([0.5])).tolist()
        [0.125, -0.125]
    """
    return np.asarray((people - reference) @ (shares - reference), dtype=np.float64)


def _reals(shape: tuple[int, ...]) -> Reals:
    """Reals that are even over [0, 1)."""
    return np.asarray(uniform(_FINE, shape) / _FINE, dtype=np.float64)


LOW_RATES = (0.001, 0.01, 0.1)
"""Rates of false alarm at which it is told how many members are found."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TracingResult(AttackResult):
    """How well members are told from strangers.

    Success is that of an attacker who knows how many members there are, and calls as many people members, those with
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
        false_alarms: of each threshold, from strict to lax: the share of strangers called members.
        found: of each threshold, the share of members called members.
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
    """How well members are told from strangers by their scores.

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
        baseline_is="whoever draws as many by lot",
        guesses=_guesses(inside, outside, called or _numbered(len(inside))),
        people=len(inside),
        attributes=attributes,
        auc=_area(found, false_alarms),
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
    """The share of people who are rightly called, if as many as there are members are; of equal scores, by lot."""
    last = np.sort(np.concatenate([inside, outside]))[len(outside)]  # the lowest score that may be called a member
    (above, tied), (wrong, level) = (
        (int((part > last).sum()), int((part == last).sum())) for part in (inside, outside)
    )
    members = above + (len(inside) - above - wrong) * tied / (tied + level)
    return (2 * members + len(outside) - len(inside)) / (len(inside) + len(outside))


def _area(found: Reals, false_alarms: Reals) -> float:
    """The area under the curve, by trapezia: a tie counts half."""
    return float(np.sum(np.diff(false_alarms) * (found[1:] + found[:-1])) / 2)


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


# ── Scores as probabilities ───────────────────────────────────────────────────────────────────────────────────────────

_STEPS = 100
_SHORTEST = 2.0**-20
"""Of a Newton step, so much is tried at the least before the fit is taken for done."""


def calibrated(inside: Reals, outside: Reals) -> Reals:
    """How probable it is that each person is a member, by their score.

    Args:
        inside: the scores of members; one or more, finite.
        outside: of strangers; one or more, finite.

    Returns:
        Of each member, and then of each stranger, a probability in (0, 1) that doesn't fall as scores grow: equal
        scores have one probability, and the order of people makes no difference.

    Examples:
        >>> calibrated(np.array([3.0, 2.0]), np.array([2.0, 1.0])).round(2).tolist()
        [0.75, 0.5, 0.5, 0.25]
        >>> calibrated(np.array([1.0]), np.array([1.0])).tolist()
        [0.5, 0.5]
    """
    scores, places = np.unique(np.concatenate([inside, outside]), return_inverse=True)
    members, strangers = (np.bincount(part, minlength=len(scores)) for part in np.split(places, [len(inside)]))
    people = members + strangers
    right, wrong = (len(inside) + 1) / (len(inside) + 2), 1 / (len(outside) + 2)
    targets = (members * right + strangers * wrong) / people
    common = float((people * targets).sum() / people.sum())
    centred = scores - (people * scores).sum() / people.sum()
    deviation = float(np.sqrt((people * centred**2).sum() / people.sum()))
    if not deviation or (members * centred).sum() / len(inside) <= (strangers * centred).sum() / len(outside):
        return np.full(len(places), common)
    fitted = _fitted(centred / deviation, people, targets, common)
    # One probability for one score, and no less for a higher one, however the last digit was rounded.
    return np.asarray(np.maximum.accumulate(fitted)[places], dtype=np.float64)


def _fitted(scores: Reals, people: Whole, targets: Reals, common: float) -> Reals:
    """The likeliest curve at different scores: how many people have each, and how right one is about them."""
    weights = np.array([np.log(common / (1 - common)), 0.0])
    for _ in range(_STEPS):
        chances = _chances(weights[0] + weights[1] * scores)
        rest, curved = people * (targets - chances), people * chances * (1 - chances)
        slope = np.array([rest.sum(), (rest * scores).sum()])
        mixed = (curved * scores).sum()
        bend = np.array([[curved.sum(), mixed], [mixed, (curved * scores**2).sum()]])
        step = np.linalg.solve(bend + 1e-12 * np.eye(2), slope)
        length, now = 1.0, _loss(weights, scores, people, targets)
        while _loss(weights + length * step, scores, people, targets) > now and length > _SHORTEST:
            length /= 2
        if length <= _SHORTEST or np.abs(step).max() < 1e-9:  # noqa: PLR2004 — far below what is shown
            break
        weights = weights + length * step
    return _chances(weights[0] + weights[1] * scores)


def _chances(logits: Reals) -> Reals:
    """Of log odds, the probabilities."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -logits)), dtype=np.float64)


def _loss(weights: Reals, scores: Reals, people: Whole, targets: Reals) -> float:
    """The negative logarithm of the likelihood of the targets."""
    logits = weights[0] + weights[1] * scores
    return float((people * (np.logaddexp(0.0, logits) - targets * logits)).sum())
