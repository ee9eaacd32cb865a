"""The console: who comes in and out, forms that other sites send, hostile texts, and what each role finds."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from time import monotonic, sleep

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from discreet.interfaces.http import console, make_app
from discreet.service import Role
from discreet.service.sessions import _MOST
from support.visited import BY_KEY, COUNT, IMAGE, KEYS, MALLORY, SCRIPT, Visited, visited

HTML = {"Accept": "text/html"}
PAGES = ("/", "/ask", "/build", "/history", "/budget", "/tokens", "/admissions", "/verification")
FORBIDDEN = {
    "analyst": {"/tokens", "/admissions", "/verification"},
    "custodian": set(),
    "auditor": {"/ask", "/tokens", "/admissions"},
    "operator": {"/ask", "/build", "/history", "/budget", "/tokens", "/admissions", "/verification"},
}
"""What a role doesn't find."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    """One service for all tests: its processes take seconds to start."""
    with visited(tmp_path_factory.mktemp("console"), seconds=0.4) as found:
        yield found


def browser(running: Visited, *, secure: bool = False) -> TestClient:
    """A browser, more or less: it keeps cookies, and follows where it is sent."""
    base = "https://testserver" if secure else "http://testserver"
    app = make_app(running.service, secure=secure)
    return TestClient(app, base_url=base, headers=HTML, raise_server_exceptions=False)


def form_of(page: Response) -> str:
    """What the page's forms bring along."""
    found = re.search(r'name="form" value="([0-9a-f]{64})"', page.text)
    assert found is not None, page.text
    return found[1]


def sign_in(running: Visited, name: str, *, secure: bool = False) -> TestClient:
    """A browser in which somebody has signed in."""
    return with_token(running, running.tokens[name], secure=secure)


def with_token(running: Visited, token: str, *, secure: bool = False) -> TestClient:
    """A browser in which whoever has the token has signed in."""
    client = browser(running, secure=secure)
    sent = {"form": form_of(client.get("/sign-in")), "token": token}
    reply = client.post("/sign-in", data=sent)
    assert (reply.status_code, reply.url.path) == (200, "/")
    return client


def test_the_token_is_shown_once_and_the_session_goes_on_without_it(running: Visited) -> None:
    """The cookie is no part of the token, no script reads it, no other site sends it, and TLS keeps it to the host."""
    client = browser(running)
    sent = {"form": form_of(client.get("/sign-in")), "token": running.tokens["analyst"]}
    reply = client.post("/sign-in", data=sent, follow_redirects=False)
    cookie = next(each for each in reply.headers.get_list("set-cookie") if each.startswith("discreet="))
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert running.tokens["analyst"][4:] not in cookie
    assert running.tokens["analyst"] not in repr(running.service.sessions._open)
    safe = sign_in(running, "analyst", secure=True)
    assert {name for name in safe.cookies if "form" not in name} == {"__Host-discreet"}


def test_nobody_comes_in_without_a_token(running: Visited) -> None:
    """Each page sends those who aren't signed in to the form; a made-up token or session opens nothing."""
    client = browser(running)
    for path in PAGES:
        reply = client.get(path, follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (303, "/sign-in")
    sent = {"form": form_of(client.get("/sign-in")), "token": "dsc_" + "A" * 43}
    reply = client.post("/sign-in", data=sent)
    assert reply.status_code == 401
    assert "isn’t known here" in reply.text or "isn&#39;t known here" in reply.text
    client.cookies.set("discreet", "0" * 64)
    assert client.get("/", follow_redirects=False).headers["location"] == "/sign-in?ended"
    assert client.get("/", headers={"Accept": "*/*"}).status_code == 401


def test_a_session_ends_with_its_token_and_by_signing_out(running: Visited) -> None:
    """A revoked token ends its sessions at once; a session that was signed out is of no use to who copied it."""
    custodian = running.service.caller(running.tokens["custodian"])
    issued = running.service.issue(custodian, "leaver", Role.ANALYST, days=1)
    client = with_token(running, issued.text)
    assert client.get("/history").status_code == 200
    running.service.revoke(custodian, issued.caller.token)
    assert client.get("/history", follow_redirects=False).status_code == 303
    leaving = sign_in(running, "analyst")
    copied = leaving.cookies["discreet"]
    leaving.post("/sign-out", data={"form": form_of(leaving.get("/"))})
    thief = browser(running)
    thief.cookies.set("discreet", copied)
    assert thief.get("/", follow_redirects=False).status_code == 303


def test_sessions_end_by_themselves_and_are_few(running: Visited, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its hours a session is gone; with one too many of a token, its oldest ends."""
    client = sign_in(running, "auditor")
    for _ in range(_MOST - 1):
        running.service.sessions.begin(running.tokens["auditor"])
    assert client.get("/", follow_redirects=False).status_code == 200
    running.service.sessions.begin(running.tokens["auditor"])
    assert client.get("/", follow_redirects=False).status_code == 303
    late = sign_in(running, "auditor")
    monkeypatch.setattr("discreet.service.sessions.monotonic", lambda: monotonic() + 8 * 3600 + 1)
    assert late.get("/", follow_redirects=False).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://testserver.evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null", "Sec-Fetch-Site": "none"},
    ],
)
def test_other_sites_send_no_form(running: Visited, headers: dict[str, str]) -> None:
    """Even with the right field, a form that a browser sends from elsewhere is refused; and signing in, too."""
    client = sign_in(running, "custodian")
    sent = {"form": form_of(client.get("/tokens")), "subject": "eve", "role": "analyst", "days": "1"}
    before = len(running.service.tokens(running.service.caller(running.tokens["custodian"])))
    assert client.post("/tokens", data=sent, headers=headers).status_code == 403
    assert len(running.service.tokens(running.service.caller(running.tokens["custodian"]))) == before
    stranger = browser(running)
    entering = {"form": form_of(stranger.get("/sign-in")), "token": running.tokens["analyst"]}
    assert stranger.post("/sign-in", data=entering, headers=headers).status_code == 403


def test_every_form_counts_only_with_what_its_page_had(running: Visited) -> None:
    """Without the field, with another session's, or with one from the sign-in page, nothing happens."""
    client, other = sign_in(running, "custodian"), sign_in(running, "custodian")
    fields = {"subject": "eve", "role": "analyst", "days": "1", "question": COUNT, "epsilon": "1"}
    paths = (
        "/tokens",
        "/tokens/0a1b2c3d4e5f/revocation",
        "/ask",
        "/ask/plan",
        "/admissions",
        "/verification",
        "/sign-out",
    )
    for path in paths:
        for form in ({}, {"form": ""}, {"form": form_of(other.get("/"))}, {"form": "é"}):
            assert client.post(path, data={**fields, **form}).status_code == 403, path
        assert client.post(path, json={"form": form_of(client.get("/"))}).status_code == 422
        assert client.get(path).status_code in {200, 404, 405}
    assert client.get("/").status_code == 200
    twice = f"form={form_of(client.get('/'))}&subject=a&subject=b"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/tokens", content=twice, headers=headers).status_code == 422


@pytest.mark.parametrize("body", [b"\xff", b"a=%ff", b"&".join(b"a%d=1" % each for each in range(60))])
def test_forms_that_no_browser_sends_are_refused(running: Visited, body: bytes) -> None:
    """Bytes that are no text, and fields by the dozen, are malformed."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert sign_in(running, "analyst").post("/ask", content=body, headers=headers).status_code == 422


def test_no_page_sends_anybody_elsewhere(running: Visited) -> None:
    """Signing in goes to the start, whatever the address says."""
    client = browser(running)
    page = client.get("/sign-in?next=https://evil.example/&url=//evil.example")
    sent = {"form": form_of(page), "token": running.tokens["analyst"], "next": "//evil.example"}
    reply = client.post("/sign-in?next=//evil.example", data=sent, follow_redirects=False)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")


@pytest.mark.parametrize("path", ["/", "/sign-in", "/ask", "/nowhere", "/static/console.js", "/v1/me", "/healthz"])
def test_every_reply_keeps_browsers_from_what_is_not_ours(running: Visited, path: str) -> None:
    """One policy for all: nothing from elsewhere, no inline script, no frame, no referrer; pages aren't kept."""
    headers = sign_in(running, "analyst").get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == ("no-cache" if path.startswith("/static/") else "no-store")


@pytest.mark.parametrize("role", FORBIDDEN)
def test_each_role_finds_its_pages_and_links_to_no_others(running: Visited, role: str) -> None:
    """What the service refuses is said as a page; navigation names what is of use."""
    client = sign_in(running, role)
    linked = set(re.findall(r'<li><a href="(/[a-z]*)"', client.get("/").text))
    for path in PAGES:
        expected = 403 if path in FORBIDDEN[role] else 200
        assert client.get(path).status_code == expected, path
    assert not linked & FORBIDDEN[role]
    assert ("/ask" in linked) == (role in {"analyst", "custodian"})


class Markup(HTMLParser):
    """The elements of a page, with what nobody but us may write."""

    def __init__(self) -> None:
        """Nothing was read."""
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))


def injected(text: str) -> list[tuple[str, dict[str, str]]]:
    """What of a page would run, load or lead somewhere, and isn't ours."""
    markup = Markup()
    markup.feed(text)
    return [
        (tag, attrs)
        for tag, attrs in markup.tags
        if tag in {"img", "iframe", "object", "embed", "base"}
        or (tag == "script" and attrs != {"src": "/static/console.js", "defer": ""})
        or any(name.startswith("on") or name == "style" for name in attrs)
        or any(not attrs.get(name, "/").startswith(("/", "#")) for name in ("href", "src", "action", "formaction"))
        or attrs.get("href", "").startswith("//")
    ]


def answered(client: TestClient, question: str, epsilon: str = "1") -> Response:
    """The page of an answer, once it is there."""
    sent = {"form": form_of(client.get("/ask")), "question": question, "offer": "epsilon", "amount": epsilon}
    page = client.post("/ask", data=sent)
    while "refresh" in page.headers:
        sleep(0.1)
        page = client.get(page.url)
    return page


def test_hostile_texts_are_text_on_every_page(running: Visited) -> None:
    """Columns, keys, subjects, questions and errors are shown as they are, and nothing of them is markup."""
    client, custodian = sign_in(running, "mallory"), sign_in(running, "custodian")
    hostile = f"SELECT '{SCRIPT}' AS \"{IMAGE}\" FROM people"
    wanted = {"question": hostile, "offer": "epsilon", "amount": SCRIPT, "confidence": "95", "delta": IMAGE}
    built = {"table": SCRIPT, "measure": "count", "group": IMAGE.replace('"', '""'), "where": "k", "value": SCRIPT}
    by_key = answered(client, BY_KEY)
    pages = [
        *(client.get(path) for path in PAGES),
        *(custodian.get(path) for path in PAGES),
        client.get("/ask", params=wanted),
        client.get("/ask", params={**wanted, "amount": "1", "delta": ""}),
        client.get("/build", params=built),
        client.get("/build", params={**built, "group": IMAGE}),
        client.get(f"/answers/{SCRIPT}"),
        client.get(f"/{SCRIPT}"),
        custodian.post(
            "/tokens", data={"form": form_of(custodian.get("/")), "subject": SCRIPT, "role": SCRIPT, "days": "1"}
        ),
        by_key,
    ]
    for page in pages:
        assert page.headers["content-type"].startswith("text/html"), page.url
        assert injected(page.text) == [], page.url
        assert ">49<" not in page.text
    text = "".join(page.text for page in pages)
    assert "&lt;script&gt;" in text
    assert "{{7*7}}" in text
    assert MALLORY not in text
    assert all(name not in client.get("/ask/words").headers for name in ("refresh", "location"))
    assert client.get("/ask/words").headers["content-type"] == "application/json"


@pytest.mark.parametrize("attack", [SCRIPT, IMAGE, "<a href=javascript:alert(1)>", "<p style='color:red'>"])
def test_what_looks_for_markup_finds_it(attack: str) -> None:
    """The measure above isn't blind."""
    assert injected(f"<p>{attack}</p>") != []


def test_a_question_is_planned_asked_shown_and_taken_home(running: Visited) -> None:
    """From the address of a question to its answer as table, chart, CSV, JSON and certificate; again it is free."""
    client = sign_in(running, "analyst")
    plan = client.get("/ask", params={"question": BY_KEY, "offer": "within", "amount": "10"})
    assert re.search(r"Ask, and pay ε = 0\.\d+", plan.text)
    assert re.search(r"± (9\.\d+|10)<", plan.text)
    page = answered(client, BY_KEY, "2")
    if "There is no answer" in page.text:
        pytest.skip("the machine was too busy to answer in time")
    place = page.url.path
    rows = list(csv.reader(client.get(f"{place}/answer.csv").text.splitlines()))
    assert rows[0] == ["k", "n", "n_low", "n_high"]
    assert sorted(row[0] for row in rows[1:]) == sorted(KEYS)
    assert page.text.count('class="bar"') == page.text.count('class="whisker"') == len(KEYS)
    found = client.get(f"{place}/answer.json").json()
    assert [[row["k"], str(row["n"])] for row in found["rows"]] == [row[:2] for row in rows[1:]]
    certificate = client.get(f"{place}/certificate.json")
    assert certificate.json()["certificate"] == found["certificate"]
    for name in ("answer.csv", "answer.json", "certificate.json"):
        assert client.get(f"{place}/{name}").headers["content-disposition"].startswith("attachment")
    assert client.get(f"{place}/answer.exe").status_code == 422
    assert sign_in(running, "mallory").get(place).status_code == 422
    assert "nothing</span>" in answered(client, BY_KEY, "2").text


def test_what_is_refused_is_said_and_nothing_charged(running: Visited) -> None:
    """A wrong column, an empty offer, a ceiling: each is said where the question stands, with its code and place."""
    poor = sign_in(running, "poor")
    before = running.service.budget(running.service.caller(running.tokens["poor"]))["own"]["spent"]
    wrong = poor.get("/ask", params={"question": "SELECT heigth FROM people", "offer": "epsilon", "amount": "1"})
    assert "unknown_column" in wrong.text
    assert "Line 1, column 8" in wrong.text
    assert "Its cost shows here" in poor.get("/ask", params={"question": COUNT}).text
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
    assert "plans, and doesn’t ask" in plan.text
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


@pytest.mark.parametrize(
    ("parts", "sql"),
    [
        ({}, 'SELECT COUNT(*) AS n\nFROM "people"'),
        ({"measure": "sum", "column": "age"}, 'SELECT SUM("age") AS total\nFROM "people"'),
        ({"group": "k"}, 'SELECT "k", COUNT(*) AS n\nFROM "people"\nGROUP BY "k"'),
        ({"where": "k", "value": "o'x"}, "SELECT COUNT(*) AS n\nFROM \"people\"\nWHERE \"k\" = 'o''x'"),
        ({"where": "age", "compare": ">=", "value": "40"}, 'SELECT COUNT(*) AS n\nFROM "people"\nWHERE "age" >= 40'),
        (
            {"measure": "average", "column": IMAGE},
            f'SELECT AVG("{IMAGE.replace(chr(34), chr(34) * 2)}") AS average\nFROM "people"',
        ),
    ],
)
def test_parts_make_sql_that_is_planned(running: Visited, parts: dict[str, str], sql: str) -> None:
    """The builder shows the SQL, and what it shows can be planned, whatever columns are called."""
    page = sign_in(running, "analyst").get("/build", params=parts)
    shown = re.search(r'built">(.*?)</pre>', page.text, re.DOTALL)
    assert shown is not None
    assert html.unescape(shown[1]) == sql
    analyst = running.service.caller(running.tokens["analyst"])
    assert len(running.service.plan(analyst, sql, {"epsilon": 1})["digest"]) == 64


@pytest.mark.parametrize(
    "parts",
    [
        {"measure": "sum"},
        {"measure": "steal"},
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
    assert "all of them hold" in page.text
    assert found.head in page.text
    analyst = sign_in(running, "analyst")
    assert analyst.post("/verification", data={"form": form_of(analyst.get("/"))}).status_code == 403


def test_budget_and_history_are_the_analysts_own(running: Visited) -> None:
    """An analyst sees their own questions and costs; the custodian those of each."""
    answered(sign_in(running, "analyst"), f"{COUNT} WHERE age > 30")
    assert "age &gt; 30" in sign_in(running, "analyst").get("/history").text
    assert "age &gt; 30" not in sign_in(running, "poor").get("/history").text
    assert "age &gt; 30" in sign_in(running, "auditor").get("/history").text
    assert "Nothing was asked yet" in sign_in(running, "poor").get("/history").text
    assert "Nothing was spent yet" in sign_in(running, "poor").get("/budget").text
    assert '<th scope="row">analyst</th>' in sign_in(running, "custodian").get("/budget").text
    assert sign_in(running, "custodian").get("/history?from=10000000000000000000000").status_code == 200


def test_the_custodian_admits_and_sees_the_report(running: Visited) -> None:
    """While the tables are read, the page says so and loads itself; then it has the report, and the next version."""
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
EDGES = [("edge", "surface"), ("edge", "paper"), ("bar", "surface"), ("whisker", "bar"), ("accent", "surface")]
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
    found = colours(scheme)
    assert colours("light").keys() == colours("dark").keys()
    assert [pair for pair in TEXTS if contrast(found[pair[0]], found[pair[1]]) < 4.5] == []
    assert [pair for pair in EDGES if contrast(found[pair[0]], found[pair[1]]) < 3] == []
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#cccccc", "#ffffff") < 2
