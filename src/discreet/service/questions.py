"""Questions: those of one service, from their plan to the time when their answers leave.

planned ──▶ taken: stored? there at once : waits for a slot ──▶ carried out ──▶ its outcome leaves at its public time
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from math import ceil
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, cast

from discreet.entropy import fresh_bytes
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    KeyReused,
    LedgerCorrupt,
    LedgerError,
    PlanChanged,
    QuestionFailed,
    TooManyWaiting,
)
from discreet.gateway import declarations_digest
from discreet.ledger import Attempt
from discreet.service.allowances import Allowances
from discreet.service.api import Ask, Planned, Reply
from discreet.service.carrying_out import begun, carried_out, recovered
from discreet.service.fair_queue import FairQueue
from discreet.service.idempotency import Keys, again, checked_key
from discreet.service.jobs import Job
from discreet.service.metrics import Metrics
from discreet.service.planners import Planner, Planners
from discreet.service.settings import Settings
from discreet.service.shares import shares
from discreet.service.tickets import Remembered, Ticket, stopping
from discreet.service.tokens import Caller, check_ceiling, check_holds
from discreet.service.workers import Worker

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.ledger import Servers

_LOOK = 0.05
"""How often, in seconds, a stopping service looks whether everything is done."""

_STORING = 30.0
"""How many seconds after its release time a question may take to be stored."""

_SELECTED = 12
"""Bytes of the ledger for each value of an answer whose groups are selected, so that its plan can't know how many there
are.
"""

MOST_CHARACTERS = 65_536
"""How many characters a question may have."""


class Questions:
    """The questions of one service; `close` them.

    Guarantee: when an answer leaves, and whether it is stored, follows from the plan and from those before it, and not
    from how long anything took. Who may ask is decided before.

    Args:
        config: the path of `discreet.toml`, which each process reads.
        tables: that are asked about.
        servers: of the ledger, which count slots and what waits.
        settings: how the service is run.
        metrics: where questions are counted.

    Attributes:
        declarations: the digest of what is declared of the tables, which stays while a service runs.
        is_damaged: whether the ledger is known to be; while it is, nothing is asked.
    """

    def __init__(self, config: Path, tables: Protected, servers: Servers, settings: Settings, metrics: Metrics) -> None:
        self.declarations = declarations_digest(tables.dataset)
        self.is_stopping = False
        self.is_damaged = False
        self._settings, self._tables, self._servers, self._metrics = settings, tables, servers, metrics
        self._busy = 0
        self._waiting: FairQueue[Ticket] = FairQueue()
        self.allowances = Allowances(settings.asking, servers)
        self._tickets: dict[str, Ticket] = {}
        self._remembered = Remembered()
        self._keys = Keys()
        self._lock = Lock()
        self._closing = Event()
        asking, planning = shares(settings.slots, settings.planning.seconds)
        self._slots = [Worker(config, settings.times, share) for share in asking]
        workers = [Worker(config, settings.times, planning) for _ in range(settings.planners)]
        self._planners = Planners(workers, settings.planning, servers)
        self._threads = [Thread(target=self._serve, args=each, daemon=True) for each in enumerate(self._slots)]
        for worker in (*self._slots, *workers):
            worker.wait_until_ready()
        for thread in self._threads:
            thread.start()
        every = (*workers, *self._slots)
        metrics.watch("discreet_workers_restarted", lambda: sum(each.restarts for each in every))
        metrics.watch("discreet_slots_busy", lambda: self._busy)
        metrics.watch("discreet_questions_waiting", lambda: len(self._waiting))

    def drain(self) -> bool:
        """Refuse the questions that only wait, and wait for those that were paid for; whether all were answered.

        It takes no longer than their release times and half a minute more.
        """
        refusal = Reply.of(stopping())
        with self._lock:  # a caller came before the service was told to stop, or is refused
            left = max((each.attempt.seconds for each in self._tickets.values() if not each.is_done), default=0)
        end = monotonic() + left + _STORING
        for ticket in self._waiting.empty():
            self._finish(ticket, refusal)
        while self._busy and monotonic() < end:
            sleep(_LOOK)
        return not self._busy

    def kill(self) -> None:
        """End the processes at once. What they reserved stays spent; what they didn't store is gone."""
        for slot in self._slots:
            slot.kill()

    def close(self) -> None:
        """Take no more, wait for what runs, and stop the processes."""
        self._closing.set()
        self._waiting.close()
        for thread in self._threads:
            thread.join()
        self._planners.close()
        for slot in self._slots:
            slot.close()

    def plan(self, caller: Caller, subject: str, question: str | list[str], terms: Mapping[str, Any]) -> Planned:
        """Plan a subject's question for a caller, in a process that can be killed."""
        with self._planners.turn(caller.subject) as planner:
            return self._planned(planner, subject, question, terms)

    def ask(self, caller: Caller, asked: Ask) -> Ticket:
        """Ask a question. What is stored, or follows from what is, is there at once, and costs nothing.

        Raises:
            AboveCeiling: it costs more than the caller may spend on one question, and no approval is named.
            NotApproved: the approval isn't one for this, or is used up.
            PlanChanged: its plan isn't the one that was named.
            LedgerCorrupt: the ledger is known to be damaged.
            KeyReused: something else was asked under the key.
            TooManyWaiting: too many of the caller's questions wait already.
            InvalidArgument: no answer is stored for that version; or as for `plan`.
            QueryError: as for `plan`.
        """
        if asked.version is not None and asked.approval is not None:
            raise InvalidArgument(
                "an approval lets you ask; an answer stored for an earlier version needs none",
                hint="leave one of them out",
            )
        if self.is_stopping:
            raise stopping()
        if self.is_damaged:
            raise _damaged()
        known = checked_key(caller.subject, asked.key)
        with self._planners.turn(caller.subject) as planner:  # one process, which plans once
            plan = self._planned(planner, caller.subject, asked.question, asked.terms)
            if asked.digest not in {None, plan.digest}:
                raise PlanChanged("this question's plan isn't the one that was named", hint="plan it again")
            attempt = Attempt(
                id=fresh_bytes(16).hex(),
                plan=plan.digest,
                seconds=plan.seconds,
                key=known,
                approval=asked.approval or "",
                declarations=self.declarations,
                token=caller.digest,
                until=caller.expires,
            )
            ticket = Ticket(
                id=fresh_bytes(16).hex(),
                subject=caller.subject,
                asked=asked,
                plan=plan,
                attempt=attempt,
            )
            if asked.version is not None:
                self._take_earlier(caller, planner, ticket)
                return ticket
            first = self._keys.claim(ticket)
            if first is not ticket:
                self._check_cost(caller, replace(attempt, id=first.attempt.id), plan)
                self._look_again(planner, first)
                return first
            with self._keys.taking(ticket):
                self._take(caller, planner, ticket)
        return ticket

    def _take(self, caller: Caller, planner: Planner, ticket: Ticket) -> None:
        """Take a question: what is there already is its reply, and anything else waits for a slot."""
        tried = self._tables.tried(ticket.attempt.key) if ticket.attempt.key else None
        if tried is not None:
            if tried.plan != ticket.plan.digest:
                raise KeyReused
            ticket.attempt = replace(ticket.attempt, id=tried.id)
        self._check_cost(caller, ticket.attempt, ticket.plan)  # before all that is stored
        reply = planner.look_up(ticket.job("stored")) if tried is None else again(planner, ticket, tried)
        if reply is None:
            self._tables.check_failures()  # rather than once it is its turn
        else:
            self._take_stored(ticket, reply)
        self._keep(ticket)

    def _take_earlier(self, caller: Caller, planner: Planner, ticket: Ticket) -> None:
        """Answer a question from what is stored of a version of the tables, for who may ask it."""
        check_ceiling(caller, ticket.plan.cost)  # before it is looked up
        self._take_stored(ticket, cast("Reply", planner.look_up(ticket.job("stored"))))  # of a version, or it raises
        self._keep(ticket)

    def _take_stored(self, ticket: Ticket, reply: Reply) -> None:
        ticket.finish(reply)
        self._metrics.count("discreet_questions", outcome="stored" if reply.error is None else reply.kind)

    def _check_cost(self, caller: Caller, attempt: Attempt, plan: Planned) -> None:
        """Refuse what the caller may not spend on one question, by themselves or by the approval that they name."""
        if attempt.approval:
            self._tables.check_approval(attempt, caller.subject)
        else:
            check_ceiling(caller, plan.cost)

    def _look_again(self, planner: Planner, ticket: Ticket) -> None:
        """See what became of a question that another server carries out."""
        tried = self._tables.tried(ticket.attempt.key) if ticket.is_elsewhere else None
        if tried is not None:
            ticket.reply = again(planner, ticket, tried)

    def ticket(self, caller: Caller, name: str) -> Ticket | None:
        """A question of the caller's own; None if there is none of that name."""
        found = self._tickets.get(name)
        if found is None or found.subject != caller.subject:
            return None
        if found.is_elsewhere:
            with self._planners.turn(caller.subject) as planner:
                self._look_again(planner, found)
        return found

    def _keep(self, ticket: Ticket) -> None:
        """Remember a question, and have it carried out if it isn't done.

        Raises:
            EngineUnavailable: the service was told to stop meanwhile.
            TooManyWaiting: too many of the same caller's wait.
            TooManyValues, TooMuchAsked, Unsupported: its answer would be too large, or take too much.
        """
        with self._lock:
            if not ticket.is_done:
                if self.is_stopping:
                    raise stopping()
                self.allowances.check_values(ticket.plan.values)
                ticket.place = self._servers.enter(ticket.subject, self._settings.waiting)
                if ticket.place is None:
                    raise TooManyWaiting(
                        f"{self._settings.waiting} of your questions are already waiting or running",
                        hint="ask again when one of them has been answered",
                        retry_after=ceil(ticket.attempt.seconds),
                    )
                self._take_allowance(ticket)
                # Of one plan only one at a time: the next has the answer that it stores, for nothing.
                self._waiting.put(ticket.subject, ticket, seconds=ticket.attempt.seconds, name=ticket.plan.digest)
            self._tickets[ticket.id] = ticket
            for each in self._remembered.add(ticket, self._settings.kept):
                self._keys.release(self._tickets.pop(each.id))

    def _take_allowance(self, ticket: Ticket) -> None:
        """Take what a question takes of a slot and of the ledger, or give its place back."""
        try:
            self.allowances.take(ticket.subject, ticket.attempt.seconds, ticket.plan.ledger_bytes)
        except DiscreetError:
            if ticket.place is not None:
                self._servers.leave(ticket.place)
            raise
        self._metrics.count("discreet_slot_seconds", by=ticket.attempt.seconds)
        self._metrics.count("discreet_ledger_bytes", by=ticket.plan.ledger_bytes)

    def _planned(self, planner: Planner, subject: str, question: str | list[str], terms: Mapping[str, Any]) -> Planned:
        """A plan, made by a process that can be killed."""
        size = len(question) if isinstance(question, str) else sum(map(len, question))
        if size > MOST_CHARACTERS:
            raise InvalidArgument(f"a question has at most {MOST_CHARACTERS:,} characters, not {size:,}")
        most = self._settings.asking.values
        try:
            plan = planner.plan(Job(kind="plan", question=question, terms=terms, subject=subject, most_values=most))
        except DiscreetError:
            self._metrics.count("discreet_plans", outcome="refused")
            raise
        self._metrics.count("discreet_plans", outcome="planned")
        return plan

    def _serve(self, number: int, slot: Worker) -> None:
        """Carry out questions, one after the other, whenever no other server has the slot."""
        while self._waiting.wait():
            try:
                with self._servers.slot(number):
                    restarts, ticket = slot.restarts, self._carry_out_next(slot)
                    if ticket is not None and slot.restarts > restarts:
                        recovered(slot, ticket.plan.step, self._closing.wait)
            except LedgerError as error:  # nothing is known of the slot, so nothing is asked
                if (ticket := self._waiting.take()) is not None:
                    self._finish_taken(ticket, Reply.of(error))

    def _carry_out_next(self, slot: Worker) -> Ticket | None:
        """Carry out the next question, if there is still one; that one."""
        with self._lock:
            self._busy += 1  # before it is taken, so that a service that stops waits for it
        ticket, reply = self._waiting.take(), None
        try:
            if ticket is not None:
                reply = self._carried_out(slot, ticket)
        except Exception:  # noqa: BLE001 — whatever it is, it may depend on a person, and the slot must go on
            reply = Reply.of(QuestionFailed())
        finally:
            with self._lock:
                self._busy -= 1
        if ticket is not None and reply is not None:
            self._finish_taken(ticket, reply)
        return ticket

    def _carried_out(self, slot: Worker, ticket: Ticket) -> Reply:
        """Carry out a question that waited, if it may still be asked; nothing was paid for it until now."""
        try:
            if self.is_damaged:
                raise _damaged()
            check_holds(self._tables.tokens, ticket.attempt)
            over = begun(slot, ticket, self._settings.planning.patience)
        except DiscreetError as error:
            return Reply.of(error)
        if over is not None:
            return over
        return carried_out(slot, ticket, self._settings.times.storing, lambda: self._give_up(ticket))

    def _give_up(self, ticket: Ticket) -> None:
        """Note that what was paid for a question got no answer."""
        with suppress(LedgerError):  # then it counts as one without an outcome, which is no less
            self._tables.give_up(ticket.attempt.id)

    def _finish_taken(self, ticket: Ticket, reply: Reply) -> None:
        """Finish a question that had its turn, and let the next of the same plan have it."""
        try:
            self._finish(ticket, reply)
        finally:
            self._waiting.done(ticket.plan.digest)

    def _finish(self, ticket: Ticket, reply: Reply) -> None:
        """Give those who wait for a question the reply to it, and then its place to another."""
        self._metrics.count("discreet_questions", outcome=reply.kind)
        self._keys.settle(ticket, reply, self._tables.tried)  # before a caller who waits asks again
        if ticket.plan.values is None and reply.answer is not None:
            with suppress(LedgerError):
                self.allowances.note_stored(ticket.subject, reply.answer.values * _SELECTED)
        ticket.finish(reply)
        if ticket.place is not None:
            self._servers.leave(ticket.place)


def _damaged() -> LedgerCorrupt:
    """The refusal while the ledger is known to be damaged."""
    return LedgerCorrupt("the ledger is damaged", hint="restore it from a copy: discreet ledger restore")
