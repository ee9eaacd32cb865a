"""Summaries: aggregates of one unit's rows inside of a subquery; exact, because they stay private."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import TypeMismatch, UnboundedColumn
from discreet.query import ir
from discreet.query.ir import cast, is_null, outward
from discreet.query.sql.binder import RowBinder
from discreet.query.sql.names import Names
from discreet.query.sql.refusals import refusal, unknown_part
from discreet.query.sql.scopes import Scope
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

SUMMARIES = {
    "Count": ir.Summary.COUNT,
    "Sum": ir.Summary.SUM,
    "Avg": ir.Summary.AVG,
    "Min": ir.Summary.MIN,
    "Max": ir.Summary.MAX,
    "Median": ir.Summary.MEDIAN,
    "LogicalOr": ir.Summary.ANY,
    "LogicalAnd": ir.Summary.ALL,
}

_REAL_BITS = 32
"""Real numbers are added up on a grid of some 2³² steps up to their greatest size, so that their sum doesn't depend on
their order."""


class Summaries:
    """The summaries of one subquery, in order of first appearance."""

    def __init__(self, scope: Scope, alias: str, names: Names) -> None:
        """Start with none.

        Args:
            scope: of their arguments.
            alias: of the relation that will have them as columns.
            names: those taken by keys; summaries get others.
        """
        self._rows = RowBinder(scope, "another aggregate")
        self._alias = alias
        self._names = names
        self._found: dict[ir.Summarized, ir.Column] = {}

    @property
    def found(self) -> tuple[ir.Summarized, ...]:
        """All of them."""
        return tuple(replace(each, name=column.name) for each, column in self._found.items())

    def released(self, node: exp.Expression) -> ir.Column:
        """The column that a summary becomes; equal ones are one.

        Raises:
            TypeMismatch: an argument of the wrong kind.
            UnboundedColumn: real numbers without bounds can't be added up exactly.
        """
        summarized = summary_of(node, self._rows)
        if summarized not in self._found:
            name = self._names.take(str(summarized.summary))
            self._found[summarized] = ir.Column(self._alias, name, summarized.type)
        return self._found[summarized]


def summary_of(node: exp.Expression, bind: RowBinder) -> ir.Summarized:
    """What an aggregate's node means, without a name yet.

    Raises:
        QueryError: it isn't offered, or not of this.
    """
    summary, of = SUMMARIES.get(type(node).__name__), node.args.get("this")
    if summary is None:
        raise refusal(node)
    for part, value in node.args.items():
        if value and part not in {"this", "big_int"}:
            raise unknown_part(part, value)
    if summary is ir.Summary.COUNT:
        return _count(of, bind)
    if of is None:
        raise TypeMismatch(f"{str(summary).upper()} takes an argument")
    argument = bind(of)
    if summary in {ir.Summary.ANY, ir.Summary.ALL}:
        if argument.type.kind is not Kind.BOOLEAN:
            raise TypeMismatch(f"this takes a condition, not {argument.type.kind}", hint="compare it: x > 0")
        return _summarized(summary, argument, ir.Type(Kind.BOOLEAN, nullable=argument.type.nullable))
    if summary in {ir.Summary.MIN, ir.Summary.MAX}:
        return _summarized(summary, argument, argument.type)
    return _added(summary, argument)


def _count(of: exp.Expression | None, bind: RowBinder) -> ir.Summarized:
    """COUNT of rows, of values, or of different values."""
    whole = ir.Type(Kind.INTEGER, Fraction(0), None, nullable=False)
    if of is None or (type(of).__name__ == "Star" and not any(of.args.values())):
        return _summarized(ir.Summary.COUNT, None, whole)
    if type(of).__name__ != "Distinct":
        argument = bind(of)
        counted = None if isinstance(argument, ir.Literal) and not is_null(argument) else argument
        return _summarized(ir.Summary.COUNT, counted, whole)
    if len(of.expressions) != 1 or of.args.get("on"):
        raise TypeMismatch("COUNT(DISTINCT …) takes one argument")
    return _summarized(ir.Summary.COUNT_DISTINCT, bind(of.expressions[0]), whole)


def _added(summary: ir.Summary, argument: ir.Expr) -> ir.Summarized:
    """SUM, AVG and MEDIAN: of numbers; a condition counts as 0 or 1."""
    if argument.type.kind is Kind.BOOLEAN:
        argument = cast(argument, Kind.INTEGER)
    if not argument.type.kind.is_number or is_null(argument):
        raise TypeMismatch(f"{str(summary).upper()} takes numbers, not {argument.type.kind}")
    of = argument.type
    is_real, grid = of.kind is Kind.REAL, 0
    if is_real and summary is not ir.Summary.MEDIAN:
        if of.lo is None or of.hi is None:
            raise UnboundedColumn(
                "real numbers are added up exactly only within bounds",
                hint="declare bounds for the column, or clamp in the question: GREATEST(LEAST(x, 100), 0)",
            )
        grid = _exponent(max(abs(of.lo), abs(of.hi))) - _REAL_BITS
    if summary is not ir.Summary.SUM:
        lo, hi = outward((of.lo, of.hi))
        return _summarized(summary, argument, ir.Type(Kind.REAL, lo, hi, nullable=of.nullable), grid)
    lo = Fraction(0) if of.lo is not None and of.lo >= 0 else None
    hi = Fraction(0) if of.hi is not None and of.hi <= 0 else None
    # A sum beyond 64 bits is NULL, and only whole numbers can get there.
    return _summarized(summary, argument, ir.Type(of.kind, lo, hi, nullable=of.nullable or not is_real), grid)


def _summarized(summary: ir.Summary, argument: ir.Expr | None, type_: ir.Type, grid: int = 0) -> ir.Summarized:
    """A summary that has no name yet."""
    return ir.Summarized(name="", summary=summary, argument=argument, type=type_, grid=grid)


def _exponent(size: Fraction) -> int:
    """The least e with size ≤ 2^e; 0 for size 0."""
    if size <= 0:
        return 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if size <= Fraction(2) ** exponent else exponent + 1
