"""Ledgers: the durable record of what was asked, what it cost, and what was answered."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from discreet.errors import InvalidArgument
from discreet.ledger.account import Account
from discreet.ledger.declaration import Declaration
from discreet.ledger.location import locate
from discreet.ledger.verification import Verification, verify
from discreet.privacy import ADD_REMOVE, Adjacency, Budget

if TYPE_CHECKING:
    from discreet.ledger.store import Store

_LONGEST = 3600
"""Nobody waits longer than an hour for a lock."""


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
        from discreet.ledger.database import missing
        from discreet.ledger.store import Store, create_ledger

        if not 0 < patience <= _LONGEST:
            raise InvalidArgument(f"patience must be above 0 and at most {_LONGEST} seconds, not {patience}")
        store = Store(locate(url), patience)
        with ExitStack() as undo:
            undo.callback(store.close)
            if not store.exists():
                if not create:
                    raise missing(store.location)
                create_ledger(store, patience)
            store.read(lambda chain: chain.head)  # checks the format
            undo.pop_all()
        return cls(store)

    def account(
        self,
        name: str,
        budget: Budget,
        analysts: Mapping[str, Budget] | None = None,
        adjacency: Adjacency = ADD_REMOVE,
        units: Mapping[str, str] | None = None,
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

        Raises:
            InvalidArgument: a name can't be stored, or the adjacency or a unit differs from that of the losses so far.
            LedgerError: the ledger can't be read, or the declaration can't be recorded.
        """
        declaration = Declaration(
            budget=budget, analysts=dict(analysts or {}), adjacency=adjacency, units=dict(units or {})
        )
        return Account(self._store, name, declaration)

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
        """Close."""
        self.close()
