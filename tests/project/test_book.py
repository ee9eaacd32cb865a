"""The textbook: its table lists all that introductory texts teach, with a page, a command and a test each."""

from __future__ import annotations

import ast
import json
import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from discreet.cli import app
from support import commandline
from support.book import BOOK, book_pages, main, notebook, pictures
from support.pages import blocks
from support.project import DOCS, ROOT

INDEX = (BOOK / "index.md").read_text(encoding="utf-8")
NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in INDEX.splitlines()
    if line.startswith("|") and line.count("|") == 5 and "---" not in line
]
MOST_LINES = 85


def test_nothing_is_missing_from_the_table() -> None:
    """T1 to T30 once each, in order; each page has that number, the command exists, and so does the test."""
    rows = [row for row in ROWS if re.fullmatch(r"T\d+", row[0])]
    assert [row[0] for row in rows] == [f"T{number}" for number in range(1, 31)]
    linked = {"index", "exercises"}
    for number, page, command, test in ROWS:
        link = re.fullmatch(r"\[.+\]\((?P<page>[\w-]+)\.md\)", page)
        if link is None:
            continue
        linked.add(link["page"])
        text = (BOOK / f"{link['page']}.md").read_text(encoding="utf-8")
        assert not number or text.startswith(f"# {number} · "), page
        assert (ROOT / test.strip("`")).is_file(), test
        if number:
            assert commandline.unknown(command.strip("`")) is None, command
            named = command.strip("`").removeprefix("discreet ").split()
            assert f"discreet {named[0]}" in text, f"{page} doesn't mention discreet {named[0]}"
    assert linked == {page.stem for page in book_pages()}


def test_no_recipe_is_missing_from_the_table() -> None:
    """Eight systems, each with its page and its script; and no page of a recipe is left out."""
    table = INDEX[INDEX.index("## Systems that the texts name") :]
    rows = re.findall(
        r"^\| .+ \| \[.+\]\(\.\./recipes/([\w-]+)\.md\) \| `(examples/\w+\.py)` \| `(.+)` \|$", table, re.MULTILINE
    )
    assert len(rows) == 8
    assert {page for page, *_ in rows} == {page.stem for page in (DOCS / "recipes").glob("*.md")} - {"index"}
    assert all((ROOT / file).is_file() for _, *files in rows for file in files)


def test_pages_are_short_and_reached() -> None:
    """Each is in the navigation once, has a figure or a table, and no more lines than one reads in one go."""
    for page in book_pages():
        text = page.read_text(encoding="utf-8")
        assert NAV.count(f"book/{page.name}\n") == 1, page
        assert page.stem == "index" or len(text.splitlines()) <= MOST_LINES, page
        assert pictures(text) or "|---|" in text or page.stem in {"exercises", "local-sensitivity"}, page
    assert len([1 for page in book_pages() if pictures(page.read_text(encoding="utf-8"))]) >= 12


def test_every_page_is_a_notebook(tmp_path: Path) -> None:
    """Of Jupyter's format 4.5: what its schema asks for; code that parses, and no leftovers of the tests."""
    main("notebooks", str(tmp_path))
    for page in book_pages():
        made = json.loads((tmp_path / f"{page.stem}.ipynb").read_text(encoding="utf-8"))
        assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
        ids = [cell["id"] for cell in made["cells"]]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[\w-]{1,64}", each) for each in ids)
        for cell in made["cells"]:
            keys = {"cell_type", "id", "metadata", "source"}
            assert set(cell) == keys | ({"outputs", "execution_count"} if cell["cell_type"] == "code" else set())
            source = "".join(cell["source"])
            assert "<!-- test" not in source
            assert "```math" not in source
            assert source.count("$$") % 2 == 0
            if cell["cell_type"] == "code" and not source.startswith("!"):
                ast.parse(source)
        shown = sum(block.language in {"python", "console"} for block in blocks(page.read_text(encoding="utf-8")))
        assert sum(cell["cell_type"] == "code" for cell in made["cells"]) == shown, page


def run_cell(source: str, namespace: dict[str, Any]) -> str:
    """What a code cell prints; of commands, what discreet prints."""
    out = StringIO()
    if source.startswith("!"):
        for line in source.replace("\\\n", " ").splitlines():
            result = CliRunner().invoke(app, shlex.split(line)[1:], prog_name="discreet")
            assert result.exit_code == 0, result.output
            out.write(result.output)
    else:
        with redirect_stdout(out):
            exec(compile(source, "<cell>", "exec"), namespace)  # noqa: S102 — that's what it is for
    return out.getvalue()


def test_a_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its first cell to its last, commands too."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    printed = [
        run_cell("".join(cell["source"]), namespace)
        for cell in notebook((BOOK / "k-anonymity.md").read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    assert printed[0] == "k = 1 by age, before, after: 5 rows in 5 classes, 100 % of them unique\n"
    assert printed[1].endswith("2-anonymous: no, 5 rows hide among fewer than 2\n")


def test_wrong_pages_are_noticed() -> None:
    """A picture that wraps over lines is seen; a block of another language is no cell."""
    assert pictures("![A line\nand another](figures/a-b.svg) and ![x](figures/c.svg)") == ["a-b.svg", "c.svg"]
    cells = notebook("# T\n\n```sql\nSELECT 1\n```\n\n<!-- test: refused x -->\n```python\nf(1)\n```\n")["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code"]


def test_notebooks_have_formulas_as_jupyter_reads_them() -> None:
    """Between two dollar signs: it shows a block of `math` as code."""
    (cell,) = notebook("So\n\n```math\nx ≤ \\sqrt{n}\n```\n\nholds.\n")["cells"]
    assert "".join(cell["source"]) == "So\n\n$$\nx ≤ \\sqrt{n}\n$$\n\nholds."
