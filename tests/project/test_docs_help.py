"""The help texts in the documentation are those of the program, and every command in it exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from support import commandline
from support.generated import content, parts
from support.pages import blocks, commands, pages
from support.project import ROOT, name

PAGES = [*pages(), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
GENERATED = [(page, what) for page in PAGES for what in parts(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "what"), GENERATED, ids=[what for _, what in GENERATED])
def test_generated_parts_are_up_to_date(page: Path, what: str) -> None:
    """Each says, word for word, what the program says now; `make refresh` rewrites them."""
    shown = parts(page.read_text(encoding="utf-8"))[what]
    assert commandline.words(shown) == commandline.words(content(what))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_shown_exists(page: Path) -> None:
    """Each `$ discreet …` names a command and options that exist, and each `$ make …` a target."""
    lines = [line for block in blocks(page.read_text(encoding="utf-8")) for line in commands(block)]
    assert [line for line in lines if commandline.unknown(line)] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [line.split()[1] for line in lines if line.startswith("make ")]
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


def test_an_unknown_command_is_noticed() -> None:
    """The measure tells commands and options that exist from others."""
    assert commandline.unknown("discreet ask 'SELECT 1' --epsilon 1") is None
    assert commandline.unknown("discreet --help") is None
    assert commandline.unknown("discreet aks 'SELECT 1'") is not None
    assert commandline.unknown("discreet ask 'SELECT 1' --epsilom 1") is not None


def test_the_readme_shows_a_real_session() -> None:
    """Its transcript has commands and what they printed."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    transcript = readme[readme.index("<!-- transcript") : readme.index("<!-- end of transcript -->")]
    shown = blocks(transcript)
    assert sum(len(commands(block)) for block in shown) >= 2
    assert sum(not line.startswith("$ ") and bool(line) for block in shown for line in block.text.splitlines()) >= 2


def test_the_readme_shows_what_its_questions_cost_now(tmp_path: Path) -> None:
    """The plan and the account in its transcript, but for noise: costs follow from declarations alone."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    transcript = readme[readme.index("<!-- transcript") : readme.index("<!-- end of transcript -->")]
    declared = re.search(r"budget ε = (\S+), δ = (\S+), ledger", transcript)
    assert declared is not None
    rows = {"age": [40] * 16, "education": [f"level {n}" for n in range(16)], "hours-per-week": [40] * 16}
    with dp.protect(
        pa.table(rows),
        name="adult",
        unit=dp.Unit.row(),
        columns={
            "age": dp.Bounds(17, 99),
            "education": dp.Keys(rows["education"]),
            "hours-per-week": dp.Bounds(1, 99),
        },
        adjacency=dp.ADD_REMOVE,
        budget=dp.Budget(epsilon=declared[1], delta=declared[2]),
        ledger=tmp_path / "adult.ledger",
    ) as adult:
        words = [line for line in transcript.splitlines() if line.startswith("$ discreet ")]
        explained, *asked = [shlex.split(line) for line in words if line.split()[2] in {"explain", "ask"}]
        plan = adult.ask(f"EXPLAIN {explained[3]}", epsilon=explained[-1])
        assert str(plan) in transcript
        for question in asked:
            adult.ask(question[3], epsilon=question[-1])
            assert f"left       {adult.left()}\n" in transcript


def test_the_readme_opens_with_what_it_is_and_two_commands() -> None:
    """Within its first lines, somebody who comes by learns what this is and how to try it."""
    head = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:20]
    assert "$ make demo" in "\n".join(head)
    assert "$ make test" in "\n".join(head)
