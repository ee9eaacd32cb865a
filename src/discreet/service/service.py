"""The service: one protected dataset, for callers who hold a token and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from discreet.entropy import fresh_bytes
from discreet.errors import (
    AboveCeiling,
    DiscreetError,
    EngineUnavailable,
    InvalidArgument,
    LedgerError,
    QuestionFailed,
    TooManyWaiting,
)
from discreet.exact import Rationalizable
from discreet.exact.rational import rational
from discreet.gateway import load
from discreet.ledger import servers_of
from discreet.privacy import Limits
from discreet.results import Cost
from discreet.service.admission_runs import AdmissionRuns
from discreet.service.event_log import EventLog
from discreet.service.metrics import Metrics
from discreet.service.planners import Planner, Planners
from discreet.service.roles import ALLOWED, Action, Role, check_allowed
from discreet.service.scheduling import FairQueue
from discreet.service.settings import Settings
from discreet.service.tickets import Ticket
from discreet.service.tokens import PREFIX, Caller, Issued, caller_of, issue, recognise
from discreet.service.witness import Sender, Witness
from discreet.service.workers import Job, Message, Share, Worker
from discreet.tables import public_schema
from discreet.tables.session import usable_cores, usable_memory

if TYPE_CHECKING:
    from discreet.ledger import Entry, Grant, Verification

_LOOK = 0.05
"""Every so many seconds a service that stops looks whether all is done."""

_STORING = 30.0
"""How many seconds after its release time a question may take to be stored."""

MOST_CHARACTERS = 65_536
"""How long a question may be."""

_PLANNING_MEMORY = 1 << 30
"""How many bytes a process that plans may take for it."""


class Service:
    """One protected dataset, for callers who hold a token and nothing else; `close` it.

    Guarantee: what a caller may do is decided by their token's role, before anything else is looked at. Questions are
    asked in the name of the token's holder. When an answer leaves, and whether it is stored, follows from the plan and
    from those before it, and not from how long anything took.

    Args:
        config: the path of `discreet.toml`.
        settings: how it is run.
        log: where it says what it does; nowhere if it is left out.

    Attributes:
        key: what its answers and heads are checked against.

    Raises:
        LedgerUnavailable: there is no key to sign with, and none can be made; or as for `load`.
    """

    def __init__(self, config: Path, settings: Settings | None = None, log: EventLog | None = None) -> None:
        """Open the account, and start the processes."""
        self.settings = settings = settings or Settings()
        self.log = log or EventLog()
        self.metrics = Metrics()
        self._busy = 0
        self._is_stopping = False
        self._tables = load(config)
        self.key = self._tables.signing.make()
        self._tokens = self._tables.tokens
        self._admitting = AdmissionRuns(config)
        self._servers = servers_of(self._tables.dataset.ledger, self._tables.dataset.name)
        self._waiting: FairQueue[Ticket] = FairQueue()
        self._tickets: dict[str, Ticket] = {}
        self._lock = Lock()
        times, slots, limits = self.settings.times, self.settings.slots, self.settings.planning
        planning = Share(threads=1, memory=_PLANNING_MEMORY, planning=limits.seconds)
        asking = Share(threads=max(1, usable_cores() // slots), memory=usable_memory() // slots)
        self._slots = [Worker(config, times, asking) for _ in range(slots)]
        workers = [Worker(config, times, planning) for _ in range(self.settings.planners)]
        self._planners = Planners(workers, limits, self._servers)
        self._threads = [Thread(target=self._serve, args=each, daemon=True) for each in enumerate(self._slots)]
        for slot in self._slots:
            slot.wait_until_ready()
        for thread in self._threads:
            thread.start()
        self._sender = None
        if settings.witness:
            self._sender = Sender(self._tables.signing.head, Witness(settings.witness), settings.witness_every)
        every = (*workers, *self._slots)
        self.metrics.watch("discreet_workers_restarted", lambda: sum(each.restarts for each in every))
        self.metrics.watch("discreet_slots", lambda: self.settings.slots)
        self.metrics.watch("discreet_slots_busy", lambda: self._busy)
        self.metrics.watch("discreet_questions_waiting", lambda: len(self._waiting))
        self.metrics.watch("discreet_ready", lambda: self.is_ready)

    @property
    def is_ready(self) -> bool:
        """Whether questions are taken: the processes have opened the tables, and the ledger can be read.

        That a slot's process has ended isn't looked at: it may end in the midst of a question, whose outcome is pending
        until its release time.
        """
        if self._is_stopping:
            return False
        try:
            self._tables.spent  # noqa: B018 — reading it is what is tried
        except LedgerError:
            return False
        return True

    @property
    def is_stopping(self) -> bool:
        """Whether no more questions are taken."""
        return self._is_stopping

    def stop(self) -> None:
        """Take no more questions. What was paid for is answered; see `drain`."""
        self._is_stopping = True

    def drain(self) -> bool:
        """Refuse the questions that only wait, and wait for those that were paid for; whether all were answered.

        It takes no longer than their release times and half a minute more.
        """
        refusal = {"error": _stopping().to_dict()}
        while (ticket := self._waiting.take()) is not None:
            self._finish(ticket, refusal)
        with self._lock:
            longest = max((each.step * each.steps for each in self._tickets.values() if not each.is_done), default=0)
        end = monotonic() + longest + _STORING
        while self._busy and monotonic() < end:
            sleep(_LOOK)
        return not self._busy

    def kill(self) -> None:
        """End the processes at once. What they reserved stays spent; what they didn't store is gone."""
        for slot in self._slots:
            slot.kill()

    def close(self) -> None:
        """Take no more, wait for what runs, and stop the processes."""
        self._waiting.close()
        for thread in self._threads:
            thread.join()
        self._planners.close()
        for slot in self._slots:
            slot.close()
        if self._sender is not None:
            self._sender.close()
        self._admitting.close()
        self._servers.close()
        self._tables.close()

    @property
    def witness_failures(self) -> int:
        """How often no head could be sent to the witness."""
        return 0 if self._sender is None else self._sender.failures

    @property
    def is_degraded(self) -> bool:
        """Whether the last head couldn't be sent. Questions are answered all the same; see `witness`."""
        return self._sender is not None and self._sender.is_behind

    # ── Who comes in ─────────────────────────────────────────────────────────────────────────────────────────────────

    def caller(self, token: str) -> Caller:
        """Whoever shows this token.

        Raises:
            Unauthenticated: it isn't one, or holds no more.
            Forbidden: it is one of the provider's, and gives no role here.
        """
        if self.settings.openid is not None and not token.startswith(PREFIX):
            return self.settings.openid.caller(token)
        return recognise(self._tokens, token)

    def issue(
        self, caller: Caller, subject: str, role: Role, *, days: int, most_epsilon: Rationalizable | None = None
    ) -> Issued:
        """Make a token for somebody; see `tokens.issue`."""
        check_allowed(caller.role, Action.TOKENS)
        return issue(self._tokens, subject, role, days=days, most_epsilon=most_epsilon)

    def revoke(self, caller: Caller, name: str) -> Grant | None:
        """Let the token of this id in no more; None if there is none."""
        check_allowed(caller.role, Action.TOKENS)
        found = self._tokens.called(name)
        return None if found is None else self._tokens.revoke(found.digest)

    def tokens(self, caller: Caller) -> Sequence[tuple[Grant, Caller]]:
        """All tokens, and what each allows."""
        check_allowed(caller.role, Action.TOKENS)
        return [(grant, caller_of(grant)) for grant in self._tokens.all()]

    def admissions(self, caller: Caller) -> Mapping[str, Any]:
        """The versions of the tables, and the last admission that this server was told to make, with its report."""
        check_allowed(caller.role, Action.ADMIT)
        versions = [
            {"at": entry.at.isoformat(), "text": entry.text} for entry in self._tables.history() if entry.kind == "data"
        ]
        return {"versions": versions, "last": self._admitting.last}

    def admit(
        self,
        caller: Caller,
        *,
        group: str | None = None,
        scheduled: bool = False,
        at_most_unreadable: Rationalizable = 1,
    ) -> Mapping[str, Any]:
        """Begin to admit the tables again, in a process of its own; see `AdmissionRuns.start`.

        Raises:
            Forbidden: the caller may not.
            TooManyWaiting: that is being done already.
            InvalidArgument: the part that may be unreadable isn't from 0 to 1.
        """
        check_allowed(caller.role, Action.ADMIT)
        if self._is_stopping:
            raise _stopping()
        most = rational(at_most_unreadable, "at_most_unreadable")
        if not 0 <= most <= 1:
            raise InvalidArgument("the part that may be unreadable is from 0 to 1")
        return self._admitting.start(group=group, scheduled=scheduled, at_most_unreadable=most)

    # ── What is public ───────────────────────────────────────────────────────────────────────────────────────────────

    def dataset(self, caller: Caller) -> Mapping[str, Any]:
        """What may be asked about: tables, columns, units, bounds and keys, as the custodian declared them."""
        check_allowed(caller.role, Action.DATASETS)
        return public_schema(self._tables.dataset)

    def budget(self, caller: Caller) -> Mapping[str, Any]:
        """What may be spent, was spent, and is left: of all together, and of an analyst's own share."""
        check_allowed(caller.role, Action.BUDGET)
        tables, declared = self._tables, self._tables.dataset
        found: dict[str, Any] = {
            "budget": str(declared.budget),
            "spent": tables.spent.to_dict(),
            "remaining": tables.remaining.to_dict(),
        }
        if caller.role is Role.ANALYST:
            found["own"] = {"spent": tables.spent_by(caller.subject).to_dict()}
            if not declared.analysts or caller.subject in declared.analysts:
                found["own"]["remaining"] = tables.remaining_by(caller.subject).to_dict()
        return found

    def history(self, caller: Caller) -> Sequence[Entry]:
        """What was asked: an analyst's own questions, or all entries of the account."""
        whole = Action.HISTORY in ALLOWED[caller.role]
        check_allowed(caller.role, Action.HISTORY if whole else Action.OWN_HISTORY)
        entries = self._tables.history()
        if whole:
            return entries
        return [each for each in entries if each.kind == "question" and each.analyst == caller.subject]

    def plan(self, caller: Caller, question: str | list[str], terms: Mapping[str, Any]) -> Mapping[str, Any]:
        """Plan a question: what it would cost, how accurate it would be, and when its answer would leave. Free.

        A list of questions is a workload, which is planned, asked and paid for as one; all its answers leave together.
        `remaining_like_this` says how many more questions of this cost the budget still pays for, and the caller's own
        share of it; it tells no more than `budget` does.

        Raises:
            Forbidden: the caller may not plan.
            InvalidArgument: a term is out of range or unknown, or the question is too long.
            QueryError: the question is refused.
        """
        check_allowed(caller.role, Action.PLAN)
        with self._planners.turn(caller.subject) as planner:
            plan = self._planned(planner, question, _terms_of(caller, terms))
        analyst = caller.subject if caller.role is Role.ANALYST else None
        remaining = self._tables.affordable(Cost.from_json(plan["cost"]), analyst)
        return {**plan, "remaining_like_this": remaining}

    def ask(self, caller: Caller, question: str | list[str], terms: Mapping[str, Any]) -> Ticket:
        """Ask a question. What is stored, or follows from what is, is there at once, and costs nothing.

        Raises:
            Forbidden: the caller may not ask.
            AboveCeiling: it costs more than the caller may spend on one question.
            TooManyWaiting: too many of the caller's questions wait already.
            InvalidArgument, QueryError: as for `plan`.
        """
        check_allowed(caller.role, Action.ASK)
        if self._is_stopping:
            raise _stopping()
        offered = _terms_of(caller, terms)
        with self._planners.turn(caller.subject) as planner:  # one process, which plans once
            plan = self._planned(planner, question, offered)
            _check_ceiling(caller, plan)
            stored = planner.do(Job(kind="stored", question=question, terms=offered))
        ticket = Ticket(
            id=fresh_bytes(16).hex(),
            subject=caller.subject,
            question=question,
            terms=offered,
            digest=plan["digest"],
            step=plan["step"],
            steps=plan["steps"],
        )
        if "answer" in stored:
            ticket.finish(stored)
            self.metrics.count("discreet_questions", outcome="stored")
            self._keep(ticket)
            return ticket
        self._keep(ticket)
        self._waiting.put(ticket.subject, ticket)
        return ticket

    def ticket(self, caller: Caller, name: str) -> Ticket | None:
        """A question of the caller's own; None if there is none of that name."""
        check_allowed(caller.role, Action.ASK)
        found = self._tickets.get(name)
        return found if found is not None and found.subject == caller.subject else None

    def verify(self, caller: Caller) -> Verification:
        """Recompute the ledger's hash chain and every loss in it."""
        check_allowed(caller.role, Action.VERIFY)
        return self._tables.verify()

    def head(self, caller: Caller) -> Mapping[str, Any]:
        """The ledger's head as it is now, signed.

        What it tells of others is public when it is told: a debit at once, an outcome at its release, and not before.
        """
        check_allowed(caller.role, Action.HEAD)
        return self._tables.signing.head()

    def _keep(self, ticket: Ticket) -> None:
        """Remember a question.

        Raises:
            TooManyWaiting: too many of the same caller's wait.
        """
        with self._lock:
            if not ticket.is_done:
                ticket.place = self._servers.enter(ticket.subject, self.settings.waiting)
                if ticket.place is None:
                    raise TooManyWaiting(
                        f"{self.settings.waiting} of your questions wait or run already",
                        hint="ask again once one of them was answered",
                        retry_after=ceil(ticket.step * ticket.steps),
                    )
            self._tickets[ticket.id] = ticket
            done = [name for name, each in self._tickets.items() if each.is_done]
            for name in done[: max(0, len(self._tickets) - self.settings.kept)]:
                del self._tickets[name]

    def _planned(self, planner: Planner, question: str | list[str], terms: Mapping[str, Any]) -> Mapping[str, Any]:
        """A plan, made by a process that can be killed."""
        size = len(question) if isinstance(question, str) else sum(map(len, question))
        if size > MOST_CHARACTERS:
            raise InvalidArgument(f"a question has at most {MOST_CHARACTERS:,} characters, not {size:,}")
        try:
            plan: Mapping[str, Any] = planner.do(Job(kind="plan", question=question, terms=terms))["plan"]
        except DiscreetError:
            self.metrics.count("discreet_plans", outcome="refused")
            raise
        self.metrics.count("discreet_plans", outcome="planned")
        return plan

    def _serve(self, number: int, slot: Worker) -> None:
        """Carry out questions, one after the other, whenever no other server has the slot."""
        while self._waiting.wait():
            try:
                with self._servers.slot(number):
                    self._carry_out_next(slot)
            except LedgerError as error:  # nothing is known of the slot, so nothing is asked
                ticket = self._waiting.take()
                if ticket is not None:
                    self._finish(ticket, {"error": error.to_dict()})

    def _carry_out_next(self, slot: Worker) -> None:
        """Carry out the next question, if there is still one."""
        ticket = self._waiting.take()
        if ticket is None:
            return
        with self._lock:
            self._busy += 1
        try:
            outcome = _carried_out(slot, ticket, self.settings.times.storing)
        except QuestionFailed as error:
            outcome = {"error": error.to_dict()}
        with self._lock:
            self._busy -= 1
        self._finish(ticket, outcome)

    def _finish(self, ticket: Ticket, outcome: Mapping[str, Any]) -> None:
        """Let those who wait have what became of a question, and then another one have its place."""
        self.metrics.count("discreet_questions", outcome=_kind_of(outcome))
        ticket.finish(outcome)
        if ticket.place is not None:
            self._servers.leave(ticket.place)


def _kind_of(outcome: Mapping[str, Any]) -> str:
    """What became of a question, as it is counted."""
    if "answer" in outcome:
        return "answered"
    return "failed" if outcome["error"]["code"] == QuestionFailed.code else "refused"


def _stopping() -> EngineUnavailable:
    """What is said while the service stops."""
    return EngineUnavailable("the service is being stopped", hint="ask again later")


def _carried_out(slot: Worker, ticket: Ticket, storing: float) -> Mapping[str, Any]:
    """What becomes of a question: an answer at its time, or then that there is none.

    Args:
        slot: the process.
        ticket: the question.
        storing: how many seconds before the end of each step its outcome is stored, or given up.

    Raises:
        QuestionFailed: it wasn't measured in time, or its process is gone; said at the time of its answer.
    """
    slot.wait_until_ready()
    ticket.started = datetime.now(UTC)
    due = monotonic()
    slot.send(Job(kind="ask", question=ticket.question, terms=ticket.terms, digest=ticket.digest))
    for _ in range(ticket.steps):
        due += ticket.step
        message = _received(slot, due - storing)
        if message is not None and message[0] == "done":
            return message[1]  # stored meanwhile, or refused before it was paid for: both are public
        sleep(max(0.0, due - storing - monotonic()))
        if message is None:
            break
        slot.go()
    message = None if message is None else _received(slot, None)
    if message is None:
        slot.restart()
    sleep(max(0.0, due - monotonic()))
    if message is None:
        raise QuestionFailed
    return message[1]


def _received(slot: Worker, due: float | None) -> Message | None:
    """The next message; None if there is none in time, or none will come from a process that is gone."""
    try:
        return slot.receive(due)
    except QuestionFailed:
        return None


def _terms_of(caller: Caller, terms: Mapping[str, Any]) -> dict[str, Any]:
    """The terms of a question, which is asked in the caller's name; limits and bounds may be said as JSON has them.

    Raises:
        InvalidArgument: another analyst is named, or limits are of no shape that is known.
    """
    named = terms.get("analyst", caller.subject)
    if named != caller.subject:
        raise InvalidArgument("a question is asked in the name of the token's holder", hint="leave the analyst out")
    found = {**terms, "analyst": caller.subject}
    if isinstance(bounds := found.get("bounds"), Mapping):
        found["bounds"] = {name: tuple(ends) if isinstance(ends, list) else ends for name, ends in bounds.items()}
    try:
        if isinstance(limits := found.get("limits"), Mapping):
            found["limits"] = Limits(**limits)
    except TypeError:
        raise InvalidArgument("limits aren't of a shape that is known", hint='{"limits": {"rows": 5}}') from None
    return found


def _check_ceiling(caller: Caller, plan: Mapping[str, Any]) -> None:
    """Refuse what costs more than the caller may spend on one question.

    Raises:
        AboveCeiling: it does; or it has no finite ε, while the ceiling is one in ε.
    """
    exact = plan["cost"]["exact"]["epsilon"]
    if caller.most_epsilon is None or (exact is not None and Fraction(exact) <= caller.most_epsilon):
        return
    cost = "no finite ε" if exact is None else f"ε = {float(Fraction(exact)):.6g}"
    raise AboveCeiling(
        f"this question costs {cost}, and one of yours may cost ε = {float(caller.most_epsilon):.6g}",
        hint="offer less, or ask the custodian for a higher ceiling",
    )
