"""The list of formats: each is opened, tried, documented, and says what may be declared of it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from discreet.tables.formats import FORMATS
from discreet.tables.schema.source import defaults
from discreet.tables.sources import OpenSource
from support import formats
from support.conformance import columns_of
from support.project import ROOT


@pytest.mark.parametrize("kind", FORMATS)
def test_a_format_has_a_reader(kind: str) -> None:
    """It is named by a text, which no type checker follows."""
    module, _, name = FORMATS[kind].reader.partition(":")
    assert issubclass(getattr(import_module(f"discreet.tables.sources.{module}"), name), OpenSource)


def test_each_kind_of_source_is_in_the_conformance_suites(tmp_path: Path) -> None:
    """A format that nobody writes there would be read by nothing but its own tests."""
    ibis = "ibis"  # in memory, as others are; asking it for a table warns of DuckDB's next version
    some = [each for name, each in formats.FORMATS.items() if name != ibis]
    tried = {each.write(tmp_path, columns_of(each), range(2))[0].kind for each in some}
    assert tried == {*FORMATS, "memory"}


def test_each_option_is_one_of_some_format() -> None:
    """An option that no format had could never be declared; one that `Source` lacks would mean nothing."""
    assert frozenset().union(*(each.options for each in FORMATS.values())) == defaults().keys()


def test_no_two_formats_share_an_ending() -> None:
    """A name's ending says one kind."""
    endings = [ending for each in FORMATS.values() for ending in each.endings]
    assert len(set(endings)) == len(endings)
    assert all(ending.startswith(".") and ending == ending.casefold() for ending in endings)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_format_is_documented(kind: str) -> None:
    """By its kind in the reference of the configuration, and by its name where sources are described."""
    assert f'"{kind}"' in (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    assert FORMATS[kind].called.casefold() in (ROOT / "docs/sources.md").read_text(encoding="utf-8").casefold()
