"""Dialects: rewriting what one dialect means into words that mean the same everywhere, or refusing it.

It works on the syntax tree, between parsing and binding. What depends on the kinds of values is left to the binder, as
a mark on the node: `rounding` of a cast, `whole_units` of a DATE_DIFF.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.errors import Hint, QueryError, TypeMismatch, Unsupported
from discreet.query.sql.calendars import CALENDAR, Node, Rule
from discreet.query.sql.dialect_semantics import DialectSemantics, semantics_of
from discreet.query.sql.scopes import place_of

if TYPE_CHECKING:
    from sqlglot import exp

_MEANINGLESS = ("input_type_preserved", "requires_string", "zero_on_all_null", "zero_start", "return_type")
"""Marks of the parser that change nothing here."""

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
        for mark in _MEANINGLESS:
            if mark in node.args:
                node.set(mark, None)
        rule = RULES.get(type(node).__name__)
        if rule is None:
            continue
        try:
            new = rule(node, semantics)
        except QueryError as error:
            error.place = error.place or place_of(text, node)
            raise
        if new is not None and new is not node:
            root.replace(node, new)
    return root.tree


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


def _cast(node: Node, semantics: DialectSemantics) -> Node:
    """CAST: how it rounds, how many digits a DECIMAL has, and whether a TIMESTAMP has a zone."""
    from sqlglot import exp

    to = node.args.get("to")
    if type(to).__name__ != "DataType":
        return None
    name = getattr(to.this, "name", "")
    if name in _ZONED and semantics.utc and not to.expressions:
        node.set("to", exp.DataType.build("datetime"))  # their TIMESTAMP; in UTC, as the tables' are taken to be
    if name == "DATETIME2":
        node.set("to", exp.DataType.build("datetime"))
    if name == "DECIMAL":
        _decimal(node, to, semantics)
    node.set("rounding", semantics.rounding or "unknown")
    return None


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

    if node.args.get("style"):
        raise Unsupported("CONVERT takes no style here", hint="CAST(x AS …)")
    cast = exp.Cast(this=node.expression, to=node.this)
    _cast(cast, semantics)
    return cast


# ── Clauses ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    "Fetch": _fetch,
    "Window": _window,
}
"""By the names of the parser's classes."""
