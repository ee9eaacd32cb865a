"""The console for those who hold the account: tokens, certificates; and questions that are asked together."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from time import sleep
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from discreet.accounting import Charge
from discreet.interfaces.http.console.asking import questions_in
from discreet.ledger import Entry, State
from discreet.ledger.chain import Chain
from discreet.ledger.row import Kind, Row
from discreet.results import verify_certificate, verify_head
from support.served import in_threads
from support.visited import COUNT, IMAGE, SCRIPT, Visited, answered, browser, form_of, sign_in, visited, with_token

TOGETHER = f"{COUNT};\n{COUNT} WHERE age > 25 -- ;\n;"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    """One service for all tests."""
    with in_threads(), visited(tmp_path_factory.mktemp("console"), seconds=0.4) as found:
        yield found


def made(running: Visited, **fields: str) -> tuple[Response, str]:
    """The page after a token was to be made, and the token, if one was."""
    custodian = sign_in(running, "custodian")
    usual = {"subject": "newcomer", "role": "analyst", "days": "3", "form": form_of(custodian.get("/tokens"))}
    page = custodian.post("/tokens", data=usual | fields)
    found = re.search(r'value="(dsc_[\w-]{43})"', page.text)
    return page, found[1] if found else ""


def test_a_token_allows_what_its_form_said(running: Visited) -> None:
    """Ceilings, share, datasets and end are those of the token, and the list shows them."""
    page, text = made(
        running, most_epsilon="1/2", most_rho="0.01", share="2", share_delta="1e-6", datasets="people, visits", days="9"
    )
    caller = running.service.caller(text)
    assert (caller.most_epsilon, caller.most_rho) == (Fraction(1, 2), Fraction(1, 100))
    assert caller.share == "ε = 2, δ = 1e-06"
    assert caller.datasets == ("people", "visits")
    listed = sign_in(running, "custodian").get("/tokens").text
    for words in ("ε ≤ 0.5", "ρ ≤ 0.01", "ε = 2, δ = 1e-06", "people, visits", f"{caller.expires:%Y-%m-%d}"):
        assert words in html.unescape(page.text), words
        assert words in html.unescape(listed), words
    assert text not in listed
    poor = with_token(running, made(running, subject="sharer", share="0.1", renews="monthly")[1])
    assert "budget_exhausted" in answered(poor, f"{COUNT} WHERE age < 22").text
    assert "ε = 0.1 a month" in html.unescape(sign_in(running, "custodian").get("/tokens").text)
    assert re.search(r"your share renews on \d{4}-\d\d-01 \(UTC\)", poor.get("/budget").text)
    assert "renews on" not in with_token(running, text).get("/budget").text


@pytest.mark.parametrize(
    "fields",
    [
        {"share_delta": "1e-6"},
        {"renews": "monthly"},
        {"renews": "weekly", "share": "1"},
        {"share": "0"},
        {"share": "much"},
        {"most_rho": "-1"},
        {"most_epsilon": "nan"},
        {"role": "auditor", "share": "1"},
        {"role": "custodian", "most_rho": "1"},
        {"role": "king"},
        {"datasets": "a" * 2000},
        {"days": "0"},
        {"days": "²"},
        {"days": "9999"},
        {"subject": "\x00"},
    ],
)
def test_a_form_that_says_what_no_token_allows_keeps_what_was_typed(running: Visited, fields: dict[str, str]) -> None:
    """It says what is wrong, and makes nothing."""
    page, text = made(running, **fields)
    assert (page.status_code, text) == (422, "")
    assert 'role="alert"' in page.text
    assert 'value="newcomer"' in page.text or "subject" in fields
    assert "most_epsilon must" not in page.text  # a field is called by its label
    if fields in ({"most_epsilon": "nan"}, {"share": "much"}):
        assert "“Most ε” must be" in page.text or "“Share, ε” must be" in page.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", "SELECT 1"),
        (" SELECT 1 ; -- that's all; \n ;; /* ; */ ", " SELECT 1 ; -- that's all; \n ;; /* ; */ "),
        ("SELECT 'a;''b;'; SELECT \";\"", ["SELECT 'a;''b;'", 'SELECT ";"']),
        ("SELECT 1 -- ;\n; SELECT 2 /* ; ' */", ["SELECT 1 -- ;", "SELECT 2 /* ; ' */"]),
        ("SELECT 4/2; SELECT 3-1;", ["SELECT 4/2", "SELECT 3-1"]),
        ("SELECT 1; SELECT 'open; SELECT 2", ["SELECT 1", "SELECT 'open; SELECT 2"]),
        ("SELECT 1; SELECT 2 /* open; SELECT 3", ["SELECT 1", "SELECT 2 /* open; SELECT 3"]),
        ("", ""),
        (";", ";"),
    ],
)
def test_semicolons_part_questions_where_sql_ends_a_statement(text: str, expected: str | list[str]) -> None:
    """Not in texts, names and comments; what is open runs to the end."""
    assert questions_in(text) == expected


@pytest.mark.parametrize("part", ["'", '"', "/*", "--", "-", "/", ";", "';", "x", " "])
def test_long_texts_are_parted_in_one_pass(part: str) -> None:
    """Each character is looked at a bounded number of times, so 64 Ki of the worst are no burden: this ends."""
    assert questions_in(part * (65_536 // len(part))) is not None


def asked(client: TestClient, question: str, epsilon: str = "1") -> Response:
    """The page after a plan's own form was sent, once there is an answer."""
    plan = client.get("/ask", params={"question": question, "offer": "epsilon", "amount": epsilon})
    form = plan.text[plan.text.index('class="ask-now"') :]
    page = client.post("/ask", data=_hidden(form))
    while "refresh" in page.headers:
        sleep(0.1)
        page = client.get(page.url)
    return page


def _hidden(form: str) -> dict[str, str]:
    """The hidden fields of a form."""
    found = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in found}


def test_questions_are_planned_asked_and_answered_together(running: Visited) -> None:
    """One offer, one debit, one page; each answer verifies by itself, and asking all again is free."""
    client = sign_in(running, "analyst")
    plan = client.get("/ask", params={"question": TOGETHER, "offer": "epsilon", "amount": "1"})
    assert "what all 2 cost together" in plan.text
    assert plan.text.count("<b>±") == 2
    page = asked(client, TOGETHER, "1")
    assert "2 answers" in page.text
    before = len(running.service.history(running.service.caller(running.tokens["analyst"])))
    entries = set()
    for place in (1, 2):
        text = client.get(f"{page.url.path}/{place}/answer.json").text
        assert verify_certificate(text, running.service.key).holds
        entries.add(json.loads(text)["entry"])
        assert client.get(f"{page.url.path}/{place}/answer.csv").text.startswith("n,n_low,n_high")
    assert len(entries) == 1
    assert client.get(f"{page.url.path}/3/answer.csv").status_code == 422
    assert "free: the same answer again, paid for in entry" in asked(client, TOGETHER, "1").text
    assert len(running.service.history(running.service.caller(running.tokens["analyst"]))) == before
    again = re.search(r'class="sql-link" href="(/ask\?[^"]+)"', client.get("/history").text)
    assert again is not None
    planned = client.get(html.unescape(again[1])).text
    assert "what it costs: it is answered already" in planned
    assert "Ask, for nothing" in planned


def test_of_several_questions_the_wrong_one_is_named(running: Visited) -> None:
    """All are refused, nothing is charged; above a ceiling none is requested together."""
    client, poor = sign_in(running, "analyst"), sign_in(running, "poor")
    page = client.get("/ask", params={"question": f"{COUNT}; {COUNT} WHERE aeg > 1", "offer": "epsilon", "amount": "1"})
    assert "question 2: " in page.text
    assert "Nothing was charged" in page.text
    above = {"question": TOGETHER, "offer": "epsilon", "amount": "1"}
    page = poor.get("/ask", params=above)
    assert "above_ceiling" in page.text
    assert "Request approval" not in page.text
    refused = poor.post("/requests", data={**above, "form": form_of(page), "purpose": "x"})
    assert "requested for only one question" in refused.text


def test_who_is_above_the_ceiling_or_the_budget_is_told_with_the_plan(running: Visited) -> None:
    """Nobody is offered to pay what would be refused."""
    poor = sign_in(running, "poor").get("/ask", params={"question": COUNT, "offer": "epsilon", "amount": "1"})
    assert "above_ceiling" in poor.text
    assert "what it would cost" in poor.text
    assert "and pay" not in poor.text
    wanted = {"question": COUNT, "offer": "epsilon", "amount": "5000"}
    page = sign_in(running, "analyst").get("/ask", params=wanted)
    assert "The budget doesn’t pay for it." in page.text
    assert "and pay" not in page.text


@pytest.fixture(scope="module")
def vouched(running: Visited) -> tuple[Response, str]:
    """The page of an answer, and the address of its certificate."""
    page = answered(sign_in(running, "analyst"), f"{COUNT} WHERE age < 44", "1/2")
    rows = sign_in(running, "auditor").get("/history").text.split("<tr>")
    row = next(row for row in rows if "age &lt; 44" in row)
    found = re.search(r'href="(/history/\d+)"', row)
    assert found is not None
    return page, found[1]


def test_an_auditor_has_the_certificate_of_each_question_and_no_answer(
    running: Visited, vouched: tuple[Response, str]
) -> None:
    """It is shown, verified, signed and taken home; an analyst has none of others', and nobody the released values."""
    page, place = vouched
    auditor = sign_in(running, "auditor")
    shown = auditor.get(place)
    assert "It holds:" in shown.text
    assert "ε = 1/" in shown.text
    kept = auditor.get(f"{place}/certificate.json")
    assert kept.headers["content-disposition"].startswith("attachment")
    found = kept.json()
    assert verify_certificate(kept.text, running.service.key).holds
    assert found["certificate"]["entry"] == found["entry"] == int(place.rpartition("/")[2])
    assert not {"rows", "intervals", "answer", "groups"} & found.keys()
    value = sign_in(running, "analyst").get(f"{page.url.path}/1/answer.csv").text.splitlines()[1].split(",")[0]
    assert f": {value}" not in kept.text
    for name in ("analyst", "operator"):
        assert sign_in(running, name).get(place).status_code == 403
        assert sign_in(running, name).get(f"{place}/certificate.json").status_code == 403
    for wrong in ("0", "99999", "9" * 30, "x"):
        assert auditor.get(f"/history/{wrong}").status_code == 422
    assert auditor.get("/history/²").status_code == 400
    api = browser(running)
    headers = {"Authorization": f"Bearer {running.tokens['auditor']}"}
    reply = api.get(f"/v1{place}/certificate", headers=headers).json()
    del reply["signature"], found["signature"]
    assert reply == found
    assert api.get("/v1/history/99999/certificate", headers=headers).status_code == 404
    assert api.get(f"/v1/history/{'9' * 30}/certificate", headers=headers).status_code == 422


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.update(text="SELECT 1"),
        lambda found: found["certificate"].update(entry=77),
        lambda found: found["cost"].update(epsilon="1/1000"),
        lambda found: found.update(problems=["x"]),
        lambda found: found.pop("debit"),
        lambda found: found.update(rows=[]),
        lambda found: found["signature"].update(account="other"),
    ],
)
def test_a_certificate_that_was_changed_does_not_hold(
    running: Visited, vouched: tuple[Response, str], change: object
) -> None:
    """Nor does one that is offered as an answer, or the other way round."""
    found = sign_in(running, "auditor").get(f"{vouched[1]}/certificate.json").json()
    assert verify_certificate(found, running.service.key).holds
    assert callable(change)
    change(found)
    assert not verify_certificate(found, running.service.key).holds


def test_a_question_without_an_answer_has_no_certificate(
    running: Visited, vouched: tuple[Response, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is pending, and where it failed, the page says so; what contradicts itself is shown as such."""
    auditor = sign_in(running, "auditor")
    caller = running.service.caller(running.tokens["auditor"])
    real = running.service.certificate(caller, int(vouched[1].rpartition("/")[2]))
    assert real is not None
    states = {
        "reserved": ("hasn’t left", None, []),
        "failed": ("got no answer", None, []),
        "committed": ("It doesn’t hold", real["certificate"], ["its certificate names another cost"]),
    }
    for state, (words, proof, problems) in states.items():
        content = {name: value for name, value in real.items() if name != "signature"}
        content |= {"state": state, "certificate": proof, "problems": problems, "text": f"{SCRIPT}{IMAGE}"}
        signed = running.service._tables.signing.certificate(content)
        monkeypatch.setattr(running.service, "certificate", lambda *_, found=signed: found)
        page = auditor.get("/history/1")
        assert words in page.text
        assert SCRIPT not in page.text
        assert all(each in page.text for each in problems)


def test_a_question_that_was_lost_is_called_so_in_the_history(
    running: Visited, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It isn't pending for ever, and nothing promises that it is free to ask it again."""
    now = datetime.now(UTC)
    common: dict[str, Any] = {"kind": "question", "analyst": "analyst", "text": COUNT, "cost": Charge.zero()}
    entries = [
        Entry(number=1, at=now, state=State.RESERVED, due=now + timedelta(minutes=1), **common),
        Entry(number=2, at=now, state=State.RESERVED, due=now - timedelta(hours=1), **common),
    ]
    monkeypatch.setattr(running.service, "history", lambda *_: entries)
    page = sign_in(running, "analyst").get("/history").text
    assert ">pending</span>" in page
    assert ">lost</span>" in page
    assert "Asking an answered one again is free" in page
    assert "costs nothing" not in page


def test_the_head_is_there_to_be_kept(running: Visited) -> None:
    """Signed, before anything is verified and after."""
    auditor = sign_in(running, "auditor")
    head = auditor.get("/verification/head.json")
    assert verify_head(head.text, running.service.key).holds
    assert head.json()["head"] in auditor.get("/verification").text
    assert sign_in(running, "analyst").get("/verification/head.json").status_code == 403


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": "1/1000"}, "charged less than its noise"),
        ({"analyst": "eve"}, "names another analyst"),
        ({"version": 7}, "names another data_version"),
        ({"rho": "9"}, "a cost that wasn't charged"),
    ],
)
def test_an_entry_and_its_certificate_must_say_the_same(
    running: Visited,
    vouched: tuple[Response, str],
    monkeypatch: pytest.MonkeyPatch,
    wrong: dict[str, Any],
    words: str,
) -> None:
    """Whatever is changed in the debit, some problem names it."""
    tables, number = running.service._tables, int(vouched[1].rpartition("/")[2])
    look = Chain.first

    def changed(self: Chain, kind: Kind, **equal: object) -> Row | None:
        found = look(self, kind, **equal)
        if found is None or kind is not Kind.RESERVE:
            return found
        columns = {name: each for name, each in found.columns().items() if name != "hash"}
        return Row.sealed(**(columns | wrong))

    found = tables.vouched(number)
    assert found is not None
    assert found.problems == ()
    monkeypatch.setattr(Chain, "first", changed)
    found = tables.vouched(number)
    assert found is not None
    assert any(words in each for each in found.problems), found.problems


def test_a_request_shows_what_was_offered_and_no_defaults(running: Visited) -> None:
    """The command line sends all terms; who decides reads those that say something."""
    analyst = running.service.caller(running.tokens["analyst"])
    usual = {"confidence": "0.95", "consistent": False, "cut_off": False, "dialect": "duckdb"}
    for terms in (usual, {**usual, "confidence": "0.9", "cut_off": True}):
        running.service.request(analyst, COUNT, {"epsilon": "3", **terms}, "to know")
    page = " ".join(sign_in(running, "custodian").get("/requests").text.split())
    assert "<dd>ε 3</dd>" in page
    assert "confidence 0.95" not in page
    assert "duckdb" not in page
    assert "confidence 0.9" in page
    assert "cut_off True" in page
