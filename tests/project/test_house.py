"""What the script on the house finds: no circle of imports."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support.project import ROOT, SOURCE


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """`bench/house.py`, as a module."""
    spec = importlib.util.spec_from_file_location("house", ROOT / "bench" / "house.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["house"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def graphed(script: ModuleType) -> tuple[dict[str, Any], dict[str, set[str]]]:
    """The modules of discreet, and which of them each imports."""
    house = script.read(SOURCE / "discreet")
    return house, {module: script.imports(file, house) for module, file in house.items()}


def write(folder: Path, files: dict[str, str]) -> Path:
    """A package of these files."""
    for name, text in files.items():
        path = folder / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "package"


def test_no_file_reaches_itself_by_imports(script: ModuleType, graphed: Any) -> None:
    """Imports make no circle, those inside functions included."""
    _, graph = graphed
    assert [sorted(circle) for circle in script.circles(graph)] == []


def test_a_circle_is_found(script: ModuleType, tmp_path: Path) -> None:
    """The script sees a circle of imports, those inside functions included."""
    source = write(
        tmp_path,
        {
            "__init__.py": "",
            "room/one.py": "from package.room import other\n",
            "room/other.py": "def f():\n    from package.room.one import z\n",
            "attic.py": "from package.room import one\n",
        },
    )
    house = script.read(source)
    graph = {module: script.imports(file, house) for module, file in house.items()}
    assert script.circles(graph) == [{"package.room.one", "package.room.other"}]


def test_code_is_counted_without_comments_and_docstrings(script: ModuleType) -> None:
    """Of five lines two are code."""
    file = script.File(Path("file.py"), "package.file", '"""Words."""\n\n# more words\nx = [\n]\n')
    assert (file.lines, file.code) == (5, 2)
