"""Tables of DuckDB files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.arrays import MOST_ROWS, deliver, delivered, slices
from discreet.tables.sources.files import identity_of
from discreet.tables.sources.names import column_names
from discreet.tables.sources.opened import Field, OpenSource

_SETTINGS = {
    "autoinstall_known_extensions": "false",  # nothing is fetched,
    "autoload_known_extensions": "false",  # nor loaded
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",  # nor read from the user's home
    "python_enable_replacements": "false",  # a table name never means a Python variable
}
_NUMBERS = frozenset({"HUGEINT", "UHUGEINT", "BIGNUM"})
"""Whole numbers beyond 64 bits come as texts: Arrow's decimals have 38 digits, and these have 39 and more."""
_TEXTS = frozenset({"UUID"})
_ATTACHED = "private"


class OpenDuckDB(OpenSource):
    """A table of a DuckDB file.

    Guarantee: nothing but the file is opened. Texts come without their collation, times with a zone as UTC. As long as
    it is open, DuckDB lets no process write to it.

    Raises:
        SourceMissing: there is no such file, no such table in it, or several and none is named.
        SourceUnsupported: it isn't a DuckDB file that can be opened for reading.
    """

    def __init__(self, source: Source) -> None:
        """Attach the file, and find the table's columns."""
        super().__init__(source.location)
        self._identity = _identity(source.location)
        self._connection = _attached(source.location)
        try:
            self._schema, self._table = _find(self._connection, source)
            self._fields = self._found()
        except BaseException:
            self.close()
            raise

    @property
    def fields(self) -> tuple[Field, ...]:
        """The table's columns."""
        return self._fields

    @property
    def identity(self) -> str:
        """A digest of the file, and of its log."""
        return self._identity

    def is_unchanged(self) -> bool:
        """Whether the file and its log are what they were."""
        try:
            return _identity(self.location) == self._identity
        except (SourceMissing, SourceUnsupported):
            return False

    def close(self) -> None:
        """Detach the file."""
        self._connection.close()

    def _found(self) -> tuple[Field, ...]:
        """The columns: their names and nullability from the catalogue, their types as Arrow has them."""
        with _damage_reported(self.location):
            rows = self._connection.execute(
                "SELECT column_name, data_type, is_nullable FROM duckdb_columns() WHERE database_name = ? "
                "AND schema_name = ? AND table_name = ? ORDER BY column_index",
                [_ATTACHED, self._schema, self._table],
            ).fetchall()
        names = column_names([name for name, _, _ in rows], self.location)
        self._written = dict(zip(names, ((name, kind) for name, kind, _ in rows), strict=True))
        return tuple(
            Field(name=name, type=self._type(name), untyped=kind in _NUMBERS, required=not nullable)
            for name, (_, kind, nullable) in zip(names, rows, strict=True)
        )

    def _type(self, name: str) -> pa.DataType:
        """The type in which a column is handed out."""
        written, kind = self._written[name]
        if kind in _NUMBERS | _TEXTS:
            return pa.string()
        try:
            schema = _reader(self._connection.sql(f"SELECT {_name(written)} FROM {self._from} LIMIT 0")).schema
        except (duckdb.Error, pa.ArrowException):
            return pa.opaque(pa.null(), kind.partition("(")[0], "duckdb")  # what stands within may be a category
        made = delivered(schema.field(0).type)
        return pa.timestamp(made.unit, "UTC") if pa.types.is_timestamp(made) and made.tz is not None else made

    @property
    def _from(self) -> str:
        """The table in SQL."""
        return f"{_ATTACHED}.{_name(self._schema)}.{_name(self._table)}"

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, as DuckDB streams them."""
        columns = []
        for number, each in enumerate(chosen):
            written, kind = self._written[each.name]
            as_text = kind in _NUMBERS | _TEXTS
            columns.append(f"{f'CAST({_name(written)} AS VARCHAR)' if as_text else _name(written)} AS c{number}")
        with _damage_reported(self.location):
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
    _identity(path)
    connection = _attached(path)
    try:
        return [_shown(*each) for each in _tables(connection)]
    finally:
        connection.close()


def _identity(location: str) -> str:
    """A digest of a file, and of its log."""
    return identity_of(location, f"{location}.wal")


def _attached(location: str) -> Any:  # noqa: ANN401 — DuckDB hands out no types of its own
    """A connection that can read the file, and nothing else."""
    connection = duckdb.connect(":memory:", config=_SETTINGS)
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
            hint="it is of another format or version, damaged, or open elsewhere for writing",
        )
    return connection


@contextmanager
def _damage_reported(location: str) -> Iterator[None]:
    """Say of a damaged file that it is, without DuckDB's words: they may quote a cell."""
    is_damaged = False
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeDecodeError):
        is_damaged = True
    if is_damaged:
        raise SourceUnsupported(f"the file {location!r} is damaged", hint="export it anew from its own source")


def _reader(relation: Any) -> pa.RecordBatchReader:  # noqa: ANN401 — DuckDB hands out no types of its own
    """A stream of what a query finds; the method's name changed with DuckDB's version."""
    method = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return method(MOST_ROWS)


def _tables(connection: Any) -> list[tuple[str, str]]:  # noqa: ANN401 — as above
    """The schemas and names of the file's tables."""
    query = "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY ALL"
    return [(schema, table) for schema, table in connection.execute(query, [_ATTACHED]).fetchall()]


def _find(connection: Any, source: Source) -> tuple[str, str]:  # noqa: ANN401 — as above
    """The schema and name of the table that is meant; the only one, if none is named."""
    tables = _tables(connection)
    wanted = source.table
    schema, _, table_name = (wanted or "").rpartition(".")
    meant = {(schema or "main", table_name), ("main", wanted)}
    matching = [table for table in tables if wanted is None or table in meant]
    if len(matching) != 1:
        problem = f"no table {wanted!r}" if wanted is not None else f"{len(tables)} tables, and none is named"
        named = ", ".join(_shown(*each) for each in tables)
        raise SourceMissing(f"the database {source.location!r} has {problem}", hint=f"it has {named}" if tables else "")
    return matching[0]


def _shown(schema: str, table: str) -> str:
    """A table's name; outside of the main schema with that one's."""
    return table if schema == "main" else f"{schema}.{table}"


def _name(text: str) -> str:
    """An identifier in SQL."""
    return '"' + text.replace('"', '""') + '"'
