"""Functions of texts and casts as one dialect or another writes them, put into common words.

So are functions of any kind that the parser knows by their names alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from discreet.errors import Hint, TypeMismatch, Unsupported
from discreet.query.sql.calendars import NAMED
from discreet.query.sql.dialect_semantics import DialectSemantics, Node, Rounding, Rule

# ── Texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _like(node: Node, semantics: DialectSemantics) -> Node:
    """LIKE, which gives a backslash a meaning in many dialects."""
    from sqlglot import exp

    pattern = node.expression
    if semantics.escapes and type(pattern).__name__ == "Literal" and "\\" in pattern.name:
        raise Unsupported("a backslash in the pattern of LIKE escapes what follows", hint="LIKE takes only % and _")
    if semantics.classes and "[" in pattern.name:
        raise Unsupported("[ ] in the pattern of LIKE stand for a class of characters", hint="LIKE takes only % and _")
    if semantics.folds_patterns and type(node).__name__ == "Like":
        if semantics.folds_accents or not pattern.name.isascii():
            raise Unsupported(
                "LIKE ignores case in this dialect, and accents with it",
                hint=Hint.of("{dialect} has LIKE and ILIKE", dialect="duckdb"),
            )
        return exp.ILike(this=node.this, expression=pattern, negate=node.args.get("negate"))
    return None


def _escaped(node: Node, _semantics: DialectSemantics) -> Node:
    """LIKE … ESCAPE, where nothing in the pattern is escaped."""
    like, escape = node.this, node.expression
    pattern: Node = like.expression if like is not None else None
    if type(pattern).__name__ == "Literal" and type(escape).__name__ == "Literal" and escape.name not in pattern.name:
        return like
    return None


def _beginning(node: Node, _semantics: DialectSemantics) -> Node:
    """STARTS_WITH, ENDS_WITH and CONTAINS of a text that is written out: a pattern."""
    from sqlglot import exp

    part = node.expression
    if type(part).__name__ != "Literal" or not part.args.get("is_string") or set(part.name) & set("%_\\"):
        raise Unsupported(
            "the beginning, end or part to look for must be written out, without %, _ or \\", hint="LIKE 'a%'"
        )
    before = "" if type(node).__name__ == "StartsWith" else "%"
    behind = "" if type(node).__name__ == "EndsWith" else "%"
    return exp.Like(this=node.this, expression=exp.Literal.string(f"{before}{part.name}{behind}"))


def _length(node: Node, semantics: DialectSemantics) -> Node:
    """LENGTH, in characters; LEN of T-SQL leaves out blanks at the end, and makes a text of its argument."""
    from sqlglot import exp

    if node.args.get("binary") and semantics.counts_bytes:
        raise Unsupported("LENGTH counts bytes in this dialect", hint="CHAR_LENGTH counts characters")
    of = node.this
    if semantics.trims_lengths and type(of).__name__ == "Cast":
        of = exp.Trim(this=of.this, position="TRAILING")
    return exp.Length(this=of)


def _national(node: Node, _semantics: DialectSemantics) -> Node:
    """N'text'."""
    from sqlglot import exp

    return exp.Literal.string(node.name)


def _constant(node: Node, semantics: DialectSemantics) -> Node:
    """A text that is NULL, in dialects where one without characters is."""
    if semantics.empty_is_null and node.args.get("is_string") and not node.name:
        raise Unsupported("'' is NULL in this dialect", hint="x IS NULL, or COALESCE(x, 'none')")


def _trim(node: Node, _semantics: DialectSemantics) -> Node:
    """TRIM of blanks that are named."""
    named = node.args.get("expression")
    if type(named).__name__ == "Literal" and named.name in {" ", " \t\n\r\v\f"}:
        node.set("expression", None)
    return None


# ── Casts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


_ISO_STYLES = {"20", "21", "23", "120", "121", "126"}
"""Styles of CONVERT in which dates are written 2024-12-31."""

_ZONED = {"TIMESTAMPTZ", "TIMESTAMPLTZ"}

_SECONDS = {"TIMESTAMP", "TIMESTAMPNTZ", "DATETIME", "DATETIME2"}
"""Types that may say how many digits the seconds have behind the point."""


def _cast(node: Node, semantics: DialectSemantics) -> Node:
    """CAST: how it rounds, how many digits a DECIMAL has, and whether a TIMESTAMP has a zone."""
    from sqlglot import exp

    to = node.args.get("to")
    if type(to).__name__ != "DataType":
        return None
    name = getattr(to.this, "name", "")
    sizes = [part.name for part in to.expressions]
    if any(part.args.get("expression") and part.expression.name.upper() != "CHAR" for part in to.expressions):
        raise Unsupported("a size is a number, of characters or digits", hint="VARCHAR(10), DECIMAL(18, 2)")
    if name in _SECONDS and sizes and _holds_seconds(node.this, sizes[0]):
        to.set("expressions", None)
        sizes = []
    if name in _ZONED and semantics.utc and not sizes:
        _retype(node, "datetime")  # their TIMESTAMP; in UTC, as the tables' are taken to be
    if name == "DATETIME2" and not sizes:
        _retype(node, "datetime")
    if name == "BIT" and semantics.plus_joins:
        _retype(node, "boolean")
    if name == "CHAR" and semantics.counts_bytes:
        to.set("this", exp.DataType.Type.VARCHAR)  # MySQL's, which adds no blanks
    if name == "DECIMAL":
        _decimal(node, to, semantics)
    node.set("rounding", semantics.rounding or "unknown")
    return None


def _retype(node: Node, name: str) -> None:
    """Make another type of a cast's, which the question goes on to call what it does."""
    from sqlglot import exp

    to = exp.DataType.build(name)
    to.meta.update(node.args["to"].meta)
    node.set("to", to)


def _holds_seconds(of: Node, digits: str) -> bool:
    """Whether this many digits of seconds change nothing: no more are written out, or it is six, as here."""
    if not digits.isdigit() or int(digits) >= 6:  # noqa: PLR2004 — microseconds
        return digits.isdigit()
    fraction = of.name.partition(".")[2] if type(of).__name__ == "Literal" else "?" * 6
    return len(fraction) <= int(digits)


def _decimal(node: Node, to: Node, semantics: DialectSemantics) -> None:
    """Note how many digits a DECIMAL has, in total and after the point."""
    from sqlglot import exp

    sizes = [part.name for part in to.expressions]
    if len(sizes) > 2 or not all(size.isdigit() and int(size) <= 76 for size in sizes):  # noqa: PLR2004 — BigQuery's longest
        raise TypeMismatch("DECIMAL takes the number of digits, and how many of them follow the point")
    if not sizes and semantics.digits is None:
        raise Unsupported("this DECIMAL doesn't say how many digits it has", hint="DECIMAL(18, 2)")
    whole = semantics.whole_decimals and (sizes[1:] == ["0"] or len(sizes) == 1)
    if whole:
        node.set("to", exp.DataType.build("bigint"))
    elif sizes:
        node.set("digits", (int(sizes[0]), int(sizes[1]) if len(sizes) > 1 else 0))
    else:
        node.set("digits", (38, semantics.digits))


def _converted(node: Node, semantics: DialectSemantics) -> Node:
    """T-SQL's CONVERT."""
    from sqlglot import exp

    if type(node.this).__name__ != "DataType":
        raise Unsupported("CONVERT takes a type, and a value", hint="CAST(x AS …)")
    style, to = node.args.get("style"), getattr(node.this.this, "name", "")
    if style is not None and not (style.name in _ISO_STYLES and (to == "DATE" or to in _SECONDS)):
        raise Unsupported("CONVERT takes only styles that write dates as 2024-12-31", hint="CAST(x AS …)")
    cast = exp.Cast(this=node.expression, to=node.this)
    _cast(cast, semantics)
    return cast


_ORACLE_FORMS = {"YYYY": "%Y", "MM": "%m", "DD": "%d"}


def _written(node: Node, _semantics: DialectSemantics) -> Node:
    """TO_CHAR as Oracle and Snowflake have it: a text of any value, or of a date in a form."""
    from sqlglot import exp

    form = node.args.get("format")
    if form is None:
        return exp.Cast(this=node.this, to=exp.DataType.build("varchar"))
    pattern = re.sub("YYYY|MM|DD", lambda found: _ORACLE_FORMS[found[0]], form.name)
    return exp.TimeToStr(this=node.this, format=exp.Literal.string(pattern))


def _stamp(node: Node, semantics: DialectSemantics) -> Node:
    """TIMESTAMP('2024-12-31')."""
    from sqlglot import exp

    if node.args.get("with_tz") and not semantics.utc:
        raise Unsupported("timestamps here have no time zone", hint="TIMESTAMP '2024-12-31 23:59:59'")
    return exp.Cast(this=node.this, to=exp.DataType.build("datetime"))


# ── Functions that the parser knows by their names alone ──────────────────────────────────────────────────────────────


def _named(node: Node, semantics: DialectSemantics) -> Node:
    """A function that the parser has no class for."""
    rule = _BY_NAME.get(node.name.casefold())
    return None if rule is None else rule(node, semantics)


def _as(name: str, args: int = 1) -> Rule:
    """A node of this class, whose arguments fill its parts in order."""

    def rule(node: Node, _semantics: DialectSemantics) -> Node:
        from sqlglot import exp

        parts = dict(zip(("this", "expression"), node.expressions, strict=False))
        return getattr(exp, name)(**parts) if len(node.expressions) == args else None

    return rule


def _any(node: Node, _semantics: DialectSemantics) -> Node:
    """Spark's ANY(x), an aggregate; beside a comparison, ANY is what x is compared with."""
    from sqlglot import exp

    is_compared = isinstance(node.parent, exp.Binary) and not isinstance(node.parent, exp.Connector)
    return None if is_compared or type(node.this).__name__ != "Paren" else exp.LogicalOr(this=node.this.this)


def _as_cast(kind: str) -> Rule:
    """A cast to this type, which cuts fractions off."""

    def rule(node: Node, _semantics: DialectSemantics) -> Node:
        from sqlglot import exp

        if len(node.expressions) != 1:
            return None
        cast = exp.Cast(this=node.expressions[0], to=exp.DataType.build(kind))
        cast.set("rounding", Rounding.TOWARDS_ZERO)
        return cast

    return rule


def _if_null(node: Node, _semantics: DialectSemantics) -> Node:
    """ISNULL and ISNOTNULL of one argument."""
    from sqlglot import exp

    if len(node.expressions) != 1:
        return None
    is_null = exp.Is(this=node.expressions[0], expression=exp.Null())
    return is_null if node.name.casefold() == "isnull" else exp.Not(this=is_null)


def _cases(node: Node, _semantics: DialectSemantics) -> Node:
    """ClickHouse's multiIf(condition, result, …, else)."""
    from sqlglot import exp

    *pairs, default = node.expressions or [exp.Null()]
    if not pairs or len(pairs) % 2:
        return None
    ifs = [exp.If(this=pairs[n], true=pairs[n + 1]) for n in range(0, len(pairs), 2)]
    return exp.Case(ifs=ifs, default=default)


def _aggregate(node: Node, _semantics: DialectSemantics) -> Node:
    """ClickHouse's aggregates: stddevPop(x), and sumIf(x, condition) of those rows for which it is true."""
    from sqlglot import exp

    name, args = node.name.casefold(), list(node.expressions)
    condition = args.pop() if name.endswith("if") and len(args) > 1 else None
    known = _AGGREGATES.get(name.removesuffix("if") if condition is not None else name)
    if known is None or len(args) != (2 if known.startswith("Covar") else 1):
        return None
    of = exp.Distinct(expressions=args) if known == "Count" else args[0]
    found = getattr(exp, known)(this=of, **({"expression": args[1]} if len(args) > 1 else {}))
    return found if condition is None else exp.Filter(this=found, expression=exp.Where(this=condition))


_AGGREGATES = {
    "sum": "Sum",
    "avg": "Avg",
    "min": "Min",
    "max": "Max",
    "median": "Median",
    "uniq": "ApproxDistinct",
    "uniqexact": "Count",
    "stddevpop": "StddevPop",
    "stddevsamp": "StddevSamp",
    "varpop": "VariancePop",
    "varsamp": "Variance",
    "covarpop": "CovarPop",
    "covarsamp": "CovarSamp",
}

_PARTS = ("Year", "Quarter", "Month", "DayOfMonth", "DayOfYear", "Hour", "Minute", "Second")

_BY_NAME: Mapping[str, Rule] = {
    **NAMED,
    **dict.fromkeys(("isnull", "isnotnull"), _if_null),
    **{f"to{name.casefold()}": _as(name) for name in _PARTS},
    **{
        f"toint{bits}": _as_cast(kind) for bits, kind in ((8, "tinyint"), (16, "smallint"), (32, "int"), (64, "bigint"))
    },
    "tofloat32": _as_cast("float"),
    "tofloat64": _as_cast("double"),
    "tostring": _as_cast("varchar"),
    "todate": _as_cast("date"),
    "todatetime": _as_cast("datetime"),
    "intdiv": _as("IntDiv", 2),
    "modulo": _as("Mod", 2),
    "multiif": _cases,
    "trunc": _as("Trunc"),
    "var": _as("Variance"),
    "varp": _as("VariancePop"),
    **dict.fromkeys(("stdev", "std"), _as("Stddev")),
    "stats_mode": _as("Mode"),
    "some": _as("LogicalOr"),
    "every": _as("LogicalAnd"),
    "stdevp": _as("StddevPop"),
}
"""By name in small letters: Oracle's, Spark's, SQL Server's and ClickHouse's."""


FUNCTIONS: Mapping[str, Rule] = {
    **dict.fromkeys(("Like", "ILike"), _like),
    "Escape": _escaped,
    **dict.fromkeys(("StartsWith", "EndsWith", "Contains"), _beginning),
    "Length": _length,
    "Trim": _trim,
    **dict.fromkeys(("Cast", "TryCast"), _cast),
    "Convert": _converted,
    "ToChar": _written,
    "Timestamp": _stamp,
    "Literal": _constant,
    "National": _national,
    "Anonymous": _named,
    "Any": _any,
    **dict.fromkeys(("AnonymousAggFunc", "CombinedAggFunc"), _aggregate),
}
"""By the names of the parser's classes."""
