"""Aggregate syntax: which nodes are aggregates, and what an aggregate in SQL asks for, however it is written.

MEDIAN(x), QUANTILE_CONT(x, 0.5), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) and APPROX_QUANTILES(x, 2)[OFFSET(1)]
are one thing said in four ways; here they become one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.aggregates import DISTINCT, QUANTILE, SPELLINGS, Form, Spelling
from discreet.query.sql.refusals import refusal, unknown_part

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression


MOST_LISTED = 1_000
"""How many of the most frequent values may be asked for at once."""

_FRACTION = re.compile(r"\d*\.?\d{0,9}", re.ASCII)
"""The form of fractions: nine digits tell apart more ranks than tables have rows."""

MARGINS = {str(side): side for side in ir.Side}
"""DP_INTERVAL_LOW, DP_INTERVAL_HIGH and DP_STDDEV, by name in small letters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateCall:
    """An aggregate as its syntax asks for it, not yet bound.

    Args:
        function: which one.
        of: its argument; None if it has none.
        other: the second argument of COVAR, CORR and REGR_SLOPE.
        fraction: of a quantile.
        most: how many values a list of the most frequent ones has.
        conditions: which rows count: those for which all of them are true.
    """

    function: ir.AggregateFunction
    of: Node | None
    other: Node | None = None
    fraction: Fraction | None = None
    most: int | None = None
    conditions: tuple[Node, ...] = ()


def aggregate_call(node: Node) -> AggregateCall:
    """The aggregate that a node asks for.

    Raises:
        QueryError: it isn't supported, or a part of it isn't understood.
    """
    read = AGGREGATE_SYNTAX.get(type(node).__name__)
    if read is None:
        raise refusal(node)
    return read(node)


def is_aggregate(node: exp.Expression) -> bool:
    """Whether a syntax node is an aggregate, or ANY_VALUE, which is refused as one."""
    return type(node).__name__ == "AnyValue" or is_aggregate_call(node)


def is_aggregate_call(node: Node) -> bool:
    """Whether a node is an aggregate that is supported in some form."""
    name = type(node).__name__
    if name == "Anonymous":
        return node.name.casefold() in SPELLINGS
    if name == "Bracket":
        return type(node.this).__name__ == "ApproxQuantiles"
    if name in {"Filter", "WithinGroup"}:
        return is_aggregate_call(node.this)
    return name in AGGREGATE_SYNTAX


def is_margin(node: exp.Expression) -> bool:
    """Whether a node asks how far the noise may have carried a value."""
    return type(node).__name__ == "Anonymous" and node.name.casefold() in MARGINS


def _one(spelling: Spelling, node: Node) -> AggregateCall:
    _check_parts(node, "this")
    of, label = node.args.get("this"), spelling.function.name.upper()
    if type(of).__name__ == "Distinct" and spelling.function.adds_up:
        raise Unsupported(
            f"{label}(DISTINCT …) isn't supported: equal values of different units would count once",
            hint=f"{label} takes all rows; COUNT(DISTINCT x) counts values",
        )
    return AggregateCall(function=spelling.function, of=of, fraction=spelling.fraction)


def _rows(spelling: Spelling, node: Node) -> AggregateCall:
    _check_parts(node, "this", "big_int")
    of = node.args.get("this")
    kind = type(of).__name__
    if of is None or (kind == "Star" and not any(of.args.values())):
        return AggregateCall(function=spelling.function, of=None)
    if kind != "Distinct":
        return AggregateCall(function=spelling.function, of=of)
    if len(of.expressions) != 1 or of.args.get("on") or type(of.expressions[0]).__name__ == "Tuple":
        raise Unsupported(
            "COUNT(DISTINCT …) takes one value",
            hint="join several into one text: COUNT(DISTINCT a || '/' || b)",
        )
    return AggregateCall(function=DISTINCT, of=of.expressions[0])


def _two(spelling: Spelling, node: Node) -> AggregateCall:
    _check_parts(node, "this", "expression", *_switches(node, "null_on_zero_variance"))
    if node.args.get("expression") is None:
        label = spelling.function.name.upper()
        raise TypeMismatch(f"{label} takes two numbers", hint=f"name both: {label}(x, y)")
    return AggregateCall(function=spelling.function, of=node.args.get("this"), other=node.args.get("expression"))


def _condition(spelling: Spelling, node: Node) -> AggregateCall:
    _check_parts(node, "this", "big_int", "zero_on_all_null")
    return AggregateCall(function=spelling.function, of=None, conditions=(node.this,))


def _extreme(spelling: Spelling, node: Node) -> AggregateCall:
    if node.args.get("count") or node.expressions:
        raise TypeMismatch("MIN and MAX take one argument", hint="a list of extremes isn't supported")
    _check_parts(node, "this")
    of = node.this
    if type(of).__name__ == "Distinct" and len(of.expressions) == 1 and not of.args.get("on"):
        of = of.expressions[0]
    return AggregateCall(function=spelling.function, of=of, fraction=spelling.fraction)


def _with_fraction(spelling: Spelling, node: Node) -> AggregateCall:
    _check_parts(node, "this", "quantile")
    return AggregateCall(function=spelling.function, of=node.this, fraction=_fraction(node.args.get("quantile")))


def _within(spelling: Spelling, node: Node) -> AggregateCall:
    _check_parts(node, "this", "expression")
    fraction = node.args.get("expression")
    if fraction is None:
        raise TypeMismatch(
            "this takes its values from ORDER BY",
            hint="PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), or QUANTILE_CONT(x, 0.5)",
        )
    return AggregateCall(function=spelling.function, of=node.this, fraction=_fraction(fraction))


def _mode(spelling: Spelling, node: Node) -> AggregateCall:
    _check_parts(node, "this", *_switches(node, "deterministic"))
    if node.args.get("this") is None:
        raise TypeMismatch("MODE takes an argument")
    return AggregateCall(function=spelling.function, of=node.this)


def _list(spelling: Spelling, node: Node) -> AggregateCall:
    _check_parts(node, "this", "expression")
    number = node.args.get("expression")
    most = 1 if number is None else _whole(number, 1, MOST_LISTED, "the number of values")
    return AggregateCall(function=spelling.function, of=node.this, most=most)


_FORMS: Mapping[Form, Callable[[Spelling, Node], AggregateCall]] = {
    Form.ROWS: _rows,
    Form.CONDITION: _condition,
    Form.ONE: _one,
    Form.TWO: _two,
    Form.EXTREME: _extreme,
    Form.FRACTION: _with_fraction,
    Form.WITHIN: _within,
    Form.MODE: _mode,
    Form.LIST: _list,
}


def _within_group(node: Node) -> AggregateCall:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x), and MODE()."""
    _check_parts(node, "this", "expression")
    inner, order = node.this, node.expression
    if type(order).__name__ != "Order" or len(order.expressions) != 1 or order.args.get("this"):
        raise Unsupported("WITHIN GROUP takes one value to order by")
    term = order.expressions[0]
    spelling = SPELLINGS.get(type(inner).__name__)
    match spelling:
        case Spelling(form=Form.MODE):
            _check_parts(inner)
            return AggregateCall(function=spelling.function, of=term.this)
        case Spelling(form=Form.WITHIN):
            _check_parts(inner, "this")
            fraction = _fraction(inner.args.get("this"))
            fraction = 1 - fraction if term.args.get("desc") else fraction
            return AggregateCall(function=spelling.function, of=term.this, fraction=fraction)
        case _:
            raise refusal(node)


def _one_of_quantiles(node: Node) -> AggregateCall:
    """APPROX_QUANTILES(x, n)[OFFSET(k)]: the k-th of n equal steps."""
    _check_parts(node, "this", "expressions", "offset", "safe")
    quantiles = node.this
    if type(quantiles).__name__ != "ApproxQuantiles":
        raise refusal(node)
    _check_parts(quantiles, "this", "expression")
    number = node.expressions[0] if len(node.expressions) == 1 else None
    offset = node.args.get("offset") or 0
    if number is not None and type(number).__name__ == "Anonymous" and number.name.casefold() in {"offset", "ordinal"}:
        offset = int(number.name.casefold() == "ordinal")
        number = number.expressions[0] if len(number.expressions) == 1 else None
    steps = _whole(quantiles.args.get("expression"), 1, MOST_LISTED, "the number of steps")
    step = _whole(number, 0, MOST_LISTED + 1, "OFFSET") - offset
    if not 0 <= step <= steps:
        raise Unsupported(f"OFFSET goes from 0 to {steps} here")
    return AggregateCall(function=QUANTILE, of=quantiles.this, fraction=Fraction(step, steps))


def _quantiles(_node: Node) -> AggregateCall:
    """APPROX_QUANTILES without an index: a list, each item of which would cost its share."""
    raise Unsupported(
        "APPROX_QUANTILES gives a list, and each of its items has a cost",
        hint="ask for one: APPROX_QUANTILES(x, 4)[OFFSET(1)]",
    )


def _filtered(node: Node) -> AggregateCall:
    """An aggregate of the rows that FILTER (WHERE …) keeps."""
    _check_parts(node, "this", "expression")
    if not is_aggregate_call(node.this):
        raise refusal(node.this)
    wanted, where = aggregate_call(node.this), node.expression
    if type(where).__name__ != "Where":
        raise refusal(node)
    return replace(wanted, conditions=(*wanted.conditions, where.this))


def _anonymous(node: Node) -> AggregateCall:
    """Aggregates that the parser of some dialect has no class for."""
    spelling, args = SPELLINGS.get(node.name.casefold()), node.expressions
    if spelling is None:
        raise refusal(node)
    takes = 2 if spelling.form in {Form.TWO, Form.FRACTION, Form.LIST} else 1
    if len(args) != takes:
        raise TypeMismatch(f"{node.name.upper()} takes {'one argument' if takes == 1 else f'{takes} arguments'}")
    wanted = AggregateCall(function=spelling.function, of=args[0], fraction=spelling.fraction)
    match spelling.form:
        case Form.ONE | Form.EXTREME:
            return wanted
        case Form.TWO:
            return replace(wanted, other=args[1])
        case Form.FRACTION:
            return replace(wanted, fraction=_fraction(args[1]))
        case Form.LIST:
            return replace(wanted, most=_whole(args[1], 1, MOST_LISTED, "the number of values"))
        case _:
            raise refusal(node)


def _switches(node: Node, *names: str) -> list[str]:
    """The named parts that the dialect has set; set by the question, they are arguments too many."""
    return [name for name in names if isinstance(node.args.get(name), bool)]


def _check_parts(node: Node, *known: str) -> None:
    """Refuse parts that aren't understood."""
    for part, value in node.args.items():
        if value and part not in known:
            raise unknown_part(node, part, value)


def _fraction(node: Any) -> Fraction:  # noqa: ANN401 — a part of a node, or none
    """A number from 0 to 1, written out."""
    text = node.name if type(node).__name__ == "Literal" and not node.args.get("is_string") else ""
    if not text or not _FRACTION.fullmatch(text) or text == "." or Fraction(text) > 1:
        several = type(node).__name__ in {"Array", "Tuple", "List"}
        raise Unsupported(
            "a quantile's fraction is a number from 0 to 1, written out with at most nine digits",
            hint="ask for each quantile in a column of its own" if several else "0.5 is the median",
        )
    return Fraction(text)


def _whole(node: Any, least: int, most: int, label: str) -> int:  # noqa: ANN401 — a part of a node, or none
    """A whole number, written out."""
    text = node.name if type(node).__name__ == "Literal" and not node.args.get("is_string") else ""
    if not text.isdecimal() or len(text) > len(str(most)) or not least <= int(text) <= most:
        raise Unsupported(f"{label} must be a whole number from {least} to {most}, written out")
    return int(text)


AGGREGATE_SYNTAX: Mapping[str, Callable[[Any], AggregateCall]] = {
    **{name: partial(_FORMS[each.form], each) for name, each in SPELLINGS.items() if not name.islower()},
    "Anonymous": _anonymous,
    "WithinGroup": _within_group,
    "ApproxQuantiles": _quantiles,
    "Bracket": _one_of_quantiles,
    "Filter": _filtered,
}
"""Rules by the names of sqlglot's classes."""
