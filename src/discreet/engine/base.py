"""What an engine is: four promises, kept by every engine, ours or a third party's."""

from __future__ import annotations

from typing import Protocol

from discreet.engine.result import ExactResult
from discreet.query.ir import Exact
from discreet.tables import Table


class Engine(Protocol):
    """The tables of one snapshot, which answer exact questions together.

    Files of tables in place are read while `Snapshot.held_open` holds them, which sees whether they are what they were.

    Guarantee: `prepare` is a function of the plan and of the machine, so it says what is wrong with either. `run`
    touches rows, so it either returns or raises `QuestionFailed`, which has one constant text; a plan that the engine
    can't carry out is an `InvalidArgument`, raised before any row is touched. What can't be started is an
    `EngineUnavailable`, save in `run`. All are safe to call from several threads.
    """

    def check(self, table: Table) -> None:
        """Check that what a public table declares as unique holds no value twice; NULL may occur often.

        Values count as questions see them: two that bounds move to one end are one.

        Raises:
            SchemaMismatch: a value occurs twice.
        """
        ...

    def prepare(self, exact: Exact) -> None:
        """Do all that a question takes on tables without rows, made from what is declared; no snapshot is opened.

        What fails here would fail on any data. So it is found before anything is charged, and its cause is told.

        Raises:
            InvalidArgument: the plan is beyond this engine.
            EngineUnavailable: the engine can't be started, or fails; the message passes on why.
            ImportError: a library that it needs isn't there.
        """
        ...

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question.

        Raises:
            QuestionFailed: for whatever reason; which one can't be told, because it may depend on a row.
        """
        ...

    def close(self) -> None:
        """Let go of the snapshot. Afterwards nothing else may be called."""
        ...
