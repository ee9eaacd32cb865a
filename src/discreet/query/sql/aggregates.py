"""Aggregates: what a question counts, adds up and chooses, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import TypeMismatch, UnboundedColumn, Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.ir import call, cast, is_null, listed, literal, unbounded
from discreet.query.sql.aggregate_syntax import AggregateCall, aggregate_call
from discreet.query.sql.binder import RowBinder
from discreet.query.sql.scopes import Names, Scope, is_unit
from discreet.query.sql.truth_values import as_condition
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

_WHOLE = ir.Type(Kind.INTEGER, Fraction(-(2**52)), Fraction(2**52), nullable=False)
_REAL = ir.Type(Kind.REAL, Fraction(-(2**200)), Fraction(2**200), nullable=False)
_MAYBE = ir.Type(Kind.REAL, Fraction(-(2**200)), Fraction(2**200), nullable=True)
"""Averages and spreads are NULL where a noisy count leaves nothing to divide by."""

_CORRELATION = ir.Type(Kind.REAL, Fraction(-1), Fraction(1), nullable=True)


class Aggregates:
    """The aggregates of one question, in order of first appearance."""

    def __init__(self, scope: Scope, unit: Unit, names: Names, called: Mapping[int, str]) -> None:
        """Start with none.

        Args:
            scope: of their arguments.
            unit: whose presence is hidden.
            names: those taken by keys; aggregates get others.
            called: names wanted, by the identity of the node; an aggregate without one is called by what it is.
        """
        self._scope = scope
        self._unit = unit
        self._names = names
        self._called = called
        self._rows = RowBinder(scope, "another aggregate")
        self._found: dict[ir.Aggregate, ir.Aggregate] = {}

    @property
    def found(self) -> tuple[ir.Aggregate, ...]:
        """All of them."""
        return tuple(self._found.values())

    def released(self, node: exp.Expression) -> ir.Released:
        """What an aggregate is released as; equal ones are one.

        Raises:
            Unsupported: it isn't offered, or a part of it isn't understood.
            TypeMismatch: an argument is of a kind that it doesn't take.
            UnboundedColumn: nothing limits what one row can add, or where a quantile can lie.
        """
        aggregate = self._bound(aggregate_call(node))
        found = self._found.get(aggregate)
        if found is None:
            name = self._names.take(self._called.get(id(node)) or str(aggregate))
            found = self._found[aggregate] = replace(aggregate, name=name)
        return ir.Released(found.name, _released_type(found))

    def _bound(self, wanted: AggregateCall) -> ir.Aggregate:
        """The aggregate, without a name yet."""
        statistic = wanted.statistic
        label = str(statistic).upper()
        match statistic:
            case ir.Statistic.COUNT:
                return self._distinct(wanted) if wanted.distinct else self._counted(wanted)
            case ir.Statistic.QUANTILE:
                return _aggregate(statistic, self._ordered(wanted), fraction=wanted.fraction)
            case ir.Statistic.MODE:
                return _aggregate(statistic, self._listed(wanted), most=wanted.most)
            case ir.Statistic.COVAR_POP | ir.Statistic.COVAR_SAMP | ir.Statistic.CORR:
                other = _number(label, self._rows(wanted.other))
                return _aggregate(statistic, _number(label, self._argument(wanted)), other=other)
            case _:
                return _aggregate(statistic, _number(label, self._argument(wanted)))

    def _argument(self, wanted: AggregateCall) -> ir.Expr:
        """The argument; NULL, which aggregates pass over, in rows that FILTER leaves out."""
        argument = literal(1) if wanted.of is None and wanted.conditions else self._rows(wanted.of)
        for condition in wanted.conditions:
            kept = as_condition("FILTER", condition, self._rows(condition))
            argument = call("if", kept, argument, literal(None))
        return argument

    def _counted(self, wanted: AggregateCall) -> ir.Aggregate:
        """COUNT of rows, or of rows where something isn't NULL."""
        if wanted.of is None and not wanted.conditions:
            return _aggregate(ir.Statistic.COUNT, None)
        argument = self._argument(wanted)
        is_row = isinstance(argument, ir.Literal) and not is_null(argument)
        return _aggregate(ir.Statistic.COUNT, None if is_row else argument)

    def _distinct(self, wanted: AggregateCall) -> ir.Aggregate:
        """COUNT(DISTINCT …): of units, if it is their id; of the different values of anything else."""
        argument = self._argument(wanted)
        if is_unit(argument, self._scope.facts, self._unit):
            return _aggregate(ir.Statistic.UNITS, None)
        if argument.type.kind is Kind.REAL:
            raise TypeMismatch(
                "real numbers can't be told apart exactly, so different ones aren't counted",
                hint="round to whole steps first: COUNT(DISTINCT FLOOR(x))",
            )
        return _aggregate(ir.Statistic.DISTINCT, _varying(argument))

    def _ordered(self, wanted: AggregateCall) -> ir.Expr:
        """What quantiles are of: numbers or times, with known ends."""
        argument = self._argument(wanted)
        if argument.type.kind is Kind.BOOLEAN:
            argument = cast(argument, Kind.INTEGER)
        if is_null(argument):
            return _no_number()
        if not (argument.type.kind.is_number or argument.type.kind.is_time):
            raise TypeMismatch(
                f"quantiles, MIN and MAX are of numbers and dates, not {argument.type.kind}",
                hint="GROUP BY counts the rows of each value; MODE gives the most frequent one",
            )
        if not argument.type.is_bounded and argument.type.kind.is_time:
            raise UnboundedColumn(
                f"nothing bounds these {argument.type.kind}s, so there is no list of values to choose a quantile from",
                hint="declare bounds for the column, or clamp it in the question: "
                "GREATEST(LEAST(x, DATE '2024-12-31'), DATE '2000-01-01')",
            )
        if not argument.type.is_bounded:
            raise unbounded(argument, "there is no list of values to choose a quantile from")
        return _varying(argument)

    def _listed(self, wanted: AggregateCall) -> ir.Expr:
        """What MODE is of: anything whose values are a short public list."""
        argument = listed(_varying(self._argument(wanted)))
        if argument.type.values is None and not is_null(argument):
            raise Unsupported(
                "the most frequent value is chosen from a public list, and nothing lists the values of this",
                hint="declare keys for the column, or bounds of a whole number; "
                "or GROUP BY it with ORDER BY COUNT(*) DESC, which takes a delta",
            )
        return argument


def _aggregate(
    statistic: ir.Statistic,
    argument: ir.Expr | None,
    *,
    other: ir.Expr | None = None,
    fraction: Fraction | None = None,
    most: int | None = None,
) -> ir.Aggregate:
    """An aggregate that has no name yet."""
    return ir.Aggregate(name="", statistic=statistic, argument=argument, other=other, fraction=fraction, most=most)


def _number(label: str, argument: ir.Expr) -> ir.Expr:
    """A number that is added up, with known ends; a condition counts as 0 or 1."""
    if argument.type.kind is Kind.BOOLEAN:
        argument = cast(argument, Kind.INTEGER)
    if is_null(argument):
        return _no_number()
    if not argument.type.kind.is_number:
        raise TypeMismatch(f"{label} takes numbers, not {argument.type.kind}", hint="COUNT counts values of any kind")
    if not argument.type.is_bounded:
        raise unbounded(argument, f"{label} can't tell how much one row may add")
    return argument


def _varying(argument: ir.Expr) -> ir.Expr:
    """What isn't the same for all rows."""
    if not is_null(argument) and not any(True for _ in ir.columns_in(argument)):
        raise Unsupported("a constant is the same for all rows", hint="write it down, or name a column")
    return argument


def _no_number() -> ir.Literal:
    """NULL, as a number: what is over it is over no rows, as public facts tell."""
    return ir.Literal(None, ir.Type(Kind.INTEGER, Fraction(0), Fraction(0)))


def _released_type(aggregate: ir.Aggregate) -> ir.Type:
    """The type of a released aggregate: noise has no bounds, so these are what arithmetic needs, not what is likely.

    What is chosen from a public list is always one of it.
    """
    argument = aggregate.argument
    match aggregate.statistic:
        case ir.Statistic.COUNT | ir.Statistic.UNITS | ir.Statistic.DISTINCT:
            return _WHOLE
        case ir.Statistic.SUM:
            return _WHOLE if argument is not None and argument.type.kind is Kind.INTEGER else _REAL
        case ir.Statistic.QUANTILE | ir.Statistic.MODE if argument is not None:
            return replace(argument.type, nullable=True, values=None, hidden=False)
        case ir.Statistic.CORR:
            return _CORRELATION
        case _:
            return _MAYBE
