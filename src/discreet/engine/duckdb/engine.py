"""The embedded engine: DuckDB over a snapshot, its expressions compiled by Ibis."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.duckdb.session import Connection, Session
from discreet.engine.duckdb.adding_up import Found, PartsFound, added_bins, added_groups, added_up
from discreet.engine.duckdb.aggregation import result_of
from discreet.engine.duckdb.contributions import Compiled
from discreet.engine.duckdb.part import set_up, set_up_part
from discreet.engine.duckdb.public_tables import check_unique, held_in
from discreet.engine.duckdb.raw_views import without_rows
from discreet.engine.duckdb.sessions import Sessions
from discreet.engine.duckdb.threads import for_each
from discreet.engine.interface import ExactResult, check_capability
from discreet.errors import DiscreetError, EngineUnavailable, QuestionFailed
from discreet.query.ir import Exact
from discreet.tables import Table
from discreet.tables.admission import Snapshot, lock_to, raw_views_of
from discreet.tables.schema.dataset import CHOSEN_BY

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_PREPARED = 64
"""The number of questions that are remembered between preparing and running them."""

MOST_ROWS = 10_000_000
"""A public table with more rows isn't looked through for values: an analyst is waiting for a plan."""

_MANY_ROWS = 1_000_000
"""To read more takes longer than to start a session."""

_MOST_KNOWN = 64
"""The number of public tables whose contents are remembered."""


class DuckDB:
    """The tables of a snapshot, read by DuckDB; an `Engine`.

    Each question has an instance of its own, so that questions can't disturb each other, nor a failure outlive the
    question that caused it.

    Args:
        snapshot: the tables as they were admitted.
        threads: how many to use; None for one per core. Answers don't depend on it.
        memory: bytes before spilling to disk; None for 60 % of what there is.
    """

    chosen_by: ClassVar[str] = CHOSEN_BY

    def __init__(self, snapshot: Snapshot, *, threads: int | None = None, memory: int | None = None) -> None:
        """Keep the snapshot; its files are opened when they are needed."""
        self._snapshot = snapshot
        self._sessions = Sessions(threads=threads, memory=memory)
        self._unique: set[Table] = set()
        self._known: dict[Table, Table] = {}
        self._prepared: OrderedDict[int, tuple[Exact, Compiled]] = OrderedDict()

    def __repr__(self) -> str:
        return "<DuckDB engine>"

    def check(self, table: Table) -> None:
        """Check what a public table declares as unique. See `Engine.check`."""
        if not table.unique or table in self._unique:
            return
        with self._snapshot.held_open([table]) as snapshot, self._sessions.fresh() as session:
            lock_to(session, [table], snapshot)
            check_unique(session, table, raw_views_of(session, [table], snapshot))
        self._unique.add(table)

    def known(self, table: Table) -> Table:
        """A public table with what it holds. See `Engine.known`."""
        if not table.public:
            raise TypeError("what a private table holds may not be listed")
        known = self._known.get(table)
        if self._snapshot.tables[table.name.casefold()].rows > MOST_ROWS:
            return replace(table, size=self._snapshot.tables[table.name.casefold()].rows)
        if known is None:
            with self._snapshot.held_open([table]) as snapshot, self._sessions.fresh() as session:
                lock_to(session, [table], snapshot)
                known = held_in(session, table, raw_views_of(session, [table], snapshot))
            self._known[table] = known
            if len(self._known) > _MOST_KNOWN:  # each analyst may have bounds of their own
                self._known.pop(next(iter(self._known)), None)
        return known

    def prepare(self, exact: Exact) -> None:
        """Carry out a question on tables without rows. See `Engine.prepare`."""
        check_capability(exact, self.chosen_by)
        try:
            compiled = Compiled.of(exact, self._snapshot)
            with self._sessions.trial(in_order=compiled.joins_as_written) as session:
                statements = set_up(session, compiled, without_rows(session, compiled.tables, compiled.reading.ids))
                added_up(session, compiled.shape, [Found.here(statements)])
            self._remember(exact, compiled)
        except (DiscreetError, ImportError):
            raise
        except Exception as error:
            raise EngineUnavailable(
                f"the engine can't do what the question needs: {error}",
                hint="fix what it says, or ask differently; nothing was charged",
            ) from error

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question. See `Engine.run`.

        Raises:
            InvalidArgument: the plan itself is beyond this engine: raised before any data is touched, and a matter
                of the plan alone.
            QuestionFailed: for any reason; which one isn't said, because it may depend on a row.
        """
        check_capability(exact, self.chosen_by)
        _, compiled = self._prepared.pop(id(exact), (None, None))
        try:
            return self._answer(compiled or Compiled.of(exact, self._snapshot))
        except Exception:  # noqa: BLE001, S110 — the wall: whatever the cause, it may quote a row, so it ends here
            pass
        raise QuestionFailed  # outside the handler, so that no cause or context is chained to it

    def close(self) -> None:
        """Release the tables in memory, and sessions. Files aren't held between questions."""
        self._sessions.close()
        self._snapshot = Snapshot(tables={})

    def _answer(self, compiled: Compiled) -> ExactResult:
        """Ask DuckDB. An exception from here must not get out of `run`."""
        exact, reading = compiled.exact, compiled.reading
        with (
            self._snapshot.held_open(exact.tables) as snapshot,
            self._sessions.fresh(in_order=compiled.joins_as_written, is_long=self._is_long(exact)) as session,
        ):
            session.hold_arrays_to_size(compiled.aggregates)
            threads = session.compute_in_callers() if reading.parts > 1 else 1
            lock_to(session, compiled.tables, snapshot)

            if reading.parts == 1:
                groups, counts = added_up(
                    session, compiled.shape, [Found.here(set_up_part(session, compiled, snapshot, 0))]
                )
            else:
                groups, counts = _by_threads(session, compiled, snapshot, threads)
        return result_of(exact, groups, counts)

    def _is_long(self, exact: Exact) -> bool:
        """Whether a question takes long, by how many rows its tables have."""
        return any(self._snapshot.tables[table.name.casefold()].rows > _MANY_ROWS for table in exact.tables)

    def _remember(self, exact: Exact, compiled: Compiled) -> None:
        """Keep a question for when it is run: that very object, for −0.0 and 0.0 are equal but not the same."""
        self._prepared[id(exact)] = exact, compiled
        if len(self._prepared) > _MOST_PREPARED:
            self._prepared.popitem(last=False)


def _by_threads(
    session: Session, compiled: Compiled, snapshot: Snapshot, threads: int
) -> tuple[Sequence[tuple[Any, ...]], list[pa.Table]]:
    """Ask each part of a snapshot, and add up what they found; see `added_up`."""
    import pyarrow as pa

    parts = PartsFound(compiled.shape, compiled.reading.parts)

    def add(connection: Connection, number: int) -> None:
        parts.add(connection, set_up_part(connection, compiled, snapshot, number))

    for_each(session, range(compiled.reading.parts), add, threads=threads)
    found = parts.all

    def shared(connection: Connection, number: int) -> list[pa.Table]:
        return added_bins(connection, compiled.shape, found, number, threads)

    shares = for_each(session, range(threads if found[0].histograms else 0), shared, threads=threads)
    together = [pa.concat_tables(same) for same in zip(*shares, strict=True)]
    return added_groups(session, compiled.shape, found), together
