"""Making sources readable in a session: a view of each, and the type of each of its columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from discreet.engine.catalog import attach, find_table
from discreet.engine.door import TEXT_CELLS
from discreet.engine.files import OpenFile, identity_of
from discreet.engine.formats import csv, parquet, required_in_parquet
from discreet.engine.frozen import Frozen
from discreet.engine.header import is_zipped, read_header
from discreet.engine.kinds import sql_type_of
from discreet.engine.session import Session
from discreet.engine.text import name, string
from discreet.errors import SourceMissing
from discreet.tables import Kind, Source, Table

_FILES = frozenset({"csv", "parquet"})


@dataclass(frozen=True, slots=True, repr=False)
class Snapshot:
    """One version of a source, readable in one session.

    Args:
        view: with the source's rows as they are; nothing but the door reads it.
        types: DuckDB's type of each column, by the source's spelling of its name, in the source's order.
        fingerprint: of this version; private.
        required: SQL for the columns that the schema says are never NULL; None if it doesn't say.
    """

    view: str
    types: dict[str, str]
    fingerprint: str
    required: str | None = None


class SourceChanged(Exception):
    """A source was changed while it was read. It stays inside this room: callers see `QuestionFailed`."""


@contextmanager
def snapshots(
    sources: Iterable[Source], frozen: Mapping[str, Frozen], session: Session
) -> Iterator[Mapping[Source, Snapshot]]:
    """Open one version of each source in a session, and lock the session. Equal sources are opened once.

    All files are open, and all databases attached, before anything is read.

    Args:
        sources: to open.
        frozen: tables in memory, by the location of their source.
        session: a fresh one.

    Raises:
        SourceMissing, SourceUnsupported: a source can't be opened.
        duckdb.Error: DuckDB can't read it. Its text may quote a row, so it must not get out.
        SourceChanged: on leaving, if a source isn't what it was.
    """
    wanted = list(dict.fromkeys(sources))
    with ExitStack() as stack:
        handles = _Handles(session, frozen)
        for source in wanted:
            handles.open(source, stack)
        session.lock(allowed=[file.path for file in handles.files.values()])
        yield {source: handles.snapshot(source, f"raw{number}") for number, source in enumerate(wanted)}
        if not handles.are_unchanged():
            raise SourceChanged


def without_rows(session: Session, tables: Sequence[Table]) -> Mapping[Source, Snapshot]:
    """Tables without rows in the place of sources: a function of what is declared, which no source is opened for.

    Args:
        session: a fresh one.
        tables: that a question reads.
    """
    found = {}
    for number, source in enumerate(dict.fromkeys(table.source for table in tables)):
        kinds: dict[str, set[Kind]] = {}
        for column in (column for table in tables if table.source == source for column in table.columns):
            kinds.setdefault(column.name.casefold(), set()).add(column.kind)
        # A text may be read as any kind, as a column is whose tables declare it to be of several.
        types = {each: sql_type_of(next(iter(kind)) if len(kind) == 1 else Kind.TEXT) for each, kind in kinds.items()}
        is_text = source.kind == "csv"
        columns = ", ".join(f"{name(each)} {'VARCHAR' if is_text else kind}" for each, kind in types.items())
        view = f"raw{number}"
        session.execute(f"CREATE TEMP TABLE {view} ({columns})")
        found[source] = Snapshot(view, dict.fromkeys(types, TEXT_CELLS) if is_text else types, "")
    return found


@dataclass(slots=True, repr=False)
class _Handles:
    """What is open in a session.

    Args:
        session: in which.
        frozen: tables in memory, by location.
        files: by location.
        databases: by their file's real path, for DuckDB attaches a file only once: what each is called, and its
            fingerprint from before it was attached.
    """

    session: Session
    frozen: Mapping[str, Frozen]
    files: dict[str, OpenFile] = field(default_factory=dict)
    databases: dict[Path, tuple[str, str]] = field(default_factory=dict)

    def open(self, source: Source, stack: ExitStack) -> None:
        """Open what a source lies in, if it isn't open already."""
        if source.kind in _FILES and source.location not in self.files:
            self.files[source.location] = stack.enter_context(OpenFile(source.location))
        elif source.kind == "duckdb" and (path := Path(source.location).resolve()) not in self.databases:
            database, fingerprint = f"private{len(self.databases)}", database_fingerprint(path)
            attach(self.session, str(path), database)
            self.databases[path] = database, fingerprint

    def snapshot(self, source: Source, view: str) -> Snapshot:
        """Make a source readable as a view."""
        if source.kind == "memory":
            table = frozen_table(self.frozen, source)
            self.session.register(view, table.table)
            return Snapshot(view, self._types(view), table.fingerprint)
        if source.kind == "duckdb":
            return self._table(source, view)
        return self._file(source, view)

    def are_unchanged(self) -> bool:
        """Whether everything is what it was when it was opened. Tables in memory are copies that nobody else has."""
        return all(file.is_unchanged() for file in self.files.values()) and all(
            database_fingerprint(path) == fingerprint for path, (_, fingerprint) in self.databases.items()
        )

    def _file(self, source: Source, view: str) -> Snapshot:
        """A CSV or Parquet file, read through the descriptor that was opened."""
        file = self.files[source.location]
        fingerprint = file_fingerprint(file, source)
        if source.kind == "csv":
            header = read_header(file, source.location)
            cells = csv(file.path, header, source.missing, zipped=is_zipped(source.location))
            self.session.execute(f"CREATE TEMP VIEW {view} AS {cells}")
            return Snapshot(view, dict.fromkeys(header.names, TEXT_CELLS), fingerprint)
        self.session.execute(f"CREATE TEMP VIEW {view} AS FROM {parquet(file.path)}")
        return Snapshot(view, self._types(view), fingerprint, required_in_parquet(file.path))

    def _table(self, source: Source, view: str) -> Snapshot:
        """A table of a DuckDB file that is attached."""
        database, fingerprint = self.databases[Path(source.location).resolve()]
        schema, table = find_table(self.session, database, source.location, source.table)
        self.session.execute(f"CREATE TEMP VIEW {view} AS FROM {name(database)}.{name(schema)}.{name(table)}")
        required = (
            "SELECT column_name FROM duckdb_columns() WHERE NOT is_nullable AND database_name = "
            f"{string(database)} AND schema_name = {string(schema)} AND table_name = {string(table)}"
        )
        return Snapshot(view, self._types(view), fingerprint, required)

    def _types(self, view: str) -> dict[str, str]:
        """The columns of a view with their types."""
        return {column: kind for column, kind, *_ in self.session.execute(f"DESCRIBE {view}")}


def fingerprint_of(source: Source, frozen: Mapping[str, Frozen]) -> str:
    """The identity of a source's content; private.

    Raises:
        SourceMissing: it isn't there.
        SourceUnsupported: it can't be opened.
    """
    if source.kind == "memory":
        return frozen_table(frozen, source).fingerprint
    if source.kind == "duckdb":
        return database_fingerprint(Path(source.location).resolve())
    with OpenFile(source.location) as file:
        return file_fingerprint(file, source)


def joint_fingerprint(fingerprints: Mapping[str, str]) -> str:
    """The identity of several tables' content, whatever the order they are named in.

    Args:
        fingerprints: of each table's source, by the table's name: tables that change places are other data.
    """
    named = sorted((name.casefold(), fingerprint) for name, fingerprint in fingerprints.items())
    return hashlib.sha256(repr(named).encode()).hexdigest()


def frozen_table(frozen: Mapping[str, Frozen], source: Source) -> Frozen:
    """The table in memory that a source means.

    Raises:
        SourceMissing: it was never handed over.
    """
    if source.location not in frozen:
        raise SourceMissing(
            f"the source in memory {source.location!r} needs its table",
            hint="hand the table over together with its source",
        )
    return frozen[source.location]


def file_fingerprint(file: OpenFile, source: Source) -> str:
    """The identity of a file's content, as it is read: with other texts for NULL, the same cells are other data."""
    return hashlib.sha256(f"{file.fingerprint} {source.kind} {sorted(source.missing)!r}".encode()).hexdigest()


def database_fingerprint(path: Path) -> str:
    """The identity of a database file and of its log, in which the newest changes may lie.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it can't be opened.
    """
    return identity_of(str(path), str(path.with_name(path.name + ".wal")))
