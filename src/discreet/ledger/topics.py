"""Topics: what answers are about, so that those from which others may follow are found in a long ledger.

An index and nothing more. No decision rests on it, and the hash chain doesn't cover it: an entry that it leads to is
checked like any other, and where it is damaged or missing, an answer is paid for that might have been had for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    bindparam,
    insert,
    select,
)

from discreet.ledger.schema import NAME, NUMBER

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
"""The places of answers, by what they are about; with what they cost in ρ, for the dearest err least."""

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
