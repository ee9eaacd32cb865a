"""One moment: all tables of one admission that lie in one database are read as they stood together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.tables.sources.postgres_transaction import Transaction

_SHARED: ContextVar[list[Transaction] | None] = ContextVar("transactions that see one moment", default=None)


@contextmanager
def at_one_moment() -> Iterator[None]:
    """Within it, each database that is read is one of one moment; one within another is the same moment."""
    if _SHARED.get() is not None:
        yield
        return
    opened: list[Transaction] = []
    token = _SHARED.set(opened)
    try:
        yield
    finally:
        _SHARED.reset(token)
        for each in opened:
            each.close()


def transaction_on(location: str) -> tuple[Transaction, bool]:
    """A transaction on a database, and whether its caller has to close it: `at_one_moment` closes those it shares.

    Raises:
        ExtraMissing: the driver isn't installed.
        SourceUnsupported: there is no connection to be had.
    """
    from discreet.tables.sources.postgres_transaction import Transaction

    opened = _SHARED.get()
    if opened is None:
        return Transaction(location), True
    for each in opened:
        if each.location == location:
            return each, False
    opened.append(Transaction(location, opened))
    return opened[-1], False
