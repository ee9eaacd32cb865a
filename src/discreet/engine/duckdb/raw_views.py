"""Tables without rows, in the place of raw views, and lists of keys beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from discreet.duckdb.session import Connection
from discreet.duckdb.sql_text import SQL_TYPES, name
from discreet.engine.interface import GREATEST, LEAST
from discreet.privacy import KeyValue
from discreet.tables import Kind, Table
from discreet.tables.admission import RawView, RawViews

_CODES = (("UTINYINT", 2**8), ("USMALLINT", 2**16), ("UINTEGER", 2**32))
_INT64 = range(LEAST, GREATEST + 1)


def without_rows(session: Connection, tables: Sequence[Table], noted: Mapping[str, Kind]) -> RawViews:
    """The same tables without rows: a function of what is declared, for which no snapshot is opened.

    Args:
        session: that is locked, within a transaction.
        tables: that a question reads.
        noted: of which kind the ids are that stand beside the rows, by the names in lower case of tables with notes.
    """
    found = {}
    for number, table in enumerate(tables):
        view, ids = f"raw{number}", noted.get(table.name.casefold())
        called = [column.name if ids is None else f"c{place}" for place, column in enumerate(table.columns)]
        held = dict(zip(called, (SQL_TYPES[column.kind] for column in table.columns), strict=True))
        if ids is not None:
            held |= {"u0": SQL_TYPES[ids], "u1": "TIMESTAMP", "code": "UINTEGER", "size": "UINTEGER"}
        columns = ", ".join(f"{name(column)} {sql_type}" for column, sql_type in held.items())
        session.execute(f"CREATE TEMP TABLE {view} ({columns})")
        names = zip((column.name.casefold() for column in table.columns), called, strict=True)
        found[table.name.casefold()] = RawView(view, dict(names), is_noted=ids is not None, rows=0)
    return found


def list_keys(session: Connection, table: str, kind: Kind, values: Iterable[tuple[int, KeyValue]]) -> None:
    """Create a table of public values `v` and their numbers `i`. Values enter as parameters, not as SQL.

    Args:
        session: where.
        table: the new table's name.
        kind: of the values.
        values: each with its number; None for NULL.
    """
    # No column can hold an integer beyond 64 bits, so such a key has no rows.
    rows = [(number, value) for number, value in values if not isinstance(value, int) or value in _INT64]
    code = next(name for name, size in _CODES if all(number < size for number, _ in rows))
    session.execute(f"CREATE TEMP TABLE {table} (i {code}, v {SQL_TYPES[kind]})")
    if rows:
        numbers, keys = map(list, zip(*rows, strict=True))
        session.execute(f"INSERT INTO {table} SELECT unnest(?), unnest(?)", [numbers, keys])
