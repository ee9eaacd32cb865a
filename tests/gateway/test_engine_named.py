"""Engines by name: `protect` and `discreet.toml` reach whichever is installed; plans say by which hash it chooses."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import discreet as dp
from discreet.engine import chosen_by
from discreet.errors import EngineUnavailable, InvalidArgument
from discreet.tables import Dataset, Kind, Source, Table, save_config

pytestmark = pytest.mark.usefixtures("kept_sessions")

COUNT = "SELECT COUNT(*) AS n FROM people"
PEOPLE = pa.table({"id": [1, 2, 3], "age": [20, 40, 60]})
_MODULE = '''
"""DuckDB under another name, which notes that it was opened, and says that it chooses by another hash."""
from discreet.engine.duckdb import DuckDB
OPENED = []
class Oracle(DuckDB):
    chosen_by = "oracle hash 2"
    def __init__(self, snapshot):
        super().__init__(snapshot)
        OPENED.append(snapshot)
class Silent:
    def __init__(self, snapshot):
        raise AssertionError("it is refused before it is opened")
class Blank(Silent):
    chosen_by = ""
class Numbered(Silent):
    chosen_by = 2
'''
_POINTS = """[discreet.engines]
oracle = made_up_engine:Oracle
silent = made_up_engine:Silent
blank = made_up_engine:Blank
numbered = made_up_engine:Numbered
absent = made_up_engine_that_is_gone:Absent
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with engines of its own."""
    (tmp_path / "made_up_engine.py").write_text(_MODULE)
    information = tmp_path / "made_up_engine-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up-engine\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "made_up_engine", raising=False)


def people(folder: Path, **declared: object) -> dp.Protected:
    """Three people, by declaration in code."""
    return dp.protect(
        PEOPLE,
        name="people",
        unit=dp.Unit("id"),
        limits=dp.Limits(rows=2),
        budget=3,
        ledger=folder / "people.ledger",
        **declared,  # type: ignore[arg-type]  # each is one of its arguments
    )


@pytest.mark.usefixtures("installed")
def test_protect_reaches_an_engine_by_its_name(tmp_path: Path) -> None:
    """It answers, and plan and certificate name its hash."""
    found = people(tmp_path, engine="oracle")
    answer = found.ask(COUNT, epsilon=1)
    assert len(sys.modules["made_up_engine"].OPENED) == 1
    plan = found.plan(COUNT, epsilon=1)
    assert [level.to_dict()["chosen_by"] for level in plan.levels] == ["oracle hash 2"]
    assert "oracle hash 2" in str(answer.certificate)


@pytest.mark.usefixtures("installed")
def test_a_configuration_reaches_an_engine_by_its_name(tmp_path: Path) -> None:
    """It is read, used, and written again."""
    parquet.write_table(PEOPLE, tmp_path / "people.parquet")
    dataset = Dataset(
        name="people",
        tables=(
            Table(
                name="people",
                source=Source.of(tmp_path / "people.parquet"),
                columns=(dp.Column(name="id", kind=Kind.INTEGER),),
                unit=dp.Unit("id"),
                limits=dp.Limits(rows=2),
            ),
        ),
        budget=dp.Budget(3),
        ledger=str(tmp_path / "people.ledger"),
        engine="oracle",
    )
    save_config(dataset, tmp_path / "discreet.toml")
    assert 'engine = "oracle"' in (tmp_path / "discreet.toml").read_text()
    found = dp.load(tmp_path / "discreet.toml", create_ledger=True)
    found.refresh()
    found.ask(COUNT, epsilon=1)
    assert sys.modules["made_up_engine"].OPENED


@pytest.mark.usefixtures("installed")
def test_another_hash_is_another_question(tmp_path: Path) -> None:
    """It chooses other rows, so what is stored doesn't answer it. The embedded one's plans stay as they were."""
    embedded = people(tmp_path)
    before = embedded.plan(COUNT, epsilon=1)
    embedded.ask(before)
    assert "chosen_by" not in str(before.to_dict())
    embedded.close()
    other = people(tmp_path, engine="oracle")
    assert other.plan(COUNT, epsilon=1).digest != before.digest
    other.ask(COUNT, epsilon=1)
    assert other.spent.epsilon == 2


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "orakel",
            "no engine .*did you mean oracle. installed: absent, blank, duckdb, numbered, oracle, silent",
        ),
        ("trino", "no engine named 'trino' is installed .installed: absent, blank, duckdb, numbered, oracle, silent"),
        ("silent", "doesn't say which hash"),
        ("blank", "doesn't say which hash"),
        ("numbered", "doesn't say which hash"),
        ("absent", "can't be loaded: No module named 'made_up_engine_that_is_gone'"),
    ],
)
def test_an_engine_that_cannot_be_used_is_refused(name: str, said: str, tmp_path: Path) -> None:
    """Before there is a ledger, with what is installed."""
    with pytest.raises(EngineUnavailable, match=said):
        people(tmp_path, engine=name)
    assert not (tmp_path / "people.ledger").exists()


@pytest.mark.parametrize("name", ["", 7, None])
def test_an_engine_is_named_by_a_text(name: object, tmp_path: Path) -> None:
    """Nothing else says which."""
    with pytest.raises(InvalidArgument, match="engine must be a string"):
        people(tmp_path, engine=name)


def test_the_embedded_engine_says_what_is_taken_of_it() -> None:
    """What is known of it without loading it."""
    from discreet.engine.duckdb import DuckDB

    assert chosen_by("duckdb") == DuckDB.chosen_by
