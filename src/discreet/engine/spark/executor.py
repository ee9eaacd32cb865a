"""The executor's side of a question: a task's parts in, payloads out, and one constant error.

What a task raises ends up in the logs of a cluster and in front of its users. So whatever goes wrong is raised as
`QuestionFailed`, which says nothing; the cluster tries again, for it may have been the machine.

Beside payloads go receipts, which say what is in them: the parts that a task computed, to every bucket, and the buckets
that were merged. So a part that is lost on its way, or counted twice, is noticed.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from discreet.engine.spark.job import Job
from discreet.engine.spark.versions import Versions, check_same, own
from discreet.errors import QuestionFailed

COLUMNS = "bucket int, receipt int, payload binary"
"""What tasks give on: a payload, or the number of what was done."""


def computed(pickled: bytes, expected: Versions, buckets: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Compute parts.

    Args:
        pickled: the job.
        expected: the versions on the driver.
        buckets: how many there are; 0 if payloads aren't merged.
        batches: of Arrow; their first column has the numbers of parts.

    Yields:
        batches of `COLUMNS`.

    Raises:
        QuestionFailed: for any reason.
    """
    yield from _in_silence(_computed(pickled, expected, buckets, batches))


def merged(pickled: bytes, expected: Versions, parts: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Merge buckets.

    Args:
        pickled: the job.
        expected: the versions on the driver.
        parts: how many there are, each of which sent a receipt to each bucket.
        batches: of `COLUMNS`.

    Yields:
        batches of `COLUMNS`.

    Raises:
        QuestionFailed: for any reason.
    """
    yield from _in_silence(_merged(pickled, expected, parts, batches))


def check_complete(receipts: Iterable[int], number: int) -> None:
    """Refuse what isn't there once and whole.

    Raises:
        ValueError: something is missing, or there twice.
    """
    if sorted(receipts) != list(range(number)):
        raise ValueError("a part of the answer is missing, or there twice")


def _in_silence(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches, until something goes wrong."""
    try:
        yield from batches
    except Exception:  # noqa: BLE001, S110 — whatever the cause, it may quote a row, so it ends here
        pass
    else:
        return
    raise QuestionFailed  # outside the handler, so that no cause or context is chained to it


def _computed(pickled: bytes, expected: Versions, buckets: int, batches: Iterable[Any]) -> Iterator[Any]:
    job = _job(pickled, expected)
    parts = [part for batch in batches for part in batch.column(0).to_pylist()]
    if not parts:
        return
    for bucket, payload in job.compute(parts):
        yield _batch(bucket, payload=payload)
    for bucket in range(max(1, buckets)):
        for part in parts:
            yield _batch(bucket, receipt=part)


def _merged(pickled: bytes, expected: Versions, parts: int, batches: Iterable[Any]) -> Iterator[Any]:
    job = _job(pickled, expected)
    receipts, payloads = defaultdict[int, list[int]](list), defaultdict[int, list[Any]](list)
    with job.gathering() as keep:
        for batch in batches:
            for bucket, receipt, payload in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if payload is None:
                    receipts[bucket].append(receipt)
                else:
                    payloads[bucket].append(keep(payload))
        for bucket in sorted(receipts.keys() | payloads.keys()):
            check_complete(receipts[bucket], parts)
            for payload in job.merge(bucket, payloads[bucket]):
                yield _batch(bucket, payload=payload)
            yield _batch(bucket, receipt=bucket)


def _job(pickled: bytes, expected: Versions) -> Job[Any]:
    """The job, if it was made by what is here too."""
    check_same(expected, own())
    job: Job[Any] = pickle.loads(pickled)  # noqa: S301 — who can send a task can run any program here
    return job


def _batch(bucket: int, *, receipt: int | None = None, payload: bytes | None = None) -> Any:  # noqa: ANN401 — Arrow's
    import pyarrow as pa

    columns = {
        "bucket": pa.array([bucket], pa.int32()),
        "receipt": pa.array([receipt], pa.int32()),
        "payload": pa.array([payload], pa.binary()),
    }
    return pa.record_batch(columns)
