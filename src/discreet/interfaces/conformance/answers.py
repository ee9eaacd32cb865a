"""Attacks on answers, on what they cost, and on what a server tells without being asked.

By bytes and times, two servers whose tables differ by one person aren't told apart. Tokens and marked values of the
tables stand in no metric, log line or trace.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any

from discreet.errors import NotTried
from discreet.interfaces.conformance.target import OK, Holder, Target
from discreet.interfaces.conformance.trial import Reply, Trial

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
    trial.check(len(target.debits()) - before <= 1 + len(values), "what was answered before was charged again")
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
    """Questions about nobody and about everybody: both are planned, charged and answered alike."""
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
    """What is left of somebody's share, in ε; None if it isn't said."""
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
    """What entries cost in ε."""
    return sum((Fraction(str(each["cost"]["epsilon"])) for each in debits), Fraction())  # type: ignore[index]  # JSON


def _consistent(target: Target, trial: Trial) -> None:
    """What was spent is what the entries cost, where nothing was paid for between one look and the other."""
    for holder in (each for each in target.holders if each.role == "analyst"):
        debits = target.paid(holder)
        spent = target.spent(holder)["spent"]["epsilon"]
        is_settled = len(target.paid(holder)) == len(debits)
        if is_settled and spent not in {None, "0"} and all(each["cost"].get("epsilon") for each in debits):
            trial.check(Fraction(spent) == _total(debits), "what is said to be spent isn't what the entries cost")


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
    trial.check(not told, "a stolen key tells that somebody uses it, or gives another's answer")
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


# ── What is told besides ──────────────────────────────────────────────────────────────────────────────────────────────

FALSE_ALARM = 1e-9
"""The chance, at the most, that servers whose times are alike are told apart."""

DRAWS = 48
"""Times of each server for each kind of request: the fewest at which times that don't overlap are told apart."""

_NOISY = {
    "answered_by", "at", "budget", "certificate", "entry", "expires", "head", "id", "intervals", "made", "number",
    "own", "remaining", "remaining_after", "remaining_like_this", "reused", "rows", "signature", "spent",
    "text", "token",
}  # fmt: skip

_MARK = "conform-trace"
"""Stands in questions that are asked so that the server has something to write."""

_TRACES: Mapping[bytes, str] = MappingProxyType(
    {
        b"Traceback (most recent call last)": "a traceback",
        b"The above exception was the direct cause": "a chain of exceptions",
        b"During handling of the above exception": "a chain of exceptions",
        b"Exception ignored in": "an exception that nobody caught",
        b"Fatal Python error": "the stack of a process that crashed",
        b'(most recent call first):\n  File "': "the stack of a thread",
        b'HTTP/1.1" ': "a line of the web server's own log, with the address that was asked for",
        _MARK.encode(): "a question, or an address that was asked for",
    }
)
"""What a server writes that says more than it means to, by what it is known by."""


def said(target: Target, twin: Target, trial: Trial) -> None:
    """The same requests to both: the same statuses and bytes, but for noise and names."""
    question, other = target.questions(2)
    for body in (
        {"question": question, "epsilon": str(target.offer)},
        {"question": other, "epsilon": str(target.offer), "confidence": 0.9},
        {"question": question, "epsilon": "1e9"},
        {"question": question.replace("COUNT(*)", "MAX(1)"), "epsilon": "1/1000"},
        {"question": question.replace("COUNT(*)", "SUM(nope)"), "epsilon": "1/1000"},
        {"question": f"{question} AND 1/0 = 1", "epsilon": "1/1000"},
        {"question": f"{question} AND CAST('x' AS INTEGER) = 1", "epsilon": "1/1000"},
        {"question": "SELECT 1", "epsilon": "1/1000"},
        {"question": ""},
    ):
        first, second = (each.send("POST", "/v1/plans", each.analyst, body) for each in (target, twin))
        trial.check(_masked(first) == _masked(second), f"a plan or refusal differs: {first.status}, {second.status}")
    for path in ("/v1/dataset", "/v1/nothing", "/healthz", "/v1/answers/0"):
        first, second = (each.send("GET", path, each.analyst) for each in (target, twin))
        trial.check(_masked(first) == _masked(second), f"{path} differs")
    first, second = target.ask(question), twin.ask(question)
    trial.check(
        _masked(first) == _masked(second), f"an answer differs in more than noise: {first.status}, {second.status}"
    )


def _masked(reply: Reply) -> tuple[int, tuple[str, ...], str]:
    """What a reply says, without what is noise, and without what counts requests."""
    if reply.data is None:
        return reply.status, tuple(sorted(name for name, _ in reply.headers)), reply.body.decode("utf-8", "replace")
    return reply.status, tuple(sorted(name for name, _ in reply.headers)), json.dumps(_without_noise(reply.data))


def _without_noise(data: Any) -> Any:  # noqa: ANN401 — JSON
    """JSON without what differs by noise."""
    if isinstance(data, dict):
        return {name: "" if name in _NOISY else _without_noise(value) for name, value in data.items()}
    return [_without_noise(each) for each in data] if isinstance(data, list) else data


def times(target: Target, twin: Target, trial: Trial) -> None:
    """The times of replies, in turn from both: a two-sample test finds no difference."""
    questions = target.questions(2 * DRAWS)
    for what, call in (
        ("answers", lambda each, at: each.ask(questions[at])),
        ("plans", lambda each, at: each.plan(questions[DRAWS + at])),
        ("refusals", lambda each, at: each.plan(f"{questions[at]} AND nope = {at}")),
    ):
        found = _taken([target, twin], call)
        trial.tries += 2 * DRAWS - 1
        trial.check(not are_apart(*found), f"{what} of two servers are told apart by their times")


def _taken(targets: Sequence[Target], call: Callable[[Target, int], Reply]) -> tuple[list[float], list[float]]:
    """How long each server takes; in turn, so that what else the machine does falls on both."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for at in range(DRAWS):
        for place in (at % 2, 1 - at % 2):
            seconds[place].append(partial(call, targets[place], at)().seconds)
    return seconds


def are_apart(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether two samples come from different distributions; wrongly so with a chance of at most 1e-9.

    Each sample's own distribution function strays from the true one by no more than its critical distance, but for a
    chance of half of that; so if both are of one distribution, they aren't further apart than both together.

    Examples:
        >>> are_apart([1.0] * 48, [2.0] * 48), are_apart([1.0, 2.0] * 24, [2.0, 1.0] * 24)
        (True, False)
    """
    from discreet.stats import ks_critical

    gap = max(
        abs(sum(each <= at for each in first) / len(first) - sum(each <= at for each in second) / len(second))
        for at in {*first, *second}
    )
    return gap > ks_critical(len(first), FALSE_ALARM / 2) + ks_critical(len(second), FALSE_ALARM / 2)


def traces(target: Target, trial: Trial) -> None:
    """What the server writes elsewhere than in replies: metrics, and the files that its log and its errors go to.

    First it is given cause to write something: what is refused, what is malformed, what fails, what isn't there. Then
    all that it wrote is searched, also of what was tried before.
    """
    operator = next((each for each in target.holders if each.role == "operator"), None)
    if operator is None and not target.written:
        raise NotTried("it takes an operator's token, or the files that the server writes: its log and standard error")
    question = "SELECT COUNT(*) AS n"
    with suppress(NotTried):
        (question,) = target.questions(1)
        target.ask(question)
    for body in (
        question.replace("COUNT(*)", f'SUM("{_MARK}")'),
        f"{question} AND '{_MARK}' = CAST(1/0 AS TEXT)",
        _MARK,
    ):
        target.plan(body)
    for method, path, content in (
        ("GET", f"/v1/{_MARK}?token={target.analyst.token}", None),
        ("POST", "/v1/plans", f'{{"question": "{_MARK}'.encode()),
        ("POST", "/v1/answers", b"\xff" + _MARK.encode()),
        ("GET", f"/v1/answers/{_MARK}", None),
    ):
        target.send(method, path, target.analyst, content)
    target.raw(f"GET /{_MARK} NONSENSE\r\n\r\n".encode())
    texts = dict.fromkeys(target.canaries, "a token or a marked value") | dict(_TRACES)
    if operator is not None:
        metrics = target.send("GET", "/v1/metrics", operator)
        trial.check(metrics.status == OK, f"an operator's metrics got {metrics.status}")
        _searched(metrics.body, texts, "the metrics have", trial)
    for each in target.written:
        _searched(each.read_bytes(), texts, f"in {each.name[:40]} there is", trial)


def _searched(content: bytes, texts: Mapping[bytes, str], where: str, trial: Trial) -> None:
    """Look for texts in what was written."""
    for text, what in texts.items():
        trial.check(text not in content, f"{where} {what}")
