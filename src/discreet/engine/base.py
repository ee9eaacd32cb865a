"""What an engine is: six promises, kept by every engine, ours or a third party's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from discreet.dataset import Column, Peek, Table
from discreet.engine.result import ExactResult
from discreet.query.ir import Exact


class Engine(Protocol):
    """A private table that answers exact questions.

    Guarantee: `describe`, `check`, `peek` and `fingerprint` may raise a `SourceError`, whose text holds names and
    types but never a value. `run` touches rows, so it either returns or raises `QuestionFailed`, which has one
    constant text; a plan that the engine can't carry out is an `InvalidArgument`, raised before any row is touched.
    All are safe to call from several threads.
    """

    def describe(self, *, guess: bool = True) -> tuple[Column, ...]:
        """The columns that can be read, in the source's order: names, kinds, and whether NULL may occur.

        Read from the schema alone, which a CSV file doesn't have: all it holds is text, unless kinds are guessed.

        Args:
            guess: whether to guess the kinds of a CSV file's columns from its cells. One cell can change such a
                guess, so it is for the custodian's eyes, never for an analyst's, nor for anything that decides how a
                question is planned.

        Raises:
            SourceMissing: the file or table isn't there.
            SourceUnsupported: it is there, but can't be read as a table.
        """
        ...

    def check(self, table: Table) -> None:
        """Compare the declared columns with the source's schema, before anything is charged; no row is read.

        Raises:
            SourceMissing: the file or table isn't there.
            SourceUnsupported: it is there, but can't be read as a table.
            SchemaMismatch: a declared column is missing, or has a type that can't be read as the declared kind.
        """
        ...

    def peek(self, columns: Sequence[Column]) -> Peek:
        """What is in these columns: their least and greatest values, and their values if they are few.

        It reads the data without a price, so it is for the custodian who is about to protect them, and for nobody
        else; what it returns must not reach an analyst.

        Raises:
            SourceMissing: the file or table isn't there.
            SourceUnsupported: it is there, but can't be read as a table.
        """
        ...

    def fingerprint(self) -> str:
        """A text that changes whenever the data change, and doesn't depend on where they lie.

        It is PRIVATE: it may contain a digest of the data. Hand it to the ledger, which keeps a keyed hash of it.

        Raises:
            SourceMissing: the file isn't there.
            SourceUnsupported: it can't be opened.
        """
        ...

    def run(self, exact: Exact) -> ExactResult:
        """The exact integers of one question, from one snapshot of the data.

        Raises:
            QuestionFailed: for whatever reason; which one can't be told, because it may depend on a row.
        """
        ...

    def close(self) -> None:
        """Let go of the table. Afterwards nothing else may be called."""
        ...
