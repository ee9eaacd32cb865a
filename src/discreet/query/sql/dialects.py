"""Dialects: rewriting what one dialect means into words that mean the same everywhere, or refusing it.

It works on the syntax tree, between parsing and binding. What depends on the kinds of values is left to the binder, as
a mark on the node: `rounding` of a cast, `whole_units` of a DATE_DIFF; or it looks there what the dialect means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.errors import Hint, TypeMismatch, Unsupported
from discreet.query.sql.calendars import CALENDAR, Node, Rule
from discreet.query.sql.dialect_semantics import MEANING, DialectSemantics, semantics_of, undivided
from discreet.query.sql.function_names import aggregate, named
from discreet.query.sql.refusals import DROPPED, FLAGS, SAID, said, too_many, unknown_part
from discreet.query.sql.scopes import placed

if TYPE_CHECKING:
    from sqlglot import exp

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
    "requires_string": "what can't be cast is NULL, and TRY_CAST means the same as CAST",
    "return_type": "a date plus days or months is a date, a timestamp plus them a timestamp",
    "zero_on_all_null": "a count is never NULL",
    "zero_start": "SUBSTRING begins at 1 at the least",
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
}
READ: Mapping[str, frozenset[str]] = {name: frozenset(parts.split()) for name, parts in _REWRITTEN.items()}
"""The parts of nodes in whose place rules put others: what a rule doesn't read can't be passed over."""

_ZONED = {"TIMESTAMPTZ", "TIMESTAMPLTZ"}


def plain(text: str, tree: exp.Expression, dialect: str) -> exp.Expression:
    """The tree in words that mean the same in every dialect; it may be changed in place.

    Raises:
        QueryError: the dialect means something that isn't offered, or that isn't known; with the place.
    """
    semantics = semantics_of(dialect)
    root = _Root(tree)
    nodes: list[Node] = list(tree.walk())
    for node in reversed(nodes):
        name = type(node).__name__
        node.meta[MEANING] = dialect
        with placed(text, node):
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
    """Take out flags that mean nothing here; refuse arguments too many, which may have come to stand for one."""
    if node.meta.get(DROPPED):
        raise too_many(node)
    for part in FLAGS.intersection(node.args):
        value = node.args[part]
        if hasattr(value, "walk") and type(value).__name__ != "DataType":
            raise too_many(node)
        if part in MEANINGLESS:
            node.set(part, None)


def _check_read(node: Node) -> None:
    """Refuse parts that the rule of a node has passed over."""
    for part, value in node.args.items():
        if value and part not in READ[type(node).__name__]:
            raise unknown_part(node, part, value)


class _Root:
    """A tree whose root may be replaced too."""

    def __init__(self, tree: exp.Expression) -> None:
        """Begin with this one."""
        self.tree = tree

    def replace(self, node: Node, new: Node) -> None:
        """Put one node in the place of another."""
        if node is self.tree:
            self.tree = new
        else:
            node.replace(new)


# ── Choices and counts ───────────────────────────────────────────────────────────────────────────────────────────────


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


# ── Numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rounded(node: Node, _semantics: DialectSemantics) -> Node:
    """ROUND, whose third argument cuts digits off in T-SQL, and names a way to round in Snowflake."""
    from sqlglot import exp

    how, digits = node.args.get("truncate"), node.args.get("decimals")
    if how is None:
        return None
    if how.name in {"0", "HALF_AWAY_FROM_ZERO"}:
        return exp.Round(this=node.this, decimals=digits)
    if how.name.isdigit() and digits is not None and digits.name == "0":
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


# ── Texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _like(node: Node, semantics: DialectSemantics) -> Node:
    """LIKE, which gives a backslash a meaning in many dialects."""
    from sqlglot import exp

    pattern = node.expression
    if semantics.escapes and type(pattern).__name__ == "Literal" and "\\" in pattern.name:
        raise Unsupported("a backslash in the pattern of LIKE escapes what follows", hint="LIKE takes % and _ alone")
    if semantics.classes and "[" in pattern.name:
        raise Unsupported("[ ] in the pattern of LIKE stand for a class of characters", hint="LIKE takes % and _ alone")
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
            "what a text begins or ends with, or contains, is written out, without %, _ and \\", hint="LIKE 'a%'"
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
"""What CONVERT calls dates that are written 2024-12-31."""

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
    """Whether so many digits of seconds change nothing: no more are written out, or there are six, as here."""
    if not digits.isdigit() or int(digits) >= 6:  # noqa: PLR2004 — microseconds
        return digits.isdigit()
    fraction = of.name.partition(".")[2] if type(of).__name__ == "Literal" else "?" * 6
    return len(fraction) <= int(digits)


def _decimal(node: Node, to: Node, semantics: DialectSemantics) -> None:
    """Note how many digits a DECIMAL has, in all and behind the point."""
    from sqlglot import exp

    sizes = [part.name for part in to.expressions]
    if not all(size.isdigit() and int(size) <= 76 for size in sizes):  # noqa: PLR2004 — BigQuery's longest
        raise TypeMismatch("DECIMAL takes how many digits there are, and how many behind the point")
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

    style, to = node.args.get("style"), getattr(node.this.this, "name", "")
    if style is not None and not (style.name in _ISO_STYLES and (to == "DATE" or to in _SECONDS)):
        raise Unsupported("CONVERT takes no style here but those of 2024-12-31", hint="CAST(x AS …)")
    cast = exp.Cast(this=node.expression, to=node.this)
    _cast(cast, semantics)
    return cast


# ── Lists ────────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── Clauses ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    "DecodeCase": _decoded,
    "Nvl2": _chosen,
    **dict.fromkeys(("Variance", "Stddev"), _spread),
    **dict.fromkeys(("Like", "ILike"), _like),
    "Escape": _escaped,
    **dict.fromkeys(("StartsWith", "EndsWith", "Contains"), _beginning),
    "Length": _length,
    "Trim": _trim,
    **dict.fromkeys(("Cast", "TryCast"), _cast),
    "Convert": _converted,
    "EqualNull": _equal,
    "Literal": _constant,
    "National": _national,
    "Round": _rounded,
    "Div": _divided,
    "Anonymous": named,
    **dict.fromkeys(("AnonymousAggFunc", "CombinedAggFunc"), aggregate),
    "EQ": _equals,
    "In": _among,
    "Subquery": _nested,
    "Fetch": _fetch,
    "Window": _window,
}
"""By the names of the parser's classes."""
