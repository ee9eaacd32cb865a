"""The versions in force, open for questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import finalize

from discreet.engine import Engine
from discreet.query.planner import Plan
from discreet.tables import Dataset
from discreet.tables.admission import Lock, Snapshot

if TYPE_CHECKING:
    from discreet.ledger import Admitted


@dataclass(frozen=True, slots=True, repr=False, weakref_slot=True)
class Current:
    """The versions in force, open for questions; its engine is closed once nothing holds it, no question either.

    Args:
        admitted: as the ledger has them, by refresh group.
        engine: over their snapshots.
        snapshot: all of them together.
        locks: that keep their folders from being removed for as long as anyone holds this.
    """

    admitted: Mapping[str, Admitted]
    engine: Engine
    snapshot: Snapshot
    locks: tuple[Lock, ...]

    def __post_init__(self) -> None:
        """Close the engine, with its sessions and tables in memory, once nothing holds this any more."""
        finalize(self, self.engine.close).atexit = False

    @property
    def version(self) -> int:
        """The number of the last admission."""
        return max(each.version for each in self.admitted.values())

    def version_for(self, plan: Plan) -> int:
        """The number of the last admission of any table that a plan reads."""
        return max(self.admitted[group].version for group in groups_read(plan))

    def known(self, dataset: Dataset, text: str) -> Dataset:
        """The declarations, with the contents of the public tables that a question can read, which are public too.

        Args:
            dataset: as declared, perhaps with an analyst's bounds.
            text: of the question; a table whose name isn't in it isn't read.
        """
        tables = [
            self.engine.known(table) if table.public and table.name.casefold() in text.casefold() else table
            for table in dataset.tables
        ]
        return replace(dataset, tables=tuple(tables))

    def check(self) -> None:
        """Refuse every question if a file that was admitted in place has changed since, whichever table it is of.

        Raises:
            SnapshotChanged: one has.
        """
        self.snapshot.check_places()


def groups_read(plan: Plan) -> frozenset[str]:
    """The refresh groups of the tables that a plan reads, or that it would read if anything were measured."""
    plans = plan.bundles or plan.plans
    return frozenset(table.refresh for each in plans for level in each.levels for table in level.exact.tables)
