"""The project's files, modules and rooms, as tests about the project see them."""

from __future__ import annotations

import ast
import importlib
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from fnmatch import fnmatch
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
DOCS = ROOT / "docs"


@cache
def files() -> tuple[Path, ...]:
    """Every file of the project that is, or is about to be, under version control; of a copy without git, every file.

    What the commands make, `.gitignore` lists, and it is left out of both.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 — whichever git there is
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if (ROOT / ".git").exists() and listed.returncode == 0:
        paths = [ROOT / name for name in sorted(set(listed.stdout.split("\0"))) if name]
    else:
        paths = sorted(_unlisted(ROOT, [line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()]))
    return tuple(path for path in paths if path.is_file())


def _unlisted(folder: Path, patterns: list[str]) -> Iterator[Path]:
    """The files of a folder that no pattern names, nor a folder that they are in."""
    for path in folder.iterdir():
        if not any(fnmatch(path.name, pattern) for pattern in patterns):
            yield from _unlisted(path, patterns) if path.is_dir() else [path]


@cache
def python_files(*folders: str) -> tuple[Path, ...]:
    """The Python files in these folders of the project."""
    return tuple(path for path in files() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in folders)


def name(path: Path) -> str:
    """The path as seen from the project's root, for messages and test names."""
    return path.relative_to(ROOT).as_posix()


def offenders(faults: Callable[[str], Collection[object]], paths: Iterable[Path]) -> dict[str, Collection[object]]:
    """The files that break a rule, and how: one test asks all of them, and lists every offender.

    Args:
        faults: of a file's text, what breaks the rule.
        paths: of text files.
    """
    found = {name(path): faults(path.read_text(encoding="utf-8")) for path in paths}
    return {path: each for path, each in found.items() if each}


@lru_cache(maxsize=2048)
def syntax(source: str) -> ast.Module:
    """The syntax tree of a file's text, which several rules read; none may change it."""
    return ast.parse(source)


@lru_cache(maxsize=2048)
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Everything in that tree, which takes longer to walk than to look at."""
    return tuple(ast.walk(syntax(source)))


@cache
def module_names() -> tuple[str, ...]:
    """The dotted names of all modules of discreet, in order."""
    parts = (path.relative_to(SOURCE).with_suffix("").parts for path in python_files("src"))
    return tuple(sorted({".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts}))


@cache
def modules() -> tuple[ModuleType, ...]:
    """All modules of discreet, imported."""
    return tuple(importlib.import_module(module) for module in module_names() if not module.endswith("__main__"))


def rooms() -> list[str]:
    """The packages directly inside discreet, and the files there that curate names as packages do."""
    curating = [path for path in (SOURCE / "discreet").glob("[!_]*.py") if "\n__all__ = " in path.read_text("utf-8")]
    return sorted(
        [*(path.stem for path in curating), *(path.parent.name for path in SOURCE.glob("discreet/*/__init__.py"))]
    )


def offered(module: str) -> list[str]:
    """The names that a package curates; none if it is nothing but a docstring over its files."""
    loaded = importlib.import_module(module)
    body = ast.parse(Path(loaded.__file__ or "").read_text(encoding="utf-8")).body
    return list(loaded.__all__) if len(body) > 1 else []
