"""The examples in the documentation run.

Blocks of one page share a folder and a namespace, as a reader's session would. Python is executed, TOML is loaded as
`discreet.toml`, console lines that call discreet are run, and SQL is planned against the synthetic census. Output is
compared where a comment above the block says so, see `support.pages`. A block that needs a file which the project
doesn't ship is left out, unless the file is there: see `test_the_book_prints_what_its_data_say`.
"""

from __future__ import annotations

import io
import shlex
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.errors import DiscreetError
from support import commandline
from support.book import NEEDS, book_pages, can_run, pictures
from support.dialect import register
from support.pages import Block, blocks, commands, pages
from support.project import ROOT, name
from support.tables import synthetic_census
from support.tutorials import PAGES as REPLAYED

register()  # which an installation does

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("kept_sessions")]

PAGES = [
    page
    for page in [ROOT / "README.md", *pages()]
    if blocks(page.read_text(encoding="utf-8")) and page not in REPLAYED  # which test_tutorials replays
]


@dataclass
class Reader:
    """Somebody who follows a page, block by block.

    Args:
        folder: for the ledger of the census that SQL on its own is planned against.
        namespace: what Python blocks have defined so far.
        printed: by the block before; None if it was left out.
    """

    folder: Path
    namespace: dict[str, Any] = field(default_factory=dict)
    printed: str | None = ""

    @cached_property
    def census(self) -> dp.Protected:
        """Opened by the first block that asks for it."""
        return synthetic_census(self.folder)

    def follow(self, block: Block) -> None:
        """Do what a block says; whatever goes wrong is raised."""
        if block.mark == "output":
            assert self.printed is None or block.text.split() == self.printed.split()
        elif block.mark.startswith(NEEDS) and not can_run(block):
            self.printed = None
        elif block.mark.startswith("not run: "):
            assert len(block.mark) > len("not run: reason")
        elif block.mark.startswith("refused "):
            self._refused(block, block.mark.removeprefix("refused "))
        else:
            self._run(block)

    def _run(self, block: Block) -> None:
        """Run a block by its language; text and other languages are for reading only."""
        match block.language:
            case "python":
                out = io.StringIO()
                with redirect_stdout(out):
                    exec(compile(block.text, "<page>", "exec"), self.namespace)  # noqa: S102 — that's what it is for
                self.printed = out.getvalue()
            case "sql":
                for statement in block.text.split(";\n"):
                    self.census.plan(statement, epsilon=1, delta=1e-9)
            case "toml":
                Path("discreet.toml").write_text(block.text, encoding="utf-8")
                dp.load("discreet.toml", create_ledger=True)
            case "console":
                for line in commands(block):
                    self._call(line)
            case _:
                pass

    def _call(self, line: str) -> None:
        """Run one command line of discreet; others, such as make or pip, are left to the reader."""
        program, *arguments = shlex.split(line)
        if program == "discreet":
            known = {name.partition(" ")[0] for name in commandline.commands()}
            assert arguments[0] in {*known, "--help"}, f"not a command that a test may run: {line}"
            result = CliRunner().invoke(app, arguments, prog_name="discreet")
            assert result.exit_code == 0, f"{line}\n{result.output}"
            self.printed = result.output

    def _refused(self, block: Block, code: str) -> None:
        """Run a block that must fail with an error of this code."""
        with pytest.raises(DiscreetError) as caught:
            self._run(block)
        assert caught.value.code == code


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_reader_can_follow_the_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of the page does what it says, in order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))  # what an example does to its reader's home, it does here
    reader = Reader(tmp_path)
    follow_all(reader, page)
    if page.parent.name == "book":
        assert [each for each in pictures(page.read_text(encoding="utf-8")) if not (tmp_path / each).exists()] == []


def follow_all(reader: Reader, page: Path) -> None:
    """Follow a page from its first block to its last."""
    for block in blocks(page.read_text(encoding="utf-8")):
        try:
            reader.follow(block)
        except Exception as error:
            error.add_note(f"{name(page)}, line {block.line}")
            raise


@pytest.mark.parametrize("page", [each for each in book_pages() if NEEDS in each.read_text("utf-8")], ids=name)
def test_the_book_prints_what_its_data_say(
    page: Path, trial_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With UCI Adult, and the textbook's own file, in the reader's folder; skipped where they aren't."""
    text = page.read_text(encoding="utf-8")
    for needed in {block.mark.removeprefix(NEEDS) for block in blocks(text) if block.mark.startswith(NEEDS)}:
        if not (trial_data / needed).exists():
            pytest.skip(f"{needed} isn't among the tables for trials")
        (tmp_path / needed).symlink_to((trial_data / needed).resolve())
    monkeypatch.chdir(tmp_path)
    follow_all(Reader(tmp_path), page)


def test_a_wrong_example_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader stumbles over wrong Python, wrong output, SQL that is refused, and SQL that isn't."""
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    reader.follow(Block("python", "print(1)", 1))
    for wrong in (
        Block("text", "2", 1, "output"),
        Block("sql", "SELECT nope FROM census", 1),
        Block("sql", "SELECT COUNT(*) AS n FROM census", 1, "refused unknown_column"),
        Block("console", "$ discreet ask 'SELECT 1'", 1),
        Block("python", "assert False", 1),
    ):
        with pytest.raises((AssertionError, DiscreetError, pytest.fail.Exception)):
            reader.follow(wrong)
