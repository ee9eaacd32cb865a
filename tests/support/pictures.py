"""The pictures of answers and of the console in the documentation; `make refresh` makes them again.

A page may have the answer of a picture as text, between `<!-- drawn: NAME -->` and `<!-- end -->`: one draw gives both.

They show noisy numbers of people who don't exist, so each time they are others: they are made again when charts or
pages change. Those of the console take a Chromium.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import discreet as dp
from discreet.census import EDUCATION, synthetic
from discreet.cli.demo.served_story import prepared
from discreet.service import ReleaseTimes, Role, Service, Settings
from support.chromium import CHROMIUM
from support.pages import pages
from support.project import DOCS, ROOT
from support.visited import at_port

FOLDER = DOCS / "pictures"
QUESTION = "SELECT education, COUNT(*) AS people, AVG(income) AS income\nFROM census\nGROUP BY education"
NAMED = {
    "Ages": "SELECT age, COUNT(*) AS people FROM census WHERE age BETWEEN 15 AND 90 GROUP BY age",
    "Everyone": "SELECT COUNT(*) AS people FROM census",
}
"""More questions for the dashboard."""

DESK: Mapping[str, Any] = {"viewport": {"width": 1120, "height": 700}}
PHONE: Mapping[str, Any] = {"viewport": {"width": 390, "height": 844}}


ANSWERS: Mapping[str, str] = {
    "answer-bars": "SELECT education, AVG(income) AS income FROM census GROUP BY education",
    "answer-line": "SELECT age, COUNT(*) AS people FROM census WHERE age BETWEEN 15 AND 90 GROUP BY age",
    "answer-panels": "SELECT FLOOR(age / 5) * 5 AS age_from, education, COUNT(*) AS people FROM census "
    "WHERE age BETWEEN 15 AND 89 GROUP BY age_from, education",
    "answer-cells": "SELECT FLOOR(age / 5) * 5 AS age_from, FLOOR(hours / 10) * 10 AS hours_from, "
    "COUNT(*) AS people FROM census WHERE age BETWEEN 15 AND 89 AND hours BETWEEN 0 AND 79 "
    "GROUP BY age_from, hours_from",
}
"""What `charts.md` shows, by the names of its pictures."""

_DRAWN = re.compile(r"(?P<open><!-- drawn: (?P<name>[\w-]+) -->\n).*?(?P<close><!-- end -->)", re.DOTALL)


def main() -> None:
    """Make all of them."""
    draw()
    take()


def draw() -> None:
    """The pictures of answers."""
    with (
        TemporaryDirectory() as folder,
        dp.protect(
            synthetic(),
            name="census",
            unit=dp.Unit.row(),
            columns={
                "education": dp.Keys(EDUCATION),
                "age": dp.Bounds(0, 125),
                "income": dp.Bounds(0, 500_000),
                "hours": dp.Bounds(0, 168),
            },
            budget=dp.Budget(epsilon=3),
            ledger=Path(folder) / "census.ledger",
        ) as census,
    ):
        for name, question in ANSWERS.items():
            answer = census.ask(question, epsilon="0.5")
            (FOLDER / f"{name}.svg").write_text(answer.to_svg() + "\n", encoding="utf-8")
            for page in (ROOT / "README.md", *pages()):
                _write(page, name, str(answer))


def drawn(text: str) -> dict[str, str]:
    """The answers that a page has as text, by the names of their pictures."""
    return {part["name"]: part[0][len(part["open"]) : -len(part["close"])] for part in _DRAWN.finditer(text)}


def _write(page: Path, name: str, answer: str) -> None:
    """Put an answer into a page that has one of this name."""
    old = page.read_text(encoding="utf-8")
    new = _DRAWN.sub(
        lambda part: f"{part['open']}```text\n{answer}\n```\n{part['close']}" if part["name"] == name else part[0], old
    )
    if new != old:
        page.write_text(new, encoding="utf-8")


def take() -> None:
    """The pictures of the console."""
    if CHROMIUM is None:
        sys.stderr.write("no Chromium here, so the pictures of the console stay as they are\n")
        return
    from playwright.sync_api import Page, sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with prepared(synthetic(), 3, {"ann": Role.ANALYST, "office": Role.CUSTODIAN, "audit": Role.AUDITOR}) as (
        config,
        tokens,
    ):
        service = Service(config, Settings(times=ReleaseTimes(base=2.0, scan=2.0)))
        with at_port(service) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

            def signed_in(token: str, how: Mapping[str, Any]) -> Page:
                page = browser.new_context(base_url=address, **how).new_page()
                page.goto("/sign-in")
                page.fill("input[name=token]", token)
                page.click("main button")
                page.wait_for_url(f"{address}/")
                return page

            def planned(page: Page, question: str, amount: str) -> None:
                page.goto(f"/ask?{urlencode({'question': question, 'offer': 'epsilon', 'amount': amount})}")
                page.wait_for_selector("text=Ask, ")

            def answered(page: Page, question: str, amount: str, name: str = "") -> None:
                planned(page, question, amount)
                page.click(".ask-now button")
                page.wait_for_selector("text=Keep it", timeout=60_000)
                if name:
                    page.click("text=Name it")
                    page.fill("#name", name)
                    page.press("#name", "Enter")
                    page.wait_for_selector(f"h1:has-text('{name}')")

            ann, office, audit = tokens
            phone = signed_in(ann, PHONE)
            planned(phone, QUESTION, "0.2")
            _take(phone, "console-phone")
            desk = signed_in(ann, DESK)
            planned(desk, QUESTION, "0.2")
            _take(desk, "console-ask")
            answered(desk, QUESTION, "0.2", "By education")
            _take(desk, "console-answer")
            for name, question in NAMED.items():
                answered(desk, question, "0.05", name)
            _take(_at(desk, "/dashboard"), "console-dashboard")
            _take(_at(desk, "/"), "console-home")
            answered(desk, "SUMMARIZE census", "0.5")
            _take(desk, "console-summary")
            custodian = signed_in(office, DESK)
            _shared(service, office)
            _take(_at(custodian, "/tokens"), "console-tokens")
            _take(_at(signed_in(audit, DESK), "/history/1"), "console-certificate")
            browser.close()
        service.close()


def _shared(service: Service, office: str) -> None:
    """Two more analysts, with shares and a ceiling."""
    custodian = service.caller(office)
    service.issue(custodian, "bob", Role.ANALYST, days=90, share=dp.Budget(epsilon="0.5"), most_epsilon="0.1")
    service.issue(custodian, "carol", Role.ANALYST, days=90, share=dp.Budget(epsilon="0.25"))


def _at(page: Any, path: str) -> Any:
    """The page, elsewhere."""
    page.goto(path)
    return page


def _take(page: Any, name: str) -> None:
    """Keep what a page looks like, in light and in dark."""
    for scheme, ending in {"light": "", "dark": "-dark"}.items():
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=FOLDER / f"{name}{ending}.png", full_page=True, animations="disabled")


if __name__ == "__main__":
    main()
