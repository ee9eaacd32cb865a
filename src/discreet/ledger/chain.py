"""The chain of entries, as seen and extended within one transaction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import Connection, Select, bindparam, insert, literal_column, select, update

from discreet.errors import LedgerCorrupt, LedgerVersion
from discreet.hints import Hint
from discreet.ledger.database import ENTRY, LEDGER, Topic, note, places
from discreet.ledger.large_answers import large_in
from discreet.ledger.row import (
    BEGINNING,
    FORMAT,
    FORMATS,
    GENESIS,
    Kind,
    Row,
    Stored,
    number_of,
    text_of,
    to_body,
    version_of,
)
from discreet.results import said_in_full

if TYPE_CHECKING:
    from discreet.ledger.large_answer_stores import LargeFiles, LargeRows
    from discreet.ledger.large_answers import Large

PAGE = 500
"""How many entries are read at once, so that a long ledger is never in memory as a whole."""

_RESTORE = "restore the ledger from a copy"

_BYTES = 32
_FORGOTTEN = "forgotten "
_SECRET = re.compile(f"(?:{_FORGOTTEN})?[0-9a-f]{{{2 * _BYTES}}}")


@dataclass(frozen=True, slots=True)
class Head:
    """The one row about the ledger itself.

    Args:
        format: of the ledger.
        secret: what the ledger's name is a hash of: random, in hexadecimal. Earlier versions of discreet made marks of
            what tables hold by it; once none in force is such a mark it is forgotten, and its hash stands here.
        seq: of the last entry.
        hash: of the last entry.
    """

    format: int
    secret: str
    seq: int
    hash: str

    @property
    def commitment(self) -> str:
        """The ledger's name, which distinguishes it from others; the chain begins with it."""
        return self.secret.removeprefix(_FORGOTTEN) if self.is_forgotten else commitment(self.secret)

    @property
    def is_forgotten(self) -> bool:
        """Whether the secret was forgotten."""
        return self.secret.startswith(_FORGOTTEN)


Walked: TypeAlias = dict[str, tuple[tuple[int, str], tuple[int, str]]]
"""For each account: the place and hash of its last debit, and of the last entry up to which none follows."""

_NAMES = ENTRY.columns.keys()

# Statements are made once: making one takes longer than SQLite takes to carry it out.
_HEAD: Select[Any] = select(literal_column("*")).select_from(LEDGER)  # of other formats it may have other columns
_LOCKED = _HEAD.with_for_update()
_ADVANCE = update(LEDGER)
_APPEND = insert(ENTRY)
_AT = select(ENTRY).where(ENTRY.c.seq == bindparam("seq"))
_PLACED = select(ENTRY).where(ENTRY.c.seq.in_(bindparam("places", expanding=True)))
_PAGE = select(ENTRY).where(ENTRY.c.seq > bindparam("after")).order_by(ENTRY.c.seq).limit(PAGE)


@cache
def _having(*columns: str) -> Select[Any]:
    """The entries of a kind with given values in some columns."""
    return select(ENTRY).where(*(ENTRY.c[name] == bindparam(name) for name in ("kind", *columns)))


@cache
def _in_order(*columns: str) -> Select[Any]:
    """The entries of a kind with given values in some columns, in their order."""
    return _having(*columns).order_by(ENTRY.c.seq)


@cache
def _looked_up(columns: tuple[str, ...], *, newest: bool) -> Select[Any]:
    """The first or last entry of a kind with given values in some columns."""
    return _having(*columns).order_by(ENTRY.c.seq.desc() if newest else ENTRY.c.seq).limit(1)


_DEBITS = _having("account").where(ENTRY.c.number.in_(bindparam("numbers", expanding=True)))


class Chain:
    """The chain, within one transaction.

    Every entry that a decision rests on is checked against its own hash when it is read, and the head against the
    last entry; the chain as a whole is checked by `verify`.

    Args:
        connection: inside a transaction.
        lock: whether to hold off other writers until its end, where the database hasn't done so already.
        large: where large parts of answers lie.
        walked: how far it was found whole before, as `check_behind` notes it.
    """

    def __init__(
        self, connection: Connection, *, lock: bool, large: LargeFiles | LargeRows, walked: Walked | None = None
    ) -> None:
        self._connection, self._large = connection, large
        self._time = ""
        self._walked: Walked = {} if walked is None else walked
        self.head = self._begun = self._read_head(lock=lock)

    def append(self, kind: Kind, body: str, **columns: object) -> Row:
        """Add an entry. It is there once the transaction is committed.

        Raises:
            LedgerCorrupt: the head doesn't fit the last entry.
        """
        at = self.time()
        row = Row.sealed(seq=self.head.seq + 1, at=at, kind=str(kind), body=body, previous=self.head.hash, **columns)
        self._connection.execute(_APPEND, row.columns())  # seq is unique: of two writers one fails here
        self._connection.execute(_ADVANCE, {"format": FORMAT, "seq": row.seq, "hash": row.hash})
        self.head = Head(FORMAT, self.head.secret, row.seq, row.hash)
        return row

    def forget_secret(self) -> None:
        """Keep the hash of the secret alone: a copy of the ledger made from now on can't be used to test marks."""
        forgotten = _FORGOTTEN + self.head.commitment
        self._connection.execute(_ADVANCE, {"secret": forgotten})
        self.head = replace(self.head, secret=forgotten)

    def time(self) -> str:
        """The time by which all is decided: never before that of the last entry, so a clock set back renews nothing.

        One transaction has one: what it writes is dated by the time that it decided by.

        Raises:
            LedgerCorrupt: the last entry isn't whole, or isn't the one the head names.
        """
        if not self._time:
            last = self.at(self.head.seq)
            if last is None or last.hash != self.head.hash:
                raise _damaged(self.head.seq)
            self._time = max(now(), last.at)
        return self._time

    def last(self, kind: Kind, **equal: object) -> Row | None:
        """The last entry of a kind with these values in its columns."""
        return self._one(_looked_up(tuple(equal), newest=True), kind=str(kind), **equal)

    def first(self, kind: Kind, **equal: object) -> Row | None:
        """The first entry of a kind with these values in its columns."""
        return self._one(_looked_up(tuple(equal), newest=False), kind=str(kind), **equal)

    def at(self, seq: int) -> Row | None:
        """The entry at a place; None if there is none."""
        return self._one(_AT, seq=seq)

    def check_behind(self, row: Row | None, account: str) -> None:
        """Refuse to go on unless all that follows an entry is there, whole and in its place.

        An entry is found by what is in its columns. One of which a column is damaged, or that is gone, isn't found, and
        the one before it would be taken for the last. What this has seen of the chain it doesn't look at again.

        Args:
            row: the last one that was found; None for the beginning of the ledger.
            account: whose it is.

        Raises:
            LedgerCorrupt: an entry isn't what was written, or one is missing.
        """
        found = (0, GENESIS) if row is None else (row.seq, row.hash)
        before, (seq, last) = self._walked.get(account, (found, found))
        if before != found or seq > self.head.seq:
            seq, last = found
        while True:
            page = self.page(seq)
            for each in page:
                if not each.is_sealed or (each.seq, each.previous) != (seq + 1, last):
                    raise _damaged(seq + 1)
                seq, last = each.seq, each.hash
                if seq == self.head.seq and last != self.head.hash:
                    raise _damaged(seq)
            if len(page) < PAGE:
                break
        if seq < self.head.seq:  # it may be more: who only reads doesn't hold off those who write meanwhile
            raise _damaged(seq + 1)
        if self.head is self._begun:  # what this transaction wrote may yet be rolled back
            self._walked[account] = found, (seq, last)

    def accounts(self) -> list[str]:
        """The names of the accounts that were declared."""
        declared = select(ENTRY.c.account).where(ENTRY.c.kind == str(Kind.BUDGET)).distinct()
        return sorted(self._connection.execute(declared).scalars())

    def note(self, row: Row, topics: Iterable[Topic], cost: float) -> None:
        """Remember what an outcome is about, and what it cost, to find it again."""
        if row.account is not None:
            note(self._connection, account=row.account, topics=topics, seq=row.seq, cost=cost)

    def about(self, account: str, version: int, topic: str, most: int, checked: Mapping[int, Row]) -> list[Row]:
        """Answers about a topic, the dearest and the newest; each checked against its hash, or equal to one that was.

        Args:
            account: whose answers.
            version: of the data.
            topic: what they are about.
            most: how many of either.
            checked: rows that were read earlier, by their place.
        """
        found = places(self._connection, account=account, version=version, topic=topic, most=most)
        rows = {}
        for columns in self._connection.execute(_PLACED, {"places": found}) if found else ():
            row = checked.get(columns.seq)
            if row is None or row.values() != tuple(columns):
                row = _checked(Row(**dict(zip(_NAMES, columns, strict=True))))
            rows[row.seq] = row
        ordered = [rows[seq] for seq in found if seq in rows]
        return [row for row in ordered if (row.kind, row.account) == (Kind.COMMIT, account)]

    def keep(self, large: Iterable[Large]) -> None:
        """Store parts of answers that lie outside, before the entry that names them.

        Raises:
            LedgerUnavailable: they can't be written.
        """
        for each in large:
            self._large.put(each, self._connection)

    def stored(self, rows: Sequence[Row]) -> list[Stored]:
        """The answers in commits of one account, each with its debit's text.

        Raises:
            LedgerCorrupt: one of them, or of their debits, isn't what was written.
        """
        if not rows:
            return []
        own = {"account": rows[0].account, "kind": str(Kind.RESERVE), "numbers": [row.number for row in rows]}
        debits = [_checked(row) for row in self._rows(_DEBITS, **own)]
        texts = {debit.number: text_of(debit) for debit in debits}
        return [self._stored(row, texts.get(row.number)) for row in rows]

    def _stored(self, row: Row, text: str | None) -> Stored:
        """The answer in a commit, with the text of its debit."""
        match row.content():
            case {"certificate": dict(certificate), "answer": dict(answer)} if text is not None:
                return Stored(
                    entry=number_of(row),
                    question=row.digest or "",
                    text=text,
                    version=version_of(row),
                    certificate=said_in_full(certificate, text),
                    answer=answer,
                    large={name: partial(self._read, large) for name, large in large_in(row).items()},
                    hash=row.hash,
                )
        raise LedgerCorrupt(f"the answer in entry {row.seq} can't be read")

    def _read(self, large: Large) -> Any:  # noqa: ANN401 — JSON
        """A part that lies outside; read outside of any transaction."""
        return large.read(self._large.get(large))

    def page(self, after: int = BEGINNING) -> list[Row]:
        """The next entries after a place in the ledger, of all accounts; unchecked."""
        return self._rows(_PAGE, after=after)

    def asked_by(self, account: str, analyst: str, after: int) -> tuple[list[Row], list[Row]]:
        """An analyst's next debits after a place in the ledger, and outcomes of theirs; unchecked."""
        own = select(ENTRY).where(ENTRY.c.account == account, ENTRY.c.kind == str(Kind.RESERVE))
        own = own.where(ENTRY.c.analyst == analyst, ENTRY.c.seq > after).order_by(ENTRY.c.seq).limit(PAGE)
        debits = self._rows(own)
        found = select(ENTRY).where(ENTRY.c.account == account, ENTRY.c.number.in_([row.number for row in debits]))
        found = found.where(ENTRY.c.kind.in_([str(Kind.COMMIT), str(Kind.FAIL)]))
        return debits, self._rows(found)

    def numbers(self, kind: Kind, account: str, after: int = BEGINNING) -> set[int]:
        """The questions of which there are entries of a kind after a place, by their numbers; unchecked."""
        own = select(ENTRY.c.number).where(ENTRY.c.account == account, ENTRY.c.kind == str(kind), ENTRY.c.seq > after)
        return set(self._connection.execute(own).scalars())

    def every(self, kind: Kind, account: str, **equal: object) -> list[Row]:
        """All entries of a kind with these values in their columns, in their order, each checked against its hash."""
        own = _in_order("account", *equal)
        return [_checked(row) for row in self._rows(own, kind=str(kind), account=account, **equal)]

    def _rows(self, found: Select[Any], **values: object) -> list[Row]:
        """The entries found; unchecked."""
        return [Row(**dict(zip(_NAMES, columns, strict=True))) for columns in self._connection.execute(found, values)]

    def _one(self, found: Select[Any], **values: object) -> Row | None:
        """The one entry found, checked against its hash."""
        columns = self._connection.execute(found, values).first()
        return None if columns is None else _checked(Row(**dict(zip(_NAMES, columns, strict=True))))

    def _read_head(self, *, lock: bool) -> Head:
        """The row about the ledger, of a format that is known here."""
        rows = self._connection.execute(_LOCKED if lock else _HEAD).mappings().all()
        if len(rows) != 1:
            raise LedgerCorrupt("the ledger's head is missing", hint=_RESTORE)
        format_ = rows[0].get("format")
        if format_ not in FORMATS:
            raise LedgerVersion(
                f"the ledger has format {format_}, and this version of discreet reads formats up to {FORMAT}",
                hint="use the version of discreet that wrote it",
            )
        match dict(rows[0]):
            case {"secret": str(secret), "seq": int(seq), "hash": str(hash_)} if is_secret(secret):
                return Head(format_, secret, seq, hash_)
        raise LedgerCorrupt("the ledger's head was altered", hint=_RESTORE)


def begin_chain(connection: Connection) -> None:
    """Write the first entry of a new ledger, and its head, with a secret of its own.

    Args:
        connection: inside a transaction, in which the tables were made.
    """
    secret = new_secret()
    body = to_body({"format": FORMAT, "secret": commitment(secret)})
    row = Row.sealed(seq=1, at=now(), kind=str(Kind.OPEN), body=body, previous=GENESIS)
    connection.execute(_APPEND, row.columns())
    connection.execute(insert(LEDGER).values(format=FORMAT, secret=secret, seq=row.seq, hash=row.hash))


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _checked(row: Row) -> Row:
    """An entry that is what was written.

    Raises:
        LedgerCorrupt: it isn't.
    """
    if not row.is_sealed:
        raise _damaged(row.seq)
    return row


def _damaged(seq: int) -> LedgerCorrupt:
    """The error for an entry that isn't what was written."""
    return LedgerCorrupt(
        f"entry {seq} of the ledger was altered",
        hint=Hint(
            f"verify() says what is damaged; {_RESTORE}", cli=f"`discreet verify` says what is damaged; {_RESTORE}"
        ),
    )


def new_secret() -> str:
    """A new secret, in hexadecimal: 256 bits that nobody can guess, whose hash is the name of the ledger."""
    from discreet.entropy import fresh_bytes

    return fresh_bytes(_BYTES).hex()


def is_secret(text: object) -> bool:
    """Whether this could be what `new_secret` made, or what is left of it."""
    return isinstance(text, str) and _SECRET.fullmatch(text) is not None


def commitment(secret: str) -> str:
    """A commitment to a secret, so that it can't be exchanged unnoticed; it reveals nothing about it."""
    return sha256(secret.encode("ascii")).hexdigest()
