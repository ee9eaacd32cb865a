"""The database of a ledger: its head and entries; what answers are about, large answers and names beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    select,
)

METADATA = MetaData()

NUMBER = BigInteger().with_variant(Integer, "sqlite")
NAME = String(255)

LEDGER = Table(
    "discreet_ledger",
    METADATA,
    Column("format", Integer, primary_key=True, autoincrement=False),
    Column("secret", Text, nullable=False),
    Column("seq", NUMBER, nullable=False),
    Column("hash", Text, nullable=False),
)
"""One row: the format, the secret, and the head of the chain. Writers on a server queue for this row.

The names of the table and of `format` never change, so that any version recognises a ledger of another.
"""

ENTRY = Table(
    "discreet_entry",
    METADATA,
    Column("seq", NUMBER, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("account", NAME),
    Column("number", NUMBER),
    Column("analyst", NAME),
    Column("digest", NAME),
    Column("version", NUMBER),
    *(
        Column(f"{prefix}{amount}", Text)
        for prefix in ("", "spent_", "share_")
        for amount in ("epsilon", "rho", "delta")
    ),
    Column("body", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    # Each look-up of a reservation finds its row through one of these, however long the ledger has grown.
    Index("discreet_entry_last", "account", "kind", "seq"),
    Index("discreet_entry_share", "account", "kind", "analyst", "seq"),
    Index("discreet_entry_digest", "account", "kind", "digest", "version", "seq"),
    Index("discreet_entry_number", "account", "number", "kind", unique=True),
)
"""The entries; see `row.Row`."""


TOPIC = Table(
    "discreet_topic",
    MetaData(),
    Column("account", NAME, nullable=False),
    Column("version", NUMBER, nullable=False),
    Column("topic", NAME, nullable=False),
    Column("seq", NUMBER, nullable=False),
    Column("cost", Float, nullable=False),
    PrimaryKeyConstraint("account", "version", "topic", "seq"),
    Index("discreet_topic_cost", "account", "version", "topic", "cost", "seq"),
)
"""The places of answers by topic, and their cost in ρ: the most expensive have the smallest errors.

This is only an index. No decision rests on it, and the hash chain doesn't cover it: an entry it leads to is checked
like any other, and if it is damaged or incomplete, an answer is paid for that could have been free.
"""

_OWN = (
    select(TOPIC.c.seq)
    .where(*(TOPIC.c[name] == bindparam(name) for name in ("account", "version", "topic")))
    .limit(bindparam("most"))
)
_DEAREST = _OWN.order_by(TOPIC.c.cost.desc(), TOPIC.c.seq.desc())
_NEWEST = _OWN.order_by(TOPIC.c.seq.desc())

Topic: TypeAlias = tuple[str, int]
"""The topic of an answer: up to 255 characters, and the number of the data version."""


def note(connection: Connection, *, account: str, topics: Iterable[Topic], seq: int, cost: float) -> None:
    """Remember what an entry is about; within its transaction."""
    found = sorted(set(topics))
    if found:
        TOPIC.create(connection, checkfirst=True)  # ledgers made before there were topics don't have it
        rows = [
            {"account": account, "version": version, "topic": topic, "seq": seq, "cost": cost}
            for topic, version in found
        ]
        connection.execute(insert(TOPIC), rows)


def places(connection: Connection, *, account: str, version: int, topic: str, most: int) -> list[int]:
    """The places of answers about a topic: of the dearest, then of the newest that aren't among them.

    Args:
        connection: inside a transaction.
        account: whose answers.
        version: of the data.
        topic: what they are about.
        most: how many of either.
    """
    if not connection.dialect.has_table(connection, TOPIC.name):
        return []
    own = {"account": account, "version": version, "topic": topic, "most": most}
    found = [connection.execute(each, own).scalars() for each in (_DEAREST, _NEWEST)]
    return list(dict.fromkeys(seq for each in found for seq in each))


LARGE = Table(
    "discreet_large",
    MetaData(),
    Column("hash", String(64), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
"""Large parts of answers, in a ledger on a server; see `large_answers`."""


def put_large(connection: Connection, hash_: str, content: bytes) -> None:
    """Store a large part under its hash; within the transaction of its entry."""
    LARGE.create(connection, checkfirst=True)  # ledgers made before there were large parts don't have it
    if get_large(connection, hash_) is None:
        connection.execute(insert(LARGE).values(hash=hash_, content=content))


def get_large(connection: Connection, hash_: str) -> bytes | None:
    """The part that is stored under a hash; None if there is none."""
    if not connection.dialect.has_table(connection, LARGE.name):
        return None
    content = connection.execute(select(LARGE.c.content).where(LARGE.c.hash == hash_)).scalar()
    return None if content is None else bytes(content)


NAMED = Table(
    "discreet_named",
    MetaData(),
    Column("account", NAME, nullable=False),
    Column("analyst", NAME, nullable=False),
    Column("name", NAME, nullable=False),
    Column("version", NUMBER, nullable=False),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("account", "analyst", "name"),
)
"""What analysts call questions of theirs; see `named_questions`."""


def named(connection: Connection, *, account: str, analyst: str) -> list[tuple[str, int, str]]:
    """An analyst's named questions, by name: each with its version and its content."""
    if not connection.dialect.has_table(connection, NAMED.name):
        return []
    own = select(NAMED.c.name, NAMED.c.version, NAMED.c.content).where(*_whose(account, analyst))
    return [(row[0], row[1], row[2]) for row in connection.execute(own.order_by(NAMED.c.name))]


def keep_named(connection: Connection, *, account: str, analyst: str, row: Mapping[str, object], most: int) -> bool:
    """Store a named question in place of one of that name; whether the analyst has less than `most` others."""
    NAMED.create(connection, checkfirst=True)  # ledgers made before there were names don't have it
    drop_named(connection, account=account, analyst=analyst, name=str(row["name"]))
    count = select(func.count()).select_from(NAMED).where(*_whose(account, analyst))
    if connection.execute(count).scalar_one() >= most:
        return False
    connection.execute(insert(NAMED).values(account=account, analyst=analyst, **row))
    return True


def drop_named(connection: Connection, *, account: str, analyst: str, name: str) -> bool:
    """Take a name away; whether there was one."""
    if not connection.dialect.has_table(connection, NAMED.name):
        return False
    gone = connection.execute(delete(NAMED).where(*_whose(account, analyst), NAMED.c.name == name))
    return gone.rowcount > 0


def _whose(account: str, analyst: str) -> tuple[ColumnElement[bool], ...]:
    return (NAMED.c.account == account, NAMED.c.analyst == analyst)
