"""Manners: where dialects mean different things by the same words.

What isn't known of a dialect is None, and a question that depends on it is refused: a wrong answer is worse than none.
Sources are the dialects' own manuals; `sqlglot` has smoothed out the rest (quoting, order of arguments, NULLs in ORDER
BY, integer division) by the time these matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class Rounding(StrEnum):
    """What becomes of the fraction when a real number is cast to a whole one."""

    HALF_EVEN = "half_even"
    HALF_AWAY = "half_away"
    TOWARDS_ZERO = "towards_zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """What one dialect means.

    Args:
        sunday: the number that the day of the week has on Sundays: 0 or 1, where Saturday comes last, or 7.
        monday: the number that WEEKDAY has on Mondays; 0 or 1.
        iso_weeks: whether weeks are those of ISO 8601, which begin on Mondays.
        rounding: of casts from real to whole numbers.
        counts_boundaries: whether DATE_DIFF counts the boundaries of months and years between two dates, not how many
            whole ones fit.
        escapes: whether a backslash in a pattern of LIKE takes the meaning of the character behind it.
        folds_patterns: whether LIKE ignores case.
        folds_accents: whether LIKE ignores accents too.
        folds: whether texts that differ in case only are equal, by default.
        digits: how many a DECIMAL without parentheses keeps behind the point; −1 for all.
        population: whether VARIANCE and STDDEV divide by n.
        whole_averages: whether the average of whole numbers is one.
        real_parts: whether EXTRACT gives numbers that aren't divided as whole ones.
        fractions: whether the seconds of EXTRACT have a fraction.
        counts_bytes: whether LENGTH counts bytes.
        whole_decimals: whether a DECIMAL without digits behind the point is the dialect's whole number.
        utc: whether what it calls TIMESTAMP is a moment in UTC.
        trims_lengths: whether LENGTH leaves out blanks at the end.
        empty_is_null: whether a text without characters is NULL.
        classes: whether [ ] in a pattern of LIKE stand for one of several characters.
    """

    sunday: int | None = None
    monday: int | None = None
    iso_weeks: bool = False
    rounding: Rounding | None = None
    counts_boundaries: bool = False
    escapes: bool = False
    folds_patterns: bool = False
    folds_accents: bool = False
    folds: bool = False
    digits: int | None = None
    population: bool = False
    whole_averages: bool = False
    real_parts: bool = False
    fractions: bool = False
    counts_bytes: bool = False
    whole_decimals: bool = False
    utc: bool = False
    trims_lengths: bool = False
    empty_is_null: bool = False
    classes: bool = False


_STRANGER = Manners(escapes=True)
"""A dialect of which nothing is known."""

_POSTGRES = Manners(
    sunday=0,
    iso_weeks=True,
    rounding=Rounding.HALF_EVEN,
    escapes=True,
    digits=-1,
    real_parts=True,
    fractions=True,
)
_SPARK = Manners(
    sunday=1,
    monday=0,
    iso_weeks=True,
    rounding=Rounding.TOWARDS_ZERO,
    escapes=True,
    digits=0,
    fractions=True,
    utc=True,
)
_MYSQL = Manners(
    sunday=1, monday=0, rounding=Rounding.HALF_AWAY, escapes=True, digits=0, folds=True, folds_patterns=True,
    folds_accents=True, counts_bytes=True, utc=True,
)  # fmt: skip
_TSQL = Manners(
    rounding=Rounding.TOWARDS_ZERO, counts_boundaries=True, digits=0, whole_averages=True, trims_lengths=True,
    classes=True,
)  # fmt: skip
_PRESTO = Manners(sunday=7, iso_weeks=True)

MANNERS: Mapping[str, Manners] = {
    "duckdb": Manners(sunday=0, monday=1, iso_weeks=True, rounding=Rounding.HALF_EVEN, counts_boundaries=True),
    "postgres": _POSTGRES,
    "materialize": _POSTGRES,
    "risingwave": _POSTGRES,
    "redshift": Manners(sunday=0, iso_weeks=True, counts_boundaries=True, escapes=True, digits=0),
    "bigquery": Manners(
        sunday=1, rounding=Rounding.HALF_AWAY, counts_boundaries=True, escapes=True, digits=9, utc=True
    ),
    "snowflake": Manners(
        sunday=0, iso_weeks=True, rounding=Rounding.HALF_AWAY, counts_boundaries=True, digits=0, whole_decimals=True
    ),
    "spark": _SPARK,
    "spark2": _SPARK,
    "databricks": _SPARK,
    "hive": replace(_SPARK, monday=None, population=True),
    "mysql": _MYSQL,
    "singlestore": _MYSQL,
    "doris": replace(_MYSQL, folds=False, folds_patterns=False, rounding=None),
    "starrocks": replace(_MYSQL, folds=False, folds_patterns=False, rounding=None),
    "tsql": replace(_TSQL, folds=True, folds_patterns=True),
    "fabric": _TSQL,
    "presto": _PRESTO,
    "trino": _PRESTO,
    "athena": _PRESTO,
    "sqlite": Manners(rounding=Rounding.TOWARDS_ZERO, folds_patterns=True),
    "oracle": Manners(rounding=Rounding.HALF_AWAY, digits=-1, whole_decimals=True, empty_is_null=True),
    "exasol": Manners(empty_is_null=True),
    "teradata": Manners(folds=True, folds_patterns=True),
}


def manners_of(dialect: str) -> Manners:
    """What a dialect means, as far as it is known."""
    return MANNERS.get(dialect, _STRANGER)
