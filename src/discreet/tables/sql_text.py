"""Writing names and constants into SQL, each in the one form that DuckDB reads back exactly."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction
from math import inf


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


def nearest(number: Fraction) -> float:
    """The double nearest to an exact number; beyond the doubles, an infinity. A zero has no sign.

    Examples:
        >>> nearest(Fraction(1, 10)), nearest(Fraction(-(10**400))), nearest(Fraction(-1, 10**400))
        (0.1, -inf, 0.0)
    """
    try:
        return float(number) + 0.0
    except OverflowError:
        return inf if number > 0 else -inf
