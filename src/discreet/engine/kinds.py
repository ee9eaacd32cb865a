"""Which of discreet's kinds a DuckDB type is read as."""

from __future__ import annotations

import re

from discreet.tables import Kind

_KINDS = {
    "BOOLEAN": Kind.BOOLEAN,
    "TINYINT": Kind.INTEGER,
    "SMALLINT": Kind.INTEGER,
    "INTEGER": Kind.INTEGER,
    "BIGINT": Kind.INTEGER,
    "HUGEINT": Kind.INTEGER,
    "UTINYINT": Kind.INTEGER,
    "USMALLINT": Kind.INTEGER,
    "UINTEGER": Kind.INTEGER,
    "UBIGINT": Kind.INTEGER,
    "UHUGEINT": Kind.INTEGER,
    "FLOAT": Kind.REAL,
    "DOUBLE": Kind.REAL,
    "VARCHAR": Kind.TEXT,
    "UUID": Kind.TEXT,
    "JSON": Kind.TEXT,
    "DATE": Kind.DATE,
    "TIMESTAMP": Kind.TIMESTAMP,
    "TIMESTAMP_S": Kind.TIMESTAMP,
    "TIMESTAMP_MS": Kind.TIMESTAMP,
    "TIMESTAMP_NS": Kind.TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP,
    '"NULL"': Kind.TEXT,  # a column that is nothing but NULL
}

_WIDER = {(Kind.INTEGER, Kind.REAL), (Kind.DATE, Kind.TIMESTAMP)}
"""A source of the first kind may be declared as the second, since each of its values is one."""

_SQL = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}


def kind_of(sql_type: str) -> Kind | None:
    """The kind that a column of this type is read as; None if discreet doesn't compute with such values.

    A decimal without places is an integer: that is how some databases write their ids.

    Examples:
        >>> kind_of("DECIMAL(18,0)"), kind_of("DECIMAL(18,3)"), kind_of("BLOB")
        (<Kind.INTEGER: 'integer'>, <Kind.REAL: 'real'>, None)
    """
    if sql_type.endswith("]"):  # a list of anything, ENUM('a')[] and DECIMAL(9,2)[3] among them
        return None
    if decimal := re.fullmatch(r"DECIMAL\(\d+,\s*(\d+)\)", sql_type):
        return Kind.INTEGER if decimal[1] == "0" else Kind.REAL
    if sql_type.startswith("ENUM("):
        return Kind.TEXT
    return _KINDS.get(sql_type)


def readable_as(sql_type: str, kind: Kind) -> bool:
    """Whether a column of this type can be declared to be of this kind.

    Examples:
        >>> readable_as("INTEGER", Kind.REAL), readable_as("DOUBLE", Kind.INTEGER)
        (True, False)
    """
    found = kind_of(sql_type)
    return found is kind or (found, kind) in _WIDER or sql_type == '"NULL"'


def called(sql_type: str) -> str:
    """What to call a type in an error: its name alone, since an ENUM's members are values.

    Examples:
        >>> called("ENUM('Alice', 'Bob')"), called("TIMESTAMP WITH TIME ZONE"), called("ENUM('Alice')[]")
        ('ENUM', 'TIMESTAMP WITH TIME ZONE', 'LIST')
    """
    return "LIST" if sql_type.endswith("]") else sql_type.partition("(")[0].strip('"')


def sql_type_of(kind: Kind) -> str:
    """The one type in which DuckDB computes with values of this kind.

    Examples:
        >>> sql_type_of(Kind.INTEGER)
        'BIGINT'
    """
    return _SQL[kind]
