"""Datasets: private tables that share one budget, because the same people may be in all of them; public ones beside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from discreet.errors import InvalidArgument
from discreet.privacy import ADD_REMOVE, Adjacency, Budget
from discreet.tables.schema.owner import Hop, Owner, SchemaGraph, owner_of
from discreet.tables.schema.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Everything public about the tables of one account.

    Guarantee: the rows of each private table belong to one unit, which is found in one way (`owner`).

    Args:
        name: the account's name in the ledger; what was spent is remembered under it.
        tables: private ones, at least one, and public ones that they may be joined with.
        budget: for all analysts together: they're assumed to collude.
        analysts: smaller budgets of single analysts, by name. Empty: anyone may ask, under the global budget.
        adjacency: which tables are neighbours.
        ledger: a path (SQLite) or a database URL.
        snapshots: the folder of the admitted tables; beside a ledger that is a file if left out.

    Raises:
        InvalidArgument: no name or ledger, no tables, none that is private, two of one name, a link that `owner_of`
            refuses or that leads to the owner in another refresh group, or a share beyond the budget.
    """

    name: str
    tables: tuple[Table, ...]
    budget: Budget
    ledger: str
    analysts: dict[str, Budget] = field(default_factory=dict)
    adjacency: Adjacency = ADD_REMOVE
    snapshots: str | None = None

    def __post_init__(self) -> None:
        """Check names, and that what is shared out is there."""
        if not self.name or not self.ledger:
            raise InvalidArgument("a dataset needs a name and a ledger", hint="what was spent is remembered there")
        if not self.tables:
            raise InvalidArgument(f"dataset {self.name!r} has no tables")
        if all(table.public for table in self.tables):
            raise InvalidArgument(
                f"dataset {self.name!r} has public tables only, so there is nothing to protect",
                hint="leave out public = true where rows are about people",
            )
        graph = SchemaGraph(self.tables)
        for table in self.tables:
            owner = graph.owner(table)
            _check_refreshed_together(table, owner.hops if owner is not None else ())
        for analyst, share in self.analysts.items():
            if not analyst:
                raise InvalidArgument("an analyst needs a name")
            _check_share(analyst, share, self.budget)

    @property
    def groups(self) -> tuple[str, ...]:
        """The refresh groups, each once; the empty text is that of the tables that name none."""
        return tuple(dict.fromkeys(table.refresh for table in self.tables))

    @property
    def private(self) -> tuple[Table, ...]:
        """The tables that are protected, in order."""
        return tuple(table for table in self.tables if not table.public)

    def owner(self, table: Table) -> Owner | None:
        """How the unit of a table's rows is found; None if the table is public."""
        return owner_of(table, self.tables)


def _check_refreshed_together(table: Table, hops: Iterable[Hop]) -> None:
    """Refuse a table whose rows' owners are found in a table of another refresh group.

    One admission of its rows would meet several of that table. A row could then belong to one unit in some questions,
    and to another in others, and each would be protected in some of them only.
    """
    for hop in hops:
        if hop.table.refresh != table.refresh:
            raise InvalidArgument(
                f"table {hop.table.name!r} says whose the rows of table {table.name!r} are, so both are admitted "
                "together",
                hint="give them the same refresh group, or add the unit's id to the rows themselves",
            )


def _check_share(analyst: str, share: Budget, budget: Budget) -> None:
    """Refuse a share that promises more than there is, in any amount that both budgets name."""
    pairs = {
        "epsilon": (share.epsilon, budget.epsilon),
        "rho": (share.rho, budget.rho),
        "delta": (share.delta, budget.delta),
    }
    for name, (part, whole) in pairs.items():
        if part is not None and whole is not None and part > whole:
            raise InvalidArgument(f"the share of {analyst!r} has more {name} than the budget for all has")
