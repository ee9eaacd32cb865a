"""The tutorials: each is replayed from an empty folder, and shows what its commands and its code print now.

What noise decides is left out of the comparison; so are keys, clocks and paths.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from time import monotonic, process_time

import pytest

from support.tutorials import PAGES, TUTORIALS, WIDTH, replayed, shape

pytestmark = pytest.mark.long


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_is_what_happens(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each block does what it says, in order, and prints what the page shows; no line is wider than its box."""
    begun, worked = monotonic(), process_time()
    for block, now in replayed(page):
        assert shape(now) == shape(block.text), f"{page.name}, line {block.line}\n{now}"
        assert [line for line in block.text.splitlines() if len(line) > WIDTH] == []
    with capsys.disabled():
        took = f"{monotonic() - begun:.1f} s, {process_time() - worked:.1f} s of processor time"
        sys.stdout.write(f"\n  {page.stem}: {took}\n")


def test_the_index_has_each() -> None:
    """By a link."""
    linked = re.findall(r"\((\w+\.md)\)", (TUTORIALS / "index.md").read_text(encoding="utf-8"))
    assert sorted(set(linked)) == [page.name for page in PAGES if page.parent == TUTORIALS]


def test_another_page_is_noticed() -> None:
    """Other words and what is missing change the shape; other numbers, keys and widths don't."""
    shown = "n  71,209 ± 6\ncost   ε = 0.5\n───"
    assert shape(shown) == shape("n  998 ± 12\ncost\nε = 1\n─────")
    assert shape(shown) != shape("n  998 ± 12\ncost   ρ = 1\n───")
    assert shape(shown) != shape("n  998 ± 12\n───")
