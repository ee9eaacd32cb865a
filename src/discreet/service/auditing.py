"""Auditing: what a service shows to those who hold its account to account: entries, certificates, heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.ledger import DAMAGE
from discreet.service.roles import ALLOWED, Action, check_allowed

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.ledger import Entry, Verification
    from discreet.service.questions import Questions
    from discreet.service.tokens import Caller


_MAY_BE_YOURS = "an entry of the ledger isn't what was written, or is missing; it may be one of yours"
"""What an analyst is told of damage; which entries they are, custodians and auditors see."""


class Audited:
    """A service whose account can be looked at, by who may."""

    _tables: Protected
    _questions: Questions

    def history(self, caller: Caller) -> Sequence[Entry]:
        """What was asked: an analyst's own questions, or all entries of the account."""
        whole = Action.HISTORY in ALLOWED[caller.role]
        check_allowed(caller.role, Action.HISTORY if whole else Action.OWN_HISTORY)
        entries = self._looked_through()
        if whole:
            return entries
        return [
            replace(each, text=_MAY_BE_YOURS) if each.kind == DAMAGE else each
            for each in entries
            if each.kind == DAMAGE or (each.kind == "question" and each.analyst == caller.subject)
        ]

    def _looked_through(self) -> Sequence[Entry]:
        """All entries; where one is damaged, nothing is asked from then on until a verification holds."""
        entries = self._tables.history()
        if any(each.kind == DAMAGE for each in entries):
            self._questions.is_damaged = True
        return entries

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
