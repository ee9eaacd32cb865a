"""Tables and views of PostgreSQL databases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import SourceUnsupported
from discreet.tables.schema.database_schema import DatabaseSchema
from discreet.tables.schema.source import Source
from discreet.tables.sources.arrow import deliver, delivered, slices
from discreet.tables.sources.at_one_moment import transaction_on
from discreet.tables.sources.postgres_catalogue import (
    SCHEMA,
    PostgresTable,
    columns_of,
    foreign_below,
    hides_rows,
    is_replaced,
    schema_of,
    tables_of,
)
from discreet.tables.sources.postgres_transaction import Transaction
from discreet.tables.sources.reader import Field, OpenSource, only

_NO_NUMBERS = pa.array(["NaN", "Infinity", "-Infinity"])
"""What a number of any precision may be without being one, as the server writes it."""


class OpenPostgres(OpenSource):
    """A table or view of a PostgreSQL database.

    Guarantee: nothing is written. All passes see the database as it stood when it was opened; tables that are opened
    `at_one_moment` see it as it stood when the first of them was. Texts come without their collation.

    Raises:
        ExtraMissing: the driver isn't installed.
        SourceMissing: there is no such table that this role may read, or several and none is named.
        SourceUnsupported: there is no connection to be had; or rows are hidden from this role, or on another server.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source.location)
        self._transaction, self._is_own = transaction_on(source.location)
        try:
            self._table = _found(self._transaction, source)
            self._columns = {each.field.name: each for each in columns_of(self._transaction, self._table)}
        except BaseException:
            self.close()
            raise

    @property
    def fields(self) -> tuple[Field, ...]:
        """The table's columns."""
        return tuple(each.field for each in self._columns.values())

    @property
    def identity(self) -> str:
        """A digest of the database, the table, and the moment."""
        opened = self._transaction
        return hashlib.sha256(f"{opened.database} {opened.snapshot} {self._table.oid}".encode()).hexdigest()

    def is_unchanged(self) -> bool:
        """Whether it is what it was: others' writes aren't seen, but that it was truncated before it was read is."""
        return not is_replaced(self._transaction, self._table)

    def close(self) -> None:
        """End the transaction, if no other table is read in it."""
        if self._is_own:
            self._transaction.close()

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, as the server streams them."""
        columns = ", ".join(f"{self._columns[each.name].sql} AS c{number}" for number, each in enumerate(chosen))
        query = f"SELECT {columns} FROM {self._table.sql}"
        for batch in self._transaction.batches(query, self._table.shown):
            for piece in slices(batch):
                made = [self._made(each, column) for each, column in zip(chosen, piece.columns, strict=True)]
                yield pa.RecordBatch.from_arrays(made, [each.name for each in chosen])

    def _made(self, field: Field, column: pa.Array) -> pa.Array:
        """A column as it is handed out."""
        is_number = field.number is not None or pa.types.is_decimal(field.type)
        array, wrong = numbers(column, field.type) if is_number else deliver(column, delivered(column.type))
        if array.type != field.type:
            raise SourceUnsupported(
                f"{self._table.shown!r} in {self.location!r} was changed while it was being read", hint="admit it again"
            )
        if wrong:
            self.unreadable[field.name] += wrong
        return array


def numbers(texts: pa.Array, into: pa.DataType) -> tuple[pa.Array, int]:
    """Numbers of any precision that came as texts, and how many of them aren't any: NULL, for these say nothing.

    Args:
        texts: as the server writes them.
        into: decimals, which all of them fit into by the schema; or texts.

    Examples:
        >>> numbers(pa.array(["1.5", "NaN", None]), pa.decimal128(9, 2))[0].to_pylist()
        [Decimal('1.50'), None, None]
    """
    no_numbers = pc.is_in(texts, value_set=_NO_NUMBERS)
    wrong = pc.sum(no_numbers).as_py() or 0
    said = pc.if_else(no_numbers, pa.scalar(None, pa.string()), texts) if wrong else texts
    with suppress(pa.ArrowInvalid):  # of a view that doesn't keep to its own type; no text of it is quoted
        if not _may_overflow(said, into):
            return said.cast(into), wrong
    fitting = [None if each is None else _fitting(each, into) for each in said.to_pylist()]
    made = pa.array(fitting, pa.string()).cast(into)
    return made, wrong + made.null_count - said.null_count


def _may_overflow(texts: pa.Array, into: pa.DataType) -> bool:
    """Whether a number may be too long for Arrow, which makes another one of it then, and says nothing."""
    room = {16: 38, 32: 76}[into.byte_width] - into.scale if pa.types.is_decimal(into) else None
    return room is not None and (pc.max(pc.binary_length(texts)).as_py() or 0) > room


def _fitting(text: str, into: pa.DataType) -> str | None:
    """A number as a decimal type has it, or None; no error quotes it, however many digits it has."""
    whole, _, places = text.partition(".")
    scale = max(0, into.scale)
    is_wide = len(whole.lstrip("-0")) > into.precision - into.scale
    if is_wide or places[scale:].strip("0") or whole[len(whole) + min(0, into.scale) :].strip("0"):
        return None
    return f"{whole}.{places[:scale]}" if scale else whole


def postgres_tables(location: str) -> list[str]:
    """The names of the tables and views that this role may read; those outside of `public` with their schema's.

    Raises:
        SourceError: the database can't be opened.
    """
    transaction, is_own = transaction_on(location)
    try:
        return _listed(tables_of(transaction))
    finally:
        if is_own:
            transaction.close()


def postgres_schema(source: Source) -> DatabaseSchema:
    """What a database declares of a table beyond the types of its columns.

    Raises:
        SourceError: it can't be opened.
    """
    transaction, is_own = transaction_on(source.location)
    try:
        return schema_of(transaction, _found(transaction, source))
    finally:
        if is_own:
            transaction.close()


def _listed(tables: Sequence[PostgresTable]) -> list[str]:
    return [each.shown for each in tables if each.is_listed]


def _found(transaction: Transaction, source: Source) -> PostgresTable:
    """The table that is meant, which can be read: the only one, if none is named."""
    tables = tables_of(transaction)
    if source.table is None:
        matching = [each for each in tables if each.is_listed]
    else:
        schema, _, name = source.table.rpartition(".")
        meant = {(schema or SCHEMA, name), (SCHEMA, source.table)}
        matching = [each for each in tables if (each.schema, each.name) in meant]
    table = only(matching, source, "database", "table", _listed(tables))
    if not table.readable:
        raise SourceUnsupported(
            f"this role may read nothing of {table.shown!r} in {source.location!r}",
            hint=f"GRANT SELECT ON {table.sql} TO the role, and USAGE ON SCHEMA {table.schema}",
        )
    if there := foreign_below(transaction, table):
        raise SourceUnsupported(
            f"rows of {table.shown!r} in {source.location!r} lie on another server, as those of {there[0]!r} do, and "
            "no snapshot is of one moment there and here",
            hint="read it from there, or copy it: CREATE MATERIALIZED VIEW … AS SELECT …",
        )
    if hides_rows(transaction, table):
        raise SourceUnsupported(
            f"row security hides rows of {table.shown!r} in {source.location!r} from this role",
            hint="let it see all (BYPASSRLS), or give it a view of the rows that are meant",
        )
    return table
