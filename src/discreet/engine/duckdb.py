"""The embedded engine: DuckDB over files and tables in memory, its expressions compiled by Ibis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from discreet.engine.admission import admit
from discreet.engine.checking import check_schema, check_unique
from discreet.engine.door import always_there
from discreet.engine.entrance import is_kept, make_door
from discreet.engine.entries import make_entries, shape_of
from discreet.engine.frozen import Frozen, freeze
from discreet.engine.kinds import kind_of
from discreet.engine.limiting import ASKED, Shape, limiting
from discreet.engine.peeking import peek
from discreet.engine.pushing import pushed
from discreet.engine.reader import Snapshot, SourceChanged, fingerprint_of, joint_fingerprint, snapshots, without_rows
from discreet.engine.relations import brings_together
from discreet.engine.result import ExactResult
from discreet.engine.session import Session
from discreet.engine.shortcuts import shortened
from discreet.engine.sizes import rows_at_most
from discreet.engine.sniff import guess_kinds
from discreet.engine.usage import Door, doors_of
from discreet.errors import DiscreetError, EngineUnavailable, QuestionFailed, SourceError, SourceUnsupported
from discreet.privacy import KeyValue
from discreet.query.ir import Exact, Histogram, Key
from discreet.tables import Column, Kind, Peek, Source, Table

_T = TypeVar("_T")


class DuckDB:
    """The tables of a dataset, read by DuckDB; an `Engine`.

    Each question has an instance of its own, so that questions can't disturb each other, nor a failure outlive the
    question that caused it. It costs 15 ms.

    Args:
        data: the tables in memory, by the location of their source. They are copied.
        threads: how many to use; None for one per core. Answers don't depend on it.
        memory: bytes before spilling to disk; None for 60 % of what there is.

    Raises:
        SourceMissing: a table in memory is None.
        SourceUnsupported: a table in memory can't be read.
    """

    def __init__(
        self,
        data: Mapping[str, object] = MappingProxyType({}),
        *,
        threads: int | None = None,
        memory: int | None = None,
    ) -> None:
        """Copy the tables in memory; files are opened when they are needed."""
        self._frozen: dict[str, Frozen] = {location: freeze(table) for location, table in data.items()}
        self._threads = threads
        self._memory = memory
        self._unique: set[tuple[str, Table]] = set()

    def __repr__(self) -> str:
        """That it is one, and nothing that is in it."""
        return "<DuckDB engine>"

    def describe(self, source: Source, *, guess: bool = True) -> tuple[Column, ...]:
        """The columns that can be read. See `Engine.describe`: what is guessed of a CSV file is private."""
        return self._look(source, lambda session, opened: _columns(session, source, opened, guess=guess))

    def check(self, table: Table) -> None:
        """Compare what is declared with the source. See `Engine.check`."""

        def compare(session: Session, opened: Snapshot) -> None:
            check_schema(table, opened)
            if table.unique and (opened.fingerprint, table) not in self._unique:
                check_unique(session, table, opened)
                self._unique.add((opened.fingerprint, table))

        self._look(table.source, compare)

    def peek(self, source: Source, columns: Sequence[Column]) -> Peek:
        """What is in these columns, for the custodian alone. See `Engine.peek`."""
        return self._look(source, lambda session, opened: peek(session, opened, columns))

    def fingerprint(self, tables: Sequence[Table]) -> str:
        """A text that changes whenever these tables' data are seen to change. Private; see `Engine.fingerprint`."""
        return joint_fingerprint({table.name: fingerprint_of(table.source, self._frozen) for table in tables})

    def prepare(self, exact: Exact) -> None:
        """Carry out a question on tables without rows. See `Engine.prepare`."""
        admit(exact)
        try:
            with self._session(in_order=_meet(exact)) as session:
                opened = without_rows(session, exact.tables)
                session.lock()
                _groups(session, pushed(shortened(exact)), shape_of(exact), opened)
        except (DiscreetError, ImportError):
            raise
        except Exception as error:
            raise EngineUnavailable(
                f"the engine can't do what the question takes: {error}",
                hint="mend what it says, or ask otherwise; nothing was charged",
            ) from error

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question, from one snapshot of the data. See `Engine.run`.

        Raises:
            InvalidArgument: the plan itself is beyond this engine: raised before any data is touched, and a matter
                of the plan alone.
            QuestionFailed: for whatever reason; which one can't be told, because it may depend on a row.
        """
        admit(exact)
        shape = shape_of(exact)
        try:
            return self._answer(exact, shape)
        except Exception:  # noqa: BLE001, S110 — the wall: whatever the cause, it may quote a row, so it ends here
            pass
        raise QuestionFailed  # outside the handler, so that no cause or context is chained to it

    def close(self) -> None:
        """Let go of the tables in memory. Files aren't held between questions."""
        self._frozen = {}

    def _answer(self, exact: Exact, shape: Shape) -> ExactResult:
        """Ask DuckDB. What this raises must not get out of `run`."""
        tables, exact = exact.tables, pushed(shortened(exact))
        sources = [table.source for table in tables]
        with (
            self._session(in_order=_meet(exact)) as session,
            snapshots(sources, self._frozen, session) as opened,
        ):
            groups, counts = _groups(session, exact, shape, opened)
        fingerprints = {table.name: opened[table.source].fingerprint for table in tables}
        return _result(exact, groups, counts, joint_fingerprint(fingerprints))

    def _look(self, source: Source, action: Callable[[Session, Snapshot], _T]) -> _T:
        """Do something with an opened source that isn't a question.

        Raises:
            SourceError: it can't be opened. DuckDB's own words, which may quote the file, aren't passed on.
        EngineUnavailable: DuckDB can't be started; no file is open yet, so its words are.
        """
        import duckdb

        try:
            with self._session() as session, snapshots([source], self._frozen, session) as opened:
                return action(session, opened[source])
        except SourceError:
            raise
        except (duckdb.Error, OSError, SourceChanged):
            pass
        raise SourceUnsupported(
            f"{source.location!r} can't be read as a {source.kind} table",
            hint="it is damaged or of another format, or open elsewhere for writing, or being changed right now",
        )

    def _session(self, *, in_order: bool = False) -> Session:
        """A fresh session."""
        return Session(threads=self._threads, memory=self._memory, in_order=in_order)


def _columns(session: Session, source: Source, opened: Snapshot, *, guess: bool) -> tuple[Column, ...]:
    """The columns of an opened source."""
    if source.kind == "csv":
        guessed = guess_kinds(session, opened) if guess else [Kind.TEXT] * len(opened.types)
        return tuple(Column(name=name, kind=kind) for name, kind in zip(opened.types, guessed, strict=True))
    required = {name for (name,) in session.execute(opened.required)} if opened.required else set()
    readable = [(name, kind_of(sql_type), sql_type) for name, sql_type in opened.types.items()]
    return tuple(
        Column(name=name, kind=kind, nullable=not (name in required and always_there(sql_type)))
        for name, kind, sql_type in readable
        if isinstance(kind, Kind)
    )


def _meet(exact: Exact) -> bool:
    """Whether several private tables meet in a question."""
    return len([scan for scan in exact.scans if scan.owner is not None]) > 1


def _groups(
    session: Session, exact: Exact, shape: Shape, opened: Mapping[Source, Snapshot]
) -> tuple[Sequence[tuple[Any, ...]], Sequence[Sequence[tuple[Any, ...]]]]:
    """What DuckDB answers to a question whose sources are open: its groups, and the counts of each histogram."""
    session.execute("BEGIN TRANSACTION")
    doors, keep = doors_of(exact), brings_together(exact.source)
    for door in doors:
        make_door(session, door, opened)
    make_entries(session, exact, shape, doors, keep=keep)
    rows = _count(session, ASKED) if keep else _rows_at_most(session, exact, doors, opened)
    program = limiting(
        replace(shape, rows=rows, doors=() if keep else tuple(door.name for door in doors if door.units))
    )
    for statement in program.setup:
        session.execute(statement)
    groups = session.execute(f"{program.query} {_in_order(len(exact.keys))}")
    return groups, [session.execute(_by_group(query, len(exact.keys))) for query in program.histograms]


def _rows_at_most(session: Session, exact: Exact, doors: Sequence[Door], opened: Mapping[Source, Snapshot]) -> int:
    """How many rows the question can have, from how many its tables have."""
    counts = {}
    for scan in exact.scans:
        door = next(each for each in doors if each.is_of(scan))
        owned = scan.owner is not None and bool(scan.owner.hops)
        counts[scan.alias] = _count(session, door.name if owned or is_kept(door) else opened[scan.table.source].view)
    return rows_at_most(exact.source, counts)


def _count(session: Session, rows: str) -> int:
    """How many rows a table has."""
    ((count,),) = session.execute(f"SELECT count(*) FROM {rows}")
    return int(count)


def _result(
    exact: Exact, groups: Sequence[tuple[Any, ...]], counts: Sequence[Sequence[tuple[Any, ...]]], fingerprint: str
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
        fingerprint=fingerprint,
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
