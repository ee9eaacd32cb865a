"""Failures: questions that were paid for and got no answer, since the custodian last looked at such.

That a question failed can be a fact about rows, which no noise hides: a process that ran out of memory, a release time
that was missed. So what may fail is a budget of its own. Each debit notes which had failed before it, and which had no
outcome; so a decision looks at no more entries than failures are allowed, and damage behind the last debit shows.

A question without an outcome counts as one that failed: it may fail yet, or its process is dead. So however many are
asked at a time, no more can fail than may.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.errors import LedgerCorrupt, TooManyFailures
from discreet.hints import Hint
from discreet.ledger.row import Kind, Row, number_of

if TYPE_CHECKING:
    from discreet.ledger.shares import AccountEntries


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """The questions that failed since the custodian last looked.

    Args:
        failed: the numbers of the questions that got no answer, in their order.
        pending: those of the ones that have no outcome: they run, or their process died.
    """

    failed: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()

    @property
    def most(self) -> int:
        """The most there can be, whatever comes of those that are pending."""
        return len(self.failed) + len(self.pending)

    def to_json(self) -> dict[str, Any]:
        """As a debit notes it."""
        return {"failed": list(self.failed), "pending": list(self.pending)}

    def words(self, allowed: int) -> str:
        """How many these are, of those that are allowed.

        Examples:
            >>> print(Failures(failed=(3, 5), pending=(7,)).words(10))
            2 of 10 questions failed, 1 without an outcome
        """
        pending = f", {len(self.pending)} without an outcome" if self.pending else ""
        return f"{len(self.failed)} of {allowed} questions failed{pending}"

    def check(self, allowed: int) -> None:
        """Refuse another question where as many may have failed as are allowed.

        Raises:
            TooManyFailures: so it is.
        """
        if self.most < allowed:
            return
        running = f", and {len(self.pending)} have no outcome yet" if self.pending else ""
        custodian = "the custodian looks into them, then lets questions go on: {}"
        later = "ask again when those have one; if their processes died, " if len(self.failed) < allowed else ""
        raise TooManyFailures(
            f"{len(self.failed)} questions to this account failed after they were paid for{running}; {allowed} "
            "are allowed",
            hint=Hint(
                later + custodian.format("acknowledge_failures()"),
                cli=later + custodian.format("`discreet failures --acknowledge`"),
            ),
        )


def failures_by(entries: AccountEntries, last: Row | None) -> Failures:
    """The failures up to now.

    Args:
        entries: of the account.
        last: its last debit.
    """
    if last is None:
        return Failures()
    look, noted = entries.last(Kind.LOOK), noted_in(last)
    since = 0 if look is None else look.seq
    if noted is None:
        return _counted(entries, since)
    failed, pending = list(noted.failed) if since < last.seq else [], list[int]()
    for number in (*noted.pending, number_of(last)):
        if entries.last(Kind.COMMIT, number=number) is not None:
            continue
        failure = entries.last(Kind.FAIL, number=number)
        if failure is None:
            pending.append(number)
        elif failure.seq > since:
            failed.append(number)
    return Failures(failed=tuple(sorted(failed)), pending=tuple(pending))


def _counted(entries: AccountEntries, since: int) -> Failures:
    """The failures since the custodian last looked, counted for versions of discreet that recorded none."""
    chain, account = entries.chain, entries.account
    asked, answered, failed = (chain.numbers(kind, account) for kind in (Kind.RESERVE, Kind.COMMIT, Kind.FAIL))
    lately = chain.numbers(Kind.FAIL, account, after=since)
    return Failures(failed=tuple(sorted(lately)), pending=tuple(sorted(asked - answered - failed)))


def noted_in(debit: Row) -> Failures | None:
    """The failures before a debit that it records; None if it was written before debits recorded them.

    Raises:
        LedgerCorrupt: it can't be read.
    """
    match debit.content().get("failures"):
        case None:
            return None
        case {"failed": list(failed), "pending": list(pending)} if all(isinstance(n, int) for n in (*failed, *pending)):
            return Failures(failed=tuple(failed), pending=tuple(pending))
    raise LedgerCorrupt(f"the failures in entry {debit.seq} can't be read")


@dataclass(slots=True)
class FailuresReplay:
    """The failures of one account, rebuilt from its entries one by one.

    Args:
        failed: the questions that got no answer, since the custodian last looked.
    """

    failed: list[int] = field(default_factory=list)
    _are_noted: bool = False

    def debited(self, debit: Row, pending: tuple[int, ...], allowed: int | None) -> Iterator[str]:
        """Go on by a debit, and say what is wrong with it.

        Args:
            debit: its entry.
            pending: the questions before it that have no outcome.
            allowed: how many failures are; None if it may be made whatever failed.

        Raises:
            LedgerCorrupt: it can't be read.
        """
        noted, found = noted_in(debit), Failures(failed=tuple(sorted(self.failed)), pending=pending)
        if noted is None:
            if self._are_noted:
                yield "it doesn't say what had failed by then, although earlier debits do"
            return
        self._are_noted = True
        if noted != found:
            yield "it says that other questions had failed by then, or were pending"
        if allowed is not None and found.most >= allowed:
            yield "it was admitted although as many questions might have failed as were allowed"

    def looked(self, look: Row) -> Iterator[str]:
        """The custodian has looked at what had failed, and at nothing else."""
        if look.content().get("failed") != sorted(self.failed):
            yield "it names failures other than those that happened"
        self.failed.clear()
