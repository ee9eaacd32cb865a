"""The site builds without a warning and without reaching elsewhere, and holds every public name's docstring."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from support.project import ROOT, offered, rooms

pytestmark = pytest.mark.long

LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^\s\">]+")
"""A tag by which a page would fetch something from another place while it is read."""

BUILD = """
import sys
sys.modules["ruff"] = sys.modules["black"] = None
from material.plugins.search.plugin import SearchPlugin
SearchPlugin.on_page_context = lambda *_, **__: None
from mkdocs.__main__ import cli
cli()
"""
"""Without what would break signatures into lines, which takes a process for each of hundreds, and without an index."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation, built as `make docs` builds it, but that neither are signatures broken nor words indexed."""
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-c", BUILD, "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "true"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return folder


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
