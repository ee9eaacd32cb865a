"""Admissions over HTTP: the custodian alone begins them and sees their reports, and questions go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

import pytest
from fastapi.testclient import TestClient

from discreet.interfaces.http import make_app
from discreet.service import admission_runs
from support.served import COUNT, Served, bearer, served_in_threads

CANARY = "canary-9301"


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests."""
    with served_in_threads(tmp_path_factory.mktemp("admissions")) as found:
        yield found


def client_of(running: Served, name: str) -> TestClient:
    """A client of the API, for somebody."""
    return TestClient(make_app(running.service), headers=bearer(running, name))


def admitted(client: TestClient, **asked: Any) -> dict[str, Any]:
    """What became of an admission."""
    begun = client.post("/v1/admissions", json=asked)
    assert (begun.status_code, begun.json()["state"]) == (202, "running"), begun.text
    end = monotonic() + 60
    while (found := client.get(begun.headers["location"]).json())["last"]["state"] == "running":
        assert monotonic() < end
        sleep(0.02)
    last: dict[str, Any] = found["last"]
    return last


def test_the_tables_are_admitted_and_reported_to_the_custodian(running: Served) -> None:
    """Each time a version more; questions are of the newest, and planned meanwhile; nobody else may see or do it."""
    carla, ann = client_of(running, "custodian"), client_of(running, "analyst")
    assert carla.get("/v1/admissions").json()["last"] is None
    with (running.folder / "people.csv").open("a", encoding="utf-8") as file:
        file.write(f"{CANARY},a\n")
    first = admitted(carla)
    assert first["state"] == "done"
    assert first["report"]["version"] == 2
    assert first["report"]["tables"]["people"]["left_out"] == 1
    assert len(carla.get("/v1/admissions").json()["versions"]) == 2
    assert ann.post("/v1/plans", json={"question": COUNT, "epsilon": 1}).status_code == 200
    for name in ("analyst", "auditor", "operator"):
        client = client_of(running, name)
        assert client.get("/v1/admissions").status_code == client.post("/v1/admissions", json={}).status_code == 403


def test_what_cannot_be_read_leaves_what_is_in_force(running: Served) -> None:
    """The custodian hears why; with `scheduled` the version goes up all the same."""
    carla, source = client_of(running, "custodian"), running.folder / "people.csv"
    before = len(carla.get("/v1/admissions").json()["versions"])
    source.rename(source.with_suffix(".gone"))
    try:
        failed = admitted(carla)
        assert (failed["state"], failed["error"]["code"]) == ("failed", "source_missing")
        assert len(carla.get("/v1/admissions").json()["versions"]) == before
        again = admitted(carla, scheduled=True)
        assert again["state"] == "done"
        assert again["report"]["problem"]
        assert len(carla.get("/v1/admissions").json()["versions"]) == before + 1
    finally:
        source.with_suffix(".gone").rename(source)
    assert admitted(carla, at_most_unreadable="0")["state"] in {"done", "failed"}
    assert admitted(carla, group="nope")["error"]["code"] == "invalid_argument"
    for wrong in ({"at_most_unreadable": 2}, {"at_most_unreadable": "x"}, {"keep": 1}, {"scheduled": "yes"}):
        assert carla.post("/v1/admissions", json=wrong).status_code == 422


def test_what_nobody_foresaw_quotes_nothing(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even to the custodian, for whoever reads what the process writes would read it, too."""

    def fail(_: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr("discreet.gateway.admissions_of", fail)
    last = admitted(client_of(running, "custodian"))
    assert (last["state"], last["error"]["code"]) == ("failed", "engine_unavailable")
    assert CANARY not in str(last)


def test_one_at_a_time_and_none_that_was_cut_off(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one runs, another is refused; of one whose process ended it is said that it did."""
    carla = client_of(running, "custodian")

    def stuck(connection: Any, *_: object) -> None:
        with suppress(EOFError):
            connection.recv()

    monkeypatch.setattr(admission_runs, "_admit", stuck)
    assert carla.post("/v1/admissions", json={}).status_code == 202
    assert carla.post("/v1/admissions", json={}).status_code == 429
    running.service._admitting.close()
    while carla.get("/v1/admissions").json()["last"]["state"] == "running":
        sleep(0.01)
    assert carla.get("/v1/admissions").json()["last"]["error"]["code"] == "engine_unavailable"
