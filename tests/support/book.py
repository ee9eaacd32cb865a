"""The textbook's pages as a reader works through them: what they draw, and each as a Jupyter notebook.

python -m support.book figures FOLDER     draw the figures of all pages
python -m support.book notebooks FOLDER   write a notebook for each page
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.pages import Block, blocks, commands
from support.project import DOCS

BOOK = DOCS / "book"
NEEDS = "needs "
"""The mark of a block that needs a file which the project doesn't ship; it runs where the file is."""

_PICTURE = re.compile(r"\]\(figures/(?P<file>[\w-]+\.svg)\)")
_CELL = re.compile(r"^```(?P<language>python|console)\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^<!-- test: .+? -->\n", re.MULTILINE)
_FORMULA = re.compile(r"^```math\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"^<!-- test: output -->\n```text\n.*?^```\n", re.MULTILINE | re.DOTALL)


def book_pages() -> list[Path]:
    """All pages of the textbook."""
    return sorted(BOOK.glob("*.md"))


def pictures(text: str) -> list[str]:
    """The files of the figures that a page shows."""
    return _PICTURE.findall(text.replace("\n", " "))


def can_run(block: Block) -> bool:
    """Whether a block is one to run, here and now."""
    return not block.mark.startswith(("not run", "refused", "output", NEEDS)) or (
        block.mark.startswith(NEEDS) and Path(block.mark.removeprefix(NEEDS)).exists()
    )


def figures(page: Path, call: Callable[[list[str]], object]) -> dict[str, bytes]:
    """What a page's commands and code draw, by file.

    Args:
        page: of the textbook.
        call: runs discreet with these arguments.
    """
    text = page.read_text(encoding="utf-8")
    wanted = pictures(text)
    if not wanted:
        return {}
    namespace: dict[str, Any] = {}
    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(StringIO()):
        for block in filter(can_run, blocks(text)):
            if block.language == "console":
                for line in commands(block):
                    call(shlex.split(line)[1:])
            elif block.language == "python" and any(name in block.text for name in wanted):
                exec(compile(block.text, page.name, "exec"), namespace)  # noqa: S102 — that's what it is for
        return {name: Path(name).read_bytes() for name in wanted}


def notebook(text: str) -> dict[str, Any]:
    """A page as a notebook of Jupyter's format 4.5: code and commands are cells, what they print is left to them.

    Args:
        text: of the page.
    """
    source = _FORMULA.sub(r"$$\n\1$$\n", _COMMENT.sub("", _OUTPUT.sub("", text)))  # Jupyter has no blocks of `math`
    cells: list[dict[str, Any]] = []
    marks = [(0, 0), *(match.span() for match in _CELL.finditer(source)), (len(source), len(source))]
    for (start, end), (following, _) in pairwise(marks):
        if match := _CELL.match(source, start):
            code = match["text"].rstrip("\n")
            if match["language"] == "console":
                code = re.sub(r"^\$ ", "!", code, flags=re.MULTILINE)
            cells.append(_cell("code", code, len(cells)))
        words = _PICTURE.sub(r"](\g<file>)", re.sub(r"\.md(?=[)#])", ".html", source[end:following])).strip("\n")
        if words:
            cells.append(_cell("markdown", words, len(cells)))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, text: str, number: int) -> dict[str, Any]:
    """One cell."""
    rest: Mapping[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = text.splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **rest}


def _discreet(arguments: list[str]) -> None:
    """Run discreet without its own process."""
    from typer.main import get_command

    from discreet.cli import app

    if get_command(app).main(arguments, prog_name="discreet", standalone_mode=False):
        raise SystemExit(f"this failed: discreet {shlex.join(arguments)}")


def main(what: str, folder: str) -> None:
    """Write all figures, or all notebooks, into a folder."""
    target = Path(folder).absolute()
    target.mkdir(parents=True, exist_ok=True)
    for page in book_pages():
        if what == "notebooks":
            made = json.dumps(notebook(page.read_text(encoding="utf-8")), ensure_ascii=False, indent=1) + "\n"
            (target / f"{page.stem}.ipynb").write_text(made, encoding="utf-8")
        else:
            for name, picture in figures(page, _discreet).items():
                (target / name).write_bytes(picture)


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    main(*sys.argv[1:])
