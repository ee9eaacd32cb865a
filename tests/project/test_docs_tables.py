"""Every table on a page is rendered as one: a head, a rule under it, and rows with as many cells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.pages import pages
from support.project import ROOT, name

PAGES = [*pages(), *(ROOT / page for page in ("README.md", "CONTRIBUTING.md"))]


def faults(text: str) -> list[str]:
    """The lines of a page where a table is broken."""
    found, width, row, fenced = [], 0, 0, False
    for line in [*text.splitlines(), ""]:
        fenced ^= line.lstrip().startswith("```")
        if fenced or not line.startswith("|"):
            found += [f"a head without rows before: {line}"] if row in {1, 2} else []
            row = 0
            continue
        row += 1
        cells = len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", line)))
        width = cells if row == 1 else width
        if cells != width or (row == 2) != bool(re.fullmatch(r"\|(-+\|)+", line)):
            found.append(line)
    return found


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_table_is_one(page: Path) -> None:
    """Each row of each table has as many cells as its head."""
    assert faults(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "broken",
    [
        "| word | meaning |\n|---|---|\n\n| *level* | how far |\n",
        "| a | b |\n|---|---|\n| 1 | 2 | | 3 | 4 |\n",
        "| a | b |\n| 1 | 2 |\n",
    ],
)
def test_a_broken_table_is_noticed(broken: str) -> None:
    """A blank line under the head, two rows in one line, and no rule; a sign in a code span breaks nothing."""
    assert faults(broken) != []
    assert faults("| a | b |\n|---|---|\n| `x || y` | `a\\|b` |\n") == []
