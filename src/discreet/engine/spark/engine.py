"""The engine that asks a cluster: the embedded one's questions, computed by tasks of Spark or Sail."""

from __future__ import annotations

from discreet.engine.duckdb import DuckDB
from discreet.engine.duckdb.adding_up import added_up, combined
from discreet.engine.duckdb.aggregation import of_values, result_of
from discreet.engine.duckdb.contributions import Compiled
from discreet.engine.interface import ExactResult
from discreet.engine.spark.connection import Connection
from discreet.engine.spark.payloads import unpacked
from discreet.engine.spark.question import question
from discreet.engine.spark.runner import most_tasks, run
from discreet.errors import EngineUnavailable
from discreet.query.ir import Exact
from discreet.tables.admission import Snapshot
from discreet.tables.schema.spark import LOCAL, SparkConnect

_MOST_BUCKETS = 64
"""Each task sends something to each bucket."""


class Spark(DuckDB):
    """The tables of a snapshot, read by the tasks of a cluster; an `Engine`.

    It answers with the same integers as the embedded engine: tasks run that engine's code, each on DuckDB of its own.
    Public tables are looked through here.

    Args:
        snapshot: the tables as they were admitted; their files must have the same paths wherever tasks run.
        cluster: where it is; Sail in this process, if left out.
    """

    def __init__(self, snapshot: Snapshot, cluster: SparkConnect | None = None) -> None:
        super().__init__(snapshot)
        self._cluster = cluster or SparkConnect(remote=LOCAL)
        self._connection = Connection(self._cluster)

    def __repr__(self) -> str:
        return "<Spark engine>"

    def prepare(self, exact: Exact) -> None:
        """Try a question here, on tables without rows; then see that the cluster can be asked. See `Engine.prepare`."""
        super().prepare(exact)
        for table in exact.tables:
            held = self._snapshot.tables.get(table.name.casefold())
            if held is not None and held.data and not self._cluster.is_local:
                raise EngineUnavailable(
                    f"table {table.name!r} is in this process's memory, where a cluster can't read it",
                    hint="write it to a Parquet file, and protect that",
                )
        self._connection.ready()

    def close(self) -> None:
        """Release the snapshot and the connection."""
        super().close()
        self._connection.close()

    def _answer(self, compiled: Compiled) -> ExactResult:
        """Ask the cluster. An exception from here must not get out of `run`."""
        shape, parts = compiled.shape, compiled.reading.parts
        tasks = min(parts, most_tasks(self._cluster))
        self._connection.ready()
        try:
            with self._snapshot.held_open(compiled.exact.tables):
                # Many groups or values are brought together on the cluster. What was asked decides it, and no row.
                many = shape.groups is None or any(of_values(shape, "distinct"))
                buckets = min(tasks, _MOST_BUCKETS) if many and tasks > 1 else 0
                with question(compiled, self._snapshot, buckets) as job:
                    payloads = run(self._connection, job, parts=parts, tasks=tasks, buckets=buckets)
        except Exception:
            self._connection.doubt()
            raise
        with self._sessions.fresh() as session:
            session.lock()
            found = combined(shape, [unpacked(session, shape, payloads)])
            groups, counts = added_up(session, shape, [found])
        return result_of(compiled.exact, groups, counts)
