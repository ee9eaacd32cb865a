"""Servers that misbehave: what the client believes, and what it sends again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import discreet as dp
from discreet.errors import (
    AnswerContradicted,
    DiscreetError,
    InvalidArgument,
    LedgerUnavailable,
    QuestionFailed,
    ReplyMalformed,
    ServerUnreachable,
    TooManyWaiting,
)
from discreet.interfaces.client import Remote, connection, remote
from discreet.results import Cost, PublicKey
from support.broken_server import COUNT, KEY, TOKEN, Broken, Hangup, Heard, Said, answer, problem, signed

PENDING = Said(202, {"id": "a1", "state": "pending"}, {"Location": "/v1/answers/a1"})


def keys(broken: Broken) -> set[str | None]:
    """The keys under which questions were sent."""
    return {heard.headers.get("Idempotency-Key") for heard in broken.heard if heard.method == "POST"}


def test_a_reply_that_was_lost_is_asked_for_again_under_its_key(broken: Broken, ann: Remote) -> None:
    """Cut before a word, in the midst of the body, unavailable by a proxy: one key, and the answer in the end."""
    broken.says(
        Hangup,
        Said(200, answer(), cut=20),
        Said(502, b"<html>", {"Content-Type": "text/html"}),
        problem("ledger_unavailable", 503),
        Said(200, answer()),
    )
    assert ann.ask(COUNT, epsilon=1)["n"] == [1000]
    assert len(broken.heard) == 5
    (key,) = keys(broken)
    assert key is not None
    broken.says(Said(200, answer()))
    ann.ask(COUNT, epsilon=1)
    assert keys(broken) != {key}  # each question has its own


def test_an_answer_that_takes_its_time_is_looked_for_at_its_place(broken: Broken) -> None:
    """202 says where; it is asked for there, also over a connection that breaks, until it is done."""
    broken.says(PENDING, PENDING, Hangup, PENDING, Said(200, answer()))
    seen: list[float] = []
    with dp.connect(broken.address, TOKEN, progress=seen.append) as ben:
        assert ben.ask(COUNT, epsilon=1).entry == 1
    assert [heard.method for heard in broken.heard] == ["POST", "GET", "GET", "GET", "GET"]
    assert {heard.path for heard in broken.heard[1:]} == {"/v1/answers/a1"}
    assert seen == sorted(seen)
    assert len(seen) == 3


def test_a_question_that_another_server_took_is_asked_for_under_the_same_key(
    broken: Broken, ann: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where its place isn't known, and now and then where it stays pending; what never comes is given up."""
    broken.says(PENDING, problem("not_found", 404), PENDING, problem("not_found", 404), Said(200, answer()))
    assert ann.ask(COUNT, epsilon=1)["n"] == [1000]
    assert [heard.method for heard in broken.heard] == ["POST", "GET", "POST", "GET", "POST"]
    assert len(keys(broken)) == 1
    monkeypatch.setattr(remote, "_FIRST_AGAIN", 0.2)
    broken.behave, broken.heard = (
        (lambda heard: PENDING if heard.method == "GET" or len(broken.heard) < 3 else Said(200, answer())),
        [],
    )
    assert ann.ask(COUNT, epsilon=1)["n"] == [1000]
    assert broken.heard[-1].method == "POST"
    assert len(keys(broken)) == 1
    monkeypatch.setattr(remote, "_LONGEST", 0.3)
    broken.says(PENDING)
    with pytest.raises(ServerUnreachable, match="no answer within"):
        ann.ask(COUNT, epsilon=1)


def test_a_request_is_made_and_read(broken: Broken, ann: Remote) -> None:
    """As the custodian will see it; and what became of it."""
    made = {
        "id": "r1",
        "digest": "d1",
        "subject": "ann",
        "readers": "every analyst",
        "question": COUNT,
        "terms": {"epsilon": "5"},
        "purpose": "to know",
        "cost": Cost(epsilon=Fraction(5)).to_json(),
        "state": "open",
        "at": "2026-01-01T00:00:00+00:00",
        "until": None,
    }
    broken.says(Said(201, made))
    request = ann.request(COUNT, purpose="to know", epsilon=5)
    assert (request.id, request.state, request.cost.epsilon, request.until) == ("r1", "open", 5, None)
    assert broken.heard[0].body == {"question": COUNT, "epsilon": "5", "purpose": "to know"}
    denied = {**made, "state": "denied", "until": "2026-01-08T00:00:00+00:00", "reason": "no"}
    broken.says(Said(200, [denied]))
    (found,) = ann.requests()
    assert (found.state, found.reason) == ("denied", "no")


def test_a_full_queue_is_waited_for_where_it_says_for_how_long(broken: Broken, ann: Remote) -> None:
    """As long as one is patient."""
    full = problem("too_many_waiting", 429)
    soon, late = (Said(429, full.body, {"Retry-After": seconds}) for seconds in ("0", "30"))
    broken.says(soon, soon, Said(200, answer()))
    assert ann.ask(COUNT, epsilon=1)["n"] == [1000]
    assert len(keys(broken)) == 1
    broken.says(late)
    with pytest.raises(TooManyWaiting):
        ann.ask(COUNT, epsilon=1)
    assert len(broken.heard) == 1


def test_what_has_no_key_is_sent_once(broken: Broken, hasty: Remote) -> None:
    """A request for approval isn't made twice by a connection that breaks."""
    broken.says(Hangup)
    with pytest.raises(ServerUnreachable):
        hasty.request(COUNT, purpose="to know", epsilon=5)
    assert len(broken.heard) == 1
    with pytest.raises(ServerUnreachable):
        hasty.me()
    assert len(broken.heard) > 2  # a look changes nothing


def test_a_server_that_cannot_answer_is_given_up_with_its_reason(broken: Broken, hasty: Remote) -> None:
    """After as long as one is patient; a refusal at once."""
    broken.says(problem("ledger_unavailable", 503))
    with pytest.raises(LedgerUnavailable):
        hasty.ask(COUNT, epsilon=1)
    assert len(broken.heard) > 1
    broken.says(Said(503, b"", {"Retry-After": "3600"}))
    with pytest.raises(ServerUnreachable, match="503"):
        hasty.ask(COUNT, epsilon=1)
    assert len(broken.heard) == 1  # it won't answer within our patience
    for code, status, kind in (
        ("question_failed", 500, QuestionFailed),
        ("too_many_waiting", 429, TooManyWaiting),
        ("never_heard_of", 409, DiscreetError),
    ):
        broken.says(problem(code, status, title="said so"))
        with pytest.raises(kind, match="said so"):
            hasty.ask(COUNT, epsilon=1)
        assert len(broken.heard) == 1


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Said(302, {}, {"Location": "http://127.0.0.1:1/v1/answers"}), "elsewhere"),
        (Said(307, {}, {"Location": "/v1/answers"}), "elsewhere"),
        (Said(200, b"<html>hello</html>", {"Content-Type": "text/html"}), "no JSON"),
        (Said(500, b"<html>Traceback</html>", {"Content-Type": "text/html"}), "without a reason"),
        (Said(404, b"<html>", {"Content-Type": "text/html"}), "no JSON"),
        (Said(200, b"{"), "isn't JSON"),
        (Said(200, b"\xff\xfe"), "isn't JSON"),
        (Said(200, b"[" * 100_000), "isn't JSON"),
        (Said(200, b'{"n": NaN}'), "isn't JSON"),
        (Said(200, b"9" * 10_000), "isn't JSON"),
        (Said(200, [1]), "an object was expected"),
        (Said(200, {}), "an answer was expected"),
        (Said(200, answer(intervals={"n": [["\x1b[2J", 1]]})), "an answer was expected"),
        (Said(200, answer(cost={"exact": {"epsilon": "1e999999999", "rho": "0", "delta": "0"}})), "an answer was"),
        (Said(200, b"\x1f\x8b", {"Content-Encoding": "gzip"}), "compressed"),
        (Said(202, {"id": "../../me"}), "where the answer will be"),
        (Said(202, {"id": "a1"}, {"Location": "https://evil.example.org/v1/answers/a1"}), "somewhere else"),
        (Said(202, {"id": "a1"}, {"Location": "//evil.example.org/v1/answers/a1"}), "somewhere else"),
        (Said(202, {"id": "a1"}, {"Location": "/v1/answers/a2"}), "somewhere else"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_is_no_reply_is_refused(broken: Broken, ann: Remote, reply: Said, why: str) -> None:
    """With one typed error, after one request: nothing is asked again of a server that can't be believed."""
    broken.says(reply)
    with pytest.raises(ReplyMalformed, match=why):
        ann.ask(COUNT, epsilon=1)
    assert len(broken.heard) == 1


def test_a_reply_has_a_size(broken: Broken, ann: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it doesn't say how large it is."""
    monkeypatch.setattr(connection, "MOST_BYTES", 100_000)
    for headers in ({}, {"Content-Length": None, "Connection": "close"}):
        broken.says(Said(200, b" " * 200_000, headers))
        with pytest.raises(ReplyMalformed, match="100,000 bytes"):
            ann.ask(COUNT, epsilon=1)


def test_a_reply_that_trickles_is_given_up(broken: Broken, hasty: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    """However little it sends at a time, there is an end to it."""
    monkeypatch.setattr(connection, "_WHOLE", -1.0)
    broken.says(Said(200, answer()))
    with pytest.raises(ServerUnreachable, match="took more than"):
        hasty.ask(COUNT, epsilon=1)


def test_an_answer_to_another_question_is_refused(broken: Broken, ann: Remote) -> None:
    """Found at a place by another name, or with the certificate of another."""
    broken.says(PENDING, Said(200, answer(id="a2")))
    with pytest.raises(ReplyMalformed, match="another question"):
        ann.ask(COUNT, epsilon=1)
    whole = {name: value for name, value in answer().items() if name not in {"id", "state", "signature"}}
    for change in ({"entry": 2}, {"certificate": {}}, {"origin": [5]}):
        broken.says(Said(200, {"id": "a1", **signed({**whole, **change})}))
        with pytest.raises(AnswerContradicted, match="certificate"):
            ann.ask(COUNT, epsilon=1)


def test_an_answer_that_the_account_has_not_signed_is_refused(broken: Broken) -> None:
    """Changed, unsigned, or signed by another key than the one that was named, or heard of first."""
    changed = answer(rows=[{"n": 7}])
    unsigned = {name: value for name, value in answer().items() if name != "signature"}
    for data, why in (
        (changed, "doesn't match its signature"),
        (unsigned, "isn't signed"),
        (answer(more=1), "doesn't match"),
    ):
        broken.says(Said(200, data))
        with dp.connect(broken.address, TOKEN) as tables, pytest.raises(AnswerContradicted, match=why):
            tables.ask(COUNT, epsilon=1)
    broken.says(Said(200, answer()))
    with dp.connect(broken.address, TOKEN) as tables:
        tables.ask(COUNT, epsilon=1)
        other = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32)).public_key().public_bytes_raw()
        broken.key = PublicKey(other).to_json()
        assert tables.key == KEY  # heard of first, and held to
        tables.ask(COUNT, epsilon=1)
    for key in (None, PublicKey(other).text):  # as the server says now, and as the custodian said
        with (
            dp.connect(broken.address, TOKEN, key=key) as tables,
            pytest.raises(AnswerContradicted, match="another key"),
        ):
            tables.ask(COUNT, epsilon=1)
    broken.key = KEY.to_json()
    with dp.connect(broken.address, TOKEN, key=KEY.text) as tables:
        tables.ask(COUNT, epsilon=1)
    for wrong in ({}, [], {"algorithm": "Ed448", "key": KEY.text}, {"algorithm": "Ed25519", "key": "AAAA"}):
        broken.key = wrong
        broken.says(Said(200, answer()))
        with dp.connect(broken.address, TOKEN) as tables, pytest.raises(ReplyMalformed):
            tables.ask(COUNT, epsilon=1)
        assert broken.heard == []  # nothing is paid for what couldn't be believed
    with pytest.raises(InvalidArgument, match="public key"):
        dp.connect(broken.address, TOKEN, key="AAAA")


def test_nothing_is_asked_of_a_server_that_signs_by_another_key(broken: Broken) -> None:
    """Than the one that was named: who has the wrong key pays for nothing that they couldn't believe."""
    other = PublicKey(Ed25519PrivateKey.from_private_bytes(bytes([1] * 32)).public_key().public_bytes_raw())
    broken.says(Said(200, answer()))
    with (
        dp.connect(broken.address, TOKEN, key=other.text) as tables,
        pytest.raises(AnswerContradicted, match="nothing was asked") as refused,
    ):
        tables.ask(COUNT, epsilon=1)
    assert KEY.text in refused.value.hint
    assert broken.heard == []


@pytest.mark.parametrize(
    "reply", [Hangup, Said(200, b"<html>", {"Content-Type": "text/html"}), Said(504, b""), Said(202, {"id": "../.."})]
)
def test_where_a_reply_is_lost_the_key_is_named_under_which_it_is_paid_once(
    broken: Broken, hasty: Remote, reply: Said | type[Hangup]
) -> None:
    """It is random where nobody said one, so that asking the same without it would be another question."""
    broken.says(reply)
    with pytest.raises((ServerUnreachable, ReplyMalformed)) as lost:
        hasty.ask(COUNT, epsilon=1)
    (key,) = keys(broken)
    assert key is not None
    assert f"idempotency_key={key!r}" in lost.value.hint
    assert f"--idempotency-key {key}" in lost.value.hint_at("cli")
    with pytest.raises((ServerUnreachable, ReplyMalformed)) as lost:
        hasty.ask(COUNT, epsilon=1, idempotency_key="my own")
    assert "--idempotency-key 'my own'" in lost.value.hint_at("cli")


@pytest.mark.parametrize(
    ("look", "data"),
    [
        (lambda tables: tables.plan(COUNT, epsilon=1), {"digest": 7}),
        (lambda tables: tables.budget, {"budget": "ε = 1", "allowed": {}, "spent": {}, "remaining": {}}),
        (lambda tables: tables.history(), [{"number": "x"}]),
        (lambda tables: tables.history(), {}),
        (lambda tables: tables.requests(), [7]),
        (lambda tables: tables.request(COUNT, purpose="p"), {"id": 7}),
        (lambda tables: tables.schema, {"name": "people", "adjacency": "add_remove", "tables": [{}]}),
        (lambda tables: tables.schema, {"name": 7, "adjacency": "add_remove", "tables": []}),
        (lambda tables: tables.me(), []),
        (lambda tables: tables.ask([COUNT], epsilon=1), {"id": "a1", "state": "done", "answers": []}),
        (lambda tables: tables.ask([COUNT], epsilon=1), {"id": "a1", "state": "done", "answers": 7}),
        (lambda tables: tables.plan([COUNT], epsilon=1), {"digest": "d", "expected": [7]}),
    ],
)
def test_other_replies_are_checked_too(broken: Broken, ann: Remote, look: Any, data: Any) -> None:
    """Plans, accounts, histories, schemas."""
    broken.says(Said(200, data))
    with pytest.raises(ReplyMalformed, match="expected"):
        look(ann)


def schema(**column: Any) -> dict[str, Any]:
    """A schema of one column."""
    one = {"name": "x", "kind": "integer", "nullable": False, "bounds": None, "keys": None, **column}
    table = {"name": "t", "public": False, "unit": "row", "limits": "1 rows", "links": [], "columns": [one]}
    return {"name": "d", "adjacency": "add_remove", "tables": [table]}


@pytest.mark.parametrize(
    "column", [{"bounds": [0, "x"]}, {"bounds": [0, 10**400], "kind": "real"}, {"keys": ["a", 1]}], ids=str
)
def test_declarations_that_contradict_themselves_make_no_rows(broken: Broken, ann: Remote, column: Any) -> None:
    """With a typed error."""
    broken.says(Said(200, schema(**column)))
    with pytest.raises(ReplyMalformed, match="contradict themselves"):
        ann.dummy()


def test_made_up_rows_keep_to_what_is_declared(broken: Broken, ann: Remote) -> None:
    """Bounds, keys, NULLs, days and times; ids that links find; units with several rows."""

    def column(name: str, kind: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "kind": kind, "nullable": False, "bounds": None, "keys": None, **more}

    def table(name: str, *columns: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {
            "name": name,
            "public": False,
            "unit": None,
            "limits": "5 rows",
            "links": [],
            "columns": columns,
            **more,
        }

    people = table("people", column("id", "text"), column("born", "date", bounds=["1990-01-01", "1999-12-31"]))
    visits = table(
        "visits",
        column("person", "text"),
        column("paid", "real", bounds=[0, 0.5], nullable=True),
        column("at", "timestamp", bounds=["2020-01-01T00:00:00", "2020-01-02T00:00:00"]),
        column("on", "date", keys=["2020-01-01", "2020-01-02"]),
        column("old", "boolean"),
        column("age", "integer", bounds=[-3, 3]),
        links=["person → people.id"],
    )
    logs = table("logs", column("user", "integer", bounds=[100, 900]), unit="user per day of at")
    broken.says(Said(200, {"name": "d", "adjacency": "add_remove", "tables": [people, visits, logs]}))
    made = {name: each.to_pydict() for name, each in ann.dummy(200).items()}
    assert len(set(made["people"]["id"])) == 200
    assert set(made["visits"]["person"]) <= set(made["people"]["id"])
    assert len(set(made["visits"]["person"])) > 100
    assert {each.year for each in made["people"]["born"]} == set(range(1990, 2000))
    assert all(0 <= each <= 0.5 for each in made["visits"]["paid"] if each is not None)
    assert made["visits"]["paid"].count(None) == 20
    assert all(each.year == 2020 for each in made["visits"]["at"])
    assert len(set(made["visits"]["on"])) == 2
    assert set(made["visits"]["age"]) == set(range(-3, 4))
    assert set(made["visits"]["old"]) == {True, False}
    users = made["logs"]["user"]
    assert min(users) == 100
    assert {users.count(each) for each in set(users)} == {2, 3}


def test_what_is_sent_says_what_was_asked(broken: Broken, ann: Remote) -> None:
    """A plan is carried out by its digest, an approval by its id; numbers travel as texts, which are exact."""
    plan = {
        "digest": "d1",
        "cost": Cost(epsilon=Fraction(1)).to_json(),
        "expected": [{"column": "n", "error": 3.0, "words": "± 3"}],
        "words": "in words",
        "seconds": 2.0,
    }

    def behave(heard: Heard) -> Said:
        return Said(200, plan if heard.path == "/v1/plans" else answer())

    broken.behave, broken.heard = behave, []
    planned = ann.plan(COUNT, epsilon=0.1)
    ann.ask(planned, approval="r1")
    first, second = (heard.body for heard in broken.heard)
    assert first == {"question": COUNT, "epsilon": "0.1"}
    assert second == {"question": COUNT, "epsilon": "0.1", "digest": "d1", "approval": "r1"}
    with pytest.raises(InvalidArgument, match="its own terms"):
        ann.ask(planned, epsilon=1)
