"""The service: one protected dataset, for callers who hold a token and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from queue import Queue
from threading import Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from discreet.entropy import fresh_bytes
from discreet.errors import (
    AboveCeiling,
    EngineUnavailable,
    InvalidArgument,
    QuestionFailed,
    TooManyWaiting,
    Unsupported,
    from_dict,
)
from discreet.exact import Rationalizable
from discreet.gateway import load
from discreet.privacy import Limits
from discreet.service.release_times import ReleaseTimes
from discreet.service.roles import ALLOWED, Action, Role, check_allowed
from discreet.service.sessions import Sessions
from discreet.service.tickets import Ticket
from discreet.service.tokens import Caller, Issued, caller_of, issue, recognise
from discreet.service.workers import Job, Message, Worker
from discreet.tables import public_schema

if TYPE_CHECKING:
    from discreet.ledger import Entry, Grant, Verification

MOST_CHARACTERS = 65_536
"""How long a question may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a service is run.

    Args:
        slots: how many questions are carried out at a time, each by a process of its own.
        planners: how many processes plan.
        times: when answers leave.
        planning: for how many seconds a question may be planned.
        waiting: how many questions of one caller may wait or run at a time.
        kept: how many questions are remembered after they are done, to be asked for again; the oldest are forgotten.

    Raises:
        InvalidArgument: a number is out of range.
    """

    slots: int = 1
    planners: int = 1
    times: ReleaseTimes = field(default_factory=ReleaseTimes)
    planning: float = 10.0
    waiting: int = 8
    kept: int = 10_000

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("slots", "planners", "planning", "waiting", "kept"):
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
        self.sessions = Sessions(self._tokens)
        self._waiting: Queue[Ticket | None] = Queue()
        self._tickets: dict[str, Ticket] = {}
        self._lock = Lock()
        times = self.settings.times
        self._planners: Queue[Worker] = Queue()
        for _ in range(self.settings.planners):
            self._planners.put(Worker(config, times))
        self._slots = [Worker(config, times) for _ in range(self.settings.slots)]
        self._threads = [Thread(target=self._serve, args=(slot,), daemon=True) for slot in self._slots]
        for slot in self._slots:
            slot.wait_until_ready()
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Take no more, wait for what runs, and stop the processes."""
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        for _ in range(self.settings.planners):
            self._planners.get().close()
        for slot in self._slots:
            slot.close()
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
        return self._planned(question, _terms_of(caller, terms))

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
        plan = self._planned(question, offered)
        _check_ceiling(caller, plan)
        ticket = Ticket(
            id=fresh_bytes(16).hex(),
            subject=caller.subject,
            question=question,
            terms=offered,
            digest=plan["digest"],
            step=plan["step"],
            steps=plan["steps"],
        )
        stored = self._done_by_a_planner(Job(kind="stored", question=question, terms=offered))
        if "answer" in stored:
            ticket.finish(stored)
            self._keep(ticket)
            return ticket
        self._keep(ticket)
        self._waiting.put(ticket)
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
            own = sum(each.subject == ticket.subject and not each.is_done for each in self._tickets.values())
            if not ticket.is_done and own >= self.settings.waiting:
                raise TooManyWaiting(
                    f"{own} of your questions wait or run already", hint="ask again once one of them was answered"
                )
            self._tickets[ticket.id] = ticket
            done = [name for name, each in self._tickets.items() if each.is_done]
            for name in done[: max(0, len(self._tickets) - self.settings.kept)]:
                del self._tickets[name]

    def _planned(self, question: str, terms: Mapping[str, Any]) -> Mapping[str, Any]:
        """A plan, made by a process that can be killed."""
        if len(question) > MOST_CHARACTERS:
            raise InvalidArgument(f"a question has at most {MOST_CHARACTERS:,} characters, not {len(question):,}")
        found = self._done_by_a_planner(Job(kind="plan", question=question, terms=terms))
        if "error" in found:
            raise from_dict(found["error"])
        plan: Mapping[str, Any] = found["plan"]
        return plan

    def _done_by_a_planner(self, job: Job) -> Mapping[str, Any]:
        """A job that touches no private row, within the time for planning."""
        planner = self._planners.get()
        try:
            planner.send(job)
            message = planner.receive(monotonic() + self.settings.planning)
            if message is None:
                planner.restart()
                raise Unsupported("this question takes too long to plan", hint="ask a simpler one")
            return message[1]
        except QuestionFailed:  # no question was asked, so that isn't what failed
            planner.restart()
            raise EngineUnavailable("a process that plans ended", hint="ask again") from None
        finally:
            self._planners.put(planner)

    def _serve(self, slot: Worker) -> None:
        """Carry out questions, one after the other."""
        while (ticket := self._waiting.get()) is not None:
            try:
                ticket.finish(_carried_out(slot, ticket))
            except QuestionFailed as error:
                ticket.finish({"error": error.to_dict()})


def _carried_out(slot: Worker, ticket: Ticket) -> Mapping[str, Any]:
    """What becomes of a question: an answer at its time, or at the latest by then that there is none.

    Raises:
        QuestionFailed: it wasn't measured in time, or its process is gone; said at the time of its answer.
    """
    slot.wait_until_ready()
    ticket.started = datetime.now(UTC)
    due = monotonic()
    slot.send(Job(kind="ask", question=ticket.question, terms=ticket.terms, digest=ticket.digest))
    for _ in range(ticket.steps):
        due += ticket.step
        message = _received(slot, due)
        if message is not None and message[0] == "done":
            return message[1]  # stored meanwhile, or refused before it was paid for: both are public
        sleep(max(0.0, due - monotonic()))
        if message is None:
            slot.restart()
            raise QuestionFailed
        slot.go()
    message = _received(slot, None)
    if message is None:
        slot.restart()
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
