"""The DB-API: private tables for programs that speak PEP 249, such as pandas and SQLAlchemy.

A statement is a question; its result is the answer, with as many rows as it has groups. A question is paid for by
what the connection offers, by an argument of `connect` or by `SET discreet.epsilon = 0.5`; asked again, it is the
stored answer, and free. There is nothing to write, and no transaction: `commit` and `rollback` change nothing, and what
was paid stays paid.

`connect` opens tables behind a server, which needs `discreet[client]`; or those of a `discreet.toml`.
"""

from discreet.dbapi.connection import Connection, connect
from discreet.dbapi.cursor import Cursor
from discreet.dbapi.exceptions import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004 — PEP 249 names it
)
from discreet.dbapi.types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
"""The version of the DB-API."""

threadsafety = 1
"""Threads may share this module, and not a connection: another could change its settings between two statements."""

paramstyle = "qmark"
"""A placeholder is `?`, and parameters are a list."""

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
