"""Attacks on answers, and on what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from discreet.errors import NotTried
from discreet.interfaces.conformance.target import OK, Holder, Target
from discreet.interfaces.conformance.trial import Trial

CONNECTIONS = 64
"""How many at once."""

_PAID = {OK, 500}
_KEY = "Idempotency-Key"


def averaging(target: Target, trial: Trial) -> None:
    """The same question many times, in many spellings, by two analysts: a new value is paid for, or isn't given."""
    (question,) = target.questions(1)
    before = len(target.debits())
    first = target.rows(target.ask(question))
    for again in range(4):
        trial.check(
            target.rows(target.ask(question, headers=[("X-Request-Id", str(again))])) == first,
            "the same question got another answer",
        )
    values = {first}
    for spelling in _spellings(question):
        values.add(target.rows(target.ask(spelling)))
        paid = len(target.debits()) - before
        trial.check(len(values) <= paid, "a new value was given that nothing was charged for")
    trial.check(len(target.debits()) - before <= 1 + len(values), "a question answered before was charged again")
    others = [each for each in target.holders if each.role == "analyst"][1:]
    for other in others:
        paid = len(target.debits(other))
        value = target.rows(target.ask(question, other))
        trial.check(
            value in values or len(target.debits(other)) > paid,
            "another analyst got another value, which nothing was charged for",
        )


def _spellings(question: str) -> Sequence[str]:
    """The same question, said in other ways."""
    start, _, condition = question.partition(" WHERE ")
    return [
        question.replace(" ", "  ").replace("  WHERE", "\nWHERE"),
        question.replace("SELECT", "select").replace("WHERE", "where"),
        f"{question} ",
        f"{start} WHERE ({condition})",
        f"{start} WHERE {condition} AND {condition}",
        question.replace(" AS n", " AS m"),
        question.replace("COUNT(*)", "COUNT(1)"),
    ]


def differencing(target: Target, trial: Trial) -> None:
    """Overlapping questions whose exact answers are alike: each is paid for, and each has noise of its own."""
    questions = target.questions(5)
    before = len(target.debits())
    values = [target.rows(target.ask(each)) for each in questions]
    trial.check(
        len(target.debits()) - before == len(questions),
        "questions that overlap weren't all charged: differences are free",
    )
    # At ε ≤ 1/1000 two draws are alike with a chance of about ε/4, and five with one below 1e-14.
    trial.check(len(set(values)) > 1, "different questions have the same noise, so it falls out of differences")


def tracker(target: Target, trial: Trial) -> None:
    """Questions about nobody and about everyone: both are planned, charged and answered alike."""
    everybody = target.questions(3)
    nobody = [each.replace(" NOT LIKE ", " LIKE ").replace(" <> ", " = ") for each in everybody]
    plans = [target.plan(each) for each in (*everybody, *nobody)]
    trial.check({each.status for each in plans} == {OK}, "a plan depends on how many are selected")
    told = {
        tuple(str(each.data.get(name)) for name in ("cost", "step", "expected")) for each in plans if each.status == OK
    }
    trial.check(len(told) == 1, "cost, release time or error depends on how many are selected")
    replies = [target.ask(each) for each in nobody]
    target.rows(target.ask(everybody[0]))
    for reply in replies:
        trial.check(
            reply.status in _PAID and reply.code in {"", "question_failed"},
            "a question about few is refused, so answers that are given say how many there are",
        )
    answered = [each for each in replies if each.status == OK]
    values = [target.rows(each) for each in answered]
    trial.check(len(values) < len(nobody) or len(set(values)) > 1, "questions about nobody all get the same value")


def races(target: Target, trial: Trial) -> None:
    """Many connections at once: the same question is paid once, and the last of a share isn't passed."""
    (question,) = target.questions(1)
    before = len(target.debits())
    replies = target.at_once([partial(target.ask, question)] * CONNECTIONS)
    given = {target.rows(each) for each in replies if each.status == OK}
    failed = any(each.status != OK for each in replies)
    paid = len(target.debits()) - before
    trial.check(len(given) <= 1, f"{CONNECTIONS} connections at once got {len(given)} answers to one question")
    trial.check(failed or paid == 1, f"one question was charged {paid} times")
    for holder in (each for each in target.holders if each.role == "analyst"):
        left = _share(target, holder)
        offer = target.purse.left * Fraction(4, 5) / CONNECTIONS
        if left is not None and 0 < left < offer * CONNECTIONS / 4:
            _last_of(target, trial, holder, left, offer)
    _consistent(target, trial)


def _share(target: Target, holder: Holder) -> Fraction | None:
    """The rest of an analyst's share in ε; None if the server doesn't say."""
    left = target.spent(holder).get("remaining") or {}
    return Fraction(str(left["epsilon"])) if left.get("epsilon") is not None else None


def _last_of(target: Target, trial: Trial, holder: Holder, left: Fraction, offer: Fraction) -> None:
    """Ask more at once than is left, of questions that all differ."""
    questions = target.questions(CONNECTIONS)
    before = _total(target.paid(holder))
    target.at_once([partial(target.ask, each, holder, amount=offer) for each in questions])
    charged = _total(target.paid(holder)) - before
    rounding = Fraction(1, 10**12)  # what is left is written as a float
    trial.check(charged <= left + rounding, f"of a share with {float(left):.4g} left, {float(charged):.4g} was spent")


def _total(debits: Sequence[dict[str, object]]) -> Fraction:
    """The total cost of entries in ε."""
    return sum((Fraction(str(each["cost"]["epsilon"])) for each in debits), Fraction())  # type: ignore[index]  # JSON


def _consistent(target: Target, trial: Trial) -> None:
    """Check that the entries add up to the spent amount, if nothing was paid for between reading one and the other."""
    for holder in (each for each in target.holders if each.role == "analyst"):
        debits = target.paid(holder)
        spent = target.spent(holder)["spent"]["epsilon"]
        is_settled = len(target.paid(holder)) == len(debits)
        if is_settled and spent not in {None, "0"} and all(each["cost"].get("epsilon") for each in debits):
            trial.check(Fraction(spent) == _total(debits), "the amount spent isn't the sum of what the entries cost")


def idempotency(target: Target, trial: Trial) -> None:
    """Keys that are replayed, reused and stolen: never paid twice, never another's answer."""
    parameters = target.described()["paths"].get("/v1/answers", {}).get("post", {}).get("parameters", [])
    if all(each.get("name", "").lower() != _KEY.lower() for each in parameters):
        raise NotTried("the server takes no Idempotency-Key")
    question, other, third = target.questions(3)
    key = [(_KEY, f"conform-{target.number()}")]
    before = len(target.debits())
    replies = target.at_once([partial(target.ask, question, headers=key)] * 8)
    rows = {target.rows(each) for each in replies if each.status == OK}
    paid = len(target.debits()) - before
    trial.check(len(rows) <= 1, "a key that was replayed got several answers")
    trial.check(paid <= 1, f"a key that was replayed was charged {paid} times")
    changed = target.ask(other, headers=key)
    trial.check(changed.status != OK, "a key was taken for another plan")
    trial.check(len(target.debits()) - before <= 1, "a key that was reused was charged for")
    thief = target.second
    reply = target.ask(third, thief, headers=key)
    told = reply.code == changed.code or (reply.status == OK and target.rows(reply) in rows)
    trial.check(not told, "a stolen key shows that someone uses it, or gives another's answer")
    key = [(_KEY, f"conform-{target.number()}")]
    first = target.ask(question, headers=key)
    reply = target.ask(question, thief, headers=key)
    own = reply.status != OK or reply.data.get("id") != first.data.get("id")
    trial.check(own, "a stolen key gives another's answer by its name")


def swaps(target: Target, trial: Trial) -> None:
    """A digest of another plan, of another offer, or of none: nothing is run but the plan that was named."""
    schemas = target.described().get("components", {}).get("schemas", {})
    if not any(
        "digest" in each.get("properties", {}) and "question" in each["properties"] for each in schemas.values()
    ):
        raise NotTried("the server takes no digest of a plan beside a question")
    question, other = target.questions(2)
    dearer = target.plan(question, epsilon=str(target.offer * 2)).data["digest"]
    named = target.plan(other).data["digest"]
    before = len(target.debits())
    for digest in (named, dearer, "0" * 64, named.upper(), ""):
        reply = target.ask(question, digest=digest)
        trial.check(400 <= reply.status < 500, "a question was answered under another plan's digest")  # noqa: PLR2004 — HTTP's
    trial.check(len(target.debits()) == before, "a question under another plan's digest was charged for")
    reply = target.ask(question, digest=target.plan(question).data["digest"])
    trial.check(reply.status in _PAID, "a question under its own plan's digest was refused")
