"""Whatever fails on a cluster, no value of a row leaves a task, and all that is said is that a question failed."""

from __future__ import annotations

import logging
import os
import pickle
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.engine.spark import Spark
from discreet.engine.spark.connection import Connection
from discreet.engine.spark.executor import computed, merged
from discreet.engine.spark.job import InMemory
from discreet.engine.spark.question import Question
from discreet.engine.spark.runner import run
from discreet.engine.spark.versions import own
from discreet.errors import QuestionFailed
from discreet.privacy import Limits, Unit
from discreet.query.ir import Exact
from discreet.tables import Source, Table
from discreet.tables.admission import admit
from discreet.tables.schema.spark import SparkConnect
from support.engines import as_if_admitted
from support.questions import KINDS, SCHEMA, count, declared, exact, key

CANARY = "CANARY-77b0d2"
TABLE = Table(
    name="t",
    source=Source(kind="memory", location="t"),
    columns=tuple(declared(name) for name in KINDS),
    unit=Unit("id"),
    limits=Limits(rows=2),
)
ROWS = pa.Table.from_pylist([{"id": 1, "g": CANARY}, {"id": 2, "g": "fine"}], schema=SCHEMA)
QUESTION = exact(TABLE, [count()], keys=[key("g")])


class Telling(InMemory):
    """A job whose tasks fail over a row, in its words."""

    def compute(self, parts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """One payload, and then none."""
        yield 0, b"begun"
        raise ValueError(f"can't cast {CANARY} of part {parts}")

    def merge(self, _: int, payloads: Sequence[bytes]) -> Iterator[bytes]:
        """The same."""
        raise KeyError(CANARY, payloads)


class Merging(Telling):
    """One whose second stage fails."""

    def compute(self, parts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """One payload for each part."""
        yield from ((part % 2, CANARY.encode()) for part in parts)


@pytest.mark.parametrize(("job", "buckets"), [(Telling(), 0), (Merging(), 2)])
def test_a_task_says_nothing_of_why_it_fails(job: Telling, buckets: int, cluster: Connection) -> None:
    """Not even to the driver: what it raises stands in a cluster's logs, too."""
    with pytest.raises(Exception, match="QuestionFailed") as failed:
        run(cluster, job, parts=3, tasks=2, buckets=buckets)
    assert CANARY not in "".join(traceback.TracebackException.from_exception(failed.value).format())


def test_a_question_that_fails_says_only_that(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """No text, cause, context, log or output has the value, though a task fails over it."""
    caplog.set_level(logging.DEBUG)
    engine = Spark(as_if_admitted([TABLE], {"t": ROWS}), SparkConnect(remote="local"))
    engine.prepare(QUESTION)

    def telling(_: Question, parts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        raise ValueError(f"can't cast {CANARY} of part {parts}")

    monkeypatch.setattr(Question, "compute", telling)
    with pytest.raises(QuestionFailed) as failed:
        engine.run(QUESTION)
    assert failed.value.__cause__ is failed.value.__context__ is None
    said = traceback.TracebackException.from_exception(failed.value, capture_locals=True).format()
    assert CANARY not in "\n".join([*said, caplog.text, *capfd.readouterr()])
    monkeypatch.undo()
    assert [*engine.run(QUESTION).measures["n"]] == [1, 1]  # the cluster is as good as before


def test_no_row_is_in_what_is_sent() -> None:
    """A job has files and columns of its tables; those in memory stay where they are."""
    sent: list[bytes] = []

    def noted(cluster: Connection, job: Question, **others: int) -> list[bytes]:
        sent.append(pickle.dumps(job))
        return run(cluster, job, **others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.engine.spark.engine.run", noted)
        engine = Spark(as_if_admitted([TABLE], {"t": ROWS}), SparkConnect(remote="local"))
        assert (CANARY,) in engine.run(QUESTION).keys
    assert len(sent) == 1
    assert CANARY.encode() not in sent[0]


def test_another_file_in_the_place_of_one_is_not_read(tmp_path: Path) -> None:
    """Also where it has the same name and size, if it was changed between the driver's look and the task's."""
    question, snapshot = _admitted(tmp_path)
    engine = Spark(snapshot, SparkConnect(remote="local"))
    assert [*engine.run(question).measures["n"]] == [1, 1]
    compute = Question.compute

    def late(self: Question, parts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        for file in self.files:
            os.utime(file.path, ns=(0, file.changed + 1))
        yield from compute(self, parts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Question, "compute", late)
        with pytest.raises(QuestionFailed):
            engine.run(question)


def _admitted(folder: Path) -> tuple[Exact, object]:
    """A question about rows in a file of a snapshot."""
    parquet.write_table(ROWS, folder / "source.parquet")
    table = Table(
        name="t",
        source=Source.of(folder / "source.parquet"),
        columns=TABLE.columns,
        unit=TABLE.unit,
        limits=TABLE.limits,
    )
    return exact(table, [count()], keys=[key("g")]), admit([table], {}, folder)


@pytest.mark.parametrize("name", ["discreet", "duckdb"])
def test_a_task_of_another_version_does_nothing(name: str) -> None:
    """The job isn't even read: what it is may have changed."""
    other = {**own(), name: "0.0.1"}
    batches = [pa.record_batch({"id": pa.array([0])})]
    with pytest.raises(QuestionFailed):
        list(computed(b"not a pickle", other, 0, iter(batches)))


class Silent(Merging):
    """One whose payloads hold nothing to tell."""

    def merge(self, _: int, payloads: Sequence[bytes]) -> Iterator[bytes]:
        """What came."""
        yield from payloads


def test_a_part_that_is_lost_or_there_twice_is_noticed() -> None:
    """Whoever lost it: an answer without it would look like one with it."""
    job = pickle.dumps(Silent())
    whole = [
        batch
        for parts in ([0, 1], [2])
        for batch in computed(job, own(), 2, [pa.record_batch({"id": pa.array(parts)})])
    ]
    first = [batch for batch in whole if batch.column(0).to_pylist() == [0]]
    assert len(list(merged(job, own(), 3, first))) == 3  # the payloads of parts 0 and … in bucket 0, and a receipt
    for number, batch in enumerate(first):
        if batch.column("payload").null_count:
            for wrong in (first[:number] + first[number + 1 :], [*first, batch]):
                with pytest.raises(QuestionFailed):
                    list(merged(job, own(), 3, wrong))
