"""Functions as one dialect or another calls them, put into common words: those that the parser knows by name alone.

The texts and casts of dialects are in files of their own, and join them in `FUNCTIONS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.query.sql.calendars import NAMED
from discreet.query.sql.dialect_casts import CASTS
from discreet.query.sql.dialect_semantics import DialectSemantics, Node, Rounding, Rule
from discreet.query.sql.dialect_texts import TEXTS


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
"""Rules by name in small letters: Oracle's, Spark's, SQL Server's and ClickHouse's."""


FUNCTIONS: Mapping[str, Rule] = {
    **TEXTS,
    **CASTS,
    "Anonymous": _named,
    "Any": _any,
    **dict.fromkeys(("AnonymousAggFunc", "CombinedAggFunc"), _aggregate),
}
"""Rules by the names of the parser's classes."""
