"""Rows: a relation as an Ibis table, and the numbers by which its columns are called there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.engine.expressions import Columns, Name, let_in
from discreet.query.ir import Expr


@dataclass(frozen=True, slots=True)
class Rows:
    """A relation as an Ibis table.

    Args:
        table: with the columns below and no others; with one constant, if there are none.
        unit: the columns that say whose a row is.
        names: the other columns, by what the question calls them.
        unchecked: those whose declared keys aren't enforced, likewise; they go no further than filters and joins.
    """

    table: Any
    unit: tuple[str, ...]
    names: Mapping[Name, str]
    unchecked: Mapping[Name, str] = field(default_factory=dict)

    @property
    def columns(self) -> Columns:
        """The columns as Ibis values."""
        return {name: self.table[column] for name, column in self.names.items()}

    @property
    def units(self) -> dict[str, Any]:
        """The unit's columns as Ibis values."""
        return {column: self.table[column] for column in self.unit}

    def computed(self, columns: Mapping[str, Expr], *, beside: bool = False) -> Any:  # noqa: ANN401 — an Ibis table
        """The table with other columns next to the unit's, computed row by row.

        Args:
            columns: what they are called, and computed from.
            beside: whether to keep the present columns as well.
        """
        here = self.columns
        kept = {column: self.table[column] for column in self.names.values()} if beside else {}
        return selected(self.table, self.units | kept | {name: let_in(expr, here) for name, expr in columns.items()})


class Names:
    """The columns of one question: each keeps its number, so that equal relations become equal tables."""

    def __init__(self) -> None:
        """No column is named yet."""
        self._numbers: dict[tuple[str, str, bool], int] = {}

    def of(self, alias: str, names: Iterable[str], *, checked: bool = True) -> dict[Name, str]:
        """What the columns of one relation are called.

        Args:
            alias: of the relation.
            names: of its columns.
            checked: whether their declared keys are enforced; both forms of a column may be there.
        """
        found = {}
        for name in names:
            key = (alias, name.casefold(), checked)
            found[key[:2]] = f"x{self._numbers.setdefault(key, len(self._numbers))}"
        return found


def selected(table: Any, columns: Mapping[str, Any]) -> Any:  # noqa: ANN401 — Ibis tables and values
    """The table with these columns and no others; with a constant, if there are none, for a table has at least one."""
    import ibis

    return table.select(**(columns or {"one": ibis.literal(1)}))
