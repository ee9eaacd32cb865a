"""Refusals: SQL that is known and not offered, with the reason and the nearest form that is."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from discreet.errors import QueryError, UngroupedColumn, UnknownFunction, Unsupported

if TYPE_CHECKING:
    from sqlglot import exp

_AGGREGATES = (
    "COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, QUANTILE_CONT, MIN, MAX, MODE, APPROX_TOP_K, COVAR_POP, COVAR_SAMP and "
    "CORR are offered"
)
_PATTERN = "LIKE takes % and _"
_BITS = ("operators on bits", "% and // take numbers apart")
_NESTED = ("lists and structures", "values here are numbers, texts, dates and truths")

_NODES = {
    "Subquery": ("subqueries", "ask two questions"),
    "Select": ("subqueries", "ask two questions"),
    "Exists": ("subqueries", "ask two questions"),
    "Any": ("ANY and ALL", "compare with OR, or IN a list of values"),
    "All": ("ANY and ALL", "compare with AND, or NOT IN a list of values"),
    "Window": ("window functions", "GROUP BY answers each group"),
    "Filter": ("FILTER here", "it stands behind an aggregate: SUM(x) FILTER (WHERE …)"),
    "WithinGroup": ("ordered-set aggregates", _AGGREGATES),
    "IgnoreNulls": ("this aggregate", _AGGREGATES),
    "Order": ("ORDER BY inside of an aggregate", "leave it out"),
    "Distinct": ("DISTINCT inside of an aggregate", "COUNT(DISTINCT x) counts different values"),
    "Escape": ("ESCAPE", _PATTERN),
    "SimilarTo": ("SIMILAR TO", _PATTERN),
    "RegexpLike": ("regular expressions", _PATTERN),
    "Glob": ("GLOB", _PATTERN),
    "Interval": ("an interval by itself", "add it to a date: born + INTERVAL '3' MONTH"),
    "Placeholder": ("placeholders", "write the value itself"),
    "Parameter": ("placeholders", "write the value itself"),
    "Collate": ("COLLATE", "UPPER or LOWER make comparison ignore case"),
    "AtTimeZone": ("time zones", "timestamps here have none"),
    "Bracket": ("indexing", "SUBSTRING takes a part of a text; APPROX_QUANTILES(x, 4)[OFFSET(1)] is one quantile"),
    "Tuple": ("lists of values outside of IN", ""),
    "PositionalColumn": ("columns by position", "name the column"),
    "Columns": ("COLUMNS()", "name each column"),
    "Alias": ("an alias here", "only the columns of the answer have aliases"),
    "Aliases": ("an alias here", "only the columns of the answer have aliases"),
    "ByteString": ("byte strings", "write 'text'"),
    "Cube": ("ROLLUP, CUBE and GROUPING SETS", "ask one question for each grouping"),
    "Rollup": ("ROLLUP, CUBE and GROUPING SETS", "ask one question for each grouping"),
    "GroupingSets": ("ROLLUP, CUBE and GROUPING SETS", "ask one question for each grouping"),
    "Var": ("a bare word here", "name a column, or put a text into '…'"),
    "BitwiseAnd": _BITS,
    "BitwiseOr": _BITS,
    "BitwiseXor": _BITS,
    "BitwiseNot": _BITS,
    "BitwiseLeftShift": _BITS,
    "BitwiseRightShift": _BITS,
    "Array": _NESTED,
    "Struct": _NESTED,
    "Map": _NESTED,
    "JSONExtract": _NESTED,
    "Dot": _NESTED,
    "Lambda": _NESTED,
    "Grouping": ("GROUPING", "GROUP BY without sets needs none"),
}

_FUNCTIONS = {
    "CurrentDate": "write the date itself: DATE '2024-12-31'",
    "CurrentTimestamp": "write the time itself: TIMESTAMP '2024-12-31 23:59:59'",
    "Rand": "an answer must follow from the question and the data alone",
}

_NAMES = [
    "ABS",
    "AVG",
    "CASE",
    "CAST",
    "CEIL",
    "COALESCE",
    "CONCAT",
    "COUNT",
    "DATE_DIFF",
    "DATE_PART",
    "DATE_TRUNC",
    "DAY",
    "DAYOFWEEK",
    "DAYOFYEAR",
    "EXTRACT",
    "FLOOR",
    "GREATEST",
    "HOUR",
    "IF",
    "IFNULL",
    "ILIKE",
    "ISODOW",
    "LEAST",
    "LEFT",
    "LENGTH",
    "LIKE",
    "LOWER",
    "LTRIM",
    "MINUTE",
    "MONTH",
    "NULLIF",
    "POWER",
    "QUARTER",
    "ROUND",
    "RTRIM",
    "SECOND",
    "SIGN",
    "SQRT",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUBSTRING",
    "SUM",
    "TRIM",
    "TRUNC",
    "TRY_CAST",
    "UPPER",
    "VARIANCE",
    "VAR_POP",
    "VAR_SAMP",
    "WEEK",
    "YEAR",
]
"""What SQL calls the functions that are offered, for suggestions."""


_PARTS = {
    "decimals": "a number of digits",
    "expression": "a second argument",
    "expressions": "a second argument",
    "field": "a list without parentheses",
}

_OFFERED = "offered are arithmetic, comparison, CASE, COALESCE, CAST, ROUND, parts of dates, LIKE, UPPER and their like"


def refusal(node: exp.Expression) -> QueryError:
    """The error for a syntax node that no rule binds."""
    from sqlglot import exp

    name = type(node).__name__
    if isinstance(node, exp.Star):
        return UngroupedColumn(
            "* would release the rows themselves", hint="name what to count or add up: COUNT(*), AVG(x)"
        )
    if name in _NODES:
        what, hint = _NODES[name]
        return Unsupported(f"{what} can't be used in a question", hint=hint)
    if isinstance(node, exp.AggFunc):
        return Unsupported(f"{node.sql_name()} isn't among the aggregates that discreet computes", hint=_AGGREGATES)
    if isinstance(node, exp.Func):
        called = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        return UnknownFunction(
            f"{called[:40].upper()} isn't among the functions that discreet takes",
            hint=_FUNCTIONS.get(name) or _suggestion(called),
        )
    return Unsupported(f"this kind of expression ({name}) can't be used in a question")


def unknown_part(part: str, value: object) -> QueryError:
    """The error for a part of a syntax node that its rule doesn't understand."""
    if type(value).__name__ in _NODES:
        return refusal(value)  # type: ignore[arg-type]  # only syntax nodes have those names
    what = _PARTS.get(part) or part.rstrip("_").replace("_", " ").upper()
    return Unsupported(f"{what} can't be used here", hint="leave it out")


def _suggestion(name: str) -> str:
    """The function that may have been meant."""
    close = get_close_matches(name[:100].upper(), _NAMES, n=1, cutoff=0.7)
    return f"did you mean {close[0]}?" if close else _OFFERED
