"""What an engine is: seven promises, kept by every engine, ours or a third party's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from discreet.engine.result import ExactResult
from discreet.query.ir import Exact
from discreet.tables import Column, Peek, Source, Table


class Engine(Protocol):
    """The tables of one dataset, which answer exact questions together.

    Guarantee: `describe`, `check`, `peek` and `fingerprint` may raise a `SourceError`, whose text holds names and
    types but never a value. `prepare` is a function of the plan and of the machine, so it says what is wrong with
    either. `run` touches rows, so it either returns or raises `QuestionFailed`, which has one constant text; a plan
    that the engine can't carry out is an `InvalidArgument`, raised before any row is touched. What can't be started
    is an `EngineUnavailable`, save in `run`. All are safe to call from several threads.
    """

    def describe(self, source: Source, *, guess: bool = True) -> tuple[Column, ...]:
        """The columns that can be read, in the source's order: names, kinds, and whether NULL may occur.

        Read from the schema alone, which a CSV file doesn't have: all it holds is text, unless kinds are guessed.

        Args:
            source: where the table lies.
            guess: whether to guess the kinds of a CSV file's columns from its cells. One cell can change such a
                guess, so it is for the custodian's eyes, never for an analyst's, nor for anything that decides how a
                question is planned.

        Raises:
            SourceMissing: the file or table isn't there.
            SourceUnsupported: it is there, but can't be read as a table.
        """
        ...

    def check(self, table: Table) -> None:
        """Compare what is declared with the source, before anything is charged.

        Columns are compared with the schema, without reading a row. Of a public table, its rows are read too: no
        column that is declared as unique may hold a value twice, as the door lets values in; NULL may occur often.

        Raises:
            SourceMissing: the file or table isn't there.
            SourceUnsupported: it is there, but can't be read as a table.
            SchemaMismatch: a declared column is missing, has a type that can't be read as the declared kind, or isn't
                unique as declared.
        """
        ...

    def peek(self, source: Source, columns: Sequence[Column]) -> Peek:
        """What is in these columns: their least and greatest values, and their values if they are few.

        It reads the data without a price, so it is for the custodian who is about to protect them, and for nobody
        else; what it returns must not reach an analyst.

        Raises:
            SourceMissing: the file or table isn't there.
            SourceUnsupported: it is there, but can't be read as a table.
        """
        ...

    def fingerprint(self, tables: Sequence[Table]) -> str:
        """A text that changes whenever the data of these tables are seen to change, wherever they lie.

        Of a file, identity, size, time of change and both ends are looked at; of a table in memory, all of it.

        It is one for all of them, whatever the order they are named in, and the same that a question about these
        tables gives for the snapshot it reads. It is PRIVATE: it may contain a digest of the data. Hand it to the
        ledger, which keeps a keyed hash of it.

        Raises:
            SourceMissing: a file isn't there.
            SourceUnsupported: it can't be opened.
        """
        ...

    def prepare(self, exact: Exact) -> None:
        """Do all that a question takes on tables without rows, made from what is declared; no source is opened.

        What fails here would fail on any data. So it is found before anything is charged, and its cause is told.

        Raises:
            InvalidArgument: the plan is beyond this engine.
            EngineUnavailable: the engine can't be started, or fails; the message passes on why.
            ImportError: a library that it needs isn't there.
        """
        ...

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question, from one snapshot of all tables it reads: `exact.tables`.

        Raises:
            QuestionFailed: for whatever reason; which one can't be told, because it may depend on a row.
        """
        ...

    def close(self) -> None:
        """Let go of the tables. Afterwards nothing else may be called."""
        ...
