"""Connections: made when needed, made again when forgotten; what is missing is named before anything is charged."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.engine.spark import connection as connections
from discreet.engine.spark.connection import Connection
from discreet.engine.spark.job import InMemory
from discreet.engine.spark.runner import run
from discreet.engine.spark.versions import check_same, own, reporter
from discreet.errors import EngineUnavailable, ExtraMissing
from discreet.tables.schema.spark import TOKEN, SparkConnect


class Squares(InMemory):
    """A job whose payloads are squares, added up by whether they are even."""

    def compute(self, parts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """The squares of parts."""
        yield from ((part % 2, str(part**2).encode()) for part in parts)

    def merge(self, _: int, payloads: Sequence[bytes]) -> Iterator[bytes]:
        """Their sum, if there are any."""
        if payloads:
            yield str(sum(map(int, payloads))).encode()


def squares(cluster: Connection, *, tasks: int = 3, buckets: int = 0) -> list[int]:
    """Those of ten parts."""
    return sorted(map(int, run(cluster, Squares(), parts=10, tasks=tasks, buckets=buckets)))


@pytest.mark.parametrize("tasks", [1, 3, 99])
def test_each_part_is_computed_once(tasks: int, cluster: Connection) -> None:
    """However many tasks share them, also where these are more."""
    assert squares(cluster, tasks=tasks) == [part**2 for part in range(10)]
    assert squares(cluster, tasks=tasks, buckets=4) == [120, 165]


def test_several_threads_ask_at_once(cluster: Connection) -> None:
    """Each gets its own."""
    with ThreadPoolExecutor(3) as pool:
        assert {tuple(found) for found in pool.map(lambda _: squares(cluster), range(6))} == {
            tuple(part**2 for part in range(10))
        }


def test_a_session_that_the_server_forgot_is_made_anew(cluster: Connection) -> None:
    """As Spark does after an hour, and Sail after five minutes."""
    before = cluster.session()
    before.stop()
    cluster.ready()
    assert cluster.session() is not before
    assert squares(cluster)[:3] == [0, 1, 4]


def test_a_session_of_the_callers_is_used_and_left_open(cluster: Connection) -> None:
    """Whoever made it closes it."""
    theirs = cluster.session()
    ours = Connection(SparkConnect(session=theirs))
    ours.ready()
    assert len(squares(ours)) == 10
    ours.close()
    assert len(squares(cluster)) == 10


def test_a_forked_process_is_told(cluster: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that was made before doesn't work there, and would disturb its parent's."""
    monkeypatch.setattr(connections.os, "getpid", lambda: -1)
    with pytest.raises(EngineUnavailable, match="fork"):
        cluster.ready()
    with pytest.raises(EngineUnavailable, match="fork"):
        Connection(SparkConnect(remote="local")).ready()


def test_nobody_there_is_told_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark alone would try for ten minutes."""
    monkeypatch.setattr(connections, "_SECONDS", 0.3)
    with pytest.raises(EngineUnavailable, match=r"nobody answers at sc://127\.0\.0\.1:9"):
        Connection(SparkConnect(remote="sc://127.0.0.1:9")).ready()


def test_a_network_needs_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent without one."""
    monkeypatch.delenv(TOKEN, raising=False)
    with pytest.raises(EngineUnavailable, match="needs a token") as refused:
        Connection(SparkConnect(remote="sc://spark.invalid")).ready()
    assert TOKEN in refused.value.hint


@pytest.mark.parametrize(("package", "extras"), [("pyspark", "[spark]"), ("pysail", "[spark,sail]")])
def test_what_is_not_installed_is_named(package: str, extras: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    monkeypatch.setattr(connections, "_started", None)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.spark", None)
    with pytest.raises(ExtraMissing, match=f"needs {package}") as missing:
        Connection(SparkConnect(remote="local")).ready()
    assert extras in missing.value.hint


def test_a_program_in_no_file_can_ask() -> None:
    """PySpark takes it for its own doctests, and would end the process."""
    script = """
from discreet.engine.spark.connection import Connection
from discreet.tables.schema.spark import SparkConnect
connection = Connection(SparkConnect(remote="local"))
connection.ready()
print(connection.session().range(3).count(), hasattr(__import__("__main__"), "__file__"))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("3 False\n", "")


def test_executors_without_discreet_can_say_so() -> None:
    """The function that tells what is there runs where discreet isn't."""
    from pyspark import cloudpickle

    script = f"""
import pickle, sys
sys.modules["discreet"] = None
import pyarrow as pa
report = pickle.loads({cloudpickle.dumps(reporter())!r})
print(*(each.to_pylist() for each in report([pa.record_batch({{"id": pa.array([0])}})])))
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.strip() == str([{"discreet": "", "duckdb": own()["duckdb"]}])


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({}, "lacks discreet"),
        ({"discreet": own()["discreet"]}, "lacks duckdb"),
        ({**own(), "duckdb": "1.4.0"}, "has duckdb 1.4.0, and this process has"),
        ({**own(), "discreet": "0.0.1"}, "has discreet 0.0.1, and this process has"),
    ],
)
def test_executors_that_would_compute_something_else_are_refused(there: dict[str, str], said: str) -> None:
    """Another DuckDB may choose other rows of a unit."""
    with pytest.raises(EngineUnavailable, match=said):
        check_same(own(), there)
    check_same(own(), own())


def test_a_cluster_is_looked_at_before_a_question(cluster: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """And looked at again after one that failed."""
    cluster.doubt()
    monkeypatch.setattr(connections, "own", lambda: {**own(), "duckdb": "9"})
    with pytest.raises(EngineUnavailable, match="an executor of the cluster has duckdb"):
        cluster.ready()
    monkeypatch.undo()
    cluster.ready()
    monkeypatch.setattr(connections, "own", lambda: {**own(), "duckdb": "9"})
    cluster.ready()
