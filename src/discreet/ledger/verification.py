"""Verification: whether a ledger says what was written, and whether every decision in it was right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.accounting import Charge, filter_for
from discreet.errors import LedgerCorrupt
from discreet.ledger.access_replay import AccessReplay, MonthReplay, exact_sum
from discreet.ledger.changes import Change, Tables, changes_of_budget, changes_of_tables, digest_of, known_with
from discreet.ledger.charges import from_columns
from discreet.ledger.declaration import Declaration
from discreet.ledger.entry_contents import least_cost
from discreet.ledger.failures import FailuresReplay
from discreet.ledger.large_answers import large_in
from discreet.ledger.row import FORMATS, GENESIS, Kind, Row, declared_in, group_of, groups_of, snapshot_of
from discreet.ledger.shares import recorded_in_month
from discreet.ledger.transaction import RESTORED
from discreet.privacy import Budget, MonthlyShare

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
        return f"entry {self.entry}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The findings of a verification.

    If there are no problems: no entry was changed, left out, added or moved since it was written; every debit is at
    least what its event costs, and every running total at least their sum; no question was admitted over the budget
    then in force, or over its analyst's share, in all or in a month, or where as many had failed as may; every outcome
    belongs to one debit, and none has two; and what is large of answers lies where it was put, as it was written.

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
        wrong = len(self.problems)
        found = "all hold" if self.holds else f"{wrong} problem{'' if wrong == 1 else 's'}"
        return f"{self.entries:,} entr{'y' if self.entries == 1 else 'ies'}; {found}"


def verify(store: Store, kept: str | None) -> Verification:
    """Check a ledger; see `Ledger.verify`."""
    seen = None if store.seen is None else store.seen.hash
    walk = _Walk({head for head in (kept, seen) if head is not None})
    while True:
        head, page = store.read(lambda chain: (chain.head, _page(chain, walk)), anew=True)
        if not page:
            return walk.result(head)
        for row in page:
            walk.step(row, store)


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

    def step(self, row: Row, store: Store) -> None:
        """Check the next entry, and what lies outside of it."""
        if not row.is_sealed:
            self._note(row.seq, "it was altered: its hash doesn't match")
        if row.seq != self._entries + 1:
            self._note(row.seq, f"it is in the place of entry {self._entries + 1}")
        if row.previous != (GENESIS if self.last is None else self.last.hash):
            self._note(row.seq, "the entry before it isn't the one it was chained to")
        try:
            self._read(row)
            for large in large_in(row).values() if row.kind == Kind.COMMIT else ():
                large.check(store.large.get(large))
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
        if head.commitment != self._commitment:
            self._note(1, "the ledger's secret isn't the one it was made with")
        if self._heads:
            self._note(end, "a head that was kept isn't in the chain: entries were cut off, or all of them rewritten")
        return Verification(entries=end, head=head.hash, problems=tuple(self._problems))

    def _read(self, row: Row) -> None:
        """Check what an entry means."""
        if (row.kind == Kind.OPEN) != (self._entries == 0):
            self._note(row.seq, "a ledger begins with exactly one entry that opens it")
        if row.kind != Kind.OPEN:
            for message in self._replay.check(row):
                self._note(row.seq, message)
            return
        content = row.content()
        if self._entries == 0:
            self._commitment = content.get("secret")
        if content.get("format") not in FORMATS:
            self._note(row.seq, f"it opens a ledger of format {content.get('format')}, which this version doesn't know")

    def _note(self, entry: int, message: str) -> None:
        """Note a problem."""
        self._problems.append(Problem(entry=entry, message=message))


_AMOUNTS = {"epsilon", "rho", "delta", "spent_epsilon", "spent_rho", "spent_delta"}
_SHARE = {"share_epsilon", "share_rho", "share_delta"}
_ALWAYS = {"seq", "at", "kind", "account", "body", "previous", "hash"}

_FILLED = {
    Kind.BUDGET: _ALWAYS,
    Kind.DECLARED: _ALWAYS | {"digest"},
    Kind.DATA: _ALWAYS | {"digest", "version"},
    Kind.RESERVE: _ALWAYS | {"number", "digest", "version"} | _AMOUNTS,
    Kind.COMMIT: _ALWAYS | {"number", "digest", "version"},
    Kind.FAIL: _ALWAYS | {"number", "digest", "version"},
    Kind.TOKEN: _ALWAYS | {"analyst", "digest"},
    Kind.REVOKE: _ALWAYS | {"analyst", "digest"},
    Kind.ATTEMPT: _ALWAYS | {"number", "analyst", "digest", "version"},
    Kind.REQUEST: _ALWAYS | {"analyst", "digest"},
    Kind.APPROVAL: _ALWAYS | {"analyst", "digest"},
    Kind.DENIAL: _ALWAYS | {"analyst", "digest"},
    Kind.USE: _ALWAYS | {"number", "analyst", "digest", "version"},
    Kind.LOOK: _ALWAYS,
    Kind.KEY: _ALWAYS | {"digest"},
}
"""Which columns have a value in an entry of each kind. A debit with an analyst has `analyst` and the share too; an
approval for one version has `version`.
"""


@dataclass(slots=True)
class _Account:
    """An account as the entries so far have made it.

    Its first `unadmitted` data versions are numbers of before tables were admitted.
    """

    declaration: Declaration | None = None
    versions: int = 0
    unadmitted: int = 0
    groups: dict[str, int] = field(default_factory=dict)
    marks: set[str | None] = field(default_factory=set)
    spent: Charge = field(default_factory=Charge.zero)
    shares: dict[str, Charge] = field(default_factory=dict)
    months: MonthReplay = field(default_factory=MonthReplay)
    questions: int = 0
    open: dict[int | None, Row] = field(default_factory=dict)
    access: AccessReplay = field(default_factory=AccessReplay)
    failures: FailuresReplay = field(default_factory=FailuresReplay)
    tables: Tables = field(default_factory=dict)
    known: Tables = field(default_factory=dict)


class Replay:
    """The accounts of a ledger, rebuilt from their entries one by one."""

    def __init__(self) -> None:
        self._accounts: dict[str | None, _Account] = {}

    def check(self, row: Row) -> Iterator[str]:
        """Go on by one entry, and say what is wrong with it.

        Args:
            row: any entry but the one that opens the ledger.

        Raises:
            LedgerCorrupt: it can't be read.
        """
        if row.kind not in _FILLED:
            raise LedgerCorrupt(f"no entry is of kind {row.kind!r}")
        kind = Kind(row.kind)
        if {name for name, value in row.columns().items() if value is not None} != _expected(kind, row):
            yield f"a {kind} entry doesn't fill these columns"
        account = self._accounts.setdefault(row.account, _Account())
        if kind is Kind.BUDGET:
            yield from _check_budget(account, row)
        elif account.declaration is None:
            yield "its account has no budget yet"
        elif kind is Kind.DECLARED:
            yield from _check_declared(account, account.declaration, row)
        elif kind is Kind.DATA:
            yield from _check_data(account, row)
        elif kind is Kind.RESERVE:
            yield from _check_debit(account, account.declaration, row)
        elif kind in {Kind.COMMIT, Kind.FAIL}:
            yield from _check_outcome(account, row)
        elif kind is Kind.LOOK:
            yield from account.failures.looked(row)
        else:
            yield from account.access.check(kind, row)


def _expected(kind: Kind, row: Row) -> set[str]:
    """The columns that should have a value."""
    if kind is Kind.RESERVE and row.analyst is not None:
        return _FILLED[kind] | {"analyst"} | _SHARE
    return _FILLED[kind] | ({"version"} if kind is Kind.APPROVAL and row.version is not None else set())


def _check_budget(account: _Account, row: Row) -> Iterator[str]:
    """A declaration can be read, and keeps the adjacency and the units once there are losses."""
    declaration = Declaration.from_content(row.content())
    before = account.declaration
    if before is not None and account.questions and before.adjacency != declaration.adjacency:
        yield "it changes the adjacency under which losses were charged"
    if before is not None and account.questions and not before.units.items() <= declaration.units.items():
        yield "it changes the unit by which losses were charged"
    if before is not None and account.questions and "failures" in row.content():  # versions of before asked nobody
        yield from _check_named(row, changes_of_budget(before, declaration))
    account.declaration = declaration
    account.access.budget = row.seq


def _check_declared(account: _Account, declaration: Declaration, row: Row) -> Iterator[str]:
    """Declarations of the tables weaken a promise only by naming it."""
    tables = declared_in(row)
    if row.digest != digest_of(tables):
        yield "its digest is of other tables than it declares"
    if account.questions:
        yield from _check_named(row, changes_of_tables(account.tables, account.known, tables, declaration.units))
    account.tables, account.known = tables, known_with(account.known, tables)


def _check_named(row: Row, changes: Sequence[Change]) -> Iterator[str]:
    """Each change that weakens a promise was named."""
    named = row.content().get("weakens", [])
    yield from (
        f"it weakens a promise without naming it: {each.words}"
        for each in changes
        if each.weakens and each.weakens not in named
    )


def _check_data(account: _Account, row: Row) -> Iterator[str]:
    """Data versions count up, each of one group, with a mark of its own and, once tables are admitted, a snapshot."""
    account.versions += 1
    account.access.versions = account.versions
    if row.version != account.versions:
        yield f"it is data version {row.version}, and should be {account.versions}"
    if row.digest in account.marks:
        yield "it has the mark of another data version"
    account.marks.add(row.digest)
    expected = {**account.groups, group_of(row): row.version}
    account.groups = groups_of(row)
    if account.groups != expected:
        yield "its versions of other groups are wrong"
    if snapshot_of(row) is not None:
        return
    if account.unadmitted < account.versions - 1:
        yield "it has no snapshot, though tables were admitted before it"
    else:
        account.unadmitted = account.versions


def _check_debit(account: _Account, declaration: Declaration, row: Row) -> Iterator[str]:
    """A debit costs what its event costs, adds up, and was within the budget and the share."""
    account.questions += 1
    pending = tuple(number for number in account.open if number is not None)
    account.open[row.number] = row
    if row.number != account.questions:
        yield f"it is question {row.number}, and should be {account.questions}"
    if row.version not in range(1, account.versions + 1):
        yield f"it was asked of data version {row.version}, which didn't exist"
    elif row.version in range(1, account.unadmitted + 1) and account.unadmitted < account.versions:
        yield f"it was asked of data version {row.version}, from before tables were admitted"
    cost = from_columns(row)
    if not least_cost(row).within(cost) or cost == Charge.zero():
        yield "it costs less than its event does"
    total = from_columns(row, "spent_")
    account.spent, low = _at_least(total, exact_sum(account.spent, cost))
    if low:
        yield "the account's total is less than the sum of its debits"
    if not _admits(declaration.budget, cost, total):
        yield "it overspends the budget"
    yield from account.access.debited(row)
    yield from _check_share(account, declaration, cost, row)
    yield from account.failures.debited(row, pending, None if _is_gap(row) else declaration.failures)


def _is_gap(row: Row) -> bool:
    """Whether a debit is what a restored ledger lacked, and no question."""
    return row.analyst is None and str(row.digest).startswith(RESTORED)


def _check_share(account: _Account, declaration: Declaration, cost: Charge, row: Row) -> Iterator[str]:
    """The same for the analyst's share."""
    if declaration.analysts and row.analyst not in declaration.analysts and not _is_gap(row):
        yield "the analyst who asked had no share of the budget"
    if row.analyst is None:
        return
    own, access = from_columns(row, "share_"), account.access
    account.shares[row.analyst], low = _at_least(own, exact_sum(account.shares.get(row.analyst, Charge.zero()), cost))
    if low:
        yield "the analyst's total is less than the sum of their debits"
    month, problems = account.months.debited(row.analyst, row)
    yield from problems
    shares = {"the analyst's share": declaration.analysts.get(row.analyst), "what its token allows": access.share(row)}
    for whose, share in shares.items():
        renews = isinstance(share, MonthlyShare)
        if share is not None and not _admits(share, cost, month if renews else own):
            yield f"it overspends {whose}"
        if renews and recorded_in_month(row) is None:
            yield f"it doesn't say what was spent in its month, by which {whose} was decided"


def _check_outcome(account: _Account, row: Row) -> Iterator[str]:
    """An outcome belongs to one debit, which has no other."""
    debit = account.open.pop(row.number, None)
    if row.kind == Kind.FAIL and row.number is not None:
        account.failures.failed.append(row.number)
    if debit is None:
        yield f"question {row.number} wasn't reserved, or already has its outcome"
    elif (debit.digest, debit.version) != (row.digest, row.version):
        yield f"it is the outcome of another question than {row.number}, or of other data"
    content = row.content()
    if row.kind == Kind.COMMIT and not all(isinstance(content.get(name), dict) for name in ("certificate", "answer")):
        yield "it has no certificate, or no answer"


def _at_least(recorded: Charge, least: Charge) -> tuple[Charge, bool]:
    """The total to go on with, and whether the recorded one is too low."""
    return (recorded, False) if least.within(recorded) else (least, True)


def _admits(budget: Budget, cost: Charge, total: Charge) -> bool:
    """Whether a budget can hold a loss of this kind and size."""
    decision = filter_for(budget)
    return decision.accepts(cost) and decision.admits(total)
