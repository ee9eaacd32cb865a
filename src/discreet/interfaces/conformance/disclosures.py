"""Attacks on what a server tells without being asked.

By bytes and times, two servers whose tables differ by one person aren't told apart. Tokens and marked values of the
tables stand in no metric, log line or trace.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from discreet.errors import NotTried
from discreet.interfaces.conformance.target import OK, Target
from discreet.interfaces.conformance.trial import Trial
from discreet.interfaces.conformance.wire import Reply

FALSE_ALARM = 1e-9
"""The probability, at most, that servers with equal timing are told apart."""

DRAWS = 48
"""How many times each server is measured for each kind of request: the fewest that tell apart times that don't
overlap.
"""

_NOISY = {
    "answered_by", "at", "budget", "certificate", "entry", "expires", "head", "id", "intervals", "made", "number",
    "own", "remaining", "remaining_after", "remaining_like_this", "reused", "rows", "signature", "spent",
    "text", "token",
}  # fmt: skip

_MARK = "conform-trace"
"""Appears in questions that are asked so that the server has something to write."""

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
"""Texts of a server that say more than they are meant to, by what shows them."""


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
    """A reply without its noise and without what counts requests."""
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
    """The times of both servers, taken in turn so that anything else on the machine affects both."""
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
    """Search what the server writes outside of replies: metrics, and the files of its log and its errors.

    First it is given cause to write something: what is refused, what is malformed, what fails, what isn't there. Then
    all that it wrote is searched, also of what was tried before.
    """
    operator = next((each for each in target.holders if each.role == "operator"), None)
    if operator is None and not target.written:
        raise NotTried(
            "this needs an operator's token, or the files that the server writes: its log and standard error"
        )
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
