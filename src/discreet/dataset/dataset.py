"""Datasets: private tables that share one budget, because the same people may be in all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.dataset.table import Table
from discreet.errors import InvalidArgument
from discreet.privacy import ADD_REMOVE, Adjacency, Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Everything public about the private tables of one account.

    Args:
        name: the account's name in the ledger; what was spent is remembered under it.
        tables: at least one.
        budget: for all analysts together: they're assumed to collude.
        analysts: smaller budgets of single analysts, by name. Empty: anyone may ask, under the global budget.
        adjacency: which tables are neighbours.
        ledger: a path (SQLite) or a database URL.

    Raises:
        InvalidArgument: no tables, or two of one name.
    """

    name: str
    tables: tuple[Table, ...]
    budget: Budget
    ledger: str
    analysts: dict[str, Budget] = field(default_factory=dict)
    adjacency: Adjacency = ADD_REMOVE

    def __post_init__(self) -> None:
        """Check the tables' names."""
        names = [table.name.casefold() for table in self.tables]
        if not names:
            raise InvalidArgument(f"dataset {self.name!r} has no tables")
        if len(set(names)) < len(names):
            raise InvalidArgument(f"dataset {self.name!r} has two tables of one name")
