"""Guessing: what a private answer is worth to an attacker who asks whether something is so of one person.

Nobody can tell malicious questions from others, so all are answered, with noise that makes them worthless to one who
asks about one person: is their count 0 or 1? How worthless is a theorem. Let an attacker say "1" for the answers in a
set S, and let a and b be how often they do where 1 and where 0 is true.

*Bound.* For any ε-DP answer, a − b ≤ (e^ε − 1)/(e^ε + 1) = tanh(ε/2). By the definition for S, a − e^ε·b ≤ 0. By that
for its complement, 1 − b ≤ e^ε·(1 − a), so e^ε·a − b ≤ e^ε − 1. Added up, (1 + e^ε)(a − b) ≤ e^ε − 1.

*It is reached.* With discrete Laplace noise of scale 1/ε, say "1" for answers of 1 or more. Then a = Pr[noise ≥ 0] and
b = Pr[noise ≥ 1], so a − b = Pr[noise = 0] = (1 − q)/(1 + q) with q = e^(−ε), which is the bound. If both are equally
likely beforehand, an attacker who says so is right with probability (1 + tanh(ε/2))/2 = e^ε/(e^ε + 1), over all
answers.

*Other odds.* If 1 has the probability π beforehand, an attacker is right with π·a + (1 − π)·(1 − b). By the same two
inequalities, which have the corners (0, 0), (1, 1) and (e^ε, 1)/(e^ε + 1), that is at most the largest of π, 1 − π and
e^ε/(e^ε + 1). So where one side is the likelier by more than e^ε to 1, nobody does better than by ignoring the answer.

*Members of a study.* Let members be drawn, and strangers from the people who are left, all such draws alike. It doesn't
matter whose table it is, or whether its people depend on one another. A rule says "member" by a person's data, by what
is published, and by what stays the same if a member and a stranger change places: who the others are, which values
there are, the list of all members and strangers, without saying who is which. The publication is ε-DP. Then, on average
over the draw and the noise,

    Pr["member" | member] − Pr["member" | stranger] ≤ b,

where b = (e^ε − 1)/(e^ε + 1) if neighbours are tables in which a person is replaced by another, and b = 1 − e^(−ε) if
they are tables one of which has a person more.

*Proof.* Draw a member i and a stranger j as well. The draw in which they have changed places is as likely as the draw
in which they haven't. So the stranger is called a member as often, on average, as i is where j is in the table in place
of i. Let the rule say "member" of i with probability m for the table with i, and s for the one with j instead; nothing
else that it goes by differs. If these tables are neighbours, m − s ≤ (e^ε − 1)/(e^ε + 1) by the bound above. Else both
are neighbours of the table with neither of the two; for that let the probability be c. Then 1 − m ≥ e^(−ε)·(1 − c) and
s ≥ e^(−ε)·c, so that m − s ≤ 1 − e^(−ε). This is less than the first bound is for 2ε, which is what replacing costs;
and it is reached, by discrete Laplace noise of scale 1/ε in a sum to which each person adds 1 or −1.

A member has the higher score than a stranger, ties counting half, with probability (1 + b)/2 at most: apply the
same to whether i scores higher than j. All this holds on average. In a single trial the measured difference strays by
about 1/√n, and the best of all thresholds, chosen when the scores are known, isn't a rule that was fixed beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import expm1, isfinite, tanh

from discreet.attacks.attack_result import AttackResult, Guess, surest
from discreet.attacks.targets.answering import Answering, Reply
from discreet.errors import InvalidArgument, NotTried
from discreet.exact.rational import Rationalizable, positive
from discreet.privacy import Adjacency


def most_advantage(epsilon: Rationalizable) -> float:
    """The most by which an attacker says yes oftener where it is true than where it isn't: (e^ε − 1)/(e^ε + 1).

    It holds for every attack on an answer that is ε-DP for the two tables to tell apart, whatever else the
    attacker knows. It is rounded to the nearest float.

    Args:
        epsilon: above 0.

    Raises:
        InvalidArgument: ε isn't above 0.

    Examples:
        >>> round(most_advantage("0.1"), 4), round(most_advantage(1), 3), round(most_advantage(10), 4)
        (0.05, 0.462, 0.9999)
    """
    return tanh(float(positive(epsilon, "epsilon")) / 2)


def most_lead(epsilon: Rationalizable, adjacency: Adjacency) -> float:
    """The most by which members are called members oftener than strangers are, on average: b, proved above.

    It is rounded to the nearest float.

    Args:
        epsilon: above 0.
        adjacency: for which neighbours it holds.

    Raises:
        InvalidArgument: ε isn't above 0.

    Examples:
        >>> from discreet.privacy import ADD_REMOVE, SUBSTITUTION
        >>> round(most_lead(1, SUBSTITUTION), 3), round(most_lead(1, ADD_REMOVE), 3)
        (0.462, 0.632)
    """
    match adjacency:
        case Adjacency.SUBSTITUTION:
            return most_advantage(epsilon)
        case Adjacency.ADD_REMOVE:
            return -expm1(-float(positive(epsilon, "epsilon")))


def most_often_right(epsilon: Rationalizable, prior: float = 0.5) -> float:
    """How often a guess of yes or no can be right at most, after an ε-DP answer, by what was known before.

    It is e^ε/(e^ε + 1), or what guessing without the answer comes to, if that is more. Rounded to the nearest float.

    Args:
        epsilon: above 0; of everything that was answered about the person.
        prior: how likely "yes" is for the attacker before the answer, in [0, 1].

    Raises:
        InvalidArgument: ε isn't above 0, or the prior isn't a probability.

    Examples:
        >>> round(most_often_right("0.1"), 3), most_often_right("0.1", prior=0.9)
        (0.525, 0.9)
    """
    if not 0 <= prior <= 1:
        raise InvalidArgument("a prior must be from 0 to 1")
    return max((1 + most_advantage(epsilon)) / 2, prior, 1 - prior)


def advantage_of(reply: Reply) -> float | None:
    """The same of one reply: 1 of an exact one; None where no ε bounds it, or what is wrong with it is unknown.

    Examples:
        >>> round(advantage_of(Reply(value=1, deviation=1.4, epsilon=1.0)), 3)
        0.462
    """
    if reply.deviation == 0:
        return 1.0
    return most_advantage(reply.epsilon) if reply.epsilon > 0 and isfinite(reply.epsilon) else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GuessingResult(AttackResult):
    """The worth of one answer to an attacker who asks about one person.

    Args:
        answer: what came back; None if it was refused, or several were asked about.
        truth: whether it is so; None if it is unknown, or several were asked about.
        epsilon: what the answers cost.
        advantage: the most by which any attacker could say "1" oftener where it is true; None where no ε bounds it.
        says: what the attacker says; None if several were asked about.
    """

    answer: float | None
    truth: bool | None
    epsilon: float
    advantage: float | None
    says: bool | None


def guessing(target: Answering, condition: str, *, who: str, truth: bool | None = None) -> GuessingResult:
    """Ask how many people meet a condition that at most one can meet, and say whether they do.

    How sure the guess is holds for an attacker to whom both were equally likely beforehand, over all answers there
    might have been; `most_often_right` says what others can reach.

    Args:
        target: answers the questions.
        condition: in SQL, such as `name = 'Karrie Trusslove' AND income > 50000`.
        who: the person, in words.
        truth: whether they meet it, where that is known.

    Raises:
        QueryError: the question isn't one that the target answers.
        NotTried: the target refuses it, so that there is nothing to guess by.

    Examples:
        >>> from discreet.attacks.targets import Bare, Exact
        >>> staff = Exact({"name": ["Ada", "Bob"], "pay": [70, 56]}, name="staff")
        >>> guessing(staff, "name = 'Bob' AND pay > 50", who="Bob", truth=True).says
        True
        >>> found = guessing(Bare(staff, epsilon="0.1"), "name = 'Bob' AND pay > 50", who="Bob", truth=True)
        >>> round(found.advantage, 3), round(found.guesses[0].confidence, 3)
        (0.05, 0.525)
    """
    reply = target.aggregate(target.counting, condition)
    if reply.value is None:
        raise NotTried("the question was refused", hint="a larger budget, or a smaller offer")
    says = reply.value >= 1 if reply.deviation else reply.value > 0
    advantage = advantage_of(reply)
    right = None if truth is None else says == truth
    sure = 0.5 if advantage is None else (1 + advantage) / 2
    return GuessingResult(
        attack="guessing",
        against=target.against,
        tried=1,
        success=None if right is None else float(right),
        baseline=0.5,
        baseline_is="a coin toss, both being equally likely beforehand",
        guesses=(Guess(who=who, what=condition if says else f"not {condition}", confidence=sure, right=right),),
        answer=reply.value,
        truth=truth,
        epsilon=reply.epsilon,
        advantage=advantage,
        says=says,
    )


def guessing_each(target: Answering, asked: Iterable[tuple[str, str, bool]]) -> GuessingResult:
    """The same about one person after the other, until a question is refused: one guess alone is right by luck.

    Args:
        target: answers the questions.
        asked: for each person what they are called, the condition in SQL, and whether they meet it.

    Raises:
        QueryError: a question isn't one that the target answers.
        NotTried: the first question is refused, or there is none.

    Examples:
        >>> from discreet.attacks.targets import Exact
        >>> staff = Exact({"name": ["Ada", "Bob"], "pay": [70, 56]}, name="staff")
        >>> asked = [("Ada", "name = 'Ada' AND pay > 60", True), ("Bob", "name = 'Bob' AND pay > 60", False)]
        >>> found = guessing_each(staff, asked)
        >>> found.tried, found.success
        (2, 1.0)
    """
    results: list[GuessingResult] = []
    for who, condition, truth in asked:
        try:
            results.append(guessing(target, condition, who=who, truth=truth))
        except NotTried:
            if not results:
                raise
            break
    if not results:
        raise NotTried("there is nobody to ask about")
    advantages = [result.advantage for result in results if result.advantage is not None]
    return replace(
        results[0],
        tried=len(results),
        success=sum(result.says == result.truth for result in results) / len(results),
        guesses=surest(guess for result in results for guess in result.guesses),
        answer=None,
        truth=None,
        epsilon=sum(result.epsilon for result in results),
        advantage=max(advantages) if len(advantages) == len(results) else None,
        says=None,
    )
