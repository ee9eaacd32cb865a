"""Oversight: what a service shows to those who approve questions, and to those who hold its account to account.

Approvals: what it says of requests, and who may read what an approved question is answered with. Auditing: entries,
certificates and signed heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

from discreet.entropy import fresh_bytes
from discreet.errors import TooManyWaiting
from discreet.ledger import DAMAGE, ApprovalRequest, Approver, Entry
from discreet.service.questions import Questions
from discreet.service.tokens import ALLOWED, Action, Caller, check_allowed

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.ledger import Verification


# ── Approvals ─────────────────────────────────────────────────────────────────────────────────────────────────────────

READERS = (
    "The answer is stored like any other. Every analyst may have it free who may ask this question within their "
    "own ceiling, or by an approval of their own, and every analyst may have what follows from it."
)
"""Who else may read the answer to an approved question."""


class Approvals:
    """The requests of a service: who may make them, and who may decide.

    Args:
        tables: that are asked about.
        questions: by which they are planned.
    """

    def __init__(self, tables: Protected, questions: Questions) -> None:
        self._requests = tables.requests
        self._questions = questions

    def request(self, caller: Caller, question: str, terms: Mapping[str, Any], purpose: str) -> Mapping[str, Any]:
        """Request approval for a question: for its plan as it is now, or nothing.

        Args:
            caller: who will ask it.
            question: SQL.
            terms: what is offered for it, as JSON-ready data.
            purpose: what it is asked for, for the custodian.

        Raises:
            Forbidden: the caller may not ask.
            TooManyWaiting: too many requests of theirs are open.
            InvalidArgument, QueryError: as for `plan`; or the purpose can't be printed.
        """
        check_allowed(caller.role, Action.ASK)
        plan = self._questions.plan(caller, caller.subject, question, terms)
        content = {
            "question": question,
            "terms": {name: value for name, value in terms.items() if name != "analyst"},
            "plan": plan["digest"],
            "purpose": purpose,
            "cost": plan["cost"],
        }
        return _to_json(self._requests.open(fresh_bytes(16).hex(), caller.subject, caller.digest, content))

    def requests(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """What was requested: an analyst's own requests, or all of them; oldest first."""
        whole = Action.HISTORY in ALLOWED[caller.role]
        check_allowed(caller.role, Action.HISTORY if whole else Action.OWN_HISTORY)
        return [_to_json(each) for each in self._requests.all(None if whole else caller.subject)]

    def approve(
        self, caller: Caller, name: str, *, days: int = 7, any_version: bool = False
    ) -> Mapping[str, Any] | None:
        """Let the question of a request be asked: by who made it, once, at this plan, under these declarations.

        None if there is no such request.

        Args:
            caller: a custodian, and not who made it.
            name: the request's id.
            days: for how many days, from 1 to 366.
            any_version: of any version of the tables, rather than of the one in force alone.

        Raises:
            Forbidden: the caller may not approve it.
            InvalidArgument: it was decided, or its plan would be another now.
        """
        check_allowed(caller.role, Action.APPROVE)
        found = self._requests.find(name)
        if found is None:
            return None
        plan = self._questions.plan(caller, found.subject, found.question, found.terms)["digest"]
        approved = self._requests.approve(
            name,
            Approver(subject=caller.subject, token=caller.digest),
            plan=plan,
            declarations=self._questions.declarations,
            days=days,
            any_version=any_version,
        )
        return _to_json(approved)

    def deny(self, caller: Caller, name: str, reason: str) -> Mapping[str, Any] | None:
        """Deny a request, or take back an approval that wasn't used; None if there is no such request.

        Raises:
            Forbidden: the caller may not decide about it.
            InvalidArgument: nothing is left to be denied.
        """
        check_allowed(caller.role, Action.APPROVE)
        if self._requests.find(name) is None:
            return None
        return _to_json(self._requests.deny(name, Approver(subject=caller.subject, token=caller.digest), reason))


def _to_json(request: ApprovalRequest) -> dict[str, Any]:
    """A request, as those see it who made it or decide about it."""
    return {
        "id": request.id,
        "digest": request.plan,
        "subject": request.subject,
        "question": request.question,
        "terms": dict(request.terms),
        "purpose": request.purpose,
        "cost": dict(request.cost),
        "state": str(request.state),
        "at": request.at.isoformat(),
        "until": None if request.until is None else request.until.isoformat(),
        "any_version": request.any_version,
        "by": request.by,
        "reason": request.reason,
        "readers": READERS,
    }


# ── Auditing ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_MAY_BE_YOURS = "an entry of the ledger isn't what was written, or is missing; it may be one of yours"
"""What an analyst is told of damage; which entries they are, custodians and auditors see."""


class Audited:
    """A service whose account can be looked at, by who may."""

    _tables: Protected
    _questions: Questions

    def __init__(self) -> None:
        self._looking: set[str] = set()
        self._looking_changes = Lock()

    def history(self, caller: Caller) -> Sequence[Entry]:
        """What was asked: an analyst's own questions, or all entries of the account; one such call of each at a time.

        It costs in proportion to what is shown: of the rest of the ledger, an analyst's look takes in what is new.
        Where an entry is damaged, nothing is asked from then on until a verification holds.

        Raises:
            TooManyWaiting: another such call of the caller's isn't done.
        """
        whole = Action.HISTORY in ALLOWED[caller.role]
        check_allowed(caller.role, Action.HISTORY if whole else Action.OWN_HISTORY)
        with self._alone(caller.subject):
            return self._all() if whole else self._own(caller.subject)

    def _all(self) -> Sequence[Entry]:
        """All entries."""
        entries = self._tables.history()
        if any(each.kind == DAMAGE for each in entries):
            self._questions.is_damaged = True
        return entries

    def _own(self, analyst: str) -> Sequence[Entry]:
        """An analyst's questions, and a line where the ledger is known to be damaged."""
        self._look_through()
        entries, are_whole = self._tables.history_of(analyst)
        if not are_whole:
            self._questions.is_damaged = True
        if not self._questions.is_damaged:
            return entries
        now = datetime.now(UTC)
        damage = Entry(number=None, at=now, kind=DAMAGE, analyst=None, text=_MAY_BE_YOURS, cost=None, state=None)
        return [*entries, damage]

    def _look_through(self) -> None:
        """Look whether the ledger is whole: at all of it when a server starts, and later at what is new."""
        if not self._tables.is_whole():
            self._questions.is_damaged = True

    @contextmanager
    def _alone(self, subject: str) -> Iterator[None]:
        """While nobody else of this name looks at the history.

        Raises:
            TooManyWaiting: somebody does.
        """
        with self._looking_changes:
            if subject in self._looking:
                raise TooManyWaiting(
                    "your history is being read already", hint="ask again once that is done", retry_after=1
                )
            self._looking.add(subject)
        try:
            yield
        finally:
            with self._looking_changes:
                self._looking.discard(subject)

    def verify(self, caller: Caller) -> Verification:
        """Recompute the ledger's hash chain and every loss in it; while that doesn't hold, nothing is asked."""
        check_allowed(caller.role, Action.VERIFY)
        found = self._tables.verify()
        self._questions.is_damaged = not found.holds
        return found

    def head(self, caller: Caller) -> Mapping[str, Any]:
        """The ledger's head as it is now, signed.

        What it tells of others is public when it is told: a debit at once, an outcome once it is stored, which begins
        a fixed time before its release.
        """
        check_allowed(caller.role, Action.HEAD)
        return self._tables.signing.head()

    def certificate(self, caller: Caller, number: int) -> Mapping[str, Any] | None:
        """What vouches for the question of this number, signed, without its answer; None if there is no such question.

        It says who asked what and when, what that has cost, which entries of the chain say so, what was done for the
        answer, and under `problems` in what these contradict each other. It has no certificate while its answer is
        pending, and where there was none. That its entries are in the chain, `verify` says.
        """
        check_allowed(caller.role, Action.VERIFY)
        found = self._tables.vouched(number)
        if found is None:
            return None
        content = {
            **entry_to_json(found.entry),
            "debit": found.debit,
            "outcome": found.outcome,
            "certificate": found.certificate,
            "problems": list(found.problems),
        }
        content["entry"] = content.pop("number")
        return self._tables.signing.certificate(content)


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """An entry of the account, as data."""
    return {
        "number": entry.number,
        "at": entry.at.isoformat(),
        "kind": entry.kind,
        "analyst": entry.analyst,
        "text": entry.text,
        "cost": None if entry.cost is None else entry.cost.to_dict(),
        "state": None if entry.state is None else str(entry.state),
    }
