"""Tallies of answers: sensitive values are learnt by counts, kind of people by kind of people.

An attacker who takes noise at its word does worse than one who asks nothing and always guesses the commonest value. So
an attacker weighs an answer against what they knew before: that of m people of one kind, about a share p_v each has
value v, and that kinds may differ widely from each other and from everyone.

*Model.* The rate of value v among people of a kind is drawn from a gamma law of shape p_v and mean m·p_v, and the count
n_v of such people from a Poisson law of that rate. That makes n_v negative binomial,

    Pr[n_v = n] = Γ(n + p_v)/(Γ(p_v)·n!) · q^n · (1 − q)^(p_v),  q = m/(m + 1),

and a kind's shares Dirichlet with concentration 1: they may be anything, most likely mostly one value. m is one of the
powers of two from 1 to the number of all rows. How often it is which is found from the answers about all kinds, as what
makes them likeliest, by expectation and maximisation; a size is let in only if that gains more than its price by the
Bayesian information criterion, ½·ln(kinds) for each of two numbers, since noise looks like large kinds now and then. An
answer is n_v plus discrete Laplace noise. The result is E[n_v | all answers].

Without noise that is the answer itself. The more noise, the nearer it comes to the common shares, so that then the
commonest value is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import asinh, ceil, floor, lgamma, log, log2, sqrt

import numpy as np

from discreet.anonymity.columns import Reals, Value, Whole
from discreet.anonymity.grouping import group
from discreet.anonymity.records import Records
from discreet.attacks.targets.answering import Answering, Histogram
from discreet.attacks.targets.candidates import Tally
from discreet.attacks.targets.rows import On, paired
from discreet.errors import InvalidArgument, NotTried

_FAR = 30
"""Logarithms: noise that is so much rarer than none is left out."""
_LEAST = 1e-12
"""A deviation below this counts as none."""
_FAINT = 1e-300
"""The weight of what would vanish."""
_STEPS = 50
"""Steps that find out how large kinds are; more gain little beside what isn't known at all."""


def believed(answers: Reals, deviation: float, common: Reals, people: float) -> Reals:
    """The expected counts of people of each kind with each value: kinds × values.

    Args:
        answers: how many have each value, with discrete Laplace noise: kinds × values.
        deviation: the standard deviation of that; 0 if they are exact.
        common: for each value, which share of everyone has it; above 0.
        people: how many there are in all; 1 or more.

    Examples:
        >>> common = np.array([0.7, 0.2, 0.1])
        >>> believed(np.array([[0.0, 1.0, 0.0]]), 0.0, common, 1000).tolist()
        [[0.0, 1.0, 0.0]]
        >>> [believed(np.array([[3.0, n, -9.0]]), 14.1, common, 1000).round(1).tolist() for n in (15.0, 150.0)]
        [[[2.4, 1.3, 0.3]], [[7.1, 147.3, 0.9]]]
    """
    if deviation < _LEAST or not len(answers):
        return np.maximum(answers, 0.0)
    rarer = -2 * asinh(1 / (sqrt(2) * deviation))  # its q solves 2q/(1 − q)² = deviation²
    sizes = np.exp2(np.arange(ceil(log2(max(people, 1.0))) + 1, dtype=np.float64))
    told = [
        [_given(float(answer), rarer, float(share), sizes) for answer, share in zip(kind, common, strict=True)]
        for kind in answers
    ]
    evidence = np.array([np.sum([logs for logs, _ in kind], axis=0) for kind in told])
    means = np.array([[mean for _, mean in kind] for kind in told])
    return np.asarray(np.einsum("km,kvm->kv", _how_large(evidence), means))


def _how_large(evidence: Reals) -> Reals:
    """For each kind, how likely it is of each size: kinds × sizes.

    Args:
        evidence: the logarithm of how likely the answers about a kind are, if it is of a size.
    """
    price, places = log(len(evidence)), range(evidence.shape[1])
    chosen = [int(evidence.sum(axis=0).argmax())]
    likelihood, weights = _fitted(evidence, chosen)
    while len(chosen) < len(places):
        tries = [(*_fitted(evidence, [*chosen, place]), place) for place in places if place not in chosen]
        gained, better, place = max(tries, key=lambda tried: tried[0])
        if gained <= likelihood + price:
            break
        likelihood, weights = gained, better
        chosen.append(place)
    return weights


def _fitted(evidence: Reals, chosen: Sequence[int]) -> tuple[float, Reals]:
    """The logarithm of how likely all answers are, if only these sizes occur, as often as fits best; and see above."""
    top = evidence.max(axis=1, keepdims=True)
    belief = np.maximum(np.exp(evidence[:, chosen] - top), _FAINT)
    how_often = np.full(len(chosen), 1 / len(chosen))
    for _ in range(_STEPS):
        weights = belief * how_often
        total = weights.sum(axis=1, keepdims=True)
        how_often = (weights / total).mean(axis=0)
    found = np.zeros(evidence.shape)
    found[:, chosen] = weights / total
    return float((np.log(total) + top).sum()), found


def _given(answer: float, rarer: float, share: float, sizes: Reals) -> tuple[Reals, Reals]:
    """For each size that a kind may have: the logarithm of how likely the answer is, and the expected count.

    Args:
        answer: about one value.
        rarer: the logarithm of the factor by which noise gets rarer with each step.
        share: how common the value is.
        sizes: m.
    """
    far = ceil(_FAR / -rarer)
    first = max(floor(answer) - far, 0)
    counts = np.arange(first, max(ceil(answer), 0) + far + 1, dtype=np.float64)
    ways = np.log((counts[1:] - 1 + share) / counts[1:]) if len(counts) > 1 else np.zeros(0)
    start = lgamma(first + share) - lgamma(share) - lgamma(first + 1)
    logs = start + np.concatenate(([0.0], np.cumsum(ways))) + rarer * np.abs(counts - answer)
    each = logs + counts * np.log(sizes / (sizes + 1))[:, np.newaxis] - share * np.log(sizes + 1)[:, np.newaxis]
    top = each.max(axis=1, keepdims=True)
    weights = np.exp(each - top)
    total = weights.sum(axis=1)
    return np.asarray(top[:, 0] + np.log(total)), np.asarray((weights * counts).sum(axis=1) / total)


def see(  # noqa: PLR0913 — who is asked, about whom, by what and for what, each by name
    target: Answering,
    known: Records,
    on: On,
    sensitive: str,
    labels: Sequence[Value] | None = None,
    *,
    asked: Sequence[object] | None = None,
    near: Mapping[str, Sequence[object]] | None = None,
) -> Tally:
    """Ask for each kind of known people, and for each sensitive value, how many people have both, by the same row.

    Through the gateway that is one question for each kind, since no row has two values, and one about everyone. Where
    someone may have several values, a second one about everyone asks how many people there are. If answers are exact
    that is asked of each kind, too; through noise its people are taken to have as many values each as everyone has. An
    answer with noise counts as what is to be expected given it, see `believed`. A kind is seen if all that was asked
    about it was answered; the others' people are of kind −1. Nothing more is asked once the budget refuses.

    Args:
        target: what answers.
        known: what is known of people, one row each; also which values the sensitive column can have, if it has one.
        on: by which columns.
        sensitive: the column.
        labels: its values, where what is known doesn't have them.
        asked: of each of these, what is asked for in its place, as `where` takes it.
        near: column → of each of its different values, in their order, the condition that is asked for in its place,
            as `where` takes it.

    Raises:
        InvalidArgument: nothing says which values the sensitive column can have.
        NotTried: not one kind was answered.

    Examples:
        >>> from discreet.anonymity import read
        >>> from discreet.attacks.targets.exact_answers import Exact
        >>> exact = Exact({"age": [25, 25, 31], "ill": ["flu", "cold", "flu"]})
        >>> seen = see(exact, read({"age": [31, 25]}), ["age"], "ill", ["cold", "flu"])
        >>> seen.of_person.tolist(), seen.counts.tolist(), seen.values.tolist()
        ([0, 1], [1.0, 1.0, 1.0], [1, 0, 1])
    """
    if labels is None:
        if sensitive not in known.names:
            raise InvalidArgument(f"which values {sensitive!r} can have must be known", hint="hand in labels=[…]")
        labels = known.column(sensitive).labels()
    pairs = paired(on)
    columns = [known.column(name) for name in pairs]
    kinds = group([column.codes for column in columns], [column.size for column in columns])
    values = [(near or {}).get(column.name, column.labels()) for column in columns]
    of_person = kinds.of_row()
    firsts = np.unique(of_person, return_index=True)[1]
    order = np.argsort(firsts)  # in the order of the people, so that whom the budget lasts for isn't a matter of values
    sought = labels if asked is None else asked
    everybody = target.by_value(sensitive, sought, {})
    people = target.count({}).value if target.overlaps else None
    most, common = _common(everybody, len(labels), people)
    answers: list[list[float]] = []
    among: list[float] = []
    deviation = 0.0
    for codes in [] if everybody.refusal else kinds.tuples()[order].tolist():
        where = {name: labelled[code] for name, labelled, code in zip(pairs.values(), values, codes, strict=True)}
        told = target.by_value(sensitive, sought, where)
        if told.refusal:
            break
        deviation = told.deviation or 0.0
        answers.append([told.counts[place,] for place in range(len(labels))])
        if target.overlaps and not deviation:
            among.append(target.count(where).value or 0.0)
    if not answers:
        raise NotTried("the budget doesn't last for one person", hint="offer less per question")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    counts = believed(np.array(answers, dtype=np.float64), deviation, common, most)
    tally = _tallied(counts, place[of_person], sensitive, (tuple(labels), common))
    if not target.overlaps:
        return tally
    there = np.array(among) if among else counts.sum(axis=1) / max(float(common.sum()), 1.0)
    return replace(tally, among=np.maximum(there, counts.max(axis=1)), noisy=deviation > 0)


def _common(everybody: Histogram, values: int, people: float | None) -> tuple[float, Reals]:
    """How many people there seem to be, and which share of them has each value: half a person's at least.

    Args:
        everybody: how many have each value.
        values: how many values there are.
        people: how many people there are, where someone may have several values; else None.
    """
    some = np.array([max(everybody.counts.get((place,), 0.0), 0.5) for place in range(values)])
    most = float(some.sum() if people is None else max(people, some.max()))
    return most, some / most


def _tallied(counts: Reals, of_person: Whole, sensitive: str, seen: tuple[tuple[Value, ...], Reals]) -> Tally:
    """Answers as a tally, of values that were seen in such shares."""
    kind, value = np.nonzero(counts)
    labels, common = seen
    return Tally(
        sensitive=sensitive,
        labels=labels,
        of_person=np.where(of_person < len(counts), of_person, -1),
        starts=np.searchsorted(kind, np.arange(len(counts) + 1)),
        values=value,
        counts=counts[kind, value],
        priors=common,
    )
