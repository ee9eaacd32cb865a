"""The console's pages: a question from its plan to its answer, parts that make SQL, tokens, admissions, the ledger."""

from __future__ import annotations

import copy
import csv
import html
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import sleep

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from discreet.interfaces.http import console
from discreet.interfaces.http.console.answers import limits_as_typed
from discreet.query.planner import typed_limits
from discreet.results import Answer, no_formula, verify_certificate
from discreet.results.charts.drawing import MAIN, OTHER
from support.served import in_threads
from support.visited import BY_KEY, COUNT, IMAGE, KEYS, SCRIPT, Visited, answered, browser, form_of, sign_in, visited


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    """One service for all tests: its processes take seconds to start."""
    with in_threads(), visited(tmp_path_factory.mktemp("console"), seconds=0.4) as found:
        yield found


def drawn(page: str, kind: str) -> list[int]:
    """How many marks of a kind each chart of a page has, where it has any."""
    return [group.count("<path") for group in re.findall(f'<g class="{kind}"[^>]*>(.*?)</g>', page)]


def test_a_question_is_planned_asked_shown_and_taken_home(running: Visited) -> None:
    """From the address of a question to its answer as table, chart, CSV and signed JSON; again it is free."""
    client = sign_in(running, "analyst")
    plan = client.get("/ask", params={"question": BY_KEY, "offer": "within", "amount": "10"})
    assert re.search(r"Ask, and pay ε = 0\.\d+", plan.text)
    assert re.search(r"± (9\.\d+|10)<", plan.text)
    page = answered(client, BY_KEY, "2")
    place = page.url.path
    rows = list(csv.reader(client.get(f"{place}/1/answer.csv").text.splitlines()))
    assert rows[0] == ["k", "n", "n_low", "n_high"]
    assert sorted(row[0] for row in rows[1:]) == sorted(map(no_formula, KEYS))
    assert drawn(page.text, "bar") == drawn(page.text, "whisker") == [len(KEYS)] * 2  # once wide, once narrow
    found = client.get(f"{place}/1/answer.json").json()
    assert [[no_formula(row["k"]), str(row["n"])] for row in found["rows"]] == [row[:2] for row in rows[1:]]
    assert verify_certificate(client.get(f"{place}/1/answer.json").text, running.service.key).holds
    for name in ("answer.csv", "answer.svg", "answer.json"):
        assert client.get(f"{place}/1/{name}").headers["content-disposition"].startswith("attachment")
    assert client.get(f"{place}/1/answer.exe").status_code == 422
    assert client.get(f"{place}/2/answer.csv").status_code == 422
    assert sign_in(running, "mallory").get(place).status_code == 422
    assert sign_in(running, "mallory").get(f"{place}/1/answer.csv").status_code == 422
    again = answered(client, BY_KEY, "2")
    analyst = running.service.caller(running.tokens["analyst"])
    stored = Answer.from_json(client.get(f"{again.url.path}/1/answer.json").json())
    notes = stored.__replace__(left=running.service.left(analyst)).notes()
    assert dict(notes)["cost"] == f"free: the same answer again, paid for in entry {found['entry']}"
    for title, words in notes:  # what a print, a notebook and the command line say of it
        assert f"<dt>{title}</dt><dd>{words}</dd>" in html.unescape(again.text)


def test_a_plan_says_that_its_answer_may_leave_at_several_times(
    running: Visited, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that which of them it is tells something."""
    analyst = running.service.caller(running.tokens["analyst"])
    plan = running.service.plan(analyst, COUNT, {"epsilon": "1"})
    assert (plan.step, plan.steps, plan.rungs, plan.seconds) == (0.41, 1, 1, 0.41)
    monkeypatch.setattr(running.service, "plan", lambda *_: replace(plan, rungs=3, seconds=1.6))
    page = sign_in(running, "analyst").get("/ask", params={"question": COUNT, "offer": "epsilon", "amount": "1"})
    assert "leaves 0.41 s after it starts, or at twice that, and so on, up to 1.6 s" in page.text


def test_a_table_is_summarized_from_its_page(running: Visited) -> None:
    """By the form beside its columns: the ± of each part before it is paid, then one table, charts and files."""
    client = sign_in(running, "analyst")
    form = re.search(r'<form[^>]*class="summarize">.*?</form>', client.get("/tables").text, re.DOTALL)
    assert form is not None
    (question,) = map(html.unescape, re.findall(r'name="question" value="(.*?)"', form[0]))
    assert question == 'SUMMARIZE "people"'
    plan = client.get("/ask", params={"question": question, "offer": "epsilon", "amount": "2"})
    assert "Ask, and pay ε = 2" in plan.text
    table = re.search(r'<table class="dense stack">.*?</table>', plan.text, re.DOTALL)
    assert table is not None
    assert re.findall(r'class="number">(\w+)</th>', table[0]) == ["rows", "missing", "mean", "quartiles"]
    assert "ranks" in table[0]
    page = answered(client, question, "2")
    assert "<h1>Summary of people</h1>" in page.text
    assert drawn(page.text, "bar") == [len(KEYS) + 1] * 2
    assert (
        '<th scope="row"><code>age</code></th><td data-label="declared">integer, 0\u00a0to\u00a0100</td>' in page.text
    )
    assert "all of it cost" in page.text
    rows = list(csv.reader(client.get(f"{page.url.path}/3/answer.csv").text.splitlines()))
    assert rows[0][:4] == ["age missing", "age missing_low", "age missing_high", "age mean"]
    assert client.get(f"{page.url.path}/5/answer.csv").status_code == 422
    assert "free: the same answer again, paid for in entry" in answered(client, question, "2").text
    assert "Ask, for nothing" in client.get(
        "/ask", params={"question": question, "offer": "epsilon", "amount": "2"}
    ).text  # fmt: skip
    mistyped = client.get("/ask", params={"question": "SUMMARIZE poeple", "offer": "epsilon", "amount": "2"})
    assert "did you mean people?" in mistyped.text


def test_what_is_refused_is_said_and_nothing_charged(running: Visited) -> None:
    """A wrong column, an empty offer, a ceiling: each is said where the question stands, with its code and place."""
    poor = sign_in(running, "poor")
    before = running.service.budget(running.service.caller(running.tokens["poor"]))["own"]["spent"]
    wrong = poor.get("/ask", params={"question": "SELECT heigth FROM people", "offer": "epsilon", "amount": "1"})
    assert "unknown_column" in wrong.text
    assert "Line 1, column 8" in wrong.text
    assert "Its cost shows here" in poor.get("/ask", params={"question": "", "amount": "1"}).text
    dear = answered(poor, COUNT, "1")
    assert (dear.status_code, "above_ceiling" in dear.text) == (403, True)
    for name, value in (("offer", "everything"), ("confidence", "100"), ("amount", "-1"), ("amount", "nan")):
        asked = {"question": COUNT, "offer": "epsilon", "amount": "1", name: value}
        assert 'role="alert"' in poor.get("/ask", params=asked).text, name
    assert running.service.budget(running.service.caller(running.tokens["poor"]))["own"]["spent"] == before


def test_the_custodian_plans_and_does_not_ask(running: Visited) -> None:
    """The plan has no button; a form that is sent nevertheless is refused by the service."""
    client = sign_in(running, "custodian")
    plan = client.get("/ask", params={"question": COUNT, "offer": "epsilon", "amount": "1"})
    assert "can plan questions, but not ask them" in plan.text
    assert "Ask, and pay" not in plan.text
    assert "forbidden" in answered(client, COUNT).text


def test_tokens_are_made_shown_once_and_revoked(running: Visited) -> None:
    """The text is on the page that follows the form, and on none after it; revoking is a form, too."""
    client = sign_in(running, "custodian")
    sent = {
        "form": form_of(client.get("/tokens")),
        "subject": "new",
        "role": "analyst",
        "days": "1",
        "most_epsilon": "1/2",
    }
    made = client.post("/tokens", data=sent)
    text = re.search(r"dsc_[\w-]{43}", made.text)
    assert text is not None
    caller = running.service.caller(text[0])
    assert (caller.subject, str(caller.most_epsilon)) == ("new", "1/2")
    listed = client.get("/tokens")
    assert text[0] not in listed.text
    assert caller.token in listed.text
    revoked = client.post(f"/tokens/{caller.token}/revocation", data={"form": form_of(listed)})
    assert revoked.status_code == 200
    assert with_status(running, text[0]) == 401
    for wrong in (
        {"days": "0"},
        {"days": "x"},
        {"days": "²"},
        {"role": "king"},
        {"most_epsilon": "-1"},
        {"subject": ""},
    ):
        refused = client.post("/tokens", data={**sent, **wrong})
        assert (refused.status_code, 'role="alert"' in refused.text) == (422, True), wrong
    assert client.post("/tokens/nobody/revocation", data={"form": form_of(listed)}).status_code == 422


def with_status(running: Visited, token: str) -> int:
    """The status of the reply to a token."""
    client = browser(running)
    return client.post("/sign-in", data={"form": form_of(client.get("/sign-in")), "token": token}).status_code


QUOTED = '"' + IMAGE.replace('"', '""') + '"'
BINNED, BINS = f"FLOOR({QUOTED} / 1) * 1", f'{QUOTED[:-1]}_from"'


@pytest.mark.parametrize(
    ("parts", "sql"),
    [
        ({}, "SELECT COUNT(*) AS n\nFROM people"),
        ({"measure": "total", "column": "age"}, "SELECT SUM(age) AS total_age\nFROM people"),
        ({"group": "k", "group_2": "k"}, "SELECT k, COUNT(*) AS n\nFROM people\nGROUP BY k"),
        (
            {"measure": "median", "column": "age", "measure_2": "count", "measure_3": "count"},
            "SELECT MEDIAN(age) AS median_age, COUNT(*) AS n\nFROM people",
        ),
        (
            {"group": "k", "group_3": "age/10"},
            "SELECT k, FLOOR(age / 10) * 10 AS age_from, COUNT(*) AS n\nFROM people\nGROUP BY k, age_from",
        ),
        ({"where": "k", "value": "o'x"}, "SELECT COUNT(*) AS n\nFROM people\nWHERE k = 'o''x'"),
        (
            {"where": "age", "compare": ">=", "value": "40", "where_2": "age", "compare_2": "<", "value_2": "50"},
            "SELECT COUNT(*) AS n\nFROM people\nWHERE age >= 40 AND age < 50",
        ),
        (
            {"measure": "average", "column": IMAGE, "group": f"{IMAGE}/1"},
            f"SELECT {BINNED} AS {BINS}, AVG({QUOTED}) AS average\nFROM people\nGROUP BY {BINS}",
        ),
    ],
)
def test_parts_make_sql_that_is_planned(running: Visited, parts: dict[str, str], sql: str) -> None:
    """The builder shows the SQL, and what it shows can be planned, whatever columns are called."""
    page = sign_in(running, "analyst").get("/build", params=parts)
    shown = re.search(r'built">(.*?)</pre>', page.text, re.DOTALL)
    assert shown is not None
    assert html.unescape(shown[1]) == sql
    assert "Ask, " in page.text  # its plan is beside it
    analyst = running.service.caller(running.tokens["analyst"])
    assert len(running.service.plan(analyst, sql, {"epsilon": 1}).digest) == 64


@pytest.mark.parametrize(
    "parts",
    [
        {"measure": "total"},
        {"measure": "steal"},
        {"measure_2": "average", "column_2": "salary"},
        {"group": "age/7"},
        {"group": "k/10"},
        {"group": "salary"},
        {"where": "age", "value": "40 OR TRUE"},
        {"where": "age", "value": "inf"},
        {"where": "age", "value": "1", "compare": "= 1 OR 1 ="},
    ],
)
def test_parts_that_make_no_question_are_refused(running: Visited, parts: dict[str, str]) -> None:
    """A measure without its column, a column that isn't there, a value that is more than a value."""
    page = sign_in(running, "analyst").get("/build", params=parts)
    assert page.status_code == 200
    assert "Not yet a question" in page.text


def test_the_ledger_is_verified_for_who_may(running: Visited) -> None:
    """The auditor sees how many entries hold, and the head."""
    client = sign_in(running, "auditor")
    page = client.post("/verification", data={"form": form_of(client.get("/verification"))})
    found = running.service.verify(running.service.caller(running.tokens["auditor"]))
    assert "all hold" in page.text
    assert found.head in page.text
    analyst = sign_in(running, "analyst")
    assert analyst.post("/verification", data={"form": form_of(analyst.get("/"))}).status_code == 403


def test_budget_and_history_are_the_analysts_own(running: Visited) -> None:
    """An analyst sees their own questions and costs; the custodian those of each."""
    answered(sign_in(running, "analyst"), f"{COUNT} WHERE age > 30")
    assert "age &gt; 30" in sign_in(running, "analyst").get("/history").text
    assert "age &gt; 30" not in sign_in(running, "poor").get("/history").text
    assert "age &gt; 30" in sign_in(running, "auditor").get("/history").text
    assert "Nothing has been asked yet" in sign_in(running, "poor").get("/history").text
    assert "Nothing has been spent yet" in sign_in(running, "poor").get("/budget").text
    assert '<a href="/budget?analyst=analyst">analyst</a>' in sign_in(running, "custodian").get("/budget").text
    assert "Spent over time, by analyst" in sign_in(running, "custodian").get("/budget?analyst=analyst").text
    assert "Nothing has been spent yet" in sign_in(running, "poor").get("/budget?analyst=analyst").text
    assert sign_in(running, "custodian").get("/history?from=10000000000000000000000").status_code == 200


def test_the_custodian_admits_and_sees_the_report(running: Visited) -> None:
    """While the tables are read, the page says so and reloads itself; then it has the report, and the next version."""
    client = sign_in(running, "custodian")
    page = client.get("/admissions")
    versions = page.text.count("<li>data version")
    page = client.post("/admissions", data={"form": form_of(page), "at_most_unreadable": "0.5"})
    while "refresh" in page.headers:
        assert "being read" in page.text
        sleep(0.2)
        page = client.get("/admissions")
    assert f"Report of version {versions + 1}" in page.text
    assert page.text.count("<li>data version") == versions + 1
    refused = client.post("/admissions", data={"form": form_of(page), "at_most_unreadable": "2"})
    assert refused.status_code == 422
    analyst = sign_in(running, "analyst")
    assert analyst.post("/admissions", data={"form": form_of(analyst.get("/"))}).status_code == 403


STYLE = Path(console.__file__).with_name("static") / "console.css"
TEXTS = [(text, ground) for text in ("ink", "soft", "accent") for ground in ("paper", "surface", "wash")]
TEXTS += [(name, f"{name}-wash") for name in ("good", "warn", "bad")]
TEXTS += [("ink", f"{name}-wash") for name in ("good", "warn", "bad")] + [("on-accent", "accent")]
EDGES = [("edge", "surface"), ("edge", "paper"), ("accent", "surface"), ("main", "surface"), ("other", "surface")]
EDGES += [("ink", "main"), ("ink", "other")]
EDGES += [("accent", "paper")]


def colours(scheme: str) -> dict[str, str]:
    """The colours of a scheme, as the style sheet names them."""
    light, _, dark = STYLE.read_text(encoding="utf-8").partition("prefers-color-scheme: dark")
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark if scheme == "dark" else light))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_differ_enough_to_be_read(scheme: str) -> None:
    """WCAG AA: letters 4.5 : 1 on what they stand on, edges of fields and marks of charts 3 : 1."""
    found = {**colours(scheme), "main": MAIN, "other": OTHER}
    assert colours("light").keys() == colours("dark").keys()
    assert [pair for pair in TEXTS if contrast(found[pair[0]], found[pair[1]]) < 4.5] == []
    assert [pair for pair in EDGES if contrast(found[pair[0]], found[pair[1]]) < 3] == []
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#cccccc", "#ffffff") < 2


def requested(client: TestClient, question: str, purpose: str) -> Response:
    """The page of requests, after a question above a ceiling was asked and requested."""
    refused = answered(client, question, "1")
    assert "Request approval" in refused.text
    sent = {"form": form_of(refused), "question": question, "offer": "epsilon", "amount": "1", "purpose": purpose}
    return client.post("/requests", data=sent)


def test_what_is_above_a_ceiling_is_requested_approved_and_asked_once(running: Visited) -> None:
    """The custodian sees purpose and cost, as text; the analyst asks what was approved, and no more than that."""
    poor, custodian = sign_in(running, "poor"), sign_in(running, "custodian")
    page = requested(poor, f"{COUNT} WHERE age < 35", SCRIPT)
    assert "&lt;script&gt;" in page.text
    assert 'class="state open"' in page.text
    assert "Approve</button>" not in page.text
    seen = custodian.get("/requests")
    action = re.search(r'action="(/requests/\w+)/approval"', seen.text)
    assert action is not None
    assert poor.post(f"{action[1]}/approval", data={"form": form_of(page), "days": "7"}).status_code == 403
    assert custodian.post(f"{action[1]}/approval", data={"form": form_of(seen), "days": "x"}).status_code == 422
    custodian.post(f"{action[1]}/approval", data={"form": form_of(seen), "days": "7"})
    page = poor.get("/requests")
    assert "Ask it now" in page.text
    asked = poor.post(f"{action[1]}/answer", data={"form": form_of(page)})
    assert asked.url.path.startswith("/answers/")
    while "refresh" in asked.headers:
        sleep(0.1)
        asked = poor.get(asked.url)
    assert "Ask it now" not in poor.get("/requests").text
    assert sign_in(running, "mallory").post(f"{action[1]}/answer", data={"form": "0"}).status_code == 403


def test_a_summary_above_a_ceiling_is_requested_and_asked_once(running: Visited) -> None:
    """As a question: the approval is for its plan."""
    poor, custodian = sign_in(running, "poor"), sign_in(running, "custodian")
    requested(poor, "SUMMARIZE SELECT age FROM people", "to see")
    seen = custodian.get("/requests")
    action = re.search(r'action="(/requests/\w+)/approval"', seen.text)
    assert action is not None
    custodian.post(f"{action[1]}/approval", data={"form": form_of(seen), "days": "7"})
    page = poor.post(f"{action[1]}/answer", data={"form": form_of(poor.get("/requests"))})
    while "refresh" in page.headers:
        sleep(0.1)
        page = poor.get(page.url)
    assert "<h1>Summary of people</h1>" in page.text


def test_a_request_is_denied_with_a_reason(running: Visited) -> None:
    """The analyst reads why, and can't ask it."""
    poor, custodian = sign_in(running, "poor"), sign_in(running, "custodian")
    requested(poor, f"{COUNT} WHERE age < 45", "to see")
    seen = custodian.get("/requests")
    action = re.search(r'action="(/requests/\w+)/denial"', seen.text)
    assert action is not None
    custodian.post(f"{action[1]}/denial", data={"form": form_of(seen), "reason": IMAGE})
    page = poor.get("/requests")
    assert "denied" in page.text
    assert "onerror=document.title=&#39;owned&#39;&gt;" in page.text
    assert poor.post(f"{action[1]}/answer", data={"form": form_of(page)}).status_code in {403, 422}


def test_a_form_that_is_sent_twice_is_asked_once(running: Visited) -> None:
    """The plan's form brings its digest and a key: sent twice it leads to one question; with another plan, nowhere."""
    client = sign_in(running, "analyst")
    terms = {"question": f"{COUNT} WHERE age > 25", "offer": "epsilon", "amount": "1"}
    plan = client.get("/ask", params=terms)
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', plan.text))
    sent = {**terms, "form": form_of(plan), "digest": hidden["digest"], "key": hidden["key"]}
    places = {client.post("/ask", data=sent, follow_redirects=False).headers["location"] for _ in range(2)}
    assert len(places) == 1
    assert "plan_changed" in client.post("/ask", data={**sent, "amount": "2", "key": "another"}).text
    assert "key_reused" in client.post("/ask", data={**sent, "amount": "2", "digest": ""}).text


def test_null_among_keys_is_called_null(running: Visited, monkeypatch: pytest.MonkeyPatch) -> None:
    """As everywhere, and not as Python calls it."""
    dataset = copy.deepcopy(running.service.dataset(running.service.caller(running.tokens["analyst"])))
    column = next(each for each in dataset["tables"][0]["columns"] if each["keys"])
    column["keys"] = ["a", None]
    monkeypatch.setattr(running.service, "dataset", lambda _: dataset)
    page = sign_in(running, "analyst").get("/tables").text
    assert '<span class="key">NULL</span>' in page
    assert '<span class="key">None</span>' not in page


def test_the_field_for_sql_wraps_its_lines(running: Visited) -> None:
    """A long question is read without scrolling to its side."""
    assert 'wrap="off"' not in sign_in(running, "analyst").get("/ask").text


def test_limits_are_stated_beside_an_offer(running: Visited) -> None:
    """As on the command line: they are in the plan, in what is sent, and where the answer leads back to."""
    client = sign_in(running, "analyst")
    terms = {"question": f"{COUNT} WHERE age > 35", "offer": "epsilon", "amount": "1", "limits": "3"}
    plan = client.get("/ask", params=terms).text
    assert "at most 3 rows of each id count" in plan
    assert '<input type="hidden" name="limits" value="3">' in plan
    assert "50in8, 5x10 or auto" in client.get("/ask", params={**terms, "limits": "three"}).text
    form = form_of(client.get("/ask"))
    page = client.post("/ask", data={**terms, "form": form})
    while "refresh" in page.headers:
        sleep(0.1)
        page = client.get(page.url)
    assert "at most 3 rows of each id count" in page.text
    assert "limits=3" in page.text


@pytest.mark.parametrize("typed", ["50", "50in8", "5x10", "auto"])
def test_limits_are_shown_as_they_are_typed(typed: str) -> None:
    """So that the question can be asked again."""
    assert limits_as_typed(typed_limits(typed)) == typed
