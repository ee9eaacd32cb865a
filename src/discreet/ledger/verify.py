"""Verification: whether a ledger says what was written, and whether every decision in it was right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import LedgerCorrupt
from discreet.ledger.replay import Replay
from discreet.ledger.row import FORMAT, GENESIS, Kind, Row
from discreet.ledger.secret import commitment

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain, Head
    from discreet.ledger.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that doesn't hold.

    Args:
        entry: the entry's place in the ledger.
        message: what is wrong with it.
    """

    entry: int
    message: str

    def __str__(self) -> str:
        """Both on one line."""
        return f"entry {self.entry}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a verification found.

    If there are no problems: no entry was changed, left out, added or moved since it was written; every debit is at
    least what its event costs, and every running total at least their sum; no question was admitted over the budget
    then in force, or over its analyst's share; and every outcome belongs to one debit, and none has two.

    What no chain can show by itself is that its end was cut off, by someone who also set back the head, or that all
    of it was written anew. Against that, keep `head` elsewhere, and hand it to the next verification.

    Args:
        entries: how many there are.
        head: the hash of the last one.
        problems: what doesn't hold, in the order of entries.
    """

    entries: int
    head: str
    problems: tuple[Problem, ...]

    @property
    def holds(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def __str__(self) -> str:
        """The result in one line."""
        found = "all of them hold" if self.holds else f"{len(self.problems)} problems"
        return f"{self.entries} entries, and {found}"


def verify(store: Store, kept: str | None) -> Verification:
    """Check a ledger; see `Ledger.verify`."""
    seen = None if store.seen is None else store.seen.hash
    walk = _Walk({head for head in (kept, seen) if head is not None})
    while True:
        head, page = store.read(lambda chain: (chain.head, _page(chain, walk)), anew=True)
        if not page:
            return walk.result(head)
        for row in page:
            walk.step(row)


def _page(chain: Chain, walk: _Walk) -> list[Row]:
    """The next entries, however far the last page came."""
    return chain.page() if walk.last is None else chain.page(walk.last.seq)


class _Walk:
    """One pass over the entries."""

    def __init__(self, heads: set[str]) -> None:
        """Stand before the first entry, with heads that must be met again."""
        self.last: Row | None = None
        self._entries = 0
        self._heads = heads
        self._commitment: object = None
        self._replay = Replay()
        self._problems: list[Problem] = []

    def step(self, row: Row) -> None:
        """Check the next entry."""
        if not row.is_sealed:
            self._note(row.seq, "it isn't what was written: its hash doesn't fit")
        if row.seq != self._entries + 1:
            self._note(row.seq, f"it stands where entry {self._entries + 1} should")
        if row.previous != (GENESIS if self.last is None else self.last.hash):
            self._note(row.seq, "it doesn't follow the entry before it: that isn't the one it was chained to")
        try:
            self._read(row)
        except LedgerCorrupt as error:
            self._note(row.seq, error.message)
        self._heads.discard(row.hash)
        self.last = row
        self._entries = row.seq

    def result(self, head: Head) -> Verification:
        """Check the head, and sum up."""
        end = self._entries
        if self.last is None or (head.seq, head.hash) != (end, self.last.hash):
            self._note(end, f"the head names entry {head.seq} as the last: entries were cut off, changed or added")
        if commitment(head.secret) != self._commitment:
            self._note(1, "the ledger's secret isn't the one it was made with")
        if self._heads:
            self._note(end, "a head of before is nowhere in the chain: entries were cut off, or all written anew")
        return Verification(entries=end, head=head.hash, problems=tuple(self._problems))

    def _read(self, row: Row) -> None:
        """Check what an entry means."""
        if (row.kind == Kind.OPEN) != (self._entries == 0):
            self._note(row.seq, "a ledger begins with one entry that opens it")
        if row.kind != Kind.OPEN:
            for message in self._replay.check(row):
                self._note(row.seq, message)
            return
        content = row.content()
        if self._entries == 0:
            self._commitment = content.get("secret")
        if content.get("format") != FORMAT:
            self._note(row.seq, f"it opens a ledger of format {content.get('format')}, not {FORMAT}")

    def _note(self, entry: int, message: str) -> None:
        """Note a problem."""
        self._problems.append(Problem(entry=entry, message=message))
