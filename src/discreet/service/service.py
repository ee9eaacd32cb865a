"""The service: one protected dataset, for callers who hold a token and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from math import ceil
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from discreet.entropy import fresh_bytes
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    KeyReused,
    LedgerError,
    PlanChanged,
    QuestionFailed,
    TooManyWaiting,
)
from discreet.exact import Rationalizable
from discreet.exact.rational import rational
from discreet.gateway import load
from discreet.ledger import Attempt, servers_of
from discreet.results import Cost
from discreet.service.admission_runs import AdmissionRuns
from discreet.service.approvals import Approvals
from discreet.service.carrying_out import again, carried_out, kind_of, stopping
from discreet.service.event_log import EventLog
from discreet.service.idempotency import Keys, checked_key, is_elsewhere
from discreet.service.metrics import Metrics
from discreet.service.planners import Planner, Planners
from discreet.service.roles import ALLOWED, Action, Role, check_allowed
from discreet.service.scheduling import FairQueue
from discreet.service.sessions import Sessions
from discreet.service.settings import Settings
from discreet.service.terms import check_ceiling, terms_of
from discreet.service.tickets import Remembered, Ticket
from discreet.service.tokens import PREFIX, Caller, Issued, caller_of, issue, recognise
from discreet.service.witness import Sender
from discreet.service.workers import Job, Worker, shares
from discreet.tables import public_schema

if TYPE_CHECKING:
    from discreet.ledger import Entry, Grant, Verification

_LOOK = 0.05
"""Every so many seconds a service that stops looks whether all is done."""

_STORING = 30.0
"""How many seconds after its release time a question may take to be stored."""

MOST_CHARACTERS = 65_536
"""How long a question may be."""


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
        sender: sends heads to the witness.

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
        self.sessions = Sessions(self._tokens)
        try:
            self._servers = servers_of(self._tables.dataset.ledger, self._tables.dataset.name)
        except DiscreetError:
            self._tables.close()
            raise
        self._admitting = AdmissionRuns(config)
        self._waiting: FairQueue[Ticket] = FairQueue()
        self._tickets: dict[str, Ticket] = {}
        self._remembered = Remembered()
        self._keys = Keys()
        self._approvals = Approvals(self._tables, self._plan_of)
        self._lock = Lock()
        asking, planning = shares(settings.slots, settings.planning.seconds)
        self._slots = [Worker(config, settings.times, share) for share in asking]
        workers = [Worker(config, settings.times, planning) for _ in range(settings.planners)]
        self._planners = Planners(workers, settings.planning, self._servers)
        self._threads = [Thread(target=self._serve, args=each, daemon=True) for each in enumerate(self._slots)]
        for worker in (*self._slots, *workers):
            worker.wait_until_ready()
        for thread in self._threads:
            thread.start()
        self.sender = Sender(self._tables.signing.head, settings.witness, settings.witness_every)
        every = (*workers, *self._slots)
        self.metrics.watch("discreet_workers_restarted", lambda: sum(each.restarts for each in every))
        self.metrics.watch("discreet_slots", lambda: self.settings.slots)
        self.metrics.watch("discreet_slots_busy", lambda: self._busy)
        self.metrics.watch("discreet_questions_waiting", lambda: len(self._waiting))
        self.metrics.watch("discreet_witness_failures", lambda: self.sender.failures)
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
        refusal = {"error": stopping().to_dict()}
        with self._lock:  # whoever had it asked before the service was told to stop, and whoever comes is refused
            longest = max((each.step * each.steps for each in self._tickets.values() if not each.is_done), default=0)
        end = monotonic() + longest + _STORING
        while (ticket := self._waiting.take()) is not None:
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
        self._waiting.close()
        for thread in self._threads:
            thread.join()
        self._planners.close()
        for slot in self._slots:
            slot.close()
        self.sender.close()
        self._admitting.close()
        self._servers.close()
        self._tables.close()

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

    def issue(self, caller: Caller, subject: str, role: Role, *, days: int, **allowed: Any) -> Issued:  # noqa: ANN401 — see there
        """Make a token for somebody, which allows what `tokens.issue` takes by name."""
        check_allowed(caller.role, Action.TOKENS)
        return issue(self._tokens, subject, role, days=days, **allowed)

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
            raise stopping()
        most = rational(at_most_unreadable, "at_most_unreadable")
        if not 0 <= most <= 1:
            raise InvalidArgument("the part that may be unreadable is from 0 to 1")
        return self._admitting.start(group=group, scheduled=scheduled, at_most_unreadable=most)

    def health(self, caller: Caller) -> Metrics:
        """How the service does, for operators: the same metrics as at their own port."""
        check_allowed(caller.role, Action.HEALTH)
        return self.metrics

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
            "allowed": {name: one if one is None else str(one) for name, one in asdict(declared.budget).items()},
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
            plan = self._planned(planner, question, terms_of(caller.subject, terms))
        analyst = caller.subject if caller.role is Role.ANALYST else None
        remaining = self._tables.affordable(Cost.from_json(plan["cost"]), analyst)
        return {**plan, "remaining_like_this": remaining}

    def ask(  # noqa: PLR0913 — what may be said beside a question, each by name
        self,
        caller: Caller,
        question: str | list[str],
        terms: Mapping[str, Any],
        *,
        key: str | None = None,
        digest: str | None = None,
        approval: str | None = None,
    ) -> Ticket:
        """Ask a question. What is stored, or follows from what is, is there at once, and costs nothing.

        Args:
            caller: who asks.
            question: SQL; a list of them is a workload.
            terms: what is offered for it.
            key: an idempotency key of the caller's: what is asked again under it is paid for once, and has the answer
                that it got then. 1 to 200 printable ASCII characters.
            digest: of the plan that it must be.
            approval: the id of a request, by whose approval it is asked.

        Raises:
            Forbidden: the caller may not ask.
            AboveCeiling: it costs more than the caller may spend on one question, and no approval is named.
            NotApproved: the approval isn't one for this, or is used up.
            PlanChanged: its plan isn't the one that was named.
            KeyReused: something else was asked under the key.
            TooManyWaiting: too many of the caller's questions wait already.
            InvalidArgument, QueryError: as for `plan`.
        """
        check_allowed(caller.role, Action.ASK)
        if self._is_stopping:
            raise stopping()
        offered, known = terms_of(caller.subject, terms), checked_key(caller.subject, key)
        with self._planners.turn(caller.subject) as planner:  # one process, which plans once
            plan = self._planned(planner, question, offered)
            if digest not in {None, plan["digest"]}:
                raise PlanChanged("this question has another plan than the one that was named", hint="plan it again")
            attempt = Attempt(
                id=fresh_bytes(16).hex(),
                plan=plan["digest"],
                seconds=plan["step"] * plan["steps"],
                key=known,
                approval=approval or "",
                declarations=self._approvals.declarations,
                token=caller.digest,
            )
            ticket = Ticket.of(fresh_bytes(16).hex(), question, offered, plan, attempt)
            first = self._keys.claim(ticket)
            if first is not ticket:
                self._check_cost(caller, replace(attempt, id=first.attempt.id), plan)
                self._look_again(planner, first)
                return first
            with self._keys.taking(ticket):
                self._take(caller, planner, ticket, plan)
        return ticket

    def _take(self, caller: Caller, planner: Planner, ticket: Ticket, plan: Mapping[str, Any]) -> None:
        """Take a question: what is there already is its outcome, and anything else waits for a slot."""
        tried = self._tables.tried(ticket.attempt.key) if ticket.attempt.key else None
        if tried is not None:
            if tried.plan != ticket.digest:
                raise KeyReused
            ticket.attempt = replace(ticket.attempt, id=tried.id)
        self._check_cost(caller, ticket.attempt, plan)  # before all that is stored
        job = Job(kind="stored", question=ticket.question, terms=ticket.terms)
        found = planner.do(job) if tried is None else again(planner, ticket, tried)
        if "answer" in found or "error" in found:
            ticket.finish(found)
            self.metrics.count("discreet_questions", outcome="stored" if "answer" in found else kind_of(found))
        self._keep(ticket)

    def _check_cost(self, caller: Caller, attempt: Attempt, plan: Mapping[str, Any]) -> None:
        """Refuse what the caller may not spend on one question, by themselves or by the approval that they name."""
        if attempt.approval:
            self._tables.check_approval(attempt, caller.subject)
        else:
            check_ceiling(caller, plan)

    def _look_again(self, planner: Planner, ticket: Ticket) -> None:
        """See what became of a question that another server carries out."""
        tried = self._tables.tried(ticket.attempt.key) if is_elsewhere(ticket) else None
        if tried is not None:
            ticket.outcome = again(planner, ticket, tried)

    def ticket(self, caller: Caller, name: str) -> Ticket | None:
        """A question of the caller's own; None if there is none of that name."""
        check_allowed(caller.role, Action.ASK)
        found = self._tickets.get(name)
        if found is None or found.subject != caller.subject:
            return None
        if is_elsewhere(found):
            with self._planners.turn(caller.subject) as planner:
                self._look_again(planner, found)
        return found

    # ── What is above a ceiling ──────────────────────────────────────────────────────────────────────────────────────

    def request(self, caller: Caller, question: str, terms: Mapping[str, Any], purpose: str) -> Mapping[str, Any]:
        """Request approval for a question; see `Approvals.request`."""
        return self._approvals.request(caller, question, terms, purpose)

    def requests(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """What was requested: an analyst's own requests, or all of them; oldest first."""
        return self._approvals.requests(caller)

    def approve(
        self, caller: Caller, name: str, *, days: int = 7, any_version: bool = False
    ) -> Mapping[str, Any] | None:
        """Let the question of a request be asked; see `Approvals.approve`."""
        return self._approvals.approve(caller, name, days=days, any_version=any_version)

    def deny(self, caller: Caller, name: str, reason: str) -> Mapping[str, Any] | None:
        """Deny a request, or take an approval back; see `Approvals.deny`."""
        return self._approvals.deny(caller, name, reason)

    def verify(self, caller: Caller) -> Verification:
        """Recompute the ledger's hash chain and every loss in it."""
        check_allowed(caller.role, Action.VERIFY)
        return self._tables.verify()

    def head(self, caller: Caller) -> Mapping[str, Any]:
        """The ledger's head as it is now, signed.

        What it tells of others is public when it is told: a debit at once, an outcome once it is stored, which begins
        a fixed time before its release.
        """
        check_allowed(caller.role, Action.HEAD)
        return self._tables.signing.head()

    def _keep(self, ticket: Ticket) -> None:
        """Remember a question, and have it carried out if it isn't done.

        Raises:
            EngineUnavailable: the service was told to stop meanwhile.
            TooManyWaiting: too many of the same caller's wait.
        """
        with self._lock:
            if not ticket.is_done:
                if self._is_stopping:
                    raise stopping()
                ticket.place = self._servers.enter(ticket.subject, self.settings.waiting)
                if ticket.place is None:
                    raise TooManyWaiting(
                        f"{self.settings.waiting} of your questions wait or run already",
                        hint="ask again once one of them was answered",
                        retry_after=ceil(ticket.step * ticket.steps),
                    )
                self._waiting.put(ticket.subject, ticket)
            self._tickets[ticket.id] = ticket
            for each in self._remembered.add(ticket, self.settings.kept):
                self._keys.release(self._tickets.pop(each.id))

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

    def _plan_of(self, caller: Caller, subject: str, question: str, terms: Mapping[str, Any]) -> Mapping[str, Any]:
        """The plan of a question of somebody's, made for a caller."""
        with self._planners.turn(caller.subject) as planner:
            return self._planned(planner, question, terms_of(subject, terms))

    def _serve(self, number: int, slot: Worker) -> None:
        """Carry out questions, one after the other, whenever no other server has the slot."""
        while self._waiting.wait():
            try:
                with self._servers.slot(number):
                    self._carry_out_next(slot)
            except LedgerError as error:  # nothing is known of the slot, so nothing is asked
                if (ticket := self._waiting.take()) is not None:
                    self._finish(ticket, {"error": error.to_dict()})

    def _carry_out_next(self, slot: Worker) -> None:
        """Carry out the next question, if there is still one."""
        with self._lock:
            self._busy += 1  # before it is taken, so that a service that stops waits for it
        ticket, outcome = self._waiting.take(), dict[str, Any]()
        try:
            if ticket is not None:
                outcome = dict(carried_out(slot, ticket, self.settings.times.storing))
        except Exception:  # noqa: BLE001 — whatever it is, it may depend on a person, and the slot must go on
            outcome = {"error": QuestionFailed().to_dict()}
        finally:
            with self._lock:
                self._busy -= 1
        if ticket is not None:
            self._finish(ticket, outcome)

    def _finish(self, ticket: Ticket, outcome: Mapping[str, Any]) -> None:
        """Let those who wait have what became of a question, and then another one have its place."""
        self.metrics.count("discreet_questions", outcome=kind_of(outcome))
        ticket.finish(outcome)
        self._keys.settle(ticket)
        if ticket.place is not None:
            self._servers.leave(ticket.place)
