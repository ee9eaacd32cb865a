"""Casts as one dialect or another writes them, put into common words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from discreet.errors import TypeMismatch, Unsupported
from discreet.query.sql.dialect_semantics import DialectSemantics, Node, Rule

_ISO_STYLES = {"20", "21", "23", "120", "121", "126"}
"""Styles of CONVERT in which dates are written 2024-12-31."""

_ZONED = {"TIMESTAMPTZ", "TIMESTAMPLTZ"}

_SECONDS = {"TIMESTAMP", "TIMESTAMPNTZ", "DATETIME", "DATETIME2"}
"""Types that may say how many digits the seconds have after the point."""


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
    """Change the type of a cast; messages go on calling it what the question does."""
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
    """TO_CHAR as Oracle and Snowflake have it: any value as a text, or a date in a format."""
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


CASTS: Mapping[str, Rule] = {
    **dict.fromkeys(("Cast", "TryCast"), _cast),
    "Convert": _converted,
    "ToChar": _written,
    "Timestamp": _stamp,
}
"""Rules by the names of the parser's classes."""
