"""Calibration: scores of members and strangers, turned into probabilities.

A score says who is the likelier member, not how likely: it adds up evidence that partly says the same, and so
overstates it. Platt's way turns scores into probabilities: the curve 1/(1 + e^(−a − b·score)) is fitted to whom attacks
such as this one were right about, by maximum likelihood, with each side's targets drawn in from 1 and 0 as if one
person of either kind had been seen before. So where scores say nothing, everyone is as likely a member as members are
common; and nobody is called a member for sure after a few tries. The curve doesn't fall: an attacker doesn't believe
that the lower score is the member's.

Source: Platt (1999), "Probabilistic outputs for support vector machines and comparisons to regularized likelihood
methods", the section on its targets and the algorithm that fits them; Lin, Lin, Weng (2007), "A note on Platt's
probabilistic outputs for support vector machines", Algorithm 1, Newton's method with shortened steps.
"""

from __future__ import annotations

import numpy as np

from discreet.anonymity.columns import Reals, Whole

_STEPS = 100

_SHORTEST = 2.0**-20
"""The shortest part of a Newton step that is tried before the fit is taken for done."""


def calibrated(inside: Reals, outside: Reals) -> Reals:
    """How probable it is that each person is a member, by their score.

    Args:
        inside: the scores of members; one or more, finite.
        outside: of strangers; one or more, finite.

    Returns:
        For each member, and then each stranger, a probability in (0, 1) that doesn't fall as scores grow: equal scores
        have one probability, and the order of people makes no difference.

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
    """The probabilities with these log odds."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -logits)), dtype=np.float64)


def _loss(weights: Reals, scores: Reals, people: Whole, targets: Reals) -> float:
    """The negative logarithm of the likelihood of the targets."""
    logits = weights[0] + weights[1] * scores
    return float((people * (np.logaddexp(0.0, logits) - targets * logits)).sum())
