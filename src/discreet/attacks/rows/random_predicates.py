"""Predicates that are drawn at random until exactly one released row meets them."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise import uniform

if TYPE_CHECKING:
    from discreet.anonymity.columns import Mask, Whole
from discreet.attacks.rows.three_tables import Column, Tables, drawn

_TRIES = 40
"""How often a predicate is drawn again, at most and on average, if it isn't met by exactly one released row."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Test:
    """A predicate's test of one column: at least, at most, or the same as a released row's value."""

    column: Column
    row: int
    sign: str

    def met(self, side: int) -> Mask:
        """Which rows of a table meet it."""
        value, cells = self.column.cells[0][self.row], self.column.cells[side]
        if np.isnan(value):
            return np.isnan(cells)
        return np.asarray({"≥": cells.__ge__, "≤": cells.__le__, "=": cells.__eq__}[self.sign](value))

    def __str__(self) -> str:
        return f"{self.column.name} {self.sign} {self.column.text(self.row)}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Predicate:
    """A conjunction."""

    tests: tuple[_Test, ...]

    def holds(self, side: int, rows: Whole | None = None) -> int:
        """How many rows of a table meet it; or how many of these, if some are named."""
        met = self.tests[0].met(side)
        for test in self.tests[1:]:
            met = met & test.met(side)
        return int(np.count_nonzero(met if rows is None else met[rows]))

    def __str__(self) -> str:
        return " and ".join(map(str, self.tests))


def of_one(tables: Tables, trials: int) -> list[Predicate]:
    """The predicates of one column, or some of them."""
    found = []
    for column in tables.columns:
        cells = column.cells[0]
        values, first, times = np.unique(cells, return_index=True, return_counts=True)
        found += [_Test(column=column, row=row, sign="=") for row in first[times == 1].tolist()]
        known = np.flatnonzero(~np.isnan(values))
        if column.ordered and len(known):
            ends = ((first[known[-1]], "≥"), (first[known[0]], "≤"))
            found += [_Test(column=column, row=int(row), sign=sign) for row, sign in ends]
    made = [Predicate(tests=(test,)) for test in found]
    made = [each for each in made if each.holds(0) == 1]
    return [made[place] for place in drawn(len(made), trials).tolist()]


def of_several(tables: Tables, columns: int, trials: int) -> list[Predicate]:
    """Predicates of several columns, drawn until there are enough that exactly one released row meets."""
    medians = [float(np.nanmedian(each.cells[0])) if each.ordered else nan for each in tables.columns]
    found: dict[tuple[object, ...], Predicate] = {}
    for row in uniform(tables.rows[0], _TRIES * trials).tolist():
        chosen = sorted(drawn(len(tables.columns), columns).tolist())
        tests = tuple(
            _Test(
                column=each,
                row=row,
                sign=("≥" if each.cells[0][row] > medians[place] else "≤") if each.ordered else "=",
            )
            for place, each in ((place, tables.columns[place]) for place in chosen)
        )
        made = Predicate(tests=tests)
        key = tuple((test.column.name, test.sign, float(test.column.cells[0][row])) for test in tests)
        if key not in found and made.holds(0) == 1:
            found[key] = made
            if len(found) == trials:
                break
    return list(found.values())
