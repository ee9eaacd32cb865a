"""Asking: questions of one connection, which go to the service as those of HTTP do."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from threading import Event as Flag
from time import monotonic
from typing import Any

from discreet.errors import DeltaRequired, DiscreetError, LedgerError, OfferRequired, TooManyWaiting
from discreet.interfaces.sqlstates import sqlstate_of
from discreet.interfaces.wire.hints import hint_of
from discreet.interfaces.wire.outcomes import Outcome, Refused, Shape, notice_of
from discreet.interfaces.wire.statements import Written
from discreet.results import Answer, Cost
from discreet.service import Ask, Caller, Event, Planned, PublicError, Service, Ticket

_PATIENCE = 3600.0
"""A client waits no longer than this many seconds for an answer, which it has for nothing when it asks again."""

ROUTE = "postgres"
"""What this door is called in the log and in metrics."""

_NOMINAL = {"epsilon": "1"}
"""An offer with which a question is described where nothing was offered yet: its columns don't depend on it."""

_NOMINAL_DELTA = {**_NOMINAL, "delta": "1e-6"}

_FAILED = {"XX000", "57P03"}


class Questions:
    """The questions of one connection.

    Args:
        service: that answers them.
        token: that was shown; it is looked up at every question, so one that is revoked asks nothing more.
    """

    def __init__(self, service: Service, token: str) -> None:
        self._service, self._token = service, token
        self.caller: Caller = service.caller(token)

    def shape(self, written: Written, terms: Mapping[str, Any], *, intervals: bool) -> Shape:
        """The columns that the answer to a question will have. Free, and the offer doesn't matter.

        Raises:
            DiscreetError: the question is refused.
        """
        caller = self.known()
        offered = {name: value for name, value in terms.items() if name != "within"}
        for more in (_NOMINAL, _NOMINAL_DELTA):
            try:
                return Shape.of(
                    self._service.plan(caller, written.text, offered), written.unquoted, intervals=intervals
                )
            except (OfferRequired, DeltaRequired):
                offered = {**more, **offered}
        return Shape.of(self._service.plan(caller, written.text, offered), written.unquoted, intervals=intervals)

    def explain(self, written: Written, terms: Mapping[str, Any]) -> Planned:
        """The plan of a question. Free.

        Raises:
            DiscreetError: the question is refused.
        """
        try:
            return self._service.plan(self.known(), written.text, terms)
        except OfferRequired:
            if (plan := self._free(written, terms)) is None:
                raise
            return plan

    def ask(self, written: Written, terms: Mapping[str, Any], *, intervals: bool) -> Outcome:
        """Ask a question, and wait until its answer leaves.

        Args:
            written: the question.
            terms: what is offered for it.
            intervals: whether the ends of intervals are wanted.

        Raises:
            DiscreetError: there is no answer; the reason as far as it may be told.
        """
        entry = 0
        try:
            ticket = self._ticket(written, terms)
            answer = _waited(ticket)
            entry = answer.entry
        except DiscreetError as error:
            if isinstance(error, LedgerError):
                self._service.metrics.count("discreet_ledger_errors")
            self.note(error)
            raise
        self.note(None, entry)
        with suppress(DiscreetError):  # it was paid for, whatever is left
            answer = answer.__replace__(left=self._service.left(self.caller))
        found = Shape.of(ticket.plan, written.unquoted, intervals=intervals)
        warnings = [(each, "") for each in ticket.plan.warnings if each not in answer.warnings]
        return Outcome("SELECT", found.fields, found.rows(answer), notices=[*warnings, notice_of(answer)])

    def _ticket(self, written: Written, terms: Mapping[str, Any]) -> Ticket:
        """Hand a question in; what follows from declarations costs nothing, whatever is offered, and needs no offer.

        Raises:
            DiscreetError: it is refused.
        """
        try:
            return self._service.ask(self.known(), Ask(written.text, terms))
        except OfferRequired:
            if (plan := self._free(written, terms)) is None:
                raise
        return self._service.ask(self.known(), Ask(written.text, {**_NOMINAL, **terms}, digest=plan.digest))

    def _free(self, written: Written, terms: Mapping[str, Any]) -> Planned | None:
        """The plan of a question that costs nothing, for which any offer will do; None for another one."""
        with suppress(DiscreetError):
            plan = self._service.plan(self.known(), written.text, {**_NOMINAL, **terms})
            return plan if plan.cost == Cost() else None
        return None

    def note(self, error: DiscreetError | None, entry: int = 0, address: str = "") -> None:
        """Count and log what became of a question, or of a connection: never its text, nor a token."""
        status = "2xx" if error is None else "5xx" if sqlstate_of(error) in _FAILED else "4xx"
        self._service.metrics.count("discreet_requests", route=ROUTE, status=status)
        code = "" if error is None else error.code
        self._service.log.write(
            Event.REQUEST, route=ROUTE, token=self.caller.token, entry=entry, code=code, address=address
        )

    def known(self) -> Caller:
        """Who asks, if their token still holds.

        Raises:
            Unauthenticated: it doesn't.
        """
        self.caller = self._service.caller(self._token)
        return self.caller


def _waited(ticket: Ticket) -> Answer:
    """The answer to a question, once its release time has come; nothing that a client does makes that sooner.

    Raises:
        DiscreetError: there is none.
    """
    flag, end = Flag(), monotonic() + _PATIENCE
    ticket.when_woken(flag.set)  # as over HTTP: whoever waits is awake when it leaves
    ticket.when_done(flag.set)
    while not ticket.is_done and (left := end - monotonic()) > 0:
        flag.wait(left)
        flag.clear()
    reply = ticket.reply
    if reply is None:
        raise TooManyWaiting("the answer takes longer than a connection waits", hint="ask again: it is paid for once")
    if reply.error is not None:
        raise reply.error.as_error()
    assert reply.answer is not None  # noqa: S101 — a reply has one of the two
    return Answer.from_json(reply.answer.read())


def parts_of(error: DiscreetError | Refused, position: int = 0, severity: str = "ERROR") -> dict[str, str]:
    """An error as a client is told of it: public facts only, by the letters of the protocol.

    Args:
        error: that was raised.
        position: which character of what was sent it is about, from 1; 0 for none.
        severity: whether the connection ends by it.
    """
    head = {"S": severity, "V": severity}
    if isinstance(error, Refused):
        return {**head, "C": error.sqlstate, "M": error.message, "H": error.hint}
    public = PublicError.of(error)
    return {
        **head,
        "C": sqlstate_of(error),
        "M": public.message,
        "H": hint_of(public),
        "P": str(position) if position else "",
        "R": public.code,
    }
