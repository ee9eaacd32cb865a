"""What tables a DuckDB file has."""

from __future__ import annotations

from contextlib import suppress

from discreet.engine.session import Session
from discreet.engine.text import name, string
from discreet.errors import SourceMissing, SourceUnsupported


def attach(session: Session, path: str, database: str) -> None:
    """Attach a database file for reading: as long as it is, DuckDB lets no process write to it.

    Args:
        session: in which it becomes readable.
        path: of the file.
        database: what to call it there.
    """
    session.execute(f"ATTACH {string(path)} AS {name(database)} (READ_ONLY)")


def tables_in(path: str) -> list[str]:
    """The names of the tables in a database file; those outside its main schema with their schema's name.

    Raises:
        SourceUnsupported: it isn't a DuckDB file that can be opened for reading.
        EngineUnavailable: DuckDB can't be started.

    Examples:
        >>> tables_in("/dev/null")
        Traceback (most recent call last):
            ...
        discreet.errors.SourceUnsupported: '/dev/null' can't be opened as a DuckDB database (...)
    """
    import duckdb

    found = None
    with Session() as session, suppress(duckdb.Error, OSError):
        attach(session, path, "private")
        found = [table if schema == "main" else f"{schema}.{table}" for schema, table in _tables(session, "private")]
    if found is None:  # raised here, outside the handler, so that DuckDB's own words aren't chained to it
        raise SourceUnsupported(
            f"{path!r} can't be opened as a DuckDB database",
            hint="it is of another format or version, or open elsewhere for writing",
        )
    return found


def find_table(session: Session, database: str, path: str, wanted: str | None) -> tuple[str, str]:
    """The schema and name of a table of an attached file; the only one, if none is named.

    Args:
        session: in which the file is attached.
        database: what it is called there.
        path: what to call it in an error.
        wanted: the table's name, with its schema's if that isn't the main one.

    Raises:
        SourceMissing: there is no such table, or several where one should be.
    """
    tables = _tables(session, database)
    schema, _, table_name = (wanted or "").rpartition(".")
    meant = {(schema or "main", table_name), ("main", wanted)}
    matching = [table for table in tables if wanted is None or table in meant]
    if len(matching) != 1:
        named = ", ".join(table if schema == "main" else f"{schema}.{table}" for schema, table in tables)
        problem = f"no table {wanted!r}" if wanted is not None else f"{len(tables)} tables, and none is named"
        raise SourceMissing(f"the database {path!r} has {problem}", hint=f"it has {named}" if tables else "")
    return matching[0]


def _tables(session: Session, database: str) -> list[tuple[str, str]]:
    """The schemas and names of an attached file's tables."""
    rows = session.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY ALL", [database]
    )
    return [(schema, table) for schema, table in rows]
