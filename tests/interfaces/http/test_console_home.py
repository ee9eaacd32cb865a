"""The console's home by role, the slider that says how exact, and what each role doesn't see there."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from threading import Timer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from discreet.accounting import Charge
from discreet.interfaces.http.console.exactness import steps_to
from discreet.interfaces.http.console.examples import examples
from discreet.interfaces.http.console.standing import forecast
from discreet.ledger import Entry, State
from support.served import in_threads
from support.visited import BY_KEY, COUNT, IMAGE, MALLORY, SCRIPT, Visited, answered, form_of, sign_in, visited


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    """One service for all tests."""
    with in_threads(), visited(tmp_path_factory.mktemp("home"), seconds=0.4) as found:
        yield found


def test_an_analyst_begins_with_what_is_theirs(running: Visited) -> None:
    """What is left, examples that plan, and their own questions; nothing of another's, nor of the custodian's."""
    ann, mallory = sign_in(running, "analyst"), sign_in(running, "mallory")
    answered(mallory, f"{COUNT} WHERE age < 31")
    answered(ann, f"{COUNT} WHERE age < 32")
    page = ann.get("/").text
    assert "Left for you" in page
    assert "age &lt; 32" in page
    for foreign in (
        "age &lt; 31",
        "mallory",
        "Who spent what",
        "admitted",
        "isn’t read",
        "waiting for you",
        "verified",
    ):
        assert foreign not in page, foreign
    places = re.findall(r'<li><a href="(/ask\?[^"]+)"><b>', page)
    assert len(places) >= 4
    for place in places:
        assert "Ask, " in ann.get(html.unescape(place)).text, place
    assert SCRIPT not in mallory.get("/").text


def test_a_custodian_sees_who_spent_what_and_what_waits(running: Visited) -> None:
    """People with their spending, requests, the version of the tables; and once it is there, what isn't read."""
    answered(sign_in(running, "mallory"), f"{COUNT} WHERE age < 33")
    running.service.request(running.service.caller(running.tokens["poor"]), COUNT, {"epsilon": "1"}, IMAGE)
    office = sign_in(running, "custodian")
    page = office.get("/").text
    assert SCRIPT not in page
    for words in ("Who spent what", MALLORY, "waiting for you", "Data version 1", "admitted"):
        assert words in html.unescape(page), words
    report = {"version": 2, "tables": {"people": {"rows": 9, "left_out": 3, "unreadable": {"age": 2}, "cut": {}}}}
    running.service._admitting._last = {"state": "done", "at": "2026-01-01T00:00:00", "report": report}
    page = office.get("/").text
    assert "rows left out" in page
    assert "values unreadable in age" in page
    assert "keep it to yourself" in page
    for name in ("analyst", "auditor"):
        assert "unreadable" not in sign_in(running, name).get("/").text
    running.service._admitting._last = None


def test_two_windows_at_once_both_load(running: Visited, monkeypatch: pytest.MonkeyPatch) -> None:
    """The history is read by one at a time; a page waits a moment for the other, and says so if that goes on.

    A third one is refused at once: whatever waits keeps a thread from others.
    """
    client = sign_in(running, "analyst")
    looking = running.service._looking
    looking.add("analyst")
    timer = Timer(0.15, looking.discard, ["analyst"])
    timer.start()
    assert client.get("/").status_code == 200
    timer.join()
    looking.add("analyst")
    assert client.get("/budget").status_code == 429
    running.service._next.add("analyst")
    monkeypatch.setattr(running.service._looking_changes, "wait_for", lambda *_: pytest.fail("a third one waits"))
    assert client.get("/").status_code == 429
    looking.discard("analyst")
    running.service._next.discard("analyst")


def test_an_auditor_sees_the_last_verification(running: Visited) -> None:
    """None at first; then when, by whom, and what was found. An analyst may not know."""
    audit = sign_in(running, "auditor")
    running.service._verified = None
    assert "Nobody has verified it since" in audit.get("/").text
    audit.post("/verification", data={"form": form_of(audit.get("/"))})
    page = audit.get("/").text
    assert "verified by auditor" in page
    assert "entries held" in page
    assert "entries held" not in sign_in(running, "analyst").get("/").text


def test_an_operator_sees_metrics_and_nothing_that_was_asked(running: Visited) -> None:
    """The closed list, as at its own port."""
    answered(sign_in(running, "analyst"), BY_KEY)
    page = sign_in(running, "operator").get("/").text
    assert "Slots in use" in page
    assert "SELECT" not in page
    assert "people" not in page


def test_the_slider_says_an_amount_that_the_address_keeps(running: Visited) -> None:
    """A step is an amount within what is left and what one question may cost; a colleague's slider changes nothing."""
    ann, poor = sign_in(running, "analyst"), sign_in(running, "poor")
    moved = ann.get("/ask", params={"question": COUNT, "offer": "exact", "exact": "3", "amount": ""})
    said = parse_qs(urlsplit(str(moved.url)).query)
    assert (said["offer"], "exact" in said) == (["epsilon"], False)
    assert f"Ask, and pay ε = {said['amount'][0]}" in moved.text
    assert f'<output for="exact" id="exact-says">ε = {said["amount"][0]}</output>' in moved.text
    assert "above_ceiling" not in poor.get("/ask", params={"question": COUNT, "offer": "exact", "exact": "99"}).text
    (offers,) = re.findall(r'data-offers="([^"]+)"', poor.get("/ask").text)
    assert max(map(Fraction, offers.split())) <= Fraction(1, 10)
    for wrong in ("-1", "²", "1e9", IMAGE, "100000"):
        page = ann.get("/ask", params={"question": COUNT, "offer": "exact", "exact": wrong})
        assert "Ask, " in page.text, wrong
    typed = ann.get("/ask", params={"question": COUNT, "offer": "exact", "exact": "3", "amount": "70"})
    assert "offer=within&amount=70" in str(typed.url)
    known = ann.get("/ask", params={"question": COUNT, "offer": "epsilon", "amount": "1/2"}).text
    assert "ε = 1/2</output>" in known
    for amount in ("1e99999999", "1/0", "9" * 5000):
        assert ann.get("/ask", params={"question": COUNT, "offer": "epsilon", "amount": amount}).status_code == 200


def test_the_editor_begins_with_a_question_that_works(running: Visited) -> None:
    """And says what is free. A custodian plans it; nobody else comes in."""
    page = sign_in(running, "analyst").get("/ask").text
    assert "GROUP BY k</textarea>" in page
    assert "Ask, " in page
    assert "Free: this plan" in page
    assert "can plan questions, but not ask them" in sign_in(running, "custodian").get("/ask").text
    assert sign_in(running, "auditor").get("/ask").status_code == 403


@pytest.mark.parametrize("left", ["0", "1/1000", "0.3", "3", "1000"])
def test_the_steps_end_where_the_budget_does(left: str) -> None:
    """Each is dearer than the one before, and none costs more than is left, unless nearly nothing is."""
    ladder = steps_to("epsilon", Fraction(left))
    amounts = list(map(Fraction, ladder.amounts))
    assert amounts == sorted(set(amounts))
    assert len(amounts) >= 6
    assert amounts[-1] <= max(Fraction(left), amounts[5])
    assert amounts[ladder.usual] * 20 <= Fraction(left) or ladder.usual == 0


def _asked(now: datetime, *days: float) -> list[tuple[Entry, Fraction]]:
    common: dict[str, Any] = {"kind": "question", "analyst": "a", "text": COUNT, "cost": Charge.zero()}
    return [
        (Entry(number=1, at=now - timedelta(days=each), state=State.COMMITTED, **common), Fraction(1)) for each in days
    ]


def test_a_forecast_needs_a_pace() -> None:
    """Two in ten days are one in five; of an hour, of nothing, and of what lasts for decades none is told."""
    now = datetime(2026, 5, 1, tzinfo=UTC)
    assert forecast(_asked(now, 10, 2), 1.0, now) == "2026-05-06"
    assert forecast(_asked(now, 40, 10, 2), 1.0, now) == "2026-05-06"
    assert forecast(_asked(now, 0.04), 1.0, now) == ""
    assert forecast(_asked(now, 10), 0.0, now) == ""
    assert forecast(_asked(now, 10), 1e6, now) == ""
    assert forecast([], 1.0, now) == ""


def test_examples_ask_of_private_tables_alone() -> None:
    """Names that aren't plain, or are words of SQL, stand in quotes; without keys and bounds rows are still counted."""
    column = {"name": "order", "kind": "integer", "keys": None, "bounds": [0, 1]}
    private = {"name": "My Table", "public": False, "columns": [column]}
    assert [each.sql for each in examples([{"name": "p", "public": True, "columns": []}, private])] == [
        'SELECT COUNT(*) AS n\nFROM "My Table"',
        'SELECT MEDIAN("order") AS median\nFROM "My Table"',
    ]
    assert examples([]) == []
