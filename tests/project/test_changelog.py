"""The changelog: one fragment per change, and privacy first."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

import discreet
from support.project import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
CATEGORIES = [category["directory"] for category in SETTINGS["type"]]
FRAGMENTS = sorted(path for path in (ROOT / "changelog.d").iterdir() if path.suffix == ".md")
ASKED = ("**Affected:**", "**By how much:**", "**Since:**")
"""What a fragment about privacy must say."""


def faults(file: str, text: str) -> list[str]:
    """What is wrong with a fragment."""
    match = re.fullmatch(r"\+[a-z0-9]+(?:-[a-z0-9]+)*\.(?P<category>[a-z]+)\.md", file)
    if match is None:
        return ["its name isn't +short-name.category.md"]
    found = []
    if match["category"] not in CATEGORIES:
        found.append(f"there is no category {match['category']}")
    if not text.endswith("\n") or "\n\n" in text or not re.match(r"[A-Z`*]", text) or text.strip()[-1:] != ".":
        found.append("it isn't one paragraph of sentences")
    if any(len(line) > 120 for line in text.splitlines()):
        found.append("a line is longer than 120 signs")
    if match["category"] == "privacy":
        found += [f"it doesn't say {words}" for words in ASKED if words not in text]
    return found


def test_every_fragment_is_well_formed() -> None:
    """Each is named by its category and is one paragraph; one about privacy says who, how much, since when."""
    found = {fragment.name: faults(fragment.name, fragment.read_text(encoding="utf-8")) for fragment in FRAGMENTS}
    assert {fragment: each for fragment, each in found.items() if each} == {}


def test_nothing_else_lies_among_the_fragments() -> None:
    """Every file in the folder is a fragment, so that none is forgotten for its name."""
    assert [path.name for path in (ROOT / "changelog.d").iterdir() if path not in FRAGMENTS] in ([], [".gitignore"])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("wrong-name.md", "A sentence.\n"),
        ("+x.surprise.md", "A sentence.\n"),
        ("+x.fix.md", "no sentence\n"),
        ("+x.fix.md", "Two.\n\nParagraphs.\n"),
        ("+x.privacy.md", "Sums got too little noise. **Affected:** everyone. **Since:** 0.1.0.\n"),
    ],
)
def test_a_malformed_fragment_is_noticed(file: str, text: str) -> None:
    """The measure sees each kind of fault."""
    assert faults(file, text) != []
    assert faults("+x.privacy.md", f"It was. {' '.join(f'{words} x.' for words in ASKED)}\n") == []


def test_privacy_comes_first() -> None:
    """Releases list what concerns privacy before anything else."""
    assert CATEGORIES[0] == "privacy"
    assert {"feature", "fix", "docs"} <= set(CATEGORIES)


def test_towncrier_gathers_every_fragment() -> None:
    """The draft of the next release holds the words of each fragment, under this version."""
    draft = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", discreet.__version__],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    written = " ".join(draft)
    assert f"## {discreet.__version__} (" in written
    for fragment in FRAGMENTS:
        assert " ".join(fragment.read_text(encoding="utf-8").split()) in written


def test_the_changelog_knows_where_releases_go() -> None:
    """The marker that towncrier writes under is there."""
    assert SETTINGS["start_string"] in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
