"""Aggregates: what a question counts and adds up, each once."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.dataset import Kind
from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.binder import RowBinder
from discreet.query.functions import cast
from discreet.query.functions.arguments import unbounded
from discreet.query.literals import is_null
from discreet.query.names import Names, Scope
from discreet.query.refusals import refusal, unknown_part
from discreet.query.statistics import statistic_of

if TYPE_CHECKING:
    from sqlglot import exp

_WHOLE = ir.Type(Kind.INTEGER, Fraction(-(2**52)), Fraction(2**52), nullable=False)
_REAL = ir.Type(Kind.REAL, Fraction(-(2**200)), Fraction(2**200), nullable=False)
_MAYBE = ir.Type(Kind.REAL, Fraction(-(2**200)), Fraction(2**200), nullable=True)
"""Averages and spreads are NULL where a noisy count leaves nothing to divide by."""


class Aggregates:
    """The aggregates of one question, in order of first appearance."""

    def __init__(self, scope: Scope, names: Names, called: Mapping[int, str]) -> None:
        """Start with none.

        Args:
            scope: of their arguments.
            names: those taken by keys; aggregates get others.
            called: names wanted, by the identity of the node; an aggregate without one is called by what it is.
        """
        self._scope = scope
        self._names = names
        self._called = called
        self._rows = RowBinder(scope, "another aggregate")
        self._found: dict[tuple[ir.Statistic, ir.Expr | None], ir.Aggregate] = {}

    @property
    def found(self) -> tuple[ir.Aggregate, ...]:
        """All of them."""
        return tuple(self._found.values())

    def released(self, node: exp.Expression) -> ir.Released:
        """What an aggregate is released as; equal ones are one.

        Raises:
            Unsupported: DISTINCT over anything but the unit, or a part that isn't understood.
            TypeMismatch: only numbers can be added up.
            UnboundedColumn: nothing limits what one row can add.
        """
        statistic = statistic_of(node)
        if statistic is None:
            raise refusal(node)
        self._check_parts(node)
        of = node.expressions[0] if type(node).__name__ == "Anonymous" else node.args.get("this")
        if statistic is ir.Statistic.COUNT:
            statistic, argument = self._counted(of)
        else:
            argument = self._summed(str(statistic).upper(), of)
        return self._entered(statistic, argument, self._called.get(id(node)))

    def _check_parts(self, node: exp.Expression) -> None:
        """Refuse parts that aren't understood, and any number of arguments but one."""
        known = {"this", "big_int"}
        if type(node).__name__ == "Anonymous":
            known.add("expressions")
            if len(node.expressions) != 1:
                raise TypeMismatch(f"{node.name.upper()} takes one argument")
        for part, value in node.args.items():
            if value and part not in known:
                raise unknown_part(part, value)

    def _counted(self, of: exp.Expression | None) -> tuple[ir.Statistic, ir.Expr | None]:
        """What COUNT counts: rows, rows where something isn't NULL, or units."""
        kind = type(of).__name__
        if of is None or (kind == "Star" and not any(of.args.values())):
            return ir.Statistic.COUNT, None
        if kind == "Distinct":
            return self._distinct(of), None
        argument = self._rows(of)
        if is_null(argument):
            raise Unsupported("COUNT(NULL) is always 0", hint="COUNT(*) counts rows")
        return ir.Statistic.COUNT, None if isinstance(argument, ir.Literal) else argument

    def _distinct(self, of: exp.Expression) -> ir.Statistic:
        """COUNT(DISTINCT …) of the unit's id."""
        unit = self._scope.table.unit
        if len(of.expressions) == 1 and not of.args.get("on"):
            column = self._rows(of.expressions[0])
            is_id = isinstance(column, ir.Column) and unit.column is not None
            if is_id and unit.per is None and column.name.casefold() == (unit.column or "").casefold():  # type: ignore[union-attr]  # a column
                return ir.Statistic.UNITS
        if unit.column is None:
            hint = "each row is a unit here, so COUNT(*) counts units; GROUP BY counts each value"
        elif unit.per is not None:
            hint = f"a unit here is a {unit.column} during one {unit.per}; COUNT(*) counts rows"
        else:
            hint = f"COUNT(DISTINCT {unit.column}) counts units; GROUP BY counts the rows of each value"
        raise Unsupported("COUNT(DISTINCT …) counts nothing but units", hint=hint)

    def _summed(self, label: str, of: exp.Expression | None) -> ir.Expr:
        """The number that is added up, with known ends; a condition counts as 0 or 1."""
        if of is None:
            raise TypeMismatch(f"{label} takes an argument")
        argument = self._rows(of)
        if argument.type.kind is Kind.BOOLEAN:
            argument = cast(argument, Kind.INTEGER)
        if not argument.type.kind.is_number or is_null(argument):
            raise TypeMismatch(
                f"{label} takes numbers, not {'NULL' if is_null(argument) else argument.type.kind}",
                hint="COUNT counts values of any kind",
            )
        if not argument.type.is_bounded:
            raise unbounded(argument, f"{label} can't tell how much one row may add")
        return argument

    def _entered(self, statistic: ir.Statistic, argument: ir.Expr | None, name: str | None) -> ir.Released:
        """The aggregate under its name."""
        found = self._found.get((statistic, argument))
        if found is None:
            found = ir.Aggregate(name="", statistic=statistic, argument=argument)
            called = self._names.take(name or str(found))
            found = ir.Aggregate(name=called, statistic=statistic, argument=argument)
            self._found[(statistic, argument)] = found
        return ir.Released(found.name, _released_type(statistic, argument))


def _released_type(statistic: ir.Statistic, argument: ir.Expr | None) -> ir.Type:
    """The type of a released aggregate: noise has no bounds, so these are what arithmetic needs, not what is likely."""
    if statistic in {ir.Statistic.COUNT, ir.Statistic.UNITS}:
        return _WHOLE
    if statistic is ir.Statistic.SUM:
        return _WHOLE if argument is not None and argument.type.kind is Kind.INTEGER else _REAL
    return _MAYBE
