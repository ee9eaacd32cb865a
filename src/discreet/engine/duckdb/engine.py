"""The embedded engine: DuckDB over a snapshot, its expressions compiled by Ibis."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.engine.column_pruning import ScanView, position, scan_views_of
from discreet.engine.duckdb.contribution_limits import limit_contributions
from discreet.engine.duckdb.contributions import make_contributions, plain_rows, shape_of
from discreet.engine.duckdb.join_limits import rows_at_most
from discreet.engine.duckdb.limit_statements import SOURCE_ROWS, Shape
from discreet.engine.duckdb.scan_views import RawViews, make_scan_view, raw_views_of, without_rows
from discreet.engine.duckdb.sessions import Sessions
from discreet.engine.interface import ExactResult, check_capability
from discreet.engine.relation_compiler import brings_together
from discreet.engine.rewrites import eliminate_owner_joins, push_filters_down
from discreet.errors import DiscreetError, EngineUnavailable, QuestionFailed, SchemaMismatch
from discreet.privacy import KeyValue
from discreet.query.ir import MOST_VALUES, Exact, Histogram, Key
from discreet.tables import Kind, Table
from discreet.tables.admission import Snapshot
from discreet.tables.session import Session

_MOST_PREPARED = 64
"""How many questions are remembered from when they are prepared until they are run."""

MOST_ROWS = 10_000_000
"""A public table with more rows isn't looked through for values: somebody waits for a plan."""

_MOST_KNOWN = 64
"""Of how many public tables it is remembered what they hold."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A question as it is carried out, with or without rows: a function of the plan alone.

    Args:
        exact: with all that can be said more shortly, and filters where they spare most.
        shape: of its limits.
        views: of its scans.
        rows: the SQL of its rows; None where that isn't known before tables are looked at.
    """

    exact: Exact
    shape: Shape
    views: tuple[ScanView, ...]
    rows: str | None

    @classmethod
    def of(cls, asked: Exact) -> Compiled:
        """A question, compiled."""
        exact = push_filters_down(eliminate_owner_joins(asked))
        views = scan_views_of(exact)
        return cls(exact, shape_of(asked), views, plain_rows(exact, views))


class DuckDB:
    """The tables of a snapshot, read by DuckDB; an `Engine`.

    Each question has an instance of its own, so that questions can't disturb each other, nor a failure outlive the
    question that caused it.

    Args:
        snapshot: the tables as they were admitted.
        threads: how many to use; None for one per core. Answers don't depend on it.
        memory: bytes before spilling to disk; None for 60 % of what there is.
    """

    def __init__(self, snapshot: Snapshot, *, threads: int | None = None, memory: int | None = None) -> None:
        """Keep the snapshot; its files are opened when they are needed."""
        self._snapshot = snapshot
        self._sessions = Sessions(threads=threads, memory=memory)
        self._unique: set[Table] = set()
        self._known: dict[Table, Table] = {}
        self._prepared: OrderedDict[int, tuple[Exact, Compiled]] = OrderedDict()

    def __repr__(self) -> str:
        """That it is one, and nothing that is in it."""
        return "<DuckDB engine>"

    def check(self, table: Table) -> None:
        """Check what a public table declares as unique. See `Engine.check`."""
        if not table.unique or table in self._unique:
            return
        with self._snapshot.held_open([table]) as snapshot, self._sessions.fresh() as session:
            _check_unique(session, table, raw_views_of(session, [table], snapshot))
        self._unique.add(table)

    def known(self, table: Table) -> Table:
        """A public table with what it holds. See `Engine.known`."""
        if not table.public:
            raise TypeError("what a private table holds is nobody's to list")
        known = self._known.get(table)
        if self._snapshot.tables[table.name.casefold()].rows > MOST_ROWS:
            return table
        if known is None:
            with self._snapshot.held_open([table]) as snapshot, self._sessions.fresh() as session:
                known = _held(session, table, raw_views_of(session, [table], snapshot))
            self._known[table] = known
            if len(self._known) > _MOST_KNOWN:  # each analyst may have bounds of their own
                self._known.pop(next(iter(self._known)), None)
        return known

    def prepare(self, exact: Exact) -> None:
        """Carry out a question on tables without rows. See `Engine.prepare`."""
        check_capability(exact)
        try:
            compiled = Compiled.of(exact)
            with self._sessions.trial(in_order=_meet(compiled.exact)) as session:
                _groups(session, compiled, without_rows(session, exact.tables))
            self._remember(exact, compiled)
        except (DiscreetError, ImportError):
            raise
        except Exception as error:
            raise EngineUnavailable(
                f"the engine can't do what the question takes: {error}",
                hint="mend what it says, or ask otherwise; nothing was charged",
            ) from error

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question. See `Engine.run`.

        Raises:
            InvalidArgument: the plan itself is beyond this engine: raised before any data is touched, and a matter
                of the plan alone.
            QuestionFailed: for whatever reason; which one can't be told, because it may depend on a row.
        """
        check_capability(exact)
        _, compiled = self._prepared.pop(id(exact), (None, None))
        compiled = compiled or Compiled.of(exact)
        try:
            return self._answer(compiled)
        except Exception:  # noqa: BLE001, S110 — the wall: whatever the cause, it may quote a row, so it ends here
            pass
        raise QuestionFailed  # outside the handler, so that no cause or context is chained to it

    def close(self) -> None:
        """Release the tables in memory, and sessions. Files aren't held between questions."""
        self._sessions.close()
        self._snapshot = Snapshot(tables={})

    def _answer(self, compiled: Compiled) -> ExactResult:
        """Ask DuckDB. What this raises must not get out of `run`."""
        exact = compiled.exact
        with (
            self._snapshot.held_open(exact.tables) as snapshot,
            self._sessions.fresh(in_order=_meet(exact)) as session,
        ):
            raw = raw_views_of(session, exact.tables, snapshot)
            session.execute("BEGIN TRANSACTION")
            groups, counts = _groups(session, compiled, raw)
        return _result(exact, groups, counts)

    def _remember(self, exact: Exact, compiled: Compiled) -> None:
        """Keep a question for when it is run: that very object, for −0.0 and 0.0 are equal but not the same."""
        self._prepared[id(exact)] = exact, compiled
        if len(self._prepared) > _MOST_PREPARED:
            self._prepared.popitem(last=False)


def _check_unique(session: Session, table: Table, raw: RawViews) -> None:
    """Check that no value occurs twice in columns that a public table declares as unique."""
    places = {position(name, table): name for name in table.unique}
    scan = ScanView(number=0, table=table, owner=None, checked=tuple(sorted(places)))
    make_scan_view(session, scan, raw)
    for place, name in places.items():
        twice = f"SELECT c{place} FROM {scan.name} WHERE c{place} IS NOT NULL GROUP BY 1 HAVING count(*) > 1 LIMIT 1"
        if session.execute(f"SELECT 1 FROM ({twice})"):
            raise SchemaMismatch(
                f"column {name!r} of table {table.name!r} is declared as unique, but a value occurs in it twice",
                hint="values beyond a column's bounds count as its ends; leave it out of unique, or mend the table",
            )


def _held(session: Session, table: Table, raw: RawViews) -> Table:
    """A public table with what it holds."""
    places = range(len(table.columns))
    scan = ScanView(number=0, table=table, owner=None, checked=tuple(places))
    make_scan_view(session, scan, raw)
    rows = _different(session, scan, places)
    values = [
        None if column.kind in {Kind.REAL, Kind.TIMESTAMP} else tuple(v for (v,) in _different(session, scan, [place]))
        for place, column in enumerate(table.columns)
    ]
    return replace(
        table,
        columns=tuple(replace(each, values=held) for each, held in zip(table.columns, values, strict=True)),
        rows=rows if len(rows) <= MOST_VALUES else None,
    )


def _different(session: Session, scan: ScanView, places: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
    """The different rows of some columns, in order; one more than `MOST_VALUES`, if there are more."""
    names = ", ".join(f"c{place}" for place in places)
    some = f"SELECT DISTINCT {names} FROM {scan.name} LIMIT {MOST_VALUES + 1}"
    order = ", ".join(f"{number} NULLS LAST" for number, _ in enumerate(places, start=1))
    return tuple(session.execute(f"FROM ({some}) ORDER BY {order}"))


def _meet(exact: Exact) -> bool:
    """Whether several private tables meet in a question."""
    return len([scan for scan in exact.scans if scan.owner is not None]) > 1


def _groups(
    session: Session, compiled: Compiled, raw: RawViews
) -> tuple[Sequence[tuple[Any, ...]], Sequence[Sequence[tuple[Any, ...]]]]:
    """What DuckDB answers to a question about these tables: its groups, and the counts of each histogram.

    It is asked within a transaction.
    """
    exact, views = compiled.exact, compiled.views
    keep = brings_together(exact.source)
    for scan in views:
        make_scan_view(session, scan, raw)
    make_contributions(session, exact, compiled.shape, views, keep=keep, rows=compiled.rows)
    rows = _count(session, SOURCE_ROWS) if keep else _rows_at_most(session, exact, views, raw)
    narrowed = () if keep else tuple(scan.name for scan in views if scan.units)
    statements = limit_contributions(replace(compiled.shape, rows=rows, scans=narrowed))
    for statement in statements.setup:
        session.execute(statement)
    groups = session.execute(f"{statements.query} {_in_order(len(exact.keys))}")
    return groups, [session.execute(_by_group(query, len(exact.keys))) for query in statements.histograms]


def _rows_at_most(session: Session, exact: Exact, views: Sequence[ScanView], raw: RawViews) -> int:
    """How many rows the question can have, from how many its tables have."""
    counts = {}
    for scan in exact.scans:
        view = next(each for each in views if each.is_of(scan))
        owned = scan.owner is not None and bool(scan.owner.hops)
        counts[scan.alias] = _count(session, view.name if owned else raw[scan.table.name.casefold()].name)
    return rows_at_most(exact.source, counts)


def _count(session: Session, rows: str) -> int:
    """How many rows a table has."""
    ((count,),) = session.execute(f"SELECT count(*) FROM {rows}")
    return int(count)


def _result(
    exact: Exact, groups: Sequence[tuple[Any, ...]], counts: Sequence[Sequence[tuple[Any, ...]]]
) -> ExactResult:
    """What DuckDB answered, by group."""
    width = len(exact.keys)
    places = {group[:width]: place for place, group in enumerate(groups)}
    histograms: dict[str, list[dict[int, int]]] = {}
    for measure, rows in zip((each for each in exact.measures if isinstance(each, Histogram)), counts, strict=True):
        histograms[measure.name] = [{} for _ in groups]
        for *key, numbers, sizes in rows:
            if numbers:
                histograms[measure.name][places[tuple(key)]] = dict(zip(numbers, sizes, strict=True))
    return ExactResult(
        keys=[_key_values(exact.keys, group) for group in groups],
        measures={
            measure.name: [int(group[width + number]) for group in groups]
            for number, measure in enumerate(exact.measures)
            if not isinstance(measure, Histogram)
        },
        histograms=histograms,
    )


def _by_group(histogram: str, keys: int) -> str:
    """A histogram as two lists for each group: half the time of a row for each bin, of which there may be many."""
    names = [f"k{number}" for number in range(keys)]
    by = f"GROUP BY {', '.join(names)}" if names else ""
    return f"SELECT {', '.join([*names, 'list(bin)', 'list(count)'])} FROM ({histogram}) {by}"


def _in_order(keys: int) -> str:
    """Groups in the order of their keys: in that of their first appearance, they would tell whose row came first."""
    return f"ORDER BY {', '.join(f'k{number}' for number in range(keys))}" if keys else ""


def _key_values(keys: Sequence[Key], row: tuple[Any, ...]) -> tuple[KeyValue, ...]:
    """A group's key: public ones come as their number in the list, others as they are."""
    return tuple(value if key.values is None else key.values[value] for key, value in zip(keys, row, strict=False))
