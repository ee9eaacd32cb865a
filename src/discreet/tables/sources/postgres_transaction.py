"""Transactions on a PostgreSQL server that only read, and see all of a database as it stood at one moment.

One connection reads one table after the other. Several at once, each with a range of pages, aren't faster where two
cores are all there is: one keeps both busy, its own and the server's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from discreet.errors import ExtraMissing, SourceUnsupported
from discreet.printable import printable
from discreet.tables.schema.database_url import DatabaseUrl

_BEGIN = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_SETTINGS = {
    "row_security": "off",  # PostgreSQL then refuses to read a table of which this role would see a part of the rows
    "search_path": "",
    "TimeZone": "UTC",
    "synchronize_seqscans": "off",  # rows come in the same order each time
    "client_min_messages": "error",  # others go to standard error, and a view's may quote a row
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "transaction_timeout": "0",
}
"""As `pg_dump` sets them, for a transaction that takes as long as all rows do; those that this server knows."""
_UNKNOWN = "SQL_ASCII"
"""The encoding of a database that was made without a locale: it holds any bytes."""
_BATCH = 1 << 22
"""Bytes of rows in a batch: of small ones, the first is worked on while the server still writes the others."""
_LONGEST = 300
"""Characters of a server's words that are shown, at most."""


class Transaction:
    """A database as it stands at one moment, for as long as it is open.

    Guarantee: nothing is written. PostgreSQL's own words are passed on about connecting and its catalogue, never about
    rows.

    Args:
        location: the database's URL.
        beside: others that see what this one is to see, if they are in the same database.

    Raises:
        ExtraMissing: the driver isn't installed.
        SourceUnsupported: there is no connection to be had.
    """

    def __init__(self, location: str, beside: Sequence[Transaction] = ()) -> None:
        self.location = location
        conninfo = DatabaseUrl.read(location).conninfo()
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise ExtraMissing(
                "reading from PostgreSQL needs adbc-driver-postgresql", hint='pip install "discreet[postgres]"'
            ) from None
        self._error = dbapi.Error
        words = None
        try:
            self._connection = dbapi.connect(conninfo, autocommit=True)
        except dbapi.Error as error:
            words = _first(error)
        if words is not None:
            raise SourceUnsupported(
                f"the database {location!r} can't be reached: {words}",
                hint="does it run, and may this role connect? A password is looked for in ~/.pgpass, PGPASSWORD and "
                "the service file; sslrootcert names the authority that vouches for a server on another machine",
            )
        try:
            self._begin(beside)
        except BaseException:
            self.close()
            raise

    def _begin(self, beside: Sequence[Transaction]) -> None:
        """Take the snapshot, or the one of another transaction in the same database."""
        ((started, database),) = self.rows(
            "SELECT pg_catalog.pg_postmaster_start_time()::text, oid::int8 FROM pg_catalog.pg_database "
            "WHERE datname = pg_catalog.current_database()"
        )
        self.database = f"{started} {database}"
        same = next((each for each in beside if each.database == self.database), None)
        shared = None if same is None else same.rows("SELECT pg_catalog.pg_export_snapshot()")[0][0]
        self._execute(_BEGIN)
        if shared is not None:
            self._execute(f"SET TRANSACTION SNAPSHOT '{shared}'")
        listed = ", ".join(f"('{name}', '{value}')" for name, value in _SETTINGS.items())
        ((self.snapshot, encoding, *_),) = self.rows(
            "SELECT pg_catalog.pg_current_snapshot()::text, pg_catalog.current_setting('server_encoding'), "
            f"(SELECT count(pg_catalog.set_config(name, value, true)) FROM (VALUES {listed}) AS ours(name, value) "
            "WHERE name IN (SELECT name FROM pg_catalog.pg_settings))"
        )
        if encoding == _UNKNOWN:  # else a text with a wrong byte in it would end the reading
            self._execute(f"SET LOCAL client_encoding = '{_UNKNOWN}'")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query of the catalogue finds.

        Raises:
            SourceUnsupported: it can't be asked.
        """
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(query)
                found: list[tuple[Any, ...]] = cursor.fetchall()
        except (self._error, OSError, pa.ArrowException) as error:
            words = _first(error)
        else:
            return found
        raise SourceUnsupported(
            f"the catalogue of {self.location!r} can't be read: {words}", hint="PostgreSQL 13 and newer are supported"
        )

    def batches(self, query: str, table: str) -> Iterator[pa.RecordBatch]:
        """The rows that a query finds.

        Args:
            query: of the table.
            table: what to call it in an error.

        Raises:
            SourceUnsupported: they can't be read to their end; what was read is no table.
        """
        is_refused = is_broken = False
        try:
            with self._connection.cursor() as cursor:
                cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(_BATCH)})
                cursor.execute(query)
                yield from cursor.fetch_record_batch()
        except (self._error, OSError, pa.ArrowException) as error:
            is_refused = getattr(error, "sqlstate", None) == _NO_PRIVILEGE
            is_broken = True
        if is_broken:  # raised outside the handler, so that the server's words, which may quote a row, aren't chained
            raise self._broken(table, is_refused=is_refused)

    def _broken(self, table: str, *, is_refused: bool) -> SourceUnsupported:
        """The error for rows that couldn't be read to their end."""
        if is_refused:
            return SourceUnsupported(
                f"this role may not read all rows of {table!r} in {self.location!r}",
                hint="GRANT SELECT ON the table TO it; where row security hides rows, let it BYPASSRLS, or read a view",
            )
        if self._is_alive():
            return SourceUnsupported(
                f"PostgreSQL couldn't go on reading {table!r} in {self.location!r}",
                hint="a view fails on some row, the query was cancelled, or a page is damaged: the server's log says "
                "which",
            )
        return SourceUnsupported(
            f"the connection to {self.location!r} was lost while {table!r} was being read", hint="admit it again"
        )

    def _is_alive(self) -> bool:
        """Whether the server still answers, if only that this transaction failed."""
        try:
            self._execute("SELECT 1")
        except self._error as error:
            return bool(error.sqlstate == _FAILED)
        return True

    def _execute(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def close(self) -> None:
        """End it."""
        with suppress(self._error):  # a table that was left in its middle; nothing is to be saved
            self._connection.close()


_NO_PRIVILEGE, _FAILED = "42501", "25P02"
"""PostgreSQL's codes of errors."""


def _first(error: Exception) -> str:
    """The first line of what a server said, or libpq."""
    line = str(error).strip().partition("\n")[0]
    return printable(line.removeprefix("IO: [libpq] Failed to connect: "))[:_LONGEST]
