"""The runner that gives parts to a cluster: it carries a job's bytes there, and payloads back.

    range(parts) ──▶ compute, a task for some parts ──▶ payloads
                              └─ by bucket, one shuffle ──▶ merge, a task for some buckets ──▶ payloads

A cluster schedules, retries and carries; what is computed is computed by our code. To it a payload is bytes: no
arithmetic of its own ever touches a private value.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

from discreet.engine.spark.connection import Connection
from discreet.engine.spark.executor import COLUMNS, check_complete
from discreet.engine.spark.job import Job
from discreet.engine.spark.versions import Versions, own
from discreet.machine import own_share, usable_cores
from discreet.tables.schema.spark import SparkConnect


def run(connection: Connection, job: Job[Any], *, parts: int, tasks: int, buckets: int = 0) -> list[bytes]:
    """The payloads of a job, in no particular order.

    Guarantee: each part is in them once, whatever became of tasks on the way; or an error is raised.

    Args:
        connection: to the cluster, ready.
        job: to be done.
        parts: how many there are.
        tasks: how many share them.
        buckets: how many there are, if payloads are merged on the cluster; 0 if they come as they are.

    Raises:
        Exception: a task failed, as often as the cluster tries one. It quotes no row, but is for nobody's eyes.
    """
    pickled, expected = pickle.dumps(job), dict(own())
    rows = connection.session().range(0, parts, 1, min(tasks, parts))
    rows = rows.mapInArrow(_step("computed", pickled, expected, buckets), COLUMNS)
    if buckets:
        rows = rows.repartition(buckets, "bucket").mapInArrow(_step("merged", pickled, expected, parts), COLUMNS)
    found = rows.toArrow()
    check_complete(found.column("receipt").drop_null().to_pylist(), buckets or parts)
    payloads: list[bytes] = found.column("payload").drop_null().to_pylist()
    return payloads


def most_tasks(cluster: SparkConnect) -> int:
    """How many tasks do a job at most."""
    if cluster.tasks is not None:
        return cluster.tasks
    return own_share().threads or len(usable_cores()) if cluster.is_local else 2**31


def _step(what: str, pickled: bytes, expected: Versions, number: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for `mapInArrow`. It travels by value, and the job in it as bytes: discreet is loaded there."""

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        from discreet.engine.spark import executor

        rows: Iterator[Any] = getattr(executor, what)(pickled, expected, number, batches)
        return rows

    return step
