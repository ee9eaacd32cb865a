"""The versions of the tables that are in force, open for questions; and what stands in their place once closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import finalize

from discreet.engine import Engine
from discreet.errors import AccountClosed, Hint
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
        locks: that keep their folders from being removed for as long as anybody holds this.
    """

    admitted: Mapping[str, Admitted]
    engine: Engine
    snapshot: Snapshot
    locks: tuple[Lock, ...]

    def __post_init__(self) -> None:
        """See to it that the engine lets go of its sessions, and of tables in memory."""
        finalize(self, self.engine.close).atexit = False

    @property
    def version(self) -> int:
        """The number of the last admission."""
        return max(each.version for each in self.admitted.values())

    def version_for(self, *plans: Plan) -> int:
        """The number of the last admission of any table that these read."""
        return max(self.admitted[group].version for group in groups_read(*plans))

    def known(self, dataset: Dataset, text: str) -> Dataset:
        """What is declared, with what the public tables that a question can read hold: it is public, too.

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


def groups_read(*plans: Plan) -> frozenset[str]:
    """The refresh groups of the tables that plans read."""
    return frozenset(table.refresh for plan in plans for level in plan.levels for table in level.exact.tables)


OTHERS = "a table of others belongs to an account of another name, or in another ledger"
"""What those are told whose tables may be other ones than those of the account."""


def hint_to_admit(template: str) -> Hint:
    """A hint to admit the tables, by the name that it has at each door."""
    return Hint(template.format("refresh()"), cli=template.format("`discreet admit`"))


class _AfterClose:
    """Stands where something was before it was closed: whatever is asked of it is refused."""

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse it.

        Raises:
            AccountClosed: always, but for what Python itself looks for.
        """
        raise AttributeError(name) if name.startswith("__") else AccountClosed


AFTER_CLOSE: Any = _AfterClose()
"""What is put in the place of a closed account, ledger or index."""
