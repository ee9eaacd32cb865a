"""Functions and constants of texts as one dialect or another writes them, put into common words."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.errors import Unsupported
from discreet.hints import Hint
from discreet.query.sql.dialect_semantics import DialectSemantics, Node, Rule


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
    """STARTS_WITH, ENDS_WITH and CONTAINS of a text that is written out, as a pattern."""
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
    """A text that is NULL in dialects where the empty text is NULL."""
    if semantics.empty_is_null and node.args.get("is_string") and not node.name:
        raise Unsupported("'' is NULL in this dialect", hint="x IS NULL, or COALESCE(x, 'none')")


def _trim(node: Node, _semantics: DialectSemantics) -> Node:
    """TRIM of blanks that are named."""
    named = node.args.get("expression")
    if type(named).__name__ == "Literal" and named.name in {" ", " \t\n\r\v\f"}:
        node.set("expression", None)
    return None


TEXTS: Mapping[str, Rule] = {
    **dict.fromkeys(("Like", "ILike"), _like),
    "Escape": _escaped,
    **dict.fromkeys(("StartsWith", "EndsWith", "Contains"), _beginning),
    "Length": _length,
    "Trim": _trim,
    "Literal": _constant,
    "National": _national,
}
"""Rules by the names of the parser's classes."""
