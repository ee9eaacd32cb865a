"""The examples in docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

from support.project import module_names


@pytest.mark.parametrize("module", module_names())
def test_examples_of_a_module(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example in the module's docstrings gives the output written under it; files go to a fresh folder."""
    loaded = importlib.import_module(module)
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(loaded):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
