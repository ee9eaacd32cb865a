"""Account entries: those of one account, as they are looked up within one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.ledger.row import Kind, Row

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain


@dataclass(frozen=True, slots=True)
class AccountEntries:
    """The entries of one account, within one transaction.

    Whoever writes holds the ledger's lock, so what was read stays true until it is acted on. Each look-up finds one
    entry by an index: running totals stand in the reservations, so a decision takes as long in a ledger of a million
    questions as in a new one.

    Args:
        chain: within the transaction.
        account: its name.
    """

    chain: Chain
    account: str

    def last(self, kind: Kind, **equal: object) -> Row | None:
        """The account's last entry of a kind with these values in its columns."""
        return self.chain.last(kind, account=self.account, **equal)

    def first(self, kind: Kind, **equal: object) -> Row | None:
        """The account's first entry of a kind with these values in its columns."""
        return self.chain.first(kind, account=self.account, **equal)
