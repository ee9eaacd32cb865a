"""Ledgers and their accounts: the durable record of what was asked, what it cost, and what was answered."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from discreet.accounting import Charge, Remaining, charge_of
from discreet.errors import InvalidArgument
from discreet.ledger.attempts import Attempt, Tried, check_use, tried_under
from discreet.ledger.declaration import Declaration, checked_name
from discreet.ledger.entry_contents import outcome_body
from discreet.ledger.failures import Failures
from discreet.ledger.history import Entry, Vouched, history, own_history, vouched
from discreet.ledger.look_through import LookThrough
from discreet.ledger.marks import MarkKey
from discreet.ledger.named_questions import NamedQuestions
from discreet.ledger.requests import Requests
from discreet.ledger.row import Kind, Row, Stored, number_of, to_body
from discreet.ledger.shares import Affordable, Standing
from discreet.ledger.signing import Signing
from discreet.ledger.tokens import Tokens
from discreet.ledger.transaction import AccountTransaction, Admitted, Debit, Offered, Reservation
from discreet.ledger.verification import Verification, verify
from discreet.privacy import ADD_REMOVE, FAILURES, Adjacency, Budget, Event
from discreet.results import said_once

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain
    from discreet.ledger.changes import Change, Tables
    from discreet.ledger.database import Topic
    from discreet.ledger.store import Store


_T = TypeVar("_T")

_LONGEST = 3600
"""The longest wait for a lock: an hour."""

_MOST_KEPT = 1 << 14
"""How many characters of the answers last read about a topic are kept, since they are often read again."""


class Ledger:
    """An append-only, hash-chained record of accounts, shared by as many processes as like; `Ledger.open` opens it.

    Guarantee: a debit is on the disk before a question runs, and an answer before it is shown; of all processes that
    share the ledger, one at a time decides whether a question is admitted. A ledger may be used from several threads,
    and goes on working in a forked child.

    Args:
        store: the database that holds it.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.privacy import LaplaceEvent
        >>> with Ledger.open("census.ledger", create=True) as ledger:
        ...     account = ledger.account("census", Budget(epsilon=1))
        ...     version = account.admit("a digest of the tables", after=0).version
        ...     tenth = LaplaceEvent(scale=Fraction(10), l1=1)
        ...     paid = account.reserve(question="7f3a", text="SELECT 1", version=version, event=tenth)
        ...     kept = account.commit(paid, certificate={}, answer={"n": 17})
        ...     print(account.stored("7f3a", version).answer, account.remaining(), ledger.verify())
        {'n': 17} ε = 0.9 5 entries; all hold
    """

    def __init__(self, store: Store) -> None:
        """Keep the store; `open` checks it."""
        self._store = store

    @classmethod
    def open(cls, url: str | os.PathLike[str], *, create: bool, patience: float = 60.0) -> Self:
        """Open a ledger.

        Args:
            url: a path (SQLite), or a URL as SQLAlchemy reads it; `sqlite:///path?mode=ro` only reads. SQLite and
                PostgreSQL are tried by our tests. A network file system's locks are seldom to be trusted: there, use
                a server.
            create: make a new one if there is none. Leave it off wherever one should be there: a new ledger has
                forgotten what was spent.
            patience: for how many seconds to wait while other processes write; above 0, at most 3600.

        Raises:
            LedgerMissing: there is none, and `create` is off.
            LedgerVersion: it has another format.
            LedgerUnavailable: it is no ledger, or can't be opened, made or reached.
            LedgerCorrupt: it is visibly damaged. Less visible damage is found by `verify`.
            InvalidArgument: the URL can't be read, or means a database in memory; or `patience` is out of range.
        """
        import discreet.exact.ball  # noqa: F401 — charges need it: a fork must not happen while a thread imports it
        from discreet.ledger.location import locate
        from discreet.ledger.store import open_store

        if not 0 < patience <= _LONGEST:
            raise InvalidArgument(f"patience must be above 0 and at most {_LONGEST} seconds, not {patience}")
        return cls(open_store(locate(url), patience, create=create))

    def account(  # noqa: PLR0913 — what is declared of it, each by name
        self,
        name: str,
        budget: Budget,
        analysts: Mapping[str, Budget] | None = None,
        *,
        adjacency: Adjacency = ADD_REMOVE,
        units: Mapping[str, str] | None = None,
        failures: int = FAILURES,
        marks: Path | None = None,
        tables: Tables | None = None,
        weaken: Collection[str] = (),
    ) -> Account:
        """The account of a dataset, under this declaration from now on.

        A declaration that differs from the last one is recorded; it binds all processes at once. What was spent
        stays spent, whatever is declared.

        Args:
            name: of the account: 1 to 255 printable characters.
            budget: for all analysts together.
            analysts: smaller budgets of single analysts, by name. If there are any, only those analysts may ask.
            adjacency: which tables are neighbours. It can't be changed once something was spent.
            units: of the private tables, in words, by their names in lower case. Neither can they.
            failures: how many questions may fail after they were paid for, before the custodian looks.
            marks: the file with the key by which admitted tables are known again; beside a ledger that is a file, if
                left out.
            tables: what is declared of the tables, as JSON-ready data; None where nobody says. A change is recorded.
            weaken: changes that may weaken what was promised once something was spent, by name: "budget", "failures",
                "publish people", "narrow people.income", "keys people.town".

        Raises:
            DeclarationWeakened: something weakens what was promised, and isn't named.
            InvalidArgument: a name can't be stored, or the adjacency or a unit differs from that of the losses so far.
            LedgerError: the ledger can't be read, or the declaration can't be recorded.
        """
        from discreet.ledger.location import marks_path

        declaration = Declaration(
            budget=budget,
            analysts=dict(analysts or {}),
            adjacency=adjacency,
            units=dict(units or {}),
            failures=failures,
        )
        place = marks or marks_path(self._store.location)
        return Account(self._store, name, declaration, marks=place, tables=tables, weaken=weaken)

    def verify(self, *, kept: str | None = None) -> Verification:
        """Check every entry, and every decision in it; see `Verification`.

        Args:
            kept: the head that an earlier verification gave, if it was kept elsewhere: it must be in the chain still.

        Raises:
            LedgerError: the ledger can't be read at all.
        """
        return verify(self._store, kept)

    def close(self) -> None:
        """Let go of the ledger: of its connection to a server. A file is open only during a transaction."""
        self._store.close()

    def __enter__(self) -> Self:
        """Use it in a `with` statement, to close it at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Account:
    """The account of one dataset in a ledger; `Ledger.account` makes it.

    Questions are numbered by their reservations alone. Outcomes don't count: if they did, an analyst who asks many at
    a time could tell from the numbers when another question was done, and so how long it ran, which depends on the
    data.

    Args:
        store: of the ledger.
        name: of the account.
        declaration: what its owner allows. It is recorded unless it is the one in force; what was spent stays spent.
        marks: the file with the key by which admitted tables are known again; None where there is no place for it.
        tables: what is declared of the tables; None where nobody says.
        weaken: the changes that may weaken what was promised.

    Attributes:
        changes: what of the declarations this has put in force.
    """

    def __init__(  # noqa: PLR0913 — what an account is, each by name
        self,
        store: Store,
        name: str,
        declaration: Declaration,
        *,
        marks: Path | None,
        tables: Tables | None,
        weaken: Collection[str],
    ) -> None:
        self.name = checked_name(name, "the account's name")
        self._store = store
        self._adjacency = declaration.adjacency
        self._units = declaration.units
        self._marks = MarkKey(marks)
        self._read: Mapping[int, tuple[Row, Stored]] = {}
        self._attempt: Attempt | None = None
        self._looked = LookThrough(store)
        self.changes: Sequence[Change] = ()
        said = None if store.is_read_only else tables  # of which nothing can be asked that isn't stored
        if not store.read(lambda chain: self._transaction(chain).is_declared(declaration, said)):
            self.changes = store.write(lambda chain: self._transaction(chain).declare(declaration, said, weaken))

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
        ledger keeps an HMAC, which differs between versions that hold the same, under a key that isn't in it.

        Args:
            contents: a digest of what the version holds. Private.
            snapshot: the name of the folder that holds it; empty if all tables are in memory.
            after: the newest version of the group that this admission knows of, as `versions` gave it before sources
                were read.
            group: whose tables these are; empty for those without one.

        Raises:
            AdmissionConflict: another process has admitted a version of the group since.
            InvalidArgument: there is no place for the key by which it would be known again.
            LedgerError: the ledger, or that key, can't be written.
        """
        (admitted,) = self.admit_together([Offered(contents, snapshot=snapshot, after=after, group=group)])
        return admitted

    def admit_together(self, offered: Sequence[Offered]) -> list[Admitted]:
        """Put new versions of several groups in force: all of them, or none.

        Raises:
            AdmissionConflict, LedgerError: as for `admit`.
        """
        key = self._marks.made()
        return self._store.write(lambda chain: [self._transaction(chain).put_in_force(each, key) for each in offered])

    def holds(self, admitted: Admitted, contents: str) -> bool:
        """Whether a version holds what this digest is of.

        Raises:
            SnapshotMissing: the key isn't at hand by which that is known.
            LedgerError: the ledger can't be read.
        """
        key = self._marks.read()
        return self._store.read(lambda chain: self._transaction(chain).holds(admitted, contents, key))

    def stored(self, question: str, version: int) -> Stored | None:
        """The answer released for the same question on the same data version; the first, if there are several.

        Args:
            question: its digest.
            version: of the data.

        Raises:
            LedgerError: the ledger can't be read.
        """

        def look(chain: Chain) -> list[Stored]:
            row = self._transaction(chain).first(Kind.COMMIT, digest=question, version=version)
            return [] if row is None else chain.stored([row])

        return next(iter(self._store.read(look)), None)

    def answered(self, question: str) -> bool:
        """Whether a question was answered, of any data version.

        Args:
            question: its digest.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return self._store.read(lambda chain: self._transaction(chain).last(Kind.COMMIT, digest=question)) is not None

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

        def look(chain: Chain) -> tuple[list[Stored], dict[int, tuple[Row, Stored]]]:
            own = self._transaction(chain).first(Kind.COMMIT, digest=asked, version=version) if asked else None
            if own is not None:
                return chain.stored([own]), {}
            rows = chain.about(self.name, version, topic, most, checked)
            new = [row for row in rows if row is not checked.get(row.seq)]
            anew = dict(zip([row.seq for row in new], chain.stored(new), strict=True))
            return [], {row.seq: (row, anew[row.seq] if row.seq in anew else read[row.seq][1]) for row in rows}

        own, found = self._store.read(look)
        if own:
            return own
        self._read = {seq: pair for seq, pair in found.items() if len(pair[0].body) <= _MOST_KEPT}
        return [stored for _, stored in found.values()]

    def reserve(
        self, *, question: str, text: str, version: int, event: Event, analyst: str | None = None
    ) -> Reservation:
        """Pay for a question. Nothing of it is ever paid back.

        Guarantee: when this returns, the debit is on the disk, and with it neither the account's budget nor the
        analyst's share is overspent, nor can more questions fail than may, whatever other processes did meanwhile. If
        it raises, nothing may be answered; and nothing was charged, unless disk or connection failed during the commit
        itself.

        Args:
            question: digest of the question, equal for questions that may share an answer.
            text: the question as it was asked, for the history.
            version: of the data it is asked of.
            event: what will be done to the data; it decides the cost.
            analyst: who asks.

        Raises:
            BudgetExhausted: the budget, or the analyst's share of it, can't pay; or the analyst has no share.
            LossNotAccepted: the budget can't hold a loss of this kind, whatever its size.
            TooManyFailures: as many questions have failed, or may fail yet, as are allowed before the custodian looks.
            LedgerError: the ledger can't be written.
            InvalidArgument: an analyst or digest that can't be stored, an unknown data version, or an event without a
                loss.
        """
        debit = Debit.of(event, question=question, text=text, version=version, analyst=analyst, attempt=self._attempt)
        row = self._store.write(self._ruled(lambda account, declared: account.reserve(declared, debit)))
        return Reservation(
            entry=number_of(row),
            question=question,
            text=text,
            version=version,
            analyst=analyst,
            cost=debit.cost,
            receipt=row.hash,
        )

    def check(self, event: Event, analyst: str | None = None) -> None:
        """Refuse what couldn't be paid for now. Nothing is paid, so others may be quicker.

        Args:
            event: what would be done to the data.
            analyst: who would ask.

        Raises:
            BudgetExhausted, LossNotAccepted, TooManyFailures: as for `reserve`.
        """
        cost = Charge.zero() + charge_of(event)

        def look(account: AccountTransaction, declared: Declaration) -> None:
            account.failures().check(declared.failures)
            account.admit(declared, cost, analyst, self._token)

        self._store.read(self._ruled(look))

    def failures(self) -> Failures:
        """The questions that failed since the custodian last looked into them, and those without an outcome yet.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return self._store.read(lambda chain: self._transaction(chain).failures())

    def check_failures(self) -> None:
        """Refuse to go on where as many questions have failed, or may fail yet, as are allowed.

        Raises:
            TooManyFailures: so it is.
            LedgerError: the ledger can't be read.
        """
        self._store.read(self._ruled(lambda account, declared: account.failures().check(declared.failures)))

    def acknowledge_failures(self) -> Failures:
        """Note that the custodian has looked at what failed: from now on it is counted anew.

        Guarantee: of what is counted no more, nothing can fail any more. A question without an outcome whose server
        said how long it takes counts on until then. Any other one is failed for good: if it still runs, it gets no
        answer.

        Returns:
            What was looked at.

        Raises:
            InvalidArgument: nothing failed.
            LedgerError: the ledger can't be written.
        """
        return self._store.write(lambda chain: self._transaction(chain).acknowledge_failures())

    def give_up(self, attempt: str) -> int:
        """Record of what an attempt has paid for, and what has no outcome, that it got no answer; how many those are.

        Args:
            attempt: its id. Whatever carried it out must be gone, or may go on in vain.

        Raises:
            LedgerError: the ledger can't be written. The debits stand without it.
        """
        return self._store.write(lambda chain: self._transaction(chain).give_up(attempt))

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
        """The outcome of the attempt under an idempotency key; None if none got as far as a debit.

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

        What the debit says of the question isn't said again, and parts of the answer of more than 64 Ki characters lie
        outside of the chain, which holds their hashes.

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
        body, large = outcome_body(said_once(certificate, reservation.text), answer)
        known = tuple(topics)  # the transaction may be tried again
        entry, receipt = reservation.entry, reservation.receipt

        def append(chain: Chain) -> Stored:
            chain.keep(large)
            row = self._transaction(chain).settle(Kind.COMMIT, entry, receipt, body, known)
            return chain.stored([row])[0]

        return self._store.write(append)

    def fail(self, reservation: Reservation) -> None:
        """Record that a question got no answer. What was paid for it stays paid.

        Raises:
            InvalidArgument: the reservation isn't open in this account.
            LedgerError: the ledger can't be written. The debit stands without it.
        """
        entry, receipt = reservation.entry, reservation.receipt
        self._store.write(lambda chain: self._transaction(chain).settle(Kind.FAIL, entry, receipt, to_body({})))

    def spent(self, analyst: str | None = None) -> Charge:
        """The spending so far, by everyone or by one analyst: answered, failed and unfinished questions alike."""
        return self._store.read(lambda chain: self._transaction(chain).spent(analyst))

    def remaining(self, analyst: str | None = None) -> Remaining:
        """The most that a next question may cost, for anyone or for one analyst, whom the account's budget binds too.

        Raises:
            BudgetExhausted: analysts have shares, and this one has none.
        """
        return self._store.read(
            self._ruled(lambda account, declared: account.remaining(declared, analyst, self._token))
        )

    def standing(self, analyst: str, token: str = "") -> Standing:
        """An analyst's standing: what they have spent, what they have left, and when their share renews.

        Args:
            analyst: who.
            token: the digest of the token with which they ask; empty without one.

        Raises:
            BudgetExhausted: analysts have shares, and this one has none.
        """
        return self._store.read(self._ruled(lambda account, declared: account.standing(declared, analyst, token)))

    def affordable(self, cost: Charge, analyst: str | None = None, token: str = "") -> Affordable:
        """How many more questions of this cost can be paid for, in all or by one analyst."""
        return self._store.read(
            self._ruled(lambda account, declared: account.affordable(declared, cost, analyst, token))
        )

    @property
    def tokens(self) -> Tokens:
        """The tokens that let people in through a server."""
        return Tokens(self._store, self.name)

    @property
    def named(self) -> NamedQuestions:
        """What analysts call questions of theirs."""
        return NamedQuestions(self._store, self.name)

    @property
    def requests(self) -> Requests:
        """Requests for approval, open and closed."""
        return Requests(self._store, self._transaction)

    def signing(self, path: Path | None) -> Signing:
        """The account's signing key and its signatures.

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

    def _ruled(self, decide: Callable[[AccountTransaction, Declaration], _T]) -> Callable[[Chain], _T]:
        """A decision within a transaction, by the declaration that is in force there."""

        def decided(chain: Chain) -> _T:
            transaction = self._transaction(chain)
            return decide(transaction, transaction.in_force(self._adjacency, self._units))

        return decided
