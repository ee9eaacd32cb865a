"""A damaged ledger: nothing is asked of it, what isn't damaged can be read, and who may sees what is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from fractions import Fraction
from pathlib import Path
from shutil import copytree
from threading import Event, Thread

import pytest
from fastapi.testclient import TestClient

from discreet.errors import LedgerCorrupt, LedgerUnavailable, TooManyWaiting
from discreet.interfaces.http import make_app
from discreet.ledger import DAMAGE, look_through
from discreet.ledger.row import Kind, Row
from discreet.service import Ask, Role, Service
from support.ledgers import rows, sql
from support.served import COUNT, Served, bearer, outcome, served_in_threads


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service of which ann and bob have asked something."""
    with served_in_threads(tmp_path_factory.mktemp("damage")) as found:
        for number, who in enumerate(("analyst", "bob", "analyst")):
            outcome(found.service.ask(found.callers[who], Ask(f"{COUNT} WHERE id > {number}", {"epsilon": "1/10"})))
        found.service.issue(found.callers["custodian"], "carl", Role.ANALYST, days=1)  # the last entry is no debit
        yield found


@pytest.fixture(autouse=True)
def looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look takes in a page of what was seen before: here, all of it."""
    monkeypatch.setattr(look_through, "_EVERY", 0.0)


@pytest.fixture
def damaged(running: Served) -> Iterator[tuple[Served, int]]:
    """The same with an entry of bob's damaged, and its place; whole again in the end."""
    path = running.folder / "people.ledger"
    row = next(row for row in rows(path) if row.kind == Kind.RESERVE and row.analyst == "bob")
    sql(path, "UPDATE discreet_entry SET analyst = 'eve' WHERE seq = ?", row.seq)
    yield running, row.seq
    sql(path, "UPDATE discreet_entry SET analyst = 'bob' WHERE seq = ?", row.seq)
    assert running.service.verify(running.callers["auditor"]).holds


LOOKS: dict[str, Callable[[Served], object]] = {
    "an analyst's history": lambda each: each.service.history(each.callers["analyst"]),
    "an auditor's history": lambda each: each.service.history(each.callers["auditor"]),
    "a verification": lambda each: each.service.verify(each.callers["custodian"]),
}


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_is_asked_once_damage_is_known(damaged: tuple[Served, int], look: str) -> None:
    """Nothing stored either, by whoever it was noticed; until a verification holds."""
    running, service = damaged[0], damaged[0].service
    LOOKS[look](running)
    assert not service.is_ready
    before = running.states()
    for number in (0, 7):
        with pytest.raises(LedgerCorrupt, match="damaged"):
            service.ask(running.callers["analyst"], Ask(f"{COUNT} WHERE id > {number}", {"epsilon": "1/10"}))
    assert running.states() == before


def test_what_waits_when_damage_is_noticed_is_not_paid_for(
    damaged: tuple[Served, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its slot comes too late."""
    running = damaged[0]
    carried_out, before = type(running.service._questions)._carried_out, running.states()

    def noticed(*arguments: object) -> object:
        running.service.history(running.callers["auditor"])
        return carried_out(*arguments)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(type(running.service._questions), "_carried_out", noticed)
    ticket = running.service.ask(running.callers["analyst"], Ask(f"{COUNT} WHERE id > 8", {"epsilon": "1/10"}))
    assert outcome(ticket)["error"]["code"] == LedgerCorrupt.code
    assert running.states() == before


def test_a_server_that_starts_notices(damaged: tuple[Served, int], tmp_path: Path) -> None:
    """Before it takes a question; its ledger is a copy, since each has one server."""
    running = damaged[0]
    copied = copytree(running.folder, tmp_path / "copy")
    with closing(Service(copied / "discreet.toml", running.service.settings)) as another:
        assert not another.is_ready
        with pytest.raises(LedgerCorrupt):
            another.ask(running.callers["analyst"], Ask(COUNT, {"epsilon": "1/9"}))


def test_who_may_sees_which_entry_is_damaged(damaged: tuple[Served, int]) -> None:
    """The others see that there is one, and all of theirs that isn't; what they spent themselves nobody can say."""
    (running, seq), lines = damaged, dict[str, list[str]]()
    client = TestClient(make_app(running.service))
    for name in ("analyst", "bob", "auditor", "custodian"):
        found = client.get("/v1/history", headers=bearer(running, name)).json()
        lines[name] = [each["text"] for each in found if each["kind"] == DAMAGE]
        assert len(lines[name]) == 1
        asked = [each["text"] for each in found if each["kind"] == "question"]
        assert asked == {
            "analyst": [f"{COUNT} WHERE id > 0", f"{COUNT} WHERE id > 2"],
            "bob": [],
        }.get(name, [f"{COUNT} WHERE id > 0", f"{COUNT} WHERE id > 2"])
    for name in ("auditor", "custodian"):
        assert f"entry {seq} of the ledger was altered: restore it" in lines[name][0]
    for name in ("analyst", "bob"):
        assert "may be one of yours" in lines[name][0]
        assert not any(each.isdigit() for each in lines[name][0])
        budget = client.get("/v1/budget", headers=bearer(running, name)).json()
        assert (budget["damaged"], "own" in budget, Fraction(budget["spent"]["epsilon"])) == (
            True,
            False,
            Fraction(3, 10),
        )
    refused = client.post("/v1/answers", headers=bearer(running, "analyst"), json={"question": COUNT, "epsilon": 1})
    assert (refused.status_code, refused.json()["code"]) == (503, LedgerCorrupt.code)
    assert "restored" in refused.json()["title"]


@pytest.mark.parametrize("is_last", [False, True])
def test_pages_of_what_is_not_damaged_are_shown(running: Served, is_last: bool) -> None:
    """Where the last debit is, nobody can say what was spent or sign it, and all else is shown."""
    path = running.folder / "people.ledger"
    debits = [row.seq for row in rows(path) if row.kind == Kind.RESERVE]
    sql(path, "UPDATE discreet_entry SET kind = 'x' WHERE seq = ?", debits[-1 if is_last else 0])
    try:
        client = TestClient(make_app(running.service), headers={"Accept": "text/html"})
        client.cookies.set("discreet", running.service.sessions.begin(running.tokens["auditor"]))
        page = client.get("/history")
        assert (page.status_code, "was altered" in page.text) == (200, True)
        page = client.get("/verification")
        assert (page.status_code, "head.json" in page.text) == (200, not is_last)
        page = client.get("/budget")
        assert (page.status_code, "is damaged" in page.text) == (503 if is_last else 200, True)
    finally:
        sql(path, "UPDATE discreet_entry SET kind = 'reserve' WHERE kind = 'x'")
        assert running.service.verify(running.callers["auditor"]).holds


def test_an_analysts_history_costs_what_it_shows(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the entries of others only what is new is hashed; a page of the rest now and then."""
    service, hashed, seal = running.service, list[int](), Row.seal

    def counted(row: Row) -> str:
        hashed.append(row.seq)
        return seal(row)

    bob, custodian = running.callers["bob"], running.callers["custodian"]
    service.history(bob)
    monkeypatch.setattr(look_through, "_EVERY", 1e9)
    service.history(bob)
    monkeypatch.setattr(Row, "seal", counted)
    own = service.history(bob)
    assert (len(own), len(hashed)) == (1, 3), hashed  # its debit, its outcome, and the last entry
    hashed.clear()
    service.issue(custodian, "dora", Role.ANALYST, days=1)
    service.history(bob)
    assert max(hashed) == len(rows(running.folder / "people.ledger"))
    assert len(set(hashed)) <= 5


def test_a_caller_looks_at_one_history_at_a_time(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others look meanwhile; and the caller again, once that is done, however it ended."""
    service, tables = running.service, type(running.service._tables)
    began, may_go = Event(), Event()

    def slow(_: object) -> list[object]:
        began.set()
        assert may_go.wait(60)
        raise LedgerUnavailable("gone")

    monkeypatch.setattr(tables, "history", slow)

    def look() -> None:
        with suppress(LedgerUnavailable):
            service.history(running.callers["auditor"])

    thread = Thread(target=look)
    thread.start()
    assert began.wait(60)
    with pytest.raises(TooManyWaiting):
        service.history(running.callers["auditor"])
    assert len(service.history(running.callers["bob"])) == 1
    may_go.set()
    thread.join(60)
    monkeypatch.undo()
    assert service.history(running.callers["auditor"])
