"""Tables of DuckDB files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.duckdb.session import SHUT_OFF
from discreet.duckdb.sql_text import name as quoted
from discreet.errors import SourceUnsupported
from discreet.tables.schema.column import Kind
from discreet.tables.schema.source import Source
from discreet.tables.sources.arrow import MOST_ROWS, deliver, delivered, slices
from discreet.tables.sources.files import identity_of
from discreet.tables.sources.reader import Field, OpenDatabase, column_names, only

_NUMBERS = frozenset({"HUGEINT", "UHUGEINT", "BIGNUM"})
"""Whole numbers beyond 64 bits are read as texts: Arrow's decimals have 38 digits, and these can have 39."""
_TEXTS = frozenset({"UUID"})
_ATTACHED = "private"


class OpenDuckDB(OpenDatabase):
    """A table of a DuckDB file.

    Guarantee: nothing but the file is opened. Texts come without their collation, times with a zone as UTC. As long as
    it is open, DuckDB lets no process write to it.

    Raises:
        SourceMissing: there is no such file, no such table in it, or several and none is named.
        SourceUnsupported: it isn't a DuckDB file that can be opened for reading.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(*_duckdb_files(source.location))
        self._connection = _attached(source.location)
        try:
            self._schema, self._table = _find_duckdb(self._connection, source)
            self._fields = self._found()
        except BaseException:
            self.close()
            raise

    @property
    def fields(self) -> tuple[Field, ...]:
        """The table's columns."""
        return self._fields

    def close(self) -> None:
        """Detach the file."""
        self._connection.close()

    def _found(self) -> tuple[Field, ...]:
        """The columns: their names and nullability from the catalogue, their types as Arrow has them."""
        with _duckdb_damage_reported(self.location):
            rows = self._connection.execute(
                "SELECT column_name, data_type, is_nullable FROM duckdb_columns() WHERE database_name = ? "
                "AND schema_name = ? AND table_name = ? ORDER BY column_index",
                [_ATTACHED, self._schema, self._table],
            ).fetchall()
        names = column_names([name for name, _, _ in rows], self.location)
        self._written = dict(zip(names, ((name, kind) for name, kind, _ in rows), strict=True))
        return tuple(
            Field(
                name=name,
                type=self._type(name),
                untyped=kind in _NUMBERS,
                number=Kind.INTEGER if kind in _NUMBERS else None,
                required=not nullable,
            )
            for name, (_, kind, nullable) in zip(names, rows, strict=True)
        )

    def _type(self, name: str) -> pa.DataType:
        """The type in which a column is handed out."""
        written, kind = self._written[name]
        if kind in _NUMBERS | _TEXTS:
            return pa.string()
        try:
            schema = _reader(self._connection.sql(f"SELECT {quoted(written)} FROM {self._from} LIMIT 0")).schema
        except (duckdb.Error, pa.ArrowException):
            return pa.opaque(pa.null(), kind.partition("(")[0], "duckdb")  # what stands within may be a category
        made = delivered(schema.field(0).type)
        return pa.timestamp(made.unit, "UTC") if pa.types.is_timestamp(made) and made.tz is not None else made

    @property
    def _from(self) -> str:
        """The table in SQL."""
        return f"{_ATTACHED}.{quoted(self._schema)}.{quoted(self._table)}"

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, as DuckDB streams them."""
        columns = []
        for number, each in enumerate(chosen):
            written, kind = self._written[each.name]
            as_text = kind in _NUMBERS | _TEXTS
            columns.append(f"{f'CAST({quoted(written)} AS VARCHAR)' if as_text else quoted(written)} AS c{number}")
        with _duckdb_damage_reported(self.location):
            reader = _reader(self._connection.sql(f"SELECT {', '.join(columns)} FROM {self._from}"))
            for batch in reader:
                for piece in slices(batch):
                    yield self._batch(piece, chosen)

    def _batch(self, batch: pa.RecordBatch, chosen: list[Field]) -> pa.RecordBatch:
        """The columns as they are handed out."""
        made = []
        for each, column in zip(chosen, batch.columns, strict=True):
            array, wrong = deliver(column, each.type)
            if wrong:
                self.unreadable[each.name] += wrong
            made.append(array if array.type == each.type else array.cast(each.type))  # the zone, by another name
        return pa.RecordBatch.from_arrays(made, [each.name for each in chosen])


def duckdb_tables(path: str) -> list[str]:
    """The names of the tables in a DuckDB file; those outside its main schema with their schema's name.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it isn't a DuckDB file that can be opened for reading.
    """
    identity_of(*_duckdb_files(path))
    connection = _attached(path)
    try:
        return [_shown(*each) for each in _duckdb_names(connection)]
    finally:
        connection.close()


def _duckdb_files(location: str) -> tuple[str, str]:
    """The paths of a database file and its log."""
    return location, f"{location}.wal"


def _attached(location: str) -> Any:  # noqa: ANN401 — DuckDB hands out no types of its own
    """A connection that can read the file, and nothing else."""
    connection = duckdb.connect(":memory:", config=SHUT_OFF)
    path = str(Path(location).resolve()).replace("'", "''")
    try:
        connection.execute(f"ATTACH '{path}' AS {_ATTACHED} (READ_ONLY)")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    except (duckdb.Error, OSError):
        connection.close()
        connection = None
    if connection is None:  # raised here, outside the handler, so that DuckDB's own words aren't chained to it
        raise SourceUnsupported(
            f"{location!r} can't be opened as a DuckDB database",
            hint="it has another format or version, is damaged, or is open elsewhere for writing",
        )
    return connection


@contextmanager
def _duckdb_damage_reported(location: str) -> Iterator[None]:
    """Say of a damaged file that it is, without DuckDB's words: they may quote a cell."""
    is_damaged = False
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeDecodeError):
        is_damaged = True
    if is_damaged:
        raise SourceUnsupported(f"the file {location!r} is damaged", hint="export it again from its own source")


def _reader(relation: Any) -> pa.RecordBatchReader:  # noqa: ANN401 — DuckDB hands out no types of its own
    """A stream of what a query finds; the method's name changed with DuckDB's version."""
    method = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return method(MOST_ROWS)


def _duckdb_names(connection: Any) -> list[tuple[str, str]]:  # noqa: ANN401 — as above
    """The schemas and names of the file's tables."""
    query = "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY ALL"
    return [(schema, table) for schema, table in connection.execute(query, [_ATTACHED]).fetchall()]


def _find_duckdb(connection: Any, source: Source) -> tuple[str, str]:  # noqa: ANN401 — as above
    """The schema and name of the table that is meant; the only one, if none is named."""
    tables = _duckdb_names(connection)
    wanted = source.table
    schema, _, table_name = (wanted or "").rpartition(".")
    meant = {(schema or "main", table_name), ("main", wanted)}
    matching = [table for table in tables if wanted is None or table in meant]
    return only(matching, source, "database", "table", [_shown(*each) for each in tables])


def _shown(schema: str, table: str) -> str:
    """A table's name; outside of the main schema with that one's."""
    return table if schema == "main" else f"{schema}.{table}"
