"""The API: what strangers can do with a token, without one, and with bodies that nobody should send."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any

import pytest
from fastapi.testclient import TestClient

from discreet.errors import TooManyWaiting, TooMuchPlanning
from discreet.interfaces.http import app, make_app
from discreet.interfaces.http.middleware import bodies
from discreet.interfaces.http.middleware.bodies import MOST_BYTES, MOST_VALUES
from discreet.interfaces.http.problems import problem_of
from discreet.ledger import State
from discreet.results import Answer, PublicKey, verify_certificate, verify_head
from discreet.service import PublicError
from support.served import COUNT, STEP, Served, bearer, served, told

OPEN = {"/healthz", "/readyz", "/v1/key", "/v1/openapi.json"}
MALFORMED = {400, 422}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests: its processes take seconds to start."""
    with served(tmp_path_factory.mktemp("http")) as found:
        yield found


@pytest.fixture
def client(running: Served) -> TestClient:
    """A client of its API."""
    return TestClient(make_app(running.service), raise_server_exceptions=False)


def test_a_question_is_planned_asked_and_asked_again(running: Served, client: TestClient) -> None:
    """The answer leaves at its time, with its certificate; again it is free and at once; it is in the history."""
    ann = bearer(running, "analyst")
    asked = {"question": COUNT, "epsilon": "1/10"}
    plan = client.post("/v1/plans", json=asked, headers=ann).json()
    assert STEP < plan["step"] < STEP + 0.1
    assert plan["cost"]["exact"]["epsilon"] == "1/10"
    begun = monotonic()
    reply = client.post("/v1/answers", json=asked, headers=ann)
    assert monotonic() - begun >= STEP
    assert reply.status_code == 200, reply.text
    first = Answer.from_json(reply.json())
    key = PublicKey.read(client.get("/v1/key").text)
    again = client.post("/v1/answers", json=asked, headers={**ann, "Prefer": "respond-async"})
    assert again.status_code == 200
    assert verify_certificate(reply.text, key).problems == verify_certificate(again.text, key).problems == ()
    second = Answer.from_json(again.json())
    assert second.reused
    assert (second["n"], second.certificate, second.interval("n")) == (
        first["n"],
        first.certificate,
        first.interval("n"),
    )
    assert abs(first["n"][0] - 1000) < 2000  # ε ≥ 0.1: further off with a chance below 1e-80
    assert client.get("/v1/history", headers=ann).json()[-1]["text"] == COUNT
    assert client.get("/v1/history", headers=bearer(running, "bob")).json() == []
    spent = client.get("/v1/budget", headers=ann).json()
    assert spent["own"]["spent"] == spent["spent"]


def test_who_does_not_wait_is_told_where_to_ask(running: Served, client: TestClient) -> None:
    """202, a place, pending until it is done; nobody else finds it."""
    ann, question = bearer(running, "analyst"), f"{COUNT} WHERE id < 500"
    reply = client.post(
        "/v1/answers", json={"question": question, "epsilon": 0.5}, headers={**ann, "Prefer": "respond-async"}
    )
    assert (reply.status_code, reply.json()["state"]) == (202, "pending")
    place = reply.headers["location"]
    assert client.get(place, headers=bearer(running, "bob")).status_code == 404
    while (found := client.get(place, headers=ann)).status_code == 202:
        sleep(0.1)
    assert found.status_code in {200, 500}


def test_the_head_is_signed_for_those_who_audit(running: Served, client: TestClient) -> None:
    """And for the custodian; the key is everybody's. A debit is in it, and is what was spent."""
    key = PublicKey.read(client.get("/v1/key").text)
    for name in ("auditor", "custodian"):
        reply = client.get("/v1/head", headers=bearer(running, name))
        found = verify_head(reply.text, key)
        assert found.problems == ()
        assert client.get("/v1/verification", headers=bearer(running, name)).json()["head"] == found.content["head"]
        spent = client.get("/v1/budget", headers=bearer(running, name)).json()["spent"]
        assert found.content["spent"] == spent
    for name in ("analyst", "operator"):
        assert client.get("/v1/head", headers=bearer(running, name)).status_code == 403


def paths(client: TestClient) -> list[tuple[str, str]]:
    """All methods and paths that there are."""
    described = client.get("/v1/openapi.json").json()["paths"]
    return [(method, re.sub(r"{\w+}", "1", path)) for path, methods in described.items() for method in methods]


def test_nothing_is_said_without_a_token(running: Served, client: TestClient) -> None:
    """Every path, with no token, a wrong one, and one in another place than the header; in the same words."""
    seen = set()
    for method, path in paths(client):
        if path in OPEN:
            continue
        for headers in ({}, {"Authorization": "Bearer dsc_" + "A" * 43}, {"Authorization": running.tokens["analyst"]}):
            reply = client.request(
                method, f"{path}?token={running.tokens['analyst']}", headers=headers, json={"question": COUNT}
            )
            seen.add((reply.status_code, reply.text, reply.headers["content-type"], reply.headers["www-authenticate"]))
    assert len(seen) == 1
    assert next(iter(seen))[0] == 401


def test_errors_are_problems(running: Served, client: TestClient) -> None:
    """With our code, hint and place; nothing was charged."""
    ann, before = bearer(running, "analyst"), running.states()
    expected: list[tuple[dict[str, Any], int, str]] = [
        ({"question": "SELECT nope FROM people", "epsilon": 1}, 422, "unknown_column"),
        ({"question": COUNT, "epsilon": -1}, 422, "invalid_argument"),
        ({"question": COUNT, "epsilon": 100}, 402, "budget_exhausted"),
        ({"question": COUNT, "epsilon": 1, "analyst": "bob"}, 422, "invalid_argument"),
        ({"question": COUNT, "epsilon": [1]}, 422, "invalid_argument"),
        ({"question": COUNT, "epsilon": 1, "limits": {"walls": 3}}, 422, "invalid_argument"),
        ({"question": 7}, 422, "invalid_argument"),
    ]
    for body, status, code in expected:
        reply = client.post("/v1/answers", json=body, headers=ann)
        found = reply.json()
        assert (reply.status_code, found["code"], found["status"]) == (status, code, status), found
        assert reply.headers["content-type"] == "application/problem+json"
        assert found["title"]
    assert client.post("/v1/plans", json=expected[0][0], headers=ann).json()["place"] == [1, 8]
    assert State.RESERVED not in running.states()[len(before) :]


def test_bodies_that_nobody_should_send(running: Served, client: TestClient) -> None:
    """Too large, by what is said and by what comes; not JSON; nested without end: refused, and never a defect."""
    ann = bearer(running, "analyst")
    large = b"{" + b" " * MOST_BYTES + b"}"

    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield large[: MOST_BYTES // 10]

    for content, statuses in (
        (large, {413}),
        (pieces(), {413}),
        (b"\xff\xfe", MALFORMED),
        (b"[" * 100_000, {413}),
        (b"[" + b"{}," * 1000 + b"{}]", {413}),
        (b"[" * 500, MALFORMED),
        (b"", MALFORMED),
        (json.dumps({"question": COUNT, "epsilon": float("nan")}).encode(), MALFORMED),
        (b'{"question": "SELECT 1", "epsilon": 1e999}', MALFORMED),
        (b'{"question": "SELECT \\u0000", "epsilon": 1}', MALFORMED),
        (b'{"question": "SELECT \\ud800", "epsilon": 1}', MALFORMED),
        (json.dumps({"question": COUNT, "epsilon": 1, "approval": "\ud800"}).encode(), {422}),
        (json.dumps({"question": COUNT, "epsilon": 1, "weights": {"\udfff": 1}}).encode(), {422}),
    ):
        reply = client.post("/v1/answers", content=content, headers={**ann, "Content-Type": "application/json"})
        assert reply.status_code in statuses, (reply.status_code, reply.text)
        assert reply.headers["content-type"] == "application/problem+json"


def test_a_body_of_more_values_than_anybody_needs_is_refused(running: Served, client: TestClient) -> None:
    """Before what is wrong with each of them is written down; as many bounds as brackets allow are read."""
    ann = bearer(running, "analyst")
    values = ",".join(["null"] * MOST_VALUES)
    for path, body in (
        ("workloads/plans", f'{{"questions": [{values}]}}'),
        ("plans", f'{{"question": "{COUNT}", "bounds": {{"a": [{values}]}}}}'),
        ("plans", f'{{"question": "{COUNT}", "bounds": {{"a": [[[{values}]]]}}}}'),
        ("plans", json.dumps({"question": COUNT, "weights": dict.fromkeys(map(str, range(MOST_VALUES)))})),
    ):
        reply = client.post(f"/v1/{path}", content=body, headers={**ann, "Content-Type": "application/json"})
        assert (reply.status_code, reply.json()["code"]) == (413, "too_large"), body[:60]
    bounds = {"question": COUNT, "epsilon": 1, "bounds": {f"c{n}": [0, 1] for n in range(990)}}
    workload = {"questions": [COUNT] * 1000, "epsilon": 1, "weights": {f"c{n}": 1 for n in range(2000)}}
    for path, large in (("plans", bounds), ("workloads/plans", workload)):
        reply = client.post(f"/v1/{path}", json=large, headers=ann)
        assert (reply.status_code, "form that is documented" in reply.text) == (422, False), reply.text


def test_of_what_is_wrong_in_a_body_no_more_is_listed_than_anybody_reads(
    running: Served, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of them is named."""
    monkeypatch.setattr(app, "_PLACES", 2)
    body = {"questions": [COUNT, *[0] * 9], "b": 1, "a": 2}
    reply = client.post("/v1/workloads/plans", json=body, headers=bearer(running, "analyst"))
    assert (reply.status_code, reply.json()["title"][-11:]) == (422, "questions.1")


def test_a_body_in_another_encoding_than_utf_8_is_refused(running: Served, client: TestClient) -> None:
    """Python tells UTF-16 and UTF-32 by their null bytes; who stands in front may take them for something else."""
    asked = json.dumps({"question": COUNT, "epsilon": "1/10"})
    ann = bearer(running, "analyst", **{"Content-Type": "application/json"})
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-32-be", "utf-8-sig"):
        reply = client.post("/v1/plans", content=asked.encode(encoding), headers=ann)
        assert (reply.status_code, reply.json()["code"]) == (400, "ambiguous"), encoding
    for name, value in (
        ("Content-Encoding", "gzip"),
        ("Content-Encoding", "identity, identity"),
        ("Content-Type", "application/json; charset=utf-16"),
        ("Content-Type", 'application/json; charset="ibm037"'),
        ("Content-Type", "application/json; x=charset=utf-7"),
    ):
        reply = client.post("/v1/plans", content=asked, headers={**ann, name: value})
        assert (reply.status_code, reply.json()["code"]) == (400, "ambiguous"), value
    for name, value in (("Content-Encoding", "identity"), ("Content-Type", 'application/json; charset="UTF-8"')):
        assert client.post("/v1/plans", content=asked, headers={**ann, name: value}).status_code == 200, value


def test_a_custodian_gives_and_takes_tokens(running: Served, client: TestClient) -> None:
    """A token is shown once, lets in, and lets in no more; nobody else may do that."""
    carla = bearer(running, "custodian")
    made = client.post("/v1/tokens", json={"subject": "dora", "days": 2, "most_epsilon": "1/2"}, headers=carla)
    assert made.status_code == 201
    dora = {"Authorization": f"Bearer {made.json()['text']}"}
    assert client.get("/v1/me", headers=dora).json()["subject"] == "dora"
    listed = client.get("/v1/tokens", headers=carla)
    assert made.json()["text"] not in listed.text
    assert client.delete(f"/v1/tokens/{made.json()['token']}", headers=dora).status_code == 403
    assert client.delete(f"/v1/tokens/{made.json()['token']}", headers=carla).status_code == 204
    assert client.get("/v1/me", headers=dora).status_code == 401
    assert client.delete("/v1/tokens/nope", headers=carla).status_code == 404
    assert client.post("/v1/tokens", json={"subject": "eve", "role": "king"}, headers=carla).status_code == 422
    assert client.get("/v1/verification", headers=bearer(running, "auditor")).json()["problems"] == []


@pytest.mark.parametrize(
    ("version", "said"), [(7, "for version 7"), (0, "version"), ("1", "version"), (True, "version")]
)
def test_what_is_not_stored_of_a_version_is_refused(
    running: Served, client: TestClient, version: object, said: str
) -> None:
    """As what is no version; of a question and of several. Nothing is asked."""
    before = len(running.states())
    for path, question in (("answers", {"question": COUNT}), ("workloads", {"questions": [COUNT]})):
        body = {**question, "epsilon": "1/3", "version": version}
        reply = client.post(f"/v1/{path}", json=body, headers=bearer(running, "analyst"))
        assert (reply.status_code, reply.json()["code"]) == (422, "invalid_argument")
        assert said in reply.json()["title"]
    assert len(running.states()) == before


def test_a_share_that_renews_is_in_ones_budget(running: Served, client: TestClient) -> None:
    """With when it does; a share that is for all time doesn't, and nothing renews without a share."""
    carla = bearer(running, "custodian")
    asked = {"subject": "mona", "share": {"epsilon": "1/2"}, "renews": "monthly"}
    made = client.post("/v1/tokens", json=asked, headers=carla).json()
    assert made["share"] == "ε = 0.5 a month"
    mona = {"Authorization": f"Bearer {made['text']}"}
    own = client.get("/v1/budget", headers=mona).json()["own"]
    assert (own["spent"], own["this_month"]) == ({"epsilon": "0", "rho": "0", "delta": "0"},) * 2
    assert own["remaining"]["epsilon"] == 0.5
    assert own["renews"][8:] == "01T00:00:00+00:00"
    assert client.get("/v1/budget", headers=bearer(running, "analyst")).json()["own"]["renews"] is None
    plan = client.post("/v1/plans", json={"question": COUNT, "epsilon": "1/8"}, headers=mona).json()
    assert plan["remaining_like_this"] == 4
    dear = client.post("/v1/answers", json={"question": COUNT, "epsilon": "5/8"}, headers=mona)
    assert (dear.status_code, dear.json()["code"]) == (402, "budget_exhausted")
    for wrong in ({"renews": "monthly"}, {"share": {"epsilon": 1}, "renews": "daily"}):
        assert client.post("/v1/tokens", json={"subject": "mona", **wrong}, headers=carla).status_code == 422


def test_what_goes_wrong_inside_is_not_said(
    running: Served, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an error of the ledger, which names a path, nor a defect, whose text may quote anything."""
    from discreet.errors import LedgerUnavailable

    ann = bearer(running, "analyst")
    for error, status in ((LedgerUnavailable("/secret/path: no"), 503), (RuntimeError("/secret/path"), 500)):

        def fail(_: object, error: Exception = error) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(running.service, "budget", fail)
            reply = client.get("/v1/budget", headers=ann)
        assert reply.status_code == status
        assert "secret" not in reply.text
        assert reply.headers["content-type"] == "application/problem+json"


def test_the_public_schema_says_what_was_declared(running: Served, client: TestClient) -> None:
    """And not where it lies."""
    reply = client.get("/v1/dataset", headers=bearer(running, "analyst"))
    (table,) = reply.json()["tables"]
    assert (table["name"], table["unit"], table["limits"]) == ("people", "id", "1 rows")
    assert table["columns"][1] == {"name": "k", "kind": "text", "nullable": True, "bounds": None, "keys": ["a", "b"]}
    assert str(running.folder) not in reply.text
    assert "csv" not in reply.text
    assert "ledger" not in reply.text


def test_who_sends_too_much_is_told_when_to_come_again() -> None:
    """In a header, as HTTP has it; also where the error came from another process."""
    for error in (TooMuchPlanning("slowly", retry_after=7), TooManyWaiting("slowly", retry_after=7)):
        for said in (PublicError.of(error), told(error)):
            response = problem_of(said).reply()
            assert (response.status_code, response.headers["retry-after"]) == (429, "7")


def test_a_request_that_can_be_read_in_two_ways_is_refused(running: Served, client: TestClient) -> None:
    """Whoever checks it in front may have read it in the other one."""
    ann = bearer(running, "analyst")
    for headers in (
        [*ann.items(), *bearer(running, "custodian").items()],
        [*ann.items(), ("Content-Length", "0"), ("Transfer-Encoding", "chunked")],
        [*ann.items(), ("Host", "evil.example"), ("Host", "here.example")],
    ):
        reply = client.get("/v1/me", headers=headers)
        assert (reply.status_code, reply.json()["code"]) == (400, "ambiguous"), headers
        assert reply.headers["connection"] == "close"
    for path in (
        "/v1%2Fme", "/v1/me%00", "/v1/%2e%2e/v1/me", "/v1/me;x", "/v1//me", "/v1/%6De", "/%761/me", "/v1/me%20",
    ):  # fmt: skip
        assert client.get(path, headers=ann).status_code == 400, path
    assert client.get("/v1/me?x=%2F..//;", headers=ann).status_code == 200
    body = b'{"question": "SELECT 1", "epsilon": 1, "limits": {"rows": 1, "rows": 2}}'
    reply = client.post("/v1/plans", content=body, headers={**ann, "Content-Type": "application/json"})
    assert (reply.status_code, reply.json()["code"]) == (400, "ambiguous")


def test_no_reply_leads_elsewhere_or_may_be_guessed_at(running: Served, client: TestClient) -> None:
    """A redirect would name the host that the request names; browsers keep nothing and guess nothing."""
    assert client.get("/v1/me/", headers={"Host": "evil.example"}, follow_redirects=False).status_code == 404
    for path in ("/healthz", "/v1/me", "/v1/nothing", "/v1%2Fme"):
        headers = client.get(path, headers=bearer(running, "analyst")).headers
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_body_that_never_ends_is_ended(running: Served, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the server, in words."""
    import asyncio

    monkeypatch.setattr(bodies, "_MOST_SECONDS", 0.05)
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"authorization", f"Bearer {running.tokens['analyst']}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/v1/plans", "raw_path": b"/v1/plans", "headers": headers}
    asyncio.run(client.app({**scope, "query_string": b"", "http_version": "1.1", "scheme": "http"}, receive, send))  # type: ignore[arg-type]  # as a server calls it
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
