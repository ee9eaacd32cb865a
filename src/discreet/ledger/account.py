"""Accounts: what one dataset's questions have cost, and their answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Self

from discreet.accounting import Charge, Remaining, charge_of
from discreet.errors import InvalidArgument
from discreet.ledger.attempts import Attempt, Tried, check_use, tried_under
from discreet.ledger.declaration import Affordable, Declaration, Standing, checked_name
from discreet.ledger.history import (
    Entry,
    Reservation,
    Stored,
    Vouched,
    debit_content,
    history,
    outcome_body,
    own_history,
    stored_in,
    vouched,
)
from discreet.ledger.look_through import LookThrough
from discreet.ledger.requests import Requests
from discreet.ledger.row import Kind, Row, number_of, to_body
from discreet.ledger.signing import Signing
from discreet.ledger.tokens import Tokens
from discreet.ledger.transaction import AccountTransaction, Admitted, Debit, Offered
from discreet.privacy import Event

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain
    from discreet.ledger.database import Topic
    from discreet.ledger.store import Store


_MOST_KEPT = 1 << 14
"""Of the answers that were last read about a topic, those of so many characters are kept: they are asked for again."""


class Account:
    """The account of one dataset in a ledger; `Ledger.account` makes it.

    Questions are numbered by their reservations alone. Outcomes don't count: if they did, an analyst who asks many at
    a time could tell from the numbers when another question was done, and so how long it ran, which depends on the
    data.

    Args:
        store: of the ledger.
        name: of the account.
        declaration: what its owner allows. It is recorded unless it is the one in force; what was spent stays spent.
    """

    def __init__(self, store: Store, name: str, declaration: Declaration) -> None:
        """Record the declaration, if it is new."""
        self.name = checked_name(name, "the account's name")
        self._store = store
        self._adjacency = declaration.adjacency
        self._units = declaration.units
        self._read: Mapping[int, tuple[Row, Stored]] = {}
        self._attempt: Attempt | None = None
        self._looked = LookThrough(store)
        if not store.read(lambda chain: self._transaction(chain).is_declared(declaration)):
            store.write(lambda chain: self._transaction(chain).declare(declaration))

    def admitted(self, group: str = "") -> Admitted | None:
        """The version of the tables in force; None if none was admitted yet.

        Args:
            group: of tables that are admitted together; empty for those without one.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return self._store.read(lambda chain: self._transaction(chain).admitted(group))

    def in_force(self, groups: Iterable[str]) -> dict[str, Admitted | None]:
        """The versions of several refresh groups that are in force at one moment; None for one never admitted.

        Guarantee: the greatest of their numbers is that of no other combination of these groups' versions. For it is
        the number of the last admission that touched one of them, and nothing touched them since.

        Raises:
            LedgerError: the ledger can't be read.
        """
        wanted = tuple(groups)
        return self._store.read(lambda chain: {group: self._transaction(chain).admitted(group) for group in wanted})

    def versions(self, group: str = "") -> int:
        """The number of the newest version of the tables of a group; 0 if there is none.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return self._store.read(lambda chain: self._transaction(chain).versions(group))

    def of_groups(self, version: int, groups: frozenset[str]) -> int:
        """The number under which groups were in force together when a version of the account came; 0 if one wasn't.

        Args:
            version: of any group.
            groups: by name.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return self._store.read(lambda chain: self._transaction(chain).of_groups(version, groups))

    def admit(self, contents: str, *, snapshot: str = "", after: int, group: str = "") -> Admitted:
        """Put a new version of a group's tables in force: the account's next number, whatever the tables hold.

        Guarantee: the number tells how often tables were admitted, and nothing about them. Of their contents the
        ledger keeps an HMAC under its own secret, which differs between versions that hold the same.

        Args:
            contents: a digest of what the version holds. Private.
            snapshot: the name of the folder that holds it; empty if all tables are in memory.
            after: the newest version of the group that this admission knows of, as `versions` gave it before sources
                were read.
            group: whose tables these are; empty for those without one.

        Raises:
            AdmissionConflict: another process has admitted a version of the group since.
            LedgerError: the ledger can't be written.
        """
        (admitted,) = self.admit_together([Offered(contents, snapshot=snapshot, after=after, group=group)])
        return admitted

    def admit_together(self, offered: Sequence[Offered]) -> list[Admitted]:
        """Put new versions of several groups in force: all of them, or none.

        Raises:
            AdmissionConflict, LedgerError: as for `admit`.
        """
        return self._store.write(lambda chain: [self._transaction(chain).put_in_force(each) for each in offered])

    def holds(self, admitted: Admitted, contents: str) -> bool:
        """Whether a version holds what this digest is of.

        Raises:
            LedgerError: the ledger can't be read.
        """
        found = self._store.read(
            lambda chain: self._transaction(chain).mark(admitted.version, contents, admitted.group)
        )
        return compare_digest(found, admitted.mark)

    def stored(self, question: str, version: int) -> Stored | None:
        """The answer released for the same question on the same data version; the first, if there are several.

        Args:
            question: its digest.
            version: of the data.

        Raises:
            LedgerError: the ledger can't be read.
        """
        row = self._store.read(
            lambda chain: self._transaction(chain).first(Kind.COMMIT, digest=question, version=version)
        )
        return None if row is None else stored_in(row)

    def about(self, topic: str, version: int, most: int, *, asked: str = "") -> list[Stored]:
        """Answers about a topic, of one data version: the dearest, then the newest that aren't among them.

        Args:
            topic: as it was given to `commit`.
            version: of the data.
            most: how many of either.
            asked: the digest of a question; if that was answered itself, its answer alone is given.

        Raises:
            LedgerError: the ledger can't be read.
        """
        read = self._read
        checked = {seq: row for seq, (row, _) in read.items()}

        def look(chain: Chain) -> tuple[Row | None, list[Row]]:
            own = self._transaction(chain).first(Kind.COMMIT, digest=asked, version=version) if asked else None
            return own, [] if own else chain.about(self.name, version, topic, most, checked)

        own, rows = self._store.read(look)
        if own is not None:
            return [stored_in(own)]
        found = {row.seq: (row, read[row.seq][1] if row is checked.get(row.seq) else stored_in(row)) for row in rows}
        self._read = {seq: pair for seq, pair in found.items() if len(pair[0].body) <= _MOST_KEPT}
        return [stored for _, stored in found.values()]

    def reserve(
        self, *, question: str, text: str, version: int, event: Event, analyst: str | None = None
    ) -> Reservation:
        """Pay for a question. Nothing of it is ever paid back.

        Guarantee: when this returns, the debit is on the disk, and with it neither the account's budget nor the
        analyst's share is overspent, whatever other processes did meanwhile. If it raises, nothing may be answered;
        and nothing was charged, unless disk or connection failed during the commit itself.

        Args:
            question: digest of the question, equal for questions that may share an answer.
            text: the question as it was asked, for the history.
            version: of the data it is asked of.
            event: what will be done to the data; it decides the cost.
            analyst: who asks.

        Raises:
            BudgetExhausted: the budget, or the analyst's share of it, can't pay; or the analyst has no share.
            LossNotAccepted: the budget can't hold a loss of this kind, whatever its size.
            LedgerError: the ledger can't be written.
            InvalidArgument: an analyst or digest that can't be stored, an unknown data version, or an event without a
                loss.
        """
        checked_name(question, "a question's digest")
        if analyst is not None:
            checked_name(analyst, "the analyst's name")
        cost = Charge.zero() + charge_of(event)  # adding rounds up fractions too long to be added up for ever
        if cost == Charge.zero():
            raise InvalidArgument("a question of private data can't cost nothing")
        debit = Debit(
            cost=cost,
            digest=question,
            version=version,
            analyst=analyst,
            content=debit_content(text, event, self._token),
            attempt=self._attempt,
        )

        def pay(chain: Chain) -> Row:
            transaction = self._transaction(chain)
            return transaction.reserve(transaction.in_force(self._adjacency, self._units), debit)

        row = self._store.write(pay)
        return Reservation(
            entry=number_of(row), question=question, version=version, analyst=analyst, cost=cost, receipt=row.hash
        )

    def check(self, event: Event, analyst: str | None = None) -> None:
        """Refuse what couldn't be paid for now. Nothing is paid, so others may be quicker.

        Args:
            event: what would be done to the data.
            analyst: who would ask.

        Raises:
            BudgetExhausted, LossNotAccepted: as for `reserve`.
        """
        cost = Charge.zero() + charge_of(event)

        def admit(chain: Chain) -> None:
            transaction = self._transaction(chain)
            transaction.admit(transaction.in_force(self._adjacency, self._units), cost, analyst, self._token)

        self._store.read(admit)

    def during(self, attempt: Attempt) -> Self:
        """The same account, whose debits are made in an attempt; for servers."""
        found = copy(self)
        found._attempt = attempt  # noqa: SLF001 — its own kind
        return found

    def check_approval(self, attempt: Attempt, analyst: str) -> None:
        """Refuse an attempt whose approval couldn't be used now.

        Raises:
            NotApproved: it isn't one for this, or is used up.
        """
        self._store.read(lambda chain: check_use(self._transaction(chain), attempt, analyst))

    def tried(self, key: str) -> Tried | None:
        """What became of the attempt under an idempotency key; None if none got as far as a debit.

        Args:
            key: its digest, as `key_digest` has it.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return self._store.read(lambda chain: tried_under(self._transaction(chain), key))

    def commit(
        self,
        reservation: Reservation,
        *,
        certificate: Mapping[str, object],
        answer: Mapping[str, object],
        topics: Iterable[Topic] = (),
    ) -> Stored:
        """Keep a released answer with its debit. It may be shown only once this has returned.

        Args:
            reservation: what paid for it; each has one outcome.
            certificate: what was done, as JSON-ready data.
            answer: the answer, as JSON-ready data; the order of its keys is kept.
            topics: what it is about, for `about`: texts of up to 255 characters, each with a data version's number.

        Returns:
            The answer, as `stored` gives it from now on unless the same question was answered before.

        Raises:
            InvalidArgument: the reservation isn't open in this account, or the answer isn't JSON.
            LedgerError: the ledger can't be written; the answer must not be shown.
        """
        body = outcome_body({"certificate": certificate, "answer": answer})
        return stored_in(self._settle(reservation, Kind.COMMIT, body, topics))

    def fail(self, reservation: Reservation) -> None:
        """Record that a question got no answer. What was paid for it stays paid.

        Raises:
            InvalidArgument: the reservation isn't open in this account.
            LedgerError: the ledger can't be written. The debit stands without it.
        """
        self._settle(reservation, Kind.FAIL, to_body({}))

    def spent(self, analyst: str | None = None) -> Charge:
        """What was spent so far, by everyone or by one analyst: answered, failed and unfinished questions alike."""
        return self._store.read(lambda chain: self._transaction(chain).spent(analyst))

    def remaining(self, analyst: str | None = None) -> Remaining:
        """What a next question may cost, by itself or asked by one analyst, whom the account's budget binds as well.

        Raises:
            BudgetExhausted: analysts have shares, and this one has none.
        """

        def left(chain: Chain) -> Remaining:
            transaction = self._transaction(chain)
            return transaction.remaining(transaction.in_force(self._adjacency, self._units), analyst, self._token)

        return self._store.read(left)

    def standing(self, analyst: str, token: str = "") -> Standing:
        """Where an analyst stands: what they have spent, what is left to them, and when a share of theirs renews.

        Args:
            analyst: who.
            token: the digest of the token with which they ask; empty without one.

        Raises:
            BudgetExhausted: analysts have shares, and this one has none.
        """

        def found(chain: Chain) -> Standing:
            transaction = self._transaction(chain)
            return transaction.standing(transaction.in_force(self._adjacency, self._units), analyst, token)

        return self._store.read(found)

    def affordable(self, cost: Charge, analyst: str | None = None, token: str = "") -> Affordable:
        """How many more questions of this cost can be paid for, in all or by one analyst."""

        def counted(chain: Chain) -> Affordable:
            transaction = self._transaction(chain)
            return transaction.affordable(transaction.in_force(self._adjacency, self._units), cost, analyst, token)

        return self._store.read(counted)

    @property
    def tokens(self) -> Tokens:
        """Who may come in through a server."""
        return Tokens(self._store, self.name)

    @property
    def requests(self) -> Requests:
        """Questions that are to be approved, or were."""
        return Requests(self._store, self._transaction)

    def signing(self, path: Path | None) -> Signing:
        """What is signed in the account's name.

        Args:
            path: of the key's file; None where there is none.
        """
        return Signing(self._store, self.name, path)

    def entries(self) -> Sequence[Entry]:
        """The history: budgets, data versions, and questions with what became of them; oldest first."""
        return history(self._store, self.name)

    def entries_of(self, analyst: str) -> tuple[Sequence[Entry], bool]:
        """An analyst's questions, oldest first, and whether what was read for them is what was written."""
        return own_history(self._store, self.name, analyst)

    def is_whole(self) -> bool:
        """Whether the ledger is whole as far as this process has looked: all that is new, and a part of the rest."""
        return self._looked.is_whole()

    def vouched(self, number: int) -> Vouched | None:
        """The question of this number with what vouches for its answer; None if there is none."""
        return vouched(self._store, self.name, number)

    @property
    def _token(self) -> str:
        """The digest of the token with which questions are asked; empty without one."""
        return "" if self._attempt is None else self._attempt.token

    def _transaction(self, chain: Chain) -> AccountTransaction:
        """The account within a transaction."""
        return AccountTransaction(chain, self.name)

    def _settle(self, reservation: Reservation, kind: Kind, body: str, topics: Iterable[Topic] = ()) -> Row:
        """Append the outcome of a reservation."""
        known = tuple(topics)  # the transaction may be tried again
        return self._store.write(
            lambda chain: self._transaction(chain).settle(kind, reservation.entry, reservation.receipt, body, known)
        )
