"""Measures, as aggregates ask for them: sums over the rows of a group, from which they are read.

An aggregate asks for moments, counts and choices. How these are measured is the planner's matter: each by itself, or
several in the cells into which rows are put (`planner.cells`). Either way it gets a combination of released numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Protocol

from discreet.query import ir
from discreet.query.aggregates.arguments import present
from discreet.query.aggregates.middles import centred
from discreet.query.estimates import Grid, Linear, Pick
from discreet.query.ir import call, literal


@dataclass(frozen=True)
class Moment:
    """A sum over the rows that have all of some values: of the product of powers of these.

    Values lie from the middle of their bounds, because the noise of a sum grows with the size of its terms.

    Args:
        powers: the values, each with its power; 0 of those that only have to be there. None of them: all rows.
    """

    powers: tuple[tuple[ir.Expr, int], ...] = ()

    @classmethod
    def of(cls, *powers: tuple[ir.Expr, int]) -> Moment:
        """That of some powers, in whatever order; those of one value come together."""
        found: dict[ir.Expr, int] = {}
        for value, power in sorted(powers, key=str):
            found[value] = found.get(value, 0) + power
        return cls(tuple(found.items()))

    @cached_property
    def summand(self) -> ir.Expr:
        """The number that a row adds, NULL where it has not all of the values."""
        if not self.powers:
            return literal(1)
        values = [(self._where_all(value), power) for value, power in self.powers]
        offsets = [offset for value, power in values if power for offset in [centred(value)[1]] * power]
        return reduce(lambda one, other: call("multiply", one, other), offsets) if offsets else present(values[0][0])

    def _where_all(self, value: ir.Expr) -> ir.Expr:
        """A value, NULL where another one is."""
        for other, _ in self.powers:
            if other != value and other.type.nullable:
                value = call("if", call("is_null", other), literal(None), value)
        return value


class Measures(Protocol):
    """The measures of a question so far; asking for an equal one again gives the same."""

    def moment(self, moment: Moment) -> Linear:
        """A moment."""
        ...

    def total(self, value: ir.Expr) -> Linear:
        """The sum of an expression with known ends, over the rows where it isn't NULL."""
        ...

    def units(self) -> Linear:
        """The number of units."""
        ...

    def distinct(self, value: ir.Expr) -> Linear:
        """The number of an expression's different values."""
        ...

    def quantile(self, value: ir.Expr, fraction: Fraction) -> tuple[Pick, Grid]:
        """A quantile of an expression, and the grid it is chosen from."""
        ...

    def fullest(self, value: ir.Expr, most: int) -> Pick:
        """The most frequent of an expression's public values."""
        ...
