"""Connections: the protocol with one client, from its first byte to its last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, assert_never

from discreet.errors import DiscreetError, Unauthenticated
from discreet.interfaces.wire import messages, replies
from discreet.interfaces.wire.asking import Questions, parts_of
from discreet.interfaces.wire.carrying_out import Failed, Statements
from discreet.interfaces.wire.catalogue_process import Catalogue
from discreet.interfaces.wire.held_rows import MOST_HELD, HeldRows
from discreet.interfaces.wire.messages import (
    Bind,
    Close,
    Describe,
    Execute,
    Malformed,
    Message,
    Parse,
    Password,
    Plain,
    Query,
    Startup,
)
from discreet.interfaces.wire.outcomes import Outcome, Refused
from discreet.interfaces.wire.parameters import Parameter, formats_of, literals, parameters
from discreet.interfaces.wire.replies import Field
from discreet.interfaces.wire.session_settings import REPORTED, SessionSettings
from discreet.interfaces.wire.statements import Statement, statements
from discreet.interfaces.wire.stream import Gone, Stream
from discreet.interfaces.wire.unanswered_probes import UnansweredProbes
from discreet.interfaces.wire.values import encoded
from discreet.service import Caller, Event, Service, fresh_name

_STARTING = 30.0
"""How many seconds a client has until its token is known."""

_MESSAGE = 30.0
"""How many seconds a message that has begun may take to arrive."""

_IDLE = 86_400.0
"""How many seconds a client may say nothing; one that is gone is noticed sooner, by TCP."""

_MOST_PREPARED = 1000
_MOST_PORTALS = 100
_MOST_CHARACTERS = 393_216
_OF_PARAMETER = 8
"""How many statements and portals a client may have, and how many characters of either; each parameter is some."""

_FLUSHED = 65_536
"""With so many bytes waiting, they are sent."""

_QUIET = {"warning", "error", "fatal", "panic", "log"}
"""Values of `client_min_messages` at which no notices are wanted."""


@dataclass(slots=True)
class _Prepared:
    """A prepared statement, None for an empty one; and its columns, once the client was told of them."""

    statement: Statement | None
    parameters: Sequence[Parameter]
    size: int
    shape: Sequence[Field] | None = None


@dataclass(slots=True)
class _Portal:
    """A prepared statement with values, and what it gives once it was carried out."""

    statement: Statement | None
    literals: Sequence[str]
    formats: Sequence[int]
    shape: Sequence[Field] | None = None
    outcome: Outcome | None = None
    at: int = 0


class _Ended(Exception):
    """The connection ends by an error.

    Args:
        error: of which the client is told.
    """

    def __init__(self, error: DiscreetError) -> None:
        super().__init__()
        self.error = error


class Connection:
    """The protocol with one client.

    Guarantee: whatever comes is answered in the protocol's order, or ends the connection. Nothing that a client sends
    while a question runs is looked at before its answer has left.

    Args:
        service: that answers.
        stream: of the client.
        offers_tls: whether TLS is served.
        needs_tls: whether nothing is said without.
        catalogue: makes the catalogue of a schema, or has it already.
        known: is called with the caller once they are known; what it returns is whether they may stay.
        address: of the client, for the log.
        probes: counts what isn't answered, over all connections.
        held: knows the rows that wait, of all connections.
    """

    def __init__(  # noqa: PLR0913 — what a listener knows of a client, each by name
        self,
        service: Service,
        stream: Stream,
        *,
        offers_tls: bool,
        needs_tls: bool,
        catalogue: Callable[[Mapping[str, Any]], Catalogue],
        probes: UnansweredProbes,
        held: HeldRows,
        known: Callable[[str], bool] = lambda _: True,
        address: str = "",
    ) -> None:
        self._service, self._stream = service, stream
        self._probes, self._held = probes, held
        self._offers_tls, self._needs_tls = offers_tls, needs_tls
        self._known, self._catalogue, self._address = known, catalogue, address
        self._out = bytearray()
        self._prepared: dict[str, _Prepared] = {}
        self._portals: dict[str, _Portal] = {}
        self._skipping = False
        self._subject = ""
        self._statements: Statements
        self._settings: SessionSettings

    def serve(self) -> None:
        """Speak with the client until it leaves, or can't be understood.

        Raises:
            Gone: it left without a word.
        """
        try:
            startup = self._start()
            if startup is None or not self._authenticate(startup):
                return
            while (message := self._receive(_IDLE)) != Plain(b"X"):
                self._answer(message)
                self._has_room()  # of what is gone, others have it
        except Malformed:
            self._fatal(Refused("08P01", "this isn't a message of PostgreSQL's protocol, version 3"))
        except _Ended as ended:
            self._fatal(ended.error)
        except Gone:
            raise
        except Exception:  # noqa: BLE001 — whatever it is might quote anything
            self._service.log.write(Event.DEFECT)
            self._fatal(Refused("XX000", "the service can't answer this", "tell the custodian"))
        finally:
            self._held.has_room(self, self._subject, 0)

    # ── Start-up ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _start(self) -> Startup | None:
        """The start-up message, after TLS if it was asked for; None where there won't be one."""
        secure = False
        for _ in range(3):  # GSSENCRequest, SSLRequest, and the message
            size = messages.startup_length(self._stream.read(4, _STARTING))
            first = messages.read_startup(self._stream.read(size, _STARTING))
            match first:
                case messages.CANCEL:
                    return None  # an answer that was paid for isn't stopped, and leaves at its time
                case messages.TLS if self._offers_tls and not secure:
                    self._stream.write(b"S")
                    self._stream.start_tls(_STARTING)
                    secure = True
                case Startup():
                    if self._needs_tls and not secure:
                        self._fatal(Refused("28000", "a token would travel in the clear", "sslmode=require"))
                        return None
                    return first
                case messages.TLS | messages.GSS:
                    self._stream.write(b"N")
                case _:
                    raise Malformed
        raise Malformed

    def _authenticate(self, startup: Startup) -> bool:
        """Ask for the token, and greet whoever shows one that holds."""
        minor, said = startup
        unknown = [name for name in said if name.startswith("_pq_.")]
        if minor or unknown:
            self._send(replies.version_negotiation(0, unknown))
        self._send(replies.ASK_PASSWORD)
        self._flush()
        shown = self._receive(_STARTING, most=messages.MOST_BEFORE * 2)
        try:
            if not isinstance(shown, Password):
                raise Malformed
            questions = Questions(self._service, shown.text)
            self._check_room(questions.caller)
            settings = SessionSettings(said)
            schema = self._service.dataset(questions.caller)
        except (DiscreetError, Refused) as error:
            code = error.code if isinstance(error, DiscreetError) else error.sqlstate
            self._service.log.write(Event.REQUEST, route="postgres", code=code, address=self._address)
            self._fatal(error)
            return False
        self._settings, self._subject = settings, questions.caller.subject
        self._statements = Statements(
            questions,
            settings,
            schema,
            catalogue=self._catalogue(schema),
            user=said.get("user", ""),
            forget=self._forget,
            probes=self._probes,
            has_room=self._has_room,
        )
        self._send(replies.AUTHENTICATED)
        for name, shown_as in REPORTED.items():
            self._send(replies.status(shown_as, settings.show(name)))
        numbers = bytes.fromhex(fresh_name()[:16])
        self._send(replies.key_data(int.from_bytes(numbers[:4]) >> 1, int.from_bytes(numbers[4:])))
        self._ready()
        return True

    def _check_room(self, caller: Caller) -> None:
        """Refuse a caller who has as many connections as one may."""
        if not self._known(caller.digest or caller.subject):
            raise Refused("53300", "too many of your connections are open", "close some of them")

    # ── Messages ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _receive(self, idle: float, **limits: int) -> Message:
        """The next message."""
        first = self._stream.read(1, idle)
        head = first + self._stream.read(messages.HEAD - 1, _MESSAGE)
        return messages.read(first, self._stream.read(messages.length_of(head, **limits), _MESSAGE))

    def _answer(self, message: Message) -> None:
        """Do what a message says; after an error, what follows is passed over until Sync."""
        match message:
            case Query():
                self._portals.pop("", None)
                self._simple(message.text)
                self._skipping = False  # an error ends this text alone
                self._ready()
            case Plain(b"S"):
                self._skipping = False
                if self._statements.state == "I":
                    self._portals.clear()
                self._ready()
            case Plain(b"H"):
                self._flush()
            case Plain(b"c" | b"d" | b"f"):
                pass  # nothing is copied in
            case Plain() | Password():
                raise Malformed
            case Parse() | Bind() | Describe() | Close() | Execute():
                if not self._skipping:
                    self._extended(message)
            case _:
                assert_never(message)

    def _simple(self, text: str) -> None:
        """Carry out the statements of a text, one after the other, until one fails."""
        with self._reporting():
            found = self._read(text)
            if not found:
                self._send(replies.EMPTY)
            for statement in found:
                if statement.parameters:
                    raise Refused("42P02", "there is no parameter $1", "send values with the extended protocol")
                outcome = self._statements.run(statement, ())
                self._say(outcome)
                self._send_rows(outcome, outcome.rows, [0] * len(outcome.fields or ()), described=True)
                self._complete(outcome, len(outcome.rows))

    def _extended(self, message: Parse | Bind | Describe | Close | Execute) -> None:
        """Do one step of the extended protocol."""
        with self._reporting():
            match message:
                case Parse():
                    self._parse(message)
                case Bind():
                    self._bind(message)
                case Describe():
                    self._describe(message)
                case Close():
                    (self._portals if message.is_portal else self._prepared).pop(message.name, None)
                    self._send(replies.CLOSED)
                case Execute():
                    self._execute(message)
                case _:
                    assert_never(message)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Say what was wrong; in the extended protocol, what follows is passed over."""
        try:
            yield
        except Failed as failed:
            error: DiscreetError | Refused = failed.error
            position = failed.position
        except (DiscreetError, Refused) as found:
            error, position = found, 0
            self._statements.fail()
        else:
            return
        self._skipping = True
        if isinstance(error, Unauthenticated):
            raise _Ended(error)
        self._send(replies.report(b"E", parts_of(error, position)))

    def _read(self, text: str) -> list[Statement]:
        """The statements of a text."""
        try:
            return statements(text)
        except DiscreetError as error:
            at = 0
            if error.place is not None:
                lines = text.split("\n")[: error.place[0] - 1]
                at = sum(len(each) + 1 for each in lines) + error.place[1]
            self._statements.fail()
            raise Failed(error, at) from None

    def _parse(self, message: Parse) -> None:
        """Prepare a statement."""
        found = self._read(message.text)
        if len(found) > 1:
            raise Refused("42601", "cannot insert multiple commands into a prepared statement")
        if message.name and message.name in self._prepared:
            raise Refused("42P05", f'prepared statement "{message.name[:63]}" already exists')
        if found and found[0].parameters > messages.MOST_PARAMETERS:
            raise Refused("54023", f"a statement takes at most {messages.MOST_PARAMETERS} parameters")
        statement = found[0] if found else None
        takes = [] if statement is None else parameters(statement, message.types, self._statements.columns)
        size = len(message.text) + _OF_PARAMETER * len(takes)
        held = sum(each.size for each in self._prepared.values())
        if len(self._prepared) >= _MOST_PREPARED or held + size > _MOST_CHARACTERS:
            raise Refused("53400", "too many statements are prepared", "DEALLOCATE ALL")
        self._prepared[message.name] = _Prepared(statement, takes, size)
        self._send(replies.PARSED)

    def _bind(self, message: Bind) -> None:
        """Put values into a prepared statement."""
        prepared = self._named(message.statement)
        takes, count = prepared.parameters, len(message.values)
        if count != len(takes):
            raise Refused("08P01", f"{count} values were sent, and the statement takes {len(takes)}")
        if len(message.formats) not in {0, 1, count}:
            raise Refused("08P01", "there are as many formats as values, one for all, or none")
        if set(message.results) - {0, 1}:
            raise Refused("22023", "the format of a result is 0 for text or 1 for binary")
        if len(self._portals) >= _MOST_PORTALS:
            raise Refused("53400", f"at most {_MOST_PORTALS} portals can be open")
        if message.portal and message.portal in self._portals:
            raise Refused("42P03", f'portal "{message.portal[:63]}" already exists')
        if not self._statements.settings.is_in_utc and any(each.is_instant for each in takes):
            raise Refused("0A000", "times with a zone are compared in UTC only", "SET TimeZone = 'UTC'")
        values = literals(takes, message.values, message.formats)
        others = (each.literals for name, each in self._portals.items() if name != message.portal)
        if sum(map(_size, others)) + _size(values) > _MOST_CHARACTERS:
            raise Refused("54000", "the values of parameters are too long")
        self._portals[message.portal] = _Portal(prepared.statement, values, message.results, prepared.shape)
        self._send(replies.BOUND)

    def _describe(self, message: Describe) -> None:
        """Say what a statement takes and gives; of a portal, what it gives."""
        formats: Sequence[int] = ()
        if message.is_portal and (cursor := self._statements.cursor_fields(message.name)) is not None:
            self._send(replies.row_description(cursor, [0] * len(cursor)))
            return
        if message.is_portal:
            portal = self._portal(message.name)
            formats, statement, values = portal.formats, portal.statement, portal.literals
        else:
            prepared = self._named(message.name)
            statement, values = prepared.statement, [each.sample for each in prepared.parameters]
            self._send(replies.parameter_description([each.oid for each in prepared.parameters]))
        fields = None if statement is None else self._statements.fields(statement, values)
        if message.is_portal:
            portal.shape = fields
        else:
            prepared.shape = fields
        if fields is None:
            self._send(replies.NO_DATA)
        else:
            self._send(replies.row_description(fields, _result_formats(formats, len(fields))))

    def _execute(self, message: Execute) -> None:
        """Carry out a portal, or give more of its rows."""
        portal = self._portal(message.portal)
        if portal.statement is None:
            self._send(replies.EMPTY)
            return
        if portal.outcome is None:
            portal.outcome = self._statements.run(portal.statement, portal.literals, portal.shape)
            self._say(portal.outcome)
        rows, start = portal.outcome.rows, portal.at
        in_parts = message.most and portal.outcome.copied is None  # COPY is never in parts
        portal.at = end = min(start + message.most, len(rows)) if in_parts else len(rows)
        if end < len(rows):
            self._check_held()
        count, formats = end - start, _result_formats(portal.formats, len(portal.outcome.fields or ()))
        self._send_rows(portal.outcome, rows[start:end], formats, described=False)
        if end < len(rows):
            self._send(replies.SUSPENDED)
        else:
            self._complete(portal.outcome, count)
            portal.outcome, portal.at = replace(portal.outcome, rows=(), copied=None), 0

    def _check_held(self) -> None:
        """Refuse to keep more rows than a client may leave unfetched; what is sent at once waits for nobody."""
        if self._in_portals > MOST_HELD or not self._has_room():
            self._portals.clear()
            raise Refused("53400", "too many rows wait to be fetched", "fetch them; the answer is stored, and free")

    @property
    def _in_portals(self) -> int:
        """How many rows wait in portals."""
        return sum(len(each.outcome.rows) - each.at for each in self._portals.values() if each.outcome is not None)

    def _has_room(self, more: int = 0) -> bool:
        """Whether so many more rows may wait, over all connections."""
        return self._held.has_room(self, self._subject, self._in_portals + self._statements.waiting + more)

    def _forget(self, name: str | None) -> bool:
        """Forget a prepared statement, or all for None; whether there was one."""
        if name is None:
            self._prepared.clear()
            return True
        return self._prepared.pop(name, None) is not None

    def _named(self, name: str) -> _Prepared:
        """A prepared statement."""
        if name not in self._prepared:
            raise Refused("26000", f'prepared statement "{name[:63]}" does not exist')
        return self._prepared[name]

    def _portal(self, name: str) -> _Portal:
        """A portal."""
        if name not in self._portals:
            raise Refused("34000", f'portal "{name[:63]}" does not exist')
        return self._portals[name]

    # ── What is sent ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _say(self, outcome: Outcome) -> None:
        """What is said beside an outcome."""
        if self._settings.show("client_min_messages").lower() not in _QUIET:
            for message, detail in outcome.notices:
                said = {"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": message, "D": detail}
                self._send(replies.report(b"N", said))
        if outcome.warning is not None:
            state, words = outcome.warning
            self._send(replies.report(b"N", {"S": "WARNING", "V": "WARNING", "C": state, "M": words}))
        for name, value in outcome.settings.items():
            self._send(replies.status(name, value))

    def _send_rows(
        self, outcome: Outcome, rows: Sequence[Sequence[Any]], formats: Sequence[int], *, described: bool
    ) -> None:
        """Rows; before them their columns, if `described` says so. All are made before one is sent."""
        if outcome.fields is None:
            return
        if outcome.copied is not None:
            self._send(replies.copy_out(len(outcome.fields)))
            for line in outcome.copied:
                self._send(replies.packet(b"d", line))
            self._send(replies.COPIED)
            return
        types = [each.oid for each in outcome.fields]
        made = [replies.data_row([encoded(*each) for each in zip(row, types, formats, strict=True)]) for row in rows]
        if described:
            self._send(replies.row_description(outcome.fields, formats))
        for each in made:
            self._send(each)

    def _complete(self, outcome: Outcome, count: int) -> None:
        """A statement is done."""
        counted = outcome.fields is not None and outcome.copied is None
        self._send(replies.complete(f"{outcome.tag} {count}" if counted and outcome.tag in _COUNTED else outcome.tag))

    def _ready(self) -> None:
        """The next statement may come."""
        self._send(replies.ready(self._statements.state))
        self._flush()

    def _fatal(self, error: DiscreetError | Refused) -> None:
        """Say why the connection ends."""
        self._send(replies.report(b"E", parts_of(error, severity="FATAL")))
        self._flush()

    def _send(self, data: bytes) -> None:
        """Send bytes soon."""
        self._out += data
        if len(self._out) >= _FLUSHED:
            self._flush()

    def _flush(self) -> None:
        """Send what waits."""
        data, self._out = bytes(self._out), bytearray()
        if data:
            self._stream.write(data)


def _size(literals: Sequence[str]) -> int:
    """How many characters values count as."""
    return sum(map(len, literals)) + _OF_PARAMETER * len(literals)


_COUNTED = {"SELECT", "FETCH"}
"""Tags that say a number of rows."""


def _result_formats(said: Sequence[int], count: int) -> list[int]:
    """The format of each column; where fewer or more were said than there are columns, a protocol error.

    Raises:
        Refused: that.
    """
    found = formats_of(said, count)
    if len(found) != count:
        raise Refused("08P01", f"{len(said)} formats were sent for {count} columns")
    return found
