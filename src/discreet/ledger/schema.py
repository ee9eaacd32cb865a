"""The tables of a ledger, as SQLAlchemy knows them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, String, Table, Text

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
