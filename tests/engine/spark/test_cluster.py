"""A real Spark with two workers: the same integers, and the right answer though a worker dies meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pytest
from pyarrow import parquet

import discreet as dp
from discreet.engine.duckdb import DuckDB
from discreet.engine.spark import Spark, admission
from discreet.engine.spark.admission import admit_by_cluster
from discreet.engine.spark.connection import Connection
from discreet.engine.spark.runner import run
from discreet.tables import Column, Kind, Source, Table
from discreet.tables.admission import Snapshot, admit, parts
from discreet.tables.schema.spark import SparkConnect
from support.questions import by_group
from support.shapes import QUESTIONS, admitted_in_parts
from support.slow_job import CANARY, Failing, Slow
from support.spark_cluster import HOME, SparkCluster, spark_cluster

pytestmark = [pytest.mark.soak, pytest.mark.skipif(not HOME, reason="SPARK_HOME says where a whole Spark lies")]


@pytest.fixture
def spark(tmp_path: Path) -> Iterator[SparkCluster]:
    """A cluster of two workers."""
    with spark_cluster(tmp_path) as cluster:
        yield cluster


def test_spark_gives_the_same_integers_and_says_nothing(spark: SparkCluster, tmp_path: Path) -> None:
    """Each shape of a question, of files in four parts; and what a task fails over stands in no log."""
    snapshot = admitted_in_parts(tmp_path, 4)
    engine = Spark(snapshot, SparkConnect(remote=spark.address))
    for question in QUESTIONS.values():
        engine.prepare(question)
        assert by_group(engine, question) == by_group(DuckDB(snapshot), question)
    cluster = Connection(SparkConnect(remote=spark.address))
    cluster.ready()
    with pytest.raises(Exception, match="QuestionFailed"):
        run(cluster, Failing(), parts=2, tasks=2)
    assert "QuestionFailed" in spark.logs
    assert CANARY not in spark.logs


def test_a_task_of_a_worker_that_dies_is_done_again(spark: SparkCluster) -> None:
    """A worker is killed while it computes; each part is in the answer once."""
    cluster = Connection(SparkConnect(remote=spark.address))
    cluster.ready()
    found: list[bytes] = []
    asking = Thread(target=lambda: found.extend(run(cluster, Slow(), parts=8, tasks=8, buckets=3)))
    asking.start()
    time.sleep(3)  # of the eight that it takes
    assert asking.is_alive()
    spark.kill_a_worker()
    asking.join()
    assert sorted(found) == sorted(
        str(sum(each for each in range(8) if each % 3 == bucket)).encode() for bucket in range(3)
    )


def test_a_question_during_which_a_worker_dies_is_charged_once(
    spark: SparkCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All questions are answered as the embedded engine answers them, and each has one debit.

    The worker dies during a task or between two; the test above is of one that dies during one.
    """
    monkeypatch.setattr(parts, "number_of_parts", lambda _: 16)
    number = 400_000
    visits = {
        "id": pa.array([row * 7919 % 50_000 for row in range(number)]),
        "x": pa.array([row % 100 for row in range(number)]),
    }
    parquet.write_table(pa.table(visits), tmp_path / "visits.parquet")

    def protected(name: str, **engine: str) -> dp.Protected:
        return dp.protect(
            tmp_path / "visits.parquet",
            name=name,
            unit=dp.Unit("id"),
            limits=dp.Limits(rows=5),
            columns={"x": (0, 100)},
            budget=10**9,
            ledger=tmp_path / f"{name}.ledger",
            **engine,  # type: ignore[arg-type]  # each is one of its arguments
        )

    here, there = protected("here"), protected("there", engine="spark", cluster=spark.address)
    asked = [f"SELECT COUNT(*) AS n, SUM(x) AS s FROM {{}} WHERE x >= {least}" for least in range(12)]
    there.ask(asked[0].format("there"), epsilon=10**7)  # executors are warm
    killer = Thread(target=lambda: (time.sleep(1.5), spark.kill_a_worker()))
    killer.start()  # while the cluster is asked without a pause
    answers = [there.ask(text.format("there"), epsilon=10**7) for text in asked[1:]]
    killer.join()
    assert "Lost executor" in spark.logs
    for text, answer in zip(asked[1:], answers, strict=True):
        right = here.ask(text.format("here"), epsilon=10**7)
        assert [round(*answer[column]) for column in ("n", "s")] == [round(*right[column]) for column in ("n", "s")]
    assert there.spent.epsilon == 12 * 10**7


@pytest.mark.parametrize("kind", ["parquet", "delta"])
def test_an_admission_during_which_a_worker_dies_is_whole(kind: str, spark: SparkCluster, tmp_path: Path) -> None:
    """Each part has the rows that one machine puts there, and the folder has no file but these."""
    number = 2_000_000
    visits = {
        "id": pa.array([row * 7919 % 250_000 for row in range(number)]),
        "x": pa.array([row % 100 for row in range(number)]),
    }
    if kind == "parquet":
        parquet.write_table(pa.table(visits), tmp_path / "visits.parquet", row_group_size=100_000)
    else:
        delta = pytest.importorskip("support.delta", reason="deltalake isn't installed: pip install 'discreet[delta]'")
        columns = [delta.column(name, array.type) for name, array in visits.items()]
        file = delta.data(
            tmp_path / "visits", "1.parquet", pa.table(visits), deleted=range(1_000, 3_000, 2), row_group_size=100_000
        )
        delta.commit(tmp_path / "visits", delta.protocol("deletionVectors"), delta.metadata(columns), file)
    table = Table(
        name="visits",
        source=Source.of(tmp_path / ("visits.parquet" if kind == "parquet" else "visits")),
        columns=(Column(name="id", kind=Kind.INTEGER), Column(name="x", kind=Kind.INTEGER)),
        unit=dp.Unit("id"),
    )
    folders = [tmp_path / name for name in ("there", "here")]
    for folder in folders:
        folder.mkdir()
    found: list[Snapshot | None] = []

    def admits() -> None:
        found.append(admit_by_cluster([table], folders[0], SparkConnect(remote=spark.address), among=[table], parts=16))

    admitting = Thread(target=admits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(admission, "_PIECE", 100_000)
        admitting.start()
        while not any(folders[0].rglob("*.parquet")):  # until a task writes a part
            assert admitting.is_alive()
            time.sleep(0.01)
        spark.kill_a_worker()
        admitting.join()
    (there,) = found
    assert there is not None
    assert "Lost executor" in spark.logs
    here = admit([table], {}, folders[1], parts=16)
    assert there.report == here.report
    assert sorted(each.name for each in folders[0].iterdir()) == list(there.tables["visits"].files)
    assert not there.damaged()
    for one, other in zip(there.files(table), here.files(table), strict=True):
        rows = [parquet.read_table(file).sort_by([("code", "ascending"), ("c1", "ascending")]) for file in (one, other)]
        assert rows[0].equals(rows[1])
