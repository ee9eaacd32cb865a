"""Conditions on rows, and questions, as SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import TypeAlias

from discreet.errors import InvalidArgument

Conditions: TypeAlias = Mapping[str, object]
"""Column → the value that a row must have, or a list, set or range of values; all must agree."""


@dataclass(frozen=True, slots=True)
class Between:
    """Values from one to another, both included.

    Args:
        low: the smallest.
        high: the largest.

    Examples:
        >>> print(where({"age": Between(39, 41)}))
        "age" BETWEEN 39 AND 41
    """

    low: object
    high: object


def where(conditions: Conditions) -> str:
    """Conditions as SQL; the empty ones hold of every row.

    Args:
        conditions: values are texts, numbers, booleans, dates, `Between` two of them, and None for a missing value.

    Raises:
        InvalidArgument: a value that SQL can't write, or an empty list of them.

    Examples:
        >>> print(where({"sex": "Female", "age": range(40, 42)}))
        "sex" = 'Female' AND "age" IN (40, 41)
        >>> print(where({"age": [39, None]}))
        ("age" IN (39) OR "age" IS NULL)
    """
    return " AND ".join(_condition(quoted(column), value) for column, value in conditions.items()) or "TRUE"


def question(measure: str, condition: str, table: str) -> str:
    """One aggregate of the rows that meet a condition.

    Args:
        measure: an aggregate in SQL, such as `COUNT(*)`.
        condition: in SQL.
        table: its name.

    Examples:
        >>> print(question("COUNT(*)", "age >= 40", "census"))
        SELECT COUNT(*) AS value FROM "census" WHERE age >= 40
    """
    return f"SELECT {measure} AS value FROM {quoted(table)} WHERE {condition}"  # noqa: S608 — attackers word their questions freely, and what they are asked through decides


def which(column: str, values: Sequence[object]) -> str:
    """The place of a column's value among some values, as an expression: nobody needs to have said which there are.

    Args:
        column: its name.
        values: one or more; others get the place behind them.

    Examples:
        >>> print(which("ill", ["flu", None]))
        CASE WHEN "ill" = 'flu' THEN 0 WHEN "ill" IS NULL THEN 1 ELSE 2 END
    """
    cases = " ".join(f"WHEN {_condition(quoted(column), value)} THEN {place}" for place, value in enumerate(values))
    return f"CASE {cases} ELSE {len(values)} END"


def _condition(column: str, value: object) -> str:
    if value is None:
        return f"{column} IS NULL"
    if isinstance(value, Between):
        return f"{column} BETWEEN {_literal(value.low)} AND {_literal(value.high)}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        values = list(value)
        listed = ", ".join(_literal(each) for each in values if each is not None)
        if not values:
            raise InvalidArgument(f"the condition on {column} lists no value")
        known = f"{column} IN ({listed})" if listed else ""
        missing = f"{column} IS NULL" if None in values else ""
        return f"({known} OR {missing})" if known and missing else known or missing
    return f"{column} = {_literal(value)}"


def quoted(name: str) -> str:
    """A name of a column or table as SQL writes it, whatever it holds.

    Examples:
        >>> print(quoted('the "zip" code'))
        "the ""zip"" code"
    """
    return '"' + name.replace('"', '""') + '"'


def _literal(value: object) -> str:
    """A value as SQL writes it."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case int() | Decimal():
            return str(value)
        case float() if isfinite(value):
            return repr(value)
    raise InvalidArgument(f"a condition can't be on a {type(value).__name__}", hint="texts, numbers, dates and flags")
