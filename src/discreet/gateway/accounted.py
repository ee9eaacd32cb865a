"""The public side of an account: what was spent, what is left, who may come in, and what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.accounting import Charge
from discreet.results import prospect

if TYPE_CHECKING:
    from discreet.accounting import Remaining
    from discreet.ledger import (
        Account,
        Affordable,
        Attempt,
        Change,
        Entry,
        Failures,
        Ledger,
        NamedQuestions,
        Requests,
        Standing,
        Tokens,
        Tried,
        Verification,
        Vouched,
    )
    from discreet.results import Cost


class Accounted:
    """Something whose questions an account pays for: what was spent, what is left, and who may come in."""

    _account: Account
    _ledger: Ledger

    @property
    def spent(self) -> Charge:
        """The cost of all questions so far."""
        return self._account.spent()

    @property
    def remaining(self) -> Remaining:
        """The part of the budget that may still be spent."""
        return self._account.remaining()

    def spent_by(self, analyst: str) -> Charge:
        """The cost of one analyst's questions so far."""
        return self._account.spent(analyst)

    def remaining_by(self, analyst: str) -> Remaining:
        """The amount one analyst may still spend: the lesser of what their share and the budget have left."""
        return self._account.remaining(analyst)

    def standing(self, analyst: str, token: str = "") -> Standing:
        """An analyst's standing: what they have spent in all and this month, what is left, and when it renews.

        Args:
            analyst: who.
            token: the digest of the token with which they ask, whose share binds them too; empty without one.

        Raises:
            BudgetExhausted: analysts have shares, and this one has none.
        """
        return self._account.standing(analyst, token)

    def affordable(self, cost: Cost, analyst: str | None = None, token: str = "") -> Affordable:
        """How many more questions of this cost the budget pays for, and an analyst's shares; and what one leaves.

        It follows from what is spent and declared.
        """
        charge = Charge(epsilon=cost.epsilon, rho=cost.rho, delta=cost.delta)
        return self._account.affordable(charge, analyst, token)

    def prospect(self, cost: Cost, analyst: str | None = None) -> str:
        """Whether the budget pays for a question of this cost, how often, and what it leaves, in words."""
        found = self.affordable(cost, analyst)
        return prospect(found.times, found.after or "")

    @property
    def tokens(self) -> Tokens:
        """The tokens that let people in through a server; for the custodian."""
        return self._account.tokens

    @property
    def named(self) -> NamedQuestions:
        """What analysts call questions of theirs; for servers."""
        return self._account.named

    @property
    def requests(self) -> Requests:
        """Requests for approval, open and closed; for servers and for the custodian."""
        return self._account.requests

    def check_approval(self, attempt: Attempt, analyst: str) -> None:
        """Refuse an attempt whose approval couldn't be used now.

        Raises:
            NotApproved: it isn't one for this, or is used up.
        """
        self._account.check_approval(attempt, analyst)

    def tried(self, key: str) -> Tried | None:
        """The outcome of the attempt under an idempotency key, given by its digest; None if it was never paid for."""
        return self._account.tried(key)

    @property
    def changes(self) -> Sequence[Change]:
        """The changes of declarations that opening these tables put in force; for the custodian."""
        return self._account.changes

    @property
    def failures(self) -> Failures:
        """The questions that failed after they were paid for, since the custodian last looked, and those still open."""
        return self._account.failures()

    def check_failures(self) -> None:
        """Refuse to go on where as many questions have failed, or may fail yet, as are declared. For servers.

        Raises:
            TooManyFailures: so it is.
        """
        self._account.check_failures()

    def acknowledge_failures(self) -> Failures:
        """Note in the ledger that the custodian has looked at what failed, so that asking goes on; for the custodian.

        A question that has no outcome by then, and whose server is gone, will never get one.

        Returns:
            What was looked at.

        Raises:
            InvalidArgument: nothing failed.
        """
        return self._account.acknowledge_failures()

    def give_up(self, attempt: str) -> None:
        """Record that what an attempt has paid for got no answer. For servers, whose process was killed."""
        self._account.give_up(attempt)

    def history(self) -> Sequence[Entry]:
        """The entries of the account, oldest first."""
        return self._account.entries()

    def history_of(self, analyst: str) -> tuple[Sequence[Entry], bool]:
        """An analyst's questions, oldest first, and whether what was read for them is what was written."""
        return self._account.entries_of(analyst)

    def is_whole(self) -> bool:
        """Whether the ledger is whole as far as this process has looked: all that is new, and a part of the rest."""
        return self._account.is_whole()

    def vouched(self, number: int) -> Vouched | None:
        """The question of this number, with what vouches for its answer; None if there is none."""
        return self._account.vouched(number)

    def verify(self, *, kept: str | None = None) -> Verification:
        """Recompute the ledger's hash chain and every loss in it.

        Args:
            kept: the head that an earlier verification gave, if it was kept elsewhere: it must be in the chain still.
        """
        return self._ledger.verify(kept=kept)
