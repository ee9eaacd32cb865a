"""What operators see: metrics and log lines are closed lists, and nothing in them is about a person or a question."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, cast

import pytest
from fastapi.testclient import TestClient
from prometheus_client import generate_latest

from discreet.errors import InvalidArgument, LedgerUnavailable
from discreet.interfaces.http import make_app
from discreet.service import METRICS, Event, EventLog, Metrics, Service, event_log
from discreet.service.event_log import FIELDS
from support.served import COUNT, Served, bearer, served_in_threads

CANARY = "canary_7041"
"""In a row, in questions, in addresses, in headers, in bodies and in tokens that are none."""


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests, with a log."""
    with served_in_threads(tmp_path_factory.mktemp("observed"), rare=CANARY) as found:
        yield found


@pytest.fixture
def lines(running: Served) -> Callable[[], list[dict[str, Any]]]:
    """The lines that were logged during a test."""
    stream = io.StringIO()
    running.service.log = log = EventLog(stream)

    def written() -> list[dict[str, Any]]:
        log.flush()
        return [json.loads(line) for line in stream.getvalue().splitlines()]

    return written


def client_of(running: Served, name: str = "analyst") -> TestClient:
    """A client of the API, for somebody."""
    return TestClient(
        make_app(running.service),
        headers=bearer(running, name),
        raise_server_exceptions=False,
    )


def shown(service: Service) -> dict[str, float]:
    """The metrics as an operator reads them."""
    text = generate_latest(service.metrics.registry()).decode()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line[0] != "#"}


def ask_around(running: Served) -> None:
    """Requests of all kinds: answered, stored, refused, malformed, to no path, and with canaries wherever one fits."""
    client = client_of(running)
    client.post("/v1/plans", json={"question": COUNT, "epsilon": "1/4"})
    client.post("/v1/answers", json={"question": COUNT, "epsilon": "1/4"})
    client.post("/v1/answers", json={"question": COUNT, "epsilon": "1/4"})
    client.post("/v1/answers", json={"question": f"SELECT {CANARY} FROM people", "epsilon": 1})
    client.post(
        "/v1/plans", json={"question": f"SELECT COUNT(*) AS {CANARY} FROM people WHERE k = '{CANARY}'", "rho": 1}
    )
    client.post("/v1/answers", json={"question": 7, CANARY: CANARY})
    client.get(f"/{CANARY}/{CANARY}?{CANARY}={CANARY}", headers={CANARY: CANARY, "User-Agent": CANARY})
    client.get(f"/v1/answers/{CANARY}")
    client.request("PROPFIND", "/v1/plans")
    client.get("/v1/me", headers={"Authorization": f"Bearer {CANARY}"})
    client.get("/healthz")
    client.get("/readyz")


def test_metrics_are_those_of_the_list(running: Served) -> None:
    """Each name, label and value: none of the process, of Python or of whoever asked."""
    ask_around(running)
    routes = {*make_app(running.service).openapi()["paths"], "/v1/openapi.json", "none"}
    found = shown(running.service)
    counters = {f"{name}_total": name for name, each in METRICS.items() if each.kind == "counter"}
    for sample in found:
        name, _, labels = sample.partition("{")
        described = METRICS[counters.get(name, name)]
        said = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        assert said.keys() == described.labels.keys()
        for label, value in said.items():
            assert value in (described.labels[label] or routes)
    assert found["discreet_ready"] == 1.0
    assert found['discreet_requests_total{route="none",status="4xx"}'] >= 1
    assert (
        found['discreet_questions_total{outcome="stored"}'] + found['discreet_questions_total{outcome="answered"}'] >= 1
    )
    assert CANARY not in str(found)
    by_token = client_of(running, "operator").get("/v1/metrics")
    assert by_token.headers["content-type"].startswith("text/plain")
    assert all(f"\n{name} " in by_token.text for name in found if name.startswith("discreet_slots"))
    assert client_of(running).get("/v1/metrics").status_code == 403
    for name, labels in (("discreet_rows", {}), ("discreet_plans", {"outcome": CANARY}), ("discreet_plans", {})):
        with pytest.raises(InvalidArgument):
            Metrics().count(name, **labels)
    for name in ("discreet_rows", "discreet_plans"):
        with pytest.raises(InvalidArgument):
            Metrics().watch(name, lambda: 1.0)


def test_lines_are_of_the_list(running: Served, lines: Callable[[], list[dict[str, Any]]]) -> None:
    """Each field, in order; times to the second; no canary, token, subject or question."""
    ask_around(running)
    found = lines()
    assert {line["event"] for line in found} == {Event.REQUEST}
    for line in found:
        assert list(line) == [field for field in FIELDS if field in line]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", line["time"])
    said = json.dumps(found)
    for secret in (CANARY, *running.tokens.values(), "SELECT", "people", str(running.folder)):
        assert secret not in said
    client = client_of(running, "bob")
    assert client.get("/v1/me").json()["token"] == client.get("/v1/me").json()["token"] == lines()[-1]["token"]


def test_libraries_say_only_that_something_went_wrong(
    running: Served, lines: Callable[[], list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither their messages nor tracebacks; a defect's text is in no line either."""

    def fail(_: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(running.service, "budget", fail)
    assert client_of(running).get("/v1/budget").status_code == 500
    hooks = sys.excepthook, sys.unraisablehook, threading.excepthook
    root, before = logging.getLogger(), logging.getLogger().handlers[:]
    kept = {
        name: (each.handlers[:], each.propagate)
        for name, each in logging.Logger.manager.loggerDict.items()
        if isinstance(each, logging.Logger)
    }
    try:
        running.service.log.tame()
        for name in ("uvicorn.error", "sqlalchemy.engine", "anything"):
            logging.getLogger(name).error("%s", CANARY, exc_info=RuntimeError(CANARY))
            logging.getLogger(name).warning(CANARY)
        thread = threading.Thread(target=fail, args=(None,))
        thread.start()
        thread.join()
        sys.unraisablehook(cast("Any", RuntimeError(CANARY)))
    finally:
        sys.excepthook, sys.unraisablehook, threading.excepthook = hooks
        logging.raiseExceptions = True
        logging.captureWarnings(capture=False)
        root.handlers[:] = before
        for name, (handlers, propagate) in kept.items():
            logging.getLogger(name).handlers[:] = handlers
            logging.getLogger(name).propagate = propagate
    assert [line["event"] for line in lines()].count(Event.DEFECT) == 6
    assert CANARY not in json.dumps(lines())


def test_a_log_that_cannot_be_written_stops_nobody() -> None:
    """A closed stream and a full disk."""
    closed = io.StringIO()
    closed.close()
    log = EventLog(closed)
    log.write(Event.READY)
    log.flush()

    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError

    log = EventLog(Full())
    log.write(Event.READY)
    log.flush()


def test_a_log_that_is_slow_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a line is stuck, others wait in order, as many as may; and nothing waits for them."""
    stuck, written = threading.Event(), list[str]()

    class Slow(io.StringIO):
        def write(self, text: str) -> int:
            stuck.wait()
            written.append(text)
            return len(text)

    monkeypatch.setattr(event_log, "_MOST", 3)
    log = EventLog(Slow())
    for number in range(1, 100):
        log.write(Event.REQUEST, status=number)
    log.flush(0.01)
    assert written == []
    stuck.set()
    log.flush()
    statuses = [json.loads(line)["status"] for line in written]
    assert statuses == sorted(statuses)
    assert 3 <= len(statuses) <= 4  # the one that was stuck, if it was taken by then, and those that waited


def test_the_ledger_s_errors_are_counted_and_make_the_server_not_ready(
    running: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their texts aren't told."""

    def fail(*_: object) -> None:
        raise LedgerUnavailable(CANARY)

    client, before = client_of(running), shown(running.service)["discreet_ledger_errors_total"]
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(type(running.service._tables), "spent", property(fail))
    refused = client.get("/readyz")
    assert (refused.status_code, refused.json()["code"]) == (503, "not_ready")
    assert client.get("/v1/budget").status_code == 503
    found = shown(running.service)
    assert (found["discreet_ledger_errors_total"], found["discreet_ready"]) == (before + 1, 0.0)


def test_metrics_are_the_same_with_and_without_a_person(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same requests of tables that differ by one: the same numbers."""
    with ExitStack() as stack:
        pair = [
            stack.enter_context(served_in_threads(tmp_path_factory.mktemp("d"), rows=rows, rare=CANARY))
            for rows in (100, 101)
        ]
        for each in pair:
            ask_around(each)
        found = [shown(each.service) for each in pair]
    assert found[0] == found[1]
    assert found[0]['discreet_questions_total{outcome="answered"}'] == 1


def test_a_refusal_says_why_and_from_where(running: Served, lines: Callable[[], list[dict[str, Any]]]) -> None:
    """Who tries tokens can be told from many who mistype theirs; of who is answered, no address is written."""
    app = make_app(running.service)
    for host, token, status in (("192.0.2.7", "dsc_x", 401), ("2001:db8::7", running.tokens["operator"], 403)):
        client = TestClient(app, client=(host, 5000), headers={"Authorization": f"Bearer {token}"})
        refused = client.get("/v1/history", headers={"X-Forwarded-For": "198.51.100.9"})
        line = lines()[-1]
        assert (refused.status_code, line["status"], line["address"]) == (status, status, host)
        assert line["code"] == refused.json()["code"]
        assert line["request"] == refused.headers["request-id"]
        assert "discreet-code" not in refused.headers
    client_of(running).get("/v1/budget")
    assert not {"address", "code"} & lines()[-1].keys()
    page = TestClient(app, client=("192.0.2.8", 1), headers={"Accept": "text/html"})
    page.get("/nowhere")
    assert (lines()[-1]["code"], lines()[-1]["address"]) == ("http", "192.0.2.8")
    page.get("/v1/me?a=1&a=2")
    assert (lines()[-1]["code"], lines()[-1]["address"]) == ("ambiguous", "192.0.2.8")


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("198.51.100.9", "198.51.100.9"),
        ("8.8.8.8, 198.51.100.9", "198.51.100.9"),
        ("198.51.100.9, unknown", "10.0.0.1"),
        (f"8.8.8.8, {CANARY}", "10.0.0.1"),
        ("", "10.0.0.1"),
    ],
)
def test_behind_a_proxy_its_last_word_counts(
    running: Served, lines: Callable[[], list[dict[str, Any]]], said: str, address: str
) -> None:
    """What a client says of itself stands before it, and isn't believed; what is no address isn't written."""
    client = TestClient(make_app(running.service, behind_proxy=True), client=("10.0.0.1", 1))
    client.get("/v1/me", headers={"X-Forwarded-For": said})
    assert lines()[-1]["address"] == address
    assert CANARY not in json.dumps(lines())
