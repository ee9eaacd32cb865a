"""The examples in docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import linecache
from pathlib import Path

import pytest

from support.project import module_names, rooms

MODULES = {
    room: [module for module in module_names() if f"{module}.".startswith(f"discreet.{room}.")] for room in rooms()
}
REST = [module for module in module_names() if not any(module in modules for modules in MODULES.values())]


@pytest.mark.parametrize("modules", [REST, *MODULES.values()], ids=["discreet", *MODULES])
def test_examples(modules: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example in the docstrings of a room gives the output written under it; files go to fresh folders."""
    report: list[str] = []
    # A runner has it look, before each example, whether any file that was loaded has changed.
    monkeypatch.setattr(linecache, "checkcache", lambda *_: None)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for module in modules:
        loaded = importlib.import_module(module)
        folder = tmp_path / module
        folder.mkdir()
        monkeypatch.chdir(folder)
        for test in doctest.DocTestFinder(exclude_empty=True).find(loaded):
            runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
