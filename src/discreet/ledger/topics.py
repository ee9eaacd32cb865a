"""Topics: what answers are about, so that those from which others may follow are found in a long ledger.

An index and nothing more. No decision rests on it, and the hash chain doesn't cover it: an entry that it leads to is
checked like any other, and where it is damaged or missing, an answer is paid for that might have been had for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from sqlalchemy import Column, Connection, Float, Index, MetaData, PrimaryKeyConstraint, Table, insert, inspect, select

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
    if not inspect(connection).has_table(TOPIC.name):
        return []
    own = (TOPIC.c.account == account, TOPIC.c.version == version, TOPIC.c.topic == topic)
    orders = ((TOPIC.c.cost.desc(), TOPIC.c.seq.desc()), (TOPIC.c.seq.desc(),))
    found = [
        connection.execute(select(TOPIC.c.seq).where(*own).order_by(*order).limit(most)).scalars() for order in orders
    ]
    return list(dict.fromkeys(seq for each in found for seq in each))
