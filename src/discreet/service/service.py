"""The service: one protected dataset, for callers who hold a token and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BudgetExhausted, DiscreetError, InvalidArgument, LedgerError
from discreet.exact import Rationalizable
from discreet.exact.rational import rational
from discreet.gateway import load
from discreet.ledger import servers_of
from discreet.results import left_in_words
from discreet.service.admission_runs import AdmissionRuns
from discreet.service.api import Ask, Planned, as_asked
from discreet.service.approvals import Approvals
from discreet.service.auditing import Audited
from discreet.service.event_log import EventLog
from discreet.service.metrics import Metrics
from discreet.service.questions import Questions
from discreet.service.roles import Action, Role, check_allowed
from discreet.service.sessions import Sessions
from discreet.service.settings import Settings
from discreet.service.tickets import Ticket, stopping
from discreet.service.tokens import ALL, PREFIX, Caller, Issued, caller_of, check_ceiling, issue, recognise, usual_share
from discreet.service.witness import Sender
from discreet.tables import public_schema

if TYPE_CHECKING:
    from discreet.ledger import Grant, NamedQuestion


class Service(Audited):
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
        super().__init__()
        self.settings = settings = settings or Settings()
        self.log = log or EventLog()
        self.metrics = Metrics()
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
        self._questions = Questions(config, self._tables, self._servers, settings, self.metrics)
        self._approvals = Approvals(self._tables, self._questions)
        self._found: dict[tuple[str, str], tuple[Ask, str]] = {}
        self._look_through()  # so that nothing is asked where it was damaged before
        self.sender = Sender(self._tables.signing.head, settings.witness, settings.witness_every)
        self.metrics.watch("discreet_slots", lambda: self.settings.slots)
        self.metrics.watch("discreet_witness_failures", lambda: self.sender.failures)
        self.metrics.watch("discreet_ready", lambda: self.is_ready)

    @property
    def is_ready(self) -> bool:
        """Whether questions are taken: the processes have opened the tables, and the ledger can be read.

        That a slot's process has ended isn't looked at: it may end in the midst of a question, whose outcome is pending
        until its release time.
        """
        if self.is_stopping or self._questions.is_damaged:
            return False
        try:
            self._tables.spent  # noqa: B018 — reading it is what is tried
        except LedgerError:
            return False
        return True

    @property
    def is_stopping(self) -> bool:
        """Whether no more questions are taken."""
        return self._questions.is_stopping

    def stop(self) -> None:
        """Take no more questions. What was paid for is answered; see `drain`."""
        self._questions.is_stopping = True

    def drain(self) -> bool:
        """Refuse the questions that only wait, and wait for those that were paid for; whether all were answered.

        It takes no longer than their release times and half a minute more.
        """
        return self._questions.drain()

    def kill(self) -> None:
        """End the processes at once. What they reserved stays spent; what they didn't store is gone."""
        self._questions.kill()

    def close(self) -> None:
        """Take no more, wait for what runs, and stop the processes."""
        self._questions.close()
        self.sender.close()
        self._admitting.close()
        self._servers.close()
        self._tables.close()

    # ── Who comes in ─────────────────────────────────────────────────────────────────────────────────────────────────

    def caller(self, token: str) -> Caller:
        """The caller who shows this token.

        Raises:
            Unauthenticated: it isn't one, or holds no more.
            Forbidden: it is one of the provider's, and gives no role here.
        """
        if self.settings.openid is not None and not token.startswith(PREFIX):
            return self.settings.openid.caller(token)
        return recognise(self._tokens, token)

    def issue(self, caller: Caller, subject: str, role: Role, *, days: int, **allowed: Any) -> Issued:  # noqa: ANN401 — see there
        """Make a token that allows what `tokens.issue` takes by name.

        An analyst's share is `usual_share` where nobody says; `ALL` is none.
        """
        check_allowed(caller.role, Action.TOKENS)
        if role is Role.ANALYST and allowed.get("share") is None:
            allowed["share"] = usual_share(self._tables.dataset.budget, self._tables.dataset.analysts)
        elif allowed.get("share") == ALL:
            allowed["share"] = None
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
        at_most_unreadable: Rationalizable | None = None,
    ) -> Mapping[str, Any]:
        """Begin to admit the tables again, in a process of its own; see `AdmissionRuns.start`.

        Raises:
            Forbidden: the caller may not.
            TooManyWaiting: that is being done already.
            InvalidArgument: the part that may be unreadable isn't from 0 to 1.
        """
        check_allowed(caller.role, Action.ADMIT)
        if self.is_stopping:
            raise stopping()
        most = None if at_most_unreadable is None else rational(at_most_unreadable, "at_most_unreadable")
        if most is not None and not 0 <= most <= 1:
            raise InvalidArgument("the part that may be unreadable must be from 0 to 1")
        return self._admitting.start(group=group, scheduled=scheduled, at_most_unreadable=most)

    def health(self, caller: Caller) -> Metrics:
        """The health of the service for operators: the same metrics as at their own port."""
        check_allowed(caller.role, Action.HEALTH)
        return self.metrics

    # ── What is public ───────────────────────────────────────────────────────────────────────────────────────────────

    def dataset(self, caller: Caller) -> Mapping[str, Any]:
        """The custodian's declarations of what may be asked about: tables, columns, units, bounds and keys."""
        check_allowed(caller.role, Action.DATASETS)
        return public_schema(self._tables.dataset)

    def budget(self, caller: Caller) -> Mapping[str, Any]:
        """The amounts that may be spent, were spent and are left, in all and of an analyst's share; and the failures.

        Raises:
            LedgerCorrupt: nobody knows, because the ledger is damaged where it would stand.
        """
        check_allowed(caller.role, Action.BUDGET)
        tables, declared = self._tables, self._tables.dataset
        failures = tables.failures
        found: dict[str, Any] = {
            "budget": str(declared.budget),
            "allowed": {name: one if one is None else str(one) for name, one in asdict(declared.budget).items()},
            "spent": tables.spent.to_dict(),
            "remaining": tables.remaining.to_dict(),
            "damaged": self._questions.is_damaged,
            "failures": {
                "allowed": declared.failures,
                "failed": len(failures.failed),
                "pending": len(failures.pending),
            },
        }
        if caller.role is Role.ANALYST and not found["damaged"]:  # else some of it may be in what is damaged
            found["own"] = {**self._standing(caller), **self._questions.allowances.left(caller.subject)}
        return found

    def left(self, caller: Caller) -> str:
        """What the caller and all may still spend, in words; empty if nobody knows, as the ledger is damaged."""
        check_allowed(caller.role, Action.BUDGET)
        if self._questions.is_damaged:
            return ""
        remaining, budget = self._tables.remaining, self._tables.dataset.budget
        if caller.role is Role.ANALYST:
            with suppress(BudgetExhausted):  # no share
                own = self._tables.standing(caller.subject, caller.digest).remaining
                return left_in_words(remaining, budget, own)
        return left_in_words(remaining, budget)

    def _standing(self, caller: Caller) -> Mapping[str, Any]:
        """An analyst's standing, without what is left if they have no share."""
        try:
            own = self._tables.standing(caller.subject, caller.digest)
        except BudgetExhausted:
            return {"spent": self._tables.spent_by(caller.subject).to_dict()}
        return {
            "spent": own.spent.to_dict(),
            "this_month": own.this_month.to_dict(),
            "remaining": own.remaining.to_dict(),
            "renews": None if own.renews is None else own.renews.isoformat(),
        }

    def plan(self, caller: Caller, question: str | list[str], terms: Mapping[str, Any]) -> Planned:
        """Plan a question: what it would cost, how accurate it would be, and when its answer would leave. Free.

        A list of questions is a workload, which is planned, asked and paid for as one; all its answers leave together.
        So is SUMMARIZE, which stands for several.
        `remaining_like_this` says how many more questions of this cost the budget still pays for, and the caller's own
        share of it, and `remaining_after` what is left once it is paid; they tell no more than `budget` does.

        Raises:
            Forbidden: the caller may not plan.
            InvalidArgument: a term is out of range or unknown, or the question is too long.
            QueryError: the question is refused.
        """
        check_allowed(caller.role, Action.PLAN)
        plan = self._questions.plan(caller, caller.subject, as_asked(question), terms)
        analyst = caller.subject if caller.role is Role.ANALYST else None
        affordable = self._tables.affordable(plan.cost, analyst, caller.digest)
        return replace(plan, affordable=affordable.to_dict())

    def ask(self, caller: Caller, asked: Ask) -> Ticket:
        """Ask a question. What is stored, or follows from it, costs nothing.

        Raises:
            Forbidden: the caller may not ask; or as `Questions.ask` does.
        """
        check_allowed(caller.role, Action.ASK)
        return self._questions.ask(caller, replace(asked, question=as_asked(asked.question)))

    def ticket(self, caller: Caller, name: str) -> Ticket | None:
        """A question of the caller's own; None if there is none of that name."""
        check_allowed(caller.role, Action.ASK)
        return self._questions.ticket(caller, name)

    # ── What has a name ──────────────────────────────────────────────────────────────────────────────────────────────

    def named(self, caller: Caller) -> Sequence[NamedQuestion]:
        """The caller's questions that have names. Nobody else's: a name may tell what its analyst is after."""
        check_allowed(caller.role, Action.ASK)
        return self._tables.named.of(caller.subject)

    def name(self, caller: Caller, question: NamedQuestion) -> None:
        """Give a question of the caller's a name; nothing is asked.

        Raises:
            InvalidArgument: the name can't be stored, or the caller has too many.
        """
        check_allowed(caller.role, Action.ASK)
        self._tables.named.keep(caller.subject, question)

    def unname(self, caller: Caller, name: str) -> bool:
        """Take a name away; whether the caller had it. The answer stays stored."""
        check_allowed(caller.role, Action.ASK)
        self._found.pop((caller.subject, name), None)
        return self._tables.named.drop(caller.subject, name)

    def stored(self, caller: Caller, name: str, asked: Ask) -> Ticket:
        """The stored answer to a question that has a name. Nothing is ever paid for it.

        Looked at again it takes no planning as long as its ticket is remembered.

        Args:
            caller: who may ask it, within their own ceiling.
            name: of the question.
            asked: the question, with the version whose answer is meant.

        Raises:
            InvalidArgument: no version is named, or no answer is stored for it; or as for `ask`.
        """
        if asked.version is None:
            raise InvalidArgument("a stored answer is of a version of the tables")
        known, ticket = self._found.get((caller.subject, name), (None, ""))
        found = self.ticket(caller, ticket) if known == asked else None
        if found is not None:
            check_ceiling(caller, found.plan.cost)
            return found
        found = self.ask(caller, asked)
        if found.answer is not None:
            self._found[caller.subject, name] = (asked, found.id)
        return found

    # ── What is above a ceiling ──────────────────────────────────────────────────────────────────────────────────────

    def request(self, caller: Caller, question: str, terms: Mapping[str, Any], purpose: str) -> Mapping[str, Any]:
        """Request approval for a question; see `Approvals.request`."""
        return self._approvals.request(caller, question, terms, purpose)

    def requests(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """An analyst's own requests, or all of them; oldest first."""
        return self._approvals.requests(caller)

    def approve(
        self, caller: Caller, name: str, *, days: int = 7, any_version: bool = False
    ) -> Mapping[str, Any] | None:
        """Let the question of a request be asked; see `Approvals.approve`."""
        return self._approvals.approve(caller, name, days=days, any_version=any_version)

    def deny(self, caller: Caller, name: str, reason: str) -> Mapping[str, Any] | None:
        """Deny a request, or take an approval back; see `Approvals.deny`."""
        return self._approvals.deny(caller, name, reason)
