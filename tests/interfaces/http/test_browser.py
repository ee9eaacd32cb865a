"""The console in a browser: every page and state, by keyboard, on a phone, without script, and under attack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from discreet.errors import QuestionFailed
from discreet.service import Reply, fresh_name
from support.chromium import CHROMIUM, MISSING, PATIENCE
from support.identity_provider import provider_at_port
from support.served import in_threads, ticket_of
from support.visited import BY_KEY, COUNT, IMAGE, Visited, at_port, visited

pytest.importorskip("playwright", reason="tests in a browser need playwright: pip install 'discreet[test]'")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="they need axe-playwright-python, too")

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, Route, expect, sync_playwright  # noqa: E402 — as above

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason=MISSING),
]

DESK = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light", "reduced_motion": "reduce"}
PHONE = {**DESK, "viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "has_touch": True}

FRUGAL = (
    "--in-process-gpu",
    "--disable-site-isolation-trials",
    "--renderer-process-limit=1",
)
"""By which one process draws all pages: a process for each takes longer to start than a page to load."""

TOGETHER = f"{COUNT};{COUNT}+WHERE+age>30".replace(" ", "+").replace(";", "%3B")

ASK = re.compile("^Ask, (and pay|for nothing)")
"""The button: what another test has asked already is free."""

SECONDS = 0.8
"""After so many an answer leaves."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    """One service for all tests."""
    with in_threads(), visited(tmp_path_factory.mktemp("browser"), seconds=SECONDS) as found:
        yield found


@pytest.fixture(scope="module")
def address(running: Visited) -> Iterator[str]:
    """Where its console is."""
    with at_port(running.service) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all tests."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *FRUGAL])
        yield found
        found.close()


@dataclass
class Watched:
    """A page, and what it did that no page of ours may.

    Args:
        page: itself.
        faults: requests to elsewhere, errors of scripts, what the policy stopped, dialogs.
    """

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", self._requested)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.faults.append("dialog"), dialog.dismiss()))

    def _requested(self, request: Request) -> None:
        """Note a request to elsewhere."""
        if not request.url.startswith(f"{self.address}/"):
            self.faults.append(f"request: {request.url}")

    def _said(self, message: ConsoleMessage) -> None:
        """Note what the browser complains of; a page that says 403 to its reader is no fault."""
        if message.type in {"error", "warning"} and "the server responded with a status of 4" not in message.text:
            self.faults.append(f"{message.type}: {message.text}")

    def check(self, *, read_out: bool = True) -> None:
        """It did nothing of that, it is as wide as its window, and whoever can't see or point finds their way.

        Args:
            read_out: whether axe is asked, too, which takes a while.
        """
        self.page.wait_for_load_state()  # without its style sheet a page is wider
        assert self.faults == []
        wide = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1], (self.page.url, wide)
        assert not read_out or violations(self.page) == [], self.page.url
        assert self.page.title().endswith("· discreet")
        assert self.page.locator("h1").count() == 1

    def check_both(self, *, read_out: bool = True) -> None:
        """The same at a desk, and then on a phone in the dark; the page is loaded once.

        Args:
            read_out: whether axe is asked; once for each page is enough, whoever looks at it.
        """
        self.check(read_out=read_out)
        self.page.emulate_media(color_scheme="dark")
        self.page.set_viewport_size(PHONE["viewport"])
        self.check(read_out=read_out)
        self.page.set_viewport_size(DESK["viewport"])
        self.page.emulate_media(color_scheme="light")


FOUND = "options => axe.run(document, options).then(({violations}) => violations.map(v => [v.id, v.nodes[0].html]))"


def violations(page: Page) -> list[tuple[str, str]]:
    """What axe finds: contrast, labels, landmarks, headings, roles; on a phone, what depends on colour and size."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe.Axe().axe_script)
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if page.viewport_size != DESK["viewport"]:
        options["runOnly"] = ["color-contrast", "target-size"]
    return [(name, node[:200]) for name, node in page.evaluate(FOUND, options)]


@contextmanager
def opened(
    browser: Browser, address: str, running: Visited | None = None, name: str = "", **options: Any
) -> Iterator[Watched]:
    """A window of somebody who has signed in; of nobody without a name."""
    shared = not options and browser.contexts
    context = browser.contexts[0] if shared else browser.new_context(base_url=address, **(options or DESK))
    context.clear_cookies()
    context.set_default_timeout(PATIENCE)
    watched = Watched(context.new_page(), address)
    if running is None:
        watched.page.goto("/sign-in")
    else:
        session = running.service.sessions.begin(running.tokens[name])
        context.add_cookies([{"name": "discreet", "value": session, "url": address, "sameSite": "Strict"}])
    yield watched
    if options:
        context.close()
    else:
        watched.page.close()


PAGES = {
    "analyst": ("/", "/tables", "/ask", "/build", "/dashboard", "/history", "/budget", "/requests", "/nowhere"),
    "custodian": ("/", "/history", "/budget", "/requests", "/tokens", "/admissions", "/verification"),
    "auditor": ("/", "/tokens", "/verification"),
    "operator": ("/",),
}

DIFFERENT = ("/", "/requests")
"""Pages that have more for some roles than their heading says."""


def test_every_page_of_every_role(chromium: Browser, address: str, running: Visited) -> None:
    """Each loads nothing from elsewhere, breaks no policy, fits its window, and axe finds nothing wrong."""
    poor = running.service.caller(running.tokens["poor"])
    running.service.request(poor, COUNT, {"epsilon": "1"}, IMAGE)
    with opened(chromium, address) as nobody:
        nobody.check_both()
    seen: set[str] = set()
    for role, paths in PAGES.items():
        with opened(chromium, address, running, role) as watched:
            for path in paths:
                watched.page.goto(path)
                heading = watched.page.locator("h1").inner_text()
                watched.check_both(read_out=heading not in seen or path in DIFFERENT)
                seen.add(heading)
            if role == "auditor":
                watched.page.get_by_role("button", name="Verify now").click()
                expect(watched.page.get_by_role("status")).to_contain_text("all hold")
                watched.check_both()
                watched.page.goto("/")
                expect(watched.page.locator("main")).to_contain_text("verified by auditor")
            if role == "custodian":
                watched.page.goto("/tokens")
                watched.page.get_by_text("New token").click()
                watched.page.fill("#subject", IMAGE)
                watched.page.fill("#share_delta", "1e-6")
                watched.page.press("#share_delta", "Enter")
                expect(watched.page.get_by_role("alert")).to_contain_text("a share with a δ needs an ε too")
                watched.check_both()
                watched.page.fill("#share", "1")
                watched.page.press("#share", "Enter")
                expect(watched.page.get_by_role("status")).to_contain_text("Copy it now")
                watched.check_both()


def left_behind(running: Visited, **outcome: Any) -> str:
    """The path of a question of the analyst's that waits, runs or failed."""
    ticket = ticket_of(COUNT, subject="analyst", step=60.0, epsilon="1", analyst="analyst")
    ticket.id = fresh_name()
    running.service._questions._tickets[ticket.id] = ticket
    if "started" in outcome:
        ticket.release = outcome["started"] + timedelta(seconds=60)
    if "failed" in outcome:
        ticket.finish(Reply.of(QuestionFailed()))
    return f"/answers/{ticket.id}"


def test_every_state_of_a_question(chromium: Browser, address: str, running: Visited) -> None:
    """Refused, planned, waiting, running, failed, answered, and of a hostile name: each has its page."""
    states = {
        "/ask?question=SELECT+heigth+FROM+people&offer=epsilon&amount=1": "unknown_column",
        "/ask?question=SELECT+COUNT(*)+AS+n+FROM+people&offer=within&amount=9": "Ask, ",
        "/ask?question=SELECT+COUNT(*)+AS+n+FROM+people&offer=epsilon&amount=9999": "doesn’t pay for it",
        f"/ask?question={TOGETHER}&offer=epsilon&amount=1": "what all 2 cost together",
        "/build?measure=total": "Not yet a question",
        left_behind(running): "Others are ahead of it",
        left_behind(running, started=datetime.now(UTC)): "however long the question runs",
        left_behind(running, failed=True): "The reason isn’t shown",
        "/answers/nobody": "you have no such question",
    }
    with opened(chromium, address, running, "analyst") as watched:
        watched.page.route("**/answers/*", stays)
        for path, words in states.items():
            watched.page.goto(path)
            expect(watched.page.locator("main")).to_contain_text(words)
            watched.check_both(read_out=path != "/answers/nobody")
        watched.page.unroute_all()
        asked = {BY_KEY.replace(" ", "+"): "Answer", TOGETHER: "2 answers", "SUMMARIZE+people": "Summary of people"}
        for question, heading in asked.items():
            watched.page.goto(f"/ask?question={question}&offer=epsilon&amount=1")
            watched.page.get_by_role("button", name=re.compile("^Ask( all)?, ")).click()
            settle(watched.page)
            expect(watched.page.locator("h1")).to_have_text(heading)
            if question != TOGETHER:  # one number each, of which there is no picture
                expect(watched.page.locator("svg.chart.wide .whisker").first).to_be_visible()
            for summary in watched.page.locator("summary").all():
                summary.click() if summary.is_visible() else None
            watched.check_both()
        watched.page.goto("/dashboard")
        expect(watched.page.locator(".tile")).to_have_count(0)
    with opened(chromium, address, running, "auditor") as watched:
        watched.page.goto("/history")
        watched.page.get_by_role("link", name="Certificate of entry").first.click()
        expect(watched.page.locator("main")).to_contain_text("It holds:")
        watched.check_both()


def stays(route: Route) -> None:
    """Let a page stay as it is: one that waits loads itself again every two seconds, also while it is looked at."""
    found = route.fetch()
    route.fulfill(response=found, headers={name: each for name, each in found.headers.items() if name != "refresh"})


def settle(page: Page) -> None:
    """Wait until a question has its answer, or has failed; the page reloads itself."""
    expect(page.locator("h1")).to_have_text(re.compile("^(Answer|2 answers|Summary of people|There is no answer)$"))


def tab_to(page: Page, selector: str) -> None:
    """Press the tabulator until something has the focus, which shows."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", selector
            return
    raise AssertionError(f"the keyboard doesn't reach {selector} on {page.url}")


def by_slider(page: Page, ask: Locator) -> None:
    """Move the slider by key: the ± follows, and the address has the amount."""
    rough = page.locator("#exact-says").inner_text()
    assert re.match(r"± [\d.,]+ for ε = [\d.]+$", rough)
    tab_to(page, "#exact")
    page.keyboard.press("ArrowLeft")
    expect(ask).to_be_disabled()  # the plan isn't of where the slider stands now
    expect(ask).to_be_enabled()
    expect(page.locator("#exact-says")).not_to_have_text(rough)
    expect(page.locator("#exact-says")).to_contain_text("±")
    amount = page.locator("#exact-says").inner_text().rpartition(" ")[2]
    assert f"offer=epsilon&amount={amount}" in page.url


def test_a_question_by_keyboard_alone(chromium: Browser, address: str, running: Visited) -> None:
    """Sign in, complete a column's name, see the plan while typing, ask, read the answer: without a mouse."""
    with opened(chromium, address) as watched:
        page, keys = watched.page, watched.page.keyboard
        expect(page.locator("#token")).to_be_focused()
        keys.type(running.tokens["analyst"])
        keys.press("Enter")
        page.wait_for_url(f"{address}/")
        keys.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        tab_to(page, 'nav a[href="/ask"]')
        keys.press("Enter")
        page.wait_for_url(f"{address}/ask")
        tab_to(page, "#question")
        ask = page.get_by_role("button", name=ASK)
        expect(ask).to_be_enabled()  # it begins with a question that works
        keys.press("Control+A")
        keys.type("SELECT AVG(ag")
        expect(page.locator("#completions li")).to_have_count(1)
        expect(page.locator("#completions")).to_be_visible()
        keys.press("Escape")
        expect(page.locator("#completions")).to_be_hidden()
        keys.type("e")
        keys.press("Backspace")
        expect(page.locator("#completions li", has_text='"age"')).to_be_visible()
        keys.press("ArrowDown")
        keys.press("Enter")
        keys.type(") AS age FROM people")
        assert page.input_value("#question") == 'SELECT AVG("age") AS age FROM people'
        keys.press("Escape")
        expect(ask).to_be_enabled()
        by_slider(page, ask)
        watched.page.locator("details.more > summary").press("Enter")
        tab_to(page, "#amount")
        keys.type("3")
        expect(page.locator("input[value=within]")).to_be_checked()
        expect(ask).to_be_enabled()
        assert "offer=within&amount=3" in page.url
        keys.press("Backspace")
        keys.type("2")
        keys.press("Control+Enter")  # plans at once
        expect(ask).to_be_enabled()
        assert "offer=within&amount=2" in page.url
        keys.press("Control+Enter")  # asks what is planned
        settle(page)
        assert re.fullmatch(rf"{address}/answers/[0-9a-f]+", page.url)
        watched.check()


def test_an_answer_is_named_sorted_copied_and_edited(chromium: Browser, address: str, running: Visited) -> None:
    """By keyboard and pointer, on its own page; the dashboard shows it, and taking its name away ends that."""
    with opened(chromium, address, running, "analyst") as watched:
        page = watched.page
        page.goto(f"/ask?question={BY_KEY.replace(' ', '+')}&offer=epsilon&amount=1")
        page.get_by_role("button", name=ASK).click()
        settle(page)
        numbers = "[...document.querySelectorAll('tbody td:last-child')].map(each => Number(each.dataset.by))"
        head = page.get_by_role("columnheader", name="n", exact=True)
        for order in ("ascending", "descending"):
            head.get_by_role("button").press("Enter")
            assert head.get_attribute("aria-sort") == order
            found = page.evaluate(numbers)
            assert found == sorted(found, reverse=order == "descending")
        page.get_by_text("Copy it").click()
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.locator("[data-copy=as-command]").click()
        assert page.evaluate("navigator.clipboard.readText()").startswith("discreet ask ")
        with page.expect_download() as kept:
            page.get_by_role("link", name="PNG").click()
        assert kept.value.suggested_filename.endswith(".png")
        assert Path(kept.value.path()).read_bytes().startswith(b"\x89PNG")
        page.get_by_text("Edit the question").click()
        expect(page.get_by_role("button", name=ASK)).to_be_visible()  # planned where it stands
        page.fill("#question", COUNT)
        expect(page.locator("#plan .figures")).to_contain_text("n, at 95 %")
        assert "/answers/" in page.url
        watched.check_both(read_out=False)
        page.get_by_text("Name it").click()
        page.fill("#name", IMAGE)
        page.press("#name", "Enter")
        expect(page.locator("h1")).to_have_text(IMAGE)
        page.goto("/dashboard")
        expect(page.locator(".tile svg.chart.narrow")).to_be_visible()
        watched.check_both()
        page.get_by_role("button", name="Take").click()
        expect(page.locator("main")).to_contain_text("Nothing has a name yet")
        watched.check()


def test_a_question_without_script(chromium: Browser, address: str, running: Visited) -> None:
    """Forms and links do all of it; the page of a pending answer reloads itself."""
    options = {**PHONE, "java_script_enabled": False}
    with opened(chromium, address, running, "analyst", **options) as watched:
        page = watched.page
        page.goto("/build?measure=average&column=age")
        page.locator("#exact").fill("3")
        page.get_by_role("button", name="Plan it").click()
        page.get_by_role("button", name=ASK).click()
        settle(page)
        assert watched.faults == []


def test_hostile_texts_do_nothing_in_a_browser(chromium: Browser, address: str, running: Visited) -> None:
    """Names, keys and questions with markup run nothing; the editor completes such a name as text."""
    with opened(chromium, address, running, "mallory", **PHONE) as watched:
        page = watched.page
        for path in ("/", "/tables", "/build?group=k", "/history", "/budget", f"/ask?question={IMAGE}&amount={IMAGE}"):
            page.goto(path)
            watched.check(read_out=False)
        page.goto("/ask")
        page.fill("#question", "")
        page.press("#question", "Control+Space")
        page.locator("#completions li", has_text="onerror").click()
        assert page.input_value("#question") == '"' + IMAGE.replace('"', '""') + '"'
        page.fill("#question", BY_KEY)
        page.get_by_role("button", name=ASK).click()
        settle(page)
        assert page.title() != "owned"
        watched.check()


def test_who_lost_the_session_or_the_server_is_told(chromium: Browser, address: str, running: Visited) -> None:
    """While typing: a server that can't be reached is said; a session that has ended leads to the form."""
    with opened(chromium, address, running, "analyst") as watched:
        page = watched.page
        page.goto("/ask")
        page.fill("#question", COUNT)
        page.route("**/ask/plan", lambda route: route.abort())
        page.fill("#exact", "1")
        expect(page.locator("#plan")).to_contain_text("can’t be reached")
        page.unroute("**/ask/plan")
        page.context.clear_cookies()
        page.fill("#exact", "2")
        page.wait_for_url(f"{address}/sign-in*")
        assert [fault for fault in watched.faults if "ERR_FAILED" not in fault] == []


def test_people_come_back_from_their_provider(chromium: Browser, address: str, running: Visited) -> None:
    """From another site and back, through all that browsers stop: the session's cookie is there on the first page."""
    with provider_at_port() as provider, TemporaryDirectory() as folder:
        told = running.service.settings
        running.service.settings = replace(told, openid=provider.configured(Path(folder), address))
        try:
            with opened(chromium, address) as watched:
                watched.check_both()
                watched.page.get_by_role("link", name="Sign in at the agency <b>").click()
                watched.page.wait_for_url(f"{address}/")
                expect(watched.page.locator(".who")).to_contain_text(f"{provider.address}|ann")
                assert [each for each in watched.faults if provider.address not in each] == []
                watched.faults.clear()
                watched.check_both()
                cookies = {each["name"]: each["sameSite"] for each in watched.page.context.cookies()}
                assert cookies == {"discreet": "Strict", "discreet-form": "Strict"}
        finally:
            running.service.settings = told


def test_the_watch_sees_faults(chromium: Browser, address: str) -> None:
    """A page that asks elsewhere, runs an inline script, has no label or pale letters is found out."""
    with opened(chromium, address) as watched:
        page = watched.page
        page.evaluate("fetch('https://example.org/').catch(() => 0)")
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'owned = 1'}))")
        assert page.evaluate("typeof owned") == "undefined"
        assert len([fault for fault in watched.faults if "Content Security Policy" in fault]) >= 2
        page.evaluate("document.querySelector('label').remove()")
        page.evaluate("document.querySelector('.lead').style.color = '#ccc'")
        assert {"label", "color-contrast"} <= {name for name, _ in violations(page)}
