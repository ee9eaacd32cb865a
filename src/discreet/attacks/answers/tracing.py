"""Tracing: was a given person among those whose shares were published?

The published numbers are the shares q of people who have each of d attributes. The attacker knows everything about
whom they ask, x, and roughly how common each attribute is, p. The score is ⟨x − p, q − p⟩: a member pulled each q_j
towards their x_j by 1/n, which is little, but d times. With attributes alike and p well known, scores of members and
strangers are about normal, √(d/n) standard deviations apart, so nothing stays hidden once d is well above n. Where p is
taken from as many other people, they are √(d/2n) apart. For the columns of a table, `discreet.attacks.answers.study`
has a score.

Counts of d attributes move by at most 1 each, so by d in all, whether a person is replaced, added or removed; discrete
Laplace noise of scale d/ε makes all of them ε-DP together. The most that this allows an attacker is proved in
`discreet.attacks.answers.guessing`.

Source: Dwork, Smith, Steinke, Ullman, Vadhan (2015), "Robust Traceability from Trace Amounts", the algorithm that adds
up a score, after an idea of Homer and others (2008).
"""

from __future__ import annotations

import numpy as np

from discreet.anonymity.columns import Mask, Reals
from discreet.attacks.answers.membership import TracingResult, told_apart
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.noise import discrete_laplace, uniform
from discreet.privacy import SUBSTITUTION, Adjacency

_FINE = 1 << 30
"""How many equal steps uniform reals have."""


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
        shares: q: for each attribute, the published share of members who have it.
        members: people × attributes: who is in the table.
        strangers: people × attributes: who isn't.
        reference: p: for each attribute, how common it is, as the attacker knows it.
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
