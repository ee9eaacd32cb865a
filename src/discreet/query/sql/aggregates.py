"""Aggregates of one question: each is bound to its arguments and named once, however often it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.aggregates import COUNT, DISTINCT, UNITS
from discreet.query.ir import call, literal
from discreet.query.sql.aggregate_syntax import AggregateCall, aggregate_call
from discreet.query.sql.binder import RowBinder
from discreet.query.sql.names import Names
from discreet.query.sql.scopes import Scope, is_unit
from discreet.query.sql.truths import as_condition

if TYPE_CHECKING:
    from sqlglot import exp


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
        """The released form of an aggregate; equal ones are one.

        Raises:
            Unsupported: it isn't supported, or a part of it isn't understood.
            TypeMismatch: an argument is of a kind that it doesn't take.
            UnboundedColumn: nothing limits what one row can add, or where a quantile can lie.
        """
        aggregate = self._bound(aggregate_call(node))
        found = self._found.get(aggregate)
        if found is None:
            name = self._names.take(self._called.get(id(node)) or str(aggregate))
            found = self._found[aggregate] = replace(aggregate, name=name)
        return ir.Released(found.name, found.function.result(found))

    def _bound(self, wanted: AggregateCall) -> ir.Aggregate:
        """The aggregate, without a name yet."""
        function, label = wanted.function, wanted.function.name.upper()
        if function is COUNT and wanted.of is None and not wanted.conditions:
            return ir.Aggregate(name="", function=COUNT, argument=None)
        take, *more = function.takes
        other = more[0](label, self._rows(wanted.other)) if more else None
        argument = self._argument(wanted)
        if function is DISTINCT and is_unit(argument, self._scope.facts, self._unit):
            return ir.Aggregate(name="", function=UNITS, argument=None)
        return ir.Aggregate(
            name="",
            function=function,
            argument=take(label, argument),
            other=other,
            fraction=wanted.fraction,
            most=wanted.most,
        )

    def _argument(self, wanted: AggregateCall) -> ir.Expr:
        """The argument; NULL, which aggregates pass over, in rows that FILTER leaves out."""
        argument = literal(1) if wanted.of is None and wanted.conditions else self._rows(wanted.of)
        for condition in wanted.conditions:
            kept = as_condition("FILTER", condition, self._rows(condition))
            argument = call("if", kept, argument, literal(None))
        return argument
