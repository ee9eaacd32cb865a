"""The tables of a ledger, as SQLAlchemy knows them: its head, its entries, and an index of what answers are about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    bindparam,
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

The name of the table and of `format` never change, so that any version can tell a ledger of another.
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
"""The places of answers, by what they are about; with what they cost in ρ, for the dearest err least.

An index and nothing more. No decision rests on it, and the hash chain doesn't cover it: an entry that it leads to is
checked like any other, and where it is damaged or missing, an answer is paid for that might have been had for nothing.
"""

_OWN = (
    select(TOPIC.c.seq)
    .where(*(TOPIC.c[name] == bindparam(name) for name in ("account", "version", "topic")))
    .limit(bindparam("most"))
)
_DEAREST = _OWN.order_by(TOPIC.c.cost.desc(), TOPIC.c.seq.desc())
_NEWEST = _OWN.order_by(TOPIC.c.seq.desc())

Topic: TypeAlias = tuple[str, int]
"""What an answer is about: a text of up to 255 characters, and the number of the data version."""


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
