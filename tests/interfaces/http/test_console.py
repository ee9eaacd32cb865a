"""The console: who comes in and out, forms that other sites send, hostile texts, and what each role finds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from time import monotonic

import pytest

from discreet.interfaces.http.console import pages
from discreet.service import Role, digest_of
from discreet.service.sessions import _MOST
from support.served import in_threads
from support.visited import (
    BY_KEY,
    COUNT,
    IMAGE,
    MALLORY,
    SCRIPT,
    Visited,
    answered,
    browser,
    form_of,
    sign_in,
    visited,
    with_token,
)

PAGES = (
    "/",
    "/tables",
    "/ask",
    "/build",
    "/history",
    "/budget",
    "/requests",
    "/tokens",
    "/admissions",
    "/verification",
)
FORBIDDEN = {
    "analyst": {"/tokens", "/admissions", "/verification"},
    "custodian": {"/dashboard"},
    "auditor": {"/dashboard", "/ask", "/tokens", "/admissions"},
    "operator": {
        "/tables",
        "/ask",
        "/build",
        "/history",
        "/budget",
        "/requests",
        "/tokens",
        "/admissions",
        "/verification",
    },
}
"""What a role doesn't find."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    """One service for all tests: its processes take seconds to start."""
    with in_threads(), visited(tmp_path_factory.mktemp("console"), seconds=0.4) as found:
        yield found


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


def test_all_sessions_of_a_token_are_known_as_its_own(running: Visited) -> None:
    """By the token's digest, by which the calls of one caller are counted; of those that ended, nobody's."""
    sessions, token = running.service.sessions, running.tokens["analyst"]
    names = [sessions.begin(token) for _ in range(3)]
    assert {sessions.whose(name) for name in names} == {digest_of(token)}
    sessions.end(names[0])
    assert [sessions.whose(name) for name in (names[0], "0" * 64, "")] == [None] * 3


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
        {"Origin": "http://["},
        {"Origin": "evil.example", "Host": ""},
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
        "/requests",
        "/requests/0a1b/answer",
        "/names",
        "/names/removal",
        "/requests/0a1b/approval",
        "/requests/0a1b/denial",
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


@pytest.mark.parametrize(
    ("body", "status"), [(b"\xff", 400), (b"a=%ff", 422), (b"&".join(b"a%d=1" % each for each in range(60)), 422)]
)
def test_forms_that_no_browser_sends_are_refused(running: Visited, body: bytes, status: int) -> None:
    """Bytes that are no text, and fields by the dozen, are malformed."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert sign_in(running, "analyst").post("/ask", content=body, headers=headers).status_code == status


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


def test_hostile_texts_are_text_on_every_page(running: Visited) -> None:
    """Columns, keys, subjects, questions and errors are shown as they are, and nothing of them is markup."""
    client, custodian = sign_in(running, "mallory"), sign_in(running, "custodian")
    hostile = f"SELECT '{SCRIPT}' AS \"{IMAGE}\" FROM people"
    wanted = {"question": hostile, "offer": "epsilon", "amount": SCRIPT, "confidence": "95", "delta": IMAGE}
    built = {"table": SCRIPT, "measure": "count", "group": IMAGE.replace('"', '""'), "where": "k", "value": SCRIPT}
    by_key, summary = answered(client, BY_KEY), answered(client, "SUMMARIZE people")
    pages = [
        *(client.get(path) for path in PAGES),
        *(custodian.get(path) for path in PAGES),
        client.get("/ask", params=wanted),
        client.get("/ask", params={**wanted, "amount": "1", "delta": ""}),
        client.get("/build", params=built),
        client.get("/build", params={**built, "group": IMAGE}),
        client.get("/answers/onerror"),
        client.get("/onerror"),
        custodian.post(
            "/tokens", data={"form": form_of(custodian.get("/")), "subject": SCRIPT, "role": SCRIPT, "days": "1"}
        ),
        by_key,
        summary,
        client.get("/ask", params={**wanted, "question": "SUMMARIZE people", "amount": "1", "delta": ""}),
    ]
    for page in pages:
        assert page.headers["content-type"].startswith("text/html"), page.url
        assert injected(page.text) == [], page.url
        assert ">49<" not in page.text
    for path in (f"/answers/{SCRIPT}", f"/{SCRIPT}"):  # of which clients escape the brackets
        refused = client.get(path)
        assert (refused.status_code, refused.headers["content-type"]) == (400, "application/problem+json")
    text = "".join(page.text for page in pages)
    assert "&lt;script&gt;" in text
    assert "{{7*7}}" in text
    assert MALLORY not in text
    assert all(name not in client.get("/ask/words").headers for name in ("refresh", "location"))
    assert client.get("/ask/words").headers["content-type"] == "application/json"


TURNED = f"{COUNT} WHERE age = 7 /*\u202e 0 < ega EREHW\u2066*/"
"""A question that looks like another one, where a browser turns what follows the sign."""

HIDES = "the question may not be what it looks like"


@pytest.mark.parametrize("is_twin", [False, True])
def test_a_question_looks_like_what_it_is(running: Visited, monkeypatch: pytest.MonkeyPatch, is_twin: bool) -> None:
    """Whoever approves or reads it sees no sign that changes its direction; the form sends it back as it was written.

    The wrong twin shows what others wrote as it is.
    """
    if is_twin:
        monkeypatch.setattr(pages, "printable", str)
    headers = {"Authorization": f"Bearer {running.tokens['poor']}"}
    asked = {"question": TURNED, "epsilon": "1/5", "purpose": "yearly"}
    made = browser(running).post("/v1/requests", json=asked, headers=headers).json()
    custodian, auditor, poor = (sign_in(running, name) for name in ("custodian", "auditor", "poor"))
    answer = answered(poor, TURNED, "0.05")
    history = auditor.get("/history")
    (entry, *_) = re.findall(r'href="(/history/\d+)"', history.text)
    shown = [
        custodian.get("/requests"),
        custodian.post(f"/requests/{made['id']}/denial", data={"form": form_of(custodian.get("/requests"))}),
        poor.get("/requests"),
        poor.get("/ask", params={"question": [TURNED, COUNT], "offer": "epsilon", "amount": "1"}),
        answer,
        history,
        auditor.get(entry),
    ]
    seen = [
        bool({"\u202e", "\u2066"} & set(re.sub(r'(?s)<textarea.*?</textarea>|value=".*?"', "", page.text)))
        for page in shown
    ]
    assert seen[4:] == [is_twin] * 3
    assert seen[0] == is_twin
    assert is_twin or not any(seen)
    assert is_twin or "WHERE age = 7 /*�" in shown[0].text
    form = poor.get("/ask", params={"question": TURNED, "offer": "epsilon", "amount": "0.05"})
    assert form.text.count("\u202e") == 2  # the editor, and the form that asks
    assert HIDES in form.text
    assert HIDES not in poor.get("/ask", params={"question": COUNT, "offer": "epsilon", "amount": "0.05"}).text


@pytest.mark.parametrize("attack", [SCRIPT, IMAGE, "<a href=javascript:alert(1)>", "<p style='color:red'>"])
def test_what_looks_for_markup_finds_it(attack: str) -> None:
    """The measure above isn't blind."""
    assert injected(f"<p>{attack}</p>") != []
