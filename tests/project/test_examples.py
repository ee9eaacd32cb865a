"""Property tests take the same examples on every machine, whatever a worker has loaded before."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import constants_from_module

_NUMBERS = [7_654_321 * place for place in range(1, 900)]
"""Constants that no example has by itself."""


def examples() -> list[int]:
    """The examples of a property of whole numbers."""
    found = []

    @settings(max_examples=300, database=None)
    @given(number=st.integers())
    def note(number: int) -> None:
        found.append(number)

    note()
    return found


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Loads a module of many constants, as if another test had imported it."""

    def loaded(name: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(f"NUMBERS = {_NUMBERS}\n", encoding="utf-8")
        importlib.invalidate_caches()
        return importlib.import_module(name)

    monkeypatch.syspath_prepend(tmp_path)
    return loaded


def test_examples_do_not_depend_on_what_is_loaded(load: Callable[[str], ModuleType]) -> None:
    """Twice the same, with a module of constants more."""
    before = examples()
    load("many_constants")
    assert examples() == before


def test_they_would_if_constants_were_looked_for(
    load: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wrong twin: as Hypothesis does by itself."""
    before = examples()
    constants = constants_from_module(load("others"))
    providers.CONSTANTS_CACHE.cache.clear()
    monkeypatch.setattr(providers, "_get_local_constants", lambda: constants)
    assert examples() != before
    providers.CONSTANTS_CACHE.cache.clear()
