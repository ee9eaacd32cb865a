"""The catalogue of a PostgreSQL database: its tables, their columns and what these hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from discreet.duckdb.sql_text import name as quoted
from discreet.tables.schema.column import Kind
from discreet.tables.schema.database_schema import DatabaseSchema, ForeignKey
from discreet.tables.sources.postgres_transaction import Transaction
from discreet.tables.sources.reader import Field, column_names

SCHEMA = "public"
"""The schema of tables that are named without one."""

_AS_IT_IS, _TEXT = "{}", "{}::pg_catalog.text"
_READ: Mapping[str, tuple[pa.DataType, str]] = {
    "bool": (pa.bool_(), _AS_IT_IS),
    "int2": (pa.int16(), _AS_IT_IS),
    "int4": (pa.int32(), _AS_IT_IS),
    "int8": (pa.int64(), _AS_IT_IS),
    "oid": (pa.int64(), "{}::pg_catalog.int8"),
    "float4": (pa.float32(), _AS_IT_IS),
    "float8": (pa.float64(), _AS_IT_IS),
    "text": (pa.string(), _AS_IT_IS),
    "varchar": (pa.string(), _AS_IT_IS),
    "bpchar": (pa.string(), _TEXT),  # blanks at its end mean nothing, and go with the cast
    "name": (pa.string(), _AS_IT_IS),
    "citext": (pa.string(), _TEXT),
    "enum": (pa.string(), _TEXT),
    "uuid": (pa.string(), _TEXT),
    "date": (pa.date32(), _AS_IT_IS),
    "timestamp": (pa.timestamp("us"), _AS_IT_IS),
    "timestamptz": (pa.timestamp("us", "UTC"), _AS_IT_IS),
}
"""PostgreSQL's types that are read, numbers of any precision apart: the type in which, and what is selected."""
_MOST_SHORT, _MOST_DIGITS = 38, 76
"""Digits of Arrow's decimals."""
_HEADER = 4
"""By which PostgreSQL's number for digits and places is greater than both."""

_FIXES = {
    "array": "make rows of its elements in a view: SELECT …, unnest({}) AS …",
    "json": "make columns of its members in a view: ({}->>'…')::int AS …",
    "jsonb": "make columns of its members in a view: ({}->>'…')::int AS …",
    "money": "make a number of it in a view: {}::numeric",
    "time": "make seconds of it in a view: extract(epoch FROM {})",
    "interval": "make seconds of it in a view: extract(epoch FROM {})",
    "bytea": "leave it out, or write it as a text in a view: encode({}, 'hex')",
}
_FIX = "make a text or a number of it in a view: {}::text"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresTable:
    """A table or view.

    Args:
        oid: its number.
        schema: that it is in.
        name: of it.
        readable: whether this role may read any of its columns.
        is_part: whether it is a partition of another table.
        is_foreign: whether its rows are on another server.
    """

    oid: int
    schema: str
    name: str
    readable: bool
    is_part: bool
    is_foreign: bool

    @property
    def is_listed(self) -> bool:
        """Whether it may be meant where no table is named."""
        return self.readable and not self.is_part and not self.is_foreign

    @property
    def shown(self) -> str:
        """Its name; outside of `public` with its schema's."""
        return _shown(self.schema, self.name)

    @property
    def sql(self) -> str:
        """Its name in SQL."""
        return f"{quoted(self.schema)}.{quoted(self.name)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresColumn:
    """A column of a table.

    Args:
        field: as which it is handed out.
        sql: what to select for it.
    """

    field: Field
    sql: str


_TABLES = """
SELECT c.oid::int8, n.nspname, c.relname, c.relispartition, c.relkind = 'f',
    pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
ORDER BY n.nspname <> 'public', n.nspname, c.relname
"""

_BELOW = """
WITH RECURSIVE below(oid) AS (
    SELECT {oid}::pg_catalog.oid
  UNION
    SELECT part.oid FROM below, LATERAL (
        SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = below.oid
      UNION ALL
        SELECT d.refobjid
        FROM pg_catalog.pg_class v
        JOIN pg_catalog.pg_rewrite r ON r.ev_class = v.oid
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
        WHERE v.oid = below.oid AND v.relkind = 'v' AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    ) AS part(oid)
)
"""
"""A table, its parts, and what a view reads."""

_FOREIGN = f"""{_BELOW}
SELECT c.relname FROM below JOIN pg_catalog.pg_class c ON c.oid = below.oid WHERE c.relkind = 'f' ORDER BY c.relname
"""

# A query sees rows of the catalogue as of its snapshot; these functions tell what is there now.
_REPLACED = f"""{_BELOW}
SELECT count(*)::int8 FROM below JOIN pg_catalog.pg_class c ON c.oid = below.oid
WHERE c.relkind IN ('r', 'm') AND c.relfilenode IS DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid)
    OR c.relkind = 'p' AND ARRAY(SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = c.oid ORDER BY 1)
        <> ARRAY(SELECT relid::oid FROM pg_catalog.pg_partition_tree(c.oid) WHERE level = 1 ORDER BY 1)
"""

_COLUMNS = """
WITH RECURSIVE plain AS (
    SELECT a.attnum, a.attname, a.attnotnull, a.attcollation, a.atttypid AS type, a.atttypmod AS modifier
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
    SELECT p.attnum, p.attname, p.attnotnull, p.attcollation, t.typbasetype, t.typtypmod
    FROM plain p JOIN pg_catalog.pg_type t ON t.oid = p.type WHERE t.typtype = 'd'
)
SELECT p.attname, p.attnotnull,
    CASE WHEN t.typtype = 'e' THEN 'enum' WHEN t.typcategory = 'A' THEN 'array'
        WHEN t.typtype = 'b' AND (n.nspname = 'pg_catalog' OR t.typname = 'citext') THEN t.typname::text ELSE '' END,
    p.modifier, pg_catalog.format_type(t.oid, NULL), coalesce(c.collisdeterministic, true),
    pg_catalog.has_column_privilege({oid}::pg_catalog.oid, p.attnum, 'SELECT')
FROM plain p
JOIN pg_catalog.pg_type t ON t.oid = p.type
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_collation c ON c.oid = p.attcollation
WHERE t.typtype <> 'd' ORDER BY p.attnum
"""


_LINKS = """
SELECT a.attname, n.nspname, c.relname, there.attname
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
JOIN pg_catalog.pg_class c ON c.oid = k.confrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute there ON there.attrelid = k.confrelid AND there.attnum = k.confkey[1]
WHERE k.contype = 'f' AND k.conrelid = {oid} AND pg_catalog.cardinality(k.conkey) = 1
ORDER BY a.attnum, k.conname
"""

_KEYS = """
WITH RECURSIVE plain AS (
    SELECT a.attnum, a.attname, a.atttypid AS type
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
    SELECT p.attnum, p.attname, t.typbasetype FROM plain p JOIN pg_catalog.pg_type t ON t.oid = p.type
    WHERE t.typtype = 'd'
)
SELECT p.attname, e.enumlabel FROM plain p JOIN pg_catalog.pg_enum e ON e.enumtypid = p.type
ORDER BY p.attnum, e.enumsortorder
"""

_COMMENTS = """
SELECT a.attname, d.description
FROM pg_catalog.pg_description d
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.objoid AND a.attnum = d.objsubid AND a.attnum > 0
WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objoid = {oid} ORDER BY d.objsubid
"""


def schema_of(transaction: Transaction, table: PostgresTable) -> DatabaseSchema:
    """What the database declares of a table beyond the types of its columns."""
    keys: dict[str, list[str]] = {}
    for column, member in transaction.rows(_KEYS.format(oid=table.oid)):
        keys.setdefault(column, []).append(member)
    comments = {column: " ".join(words.split()) for column, words in transaction.rows(_COMMENTS.format(oid=table.oid))}
    return DatabaseSchema(
        links=tuple(
            ForeignKey(column=column, table=_shown(schema, name), to=to)
            for column, schema, name, to in transaction.rows(_LINKS.format(oid=table.oid))
        ),
        keys={column: tuple(members) for column, members in keys.items()},
        comments={column: words for column, words in comments.items() if column is not None},
        comment=comments.get(None, ""),
    )


def _shown(schema: str, name: str) -> str:
    """A table's name; outside of `public` with its schema's."""
    return name if schema == SCHEMA else f"{schema}.{name}"


def tables_of(transaction: Transaction) -> list[PostgresTable]:
    """The tables and views of a database, but for PostgreSQL's own."""
    return [
        PostgresTable(oid=oid, schema=schema, name=name, readable=readable, is_part=is_part, is_foreign=is_foreign)
        for oid, schema, name, is_part, is_foreign, readable in transaction.rows(_TABLES)
    ]


def foreign_below(transaction: Transaction, table: PostgresTable) -> list[str]:
    """The tables on other servers that are parts of a table, or that a view reads; a materialized one reads none."""
    return [name for (name,) in transaction.rows(_FOREIGN.format(oid=table.oid))]


def is_replaced(transaction: Transaction, table: PostgresTable) -> bool:
    """Whether a table that was read isn't what it was at the transaction's moment: truncated, or of other parts.

    Those are the changes that no snapshot undoes: what was read of such a table may be nothing at all. From its first
    row on, a lock keeps others from making them.
    """
    ((replaced,),) = transaction.rows(_REPLACED.format(oid=table.oid))
    return bool(replaced)


def hides_rows(transaction: Transaction, table: PostgresTable) -> bool:
    """Whether row security hides rows of a table from this role."""
    ((hides,),) = transaction.rows(f"SELECT pg_catalog.row_security_active({table.oid}::pg_catalog.oid)")
    return bool(hides)


def columns_of(transaction: Transaction, table: PostgresTable) -> tuple[PostgresColumn, ...]:
    """The columns of a table, in its order; a domain's are those of the type beneath it.

    Raises:
        SourceUnsupported: two of them have one name but for case, or there are none.
    """
    found = [_Found(*row) for row in transaction.rows(_COLUMNS.format(oid=table.oid))]
    names = column_names([each.name for each in found], f"{transaction.location} {table.shown}")
    return tuple(_column(name, each, table) for name, each in zip(names, found, strict=True))


class _Found(NamedTuple):
    """What the catalogue says of a column.

    Args:
        name: as it is written there.
        required: whether it is NOT NULL.
        type: its name, if it is one of PostgreSQL's own, or citext; else `enum`, `array` or nothing.
        modifier: of the type: digits and places.
        shown: the type's full name.
        is_exact: whether texts are equal only if they are written alike.
        readable: whether this role may read it.
    """

    name: str
    required: bool
    type: str
    modifier: int
    shown: str
    is_exact: bool
    readable: bool


def _column(name: str, found: _Found, table: PostgresTable) -> PostgresColumn:
    """How a column is handed out; one of a type that isn't known here is refused when it is wanted."""
    column = quoted(found.name)
    if not found.readable:
        grant = f"GRANT SELECT ({column}) ON {table.sql} TO the role, or leave it out"
        field = Field(name=name, type=pa.opaque(pa.null(), "what this role may not read", "PostgreSQL"), fix=grant)
        return PostgresColumn(field=field, sql=column)
    if found.type == "numeric":  # as texts: the server writes them in a third of the driver's time
        kind = _decimal(found.modifier)
        if kind is not None:
            return PostgresColumn(field=Field(name=name, type=kind), sql=_TEXT.format(column))
        # 1.0 and 1.00 are equal there, so they must be one text here: one id.
        field = Field(name=name, type=pa.string(), untyped=True, number=Kind.REAL)
        return PostgresColumn(field=field, sql=_TEXT.format(f"pg_catalog.trim_scale({column})"))
    if found.type in _READ:
        kind, sql = _READ[found.type]
        merges, fix = ("", "") if found.is_exact else ("a collation that isn't deterministic", 'lower({}) COLLATE "C"')
        if found.type == "citext":
            merges, fix = "citext", "lower({}::text)"
        field = Field(name=name, type=kind, required=found.required, merges=merges, fix=fix.format(column))
        return PostgresColumn(field=field, sql=sql.format(column))
    fix = _FIXES.get(found.type.removesuffix("tz"), _FIX).format(column)
    field = Field(name=name, type=pa.opaque(pa.null(), found.shown, "PostgreSQL"), fix=fix)
    return PostgresColumn(field=field, sql=column)


def _decimal(modifier: int) -> pa.DataType | None:
    """Arrow's type of a number of declared digits; None if they aren't declared, or too many."""
    if modifier < _HEADER:
        return None
    digits = ((modifier - _HEADER) >> 16) & 0xFFFF
    places = (((modifier - _HEADER) & 0x7FF) ^ 1024) - 1024
    digits, places = (digits - places, 0) if places < 0 else (max(digits, places), places)
    if digits > _MOST_DIGITS:
        return None
    return (pa.decimal128 if digits <= _MOST_SHORT else pa.decimal256)(digits, places)
