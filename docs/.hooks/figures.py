"""Draws the pictures of `figures.md` and of the textbook while the site is built, by what the pages themselves do."""  # noqa: INP001 — a hook of MkDocs, which loads it by its path

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from typer.main import get_command

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

_PAGE = "figures.md"
_COMMAND = re.compile(r"^\$ discreet (?P<arguments>plot .+ --out (?P<file>[\w-]+\.svg).*)$", re.MULTILINE)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add each picture to the site, as `figures/NAME.svg` beside its page: none is kept in the repository."""
    page = (Path(config.docs_dir) / _PAGE).read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        for command in _COMMAND.finditer(page):
            picture = Path(folder) / command["file"]
            _run([word if word != picture.name else str(picture) for word in shlex.split(command["arguments"])])
            files.append(File.generated(config, f"figures/{picture.name}", content=picture.read_bytes()))
    sys.path.insert(0, str(Path(config.docs_dir).parent / "tests"))
    from support.book import book_pages, figures

    for each in book_pages():
        for name, content in figures(each, _run).items():
            files.append(File.generated(config, f"book/figures/{name}", content=content))
    return files


def _run(arguments: list[str]) -> None:
    """Run one command of discreet, without what it prints."""
    from contextlib import redirect_stdout
    from io import StringIO

    from discreet.cli import app

    with redirect_stdout(StringIO()):
        code = get_command(app).main(arguments, prog_name="discreet", standalone_mode=False)
    if code:
        raise PluginError(f"a picture can't be drawn: discreet {shlex.join(arguments)}")
