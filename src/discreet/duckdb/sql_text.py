"""SQL text of DuckDB: names, constants, and the types of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

SQL_TYPES: Mapping[str, str] = {
    "boolean": "BOOLEAN",
    "integer": "BIGINT",
    "real": "DOUBLE",
    "text": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
"""The one type in which snapshots hold values of each kind, and in which questions are computed."""

CALENDAR: Mapping[str, tuple[str, str]] = {
    "date": ("DATE '0001-01-01'", "DATE '9999-12-31'"),
    "timestamp": ("TIMESTAMP '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
}
"""The first and the last day, and moment, of the calendar, by kind."""


def name(text: str) -> str:
    """An identifier, quoted.

    Examples:
        >>> name('a"b')
        '"a""b"'
    """
    return '"' + text.replace('"', '""') + '"'


def string(text: str) -> str:
    """A string constant.

    Examples:
        >>> string("it's")
        "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def parquet(files: Sequence[str]) -> str:
    """Parquet files as one relation, with the columns that are in them and none of their folders' names.

    Examples:
        >>> parquet(["people.parquet"])
        "read_parquet(['people.parquet'], hive_partitioning = false)"
    """
    return f"read_parquet([{', '.join(map(string, files))}], hive_partitioning = false)"


def double(number: float) -> str:
    """A DOUBLE constant, infinities included. It goes through text, because DuckDB reads 0.1 as a decimal.

    Examples:
        >>> double(0.1)
        "CAST('0.1' AS DOUBLE)"
    """
    return f"CAST('{number!r}' AS DOUBLE)"


def bigint(number: int) -> str:
    """A BIGINT constant; `number` must fit in 64 bits.

    Examples:
        >>> bigint(-1)
        'CAST(-1 AS BIGINT)'
    """
    return f"CAST({number} AS BIGINT)"


def moment(time: date) -> str:
    """A DATE or TIMESTAMP constant, whichever `time` is.

    Examples:
        >>> moment(date(2024, 2, 29))
        "DATE '2024-02-29'"
    """
    return f"TIMESTAMP '{time.isoformat(sep=' ')}'" if isinstance(time, datetime) else f"DATE '{time.isoformat()}'"
