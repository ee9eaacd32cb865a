"""A cluster gives the integers that the embedded engine gives, whatever the number of parts and of tasks."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given

from discreet.duckdb.session import Session
from discreet.engine.duckdb import DuckDB
from discreet.engine.duckdb.adding_up import Found, added_up, combined
from discreet.engine.duckdb.aggregation import Adds, Shape
from discreet.engine.spark import Spark, runner
from discreet.engine.spark.payloads import packed, unpacked
from discreet.privacy import Limits
from discreet.query.ir import Exact
from discreet.tables.admission import Snapshot
from discreet.tables.schema.spark import SparkConnect
from support.engines import SPARK, engine_as_if_admitted, trying
from support.examples import examples
from support.parted import in_parts
from support.questions import by_group
from support.shapes import QUESTIONS, admitted_in_parts
from support.shop import Rows, arrow, data, shops
from support.trees import exacts

SEARCH = examples(
    40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@SEARCH
@given(shops().flatmap(exacts), data(), st.sampled_from([1, 2, 5]), st.sampled_from([1, 2, 3]))
def test_random_questions_have_the_same_answer(
    question: Exact, tables: dict[str, Rows], among: int, tasks: int
) -> None:
    """For random schemas, relations and rows, in one part or several."""
    with in_parts(among):
        held = {table.name: arrow(table.name, tables[table.name]) for table in question.tables}
        here = engine_as_if_admitted(question.tables, held, threads=1)
        with trying(SPARK):
            there = engine_as_if_admitted(question.tables, held, threads=tasks)
    assert by_group(there, question) == by_group(here, question)


@pytest.fixture(scope="module")
def in_files(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The table, admitted into four files by unit."""
    return admitted_in_parts(tmp_path_factory.mktemp("admitted"), 4)


@pytest.mark.parametrize("named", QUESTIONS)
def test_files_in_parts_are_read_by_tasks(named: str, in_files: Snapshot) -> None:
    """Each shape of a question, in three tasks, of which one reads two of the four parts."""
    there = by_group(Spark(in_files, SparkConnect(remote="local", tasks=3)), QUESTIONS[named])
    assert there == by_group(DuckDB(in_files, threads=1), QUESTIONS[named])
    assert any(any(found.values()) for found in there.values())


@pytest.mark.parametrize(
    ("named", "shuffled"), [("public groups", False), ("private groups", True), ("different values", True)]
)
def test_at_most_one_shuffle(
    named: str,
    shuffled: bool,
    in_files: Snapshot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where groups or values may be too many for one process, and only there."""
    seen: list[int] = []

    def noted(*args: Any, buckets: int, **others: Any) -> list[bytes]:
        seen.append(buckets)
        return run(*args, buckets=buckets, **others)

    run = runner.run
    monkeypatch.setattr("discreet.engine.spark.engine.run", noted)
    Spark(in_files, SparkConnect(remote="local", tasks=3)).run(QUESTIONS[named])
    assert [buckets > 0 for buckets in seen] == [shuffled]


def test_integers_of_126_bits_travel_unharmed() -> None:
    """Those that Spark and Sail could not add up."""
    shape = Shape(
        units=1, keys=1, measures=(Adds("values", greatest=2**63),), groups=None, limits=Limits(rows=1), salt=""
    )
    with Session(threads=1) as session:
        values = f"('a', {2**125}), ('b', {-(2**125)}), ('a', {2**125 - 1})"
        rows = f"(SELECT k0, CAST(m0 AS HUGEINT) AS m0 FROM (VALUES {values}) AS t (k0, m0))"
        payloads = list(packed(session, shape, Found(rows, (), ()), 3))
        assert {bucket for bucket, _ in payloads} <= {0, 1, 2}
        found = combined(shape, [unpacked(session, shape, [payload for _, payload in payloads])])
        assert [*added_up(session, shape, [found])[0]] == [("a", 2**126 - 1), ("b", -(2**125))]
