"""Measures, as aggregates ask for them: the planner collects them, so that each is made once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from discreet.query import ir
from discreet.query.estimates import Grid, Pick


class Measures(Protocol):
    """The measures of a question so far; asking for an equal one again gives the same, by its name."""

    @property
    def in_parts(self) -> bool:
        """Whether rows are counted in parts where that is possible."""
        ...

    def units(self) -> str:
        """The number of units."""
        ...

    def rows(self) -> str:
        """The number of rows."""
        ...

    def sum(self, value: ir.Expr) -> str:
        """The sum of an expression with known ends, over the rows where it isn't NULL."""
        ...

    def vector(self, values: Sequence[ir.Expr]) -> tuple[str, ...]:
        """The sums of the parts into which each row is put, which add up to 1 at most."""
        ...

    def distinct(self, value: ir.Expr) -> str:
        """The number of an expression's different values."""
        ...

    def quantile(self, value: ir.Expr, fraction: Fraction) -> tuple[Pick, Grid]:
        """A quantile of an expression, and the grid it is chosen from."""
        ...

    def fullest(self, value: ir.Expr, most: int) -> Pick:
        """The most frequent of an expression's public values."""
        ...
