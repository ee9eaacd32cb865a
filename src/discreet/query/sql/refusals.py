"""Refusals: SQL that is known but not supported, with the reason and the nearest form that is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from discreet.errors import QueryError, UngroupedColumn, UnknownFunction, Unsupported
from discreet.query.aggregates import SPELLINGS
from discreet.suggestions import nearest

if TYPE_CHECKING:
    from sqlglot import exp

_PATTERN = "LIKE takes % and _"
_BITS = ("bitwise operators", "% and // take numbers apart")
_VALUES = "give their values as parameters, one for each ?"
_NESTED = ("lists and structures", "values here are numbers, texts, dates and truths")

_NODES: dict[str, tuple[str, str | None]] = {
    "Subquery": ("subqueries", "ask two questions"),
    "Select": ("subqueries", "ask two questions"),
    "Exists": ("subqueries", "ask two questions"),
    "Any": ("ANY and ALL", "compare with OR, or IN a list of values"),
    "All": ("ANY and ALL", "compare with AND, or NOT IN a list of values"),
    "Window": ("window functions", "GROUP BY answers each group"),
    "WithinGroup": ("ordered-set aggregates", None),
    "IgnoreNulls": ("this aggregate", None),
    "Filter": ("FILTER here", "it stands behind an aggregate: SUM(x) FILTER (WHERE …)"),
    "Order": ("ORDER BY inside an aggregate", "leave it out"),
    "Distinct": ("DISTINCT inside an aggregate", "COUNT(DISTINCT x) counts different values"),
    "Escape": ("ESCAPE", _PATTERN),
    "SimilarTo": ("SIMILAR TO", _PATTERN),
    "RegexpLike": ("regular expressions", _PATTERN),
    "Glob": ("GLOB", _PATTERN),
    "Interval": ("an interval by itself", "add it to a date: born + INTERVAL '3' MONTH"),
    "Placeholder": ("placeholders", _VALUES),
    "Parameter": ("placeholders of this kind", "write ? for each value"),
    "Collate": ("COLLATE", "UPPER or LOWER makes a comparison ignore case"),
    "AtTimeZone": ("time zones", "timestamps here have none"),
    "Bracket": ("indexing", "SUBSTRING takes a part of a text; APPROX_QUANTILES(x, 4)[OFFSET(1)] is one quantile"),
    "Tuple": ("lists of values outside IN", ""),
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
"""Names for nodes that are refused, in the words of a question, and the way around each; None lists the aggregates."""

_FUNCTIONS = {
    "CurrentDate": "write the date itself: DATE '2024-12-31'",
    "CurrentTimestamp": "write the time itself: TIMESTAMP '2024-12-31 23:59:59'",
    "Rand": "an answer must follow from the question and the data alone",
}

_NAMES = [
    *("ABS", "AVG", "CASE", "CAST", "CEIL", "COALESCE", "CONCAT", "COUNT", "DATE_DIFF", "DATE_PART", "DATE_TRUNC"),
    *("DAY", "DAYOFWEEK", "DAYOFYEAR", "EXTRACT", "FLOOR", "GREATEST", "HOUR", "IF", "IFNULL", "ILIKE", "ISODOW"),
    *("LEAST", "LEFT", "LENGTH", "LIKE", "LOWER", "LTRIM", "MINUTE", "MONTH", "NULLIF", "POWER", "QUARTER", "ROUND"),
    *("RTRIM", "SECOND", "SIGN", "SQRT", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "SUBSTRING", "SUM", "TRIM", "TRUNC"),
    *("TRY_CAST", "UPPER", "VARIANCE", "VAR_POP", "VAR_SAMP", "WEEK", "YEAR"),
    *("CORR", "COVAR_POP", "COVAR_SAMP", "MEDIAN", "QUANTILE_CONT", "REGR_INTERCEPT", "REGR_R2", "REGR_SLOPE"),
]
"""SQL's names for the supported functions, for suggestions."""

SAID = "said"
"""Where a node keeps the question's own spelling of it, because no one writes the parser's names."""

DROPPED = "dropped"
"""Where a function's node says that the parser passed over an argument."""

FLAGS = frozenset(
    {
        *("big_int", "casts_non_integer_decimals", "coalesce", "date_part_boundary", "deterministic"),
        *(
            "fractions_supported",
            "ignore_nulls",
            "input_type_preserved",
            "is_null",
            "is_numeric",
            "is_nvl",
            "is_string",
        ),
        *("negate", "negative_length_returns_empty", "null_on_text_overflow", "null_on_zero_variance"),
        *("preserve_end_of_month", "requires_string", "safe", "typed", "zero_on_all_null", "zero_start"),
        *("allow_overflow", "binary", "is_global", "probe_date_format", "return_type", "symmetric"),
    }
)
"""Parts that the parser sets for a dialect's meaning; if the question sets them, they are too many arguments."""

PARTS = {
    "accuracy": "an accuracy",
    "action": "ON … ERROR",
    "collation": "COLLATE",
    "culture": "a language",
    "count": "the number of values",
    "counters": "a number of counters",
    "decimals": "a number of digits",
    "default": "DEFAULT",
    "default_date": "a default date",
    "encoding": "an encoding",
    "error_tolerance": "an error tolerance",
    "expression": "a second argument",
    "expressions": "a second argument",
    "field": "a list without parentheses",
    "format": "a format",
    "is_global": "GLOBAL",
    "json_scope": "a JSON scope",
    "limit_options": "WITH TIES and PERCENT",
    "milli": "milliseconds",
    "mode": "a mode",
    "nano": "nanoseconds",
    "nlsparam": "a language",
    "probe_date_format": "guessing how a date is written",
    "query": "a subquery",
    "returns_list_for_maps": "a key",
    "json_access": "a key",
    "style": "a style",
    "symmetric": "SYMMETRIC",
    "target_type": "a type",
    "this": "a value of this kind",
    "to": "TO",
    "truncate": "a third argument",
    "unit": "a unit",
    "unnest": "UNNEST",
    "weight": "a weight",
    "zone": "a time zone",
}
"""Names, in the words of a question, for parts of functions that discreet doesn't take."""

_ROWS = "which rows it leaves would depend on other people's"

CLAUSES = {
    "cluster": ("CLUSTER BY", "leave it out"),
    "connect": ("CONNECT BY", "a join reads several tables"),
    "distribute": ("DISTRIBUTE BY", "leave it out"),
    "exclude": ("EXCLUDE", "name the columns"),
    "for": ("FOR", "an answer's form is asked for beside the question"),
    "format": ("FORMAT", "an answer's form is asked for beside the question"),
    "hint": ("hints", "leave them out"),
    "into": ("SELECT INTO", "answers are returned, not stored"),
    "kind": ("a kind of row", "name the columns: SELECT a, b"),
    "laterals": ("LATERAL", "a join reads several tables"),
    "limit": ("LIMIT", _ROWS),
    "locks": ("FOR UPDATE", "tables here can only be read"),
    "match": ("MATCH_RECOGNIZE", "leave it out"),
    "offset": ("OFFSET", _ROWS),
    "operation_modifiers": ("a word between SELECT and the columns", "leave it out"),
    "options": ("OPTION", "leave it out"),
    "order": ("ORDER BY", "rows here have no order; put it into the outermost SELECT"),
    "pivots": ("PIVOT", "GROUP BY makes a group of each value"),
    "prewhere": ("PREWHERE", "WHERE does the same"),
    "qualify": ("QUALIFY", "HAVING filters groups"),
    "sample": ("SAMPLE", "all rows are read; noise is what protects them"),
    "settings": ("SETTINGS", "leave it out"),
    "sort": ("SORT BY", "ORDER BY does"),
    "windows": ("WINDOW", "GROUP BY answers each group"),
}
"""Names for clauses that are refused, in the words of a question, and the way around each."""

_TABLE_PARTS = {
    "hints": ("a hint, such as WITH (NOLOCK) or USE INDEX,", "leave it out"),
    "only": ("ONLY", "leave it out"),
    "pivots": CLAUSES["pivots"],
    "sample": ("TABLESAMPLE", CLAUSES["sample"][1]),
    "version": ("an earlier state of a table", "tables are read as they were admitted"),
}
"""Names for what may stand beside a table's name and is refused, and the way around each."""

_OF_PLACES = {"LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"}

_LABEL = re.compile(r"(|the \w+ of )((?!CAST )[A-Z_]{2,}(?: WHEN)?)\b")

_LONGEST = 40
"""Names in messages are cut off there."""

_OFFERED = "arithmetic, comparison, CASE, COALESCE, CAST, ROUND, parts of dates, LIKE, UPPER and the like are supported"


def refusal(node: exp.Expression) -> QueryError:
    """The error for a syntax node that no rule binds."""
    from sqlglot import exp

    name = type(node).__name__
    if isinstance(node, exp.Star):
        return UngroupedColumn(
            "* would release the rows themselves", hint="name what to count or add up: COUNT(*), AVG(x)"
        )
    called = said(node)
    if name == "IgnoreNulls" and said(node.this):
        return _refused_nulls(said(node.this))
    what, hint = _NODES.get(name, ("", ""))
    if what and not (called and re.search("[A-Z]{3}", what) and called not in what):
        return Unsupported(
            f"{what} can't be used in a question", hint=_supported_aggregates() if hint is None else hint
        )
    if isinstance(node, exp.AggFunc):
        return _unknown_aggregate(called or "this")
    if isinstance(node, exp.Func) and called:
        return UnknownFunction(
            f"{called} isn't among the functions that discreet takes", hint=_FUNCTIONS.get(name) or _suggestion(called)
        )
    return Unsupported("this can't be used in a question", hint=_OFFERED)


def _refused_nulls(called: str) -> QueryError:
    """The error for IGNORE NULLS, which some aggregates have without saying so."""
    if called in _OF_PLACES:
        return Unsupported(f"IGNORE NULLS can't be used in {called}", hint="WHERE x IS NOT NULL in a subquery")
    return _unknown_aggregate(called)


def _unknown_aggregate(called: str) -> QueryError:
    """The error for an aggregate that has no spelling here."""
    return Unsupported(f"{called} isn't among the aggregates that discreet computes", hint=_supported_aggregates())


def _supported_aggregates() -> str:
    """A name in SQL for each aggregate: its own if the parser knows it by that, else the parser's."""
    from sqlglot import exp

    names: dict[tuple[object, ...], str] = {}
    for name, each in SPELLINGS.items():
        parsed, own = getattr(exp, name, None), each.function.name.upper()
        known = parsed.sql_names() if parsed else [name.upper()]
        names.setdefault((own, each.fraction, each.form), own if own in known else known[0])
    *most, last = names.values()
    return f"{', '.join(most)} and {last} are supported"


def refused_clause(part: str, where: str) -> QueryError:
    """The error for a clause of a SELECT.

    Args:
        part: what the parser calls it.
        where: where it stands.
    """
    what, hint = CLAUSES.get(part, ("this clause", "leave it out"))
    return Unsupported(f"{what} can't be used in {where}", hint=hint)


def refused_table_part(part: str) -> QueryError:
    """The error for what stands beside the name of a table in FROM.

    Args:
        part: what the parser calls it.
    """
    what, hint = _TABLE_PARTS.get(part, ("", ""))
    return Unsupported(
        f"{what} can't be used in FROM" if what else "FROM takes the name of a table, and an alias", hint=hint
    )


def said(node: exp.Expression) -> str:
    """The question's own name for a function, or for the one this is part of; empty for an operator."""
    from sqlglot import exp

    above: exp.Expr | None = node
    while above is not None:
        if word := above.meta.get(SAID):
            return str(word)[:_LONGEST].upper()
        if isinstance(above, exp.Anonymous):
            return above.name[:_LONGEST].upper()
        if above is node and (not isinstance(node, exp.Func) or isinstance(node, exp.Binary)):
            return ""
        above = above.parent
    return ""


def worded(message: str, called: str, text: str) -> str:
    """A message that begins with the name of a function as the question calls it, if it calls it something else.

    Args:
        message: about a function, perhaps.
        called: what the question calls that; nothing, if it isn't about one.
        text: the question.
    """
    found = _LABEL.match(message)
    if found is None or not called or found[2] in text.upper():
        return message
    return f"{found[1]}{called}{message[found.end() :]}"


def unknown_part(node: exp.Expression, part: str, value: object) -> QueryError:
    """The error for a part of a syntax node that its rule doesn't understand.

    Args:
        node: the syntax node.
        part: what the parser calls it.
        value: what it is.
    """
    if type(value).__name__ in _NODES:
        return refusal(value)  # type: ignore[arg-type]  # only syntax nodes have those names
    called = said(node)
    if part not in PARTS and isinstance(value, bool):
        return Unsupported(f"it isn't known what {called or 'this'} means in this dialect", hint="try another spelling")
    if part not in PARTS or (part in FLAGS and not isinstance(value, bool)):
        return too_many(node)
    what = PARTS[part]
    return Unsupported(f"{what} can't be used {f'in {called}' if called else 'here'}", hint="leave it out")


def too_many(node: exp.Expression) -> QueryError:
    """The error for an argument that a function doesn't take."""
    return Unsupported(f"{said(node) or 'this'} has one argument too many", hint="leave it out")


def _suggestion(name: str) -> str:
    """The function that may have been meant."""
    close = nearest(name, _NAMES, cutoff=0.7)
    return _OFFERED if close in {None, name.upper()} else f"did you mean {close}?"
