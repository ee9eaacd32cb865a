"""Margins: DP_INTERVAL_LOW, DP_INTERVAL_HIGH and DP_STDDEV say how far the noise may have carried a value.

Snowflake has the first two.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.sql.aggregate_syntax import MARGINS
from discreet.query.sql.bind import Bind
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp


_CONFIDENCE = Fraction(95, 100)

_LEVEL = re.compile(r"0?\.\d{1,9}", re.ASCII)

_RANGES = {Kind.INTEGER: Fraction(2**52), Kind.REAL: Fraction(2**200)}
"""Noise has no bounds, so these are the ranges that arithmetic needs, not the likely ones; so are those of
aggregates."""


def margin(node: exp.Expression, bind: Bind) -> ir.Margin:
    """Read a node that asks how far noise carried a value.

    Args:
        node: one for which `is_margin` holds.
        bind: from the node of a column of the answer, or of an aggregate, to its expression.

    Raises:
        TypeMismatch: not one number, or a confidence out of range.
        Unsupported: a margin of a margin.
    """
    side, args = MARGINS[node.name.casefold()], node.expressions
    most = 1 if side is ir.Side.DEVIATION else 2
    if not 1 <= len(args) <= most:
        takes = "a column of the answer" + ("" if most == 1 else ", and perhaps a confidence")
        raise TypeMismatch(f"{node.name.upper()} takes {takes}", hint=f"{node.name.upper()}(n)")
    of = bind(args[0])
    if any(True for _ in ir.margins(of)):
        raise Unsupported("an interval's end has no interval of its own", hint="name a column that is measured")
    if not of.type.kind.is_number:
        raise TypeMismatch(f"{node.name.upper()} takes a number, not {of.type.kind}")
    confidence = _confidence(args[1]) if len(args) > 1 else _CONFIDENCE
    whole = isinstance(of, ir.Released) and of.type.kind is Kind.INTEGER and side is not ir.Side.DEVIATION
    kind = Kind.INTEGER if whole else Kind.REAL
    return ir.Margin(side, of, confidence, ir.Type(kind, -_RANGES[kind], _RANGES[kind], nullable=True))


def _confidence(node: exp.Expression) -> Fraction:
    """A number between 0 and 1, written out."""
    text = node.name if type(node).__name__ == "Literal" and not node.args.get("is_string") else ""
    if not _LEVEL.fullmatch(text) or not Fraction(text):
        raise TypeMismatch("a confidence is a number between 0 and 1, written out", hint="DP_INTERVAL_LOW(n, 0.99)")
    return Fraction(text)
