"""Auditing: entries, certificates and signed heads, for those who hold the account to account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Condition
from typing import TYPE_CHECKING, Any

from discreet.errors import TooManyWaiting
from discreet.ledger import DAMAGE, Entry
from discreet.service.questions import Questions
from discreet.service.roles import ALLOWED, Action, check_allowed
from discreet.service.tokens import Caller

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.ledger import Verification


_MAY_BE_YOURS = "an entry of the ledger was altered or is missing; it may be one of yours"
"""The words for an analyst about damage; custodians and auditors see which entries it is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A verification of the ledger that was carried out.

    Args:
        at: when it ended, in UTC.
        by: who had it done.
        found: what it found.
    """

    at: datetime
    by: str
    found: Verification


class Audited:
    """A service whose account those who may can look at."""

    _tables: Protected
    _questions: Questions

    def __init__(self) -> None:
        self._looking: set[str] = set()
        self._next: set[str] = set()
        self._looking_changes = Condition()
        self._verified: Verified | None = None

    def history(self, caller: Caller, patience: float = 0.0) -> Sequence[Entry]:
        """The history: an analyst's own questions, or all entries of the account. Each caller reads it once at a time.

        It costs in proportion to what is shown: of the rest of the ledger, an analyst's look takes in what is new.
        Where an entry is damaged, nothing is asked from then on until a verification holds.

        Args:
            caller: whose it is.
            patience: for how many seconds a call waits for another one of the caller's, if no third one does.

        Raises:
            TooManyWaiting: another such call of the caller's isn't done.
        """
        whole = Action.HISTORY in ALLOWED[caller.role]
        check_allowed(caller.role, Action.HISTORY if whole else Action.OWN_HISTORY)
        with self._alone(caller.subject, patience):
            return self._all() if whole else self._own(caller.subject)

    def _all(self) -> Sequence[Entry]:
        """All entries of the account."""
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
    def _alone(self, subject: str, patience: float) -> Iterator[None]:
        """Let nobody else of this name read the history meanwhile.

        Raises:
            TooManyWaiting: it is being read already.
        """
        with self._looking_changes:
            if subject in self._looking and subject not in self._next:  # each that waits keeps a thread from others
                self._next.add(subject)
                self._looking_changes.wait_for(lambda: subject not in self._looking, patience)
                self._next.discard(subject)
            if subject in self._looking:
                raise TooManyWaiting(
                    "your history is already being read", hint="ask again when that has finished", retry_after=1
                )
            self._looking.add(subject)
        try:
            yield
        finally:
            with self._looking_changes:
                self._looking.discard(subject)
                self._looking_changes.notify_all()

    def verify(self, caller: Caller) -> Verification:
        """Recompute the ledger's hash chain and every loss in it; while that doesn't hold, nothing is asked."""
        check_allowed(caller.role, Action.VERIFY)
        found = self._tables.verify()
        self._questions.is_damaged = not found.holds
        self._verified = Verified(at=datetime.now(UTC), by=caller.subject, found=found)
        return found

    def verified(self, caller: Caller) -> Verified | None:
        """The last verification since this server started; None if there was none."""
        check_allowed(caller.role, Action.VERIFY)
        return self._verified

    def head(self, caller: Caller) -> Mapping[str, Any]:
        """The ledger's head as it is now, signed.

        What it tells of others is public when it is told: a debit at once, an outcome once it is stored, which begins
        a fixed time before its release.
        """
        check_allowed(caller.role, Action.HEAD)
        return self._tables.signing.head()

    def certificate(self, caller: Caller, number: int) -> Mapping[str, Any] | None:
        """The signed certificate of the question with this number, without its answer; None if there is none.

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
