"""Requests and idempotency keys over HTTP: paths, statuses and headers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from discreet.errors import AskedAlready, KeyReused, NotApproved, PlanChanged
from discreet.interfaces.http import make_app
from discreet.interfaces.http.console.asking import OFFERS, offered_in
from discreet.interfaces.http.requests import Offered
from discreet.query.planner import FORMS
from discreet.service import Ask, Reply
from support.served import COUNT, Served, bearer, served_in_threads

DEAR = {"question": COUNT, "epsilon": "2"}
"""More than bob may spend on one question."""


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all."""
    with served_in_threads(tmp_path_factory.mktemp("http")) as found:
        yield found


@pytest.fixture
def client(running: Served) -> TestClient:
    """A client of its API."""
    return TestClient(make_app(running.service), raise_server_exceptions=False)


def test_a_question_above_a_ceiling_is_requested_and_asked(running: Served, client: TestClient) -> None:
    """With the statuses that are documented."""
    bob, head = bearer(running, "bob"), bearer(running, "custodian")
    refused = client.post("/v1/answers", json=DEAR, headers=bob)
    assert (refused.status_code, refused.json()["code"]) == (403, "above_ceiling")
    made = client.post("/v1/requests", json={**DEAR, "purpose": "the yearly report"}, headers=bob)
    assert made.status_code == 201
    name, digest = made.json()["id"], made.json()["digest"]
    asked = {**DEAR, "approval": name, "digest": digest}
    early = client.post("/v1/answers", json=asked, headers=bob)
    assert (early.status_code, early.json()["code"]) == (403, NotApproved.code)
    assert client.post(f"/v1/requests/{name}/approval", json={}, headers=bob).status_code == 403
    approved = client.post(f"/v1/requests/{name}/approval", json={"days": 1}, headers=head)
    assert (approved.status_code, approved.json()["state"]) == (200, "approved")
    answer = client.post("/v1/answers", json=asked, headers={**bob, "Idempotency-Key": "k"})
    assert answer.status_code == 200
    again = client.post("/v1/answers", json=asked, headers={**bob, "Idempotency-Key": "k"})
    assert (again.status_code, again.content) == (200, answer.content)
    seen = client.get(f"/v1/requests/{name}", headers=bob).json()
    assert (seen["state"], seen["purpose"]) == ("used", "the yearly report")
    assert client.get(f"/v1/requests/{name}", headers=bearer(running, "analyst")).status_code == 404
    assert [each["id"] for each in client.get("/v1/requests", headers=head).json()] == [name]
    denied = client.post(f"/v1/requests/{name}/denial", json={"reason": "late"}, headers=head)
    assert (denied.status_code, denied.json()["code"]) == (422, "invalid_argument")


def test_keys_and_digests_that_do_not_fit_are_refused(running: Served, client: TestClient) -> None:
    """409, and nothing is charged."""
    ann = bearer(running, "analyst", **{"Idempotency-Key": "one"})
    cheap = {"question": COUNT, "epsilon": "1/10"}
    assert client.post("/v1/answers", json=cheap, headers=ann).status_code == 200
    spent = len(running.states())
    for body, code in (({**cheap, "epsilon": "1/20"}, KeyReused.code), ({**cheap, "digest": "x"}, PlanChanged.code)):
        reply = client.post("/v1/answers", json=body, headers=ann)
        assert (reply.status_code, reply.json()["code"]) == (409, code)
    reply = client.post("/v1/answers", json=cheap, headers={**ann, "Idempotency-Key": "x" * 201})
    assert (reply.status_code, reply.json()["code"]) == (422, "invalid_argument")
    assert len(running.states()) == spent


def test_what_another_server_may_still_run_is_pending(running: Served, client: TestClient) -> None:
    """202, with the address at which to look again."""
    service, ann = running.service, running.callers["analyst"]
    ticket = service.ask(ann, Ask(f"{COUNT} WHERE id < 7", {"epsilon": "1/10"}))
    assert ticket.wait(8)
    ticket.reply = Reply.of(AskedAlready())
    reply = client.get(f"/v1/answers/{ticket.id}", headers=bearer(running, "analyst"))
    assert (reply.status_code, reply.json()["state"]) == (202, "pending")
    assert reply.headers["Location"].endswith(ticket.id)


def test_a_token_says_what_it_allows(running: Served, client: TestClient) -> None:
    """Ceilings, the share of its holder, and whose tables it is for: of others it is no token here."""
    head = bearer(running, "custodian")
    ceilings = {"most_epsilon": "1", "most_rho": "1/10"}
    body = {"subject": "eve", **ceilings, "share": {"epsilon": "3"}, "datasets": ["people"]}
    made = client.post("/v1/tokens", json=body, headers=head)
    assert made.status_code == 201
    shown = client.get("/v1/me", headers={"Authorization": f"Bearer {made.json()['text']}"}).json()
    assert shown.items() >= {**ceilings, "share": "ε = 3", "datasets": ["people"]}.items()
    other = client.post("/v1/tokens", json={**body, "datasets": ["visits"]}, headers=head).json()["text"]
    assert client.get("/v1/me", headers={"Authorization": f"Bearer {other}"}).status_code == 401


@pytest.mark.parametrize(
    ("parameters", "status"), [(["a"], 200), ([{"date": "2020-04-01"}], 422), ([["a"]], 422), ("a", 422), ([1, 2], 422)]
)
def test_parameters_come_in_json(running: Served, client: TestClient, parameters: object, status: int) -> None:
    """Values, or kinds with a text; what doesn't fit the question is refused as any term is."""
    body = {"question": "SELECT COUNT(*) AS n FROM people WHERE k = ?", "epsilon": "1/10", "parameters": parameters}
    assert client.post("/v1/plans", json=body, headers=bearer(running, "analyst")).status_code == status


def test_a_body_takes_every_term_and_the_console_offers_none_that_there_is_not() -> None:
    """Who asks is said by the token."""
    assert set(Offered.model_fields) == set(FORMS) - {"analyst"}
    assert {*OFFERS, *offered_in({})} - {"question", "offer", "amount"} <= set(FORMS)
