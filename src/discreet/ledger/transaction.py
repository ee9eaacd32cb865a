"""Transactions: what is decided about one account, and written, within one transaction of the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Self

from discreet.accounting import Charge, Filter, Remaining, charge_of, filter_for
from discreet.errors import (
    AdmissionConflict,
    BudgetExhausted,
    InvalidArgument,
    LedgerCorrupt,
    LossNotAccepted,
    SnapshotMissing,
)
from discreet.hints import Hint
from discreet.ledger.attempts import check_attempt, is_over, note_attempt
from discreet.ledger.changes import (
    Change,
    Tables,
    changes_of_budget,
    changes_of_tables,
    check_named,
    digest_of,
    known_with,
)
from discreet.ledger.charges import from_columns, in_words, to_columns
from discreet.ledger.declaration import Declaration, checked_name
from discreet.ledger.failures import Failures, failures_by
from discreet.ledger.marks import mark, name_of
from discreet.ledger.row import Kind, Row, declared_in, groups_of, number_of, snapshot_of, to_body, version_of
from discreet.ledger.shares import AccountEntries, Affordable, Standing, bindings, least_of, renewal, spent_in_month
from discreet.ledger.units import Units, together, units_in
from discreet.privacy import Adjacency, Budget, Event, MonthlyShare

if TYPE_CHECKING:
    from discreet.ledger.attempts import Attempt
    from discreet.ledger.database import Topic
from discreet.ledger.entry_contents import debit_content

RESTORED = "restored "
"""The prefix of a debit's digest that charges a restored ledger what it lacks; no question's digest begins so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Debit:
    """A loss to pay for.

    Args:
        cost: of the question.
        digest: of the question.
        version: of the data.
        analyst: who asks.
        content: the question's text and event, as JSON-ready data.
        attempt: of a server, which it is made in; None elsewhere.
    """

    cost: Charge
    digest: str
    version: int
    analyst: str | None
    content: Mapping[str, Any]
    attempt: Attempt | None = None

    @classmethod
    def of(  # noqa: PLR0913 — what is paid for, each by name
        cls, event: Event, *, question: str, text: str, version: int, analyst: str | None, attempt: Attempt | None
    ) -> Self:
        """The debit for what will be done to the data; the cost follows from the event.

        Raises:
            InvalidArgument: an analyst or digest that can't be stored, or an event without a loss.
        """
        checked_name(question, "a question's digest")
        if analyst is not None:
            checked_name(analyst, "the analyst's name")
        cost = Charge.zero() + charge_of(event)  # adding rounds up fractions too long to be added up for ever
        if cost == Charge.zero():
            raise InvalidArgument("a question about private data can't be free")
        content = debit_content(text, event, attempt)
        return cls(cost=cost, digest=question, version=version, analyst=analyst, content=content, attempt=attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A question that has been paid for. It is on the disk, and nothing takes it back.

    Args:
        entry: the question's number in its account: 1, 2, 3, …
        question: its digest.
        text: as it was asked.
        version: of the data it is asked of.
        analyst: who asked.
        cost: what was charged.
        receipt: the hash of the debit's entry; the outcome is accepted only with it.
    """

    entry: int
    question: str
    text: str
    version: int
    analyst: str | None
    cost: Charge
    receipt: str


@dataclass(frozen=True, slots=True)
class Offered:
    """A snapshot that is to become the next version of a group; see `Account.admit`.

    Args:
        contents: a digest of what it holds. Private.
        snapshot: the name of the folder that holds it; empty if all tables are in memory.
        after: the newest version of the group that its reader knew of.
        group: of tables that are admitted together; empty for those without one.
    """

    contents: str
    snapshot: str
    after: int
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A version of the tables, as the ledger has it.

    Args:
        version: its number: 1, 2, 3, … in the order of admission, whether or not anything changed.
        snapshot: the name of the folder that holds it; empty if all tables are in memory.
        mark: what the ledger holds of its contents; see `Account.holds`.
        group: of tables that are admitted together; empty for those without one.
    """

    version: int
    snapshot: str
    mark: str
    group: str = ""


class AccountTransaction(AccountEntries):
    """One transaction of the database, in which all is decided and written about one account."""

    __slots__ = ()

    def declared(self) -> Declaration | None:
        """The declaration in force."""
        row = self.last(Kind.BUDGET)
        return None if row is None else Declaration.from_content(row.content())

    def in_force(self, adjacency: Adjacency, units: Units) -> Declaration:
        """The declaration in force, for a process that computes losses under an adjacency, by the units of its tables.

        Raises:
            InvalidArgument: another process declared another adjacency meanwhile, or other units.
        """
        declaration = self.declared()
        if declaration is None:
            raise LedgerCorrupt(f"account {self.account!r} has lost its budget")
        if declaration.adjacency != adjacency:
            raise InvalidArgument(
                f"account {self.account!r} was declared under {declaration.adjacency} in the meantime",
                hint="load the configuration again",
            )
        if not units.items() <= declaration.units.items():
            raise InvalidArgument(
                f"the tables of account {self.account!r} were declared with other units in the meantime",
                hint="load the configuration again",
            )
        return declaration

    def tables(self) -> tuple[Tables, Tables]:
        """The declarations of the tables; and the same with everything that was declared before."""
        current: Tables = {}
        known: Tables = {}
        for row in self.chain.every(Kind.DECLARED, self.account):
            current = declared_in(row)
            known = known_with(known, current)
        return current, known

    def is_declared(self, declaration: Declaration, tables: Tables | None = None) -> bool:
        """Whether a declaration is in force already, with what is declared of the tables, if that is said."""
        if tables is not None:
            last = self.last(Kind.DECLARED)
            if last is None or last.digest != digest_of(tables):
                return False
        before = self.declared()
        if before is None or replace(before, units=declaration.units) != declaration:
            return False
        if not declaration.units or before.units == declaration.units:
            return True
        return declaration.units.items() <= before.units.items() and self.last(Kind.RESERVE) is not None

    def declare(
        self, declaration: Declaration, tables: Tables | None = None, named: Collection[str] = ()
    ) -> list[Change]:
        """Put a declaration in force; what changes by it.

        Args:
            declaration: of the account.
            tables: what is declared of its tables; None where nobody says.
            named: the changes that may weaken what was promised, by their names.

        Raises:
            InvalidArgument: it would change the adjacency under which losses were charged, or their unit.
            DeclarationWeakened: it weakens what was promised in a way that isn't named.
        """
        before, has_losses = self.declared(), self.last(Kind.RESERVE) is not None
        of_budget = [] if before is None else changes_of_budget(before, declaration)
        current, known = self.tables()
        private = () if before is None else before.units
        of_tables = [] if tables is None else changes_of_tables(current, known, tables, private)
        if has_losses:
            check_named([*of_budget, *of_tables], named)
        if not self.is_declared(declaration):
            self._note_declaration(before, declaration, of_budget, has_losses=has_losses)
        if tables is not None and tables != current:
            weakened = sorted({each.weakens for each in of_tables if each.weakens}) if has_losses else []
            said = {"tables": tables, "changes": [each.words for each in of_tables], "weakens": weakened}
            self.chain.append(Kind.DECLARED, to_body(said), account=self.account, digest=digest_of(tables))
        return [*of_budget, *of_tables]

    def _note_declaration(
        self, before: Declaration | None, declaration: Declaration, changes: Sequence[Change], *, has_losses: bool
    ) -> None:
        """Write down a declaration of the account.

        Raises:
            InvalidArgument: as for `declare`.
        """
        if before is not None and before.adjacency != declaration.adjacency and has_losses:
            raise InvalidArgument(
                f"account {self.account!r} has losses under {before.adjacency}, to which losses under "
                f"{declaration.adjacency} can't be added",
                hint=f"set the adjacency back to {before.adjacency}",
            )
        units = declaration.units
        if before is not None and has_losses:
            units = together(self.account, before.units or self._units_of_answers(units), units)
        elif before is not None and not units:
            units = before.units
        weakened = sorted({each.weakens for each in changes if each.weakens}) if has_losses else []
        self.chain.append(Kind.BUDGET, replace(declaration, units=units).to_text(weakened), account=self.account)

    def admitted(self, group: str = "") -> Admitted | None:
        """The version of a group in force; None if its tables weren't admitted yet."""
        row = self._version(self.versions(group))
        snapshot = None if row is None else snapshot_of(row)
        if row is None or snapshot is None:
            return None
        return Admitted(version=version_of(row), snapshot=snapshot, mark=row.digest or "", group=group)

    def put_in_force(self, offered: Offered, key: bytes) -> Admitted:
        """Put a new version of a group in force.

        Args:
            offered: what it is.
            key: of its mark.

        Raises:
            AdmissionConflict: another process did so first.
        """
        newest, group, snapshot = self.last(Kind.DATA), offered.group, offered.snapshot
        groups = {} if newest is None else groups_of(newest)
        if groups.get(group, 0) != offered.after:
            raise AdmissionConflict(groups.get(group, 0))
        version = 1 if newest is None else version_of(newest) + 1
        groups = {**groups, group: version}
        row = self.chain.append(
            Kind.DATA,
            to_body({"snapshot": snapshot, **({"groups": groups} if set(groups) != {""} else {}), "key": name_of(key)}),
            account=self.account,
            digest=mark(key, self.account, version, offered.contents, group),
            version=version,
        )
        self._forget_secret()
        return Admitted(version=version, snapshot=snapshot, mark=row.digest or "", group=group)

    def spent(self, analyst: str | None = None) -> Charge:
        """The loss spent, by everyone or by one analyst, as the last reservation states it."""
        last = self._last_debit()
        if analyst is None:
            return from_columns(last, "spent_")
        return from_columns(self.last(Kind.RESERVE, analyst=analyst), "share_")

    def remaining(self, declaration: Declaration, analyst: str | None, token: str = "") -> Remaining:
        """The most that a next question may cost: the least of what the budget and the analyst's shares have left."""
        budgets = self._budgets(declaration, analyst, token)
        return least_of([one.remaining(spent) for one, spent in budgets])

    def _budgets(self, declaration: Declaration, analyst: str | None, token: str) -> list[tuple[Filter, Charge]]:
        """The budget of all and an analyst's shares, each with what was spent of it.

        Raises:
            BudgetExhausted: analysts have shares, and this one has none.
        """
        own = () if analyst is None else bindings(self, declaration, analyst, token)
        shares = [(filter_for(each.share), each.spent) for each in own]
        return [(filter_for(declaration.budget), self.spent()), *shares]

    def standing(self, declaration: Declaration, analyst: str, token: str = "") -> Standing:
        """An analyst's standing."""
        last = self.last(Kind.RESERVE, analyst=analyst)
        renews = any(isinstance(each.share, MonthlyShare) for each in bindings(self, declaration, analyst, token))
        return Standing(
            spent=from_columns(last, "share_"),
            this_month=spent_in_month(self, analyst, last),
            remaining=self.remaining(declaration, analyst, token),
            renews=renewal(self.chain.time()) if renews else None,
        )

    def affordable(self, declaration: Declaration, cost: Charge, analyst: str | None, token: str = "") -> Affordable:
        """How many times a cost can be paid now: the least that the budget and the analyst's shares allow."""
        try:
            budgets = self._budgets(declaration, analyst, token)
        except BudgetExhausted:
            return Affordable(times=0, after=None)
        if cost == Charge.zero():
            return Affordable(times=None, after=None)
        times = min(one.times(spent, cost) or 0 for one, spent in budgets)
        after = least_of([one.remaining(spent + cost) for one, spent in budgets]) if times else None
        return Affordable(times=times, after=after)

    def reserve(self, declaration: Declaration, debit: Debit, *, is_question: bool = True) -> Row:
        """Decide, and append the debit; raises what `Account.reserve` does.

        Args:
            declaration: in force.
            debit: the loss to pay for.
            is_question: whether it can fail; what a restored ledger lacks is charged to it whatever failed.
        """
        if not self.may_ask(debit.version):
            raise InvalidArgument(f"account {self.account!r} has no data version {debit.version}")
        cost, analyst, last, attempt = debit.cost, debit.analyst, self._last_debit(), debit.attempt
        if attempt is not None:
            check_attempt(self, attempt, analyst, debit.version)
        failures = failures_by(self, last)
        if is_question:
            failures.check(declaration.failures)
        token, spent = "" if attempt is None else attempt.token, from_columns(last, "spent_")
        total = self.admit(declaration, cost, analyst, token, spent=spent)
        amounts, content = to_columns(cost) | to_columns(total, "spent_"), dict(debit.content)
        content["failures"] = failures.to_json()
        if analyst is not None:
            # Kept without a share too, so that one declared later counts what came before it.
            before = self.last(Kind.RESERVE, analyst=analyst)
            amounts |= to_columns(from_columns(before, "share_") + cost, "share_")
            content["month"] = to_columns(spent_in_month(self, analyst, before) + cost)
        row = self.chain.append(
            Kind.RESERVE,
            to_body(content),
            account=self.account,
            number=1 if last is None else number_of(last) + 1,
            analyst=analyst,
            digest=debit.digest,
            version=debit.version,
            **amounts,
        )
        if attempt is not None:
            note_attempt(self, attempt, row)
        return row

    def admit(
        self,
        declaration: Declaration,
        cost: Charge,
        analyst: str | None,
        token: str = "",
        *,
        spent: Charge | None = None,
    ) -> Charge:
        """The total spending with this cost, if the budget and the analyst's shares admit it; raises as reserving does.

        Args:
            declaration: in force.
            cost: of a question.
            analyst: who asks.
            token: the digest of the token with which they ask; empty without one.
            spent: by everyone, if it was looked up already.
        """
        own = bindings(self, declaration, analyst, token)
        total = _admitted(declaration.budget, self.spent() if spent is None else spent, cost, "the budget")
        for each in own:
            renews = renewal(self.chain.time()) if isinstance(each.share, MonthlyShare) else None
            _admitted(each.share, each.spent, cost, each.whose, renews)
        return total

    def failures(self) -> Failures:
        """The questions that have failed since the custodian last looked, or may fail yet."""
        return failures_by(self, self._last_debit())

    def acknowledge_failures(self) -> Failures:
        """Note that the custodian has looked at what failed; what was found.

        What is pending is failed for good, unless its server said how long it may run, and it may still. Then it counts
        from here on.

        Raises:
            InvalidArgument: nothing failed.
        """
        for number in self.failures().pending:
            debit = self.last(Kind.RESERVE, number=number)
            if debit is not None and ("seconds" not in debit.content() or is_over(debit, self.chain.time())):
                self.settle(Kind.FAIL, number, debit.hash, to_body({}))
        found = self.failures()
        if not found.failed:
            raise InvalidArgument(
                f"no question to account {self.account!r} has failed since failures were last looked into"
            )
        self.chain.append(Kind.LOOK, to_body({"failed": list(found.failed)}), account=self.account)
        return found

    def give_up(self, attempt: str) -> int:
        """Note of the questions that an attempt has paid for, and that have no outcome, that they failed; how many."""
        found = [self.last(Kind.RESERVE, number=number) for number in self.failures().pending]
        own = [row for row in found if row is not None and row.content().get("attempt") == attempt]
        for row in own:
            self.settle(Kind.FAIL, number_of(row), row.hash, to_body({}))
        return len(own)

    def settle(self, kind: Kind, number: int, receipt: str, body: str, topics: Iterable[Topic] = ()) -> Row:
        """Append the one outcome of a reservation, to be found again by what it is about.

        Raises:
            InvalidArgument: there is no such reservation, or it has its outcome.
        """
        reserved = self.last(Kind.RESERVE, number=number)
        if reserved is None or reserved.hash != receipt:
            raise InvalidArgument(f"account {self.account!r} has no such reservation")
        if self.last(Kind.COMMIT, number=number) or self.last(Kind.FAIL, number=number):
            raise InvalidArgument(f"question {number} of account {self.account!r} already has its outcome")
        row = self.chain.append(
            kind, body, account=self.account, number=number, digest=reserved.digest, version=reserved.version
        )
        self.chain.note(row, topics, cost=float(from_columns(reserved).rho or 0))
        return row

    def versions(self, group: str = "") -> int:
        """The number of the newest version of a group; 0 if there is none."""
        newest = self.last(Kind.DATA)
        return 0 if newest is None else groups_of(newest).get(group, 0)

    def of_groups(self, version: int, groups: frozenset[str]) -> int:
        """The number under which these groups were in force together when a version came; 0 if one wasn't."""
        row = self._version(version)
        numbers = {} if row is None else groups_of(row)
        return max(numbers[group] for group in groups) if groups <= numbers.keys() else 0

    def may_ask(self, version: int) -> bool:
        """Whether questions of a version may be paid for: of any that was admitted, and of no number of before."""
        row = self._version(version)
        return row is not None and snapshot_of(row) is not None

    def holds(self, admitted: Admitted, contents: str, key: bytes | None) -> bool:
        """Whether a version holds what this digest is of.

        Raises:
            SnapshotMissing: the key of its mark isn't at hand.
        """
        version, row = admitted.version, self._version(admitted.version)
        if row is None or snapshot_of(row) is None:
            return False
        named = row.content().get("key")
        if named is None:  # of before there were files with keys
            key = None if self.chain.head.is_forgotten else bytes.fromhex(self.chain.head.secret)
        if key is None or (named is not None and named != name_of(key)):
            raise SnapshotMissing(
                f"the key that recognises version {version} of account {self.account!r} is missing",
                hint=Hint(
                    "copy it there, from the other server or from a backup; or admit the tables again: refresh()",
                    cli="copy it there, from the other server or from a backup; or admit the tables again: "
                    "`discreet admit`",
                ),
            )
        return compare_digest(admitted.mark, mark(key, self.account, version, contents, admitted.group))

    def _forget_secret(self) -> None:
        """Forget the ledger's own secret, by which marks of before were made, once no version in force has such."""
        chain = self.chain
        if chain.head.is_forgotten:
            return
        for name in chain.accounts():
            newest = chain.last(Kind.DATA, account=name)
            for number in () if newest is None else groups_of(newest).values():
                row = chain.last(Kind.DATA, account=name, version=number)
                if row is not None and snapshot_of(row) is not None and "key" not in row.content():
                    return
        chain.forget_secret()

    def _last_debit(self) -> Row | None:
        """The last debit, of which it is sure that it is the last: its total mustn't look smaller for any damage.

        Raises:
            LedgerCorrupt: something behind it isn't what was written, and might have been a debit.
        """
        last = self.last(Kind.RESERVE)
        self.chain.check_behind(last or self.first(Kind.BUDGET), self.account)
        return last

    def _units_of_answers(self, declared: Units) -> Units:
        """The units of an account of before they were noted: those that the certificate of its newest answer names."""
        newest = self.last(Kind.COMMIT)
        return {} if newest is None else units_in(newest.content().get("certificate"), declared)

    def _version(self, version: int) -> Row | None:
        """The entry of a version, which mostly is the newest one; None if there is none."""
        newest = self.last(Kind.DATA)
        if newest is None or not 1 <= version <= version_of(newest):
            return None
        return newest if version == version_of(newest) else self.last(Kind.DATA, version=version)


def _admitted(budget: Budget, spent: Charge, cost: Charge, whose: str, renews: datetime | None = None) -> Charge:
    """The new total, if the budget admits it; one that renews does so at that time."""
    decision = filter_for(budget)
    asked = in_words(cost, budget)
    if not decision.accepts(cost):
        raise LossNotAccepted(
            f"{whose} ({budget}) can't hold a loss of this kind: {asked}",
            hint="a budget in ε alone pays for Laplace noise and public keys; one with a δ pays for Gaussian noise "
            "and the selection of groups too",
        )
    total = spent + cost
    if not decision.admits(total):
        raise BudgetExhausted(
            f"{whose} ({budget}) can't pay for this: asked {asked}; spent {in_words(spent, budget)}; "
            f"remaining {decision.remaining(spent)}",
            hint=("" if renews is None else f"it renews on {renews:%Y-%m-%d}, in UTC; ")
            + "offer what remains, or less; what was asked before is answered again for free",
        )
    return total
