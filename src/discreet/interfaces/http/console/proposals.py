"""The editor's proposals: names of tables and columns, functions, and words of SQL."""

from __future__ import annotations

from fastapi import APIRouter

from discreet.interfaces.http.console.session import Visiting
from discreet.results import quoted

ROUTES = APIRouter()

FUNCTIONS = (
    "COUNT(*)", "COUNT(DISTINCT ", "COUNT_IF(", "SUM(", "AVG(", "MEDIAN(", "MIN(", "MAX(", "STDDEV(", "VARIANCE(",
    "QUANTILE_CONT(", "MODE(", "CORR(", "COVAR_SAMP(", "REGR_SLOPE(", "REGR_INTERCEPT(", "REGR_R2(", "ABS(", "ROUND(",
    "FLOOR(", "CEIL(", "SQRT(", "GREATEST(", "LEAST(", "COALESCE(", "NULLIF(", "UPPER(", "LOWER(", "TRIM(", "LENGTH(",
    "SUBSTRING(", "YEAR(", "MONTH(", "DAY(", "DATE_TRUNC(", "DATE_DIFF(", "CAST(", "TRY_CAST(", "EXTRACT(",
)  # fmt: skip
"""Functions that the editor proposes; there are more."""

WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "AND", "OR", "NOT", "IN", "IS NULL",
    "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE", "END", "AS", "JOIN", "LEFT JOIN", "ON", "DISTINCT", "DESC",
    "SUMMARIZE",
)  # fmt: skip
"""Words of SQL that it proposes."""


@ROUTES.get("/ask/words")
def words(visit: Visiting) -> list[dict[str, str]]:
    """All proposals: names of tables and columns, functions, and words of SQL."""
    tables = visit.service.dataset(visit.caller)["tables"]
    found = [{"text": quoted(table["name"]), "note": "table"} for table in tables]
    found += [
        {"text": quoted(column["name"]), "note": f"{table['name']}, {column['kind']}"}
        for table in tables
        for column in table["columns"]
    ]
    found += [{"text": name, "note": "function"} for name in FUNCTIONS]
    return [*found, *({"text": name, "note": ""} for name in WORDS)]
