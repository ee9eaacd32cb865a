"""A question as it travels to a cluster: compiled, with the files of its tables. Tasks are functions of it and a part.

Files are listed, each with its size and the time of its last change, and looked at before they are read and afterwards.
A task that finds another file there fails: what is in it wasn't admitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import NamedTuple, Self

from discreet.duckdb.session import Session
from discreet.engine.duckdb.adding_up import PartsFound, combined
from discreet.engine.duckdb.contributions import Compiled
from discreet.engine.duckdb.part import set_up_part
from discreet.engine.spark.job import InMemory, memory_of_task
from discreet.engine.spark.payloads import packed, unpacked
from discreet.errors import SnapshotChanged
from discreet.tables import Table
from discreet.tables.admission import HeldTable, Snapshot, lock_to


class ListedFile(NamedTuple):
    """A file as it was when the question was put.

    Args:
        path: absolute, and the same on every machine.
        size: in bytes.
        changed: when it last was, in nanoseconds since 1970.
    """

    path: str
    size: int
    changed: int

    @classmethod
    def at(cls, path: str) -> Self:
        """A file as it is now.

        Raises:
            OSError: it can't be looked at.
        """
        found = Path(path).stat()
        return cls(path, found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(InMemory):
    """A `Job` for a cluster.

    Args:
        compiled: what is asked.
        snapshot: the files of its tables, and their columns.
        files: all of them, as they were.
        buckets: by how many what was found is merged; 0 if it isn't.
        in_memory: the name under which this process holds tables in memory; "" if there are none.
    """

    compiled: Compiled
    snapshot: Snapshot
    files: tuple[ListedFile, ...]
    buckets: int
    in_memory: str = ""

    def compute(self, parts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """What some parts hold, added up, as payloads with the numbers of their buckets."""
        shape, snapshot = self.compiled.shape, _IN_MEMORY[self.in_memory] if self.in_memory else self.snapshot
        with self._unchanged(), Session(threads=1, memory=memory_of_task()) as session:
            if self.compiled.joins_as_written:
                session.join_as_written()
            session.hold_arrays_to_size(self.compiled.aggregates)
            session.compute_in_callers()
            lock_to(session, self.compiled.tables, snapshot)
            found = PartsFound(shape, len(parts))
            for number in parts:
                with session.connection() as connection:
                    found.add(connection, set_up_part(connection, self.compiled, snapshot, number))
            yield from packed(session, shape, combined(shape, found.all), self.buckets)

    def merge(self, bucket: int, payloads: Sequence[bytes]) -> Iterator[bytes]:  # noqa: ARG002 — whichever it is
        """The payloads of one bucket, added up."""
        if not payloads:
            return
        with Session(threads=1, memory=memory_of_task()) as session:
            session.lock()
            found = unpacked(session, self.compiled.shape, payloads)
            for _, payload in packed(session, self.compiled.shape, combined(self.compiled.shape, [found]), 0):
                yield payload

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """The files are what they were, before and afterwards."""
        self._check_files()
        yield
        self._check_files()

    def _check_files(self) -> None:
        if any(ListedFile.at(file.path) != file for file in self.files):
            raise SnapshotChanged


@contextmanager
def question(compiled: Compiled, snapshot: Snapshot, buckets: int) -> Iterator[Question]:
    """A question about a snapshot, which tasks can be done of until the context is left.

    Args:
        compiled: what is asked.
        snapshot: in which its tables are.
        buckets: by how many what was found is merged; 0 if it isn't.
    """
    held = {table.name.casefold(): _shown(table, snapshot) for table in compiled.tables}
    files = tuple(ListedFile.at(path) for each in held.values() for path in each.files)
    shown = Snapshot(tables=held, folder=Path("/"))
    if all(each.files for each in held.values()):
        yield Question(compiled=compiled, snapshot=shown, files=files, buckets=buckets)
        return
    name = str(next(_NAMES))
    _IN_MEMORY[name] = shown
    try:
        without = replace(shown, tables={each: replace(table, data=()) for each, table in held.items()})
        yield Question(compiled=compiled, snapshot=without, files=files, buckets=buckets, in_memory=name)
    finally:
        del _IN_MEMORY[name]


_IN_MEMORY: dict[str, Snapshot] = {}
"""Tables in memory that are being asked about: Sail's tasks, which run in this process, find them here."""

_NAMES = count()


def _shown(table: Table, snapshot: Snapshot) -> HeldTable:
    """A table as tasks know it: columns and files, nothing that its rows decide.

    Descriptors of a table in place mean nothing elsewhere, so its files go by their paths.
    """
    held: HeldTable = snapshot.tables[table.name.casefold()]
    return replace(held, rows=0, digest="", most_rows_per_unit=None, places=(), files=snapshot.files(table))
