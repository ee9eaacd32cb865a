"""Approvals: the requests of a service, and who may read what an approved question is answered with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.entropy import fresh_bytes
from discreet.ledger import ApprovalRequest, Approver
from discreet.service.questions import Questions
from discreet.service.roles import ALLOWED, Action, check_allowed
from discreet.service.tokens import Caller

if TYPE_CHECKING:
    from discreet.gateway import Protected


READERS = (
    "The answer is stored like any other. Any analyst who may ask this question, within their own ceiling or by an "
    "approval of their own, gets it free, and every analyst may have what follows from it."
)
"""Who else may read the answer to an approved question."""


class Approvals:
    """The requests of a service: who may make them, and who decides.

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
            "question": question if plan.text is None else plan.text,  # whoever decides reads it whole
            "terms": {name: value for name, value in terms.items() if name not in {"analyst", "parameters"}},
            "plan": plan.digest,
            "purpose": purpose,
            "cost": plan.cost.to_json(),
        }
        return _to_json(self._requests.open(fresh_bytes(16).hex(), caller.subject, caller.digest, content))

    def requests(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """An analyst's own requests, or all of them; oldest first."""
        whole = Action.HISTORY in ALLOWED[caller.role]
        check_allowed(caller.role, Action.HISTORY if whole else Action.OWN_HISTORY)
        return [_to_json(each) for each in self._requests.all(None if whole else caller.subject)]

    def approve(
        self, caller: Caller, name: str, *, days: int = 7, any_version: bool = False
    ) -> Mapping[str, Any] | None:
        """Approve a request: its maker may ask the question once, at this plan, under these declarations.

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
        plan = self._questions.plan(caller, found.subject, found.question, found.terms).digest
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
    """A request, as its maker and those who decide about it see it."""
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
