"""Threads: each computes one part of the work after the other, with a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from discreet.duckdb.session import Connection, Session

_T = TypeVar("_T")


def for_each(
    session: Session, parts: Sequence[int], compute: Callable[[Connection, int], _T], *, threads: int
) -> list[_T]:
    """What is computed of each part, in order.

    Args:
        session: whose connections compute in the threads that ask them.
        parts: by number.
        compute: with a connection, of a part. What is temporary is dropped afterwards.
        threads: how many.

    Raises:
        Exception: the first that is raised for a part; no other part is begun then.
    """

    def of(number: int) -> _T:
        with session.connection() as connection:
            return compute(connection, number)

    if not parts:
        return []
    pool = ThreadPoolExecutor(min(threads, len(parts)), thread_name_prefix="discreet-part")
    try:
        return list(pool.map(of, parts))
    finally:
        pool.shutdown(cancel_futures=True)
