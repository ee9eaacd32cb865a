"""Attacks on identity: tokens that aren't valid, roles that aren't allowed, and names given outside of the token."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from discreet.errors import NotTried
from discreet.interfaces.conformance.target import OK, UNAUTHENTICATED, Holder, Target
from discreet.interfaces.conformance.trial import Trial
from discreet.interfaces.conformance.wire import Headers, Reply

_REFUSED = {401, 403}
_CREATED = 201
_EVERYBODY = frozenset({"analyst", "custodian", "auditor"})
_READERS = frozenset({"custodian", "auditor"})
_ANALYST = frozenset({"analyst"})
_CUSTODIAN = frozenset({"custodian"})
_OPEN = {"/healthz", "/readyz", "/v1/openapi.json", "/v1/key"}

_ALLOWED: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType(
    {
        ("GET", "/v1/dataset"): _EVERYBODY,
        ("GET", "/v1/budget"): _EVERYBODY,
        ("GET", "/v1/history"): _EVERYBODY,
        ("GET", "/v1/verification"): _READERS,
        ("GET", "/v1/head"): _READERS,
        ("POST", "/v1/plans"): frozenset({"analyst", "custodian"}),
        ("POST", "/v1/answers"): _ANALYST,
        ("POST", "/v1/workloads"): _ANALYST,
        ("GET", "/v1/answers/{}"): _ANALYST,
        ("GET", "/v1/tokens"): _CUSTODIAN,
        ("POST", "/v1/tokens"): _CUSTODIAN,
        ("DELETE", "/v1/tokens/{}"): _CUSTODIAN,
        ("POST", "/v1/requests"): _ANALYST,
        ("GET", "/v1/requests"): _EVERYBODY,
        ("GET", "/v1/requests/{}"): _EVERYBODY,
        ("POST", "/v1/requests/{}/approval"): _CUSTODIAN,
        ("POST", "/v1/requests/{}/denial"): _CUSTODIAN,
        ("GET", "/v1/admissions"): _CUSTODIAN,
        ("POST", "/v1/admissions"): _CUSTODIAN,
    }
)
"""Who may do what. An operator may do none of it, and a path that isn't listed is tried only without a token."""


def tokens(target: Target, trial: Trial) -> None:
    """Tokens that were forged, cut, changed, expired or revoked: all get the same bytes."""
    unknown = target.send("GET", "/v1/budget", headers=[("Authorization", f"Bearer dsc_{'A' * 43}")])
    trial.check(unknown.status == UNAUTHENTICATED, f"a token that nobody made got {unknown.status}")
    for headers in (*_forged(target.analyst.token), *([("Authorization", f"Bearer {each}")] for each in target.dead)):
        reply = target.send("GET", "/v1/budget", headers=headers)
        trial.check(
            reply.said == unknown.said,
            f"a token that isn't one got {reply.status}, and another reply than an unknown one",
        )
    for path in (f"/v1/budget?token={target.analyst.token}", f"/v1/budget?access_token={target.analyst.token}"):
        trial.check(target.send("GET", path).said == unknown.said, "a token in an address is accepted")
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()  # whatever the clocks say
    for holder in target.holders:
        ends = str(target.send("GET", "/v1/me", holder).data.get("expires") or yesterday)
        trial.check(ends >= yesterday, "an expired token is accepted")
    custodian = next((each for each in target.holders if each.role == "custodian"), None)
    if custodian is not None:
        _revoked(target, trial, custodian)
        _of_others(target, trial, custodian, unknown)


def _forged(token: str) -> list[Headers]:
    """Headers that let nobody in."""
    middle = len(token) // 2
    flipped = [f"{token[:at]}{'A' if token[at] != 'A' else 'B'}{token[at + 1 :]}" for at in (4, middle, len(token) - 2)]
    texts = [
        token[:-1], f"{token}A", token.swapcase(), token.upper(), token[4:], f"dsc_{token}", f"{token},{token}", "",
        f"{token}%00", f"{token}\x00", "null", "undefined", "' OR 1=1 --", "*", "dsc_*", "A" * 8000, *flipped,
    ]  # fmt: skip
    return [
        *([("Authorization", f"Bearer {text}")] for text in texts if "\x00" not in text),
        [("Authorization", token)],
        [("Authorization", f"Basic {token}")],
        [("Cookie", f"token={token}; session={token}; Authorization=Bearer {token}")],
        [("X-Authorization", f"Bearer {token}"), ("X-Api-Key", token), ("X-Token", token)],
        [("Proxy-Authorization", f"Bearer {token}")],
    ]


def _revoked(target: Target, trial: Trial, custodian: Holder) -> None:
    """A token that was made and revoked lets in no more, at once, in the words of an unknown one."""
    made = target.send("POST", "/v1/tokens", custodian, {"subject": "conform-revoked", "days": 1})
    trial.check(made.status == _CREATED, "a custodian's token makes no tokens")
    if made.status != _CREATED:
        return
    holder = [("Authorization", f"Bearer {made.data['text']}")]
    before = target.send("GET", "/v1/budget", headers=holder)
    listed = target.send("GET", "/v1/tokens", custodian)
    trial.check(made.data["text"].encode() not in listed.body, "a token is shown more than once")
    target.send("DELETE", f"/v1/tokens/{made.data['token']}", custodian)
    after = target.send("GET", "/v1/budget", headers=holder)
    unknown = target.send("GET", "/v1/budget", headers=[("Authorization", f"Bearer dsc_{'A' * 43}")])
    trial.check(before.status == OK, "a new token isn't accepted")
    trial.check(after.said == unknown.said, "a revoked token gets another reply than an unknown one")


def _of_others(target: Target, trial: Trial, custodian: Holder, unknown: Reply) -> None:
    """A token for other tables lets nobody in to these."""
    body = {"subject": "conform-elsewhere", "days": 1, "datasets": [f"conform-{target.number()}"]}
    made = target.send("POST", "/v1/tokens", custodian, body)
    if made.status != _CREATED:
        return  # there are no others, and no token for them
    reply = target.send("GET", "/v1/budget", headers=[("Authorization", f"Bearer {made.data['text']}")])
    target.send("DELETE", f"/v1/tokens/{made.data['token']}", custodian)
    trial.check(reply.said == unknown.said, "a token for other tables is accepted")


def roles(target: Target, trial: Trial) -> None:
    """Every path of the API with a token of every role, and without: what isn't allowed is refused."""
    (question,) = target.questions(1)
    for path, methods in target.described()["paths"].items():
        general, place = re.sub(r"\{[^}]*\}", "{}", path), re.sub(r"\{[^}]*\}", "conform", path)
        for method in (each.upper() for each in methods):
            if path in _OPEN:
                continue
            body = _body(target, method, general, question)
            alone = target.send(method, place, None, body)
            trial.check(alone.status == UNAUTHENTICATED, f"{method} {path} without a token got {alone.status}")
            for holder in target.holders:
                if holder.role in _ALLOWED.get((method, general), {holder.role}):
                    continue
                reply = target.send(method, place, holder, body)
                trial.check(
                    reply.status in _REFUSED and _is_problem(reply.data),
                    f"{method} {path} with a token of role {holder.role} got {reply.status}",
                )
    _others_answers(target, trial)


def _body(target: Target, method: str, path: str, question: str) -> object:
    """A body that would be taken."""
    if method != "POST":
        return None
    asked = {"question": question, "epsilon": str(target.offer)}
    known: Mapping[str, object] = {
        "/v1/plans": asked,
        "/v1/answers": asked,
        "/v1/workloads": {"questions": [question], "epsilon": str(target.offer)},
        "/v1/tokens": {"subject": "conform-crossed", "days": 1},
        "/v1/requests": {**asked, "purpose": "conformance"},
        "/v1/requests/{}/approval": {"days": 1, "any_version": False},
        "/v1/requests/{}/denial": {"reason": "conformance"},
    }
    if path in {"/v1/answers", "/v1/workloads"}:
        for _ in target.holders:
            target.purse.take(target.offer)
    return known.get(path, {})


def _is_problem(data: Any) -> bool:  # noqa: ANN401 — JSON
    """Whether a reply holds nothing but what a problem has."""
    return isinstance(data, dict) and data.keys() <= {"type", "title", "status", "detail", "code", "hint", "place"}


def _others_answers(target: Target, trial: Trial) -> None:
    """An answer is given by its address to nobody but who asked, in the words of one that there isn't."""
    try:
        second = target.second
    except NotTried:
        return
    (question,) = target.questions(1)
    reply = target.ask(question)
    if (name := (reply.data or {}).get("id")) is None:
        return
    known = target.send("GET", f"/v1/answers/{name}", second)
    unknown = target.send("GET", f"/v1/answers/{'0' * len(str(name))}", second)
    trial.check(known.said == unknown.said, "another's answer is given, or the server says that there is one")
    own = {each["analyst"] for each in target.debits(second)}
    trial.check(own <= {second.subject}, "an analyst sees what another asked")


def assumed(target: Target, trial: Trial) -> None:
    """Names, roles and methods given in headers, addresses and bodies change nobody's identity."""
    name = next((each.subject for each in target.holders if each.subject != target.analyst.subject), "custodian")
    plain = target.send("GET", "/v1/me", target.analyst)
    for header in (
        "X-Forwarded-User", "X-Remote-User", "Remote-User", "X-User", "User-Name", "user_name", "X-Analyst", "Analyst",
        "X-Subject", "X-Role", "Role", "From", "X-Forwarded-Email", "X-Client-Cert", "X-Ssl-Client-S-Dn",
    ):  # fmt: skip
        for value in (name, "custodian", "127.0.0.1"):
            reply = target.send("GET", "/v1/me", target.analyst, headers=[(header, value)])
            trial.check(reply.said == plain.said, f"the header {header} changes the caller's identity")
            alone = target.send("GET", "/v1/me", headers=[(header, value)])
            trial.check(alone.status == UNAUTHENTICATED, f"the header {header} lets in without a token")
    for header, value in (
        ("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Proto", "gopher"),
        ("Forwarded", "for=127.0.0.1;host=evil.example"), ("X-Original-URL", "/v1/tokens"),
        ("X-Rewrite-URL", "/v1/tokens"), ("X-HTTP-Method-Override", "DELETE"), ("X-HTTP-Method", "DELETE"),
        ("X-Method-Override", "POST"),
    ):  # fmt: skip
        for method in ("GET", "POST"):
            straight = target.send(method, "/v1/me", target.analyst)
            reply = target.send(method, "/v1/me", target.analyst, headers=[(header, value)])
            trial.check(reply.said == straight.said, f"the header {header} changes what is done")
    for query in (f"analyst={name}", f"subject={name}", "role=custodian", "_method=DELETE"):
        reply = target.send("GET", f"/v1/me?{query}", target.analyst)
        trial.check(reply.said == plain.said, "the address changes the caller's identity")
    _assumed_in_bodies(target, trial, name)


def _assumed_in_bodies(target: Target, trial: Trial, name: str) -> None:
    """A question isn't asked in another's name, or beyond a ceiling, by what stands beside it."""
    (question,) = target.questions(1)
    before = len(target.debits())
    for beside in ({"analyst": name}, {"subject": name}, {"role": "custodian"}, {"most_epsilon": 99}, {"__class__": 1}):
        planned = target.plan(question, **beside)
        trial.check(planned.status != OK, f"{next(iter(beside))} is taken beside a question")
        reply = target.ask(question, **beside)
        trial.check(reply.status != OK, f"{next(iter(beside))} is taken beside a question")
    for header in ("X-Forwarded-User", "X-User", "user_name", "X-Analyst"):
        reply = target.ask(question, headers=[(header, name)])
    paid = len(target.debits()) - before
    trial.check(paid <= 1, "a question was charged more than once")
    trial.check(paid == 1 or reply.status != OK, "a question was asked in another's name")
