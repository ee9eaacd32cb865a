"""Attacks on approvals, the only way past a ceiling: one is for one question of one person, and once."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.errors import NotTried
from discreet.interfaces.conformance.target import OK, Holder, Target
from discreet.interfaces.conformance.trial import Trial
from discreet.interfaces.conformance.wire import Reply

_CREATED = 201
_AT_ONCE = 4
_PART = 20
"""Earlier approvals are tried again if their cost is at most this part of what is left."""

_MOST_OPEN = 50
_DAYS = (0, -1, 367, "1", 1e9)


def approvals(target: Target, trial: Trial) -> None:
    """Approvals used for another question, by someone else, again, or while they aren't valid are all refused."""
    if "/v1/requests" not in target.described()["paths"]:
        raise NotTried("the server takes no requests for approval")
    _of_before(target, trial)
    custodian, second = target.one("custodian"), target.second
    with ExitStack() as made:  # tokens, which are revoked at the end
        asker, other = (limited(target, custodian, each.subject, made) for each in (target.analyst, second))
        _without(target, trial, asker)
        _of_their_own(target, trial, custodian, made)
        _swapped(target, trial, custodian, asker, other)
        _taken_back(target, trial, custodian, asker)
        _ended(target, trial, custodian, made)
        _too_many(target, trial, custodian, asker)


def _swapped(target: Target, trial: Trial, custodian: Holder, asker: Holder, other: Holder) -> None:
    """An approval is for one question, one offer, one analyst and one use, and a custodian's alone to give."""
    question, *others = target.questions(2 + _AT_ONCE)
    request = _requested(target, asker, question)
    _refused(target, trial, asker, question, request, why="that nobody has decided about")
    allowed = partial(target.send, "POST", f"/v1/requests/{request}/approval")
    for who, body in ((asker, {"days": 1}), *((custodian, {"days": days}) for days in _DAYS)):
        trial.check(allowed(who, body).status != OK, "a request was approved by someone who may not, or for any time")
    _decide(target, custodian, request, days=1)
    for each in others:
        _refused(target, trial, asker, each, request, why="of another question")
    _refused(target, trial, asker, question, request, why="of another offer", times=2)
    _refused(target, trial, other, question, request, why="of another analyst's")
    _refused(target, trial, asker, question, request, why="for an earlier version", version=1)
    _used(target, trial, asker, question, request)
    for who, each in ((asker, others[0]), (other, question), (other, others[0])):
        _refused(target, trial, who, each, request, why="that is used up")


def limited(target: Target, custodian: Holder, subject: str, made: ExitStack) -> Holder:
    """Someone with a token whose ceiling is below what questions are offered.

    Raises:
        NotTried: the custodian makes none.
    """
    body = {"subject": subject, "days": 1, "most_epsilon": str(target.offer / 4), "share": "all"}
    reply = target.send("POST", "/v1/tokens", custodian, body)
    if reply.status != _CREATED:
        raise NotTried(f"the custodian's token makes none with a ceiling: {reply.status} {reply.code}")
    made.callback(target.send, "DELETE", f"/v1/tokens/{reply.data['token']}", custodian)
    target.canaries.append(reply.data["text"].encode())
    return Holder(reply.data["text"], subject, "analyst")


def _requested(target: Target, who: Holder, question: str) -> str:
    """The id of a request.

    Raises:
        NotTried: none can be made.
    """
    reply = target.send("POST", "/v1/requests", who, {**target.body(question, {}), "purpose": "conformance"})
    if reply.status != _CREATED:
        raise NotTried(f"a request for approval got {reply.status} {reply.code}")
    return str(reply.data["id"])


def _decided(target: Target, custodian: Holder, request: str, **how: object) -> Reply:
    """Approve a request; deny it, if there is a reason."""
    what = "denial" if "reason" in how else "approval"
    return target.send("POST", f"/v1/requests/{request}/{what}", custodian, how)


def _decide(target: Target, custodian: Holder, request: str, **how: object) -> None:
    """The same where it must succeed.

    Raises:
        NotTried: it doesn't, so nothing can be tried of what follows from it.
    """
    reply = _decided(target, custodian, request, **how)
    if reply.status != OK:
        raise NotTried(f"a custodian's decision about a request got {reply.status} {reply.code}")


def _asked(target: Target, who: Holder, question: str, cost: Fraction, **terms: Any) -> Reply:  # noqa: ANN401 — JSON
    """Ask once: an approval is used up by the first question."""
    return target.ask(question, who, amount=cost, times=1, **terms)


def _refused(  # noqa: PLR0913 — who asks what by which approval
    target: Target,
    trial: Trial,
    who: Holder,
    question: str,
    request: str,
    *,
    why: str,
    times: int = 1,
    **more: Any,  # noqa: ANN401 — JSON
) -> None:
    """Ask by an approval that isn't one for this."""
    before = len(target.paid(who))
    reply = _asked(target, who, question, target.offer * times, approval=request, **more)
    paid = len(target.paid(who)) - before
    trial.check(reply.status != OK and not paid, f"a question was asked by an approval {why}")


def _without(target: Target, trial: Trial, asker: Holder) -> None:
    """Above a ceiling nothing is asked without an approval, or by one that nobody made; nor is what others asked."""
    stored, question = target.questions(2)
    before = len(target.paid(asker))
    answer = target.ask(stored, times=1)
    target.rows(answer)
    version = (answer.data.get("certificate") or {}).get("data_version", 1)
    for text, terms in (
        (question, {}),
        (question, {"approval": "0" * 32}),
        (question, {"approval": "' OR 1=1 --"}),
        (stored, {}),
        (stored, {"version": version}),
        (stored, {"version": version, "approval": "0" * 32}),
    ):
        reply = _asked(target, asker, text, target.offer, **terms)
        trial.check(reply.status != OK, "a question above a ceiling was answered without an approval")
    together = {"questions": [question, stored], "epsilon": target.purse.take(target.offer)}
    trial.check(
        target.send("POST", "/v1/workloads", asker, together).status != OK,
        "questions above a ceiling were answered together",
    )
    paid = len(target.paid(asker)) - before
    trial.check(paid == 1, "a question above a ceiling was charged without an approval")


def _of_their_own(target: Target, trial: Trial, custodian: Holder, made: ExitStack) -> None:
    """Nobody approves what they requested themselves, by a second token and in whatever letters."""
    for subject in (custodian.subject, custodian.subject.swapcase()):
        (question,) = target.questions(1)
        with suppress(NotTried):  # then no such name has a second token, which is as good
            own = limited(target, custodian, subject, made)
            request = _requested(target, own, question)
            reply = _decided(target, custodian, request, days=1)
            trial.check(reply.status != OK, "a custodian approved a request of their own")
            reply = _decided(target, custodian, request, reason="conformance")
            trial.check(reply.status != OK, "a custodian decided about a request of their own")


def _used(target: Target, trial: Trial, asker: Holder, question: str, request: str) -> None:
    """Ask an approved question several times at once: it is answered, and paid for once.

    Raises:
        NotTried: it got no answer, so nothing is known of its second use.
    """
    before = len(target.paid(asker))
    replies = target.at_once(
        [partial(_asked, target, asker, question, target.offer, approval=request) for _ in range(_AT_ONCE)]
    )
    paid = len(target.paid(asker)) - before
    trial.check(paid <= 1, f"an approval for one use was used {paid} times")
    given = [each for each in replies if each.status == OK]
    values = {target.rows(each) for each in given}
    trial.check(len(values) <= 1, "an approval for one use got several answers")
    if not given:
        target.rows(replies[0])


def _taken_back(target: Target, trial: Trial, custodian: Holder, asker: Holder) -> None:
    """A denied request lets nothing be asked; nor does an approval that was taken back, and it can't be given again."""
    first, second = target.questions(2)
    denied, back = _requested(target, asker, first), _requested(target, asker, second)
    _decide(target, custodian, back, days=1)
    for request in (denied, back):
        _decide(target, custodian, request, reason="conformance")
    _refused(target, trial, asker, first, denied, why="that was denied")
    _refused(target, trial, asker, second, back, why="that was taken back")
    for request in (denied, back):
        trial.check(_decided(target, custodian, request, days=1).status != OK, "a denied request is approved later")


def _ended(target: Target, trial: Trial, custodian: Holder, made: ExitStack) -> None:
    """With the token by which it was requested an approval ends: its holder's next one doesn't bring it back."""
    (question,) = target.questions(1)
    first = limited(target, custodian, target.analyst.subject, made)
    request = _requested(target, first, question)
    _decide(target, custodian, request, days=1)
    name = target.send("GET", "/v1/me", first).data["token"]
    target.send("DELETE", f"/v1/tokens/{name}", custodian)
    again = limited(target, custodian, first.subject, made)
    _refused(target, trial, again, question, request, why="that ended with its token")


def _too_many(target: Target, trial: Trial, custodian: Holder, asker: Holder) -> None:
    """Nobody keeps the custodian busy with requests without end; those that were taken are denied."""
    (question,) = target.questions(1)
    asked = {**target.body(question, {}), "purpose": "conformance"}
    replies = [target.send("POST", "/v1/requests", asker, asked) for _ in range(_MOST_OPEN + 1)]
    taken = [each for each in replies if each.status == _CREATED]
    for each in taken:
        _decided(target, custodian, each.data["id"], reason="conformance")
    trial.check(len(taken) <= _MOST_OPEN, f"{len(taken)} requests of one analyst are open at a time")


def _of_before(target: Target, trial: Trial) -> None:
    """Try earlier requests that aren't approved now: denied, used, or too old for these tables or this day."""
    for holder in (each for each in target.holders if each.role == "analyst"):
        for each in _requests(target, holder):
            cost = (each["cost"].get("exact") or {}).get("epsilon")
            if each["state"] == "approved" or cost is None or Fraction(cost) > target.purse.left / _PART:
                continue
            before = len(target.paid(holder))
            terms = {**each["terms"], "approval": each["id"]}
            reply = target.ask(each["question"], holder, amount=Fraction(cost), times=1, **terms)
            paid = len(target.paid(holder)) - before
            trial.check(
                reply.status != OK and not paid, f"a question was asked by a request that is {each['state'][:20]}"
            )


def _requests(target: Target, holder: Holder) -> list[dict[str, Any]]:
    """The requests of a token's holder, the latest first."""
    found = target.send("GET", "/v1/requests", holder).data
    return list(reversed(found))[:_PART] if isinstance(found, list) else []
