"""Aggregate syntax: which nodes are aggregates, and what an aggregate in SQL asks for, however it is written.

MEDIAN(x), QUANTILE_CONT(x, 0.5), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) and APPROX_QUANTILES(x, 2)[OFFSET(1)]
are one thing said in four ways; here they become one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.sql.refusals import refusal, unknown_part

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression


MOST_LISTED = 1_000
"""How many of the most frequent values may be asked for at once."""

_FRACTION = re.compile(r"\d*\.?\d{0,9}", re.ASCII)
"""How fractions may be written: nine digits tell apart more ranks than tables have rows."""

_OF_UNITS = {"Min", "Max", "Median", "LogicalOr", "LogicalAnd", "AnyValue"}
"""Those that are offered of one unit's rows, in a subquery."""

MARGINS = {str(side): side for side in ir.Side}
"""DP_INTERVAL_LOW, DP_INTERVAL_HIGH and DP_STDDEV, by name in small letters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateCall:
    """What an aggregate's syntax asks for, not yet bound.

    Args:
        statistic: which one.
        of: its argument; None if it has none.
        other: the second argument of COVAR and CORR.
        fraction: of a quantile.
        most: how many values a list of the most frequent ones has.
        conditions: which rows count: those for which all of them are true.
        distinct: whether equal values count once.
    """

    statistic: ir.Statistic
    of: Node | None
    other: Node | None = None
    fraction: Fraction | None = None
    most: int | None = None
    conditions: tuple[Node, ...] = ()
    distinct: bool = False


def aggregate_call(node: Node) -> AggregateCall:
    """What an aggregate's node asks for.

    Raises:
        QueryError: it isn't offered, or a part of it isn't understood.
    """
    read = AGGREGATE_SYNTAX.get(type(node).__name__)
    if read is None:
        raise refusal(node)
    return read(node)


def is_aggregate(node: exp.Expression) -> bool:
    """Whether a syntax node is an aggregate, of an answer or of one unit's rows."""
    return type(node).__name__ in _OF_UNITS or is_aggregate_call(node)


def is_aggregate_call(node: Node) -> bool:
    """Whether a node is an aggregate that is offered in some form."""
    name = type(node).__name__
    if name == "Anonymous":
        return node.name.casefold() in _ANONYMOUS
    if name == "Bracket":
        return type(node.this).__name__ == "ApproxQuantiles"
    if name in {"Filter", "WithinGroup"}:
        return is_aggregate_call(node.this)
    return name in AGGREGATE_SYNTAX


def is_margin(node: exp.Expression) -> bool:
    """Whether a node asks how far the noise may have carried a value."""
    return type(node).__name__ == "Anonymous" and node.name.casefold() in MARGINS


def _of_one(statistic: ir.Statistic) -> Callable[[Node], AggregateCall]:
    """An aggregate of one argument."""

    def call(node: Node) -> AggregateCall:
        _check_parts(node, "this")
        of = node.args.get("this")
        if type(of).__name__ == "Distinct":
            raise Unsupported(
                f"{str(statistic).upper()}(DISTINCT …) isn't offered: equal values of different units would count once",
                hint=f"{str(statistic).upper()} takes all rows; COUNT(DISTINCT x) counts values",
            )
        return AggregateCall(statistic=statistic, of=of)

    return call


def _count(node: Node) -> AggregateCall:
    """COUNT(*), COUNT(x) and COUNT(DISTINCT x)."""
    _check_parts(node, "this", "big_int")
    of = node.args.get("this")
    kind = type(of).__name__
    if of is None or (kind == "Star" and not any(of.args.values())):
        return AggregateCall(statistic=ir.Statistic.COUNT, of=None)
    if kind != "Distinct":
        return AggregateCall(statistic=ir.Statistic.COUNT, of=of)
    if len(of.expressions) != 1 or of.args.get("on") or type(of.expressions[0]).__name__ == "Tuple":
        raise Unsupported(
            "COUNT(DISTINCT …) takes one value",
            hint="join several into one text: COUNT(DISTINCT a || '/' || b)",
        )
    return AggregateCall(statistic=ir.Statistic.COUNT, of=of.expressions[0], distinct=True)


def _of_two(statistic: ir.Statistic) -> Callable[[Node], AggregateCall]:
    """An aggregate of two arguments."""

    def call(node: Node) -> AggregateCall:
        _check_parts(node, "this", "expression", *_switches(node, "null_on_zero_variance"))
        return AggregateCall(statistic=statistic, of=node.args.get("this"), other=node.args.get("expression"))

    return call


def _count_if(node: Node) -> AggregateCall:
    """COUNT_IF(condition): the rows for which it is true."""
    _check_parts(node, "this", "big_int", "zero_on_all_null")
    return AggregateCall(statistic=ir.Statistic.COUNT, of=None, conditions=(node.this,))


def _approximately_distinct(node: Node) -> AggregateCall:
    """APPROX_COUNT_DISTINCT(x): no less exact here than COUNT(DISTINCT x)."""
    _check_parts(node, "this")
    return AggregateCall(statistic=ir.Statistic.COUNT, of=node.this, distinct=True)


def _extreme(fraction: int) -> Callable[[Node], AggregateCall]:
    """MIN and MAX; DISTINCT changes nothing in them."""

    def call(node: Node) -> AggregateCall:
        if node.args.get("count") or node.expressions:
            raise TypeMismatch("MIN and MAX take one argument", hint="a list of extremes isn't offered")
        _check_parts(node, "this")
        of = node.this
        if type(of).__name__ == "Distinct" and len(of.expressions) == 1 and not of.args.get("on"):
            of = of.expressions[0]
        return AggregateCall(statistic=ir.Statistic.QUANTILE, of=of, fraction=Fraction(fraction))

    return call


def _median(node: Node) -> AggregateCall:
    """MEDIAN(x)."""
    _check_parts(node, "this")
    return AggregateCall(statistic=ir.Statistic.QUANTILE, of=node.this, fraction=Fraction(1, 2))


def _quantile(part: str) -> Callable[[Node], AggregateCall]:
    """QUANTILE_CONT(x, q) and its like; `part` is what the parser calls the second argument."""

    def call(node: Node) -> AggregateCall:
        _check_parts(node, "this", part)
        fraction = node.args.get(part)
        if fraction is None and type(node).__name__.startswith("Percentile"):
            raise TypeMismatch(
                "this takes its values from ORDER BY",
                hint="PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), or QUANTILE_CONT(x, 0.5)",
            )
        return AggregateCall(statistic=ir.Statistic.QUANTILE, of=node.this, fraction=_fraction(fraction))

    return call


def _within_group(node: Node) -> AggregateCall:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x), and MODE()."""
    _check_parts(node, "this", "expression")
    inner, order = node.this, node.expression
    if type(order).__name__ != "Order" or len(order.expressions) != 1 or order.args.get("this"):
        raise Unsupported("WITHIN GROUP takes one value to order by")
    term = order.expressions[0]
    match type(inner).__name__:
        case "Mode":
            _check_parts(inner)
            return AggregateCall(statistic=ir.Statistic.MODE, of=term.this)
        case "PercentileCont" | "PercentileDisc":
            _check_parts(inner, "this")
            fraction = _fraction(inner.args.get("this"))
            fraction = 1 - fraction if term.args.get("desc") else fraction
            return AggregateCall(statistic=ir.Statistic.QUANTILE, of=term.this, fraction=fraction)
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
    return AggregateCall(statistic=ir.Statistic.QUANTILE, of=quantiles.this, fraction=Fraction(step, steps))


def _quantiles(_node: Node) -> AggregateCall:
    """APPROX_QUANTILES without an index: a list, of which every item would cost its share."""
    raise Unsupported(
        "APPROX_QUANTILES gives a list, and each of its items has a cost",
        hint="ask for one: APPROX_QUANTILES(x, 4)[OFFSET(1)]",
    )


def _mode(node: Node) -> AggregateCall:
    """MODE(x)."""
    _check_parts(node, "this", *_switches(node, "deterministic"))
    if node.args.get("this") is None:
        raise TypeMismatch("MODE takes an argument")
    return AggregateCall(statistic=ir.Statistic.MODE, of=node.this)


def _most_frequent(node: Node) -> AggregateCall:
    """APPROX_TOP_COUNT(x, k) and APPROX_TOP_K(x, k)."""
    _check_parts(node, "this", "expression")
    number = node.args.get("expression")
    most = 1 if number is None else _whole(number, 1, MOST_LISTED, "the number of values")
    return AggregateCall(statistic=ir.Statistic.MODE, of=node.this, most=most)


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
    name, args = node.name.casefold(), node.expressions
    if name not in _ANONYMOUS:
        raise refusal(node)
    statistic, takes = _ANONYMOUS[name]
    if len(args) != takes:
        raise TypeMismatch(f"{node.name.upper()} takes {'one argument' if takes == 1 else f'{takes} arguments'}")
    match statistic:
        case ir.Statistic.QUANTILE:
            fraction = Fraction(1, 2) if takes == 1 else _fraction(args[1])
            return AggregateCall(statistic=statistic, of=args[0], fraction=fraction)
        case ir.Statistic.MODE:
            most = _whole(args[1], 1, MOST_LISTED, "the number of values")
            return AggregateCall(statistic=statistic, of=args[0], most=most)
        case _:
            return AggregateCall(statistic=statistic, of=args[0])


def _switches(node: Node, *names: str) -> list[str]:
    """Those of some parts that the dialect sets, rather than the question: else they are arguments too many."""
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
            "a quantile's fraction is a number from 0 to 1, written out with nine digits at the most",
            hint="ask for each quantile in a column of its own" if several else "0.5 is the median",
        )
    return Fraction(text)


def _whole(node: Any, least: int, most: int, label: str) -> int:  # noqa: ANN401 — a part of a node, or none
    """A whole number, written out."""
    text = node.name if type(node).__name__ == "Literal" and not node.args.get("is_string") else ""
    if not text.isdecimal() or len(text) > len(str(most)) or not least <= int(text) <= most:
        raise Unsupported(f"{label} must be a whole number from {least} to {most}, written out")
    return int(text)


_ANONYMOUS: Mapping[str, tuple[ir.Statistic, int]] = {
    "mean": (ir.Statistic.AVG, 1),
    "approx_median": (ir.Statistic.QUANTILE, 1),
    **dict.fromkeys(("quantile_cont", "quantile_disc", "percentile", "percentile_approx"), (ir.Statistic.QUANTILE, 2)),
    "approx_top_count": (ir.Statistic.MODE, 2),
}
"""The statistic, and the number of arguments."""

AGGREGATE_SYNTAX: Mapping[str, Callable[[Any], AggregateCall]] = {
    "Anonymous": _anonymous,
    "Count": _count,
    "CountIf": _count_if,
    "ApproxDistinct": _approximately_distinct,
    "Sum": _of_one(ir.Statistic.SUM),
    "Avg": _of_one(ir.Statistic.AVG),
    "VariancePop": _of_one(ir.Statistic.VAR_POP),
    "Variance": _of_one(ir.Statistic.VAR_SAMP),
    "StddevPop": _of_one(ir.Statistic.STDDEV_POP),
    "Stddev": _of_one(ir.Statistic.STDDEV_SAMP),
    "StddevSamp": _of_one(ir.Statistic.STDDEV_SAMP),
    "CovarPop": _of_two(ir.Statistic.COVAR_POP),
    "CovarSamp": _of_two(ir.Statistic.COVAR_SAMP),
    "Corr": _of_two(ir.Statistic.CORR),
    "Min": _extreme(0),
    "Max": _extreme(1),
    "Median": _median,
    "Quantile": _quantile("quantile"),
    "ApproxQuantile": _quantile("quantile"),
    "PercentileCont": _quantile("expression"),
    "PercentileDisc": _quantile("expression"),
    "WithinGroup": _within_group,
    "ApproxQuantiles": _quantiles,
    "Bracket": _one_of_quantiles,
    "Mode": _mode,
    "ApproxTopK": _most_frequent,
    "Filter": _filtered,
}
"""By the name of sqlglot's class."""
