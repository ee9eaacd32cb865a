"""Presence: is a person who did a few things in the data at all? Answers have no rows to link, but can tell that.

Few people do the same eight things on about the same days, so "how many people did most of these?" is answered
by 1 if the target is in the data, and by 0 if not. Where that alone is secret, as of a clinic's patients, it is all the
attacker wants.

*Bound.* Where people are the unit, data with and without the target are neighbours. So the bound that is proved in
`discreet.attacks.answers.guessing` holds for each ε-DP answer: people who are in are called in oftener than others by
at most (e^ε − 1)/(e^ε + 1), and of as many of both, a rule is right in (1 + that)/2 of cases at most, on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.records import Records, read
from discreet.attacks.answers.guessing import advantage_of
from discreet.attacks.attack_result import AttackResult, Guess, surest
from discreet.attacks.naming import shown
from discreet.attacks.rows.nearness import Near
from discreet.attacks.rows.sparse import Log, guessed_log
from discreet.attacks.targets.answering import Answering, Reply
from discreet.attacks.targets.sql_conditions import quoted, where
from discreet.errors import InvalidArgument, NotTried

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.anonymity.columns import Value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PresenceResult(AttackResult):
    """The people who seem to be in the data.

    Args:
        targets: how many people there were to ask about; `tried` is how many of them the budget lasted for.
        known: mean number of things known of a target.
        said: how many of those who were tried are said to be in the data.
        epsilon: what the answers cost together.
        advantage: the most by which those who are in can be said to be in oftener than the others, on average; None
            where no ε bounds it.
    """

    targets: int
    known: float
    said: int
    epsilon: float
    advantage: float | None


def presence(  # noqa: PLR0913 — who is asked, what is known and how well, each by name
    target: Answering,
    known: object,
    *,
    log: Log | None = None,
    near_value: float = 1.0,
    near_days: float = 30.0,
    enough: float = 0.5,
    inside: Sequence[Value] | None = None,
) -> PresenceResult:
    """Ask for each target how many people did enough of what is known of them, and say who is in the data.

    Args:
        target: who is asked; about a long table, one row per person and thing. If it counts units,
            these are the persons.
        known: what targets did, one row per thing; persons are targets.
        log: what the columns of both are called; `person`, `item`, and `value` and `date` if there are such columns, if
            left out.
        near_value: how far a value may be off; 0 or more.
        near_days: how far a date may be off, in days; 0 or more.
        enough: which share of the known things a person must have done to count; in (0, 1].
        inside: the targets who are in the data, where that is known, to score by.

    Raises:
        QueryError: the question isn't one that the target answers.
        InvalidArgument: there are no targets, or an argument is out of range.
        NotTried: the budget doesn't last for one target.
        SchemaMismatch: what is known lacks a column.

    Source: Narayanan, Shmatikov (2008), "Robust de-anonymization of large sparse datasets", section 4, its model of
    what an adversary knows; here put as a question.

    Examples:
        >>> from discreet.attacks.targets import Exact
        >>> done = Exact({"person": [1, 1, 2, 2], "item": ["A", "C", "B", "C"]}, name="done")
        >>> heard = {"person": ["Ann", "Ann", "Bob", "Bob"], "item": ["A", "C", "A", "D"]}
        >>> found = presence(done, heard, enough=1, inside=["Ann"])
        >>> print(found.guesses[0], found.guesses[1], sep="; ")
        Ann: is in the data, 100 % sure, right; Bob: is not in the data, 100 % sure, right
    """
    heard = read(known)
    if not (heard.rows and near_value >= 0 and near_days >= 0 and 0 < enough <= 1):
        raise InvalidArgument("presence takes targets, distances of 0 or more, and a share above 0 and at most 1")
    names = log or guessed_log(heard)
    things = _things(heard, names, near_value, near_days)
    labels, codes = heard.column(names.person).labels(), heard.column(names.person).codes
    replies: list[Reply] = []
    for place in range(len(labels)):
        did = [things[row] for row in np.flatnonzero(codes == place).tolist()]
        reply = target.ask(_question(target.table, target.unit or names.person, did, ceil(round(enough * len(did), 9))))
        if reply.value is None:
            break
        replies.append(reply)
    if not replies:
        raise NotTried("the budget doesn't last for one target", hint="offer less per question")
    says = [float(reply.value or 0) >= 1 for reply in replies]  # whole numbers: nearer to 1 than to 0
    present = None if inside is None else set(inside)
    truth = None if present is None else [label in present for label in labels[: len(replies)]]
    advantages = [advantage_of(reply) for reply in replies]
    told = [each for each in advantages if each is not None]
    return PresenceResult(
        attack="presence",
        against=target.against,
        tried=len(replies),
        success=None if truth is None else float(np.mean(np.equal(says, truth))),
        baseline=None if truth is None else max(truth.count(True), truth.count(False)) / len(truth),
        baseline_is="the same answer for everyone",
        guesses=surest(
            Guess(
                who=shown(label),
                what="is in the data" if said else "is not in the data",
                confidence=(1 + (advantages[place] or 0.0)) / 2,
                right=None if truth is None else said == truth[place],
            )
            for place, (label, said) in enumerate(zip(labels, says, strict=False))  # the budget may end before them
        ),
        targets=len(labels),
        known=heard.rows / len(labels),
        said=sum(says),
        epsilon=sum(reply.epsilon for reply in replies),
        advantage=max(told) if len(told) == len(replies) else None,
    )


def _things(heard: Records, names: Log, near_value: float, near_days: float) -> list[str]:
    """For each known thing, the condition on a row that may be about it."""
    ways = [(names.item, None), (names.value, Near(within=near_value)), (names.date, Near(within=near_days))]
    columns = [(heard.column(name), how) for name, how in ways if name]
    asked = [(column, column.labels() if how is None else how.around(column)) for column, how in columns]
    return [
        where({column.name: conditions[int(column.codes[row])] for column, conditions in asked})
        for row in range(heard.rows)
    ]


def _question(table: str, person: str, things: Sequence[str], least: int) -> str:
    """The question: how many people did at least this many of these things."""
    who, did = quoted(person), " OR ".join(f"({each})" for each in things)
    doers = f"SELECT {who} FROM {quoted(table)} WHERE {did} GROUP BY {who} HAVING COUNT(*) >= {least}"  # noqa: S608 — an attacker words their question freely
    return f"SELECT COUNT(DISTINCT {who}) AS value FROM ({doers}) AS doers"  # noqa: S608 — as above
