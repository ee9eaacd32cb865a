"""Admission's jobs: what tasks of a cluster do with the pieces of a source until they are files of a snapshot.

    pieces ──▶ cast, cut by the hash of the unit's id ──▶ one shuffle ──▶ a part: codes, sizes, ceiling, file

Where links lead to the unit, another shuffle comes before that, by the hash of the link: the rows of a table meet the
units that its links lead to, which stand in the files of the table that they enter. All of it is the code by which one
machine admits; to the cluster, rows are bytes.

A task is told of its own pieces alone: each lies in a file of the shared folder, and a job has no more than its name.
What tasks tell the driver is JSON: counts, and which file they wrote, with its size and digest. A file is written under
a name of its own for each attempt, so that one which a task left behind when it died is never read: nobody names it.
"""

from __future__ import annotations

import json
import os
import pickle
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp
from typing import Any, TypeAlias

from discreet.duckdb.session import Session
from discreet.duckdb.spill import SpillFolder
from discreet.duckdb.sql_text import SQL_TYPES, string
from discreet.engine.spark.job import Job, memory_of_task
from discreet.errors import DiscreetError, InvalidArgument, SnapshotError, SourceError, SourceMissing
from discreet.tables import Owner, Table
from discreet.tables.admission import identifying
from discreet.tables.admission.one_part import OnePart, nothing_of, read, show_owned, unit_columns
from discreet.tables.admission.reading import Reading, prepare
from discreet.tables.admission.snapshot import digest_of
from discreet.tables.admission.staging import Staging, copy_in_pieces, pieces_in, place
from discreet.tables.admission.validation import check_unchanged
from discreet.tables.schema.dataset import required
from discreet.tables.sources.pieces import Piece

_ROWS, _WAYS, _SAID = b"R", b"W", b"J"
"""What a payload is, by its first byte: rows of the table, units that links lead to, or what is told of them."""

Said: TypeAlias = Mapping[str, Any]
"""What a task tells the driver."""

_PROBLEMS = (SourceError, InvalidArgument)
"""Errors that are of the source, and not of the machine that met them: to try again is no help."""


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The payloads of a bucket in files, or what was told."""

    what: bytes
    rows: Path | None = None
    said: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admitting(Job[_Gathered]):
    """A step in the admission of a table.

    Args:
        table: as declared.
        number: of it among those that are admitted together.
        account: all tables of the account.
        folder: that the driver and all executors share, in which files are written.
        pieces: of its source, by their files there; see `put`.
    """

    table: Table
    number: int
    account: tuple[Table, ...]
    folder: str
    pieces: tuple[str, ...] = ()

    def compute(self, parts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """The rows of some pieces by their buckets; or what is wrong with the source, which isn't tried again."""
        for number in parts:
            problem: DiscreetError | None = None
            scratch = SpillFolder()
            try:
                yield from self._computed(number, scratch.path)
            except _NotSharedError:
                problem = SnapshotError(
                    "an executor of the cluster doesn't find the folder of the snapshots", hint=_SHARED
                )
            except SourceMissing as error:
                problem = SourceMissing(f"on an executor of the cluster, {error.message}", hint=_GONE)
            except _PROBLEMS as error:
                problem = error
            finally:
                scratch.remove()
            if problem is not None:
                yield 0, _told_of(number=number, problem=_in_words(problem))

    @contextmanager
    def gathering(self) -> Iterator[Callable[[bytes], _Gathered]]:
        """Rows go to the disk, for a task may have those of several parts."""
        scratch = SpillFolder()
        count = 0

        def keep(payload: bytes) -> _Gathered:
            nonlocal count
            what, rest = payload[:1], payload[1:]
            if what == _SAID:
                return _Gathered(what, said=payload)
            count += 1
            file = scratch.path / f"{count}.parquet"
            file.write_bytes(rest)
            return _Gathered(what, file)

        try:
            yield keep
        finally:
            scratch.remove()

    def merge(self, bucket: int, payloads: Sequence[_Gathered]) -> Iterator[bytes]:
        """What was told, and what became of the rows of a bucket."""
        yield from (each.said for each in payloads if each.what == _SAID)
        rows, ways = ([each.rows for each in payloads if each.rows and each.what == what] for what in (_ROWS, _WAYS))
        within = {file.parent for file in (*rows, *ways)} | {Path(self.folder)}
        with self._session(*within) as session:
            yield _told_of(**self._merged(session, bucket, rows, ways))

    @abstractmethod
    def _computed(self, number: int, scratch: Path) -> Iterator[tuple[int, bytes]]:
        """The payloads of one piece.

        Args:
            number: of it.
            scratch: an empty folder of this task's own.
        """

    @abstractmethod
    def _merged(self, session: Session, bucket: int, rows: Sequence[Path], ways: Sequence[Path]) -> Said:
        """What became of the rows of a bucket."""

    @contextmanager
    def _session(self, *folders: Path) -> Iterator[Session]:
        """A session of one thread, for these folders and nothing else."""
        with Session(threads=1, memory=memory_of_task()) as session:
            prepare(session, [self.table], folders=folders)
            yield session

    def _read(self, session: Session, piece: Piece, staging: Staging) -> dict[str, Any]:
        """Read a piece of the source into files; what is reported of it."""
        reading = Reading(
            "source",
            self.table,
            identifying(self.table, self.account),
            required(self.table, self.account),
            lambda _table, _rows: None,
        )
        with piece.open() as source:
            reading.into(session, staging, source)
            check_unchanged([source])
            return reading.report(session, source, piece.open)

    def _piece(self, number: int) -> Piece:
        """A piece that the driver has put into the shared folder."""
        file = Path(self.folder) / self.pieces[number]
        pickled = file.read_bytes() if file.is_file() else b""
        if _called(pickled) != file.name:
            raise _NotSharedError
        piece: Piece = pickle.loads(pickled)  # noqa: S301 — the driver's own, or it would be called otherwise
        return piece

    def _new_file(self, number: int) -> Path:
        """A file of this attempt's own, which only this user can read."""
        descriptor, path = mkstemp(prefix=f"{self.number}-{number:04d}-", suffix=".parquet", dir=self.folder)
        os.close(descriptor)
        return Path(path)

    def _cut_source(
        self, number: int, scratch: Path, owner: Owner, column: str, buckets: int
    ) -> Iterator[tuple[int, bytes]]:
        """The rows of a piece of the source, by the hash of a column, and what is reported of them."""
        piece = self._piece(number)
        (scratch / "staged").mkdir()
        staging = Staging(scratch / "staged" / "rows", owner, cut=(column, buckets))
        with self._session(scratch) as session:
            report = self._read(session, piece, staging)
        yield from _payloads(_ROWS, staging.folder / "pieces", buckets)
        yield number % buckets, _told_of(number=number, report=report)

    def _cut_files(
        self, query: str, scratch: Path, what: bytes, column: str, buckets: int
    ) -> Iterator[tuple[int, bytes]]:
        """Rows of files in the shared folder, by the hash of a column."""
        with self._session(scratch, Path(self.folder)) as session:
            session.execute(copy_in_pieces(query, column, buckets, scratch / "pieces"))
        yield from _payloads(what, scratch / "pieces", buckets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copying(_Admitting):
    """A table without units to bring together: what a task reads is a file."""

    def _computed(self, number: int, scratch: Path) -> Iterator[tuple[int, bytes]]:
        piece, file = self._piece(number), self._new_file(number)
        folder = file.with_suffix("")
        with self._session(folder, scratch) as session:
            report = self._read(session, piece, Staging(folder))
        (folder / "000000.parquet").replace(file)
        yield 0, _told_of(number=number, report=report, part=number, **_written(file))

    def _merged(self, session: Session, bucket: int, rows: Sequence[Path], ways: Sequence[Path]) -> Said:
        raise NotImplementedError("nothing is brought together")


@dataclass(frozen=True, slots=True, kw_only=True)
class Owning(_Admitting):
    """Whose the rows of a linked table are: each is written with its units, in the bucket of its link.

    Args:
        owner: of the rows.
        ways: the files of the parts of the table that the first link enters.
        buckets: how many.
    """

    owner: Owner
    ways: tuple[str, ...]
    buckets: int

    def _computed(self, number: int, scratch: Path) -> Iterator[tuple[int, bytes]]:
        hop = self.owner.hops[0]
        if number < len(self.pieces):
            yield from self._cut_source(number, scratch, self.owner, place(self.table, hop.column), self.buckets)
            return
        file = Path(self.folder) / self.ways[number - len(self.pieces)]
        link, unit = place(hop.table, hop.to), unit_columns(hop.table, Owner(self.owner.unit, self.owner.hops[1:]))
        named = zip(unit, unit_columns(self.table, self.owner), strict=True)
        units = ", ".join(f"{sql} AS {called}" for sql, called in named)
        query = (
            f"SELECT DISTINCT {link} AS link, {units} FROM {read([file])} "
            f"WHERE {link} IS NOT NULL AND {unit[0]} IS NOT NULL"
        )
        yield from self._cut_files(query, scratch, _WAYS, "link", self.buckets)

    def _merged(self, session: Session, bucket: int, rows: Sequence[Path], ways: Sequence[Path]) -> Said:
        if not rows:
            return {"part": bucket, "file": ""}
        hop, unit = self.owner.hops[0], unit_columns(self.table, self.owner)
        found = read(ways) if ways else self._no_way(unit)
        again = show_owned(session, read(rows), place(self.table, hop.column), found, unit)
        file = self._new_file(bucket)
        session.execute(f"COPY (FROM owned) TO {string(str(file))} (FORMAT parquet)")
        return {"part": bucket, "again": again, **_written(file)}

    def _no_way(self, unit: Sequence[str]) -> str:
        """No link that leads to any unit, in SQL."""
        hop, last = self.owner.hops[0], self.owner.hops[-1].table
        kinds = [hop.table.column(hop.to).kind, last.column(self.owner.unit.column or "").kind]
        types = [*(SQL_TYPES[kind] for kind in kinds), "TIMESTAMP"]
        named = zip(types, ["link", *unit], strict=False)
        return f"(SELECT {', '.join(f'CAST(NULL AS {kind}) AS {each}' for kind, each in named)} WHERE false)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting(_Admitting):
    """A table by its units: all rows of a unit in the part of its number.

    Args:
        owner: of the rows.
        parts: how many.
        owned: of a linked table, the files with its rows and their units, in the place of its source.
        repeats: whether a row of several units is among these.
    """

    owner: Owner
    parts: int
    owned: tuple[str, ...] = ()
    repeats: bool = False

    def _computed(self, number: int, scratch: Path) -> Iterator[tuple[int, bytes]]:
        unit = unit_columns(self.table, self.owner)[0]
        if not self.owner.hops:
            yield from self._cut_source(number, scratch, self.owner, unit, self.parts)
            return
        rows = f"FROM {read([Path(self.folder) / self.owned[number]])}"
        yield from self._cut_files(rows, scratch, _ROWS, unit, self.parts)

    def _merged(self, session: Session, bucket: int, rows: Sequence[Path], ways: Sequence[Path]) -> Said:  # noqa: ARG002 — there are none
        one = OnePart(session, self.table, self.owner, self.repeats)
        file = self._new_file(bucket)
        beyond = one.write(read(rows) if rows else nothing_of(self.table, self.owner), file)
        unique = sorted(one.unique(self.account, file))
        return {"part": bucket, "units": beyond.units, "rows": beyond.rows, "unique": unique, **_written(file)}


class _NotSharedError(Exception):
    """What the driver has put into the shared folder isn't there."""


def put(piece: Piece, folder: Path) -> str:
    """Put a piece into the folder that executors share; under which name.

    Raises:
        SnapshotError: it can't be written.
    """
    pickled = pickle.dumps(piece)
    file = folder / _called(pickled)
    try:
        file.touch(0o600)  # it may have values of partitions
        file.write_bytes(pickled)
    except OSError as error:
        problem = error.strerror
    else:
        return file.name
    raise SnapshotError(f"nothing can be written in {str(folder)!r}: {problem}", hint="is the disk full?")


def _called(pickled: bytes) -> str:
    """The name of a piece's file: a digest, so that a task reads what the driver wrote, or nothing."""
    return f"{sha256(pickled).hexdigest()}.piece"


def what_was_said(payloads: Sequence[bytes]) -> list[Said]:
    """What tasks tell the driver.

    Raises:
        ValueError: it is something else. No row has any business there.
    """
    if any(payload[:1] != _SAID for payload in payloads):
        raise ValueError("rows came to the driver")
    return [json.loads(payload[1:]) for payload in payloads]


def _payloads(what: bytes, folder: Path, buckets: int) -> Iterator[tuple[int, bytes]]:
    """The files of pieces, with the numbers of these."""
    for piece in pieces_in(folder, buckets) if folder.is_dir() else ():
        for file in piece.files:
            yield piece.number, what + file.read_bytes()


def _told_of(**facts: object) -> bytes:
    """What is told, as a payload."""
    return _SAID + json.dumps(facts).encode()


def _written(file: Path) -> Said:
    """What is told of a file, once it is on the disk."""
    with file.open("rb+") as written:
        os.fsync(written.fileno())
    return {"file": file.name, "size": file.stat().st_size, "digest": digest_of([str(file)])}


def _in_words(problem: DiscreetError) -> list[str]:
    """An error as it travels: its class, message, and hint at each door."""
    doors = [problem.hint_at(door) for door in ("python", "cli", "file")]
    return [type(problem).__name__, problem.message, *doors]


_GONE = (
    "sources must have the same paths on all executors, for the user who admits; if a file was removed meanwhile, "
    "such as by a vacuum, admit again"
)
_SHARED = "sources and snapshots must have the same paths on all executors, for the user who admits"
