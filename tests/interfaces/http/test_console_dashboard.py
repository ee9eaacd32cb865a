"""The dashboard: names are of one person, and looking at stored answers is never paid for."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.interfaces.http.console import answers, dashboard
from discreet.interfaces.http.console.answers import _more_exactly
from discreet.ledger import NamedQuestion
from discreet.ledger.named_questions import MOST
from discreet.privacy import Limits
from discreet.service import Ask, Role
from support.served import in_threads
from support.visited import BY_KEY, COUNT, IMAGE, SCRIPT, Visited, answered, form_of, sign_in, visited, with_token


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    """One service for all tests."""
    with in_threads(), visited(tmp_path_factory.mktemp("dashboard"), seconds=0.4) as found:
        yield found


def account(running: Visited) -> tuple[Any, int]:
    """What was spent, and how many entries there are."""
    auditor = running.service.caller(running.tokens["auditor"])
    return running.service.budget(auditor)["spent"], len(running.service.history(auditor))


def named(running: Visited, question: str, name: str, epsilon: str = "1") -> str:
    """Ask a question as the analyst, and give it a name; the path of its answer."""
    client = sign_in(running, "analyst")
    page = answered(client, question, epsilon)
    path = page.url.path
    kept = client.post("/names", data={"form": form_of(page), "answer": path.rpartition("/")[2], "name": name})
    assert kept.url.path == path, kept.text
    return str(path)


def test_looking_at_named_answers_is_never_paid_for(running: Visited) -> None:
    """Again and again, in a server that forgot its tickets, and where nothing is stored: the account stays as it is."""
    named(running, BY_KEY, "By key")
    named(running, f"{COUNT}; {COUNT} WHERE age > 30", "Two")
    named(running, "SUMMARIZE people", "All of it", "2")
    analyst = running.service.caller(running.tokens["analyst"])
    unasked = {"question": f"{COUNT} WHERE age = 29", "offer": "epsilon", "amount": "3", "confidence": "95"}
    running.service.name(analyst, NamedQuestion(name="Never asked", content=unasked, version=1))
    running.service.name(analyst, NamedQuestion(name="Of a later version", content=unasked, version=2))
    running.service.name(analyst, NamedQuestion(name="Of none", content={"question": "DROP"}, version=0))
    before, client = account(running), sign_in(running, "analyst")
    for _ in range(2):
        page = client.get("/dashboard").text
        assert page.count("No stored answer") == 3
        assert page.count("<section") == 6
        assert 'class="chart' in page
        assert "and 1 more answer" in page
        running.service._found.clear()
        running.service._questions._tickets.clear()
    assert account(running) == before
    for name in ("Never asked", "Of a later version", "Of none", "All of it", "Two"):
        client.post("/names/removal", data={"form": form_of(client.get("/")), "name": name})
    assert client.get("/dashboard").text.count("<section") == 1
    with pytest.raises(InvalidArgument, match="of a version"):
        running.service.stored(analyst, "By key", Ask(BY_KEY, {"epsilon": "1"}))


def test_of_long_answers_no_more_is_read_than_is_shown(running: Visited, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of forty of them is made in the process that everybody waits for."""
    named(running, "SELECT age, COUNT(*) AS n FROM people GROUP BY age", "Ages")
    read, lengths = answers.Answer.from_json, list[int]()
    monkeypatch.setattr(dashboard, "_MOST_DRAWN", 100)
    monkeypatch.setattr(answers.Answer, "from_json", lambda data: (lengths.append(len(data["rows"])), read(data))[1])
    client = sign_in(running, "analyst")
    assert "92 more" in client.get("/dashboard").text
    assert max(lengths) == 10
    monkeypatch.undo()
    assert running.service.unname(running.service.caller(running.tokens["analyst"]), "Ages")


def test_what_was_found_once_takes_no_planning_again(running: Visited, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its ticket is remembered; another offer under the same name isn't answered by it."""
    named(running, f"{COUNT} WHERE age < 41", "Young")
    client = sign_in(running, "analyst")
    assert "Young" in client.get("/dashboard").text
    monkeypatch.setattr(running.service, "ask", lambda *_: pytest.fail("it was planned again"))
    assert "Young</a>" in client.get("/dashboard").text
    monkeypatch.undo()
    analyst = running.service.caller(running.tokens["analyst"])
    (kept,) = (each for each in running.service.named(analyst) if each.name == "Young")
    running.service.name(analyst, replace(kept, content={**kept.content, "amount": "7"}))
    assert "Young</a>" not in client.get("/dashboard").text
    assert running.service.unname(analyst, "Young")


def test_names_are_of_one_person(running: Visited) -> None:
    """Nobody else sees them, names another's answer, takes a name away, or asks above their ceiling by one."""
    path = named(running, f"{COUNT} WHERE age < 43", "Mine alone")
    for name in ("mallory", "poor"):
        other = sign_in(running, name)
        assert "Mine alone" not in other.get("/dashboard").text
        form = form_of(other.get("/"))
        sent = {"form": form, "answer": path.rpartition("/")[2], "name": "stolen"}
        assert other.post("/names", data=sent).status_code == 422
        assert other.post("/names/removal", data={"form": form, "name": "Mine alone"}).status_code == 422
    for name in ("custodian", "auditor", "operator"):
        other = sign_in(running, name)
        form = form_of(other.get("/"))
        assert other.get("/dashboard").status_code == 403
        for place in ("/names", "/names/removal"):
            assert other.post(place, data={"form": form, "name": "Mine alone", "answer": "x"}).status_code == 403
    custodian = running.service.caller(running.tokens["custodian"])
    issued = running.service.issue(custodian, "analyst", Role.ANALYST, days=1, most_epsilon="1/1000")
    assert "Mine alone</a>" in sign_in(running, "analyst").get("/dashboard").text  # its ticket is remembered
    page = with_token(running, issued.text).get("/dashboard").text
    assert "Mine alone" in page
    assert "above_ceiling" in page
    assert "Mine alone</a>" not in page


def test_hostile_names_are_text_and_have_an_end(running: Visited, monkeypatch: pytest.MonkeyPatch) -> None:
    """Markup is escaped, signs that don't print are refused, and so are names by the hundred and long questions."""
    path = named(running, f"{COUNT} WHERE age < 44", IMAGE)
    client = sign_in(running, "analyst")
    assert "<img" not in client.get("/dashboard").text
    page = client.get(path).text
    assert "<img" not in page
    assert f"<h1>{IMAGE}</h1>" in html.unescape(page)
    for wrong in ("", " ", "a\u202eb", "\x00", "a" * 256):
        sent = {"form": form_of(client.get("/")), "answer": path.rpartition("/")[2], "name": wrong}
        assert client.post("/names", data=sent).status_code == 422
    mallory = running.service.caller(running.tokens["mallory"])
    for number in range(MOST):
        running.service.name(mallory, NamedQuestion(name=f"n{number}", content={"question": "x"}, version=1))
    running.service.name(mallory, NamedQuestion(name="n0", content={"question": SCRIPT}, version=1))
    with pytest.raises(InvalidArgument, match="have names already"):
        running.service.name(mallory, NamedQuestion(name="one more", content={}, version=1))
    assert running.service.unname(mallory, "n1")
    with pytest.raises(InvalidArgument, match="at most"):
        running.service.name(mallory, NamedQuestion(name="long", content={"question": "x" * 20_001}, version=1))
    monkeypatch.setattr("discreet.ledger.named_questions.json.loads", lambda _: [1])
    with pytest.raises(LedgerCorrupt):
        running.service.named(mallory)


def test_an_answer_can_be_copied_sorted_and_asked_more_exactly(running: Visited) -> None:
    """Python, the command line and Markdown; each cell says what it is called and what it is sorted by."""
    page = answered(sign_in(running, "analyst"), BY_KEY, "1").text
    text = html.unescape(page)
    assert "people.ask(" in text
    assert 'epsilon="1"' in text
    assert f"discreet ask '{BY_KEY}' --epsilon 1" in text
    assert "| k | n |" in text
    assert "| {{7*7}} |" in text
    assert '<td data-label="n" data-by="' in page
    more = re.search(r'<a class="button" href="(/ask\?[^"]+)">Ask more exactly', page)
    assert more is not None
    assert "amount=2&" in html.unescape(more[1])
    assert "Ask, and pay ε = 2" in sign_in(running, "analyst").get(html.unescape(more[1])).text


def test_a_long_answer_is_shown_in_part(running: Visited, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is made while others wait, so it has an end; files have all rows."""
    monkeypatch.setattr(answers.shown, "__kwdefaults__", {"rows": 2, "drawn": 3})
    client = sign_in(running, "analyst")
    page = answered(client, BY_KEY, "1")
    assert page.text.count("<tr>") == 3
    assert "3 more rows" in page.text
    assert "<svg" not in page.text
    assert len(client.get(f"{page.url.path}/1/answer.csv").text.splitlines()) == 6


def test_a_host_that_cannot_be_read_is_no_fault_of_ours(running: Visited) -> None:
    """The address that is copied is the one by which the browser came."""
    client = sign_in(running, "analyst")
    path = answered(client, BY_KEY, "1").url.path
    assert "https://gate.example.org" not in client.get(path).text
    assert "http://gate.example.org" in client.get(path, headers={"Host": "gate.example.org"}).text
    for host in ("[", "a b", '"><img src=x>'):
        page = client.get(path, headers={"Host": host})
        assert page.status_code < 500, host
        assert "<img" not in page.text


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ({"epsilon": "1/3"}, {"epsilon": "2/3"}),
        ({"epsilon": "0.05", "delta": "1e-6"}, {"epsilon": "0.1", "delta": "1e-6"}),
        ({"rho": "0.01", "limits": Limits(rows=5)}, {"rho": "0.04", "limits": Limits(rows=5)}),
        ({"within": "50"}, {"within": "25"}),
        ({"within": {"n": "50"}}, None),
        ({"epsilon": Fraction(1, 10)}, {"epsilon": "0.2"}),
        ({}, None),
    ],
)
def test_more_exactly_is_half_the_error(terms: Mapping[str, Any], expected: Mapping[str, Any] | None) -> None:
    """Where the offer is one number."""
    assert _more_exactly(terms) == expected
