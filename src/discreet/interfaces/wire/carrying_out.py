"""Carrying out: what each statement of a connection does, and who answers it.

BEGIN, SET, SHOW, …     here, from what the connection knows
SELECT version(), …     here, from constants
MIN and MAX of a table  here, from declarations, if `discreet.metadata_probes` is on
LIMIT 1 of its rows     the catalogue, which has none, if that is on
a question              the service
pg_catalog, …           the catalogue, which knows declarations and nothing else
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from discreet.errors import DiscreetError, SqlSyntax, UnknownColumn, UnknownFunction, UnknownTable, Unsupported
from discreet.interfaces.wire.asking import Questions
from discreet.interfaces.wire.catalogue import Asked
from discreet.interfaces.wire.catalogue_process import Catalogue
from discreet.interfaces.wire.declared_answers import declared_ends
from discreet.interfaces.wire.held_rows import MOST_HELD
from discreet.interfaces.wire.outcomes import Outcome, Refused, Shape, shown_as
from discreet.interfaces.wire.parameters import Declared, as_asked
from discreet.interfaces.wire.replies import Field
from discreet.interfaces.wire.session_settings import (
    REPORTED,
    VERSION,
    Kept,
    SessionSettings,
    read_set,
)
from discreet.interfaces.wire.statements import Relations, Statement, Written
from discreet.interfaces.wire.temporary_views import View, Views, created, dropped
from discreet.interfaces.wire.unanswered_probes import UnansweredProbes
from discreet.interfaces.wire.values import INT4, KIND_OF, TEXT, as_text, oid_of
from discreet.results import is_summary

_T = TypeVar("_T")

_COUNT = re.compile(r"\d{1,9}", re.ASCII)

_MOST_CURSORS = 20

_MOST_SAVEPOINTS = 100

_TEXT_FIELD = Field("", TEXT)

_QUESTIONS = {"SELECT", "WITH", "VALUES", "TABLE", "SUMMARIZE"}
"""The words that begin what has rows."""

_UNANSWERED = (SqlSyntax, UnknownColumn, UnknownFunction, UnknownTable, Unsupported)
"""Errors of what isn't there, of what isn't a question: a probe that nobody has thought of."""

_IN_FAILED = {"ROLLBACK", "ABORT", "COMMIT", "END"}


class Failed(Exception):
    """A statement failed.

    Args:
        error: why.
        position: which character of what was sent that is about, from 1; 0 for none.
    """

    def __init__(self, error: DiscreetError | Refused, position: int = 0) -> None:
        super().__init__()
        self.error, self.position = error, position


@dataclass(slots=True)
class _Cursor:
    """A cursor: rows of an answer that is there already, and how far they were fetched."""

    outcome: Outcome
    is_held: bool
    at: int = 0


class Statements:
    """Carries out the statements of one connection.

    Args:
        questions: that go to the service.
        settings: of the session.
        schema: what is public of the tables.
        catalogue: of those.
        user: as whom the client connected.
        forget: forgets a prepared statement by its name, or all for None; whether there was one.
        probes: counts what isn't answered.
        has_room: whether so many more rows may wait, over all connections.

    Attributes:
        state: `I` outside of a transaction, `T` within one, `E` within one that failed.
    """

    def __init__(  # noqa: PLR0913 — what a connection knows, each by name
        self,
        questions: Questions,
        settings: SessionSettings,
        schema: Mapping[str, Any],
        *,
        catalogue: Catalogue,
        user: str,
        forget: Callable[[str | None], bool],
        probes: UnansweredProbes,
        has_room: Callable[[int], bool],
    ) -> None:
        self.settings = settings
        self._forget, self._catalogue, self._user = forget, catalogue, user
        self._schema, self._probes, self._has_room, self._views = schema, probes, has_room, Views()
        self._tables = frozenset(str(each["name"]).lower() for each in schema["tables"])
        self.state = "I"
        self._questions = questions
        self.columns = _columns(schema)
        self._constants = {**_CONSTANTS, **_own(str(schema["name"]), user)}
        self._savepoints: list[tuple[str, Kept, dict[str, View]]] = []
        self._views_before: dict[str, View] = {}
        self._cursors: dict[str, _Cursor] = {}

    def fields(self, statement: Statement, literals: Sequence[str]) -> Sequence[Field] | None:
        """The columns of a statement's rows; None if it has none. Free, and nothing is asked.

        Args:
            statement: that is described.
            literals: in the places of its parameters.

        Raises:
            Failed: it is refused.
        """
        return self._carried_out(statement, literals, self._described)

    def run(self, statement: Statement, literals: Sequence[str], shape: Sequence[Field] | None = None) -> Outcome:
        """Carry out a statement.

        Args:
            statement: to carry out.
            literals: in the places of its parameters.
            shape: the columns that the client was told of before, if it was.

        Raises:
            Failed: it is refused, or failed; within a transaction, so has that.
        """
        return self._carried_out(
            statement, literals, lambda expanded, written: self._done(expanded, written, shape, literals)
        )

    def _carried_out(
        self, statement: Statement, literals: Sequence[str], does: Callable[[Statement, Written], _T]
    ) -> _T:
        """Do something about a statement, with its values; count it if it is a probe that isn't answered."""
        try:
            expanded = self._expanded(statement)
            written = self._written(expanded, literals)
            return self._guarded(written, lambda: does(expanded, written), is_as_sent=expanded is statement)
        except Failed as failed:
            if self._is_unanswered(statement, failed.error):
                self._probes.count(statement)
            self.fail()
            raise

    def _expanded(self, statement: Statement) -> Statement:
        """A question with the texts of the views that it names; any other statement as it is."""
        try:
            return self._views.expanded(statement) if _is_question(statement) else statement
        except DiscreetError as error:
            raise Failed(error) from None

    def _is_unanswered(self, statement: Statement, error: DiscreetError | Refused) -> bool:
        """Whether a statement is no question about a table, and isn't understood."""
        is_unknown = error.sqlstate == "0A000" if isinstance(error, Refused) else isinstance(error, _UNANSWERED)
        return is_unknown and not (_is_question(statement) and Relations.of(statement, self._tables).declared)

    @property
    def waiting(self) -> int:
        """How many rows wait in cursors."""
        return sum(len(each.outcome.rows) - each.at for each in self._cursors.values())

    def fail(self) -> None:
        """Something failed: a transaction, if there is one, takes nothing more until it is rolled back."""
        self.state = "E" if self.state != "I" else "I"

    def _written(self, statement: Statement, literals: Sequence[str]) -> Written:
        """A statement with its values."""
        try:
            return as_asked(statement, literals)
        except DiscreetError as error:
            raise Failed(error) from None

    def _guarded(self, written: Written, does: Callable[[], _T], *, is_as_sent: bool = True) -> _T:
        """Do something, and say where in what was sent its error is; nowhere, if that has the texts of views in it."""
        try:
            return does()
        except DiscreetError as error:
            raise Failed(error, written.position(error.place) if is_as_sent else 0) from None
        except Refused as error:
            raise Failed(error) from None

    # ── Which statement it is ────────────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def _check_asked(written: Written) -> None:
        """Refuse what has several answers."""
        if is_summary(written.text):
            raise Refused("0A000", "SUMMARIZE has several answers, and this protocol one", "ask it over HTTP")

    def _described(self, statement: Statement, written: Written) -> Sequence[Field] | None:
        """The columns of what it gives."""
        match statement.words:
            case ("SHOW", *_):
                return self._shown(statement).fields
            case ("EXPLAIN", *_):
                return [_TEXT_FIELD._replace(name="QUERY PLAN")]
            case ("FETCH", *_):
                return self._cursor(statement).outcome.fields
            case (first, *_) if first in _QUESTIONS:
                if (free := self._free(statement, written)) is not None:
                    return free.fields
                return self._shape(statement, written).fields
        return self._shape(statement, written).fields if statement.tokens[0].text == "(" else None

    def _done(  # noqa: C901, PLR0911, PLR0912 — a table of what there is
        self, statement: Statement, written: Written, shape: Sequence[Field] | None, literals: Sequence[str]
    ) -> Outcome:
        """What it gives."""
        if self.state == "E" and not set(statement.words[:1]) & _IN_FAILED:
            raise Refused("25P02", "current transaction is aborted, commands ignored until end of transaction block")
        match statement.words:
            case ("BEGIN", *_) | ("START", *_):
                return self._begin(statement.words)
            case ("COMMIT", *_) | ("END", *_):
                return self._end(kept=self.state != "E")
            case ("ROLLBACK", *rest) | ("ABORT", *rest):
                return self._rolled_back(statement) if "TO" in rest else self._end(kept=False)
            case ("SAVEPOINT", *_) | ("RELEASE", *_):
                return self._savepoint(statement)
            case ("SET", *_):
                return self._set(statement)
            case ("RESET", *_):
                return self._reset(statement)
            case ("SHOW", *_):
                return self._shown(statement)
            case ("DISCARD", "PLANS" | "SEQUENCES" as what, *_):  # of which there is nothing
                return Outcome(f"DISCARD {what}")
            case ("DISCARD", "TEMP" | "TEMPORARY", *_):
                self._views.all.clear()
                return Outcome("DISCARD TEMP")
            case ("DISCARD", *_):
                self.settings.reset_all()
                self._cursors.clear()
                self._views.all.clear()
                self._forget(None)
                return Outcome("DISCARD ALL")
            case ("DEALLOCATE", *_):
                return self._deallocate(statement)
            case ("UNLISTEN", *_):
                return Outcome("UNLISTEN")
            case ("DECLARE", *_):
                return self._declare(statement, literals)
            case ("FETCH", *_) | ("MOVE", *_):
                return self._fetch(statement)
            case ("CLOSE", *_):
                return self._close(statement)
            case ("COPY", *_):
                return self._copy(statement, literals)
            case ("EXPLAIN", *_):
                return self._explain(statement, literals)
            case ("CREATE", *_):
                return self._create_view(statement)
            case ("DROP", *_):
                name, if_exists = dropped(statement)
                self._views.drop(name, if_exists=if_exists)
                return Outcome("DROP VIEW")
            case ("INSERT" | "UPDATE" | "DELETE" | "MERGE" | "TRUNCATE" as what, *_):
                raise Refused("25006", f"cannot execute {what} in a read-only transaction", "nothing is written here")
        if (free := self._free(statement, written)) is not None:
            return free
        return self._asked(statement, written, shape)

    # ── Questions ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _shape(self, statement: Statement, written: Written) -> Shape:
        """The columns of the answer to a question."""
        self._check_asked(written)
        terms, intervals = self.settings.terms(statement.hints), self.settings.intervals(statement.hints)
        return self._questions.shape(written, terms, intervals=intervals)

    def _asked(self, statement: Statement, written: Written, shape: Sequence[Field] | None) -> Outcome:
        """The answer to a question, in the columns that were described, if they were."""
        self._check_asked(written)
        terms, intervals = self.settings.terms(statement.hints), self.settings.intervals(statement.hints)
        outcome = self._questions.ask(written, terms, intervals=intervals)
        if shape is not None and outcome.fields is not None:  # of which the client reads the types, too
            rows = outcome.rows if len(shape) == len(outcome.fields) else _aligned(outcome, shape)
            outcome = replace(outcome, fields=shape, rows=rows)
        return outcome

    def _explain(self, statement: Statement, literals: Sequence[str]) -> Outcome:
        """The plan of the question that follows."""
        rest = statement.after(1)
        while rest.words[:1] and rest.words[0] in {"VERBOSE", "COSTS"}:
            rest = rest.after(1)
        if rest.words[:1] == ("ANALYZE",):
            raise Refused("0A000", "EXPLAIN ANALYZE would ask the question", "EXPLAIN alone costs nothing")
        if rest.tokens and rest.tokens[0].text == "(" and not set(rest.after(1).words[:1]) & _QUESTIONS:  # options
            rest = rest.after(next((at for at, each in enumerate(rest.tokens) if each.text == ")"), 0) + 1)
        rest = self._expanded(rest)
        written = self._written(rest, literals)
        self._check_asked(written)
        plan = self._questions.explain(written, self.settings.terms(rest.hints))
        lines = [*plan.words.splitlines(), *(f"warning   {each}" for each in plan.warnings)]
        return Outcome("EXPLAIN", [_TEXT_FIELD._replace(name="QUERY PLAN")], [(each,) for each in lines])

    def _free(self, statement: Statement, written: Written) -> Outcome | None:
        """What is answered from constants, or from the catalogue; None for a question."""
        if (constant := self._constants.get(statement.plain)) is not None:
            name, oid, value = constant
            return Outcome("SELECT", [Field(name, oid, 4 if oid == INT4 else -1)], [(value,)])
        relations = Relations.of(statement, self._tables)
        if self.settings.metadata_probes(statement.hints):
            ends = declared_ends(statement, self._schema)
            if ends is not None:
                return ends
            if relations.ask_for_a_row:
                found = self._looked_up(written.text, written.unquoted, of_catalogue=False)
                return replace(found, notices=[_NO_ROW])
        looks_up = relations.are_of_the_catalogue and statement.tokens[0].word != "SUMMARIZE"
        if not looks_up and not relations.ask_for_columns:
            return None
        return self._looked_up(written.text, written.unquoted, of_catalogue=looks_up)

    def _looked_up(self, text: str, unquoted: frozenset[str] = frozenset(), *, of_catalogue: bool) -> Outcome:
        """What the catalogue's process says; names that are `unquoted` in small letters."""
        views = [(name, each.columns) for name, each in self._views.all.items() if of_catalogue and name in text]
        asked = Asked(text, self._user, of_catalogue=of_catalogue, views=views)
        found = self._catalogue.ask(asked, self._questions.known().subject)
        names = [(name.lower() if name in unquoted else shown_as(name)) for name, _ in found.columns]
        fields = [Field(name, oid_of(kind)) for name, (_, kind) in zip(names, found.columns, strict=True)]
        return Outcome("SELECT", fields, found.rows)

    def _create_view(self, statement: Statement) -> Outcome:
        """Give a name to a text. Nothing is asked: its columns are those of the question, or of the rows it is for."""
        name, body = created(statement, self._tables)
        if not _is_question(body):
            raise Refused("42601", "a view is created as CREATE TEMPORARY VIEW v AS SELECT …")
        body = self._expanded(body)
        written = self._written(body, ())
        columns = self._columns_of(body, written)
        self._views.add(name, View(written.text, columns), replaces="REPLACE" in statement.words)
        return Outcome("CREATE VIEW")

    def _columns_of(self, body: Statement, written: Written) -> list[tuple[str, str]]:
        """The columns of a text: as its plan says them, or as declarations do where its rows can't be shown."""
        try:
            fields: Sequence[Field] = self._shape(body, written).fields
        except DiscreetError:
            text = f"SELECT * FROM ({written.text}) AS v LIMIT 0"  # noqa: S608 — for an empty table
            found = self._looked_up(text, of_catalogue=False)
            fields = found.fields or ()
        return [(each.name, KIND_OF.get(each.oid, "text")) for each in fields]

    # ── Cursors and COPY ─────────────────────────────────────────────────────────────────────────────────────────────

    def _declare(self, statement: Statement, literals: Sequence[str]) -> Outcome:
        """Ask what a cursor is for; its rows are fetched afterwards."""
        words = [each.word for each in statement.tokens]
        if "FOR" not in words or "CURSOR" not in words:
            raise Refused("42601", "a cursor is declared as DECLARE c CURSOR FOR SELECT …")
        is_held = ["WITH", "HOLD"] in (words[at : at + 2] for at in range(words.index("FOR")))
        if self.state == "I" and not is_held:
            raise Refused("25P01", "DECLARE CURSOR can only be used in transaction blocks", "BEGIN")
        if len(self._cursors) >= _MOST_CURSORS:
            raise Refused("53400", f"at most {_MOST_CURSORS} cursors can be open", "CLOSE one of them")
        rest = statement.after(words.index("FOR") + 1)
        outcome = self._rows_of(rest, literals)
        count = len(outcome.rows)
        if self.waiting + count > MOST_HELD or not self._has_room(count):
            raise Refused("53400", "too many rows wait to be fetched", "CLOSE a cursor; the answer is stored, and free")
        self._cursors[statement.tokens[1].called] = _Cursor(outcome, is_held)
        return replace(outcome, tag="DECLARE CURSOR", fields=None, rows=())

    def _rows_of(self, statement: Statement, literals: Sequence[str]) -> Outcome:
        """The rows that a statement within another one gives."""
        if not statement.tokens or statement.tokens[0].word not in _QUESTIONS:
            raise Refused("42601", "a question was expected here, which begins with SELECT")
        expanded = self._expanded(statement)
        written = self._written(expanded, literals)
        return self._guarded(
            written, lambda: self._done(expanded, written, None, literals), is_as_sent=expanded is statement
        )

    def _cursor(self, statement: Statement) -> _Cursor:
        """The cursor that a statement names."""
        name = statement.tokens[-1].called
        if name not in self._cursors:
            raise Refused("34000", f'cursor "{name[:63]}" does not exist')
        return self._cursors[name]

    def cursor_fields(self, name: str) -> Sequence[Field] | None:
        """The columns of a cursor, which is a portal too; None if there is none of that name."""
        found = self._cursors.get(name)
        return None if found is None else found.outcome.fields

    def _fetch(self, statement: Statement) -> Outcome:
        """The next rows of a cursor."""
        cursor = self._cursor(statement)
        words = [each.text.upper() for each in statement.tokens[1:-1]]
        if {"BACKWARD", "PRIOR", "LAST", "ABSOLUTE", "RELATIVE", "FIRST", "-"} & set(words):
            raise Refused("0A000", "a cursor goes forward only", "FETCH 100 FROM c, or FETCH ALL FROM c")
        count = next((int(each) for each in words if _COUNT.fullmatch(each)), 1)
        rows = cursor.outcome.rows
        end = len(rows) if "ALL" in words else min(cursor.at + count, len(rows))
        fetched, cursor.at = rows[cursor.at : end], end
        if statement.words[0] == "MOVE":
            return Outcome(f"MOVE {len(fetched)}")
        return Outcome("FETCH", cursor.outcome.fields, fetched)

    def _close(self, statement: Statement) -> Outcome:
        """Close a cursor, or all of them."""
        if statement.words == ("CLOSE", "ALL"):
            self._cursors.clear()
            return Outcome("CLOSE CURSOR ALL")
        self._cursor(statement)
        del self._cursors[statement.tokens[-1].called]
        return Outcome("CLOSE CURSOR")

    def _deallocate(self, statement: Statement) -> Outcome:
        """Forget a prepared statement, or all of them."""
        last = statement.tokens[-1]
        if last.word == "ALL":
            self._forget(None)
            return Outcome("DEALLOCATE ALL")
        if not self._forget(last.called):
            raise Refused("26000", f'prepared statement "{last.called[:63]}" does not exist')
        return Outcome("DEALLOCATE")

    def _copy(self, statement: Statement, literals: Sequence[str]) -> Outcome:
        """The lines of `COPY (SELECT …) TO STDOUT`, as text or as CSV."""
        depth, end = 0, 0
        for at, token in enumerate(statement.tokens):
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0 and token.text == ")":
                end = at
                break
        to, rest = statement.after(end + 1).words[:2], statement.tokens[end + 3 :]
        if not end or statement.tokens[1].text != "(" or to != ("TO", "STDOUT"):
            raise Refused("0A000", "only COPY (SELECT …) TO STDOUT can be used here")
        options = {each.text.strip("'").upper() for each in rest}
        if options - _COPY_OPTIONS:
            raise Refused("0A000", "COPY has the options FORMAT and HEADER here")
        outcome = self._rows_of(Statement(statement.text, statement.tokens[2:end], statement.hints), literals)
        csv = "CSV" in options
        rows = [[each.name for each in outcome.fields or ()]] if "HEADER" in options else []
        lines = [(_csv_line(each) if csv else _copy_line(each)) for each in (*rows, *outcome.rows)]
        return replace(outcome, tag=f"COPY {len(outcome.rows)}", copied=[f"{each}\n".encode() for each in lines])

    # ── Transactions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, words: Sequence[str]) -> Outcome:
        """Begin a transaction, in which nothing is different but what its errors do."""
        tag = "START TRANSACTION" if words[0] == "START" else "BEGIN"
        if self.state != "I":
            return Outcome(tag, warning=("25001", "there is already a transaction in progress"))
        self.state = "T"
        self.settings.begin()
        self._views_before = dict(self._views.all)
        return Outcome(tag)

    def _end(self, *, kept: bool) -> Outcome:
        """End one. What was paid for stays paid for, and its answers are stored."""
        tag = "COMMIT" if kept else "ROLLBACK"
        if self.state == "I":
            return Outcome(tag, warning=("25P01", "there is no transaction in progress"))
        self.state = "I"
        before = self._reported()
        self.settings.end(kept=kept)
        if not kept:
            self._views.all = self._views_before
        self._savepoints.clear()
        self._cursors = {name: each for name, each in self._cursors.items() if kept and each.is_held}
        return Outcome(tag, settings=_changed(before, self._reported()))

    def _savepoint(self, statement: Statement) -> Outcome:
        """Note a savepoint, or forget one."""
        if self.state == "I":
            raise Refused("25P01", "savepoints can only be used in transaction blocks")
        name = statement.tokens[-1].called
        if statement.words[0] == "RELEASE":
            self._back_to(name)
            self._savepoints.pop()  # what was set since stays
            return Outcome("RELEASE")
        if len(self._savepoints) >= _MOST_SAVEPOINTS:
            raise Refused("54000", f"a transaction has at most {_MOST_SAVEPOINTS} savepoints")
        self._savepoints.append((name, self.settings.kept(), dict(self._views.all)))
        return Outcome("SAVEPOINT")

    def _rolled_back(self, statement: Statement) -> Outcome:
        """Go on from a savepoint."""
        if self.state == "I":
            raise Refused("25P01", "savepoints can only be used in transaction blocks")
        self._back_to(statement.tokens[-1].called)
        self.state = "T"
        before = self._reported()
        _, kept, views = self._savepoints[-1]
        self.settings.go_back(kept)
        self._views.all = dict(views)
        return Outcome("ROLLBACK", settings=_changed(before, self._reported()))

    def _back_to(self, name: str) -> None:
        """Forget the savepoints after one."""
        if name not in (each[0] for each in self._savepoints):
            raise Refused("3B001", f'savepoint "{name[:63]}" does not exist')
        while self._savepoints[-1][0] != name:
            self._savepoints.pop()

    # ── Settings ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _set(self, statement: Statement) -> Outcome:
        """Set something; what drivers set that means nothing here is taken as said."""
        if (said := read_set(statement)) is None:
            return Outcome("SET")
        name, value, local = said
        if local and self.state == "I":
            return Outcome("SET", warning=("25P01", "SET LOCAL can only be used in transaction blocks"))
        shown = self.settings.set(name, value, local=local)
        return Outcome("SET", settings={shown: self.settings.show(name)} if shown else {})

    def _reset(self, statement: Statement) -> Outcome:
        """Take a setting, or all of them, back to what the connection began with."""
        name = "".join(each.text for each in statement.tokens[1:]).lower()
        before = self._reported()
        if name == "all":
            self.settings.reset_all()
        else:
            self.settings.set(name, None)
        return Outcome("RESET", settings=_changed(before, self._reported()))

    def _reported(self) -> dict[str, str]:
        """The settings that a client is told of."""
        return {shown: self.settings.show(name) for name, shown in REPORTED.items()}

    def _shown(self, statement: Statement) -> Outcome:
        """The value of a setting, or of all."""
        match [each.text.upper() for each in statement.tokens[1:]]:
            case ["ALL"]:
                fields = [Field("name", TEXT), Field("setting", TEXT), Field("description", TEXT)]
                return Outcome("SHOW", fields, [(*each, "") for each in self.settings.all()])
            case ["TRANSACTION", "ISOLATION", "LEVEL"]:
                name = "transaction_isolation"
            case ["TIME", "ZONE"]:
                name = "timezone"
            case _:
                name = "".join(each.text for each in statement.tokens[1:]).strip('"')
        shown = REPORTED.get(name.lower(), name.lower())
        return Outcome("SHOW", [Field(shown, TEXT)], [(self.settings.show(name),)])


def _is_question(statement: Statement) -> bool:
    """Whether it begins as what has rows does."""
    return any(each.word in _QUESTIONS or each.text == "(" for each in statement.tokens[:1])


def _aligned(outcome: Outcome, shape: Sequence[Field]) -> list[tuple[Any, ...]]:
    """Rows in the columns that a client was told of: NULL where the answer has no such column."""
    at = {each.name: place for place, each in enumerate(outcome.fields or ())}
    places = [at.get(each.name) for each in shape]
    return [tuple(None if place is None else row[place] for place in places) for row in outcome.rows]


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """The settings that have another value now."""
    return {name: value for name, value in after.items() if before[name] != value}


def _columns(schema: Mapping[str, Any]) -> dict[str, Declared]:
    """What is declared of the columns of all tables, by name; where tables differ, nothing is."""
    found: dict[str, Declared] = {}
    for table in schema["tables"]:
        for column in table["columns"]:
            name, declared = str(column["name"]).lower(), Declared.of(column)
            same = found.get(name, declared)
            found[name] = declared if same.oid == declared.oid else Declared(TEXT)
    return found


_NO_ROW = ("columns were told, and no row", "SET discreet.metadata_probes = off refuses rows instead")
"""Whatever there is: a tool that looks at one row reads its columns."""

_Constant = tuple[str, int, Any]

_CONSTANTS: Mapping[str, _Constant] = MappingProxyType(
    {
        "select 1": ("?column?", INT4, 1),
        "select version ( )": ("version", TEXT, VERSION),
        "select pg_catalog . version ( )": ("version", TEXT, VERSION),
        "select current_schema ( )": ("current_schema", TEXT, "public"),
        "select current_schema": ("current_schema", TEXT, "public"),
        "select pg_advisory_unlock_all ( )": ("pg_advisory_unlock_all", TEXT, ""),
        "select pg_catalog . pg_is_in_recovery ( )": ("pg_is_in_recovery", TEXT, "f"),
    }
)
"""What drivers ask at each start, answered at once: name, type and value, by the plain text."""


def _own(database: str, user: str) -> dict[str, _Constant]:
    """Constants of one connection."""
    users = {f"select {name}": (name, TEXT, user) for name in ("current_user", "session_user", "user")}
    databases = dict.fromkeys(
        ("select current_database ( )", "select current_catalog"), ("current_database", TEXT, database)
    )
    return {**users, **databases}


_COPY_OPTIONS = {"WITH", "FORMAT", "CSV", "TEXT", "HEADER", "TRUE", "ON", "(", ",", ")"}

_COPY_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _copy_line(row: Sequence[Any]) -> str:
    r"""A row as COPY writes it.

    Examples:
        >>> _copy_line([1, None, "a\tb"])
        '1\t\\N\ta\\tb'
    """
    return "\t".join("\\N" if each is None else as_text(each).translate(_COPY_ESCAPES) for each in row)


def _csv_line(row: Sequence[Any]) -> str:
    """A row as COPY writes it in CSV, where NULL is empty and an empty text isn't.

    Examples:
        >>> _csv_line([1, None, "", 'a "b", c'])
        '1,,"","a ""b"", c"'
    """
    cells = []
    for each in row:
        said = "" if each is None else as_text(each)
        quoted = each is not None and (not said or any(sign in said for sign in ',"\r\n') or said == "\\.")
        cells.append('"' + said.replace('"', '""') + '"' if quoted else said)
    return ",".join(cells)
