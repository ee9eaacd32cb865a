"""Formats of answers: what `Accept` chooses, the same shapes as on the command line, and workloads."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from threading import Thread, current_thread
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient
from starlette.exceptions import HTTPException

import discreet as dp
from discreet.cli.show.answers import show_answer
from discreet.cli.show.formats import Format
from discreet.errors import AskedAlready
from discreet.interfaces.http import make_app, replies
from discreet.interfaces.http.replies import ARROW, CSV, JSON, chosen, reply, reply_of
from discreet.results import Answer
from discreet.service import Reply
from support.served import COUNT, Served, bearer, encoded, served_in_threads, ticket_of

GROUPED = "SELECT k, COUNT(*) AS n, AVG(id) AS n_low FROM people GROUP BY k"
OFFER = {"epsilon": "1/10", "bounds": {"id": [0, 1000]}}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests."""
    with served_in_threads(tmp_path_factory.mktemp("formats")) as found:
        yield found


@pytest.fixture
def client(running: Served) -> TestClient:
    """A client of its API, for an analyst."""
    return TestClient(make_app(running.service), headers=bearer(running, "analyst"))


def answered(client: TestClient, path: str, body: dict[str, Any]) -> Any:
    """The reply to what is answered."""
    reply = client.post(path, json={**body, "epsilon": "1/10"})
    assert reply.status_code == 200, reply.text
    return reply


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("text/csv", CSV),
        ("TEXT/CSV ; q=0.3", CSV),
        ("application/*;q=0.2, text/*;q=0.4", CSV),
        (f"{JSON};q=0.1, {ARROW}", ARROW),
        (f"*/*;q=0.1, {JSON};q=0", CSV),
        (f"{JSON};q=x, {CSV};q=1e9, {ARROW};q=0.001", ARROW),
    ],
)
def test_the_type_that_is_liked_best_is_chosen(accept: str, media: str) -> None:
    """By quality, the most specific range first."""
    assert chosen(accept, (JSON, CSV, ARROW)) == media


def test_what_nothing_satisfies_is_refused_before_it_is_paid_for(running: Served, client: TestClient) -> None:
    """406 in the form of all problems, and no debit."""
    with pytest.raises(HTTPException):
        chosen("image/png, */*;q=0", (JSON, CSV, ARROW))
    before = running.states()
    reply = client.post("/v1/answers", json={"question": COUNT, "epsilon": 1}, headers={"Accept": "image/png"})
    assert (reply.status_code, reply.headers["content-type"]) == (406, "application/problem+json")
    assert running.states() == before


def test_one_shape_for_both_doors(
    running: Served, client: TestClient, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """CSV and Arrow are what the command line writes of the same answer; a column that is there keeps its name."""
    reply = answered(client, "/v1/answers", {"question": GROUPED, **OFFER})
    place, answer = reply.headers["location"], Answer.from_json(reply.json())
    assert answer.names == ("k", "n", "n_low")
    as_csv = client.get(place, headers={"Accept": "text/csv"})
    assert as_csv.headers["content-type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(as_csv.text)))
    assert rows[0] == ["k", "n", "n_low_", "n_high", "n_low", "n_low_low", "n_low_high"]
    assert [row[1] for row in rows[1:]] == [str(value) for value in answer["n"]]
    arrow = client.get(place, headers={"Accept": ARROW})
    table = pa.ipc.open_stream(arrow.content).read_all()
    assert table["n"].to_pylist() == answer["n"]
    assert list(zip(table["n_low_"].to_pylist(), table["n_high"].to_pylist(), strict=True)) == answer.interval("n")
    with dp.load(running.folder / "discreet.toml") as tables:
        for written, content in ((Format.CSV, as_csv.content), (Format.ARROW, arrow.content)):
            capfdbinary.readouterr()
            show_answer(answer, tables, written, 0.95)
            assert capfdbinary.readouterr().out == content


def test_a_workload_is_one_debit_with_one_release_time(running: Served, client: TestClient) -> None:
    """Its plan is free and says what it costs; its answers leave together, and are free again; JSON alone."""
    body = {"questions": [COUNT, "SELECT k, COUNT(*) AS n FROM people GROUP BY k"]}
    plan = client.post("/v1/workloads/plans", json={**body, "epsilon": "1/10"}).json()
    assert (plan["cost"]["exact"]["epsilon"], plan["steps"], len(plan["expected"])) == ("1/10", 1, 2)
    assert plan["step"] == 1.01  # half a second, and as much for one reading: the total is the sum of its groups
    before = len(running.states())
    reply = answered(client, "/v1/workloads", body)
    answers = [Answer.from_json(each) for each in reply.json()["answers"]]
    assert [each.names for each in answers] == [("n",), ("k", "n")]
    assert len({each.entry for each in answers}) == 1
    assert running.states()[before:].count(dp.ledger.State.COMMITTED) == 1
    assert client.get(reply.headers["location"]).json()["answers"] == reply.json()["answers"]
    assert client.get(reply.headers["location"], headers={"Accept": "text/csv"}).status_code == 406
    for wrong in ([], [COUNT] * 201, ["SELECT nope FROM people"], [COUNT + " " * 40_000] * 2, [7], COUNT):
        refused = client.post("/v1/workloads", json={"questions": wrong, "epsilon": 1})
        assert refused.status_code == 422, refused.text
    ceiling = {"Authorization": f"Bearer {running.tokens['bob']}"}
    assert client.post("/v1/workloads", json={**body, "epsilon": 2}, headers=ceiling).status_code == 403


def test_a_summary_is_a_workload_at_each_address(running: Served, client: TestClient) -> None:
    """Its answers are JSON, at its own address too; any other form is refused before it is paid for."""
    body = {"epsilon": "1/10"}
    plans = [
        client.post(f"/v1/{path}", json={**asked, **body}).json()
        for path, asked in (
            ("plans", {"question": "SUMMARIZE people"}),
            ("workloads/plans", {"questions": ["SUMMARIZE people"]}),
        )
    ]
    assert plans[0]["digest"] == plans[1]["digest"]
    assert [[each["column"] for each in columns] for columns in plans[0]["expected"]] == [["rows", "units"], ["k rows"]]
    asked = {"question": "SUMMARIZE people", **body}
    spent = running.service.budget(running.callers["custodian"])["spent"]
    assert client.post("/v1/answers", json=asked, headers={"Accept": "text/csv"}).status_code == 406
    assert running.service.budget(running.callers["custodian"])["spent"] == spent
    reply = answered(client, "/v1/answers", asked)
    assert len(reply.json()["answers"]) == 2
    assert client.get(reply.headers["Location"]).json()["answers"] == reply.json()["answers"]
    assert client.get(reply.headers["Location"], headers={"Accept": "text/csv"}).status_code == 406


def test_large_answers_are_written_outside_of_the_event_loop(
    running: Served, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As CSV, where they would keep others waiting; small ones in it, for a thread takes longer to come by.

    JSON is passed on as a worker wrote it, however much it is.
    """
    threads: list[Thread] = []

    def noted(*said: Any) -> Any:
        threads.append(current_thread())
        return reply(*said)

    monkeypatch.setattr(replies, "reply", noted)
    found = answered(client, "/v1/answers", {"question": COUNT})
    one = running.service.ticket(running.callers["analyst"], found.headers["location"].rpartition("/")[2])
    assert one is not None
    assert one.answer is not None
    for media, values, in_thread in ((CSV, 2000, False), (CSV, 2001, True), (JSON, 2001, False)):
        ticket = ticket_of(COUNT, step=1.0)
        ticket.finish(Reply(answer=replace(one.answer, values=values)))
        written = asyncio.run(reply_of(ticket, media, ""))
        assert (written.status_code, written.media_type) == (200, media)
        assert (threads.pop() is not current_thread()) is in_thread


def test_how_many_more_like_this_follows_from_what_the_budget_says(client: TestClient) -> None:
    """It is the budget's own numbers divided: no more, and no less than can be paid."""
    left = client.get("/v1/budget").json()
    spent, total = Fraction(left["spent"]["epsilon"]), Fraction(10)
    for epsilon in ("1/3", "7", "1000"):
        plan = client.post("/v1/plans", json={"question": COUNT, "epsilon": epsilon}).json()
        assert plan["remaining_like_this"] == (total - spent) // Fraction(epsilon)
    free = client.post("/v1/plans", json={"question": "SELECT COUNT(*) AS n FROM people WHERE 1 = 0", "epsilon": 1})
    assert free.json()["remaining_like_this"] is None


def test_a_name_that_is_a_formula_is_none_where_people_open_it(client: TestClient) -> None:
    """A header of CSV has an apostrophe before it, and with `raw` it hasn't; JSON and Arrow are for programs."""
    name = "=cmd|' /C calc'!A0"
    first = answered(client, "/v1/answers", {"question": f'SELECT COUNT(*) AS "{name}" FROM people'})
    assert list(first.json()["columns"]) == [name]
    place = first.headers["Location"]
    for more, header in (("", f"'{name}"), ("?raw=false", f"'{name}"), ("?raw=true", name)):
        text = client.get(place + more, headers={"Accept": CSV}).text
        assert next(csv.reader(io.StringIO(text)))[0] == header
    stream = client.get(place, headers={"Accept": ARROW}).content
    assert pa.ipc.open_stream(stream).schema.names[0] == name
    assert client.get(f"{place}?raw=maybe", headers={"Accept": CSV}).status_code == 422


class _Overtaken(SimpleNamespace):
    """A ticket of which another thread stores the answer as soon as it was looked at once."""

    @property
    def reply(self) -> Reply:
        """That another server is asking; at the second look its answer."""
        self.looked += 1
        return Reply.of(AskedAlready()) if self.looked == 1 else encoded({})


def test_an_answer_that_comes_while_one_looks_is_no_defect() -> None:
    """It is looked at once: a second look would find another reply, of which the first knew nothing."""
    waiting: Any = _Overtaken(id="a", release=None, looked=0)
    assert reply(waiting, JSON).status_code == 202
    assert waiting.looked == 1
