"""The documentation's site: its figures are drawn, Zensical makes its pages, and each page is looked at.

`make docs` puts it into `site/`. It is made from a copy of `docs/`, so that no picture that a command draws is kept.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cached_property
from html import unescape
from io import StringIO
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from typer.main import get_command

from discreet.cli import app
from support.book import book_pages, figures
from support.project import DOCS, ROOT

_DRAWING = re.compile(r"^\$ discreet (?P<arguments>plot .+ --out (?P<file>[\w-]+\.svg).*)$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_DEEPEST = 3
_ZENSICAL = "from zensical.main import cli; cli()"
_WITHOUT = "import sys; sys.modules['ruff'] = sys.modules['black'] = None"
_CONSOLE = ROOT / "src/discreet/interfaces/http/console/static"


def main() -> None:
    """Build the site into `site/`, or say what is wrong with it."""
    try:
        build(ROOT / "site")
    except SiteError as error:
        sys.exit(str(error))


class SiteError(Exception):
    """The site can't be built, or a page of it is wrong; its message has a line for each fault."""


def build(folder: Path, *, in_short: bool = False) -> None:
    """Build the site into a folder, in place of what is there.

    Args:
        folder: its folder.
        in_short: whether figures that commands draw are left blank, and long signatures in one line; to break them
            takes a process for each of hundreds.

    Raises:
        SiteError: Zensical warns of anything, or a page isn't as `faults` has it.
    """
    with TemporaryDirectory() as temporary:
        stage = Path(temporary)
        shutil.copytree(DOCS, stage / "docs")
        shutil.copy(_CONSOLE / "icon.svg", stage / "docs/pictures/icon.svg")
        (stage / "docs/face.css").write_text(face((_CONSOLE / "console.css").read_text("utf-8")), "utf-8")
        shutil.copy(ROOT / "mkdocs.yml", stage)
        (stage / "src").symlink_to(ROOT / "src")
        run = _leave_blank if in_short else _run
        draw(DOCS / "figures.md", stage / "docs/figures", run)
        (stage / "docs/book/figures").mkdir()
        for page in book_pages():
            for name, picture in figures(page, run).items():
                (stage / "docs/book/figures" / name).write_bytes(picture)
        made = subprocess.run(
            [sys.executable, "-c", f"{_WITHOUT}; {_ZENSICAL}" if in_short else _ZENSICAL, "build", "--strict"],
            cwd=stage,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"},
            check=False,
            capture_output=True,
            text=True,
        )
        said = _COLOUR.sub("", made.stdout + made.stderr).partition("Traceback")[0]
        if made.returncode or "griffe: " in said:  # of docstrings, Zensical warns and goes on
            raise SiteError(said)
        _narrow_search(stage / "site")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(stage / "site", folder)
    if wrong := [*misplaced(), *faults(folder)]:
        raise SiteError("\n".join(wrong))


def _narrow_search(site: Path) -> None:
    """Let search pass over the sections of `rooms.md`: a thousand names hid those that users look for."""
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))
    index["items"] = [item for item in index["items"] if "rooms.html#" not in item["location"]]
    (site / "search.json").write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")
    (site / "search.js").write_text(f"var __index = {json.dumps(index, ensure_ascii=False)}", encoding="utf-8")


def draw(page: Path, folder: Path, run: Callable[[list[str]], None]) -> None:
    """Draw the pictures of a page by the commands that it shows, into a folder.

    Args:
        page: the page.
        folder: is made.
        run: runs discreet with these arguments.

    Raises:
        SiteError: a command fails.
    """
    folder.mkdir()
    for command in _DRAWING.finditer(page.read_text(encoding="utf-8")):
        file = command["file"]
        arguments = [word if word != file else str(folder / file) for word in shlex.split(command["arguments"])]
        run(arguments)


def _run(arguments: list[str]) -> None:
    """Run discreet with these arguments, without what it prints.

    Raises:
        SiteError: it fails.
    """
    with redirect_stdout(StringIO()):
        if get_command(app).main(arguments, prog_name="discreet", standalone_mode=False):
            raise SiteError(f"a picture can't be drawn: discreet {shlex.join(arguments)}")


def _leave_blank(arguments: list[str]) -> None:
    """Put a picture of nothing where discreet would draw one with these arguments."""
    for option, file in pairwise(arguments):
        if option in {"--out", "--plot"}:
            Path(file).write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")


def face(console: str) -> str:
    """The console's colours and typefaces, for light and for dark, which `style.css` uses."""
    named = re.search(r"^:root \{.*?^\}\n", console, re.MULTILINE | re.DOTALL)
    dark = re.search(
        r"^@media \(prefers-color-scheme: dark\) \{\n  :root \{.*?^\}\n", console, re.MULTILINE | re.DOTALL
    )
    if not named or not dark:
        raise SiteError("the console's stylesheet doesn't name its colours where it did")
    return named[0] + dark[0]


class Page:
    """A page as a reader's browser sees it: what it links to, what can be linked to, and its pictures.

    Args:
        file: the page.
    """

    def __init__(self, file: Path) -> None:
        text = file.read_text(encoding="utf-8")
        self.file = file
        self.links = [unescape(link) for link in re.findall(r'<[^<>]*?\s(?:href|src|srcset)="([^"]*)"', text)]
        self.anchors = {unescape(name) for name in re.findall(r'<[^<>]*?\s(?:id|name)="([^"]+)"', text)}
        self.pictures = re.findall(r"<img\b[^>]*>", text)

    @cached_property
    def inside(self) -> list[tuple[Path, str]]:
        """The files of the site that it names, each with the anchor in it, if any."""
        found = []
        for path, _, anchor in (link.partition("#") for link in dict.fromkeys(self.links)):
            if not urlsplit(path).scheme and not path.startswith("/"):
                found.append(((self.file.parent / unquote(path)).resolve() if path else self.file, unquote(anchor)))
        return found


def faults(folder: Path) -> list[str]:
    """What is wrong with a site: a line for each link that leads nowhere, and each picture without words."""
    pages = {file: Page(file) for file in sorted(folder.resolve().rglob("*.html")) if file.name != "404.html"}
    found = []
    for file, page in pages.items():
        name = file.relative_to(folder.resolve()).as_posix()
        found += [f"{name}: {tag} has no words" for tag in page.pictures if not re.search(r'\salt="[^"\s]', tag)]
        for target, anchor in page.inside:
            there = target / "index.html" if target.is_dir() else target
            if not there.exists():
                found.append(f"{name}: a link leads to {target.name}, which isn't there")
            elif anchor and there in pages and anchor not in pages[there].anchors:
                found.append(f"{name}: a link leads to {target.name}#{anchor}, which isn't there")
    return found


def misplaced(root: Path = ROOT) -> list[str]:
    """What is wrong with the navigation: pages that are in it twice or never, and levels below the third."""
    listed = yaml.load((root / "mkdocs.yml").read_text(encoding="utf-8"), _Settings)["nav"]  # noqa: S506 — it is a safe one
    placed = list(_placed(listed))
    files = [file for file, _ in placed]
    written = {page.relative_to(root / "docs").as_posix() for page in (root / "docs").rglob("*.md")}
    return [
        *(f"mkdocs.yml: {file} is in the navigation twice" for file in sorted(set(files)) if files.count(file) > 1),
        *(f"mkdocs.yml: {file} isn't in the navigation" for file in sorted(written - set(files))),
        *(f"mkdocs.yml: {file} is on level {level}" for file, level in placed if level > _DEEPEST),
    ]


class _Settings(yaml.SafeLoader):
    """Reads `mkdocs.yml`, whose names of Python functions are names only."""


_Settings.add_multi_constructor("tag:yaml.org,2002:python/name:", lambda _, name, __: name)


def _placed(listed: list[dict[str, Any]], level: int = 1) -> Iterator[tuple[str, int]]:
    """The pages of a navigation, each with its level."""
    for entry in listed:
        for below in entry.values():
            if isinstance(below, str):
                yield below, level
            else:
                yield from _placed(below, level + 1)


if __name__ == "__main__":
    main()
