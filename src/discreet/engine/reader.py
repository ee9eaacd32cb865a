"""Making a source readable in a session: one view, and the type of each of its columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from discreet.dataset import Source
from discreet.engine.catalog import ATTACHED, attach, find_table
from discreet.engine.door import TEXT_CELLS
from discreet.engine.files import OpenFile, identity_of
from discreet.engine.frozen import Frozen
from discreet.engine.header import Header, is_zipped, read_header
from discreet.engine.session import Session
from discreet.engine.text import name, string

RAW = "raw"
"""The view with the source's rows as they are; nothing but the door reads it."""


@dataclass(frozen=True, slots=True, repr=False)
class Snapshot:
    """One version of a source, readable in one session as the view `raw`.

    Args:
        types: DuckDB's type of each column, by the source's spelling of its name, in the source's order.
        fingerprint: of this version; private.
        required: SQL for the columns that the schema says are never NULL; None if it doesn't say.
    """

    types: dict[str, str]
    fingerprint: str
    required: str | None = None


class SourceChanged(Exception):
    """The source was changed while it was read. It stays inside this room: callers see `QuestionFailed`."""


@contextmanager
def snapshot(source: Source, frozen: Frozen | None, session: Session) -> Iterator[Snapshot]:
    """Open one version of the source in a session, and lock the session.

    Raises:
        SourceMissing, SourceUnsupported: the source can't be opened.
        duckdb.Error: DuckDB can't read it. Its text may quote a row, so it must not get out.
        SourceChanged: on leaving, if the source isn't what it was.
    """
    if frozen is not None:
        session.register(RAW, frozen.table)
        session.lock()
        yield Snapshot(_types(session), frozen.fingerprint)
    elif source.kind == "duckdb":
        with _database(source, session) as found:
            yield found
    else:
        with _file(source, session) as found:
            yield found


@contextmanager
def _file(source: Source, session: Session) -> Iterator[Snapshot]:
    """A CSV or Parquet file, read through the descriptor that was opened."""
    with OpenFile(source.location) as file:
        session.lock(allowed=[file.path])
        if source.kind == "csv":
            header = read_header(file, source.location)
            reader = _csv(file.path, header, zipped=is_zipped(source.location))
            session.execute(f"CREATE TEMP VIEW {RAW} AS {_cells(reader, header, source.missing)}")
            found = Snapshot(dict.fromkeys(header.names, TEXT_CELLS), file_fingerprint(file, source))
        else:
            options = "".join(f", {option}" for option in _parquet_options())
            session.execute(f"CREATE TEMP VIEW {RAW} AS FROM read_parquet({string(file.path)}{options})")
            found = Snapshot(_types(session), file_fingerprint(file, source), _required_in_parquet(file.path))
        yield found
        if not file.is_unchanged():
            raise SourceChanged


@contextmanager
def _database(source: Source, session: Session) -> Iterator[Snapshot]:
    """A table of a DuckDB file, attached for reading."""
    fingerprint = database_fingerprint(source)
    attach(session, source.location)
    session.lock()
    schema, table = find_table(session, source.location, source.table)
    session.execute(f"CREATE TEMP VIEW {RAW} AS FROM {ATTACHED}.{name(schema)}.{name(table)}")
    required = (
        "SELECT column_name FROM duckdb_columns() WHERE NOT is_nullable AND database_name = "
        f"{string(ATTACHED)} AND schema_name = {string(schema)} AND table_name = {string(table)}"
    )
    yield Snapshot(_types(session), fingerprint, required)
    if database_fingerprint(source) != fingerprint:
        raise SourceChanged


def file_fingerprint(file: OpenFile, source: Source) -> str:
    """The identity of a file's content, as it is read: with other texts for NULL, the same cells are other data."""
    return hashlib.sha256(f"{file.fingerprint} {source.kind} {sorted(source.missing)!r}".encode()).hexdigest()


def database_fingerprint(source: Source) -> str:
    """The identity of a database file and of its log, in which the newest changes may lie.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it can't be opened.
    """
    path = Path(source.location)
    return identity_of(str(path), str(path.with_name(path.name + ".wal")))


@cache
def _parquet_options() -> tuple[str, ...]:
    """What is asked of DuckDB's Parquet reader, as far as the version at hand knows it.

    A file's statistics leave NaN out, so DuckDB would think there is none, and drop our test for it. And text that
    isn't UTF-8 would make every question fail that reads its column; so its wrong bytes are replaced.
    """
    wanted = {"can_have_nan": "can_have_nan = true", "utf8_validation": "utf8_validation = 'replace'"}
    with Session() as session:
        rows = session.execute("SELECT parameters FROM duckdb_functions() WHERE function_name = 'read_parquet'")
    known = {parameter for (parameters,) in rows for parameter in parameters}
    return tuple(option for name, option in wanted.items() if name in known)


def _csv(path: str, header: Header, *, zipped: bool) -> str:
    """The table function that reads a CSV file, every cell as text.

    Nothing is guessed from the rows, and no row is refused: a short one is filled up with NULLs, a long one cut, and
    one that isn't UTF-8 or is longer than two megabytes left out. It runs on one thread, for the parallel reader
    raises on some malformed quotes. A quote that is opened and never closed swallows what follows it: the price of
    allowing line breaks inside quotes, and why a file must come from a writer that quotes properly.
    """
    columns = ", ".join(f"{string(column)}: 'VARCHAR'" for column in header.names)
    return (
        f"read_csv({string(path)}, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = {string(header.delimiter)}, quote = '\"', escape = '\"', null_padding = true, "
        "ignore_errors = true, strict_mode = false, parallel = false, "
        f"compression = '{'gzip' if zipped else 'none'}')"
    )


def _cells(reader: str, header: Header, missing: tuple[str, ...]) -> str:
    """All cells without the spaces around them; NULL where nothing is left, or one of the `missing` texts."""
    nulls = ", ".join(string(each) for each in ("", *missing))
    bare = ", ".join(f"trim({name(column)}, ' ') AS {name(column)}" for column in header.names)
    cells = ", ".join(
        f"CASE WHEN {name(column)} NOT IN ({nulls}) THEN {name(column)} END AS {name(column)}"
        for column in header.names
    )
    return f"SELECT {cells} FROM (SELECT {bare} FROM {reader})"


def _types(session: Session) -> dict[str, str]:
    """The columns of the raw view with their types."""
    return {column: kind for column, kind, *_ in session.execute(f"DESCRIBE {RAW}")}


def _required_in_parquet(path: str) -> str:
    """The columns that a Parquet file's schema calls required; of names that occur twice in it, nested, it's silent."""
    return (
        f"SELECT name FROM parquet_schema({string(path)}) GROUP BY name "
        "HAVING count(*) = 1 AND bool_and(repetition_type = 'REQUIRED' AND num_children IS NULL)"
    )
