"""Backup and restore: a ledger's copy, and how it comes back without forgetting what was spent since it was made.

An old copy is a refund. So a restore takes heads that a witness kept: signed, each with what the account had spent.
What the copy lacks of the most that any of them says is charged to it, as one debit that has failed; where that can't
be done, nothing is restored. Where the copy doesn't hold the last of these heads, all tokens are revoked, too: one that
was revoked since the copy was made would be valid again. So are all requests denied that weren't used or denied:
an approval that was used since the copy was made, or taken back, would be good again. What was spent after the last
head that the witness has is still forgotten: have heads sent often. Of analysts' shares it is known what the
copy knows.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accounting import Charge
from discreet.errors import BudgetError, InvalidArgument, LedgerCorrupt, LedgerUnavailable
from discreet.hints import Hint
from discreet.ledger.entry_contents import debit_content
from discreet.ledger.large_answer_stores import LargeFiles
from discreet.ledger.ledger import Ledger
from discreet.ledger.location import File, locate
from discreet.ledger.row import Kind, number_of, to_body, version_of
from discreet.ledger.signing import SigningKey, key_of
from discreet.ledger.store import Store
from discreet.ledger.transaction import RESTORED, AccountTransaction, Debit
from discreet.privacy import ComposedEvent
from discreet.private_files import link
from discreet.results import PublicKey, heads_in, verify_head

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain
    from discreet.ledger.declaration import Declaration
    from discreet.ledger.verification import Verification

_PATIENCE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The outcome of a restore.

    Args:
        latest: when the last of the heads was signed: what was spent after that is forgotten.
        is_whole: whether the copy has the entry that this head names, so that it lacks nothing up to there.
        charged: what was charged to each account, because the copy lacked it.
        revoked: how many tokens were revoked.
        denied: how many requests were denied.
    """

    latest: str
    is_whole: bool
    charged: Mapping[str, Charge]
    revoked: int
    denied: int


def back_up(ledger: str, copy: Path, *, key: Path | None = None) -> Verification:
    """Copy a ledger that is a file, as it is at one moment, while others go on using it; large answers lie beside it.

    Args:
        ledger: its path or URL.
        copy: a new file, which its owner alone can read.
        key: the file with the signing key, to be copied beside the copy; None to leave it out.

    Returns:
        What a verification of the copy found.

    Raises:
        InvalidArgument: the ledger is on a server, or there is a file in the copy's place.
        LedgerError: the ledger can't be read, or the copy can't be written.
    """
    place = locate(ledger)
    if not isinstance(place, File):
        raise InvalidArgument(
            "a ledger on a database server is copied with the server's own tools",
            hint="use pg_dump, or what the server has",
        )
    Ledger.open(ledger, create=False).close()  # says what is wrong, if it is no ledger
    with _draft(copy) as draft:
        _copied(place.path, draft)
        drafted = File(draft, place=copy.absolute())
        LargeFiles(place.large).copy_to(LargeFiles(drafted.large))  # after it, so that all that it names are there
        with Ledger(Store(drafted, _PATIENCE)) as made:
            found = made.verify()
        _put(draft, copy)
    if key is not None:
        SigningKey.copied(key, key_beside(copy))
    return found


def key_beside(copy: Path) -> Path:
    """The path of the signing key that was copied with a ledger."""
    return copy.with_name(f"{copy.name}.key")


def restore(
    ledger: str, copy: Path | None, heads: str, *, declared: Mapping[str, Declaration], key: PublicKey | None = None
) -> Restored:
    """Put a copy in a ledger's place, with what was spent since it was made charged to it.

    Guarantee: when this returns, each account of the ledger has spent at least what any of the heads says. If it
    raises, there is no ledger where there was none; and one that was there has at most been charged.

    Args:
        ledger: the path or URL of its place, where no ledger is.
        copy: the file; None if the ledger is in its place already, because a server's own tools put it there.
        heads: what the witness kept: the JSON of a head, or one on each line.
        declared: declarations in force from now on, by account; others are those of the copy.
        key: of the signatures, where they were made with a later key than the copy names.

    Raises:
        InvalidArgument: a head isn't of this ledger, isn't signed by its key, or there is none of an account; or what
            the copy lacks can't be charged to it; or there is a ledger in its place.
        LedgerCorrupt: the copy doesn't verify.
        LedgerError: it can't be read or written.
    """
    place = locate(ledger)
    if copy is None:
        store = Store(place, _PATIENCE)
        try:
            return _charged(store, heads, declared, key)
        finally:
            store.close()
    if not isinstance(place, File):
        raise InvalidArgument(
            "a ledger on a database server is restored with the server's own tools",
            hint="use them, then restore without a file",
        )
    if place.path.exists():
        raise InvalidArgument(
            f"there is a ledger at {place}, and it may know more than the copy", hint="move it away first"
        )
    with _draft(place.path) as draft:
        _copied(copy, draft)
        drafted = File(draft, place=place.path)
        LargeFiles(File(copy.absolute()).large).copy_to(LargeFiles(drafted.large))
        restored = _charged(Store(drafted, _PATIENCE), heads, declared, key)
        _put(draft, place.path)
    return restored


def _charged(store: Store, heads: str, declared: Mapping[str, Declaration], key: PublicKey | None) -> Restored:
    """Bring a ledger up to the heads."""
    if not store.exists():
        raise InvalidArgument(f"there is no ledger at {store.location}")
    found = Ledger(store).verify()
    if not found.holds:
        raise LedgerCorrupt(f"the copy doesn't hold: {found.problems[0]}", hint="take another copy")
    return store.write(lambda chain: _brought_up(chain, heads, declared, key))


def _brought_up(chain: Chain, heads: str, declared: Mapping[str, Declaration], key: PublicKey | None) -> Restored:
    """Charge each account what it lacks; where the copy is behind, revoke tokens and deny requests."""
    accounts = chain.accounts()
    keys = [key_of(row) for name in accounts for row in chain.every(Kind.KEY, name)]
    signed = _signed(heads, [*keys, *([] if key is None else [key])], chain.head.commitment)
    for name, declaration in declared.items():
        AccountTransaction(chain, name).declare(declaration, named=("budget", "failures"))
    by_account: dict[str, list[Mapping[str, Any]]] = {}
    for head in signed:
        by_account.setdefault(head["account"], []).append(head)
    asked = [name for name in accounts if chain.last(Kind.RESERVE, account=name) or name in declared]
    for name in asked:
        if name not in by_account:
            raise InvalidArgument(
                f"no head is given for account {name!r}, which is in the ledger", hint="add heads from its witness"
            )
    is_whole = all(_has(chain, own[-1]) for own in by_account.values())
    charged = {name: _charge(chain, name, own) for name, own in by_account.items()}
    behind = [] if is_whole else chain.accounts()  # all: of one that no head is of, nobody knows what is missing
    revoked = sum(_revoke_all(chain, name) for name in behind)
    denied = sum(_deny_all(AccountTransaction(chain, name), "restored from an older copy") for name in behind)
    latest = min(own[-1]["at"] for own in by_account.values())
    return Restored(latest=latest, is_whole=is_whole, charged=charged, revoked=revoked, denied=denied)


def _signed(heads: str, keys: Sequence[PublicKey], ledger: str) -> list[Mapping[str, Any]]:
    """The heads, if each is signed, and of this ledger. A line that was broken off is no head.

    Raises:
        InvalidArgument: one isn't, or there are none.
    """
    found = []
    for head in heads_in(heads):
        checks = [verify_head(head, key) for key in keys]
        good = next((check.content for check in checks if check.holds), None)
        if good is None:
            raise InvalidArgument(
                "a head isn't signed with a key that this ledger names",
                hint=Hint(
                    "key=…, if it was signed with a newer key than the copy names",
                    cli="--key FILE, if it was signed with a newer key than the copy names",
                ),
            )
        if good["ledger"] != ledger:
            raise InvalidArgument("a head is of another ledger", hint="take heads from this ledger's witness")
        found.append(good)
    if not found:
        raise InvalidArgument("no head is given", hint="give the file that a witness kept, or its last line")
    return found


def _has(chain: Chain, head: Mapping[str, Any]) -> bool:
    """Whether the entry that a head names is in the chain."""
    row = chain.at(head["entries"])
    return row is not None and row.hash == head["head"]


def _charge(chain: Chain, name: str, heads: Sequence[Mapping[str, Any]]) -> Charge:
    """Charge an account what it lacks of the most that was spent by any head; spending only grows."""
    transaction = AccountTransaction(chain, name)
    cost = _lacking(transaction.spent(), reduce(_greatest, (_charge_from(head["spent"]) for head in heads)))
    if cost == Charge.zero():
        return cost
    declaration, version = transaction.declared(), transaction.last(Kind.DATA)
    if declaration is None or version is None:
        raise InvalidArgument(
            f"this copy is older than the first question to account {name!r}, so nothing can be charged to it",
            hint="restore a newer copy",
        )
    last = heads[-1]
    debit = Debit(
        cost=cost,
        digest=f"{RESTORED}{last['head']}",
        version=version_of(version),
        analyst=None,
        content=debit_content("what was spent between this copy and the witnessed head", ComposedEvent(())),
    )
    try:
        alone = replace(declaration, analysts={})  # it is nobody's in particular
        row = transaction.reserve(alone, debit, is_question=False)
    except BudgetError as error:
        raise InvalidArgument(
            f"what was spent since then can't be charged to account {name!r}: {error.message}",
            hint="declare the budget that was in force when it was spent",
        ) from None
    transaction.settle(Kind.FAIL, number_of(row), row.hash, to_body({}))
    return cost


def _revoke_all(chain: Chain, name: str) -> int:
    """Revoke the tokens of an account that weren't; how many those were."""
    revoked = {row.digest for row in chain.every(Kind.REVOKE, name)}
    held = [row for row in chain.every(Kind.TOKEN, name) if row.digest not in revoked]
    for row in held:
        chain.append(Kind.REVOKE, to_body({}), account=name, analyst=row.analyst, digest=row.digest)
    return len(held)


def _deny_all(transaction: AccountTransaction, reason: str) -> int:
    """Deny, in nobody's name, the requests that weren't used or denied, ended ones too; how many those were."""
    chain, account = transaction.chain, transaction.account
    over = {row.digest for kind in (Kind.USE, Kind.DENIAL) for row in chain.every(kind, account)}
    held = [row for row in chain.every(Kind.REQUEST, account) if row.digest not in over]
    body = to_body({"by": "", "token": "", "reason": reason})
    for row in held:
        chain.append(Kind.DENIAL, body, account=account, analyst=row.analyst, digest=row.digest)
    return len(held)


def _charge_from(spent: Mapping[str, Any]) -> Charge:
    """The spending that a head states; the head was signed, so it is as it was written."""
    epsilon, rho = (None if spent[name] is None else Fraction(spent[name]) for name in ("epsilon", "rho"))
    return Charge(epsilon=epsilon, rho=rho, delta=Fraction(spent["delta"]))


def _greatest(one: Charge, other: Charge) -> Charge:
    """The greater of each amount."""
    epsilon, rho = (
        None if first is None or second is None else max(first, second)
        for first, second in ((one.epsilon, other.epsilon), (one.rho, other.rho))
    )
    return Charge(epsilon=epsilon, rho=rho, delta=max(one.delta, other.delta))


def _lacking(spent: Charge, reached: Charge) -> Charge:
    """The difference up to an amount."""
    epsilon, rho = (
        Fraction(0) if has is None else None if wanted is None else max(Fraction(0), wanted - has)
        for has, wanted in ((spent.epsilon, reached.epsilon), (spent.rho, reached.rho))
    )
    return Charge(epsilon=epsilon, rho=rho, delta=max(Fraction(0), reached.delta - spent.delta))


@contextmanager
def _draft(place: Path) -> Iterator[Path]:
    """A new file beside a place, which its owner alone can read; gone in the end."""
    handle, name = _named(place, lambda: tempfile.mkstemp(prefix=f".{place.name}.", dir=place.absolute().parent))
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _copied(source: Path, draft: Path) -> None:
    """Copy a ledger's file, as it is at one moment.

    Raises:
        LedgerUnavailable: it can't be read or written.
    """
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE)) as one,
            closing(sqlite3.connect(draft)) as other,
        ):
            one.backup(other)
    except sqlite3.Error:
        raise LedgerUnavailable(f"the ledger {source} can't be copied", hint="check the path and the disk") from None


def _put(draft: Path, place: Path) -> None:
    """Put a finished file in its place, on the disk.

    Raises:
        InvalidArgument: there is one.
        LedgerUnavailable: it can't be written.
    """

    def put() -> None:
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        link(draft, place)

    if place.exists():
        raise InvalidArgument(f"there is a file at {place}", hint="name another file, or move this one away")
    _named(place, put)


def _named(place: Path, work: Callable[[], Any]) -> Any:  # noqa: ANN401 — whatever it gives
    """Do a piece of work, and name the file in any error of the system.

    Raises:
        LedgerUnavailable: there was one.
    """
    try:
        return work()
    except OSError as error:
        raise LedgerUnavailable(f"{place} can't be read or written: {os.strerror(error.errno or 0)}") from None
