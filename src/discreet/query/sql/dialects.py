"""Dialects: rewriting what one dialect means into words that mean the same everywhere, or refusing it.

It works on the syntax tree, between parsing and binding. Whatever depends on the kinds of values is left to the binder,
as a mark on the node: `rounding` of a cast, `whole_units` of a DATE_DIFF; or it looks there what the dialect means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.errors import Unsupported
from discreet.query.sql.calendars import CALENDAR
from discreet.query.sql.dialect_functions import FUNCTIONS
from discreet.query.sql.dialect_semantics import MEANING, DialectSemantics, Node, Rule, semantics_of, undivided
from discreet.query.sql.places import placed
from discreet.query.sql.refusals import DROPPED, FLAGS, SAID, said, too_many, unknown_part

if TYPE_CHECKING:
    from sqlglot import exp


_NAMES = {"Var", "Literal", "Column", "Identifier", "WeekStart", "IntervalSpan", "Star"}
"""Classes of nodes that name a unit, a part of a date, a size or a format."""

_NAMED = ("unit", "mode", "style", "truncate", "format")
"""Parts of nodes whose names alone are read by rules."""

MEANINGLESS: Mapping[str, str] = {
    "allow_overflow": "a date made of parts is written out, and one that is none is refused",
    "big_int": "whole numbers have 64 bits",
    "casts_non_integer_decimals": "ROUND takes how many digits as a whole number that is written out",
    "fractions_supported": "so does TRUNC",
    "input_type_preserved": "DATE_TRUNC gives a date for periods from a day on, whatever it is given",
    "is_null": "ISNULL of two arguments is COALESCE",
    "is_nvl": "so are NVL and IFNULL",
    "negative_length_returns_empty": "LEFT takes no negative length",
    "null_on_text_overflow": "a cast to a text that cuts it off is refused in that dialect",
    "preserve_end_of_month": "what a dialect's ADD_MONTHS makes of ends of months is among its semantics",
    "requires_string": "what can't be cast is NULL, and TRY_CAST means the same as CAST",
    "return_type": "a date plus days or months is a date, a timestamp plus them a timestamp",
    "zero_on_all_null": "a count is never NULL",
    "zero_start": "SUBSTRING begins at 1 or later",
}
"""Flags of the parser's that change nothing here, and why."""

_REWRITTEN = {
    "DecodeCase": "expressions",
    "Nvl2": "this true false",
    **dict.fromkeys(("Variance", "Stddev", "National", "DayOfWeek"), "this"),
    **dict.fromkeys(("Like", "ILike"), "this expression negate"),
    **dict.fromkeys(("Escape", "StartsWith", "EndsWith", "Contains", "EqualNull", "Extract", "EQ"), "this expression"),
    "Length": "this binary",
    "Convert": "this expression style safe",
    "Round": "this decimals truncate",
    "Fetch": "direction count limit_options",
    "Week": "this mode",
    "DatetimeTrunc": "this unit zone",
    **dict.fromkeys(("DateAdd", "DateSub"), "this expression unit"),
    "ToChar": "this format",
    **dict.fromkeys(("TsOrDsDiff", "TimestampDiff"), "this expression unit"),
    "TsOrDsToDate": "this safe format default_date",  # dates that are written out have a year, a month and a day
    **dict.fromkeys(("TsOrDsToTimestamp", "TimeStrToTime", "DateStrToDate"), "this"),
    "Timestamp": "this with_tz",
    **dict.fromkeys(("StrToTime", "StrToDate"), "this format default_year safe"),
    "DateFromParts": "year month day",
    "TimestampFromParts": "year month day hour min sec",
    **dict.fromkeys(("Anonymous", "AnonymousAggFunc", "CombinedAggFunc"), "this expressions"),
    "Any": "this",
}
READ: Mapping[str, frozenset[str]] = {name: frozenset(parts.split()) for name, parts in _REWRITTEN.items()}
"""The parts of nodes in whose place rules put others: what a rule doesn't read can't be passed over."""


def plain(tree: exp.Expression, dialect: str) -> exp.Expression:
    """The tree in words that mean the same in every dialect; it may be changed in place.

    Raises:
        QueryError: the dialect means something that isn't supported, or that isn't known; with the place.
    """
    semantics = semantics_of(dialect)
    root = _Root(tree)
    nodes: list[Node] = list(tree.walk())
    for node in reversed(nodes):
        name = type(node).__name__
        node.meta[MEANING] = dialect
        with placed(node):
            _check_flags(node)
            rule = RULES.get(name)
            new = None if rule is None else rule(node, semantics)
            if new is not None and new is not node:
                _check_read(node)
                new.meta.setdefault(SAID, said(node))
                new.meta.setdefault(MEANING, dialect)
                root.replace(node, new)
    return root.tree


def _check_flags(node: Node) -> None:
    """Take out flags that mean nothing here; refuse arguments too many, which may have come to stand for one.

    And a unit or a size that is more than a word or a number: rules read its name alone.
    """
    if node.meta.get(DROPPED):
        raise too_many(node)
    parts = [node.args.get(part) for part in _NAMED if type(node).__name__ != "Interval"]
    parts += [node.this] if type(node).__name__ in {"Extract", "DataTypeParam"} else []
    if any(hasattr(part, "walk") and type(part).__name__ not in _NAMES for part in parts):
        raise Unsupported(f"{said(node) or 'this'} takes a name here, or a number", hint="leave out what is around it")
    for part in FLAGS.intersection(node.args):
        value = node.args[part]
        if hasattr(value, "walk") and type(value).__name__ != "DataType":
            raise too_many(node)
        if part in MEANINGLESS:
            node.set(part, None)


def _check_read(node: Node) -> None:
    """Refuse parts that a node's rule hasn't read."""
    for part, value in node.args.items():
        if value and part not in READ[type(node).__name__]:
            raise unknown_part(node, part, value)


class _Root:
    """A tree whose root may be replaced too."""

    def __init__(self, tree: exp.Expression) -> None:
        self.tree = tree

    def replace(self, node: Node, new: Node) -> None:
        """Put one node in place of another."""
        if node is self.tree:
            self.tree = new
        else:
            node.replace(new)


def _decoded(node: Node, _semantics: DialectSemantics) -> Node:
    """DECODE: CASE, but for NULL, which it finds equal to NULL."""
    from sqlglot import exp

    subject, *rest = node.expressions
    pairs, default = rest[: len(rest) // 2 * 2], rest[-1] if len(rest) % 2 else None
    if not pairs or any(type(value).__name__ not in {"Literal", "Boolean", "Neg"} for value in pairs[::2]):
        raise Unsupported("DECODE takes values that are written out, and not NULL", hint="CASE WHEN x IS NULL THEN …")
    ifs = [exp.If(this=pairs[n], true=pairs[n + 1]) for n in range(0, len(pairs), 2)]
    return exp.Case(this=subject, ifs=ifs, default=default)


def _chosen(node: Node, _semantics: DialectSemantics) -> Node:
    """NVL2(x, if it isn't NULL, if it is)."""
    from sqlglot import exp

    is_null = exp.Is(this=node.this, expression=exp.Null())
    return exp.If(this=is_null, true=node.args.get("false") or exp.Null(), false=node.args["true"])


def _equal(node: Node, _semantics: DialectSemantics) -> Node:
    """EQUAL_NULL."""
    from sqlglot import exp

    return exp.NullSafeEQ(this=node.this, expression=node.expression)


def _spread(node: Node, semantics: DialectSemantics) -> Node:
    """VARIANCE and STDDEV, which divide by n in some dialects."""
    from sqlglot import exp

    if not semantics.population:
        return None
    return (exp.VariancePop if type(node).__name__ == "Variance" else exp.StddevPop)(this=node.this)


def _rounded(node: Node, _semantics: DialectSemantics) -> Node:
    """ROUND, whose third argument cuts digits off in T-SQL, and names a way to round in Snowflake."""
    from sqlglot import exp

    how, digits = node.args.get("truncate"), node.args.get("decimals")
    if how is None:
        return None
    if how.name in {"0", "HALF_AWAY_FROM_ZERO"}:
        return exp.Round(this=node.this, decimals=digits)
    if how.name.isdigit() and type(digits).__name__ == "Literal" and digits.name == "0":
        return exp.Trunc(this=node.this)
    return None


def _divided(node: Node, semantics: DialectSemantics) -> Node:
    """A quotient, real where one of its parts is what the dialect's FLOOR or ROUND gives."""
    if node.args.get("typed") and any(
        type(part).__name__ in semantics.real_roundings
        for side in (node.this, node.expression)
        for part in undivided(side)
    ):
        node.set("typed", None)


def _listed(node: Node) -> Node:
    """The array that is written out in a node, perhaps in parentheses; None if there is none."""
    while type(node).__name__ == "Paren":
        node = node.this
    return node if type(node).__name__ == "Array" else None


def _equals(node: Node, _semantics: DialectSemantics) -> Node:
    """IN, which Postgres also writes x = ANY (ARRAY[1, 2])."""
    from sqlglot import exp

    any_of = node.expression
    array = _listed(any_of.this) if type(any_of).__name__ == "Any" else None
    return None if array is None else exp.In(this=node.this, expressions=array.expressions)


def _among(node: Node, _semantics: DialectSemantics) -> Node:
    """IN of a list that is written as an array: x IN UNNEST([1, 2])."""
    unnest: Node = node.args.get("unnest")
    if unnest is not None and not unnest.args.get("alias") and len(unnest.expressions) == 1:
        array = _listed(unnest.expressions[0])
        if array is not None:
            node.set("unnest", None)
            node.set("expressions", array.expressions)


def _nested(node: Node, _semantics: DialectSemantics) -> Node:
    """A subquery in more parentheses than it needs."""
    inner = node.this
    if type(inner).__name__ == "Subquery" and not any(value for part, value in inner.args.items() if part != "this"):
        node.set("this", inner.this)


def _fetch(node: Node, _semantics: DialectSemantics) -> Node:
    """FETCH FIRST n ROWS ONLY: LIMIT."""
    from sqlglot import exp

    said = node.args.get("limit_options")
    if said is not None and (said.args.get("percent") or said.args.get("with_ties")):
        raise Unsupported("FETCH takes a number of rows", hint="FETCH FIRST 10 ROWS ONLY")
    return exp.Limit(expression=node.args.get("count") or exp.Literal.number(1))


def _window(node: Node, _semantics: DialectSemantics) -> Node:
    """A window whose frame says what holds without it."""
    spec = node.args.get("spec")
    if spec is None:
        return None
    frame = tuple(str(spec.args.get(part) or "").upper() for part in ("kind", "start", "start_side", "end", "end_side"))
    name = type(node.this).__name__
    of_places = name in {"RowNumber", "Rank", "DenseRank", "Lag", "Lead"}
    from_first = frame[1:3] == ("UNBOUNDED", "PRECEDING")
    whole = from_first and frame[3:] == ("UNBOUNDED", "FOLLOWING")
    if (
        of_places
        or (from_first and frame[0] == "RANGE" and frame[3] == "CURRENT ROW")
        or (whole and name == "FirstValue")
    ):
        node.set("spec", None)
    elif whole and name not in {"LastValue", "NthValue"}:
        node.set("spec", None)
        node.set("order", None)
    return None


RULES: Mapping[str, Rule] = {
    **CALENDAR,
    **FUNCTIONS,
    "DecodeCase": _decoded,
    "Nvl2": _chosen,
    "EqualNull": _equal,
    **dict.fromkeys(("Variance", "Stddev"), _spread),
    "Round": _rounded,
    "Div": _divided,
    "EQ": _equals,
    "In": _among,
    "Subquery": _nested,
    "Fetch": _fetch,
    "Window": _window,
}
"""Rules by the names of the parser's classes."""
