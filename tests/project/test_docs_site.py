"""The site: it builds without a warning, reaches nowhere else, holds every docstring, can be searched, and fits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import DiscreetError
from support import commandline
from support.chromium import CHROMIUM, MISSING, PATIENCE
from support.project import DOCS, ROOT, offered, rooms
from support.site import build, face, faults, misplaced
from support.tutorials import WIDTH as TERMINAL
from support.typeset import mathml

pytestmark = pytest.mark.long

LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^\s\">]+")
"""A tag by which a page would fetch something from another place while it is read."""

CODE = re.compile(r"<(pre|code)\b.*?</\1>", re.DOTALL)
UNSET = re.compile(r"\$(?! |\d)[^<\n$]{1,60}\$|\\(?:frac|sqrt|Pr|sum|ln|max)\b|\b[eE]\^")
"""A formula that stands on a page as it was written: once code is left out, none should."""

PHONE = 390

WIDE = """(content) => {
    document.querySelector("article").innerHTML = content;
    return [document.documentElement, ...document.querySelectorAll("pre, pre > code")]
        .filter(box => box.scrollWidth > box.clientWidth && box.clientWidth)
        .map(box => `${box.tagName} ${box.scrollWidth} > ${box.clientWidth}: ${box.textContent.trim().slice(0, 60)}`)
}"""
"""What is wider than the room it has once a page shows this content: code boxes, and the page itself."""


BROKEN = """(columns) => {
    const lines = ["x", "x".repeat(columns)].map((text, place) => `<span id="__span-0-${place}">${text}</span>`);
    document.querySelector("article").innerHTML = `<pre><code class="md-code__content">${lines.join("")}</code></pre>`;
    const [short, long] = [...document.querySelectorAll("pre span")].map(line => line.offsetHeight);
    const room = document.querySelector("pre").offsetHeight - short - long;
    return [long > short, room > 2 * short];
}"""
"""Whether a line of so many columns is broken in a code box, and whether the box has an empty line."""

SPILLING = """(content) => {
    document.querySelector("article").innerHTML = content;
    return [...document.querySelectorAll("table")]
        .filter(table => table.scrollWidth > table.clientWidth)
        .map(table => `${table.scrollWidth} > ${table.clientWidth}: ${table.textContent.trim().slice(0, 60)}`)
}"""
"""The tables that are wider than the text once a page shows this content."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as `make docs` builds it, in short: what its commands draw is seen where its examples run."""
    folder = tmp_path_factory.mktemp("site") / "site"
    build(folder, in_short=True)
    return folder


@pytest.fixture(scope="module")
def index(site: Path) -> dict[str, Any]:
    """What search looks through."""
    return json.loads((site / "search.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="tests in a browser need playwright")
    if CHROMIUM is None:
        pytest.skip(MISSING)
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def test_the_site_fetches_nothing(site: Path) -> None:
    """No page loads a script, style, font or picture from elsewhere."""
    found = {page.name: LOADED.findall(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}
    assert found
    assert {page: tags for page, tags in found.items() if tags} == {}


def test_a_fetch_is_noticed() -> None:
    """The measure finds what it is for, and leaves links alone."""
    assert LOADED.search('<script src="https://cdn.example.org/x.js">')
    assert LOADED.search('<link rel="stylesheet" href="//fonts.example.org/css">')
    assert not LOADED.search('<a href="https://example.org">there</a>')


def test_faults_of_pages_and_of_the_navigation_are_noticed(tmp_path: Path) -> None:
    """Links to no page and no heading, pictures without words or not there; a page twice, one nowhere, one too deep."""
    (tmp_path / "one.html").write_text(
        '<p id="here"><a href="two.html"><a href="#there"><a href="#here"><img src="one.html">'
        '<img src="none.svg" alt="words"><source srcset="dark.png"><a href="https://example.org/two.html">',
        encoding="utf-8",
    )
    assert len(faults(tmp_path)) == 5
    (tmp_path / "docs").mkdir()
    for name in ("index", "twice", "nowhere", "deep"):
        (tmp_path / "docs" / f"{name}.md").touch()
    (tmp_path / "mkdocs.yml").write_text(
        "nav: [A: index.md, B: twice.md, C: [D: [E: [F: deep.md]]], G: [H: twice.md]]", encoding="utf-8"
    )
    assert len(misplaced(tmp_path)) == 3


def test_the_site_has_the_face_of_the_console(site: Path) -> None:
    """Its colours and typefaces are the console's, and no other colour is named beside them."""
    console = ROOT / "src/discreet/interfaces/http/console/static"
    assert (site / "face.css").read_text("utf-8") == face((console / "console.css").read_text("utf-8"))
    assert (site / "pictures/icon.svg").read_bytes() == (console / "icon.svg").read_bytes()
    style = (DOCS / "style.css").read_text(encoding="utf-8")
    assert re.findall(r"#[0-9a-f]{3,8}\b|rgb", style) == []


def test_formulas_are_set_as_mathematics(site: Path) -> None:
    """No dollar sign of a formula, no command of LaTeX and no raised part is left on a page outside of code.

    Docstrings, of which the reference is made, are read in terminals too, and stay as they are.
    """
    pages = {page.relative_to(site).as_posix(): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert pages["mathematics.html"].count("<math") > 100
    assert '<div class="formula"><math' in pages["book/definition.html"]
    written = {name: CODE.sub("", text) for name, text in pages.items() if not name.startswith("reference/")}
    assert [name for name, text in written.items() if UNSET.search(text)] == []


@pytest.mark.parametrize(
    "left", ["at most $e^ε$ times", r"the \ln of it", r"\frac{1}{2}", "at most e^ε times", "e^(5ε/7)"]
)
def test_a_formula_that_is_left_as_text_is_noticed(left: str) -> None:
    """In a sentence; in code it stays as it is."""
    assert UNSET.search(f"<p>{left}</p>")
    assert not UNSET.search(CODE.sub("", f"<p><code>{left}</code> in a file, $5 and $6</p>"))


def test_formulas_are_spaced_as_in_print() -> None:
    """Signs, relations and primes are operators; names of functions aren't, and bars are brackets."""
    assert mathml("e^{-ε} ≤ x'").count("<mo>") == 3
    assert mathml(r"\Pr[A] ≤ \max(|a|, 2)").count("<mi>Pr</mi>") == 1
    assert mathml(r"\max(|a|, 2)").count('lspace="0"') == 2
    assert mathml(r"2k \ln \frac{a}{b}").count("<mspace") == 2
    assert "<mn>100,000</mn>" in mathml("\\ln 100{,}000")
    assert mathml(r"\ln(1/δ)").count("<mspace") == 0


@pytest.fixture(scope="module")
def anchors(site: Path) -> set[str]:
    """The dotted names that have an entry in the reference."""
    return {
        anchor
        for page in site.rglob("*.html")
        for anchor in re.findall(r'id="?(discreet[\w.]*)', page.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("module", ["discreet", *(f"discreet.{room}" for room in rooms() if room != "cli")])
def test_every_public_name_is_rendered(module: str, anchors: set[str]) -> None:
    """Each name that the module offers has an entry, under the module or, where both are called alike, a file of it."""
    names = [name for name in offered(module) if not name.startswith("__")]
    rendered = "\n".join(anchors)
    assert [name for name in names if not re.search(rf"^{module}(\.\w+)*\.{name}$", rendered, re.MULTILINE)] == []


def test_the_package_says_what_it_offers() -> None:
    """Everything in `discreet.__all__` is there."""
    assert [name for name in discreet.__all__ if not hasattr(discreet, name)] == []


def test_search_knows_every_word_that_one_may_look_for(index: dict[str, Any]) -> None:
    """Each error, function of SQL, command, option and client stands in a section, by words as search cuts them."""
    cut = re.compile(index["config"]["separator"])
    sections = [
        {word for word in cut.split(re.sub(r"<[^>]+>", " ", f"{item['title']} {item['text']}").lower()) if word}
        for item in index["items"]
    ]
    sql = (DOCS / "reference/sql.md").read_text(encoding="utf-8")
    table = sql[sql.index("## Aggregates") : sql.index("## What is refused")]
    commands = commandline.commands()
    looked_for = {
        *(error.code for error in _below(DiscreetError)),
        *re.findall(r"\b[A-Z][A-Z\d_]{2,}\b", table),
        *(name for name in commands if name),
        *(option for command in commands.values() for option in commandline.options(command)),
        *("psql", "excel", "jupyter"),
    }
    assert len(looked_for) > 300
    words = {term: {word for word in cut.split(term.lower()) if word} for term in looked_for}
    assert sorted(term for term, needed in words.items() if not any(needed <= section for section in sections)) == []


def test_search_finds_where_it_is_said(site: Path, chromium: Any) -> None:
    """In a page that was opened from the disk, without a server."""
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto((site / "index.html").as_uri())
    page.click(".md-search__button")
    asked = page.get_by_role("combobox", name="Search")
    for word, where in {
        "unknown_column": "errors.html",
        "COUNT_IF": "sql.html",
        "--metrics-port": "cli.html",
        "psql": "connect.html",
        "excel": "sources.html",
        "jupyter": "index.html",
    }.items():
        asked.fill(word)
        page.wait_for_selector(f'a[role=option][href*="{where}"]')


def test_every_page_fits(site: Path, chromium: Any) -> None:
    """No code box scrolls sideways, and no page does, on a desk and on a phone; on a desk no table does.

    One page is opened, and shows what each has in turn: to open all takes five times as long. The rooms are left out:
    they take longer than all others together, and are made as the page of public names is.
    """
    content = {
        file.name: re.findall(r"<article.*?>(.*)</article>", file.read_text(encoding="utf-8"), re.DOTALL)[0]
        for file in sorted(site.rglob("*.html"))
        if file.name != "rooms.html"
    }
    context = chromium.new_context(java_script_enabled=False)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    for width in (1280, PHONE):
        page.set_viewport_size({"width": width, "height": 900})
        assert {name: wide for name, text in content.items() if (wide := page.evaluate(WIDE, text))} == {}
        assert page.evaluate(WIDE, f"<pre style='overflow: auto; width: 100px'>{'x' * 99}</pre>")  # it is noticed
        if width > PHONE:
            assert {name: wide for name, text in content.items() if (wide := page.evaluate(SPILLING, text))} == {}
            assert page.evaluate(SPILLING, f"<table><tr><td>{'x' * 200}</td></tr></table>")
    context.close()


def test_a_terminal_of_the_tutorials_fits_into_a_code_box(site: Path, chromium: Any) -> None:
    """What commands print there isn't broken on a desk; a line of twice the width is. No line is left empty."""
    page = chromium.new_page(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    page.set_default_timeout(PATIENCE)
    page.goto((site / "index.html").as_uri())
    assert page.evaluate(BROKEN, TERMINAL) == [False, False]
    assert page.evaluate(BROKEN, 2 * TERMINAL) == [True, False]
    page.close()


def _below(kind: type[DiscreetError]) -> Iterator[type[DiscreetError]]:
    """An error and all below it."""
    yield kind
    for child in kind.__subclasses__():
        yield from _below(child)
