"""Cursors: they ask a question, and hand out its answer row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn, Protocol, Self, TypeAlias

from discreet.dbapi.exceptions import (
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
    Warning,  # noqa: A004 — PEP 249 names it
    translated,
)
from discreet.dbapi.settings import Outcome, Settings, carried_out
from discreet.dbapi.types import Description, described
from discreet.results import Answer, Explanation, with_ends

Messages: TypeAlias = list[tuple[type[Warning], Warning]]
"""What is said beside an answer, as PEP 249 has it."""


class Tables(Protocol):
    """What is asked: `discreet.Protected`, or `discreet.Remote`."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The declarations of everything that may be asked about."""

    def ask(self, question: str, **terms: Any) -> Answer | list[Answer]:  # noqa: ANN401 — as `discreet.query.planner.Terms`
        """Ask a question."""

    def close(self) -> None:
        """Let go of them."""


class Connected(Protocol):
    """What a cursor knows of its connection."""

    settings: Settings
    messages: Messages
    answer: Answer | None

    @property
    def tables(self) -> Tables:
        """What is asked."""

    def check_open(self) -> None:
        """Refuse what comes after `close`."""


class Cursor:
    """A cursor: made by `Connection.cursor`.

    Attributes:
        connection: that made it.
        arraysize: how many rows `fetchmany` gives, 1 unless it is set.
        description: the columns of the answer; None where there is none.
        rowcount: how many rows it has; -1 before anything was asked, and after a statement that shows nothing.
        messages: what is said beside the answer, as PEP 249 has it: pairs of a class and a `Warning`. The first says
            at which confidence the ± holds, and the last what the answer cost; between them are limits and warnings.
        answer: the answer itself, with intervals, cost and certificate; None after a statement that is no question.

    Examples:
        >>> cursor = connect("discreet.toml", epsilon=0.5).cursor()                          # doctest: +SKIP
        >>> cursor.execute("SELECT COUNT(*) AS n FROM census WHERE age >= ?", [40]).fetchone()  # doctest: +SKIP
        (592,)
    """

    def __init__(self, connection: Connected) -> None:
        self.connection = connection
        self.arraysize = 1
        self._is_closed = False
        self._answers: list[Answer] = []
        self._clear()

    def _clear(self) -> None:
        """Forget what was asked before."""
        self.description: tuple[Description, ...] | None = None
        self.rowcount = -1
        self.messages: Messages = []
        self.answer: Answer | None = None
        self._rows: Iterator[tuple[Any, ...]] = iter(())

    def execute(self, operation: str, parameters: Sequence[Any] | None = None) -> Self:
        """Ask a question, or change a setting.

        `SET discreet.epsilon = 0.5`, `RESET discreet.epsilon` and `SHOW ALL` are about settings; `SELECT 1`, which
        tools ask to see whether a connection works, is answered here. Everything else is a question. `EXPLAIN` before
        one says what it would cost, which is free. `SUMMARIZE` gives several answers: `nextset` goes to the next.

        Args:
            operation: the statement.
            parameters: a value for each `?`. Each is a value and nothing else, whatever is in it.

        Raises:
            ProgrammingError, NotSupportedError: it is refused; nothing is charged.
            OperationalError: the budget, a right or the server doesn't let it be asked.
            InternalError: it was paid for, and then failed.
            InterfaceError: the cursor or its connection is closed.
        """
        self._check_open()
        self._answers = []
        self._clear()
        values = self._values(parameters)
        with translated():
            outcome = carried_out(operation, self.connection.settings)
            if outcome is None:
                self._ask(operation, values)
            elif values:
                raise ProgrammingError("this statement takes no parameters")
            else:
                self._show(outcome)
        return self

    def _values(self, parameters: Sequence[Any] | None) -> list[Any]:
        """The parameters, as a list."""
        if parameters is None:
            return []
        if not isinstance(parameters, Sequence) or isinstance(parameters, str | bytes):
            raise ProgrammingError("parameters are a list of values, one for each ? in the question")
        return list(parameters)

    def _ask(self, question: str, values: list[Any]) -> None:
        """Ask, and take what comes."""
        settings = self.connection.settings
        terms = settings.beside(question) | ({"parameters": values} if values else {})
        found = self.connection.tables.ask(question, **terms)
        self._answers = list(found) if isinstance(found, list) else [found]
        self._take()

    def _take(self) -> None:
        """Take the next answer."""
        answer = self._answers.pop(0)
        names, rows = with_ends(answer) if self.connection.settings.intervals else (answer.names, _rows_of(answer))
        self.description, self.rowcount, self._rows = described(names, answer), len(answer), iter(rows)
        notes = () if isinstance(answer, Explanation) else answer.notes()
        self.messages = [(Warning, Warning(f"{title}: {words}")) for title, words in notes]
        self.answer = answer
        self.connection.answer, self.connection.messages = answer, self.messages

    def _show(self, outcome: Outcome) -> None:
        """Show what a statement of this module's has to show."""
        self.connection.settings = outcome.settings
        if outcome.names:
            kind = "integer" if isinstance(outcome.rows[0][0], int) else "text"
            self.description = tuple((name, kind, None, None, None, None, None) for name in outcome.names)
            self.rowcount, self._rows = len(outcome.rows), iter(outcome.rows)

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[Any]]) -> NoReturn:  # noqa: ARG002 — PEP 249
        """Refused: each would be a question of its own, paid for by itself, and its answer would be lost.

        Raises:
            NotSupportedError: always.
        """
        self._check_open()
        raise NotSupportedError(
            "executemany writes, and nothing can be written; execute each question, or use GROUP BY"
        )

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None after the last.

        Raises:
            InterfaceError: nothing was asked that has rows, or the cursor is closed.
        """
        return next(self._fetching(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows: so many, or `arraysize`; fewer at the end.

        Raises:
            InterfaceError: as for `fetchone`.
        """
        rows = self._fetching()
        return list(islice(rows, self.arraysize if size is None else size))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left.

        Raises:
            InterfaceError: as for `fetchone`.
        """
        return list(self._fetching())

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[Any, ...]:
        return next(self._fetching())

    def nextset(self) -> bool | None:
        """Go to the next answer of several; None if there is none."""
        self._check_open()
        if not self._answers:
            self._clear()
            return None
        self._take()
        return True

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Does nothing: a value says what it is."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing: all of an answer is there at once."""

    def close(self) -> None:
        """Use it no more; closing twice is no error."""
        self._answers = []
        self._clear()
        self._is_closed = True

    def __enter__(self) -> Self:
        """Use it in a `with` statement, to close it at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fetching(self) -> Iterator[tuple[Any, ...]]:
        """The rows that are left."""
        self._check_open()
        if self.description is None:
            raise InterfaceError("there are no rows: execute a question first")
        return self._rows

    def _check_open(self) -> None:
        """Refuse what comes after `close`."""
        if self._is_closed:
            raise InterfaceError("this cursor is closed")
        self.connection.check_open()


def _rows_of(answer: Answer) -> list[tuple[Any, ...]]:
    """The rows of an answer."""
    return list(zip(*(answer[name] for name in answer.names), strict=True))
