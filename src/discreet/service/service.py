"""The service: one protected dataset, for callers who hold a token and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from discreet.entropy import fresh_bytes
from discreet.errors import (
    AboveCeiling,
    InvalidArgument,
    LedgerError,
    QuestionFailed,
    TooManyWaiting,
)
from discreet.exact import Rationalizable
from discreet.gateway import load
from discreet.ledger import servers_of
from discreet.privacy import Limits
from discreet.service.planners import Planner, Planners, PlanningLimits
from discreet.service.release_times import ReleaseTimes
from discreet.service.roles import ALLOWED, Action, Role, check_allowed
from discreet.service.scheduling import FairQueue
from discreet.service.tickets import Ticket
from discreet.service.tokens import Caller, Issued, caller_of, issue, recognise
from discreet.service.workers import Job, Message, Share, Worker
from discreet.tables import public_schema
from discreet.tables.session import usable_cores, usable_memory

if TYPE_CHECKING:
    from discreet.ledger import Entry, Grant, Verification

MOST_CHARACTERS = 65_536
"""How long a question may be."""

_PLANNING_MEMORY = 1 << 30
"""How many bytes a process that plans may take for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a service is run.

    Args:
        slots: how many questions are carried out at a time, each by a process of its own, which has its share of the
            machine's cores and memory; by all servers of the ledger together.
        planners: how many processes plan.
        times: when answers leave.
        planning: how much planning may take.
        waiting: how many questions of one caller may wait or run at a time.
        kept: how many questions are remembered after they are done, to be asked for again; the oldest are forgotten.

    Raises:
        InvalidArgument: a number is out of range.
    """

    slots: int = 1
    planners: int = 1
    times: ReleaseTimes = field(default_factory=ReleaseTimes)
    planning: PlanningLimits = field(default_factory=PlanningLimits)
    waiting: int = 8
    kept: int = 10_000

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("slots", "planners", "waiting", "kept"):
            if getattr(self, name) <= 0:
                raise InvalidArgument(f"{name} must be above 0, not {getattr(self, name)}")


class Service:
    """One protected dataset, for callers who hold a token and nothing else; `close` it.

    Guarantee: what a caller may do is decided by their token's role, before anything else is looked at. Questions are
    asked in the name of the token's holder. When an answer leaves, and whether it is stored, follows from the plan and
    from those before it, and not from how long anything took.

    Args:
        config: the path of `discreet.toml`.
        settings: how it is run.
    """

    def __init__(self, config: Path, settings: Settings | None = None) -> None:
        """Open the account, and start the processes."""
        self.settings = settings or Settings()
        self._tables = load(config)
        self._tokens = self._tables.tokens
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

    def close(self) -> None:
        """Take no more, wait for what runs, and stop the processes."""
        self._waiting.close()
        for thread in self._threads:
            thread.join()
        self._planners.close()
        for slot in self._slots:
            slot.close()
        self._servers.close()
        self._tables.close()

    # ── Who comes in ─────────────────────────────────────────────────────────────────────────────────────────────────

    def caller(self, token: str) -> Caller:
        """Whoever shows this token.

        Raises:
            Unauthenticated: it isn't one, or holds no more.
        """
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

    def plan(self, caller: Caller, question: str, terms: Mapping[str, Any]) -> Mapping[str, Any]:
        """Plan a question: what it would cost, how accurate it would be, and when its answer would leave. Free.

        Raises:
            Forbidden: the caller may not plan.
            InvalidArgument: a term is out of range or unknown, or the question is too long.
            QueryError: the question is refused.
        """
        check_allowed(caller.role, Action.PLAN)
        with self._planners.turn(caller.subject) as planner:
            return _planned(planner, question, _terms_of(caller, terms))

    def ask(self, caller: Caller, question: str, terms: Mapping[str, Any]) -> Ticket:
        """Ask a question. What is stored, or follows from what is, is there at once, and costs nothing.

        Raises:
            Forbidden: the caller may not ask.
            AboveCeiling: it costs more than the caller may spend on one question.
            TooManyWaiting: too many of the caller's questions wait already.
            InvalidArgument, QueryError: as for `plan`.
        """
        check_allowed(caller.role, Action.ASK)
        offered = _terms_of(caller, terms)
        with self._planners.turn(caller.subject) as planner:  # one process, which plans once
            plan = _planned(planner, question, offered)
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
        try:
            outcome = _carried_out(slot, ticket, self.settings.times.storing)
        except QuestionFailed as error:
            outcome = {"error": error.to_dict()}
        self._finish(ticket, outcome)

    def _finish(self, ticket: Ticket, outcome: Mapping[str, Any]) -> None:
        """Let those who wait have what became of a question, and then another one have its place."""
        ticket.finish(outcome)
        if ticket.place is not None:
            self._servers.leave(ticket.place)


def _planned(planner: Planner, question: str, terms: Mapping[str, Any]) -> Mapping[str, Any]:
    """A plan, made by a process that can be killed."""
    if len(question) > MOST_CHARACTERS:
        raise InvalidArgument(f"a question has at most {MOST_CHARACTERS:,} characters, not {len(question):,}")
    plan: Mapping[str, Any] = planner.do(Job(kind="plan", question=question, terms=terms))["plan"]
    return plan


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
        ticket.release = datetime.now(UTC) + timedelta(seconds=due - monotonic())
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
