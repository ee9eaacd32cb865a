"""The embedded engine: DuckDB over files and tables in memory, its expressions compiled by Ibis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from discreet.dataset import Column, Kind, Peek, Source, Table
from discreet.engine.door import TEXT_CELLS, always_there
from discreet.engine.entrance import make_door
from discreet.engine.entries import make_entries, shape_of
from discreet.engine.expressions import DOOR
from discreet.engine.files import OpenFile
from discreet.engine.frozen import freeze
from discreet.engine.kinds import called, kind_of, readable_as
from discreet.engine.limiting import Shape, limiting
from discreet.engine.peeking import peek
from discreet.engine.reader import RAW, Snapshot, SourceChanged, database_fingerprint, file_fingerprint, snapshot
from discreet.engine.result import ExactResult
from discreet.engine.session import Session
from discreet.engine.sniff import guess_kinds
from discreet.engine.usage import usage
from discreet.errors import QuestionFailed, SchemaMismatch, SourceError, SourceUnsupported
from discreet.privacy import KeyValue
from discreet.query.ir import Exact, Key

_T = TypeVar("_T")


class DuckDB:
    """A private table that DuckDB reads; an `Engine`.

    Each question has an instance of its own, so that questions can't disturb each other, nor a failure outlive the
    question that caused it. It costs 15 ms.

    Args:
        source: a CSV, Parquet or DuckDB file, or a table in memory.
        data: the table, if it is in memory. It is copied.
        threads: how many to use; None for one per core. Answers don't depend on it.
        memory: bytes before spilling to disk; None for 60 % of what there is.

    Raises:
        SourceMissing: a source in memory came without its table.
        SourceUnsupported: the table in memory can't be read.
    """

    def __init__(
        self, source: Source, data: object | None = None, *, threads: int | None = None, memory: int | None = None
    ) -> None:
        """Keep the source; files are opened when they are needed."""
        self._source = source
        self._frozen = freeze(data) if source.kind == "memory" else None
        self._threads = threads
        self._memory = memory

    def __repr__(self) -> str:
        """The source, and nothing that is in it."""
        return f"<DuckDB engine on {self._source.location!r}>"

    def describe(self, *, guess: bool = True) -> tuple[Column, ...]:
        """The columns that can be read. See `Engine.describe`: what is guessed of a CSV file is private."""
        return self._look(lambda session, opened: self._columns(session, opened, guess=guess))

    def check(self, table: Table) -> None:
        """Compare the declared columns with the source's schema; no row is read. See `Engine.check`."""
        types = self._look(lambda _session, opened: opened.types)
        found = {name.casefold(): sql_type for name, sql_type in types.items()}
        for column in table.columns:
            sql_type = found.get(column.name.casefold())
            if sql_type is None:
                listed = "" if self._source.kind == "csv" else f"it has {', '.join(types)}"
                raise SchemaMismatch(
                    f"{self._source.location!r} has no column {column.name!r}",
                    hint=listed or "does its first line name the columns?",  # if it doesn't, it is a row: not quoted
                )
            if sql_type != TEXT_CELLS and not readable_as(sql_type, column.kind):
                kind = kind_of(sql_type)
                raise SchemaMismatch(
                    f"column {column.name!r} is declared as {column.kind}, but holds {called(sql_type)}",
                    hint=f"declare it as {kind}" if kind else "discreet doesn't compute with such values",
                )

    def peek(self, columns: Sequence[Column]) -> Peek:
        """What is in these columns, for the custodian alone. See `Engine.peek`."""
        return self._look(lambda session, opened: peek(session, opened, columns))

    def fingerprint(self) -> str:
        """A text that changes whenever the data change. Private; see `Engine.fingerprint`."""
        if self._frozen is not None:
            return self._frozen.fingerprint
        if self._source.kind == "duckdb":
            return database_fingerprint(self._source)
        with OpenFile(self._source.location) as file:
            return file_fingerprint(file, self._source)

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question, from one snapshot of the data. See `Engine.run`.

        Raises:
            InvalidArgument: the plan itself is beyond this engine: raised before any data is touched, and a matter
                of the plan alone.
            QuestionFailed: for whatever reason; which one can't be told, because it may depend on a row.
        """
        shape = shape_of(exact)
        try:
            return self._answer(exact, shape)
        except Exception:  # noqa: BLE001, S110 — the wall: whatever the cause, it may quote a row, so it ends here
            pass
        raise QuestionFailed  # outside the handler, so that no cause or context is chained to it

    def close(self) -> None:
        """Let go of a table in memory. Files aren't held between questions."""
        self._frozen = None

    def _answer(self, exact: Exact, shape: Shape) -> ExactResult:
        """Ask DuckDB. What this raises must not get out of `run`."""
        with self._session() as session, snapshot(self._source, self._frozen, session) as opened:
            session.execute("BEGIN TRANSACTION")
            keep = self._source.kind == "csv"
            make_door(session, exact.table, opened.types, usage(exact), keep=keep)
            make_entries(session, exact, shape)
            ((rows_at_most,),) = session.execute(f"SELECT count(*) FROM {DOOR if keep else RAW}")
            program = limiting(replace(shape, rows=rows_at_most))
            for statement in program.setup:
                session.execute(statement)
            rows = session.execute(f"{program.query} {_in_order(len(exact.keys))}")
        keys, count = exact.keys, len(exact.keys)
        return ExactResult(
            keys=[_key_values(keys, row) for row in rows],
            measures={
                measure.name: [int(row[count + number]) for row in rows]
                for number, measure in enumerate(exact.measures)
            },
            fingerprint=opened.fingerprint,
        )

    def _columns(self, session: Session, opened: Snapshot, *, guess: bool) -> tuple[Column, ...]:
        """The columns of an opened source."""
        if self._source.kind == "csv":
            guessed = guess_kinds(session, opened.types) if guess else [Kind.TEXT] * len(opened.types)
            return tuple(Column(name=name, kind=kind) for name, kind in zip(opened.types, guessed, strict=True))
        required = {name for (name,) in session.execute(opened.required)} if opened.required else set()
        readable = [(name, kind_of(sql_type), sql_type) for name, sql_type in opened.types.items()]
        return tuple(
            Column(name=name, kind=kind, nullable=not (name in required and always_there(sql_type)))
            for name, kind, sql_type in readable
            if isinstance(kind, Kind)
        )

    def _look(self, action: Callable[[Session, Snapshot], _T]) -> _T:
        """Do something with the opened source that isn't a question.

        Raises:
            SourceError: it can't be opened. DuckDB's own words, which may quote the file, aren't passed on.
        """
        import duckdb

        try:
            with self._session() as session, snapshot(self._source, self._frozen, session) as opened:
                return action(session, opened)
        except SourceError:
            raise
        except (duckdb.Error, OSError, SourceChanged):
            pass
        raise SourceUnsupported(
            f"{self._source.location!r} can't be read as a {self._source.kind} table",
            hint="it is damaged or of another format, or open elsewhere for writing, or being changed right now",
        )

    def _session(self) -> Session:
        """A fresh session."""
        return Session(threads=self._threads, memory=self._memory)


def _in_order(keys: int) -> str:
    """Groups in the order of their keys: in that of their first appearance, they would tell whose row came first."""
    return f"ORDER BY {', '.join(f'k{number}' for number in range(keys))}" if keys else ""


def _key_values(keys: Sequence[Key], row: tuple[Any, ...]) -> tuple[KeyValue, ...]:
    """A group's key: public ones come as their number in the list, others as they are."""
    return tuple(value if key.values is None else key.values[value] for key, value in zip(keys, row, strict=False))
