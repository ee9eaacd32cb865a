"""Connections: to tables behind a server, or to tables of a configuration file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeAlias, cast

from discreet.dbapi import exceptions
from discreet.dbapi.cursor import Cursor, Messages, Tables
from discreet.dbapi.exceptions import InterfaceError, translated
from discreet.dbapi.settings import Settings
from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.results import Answer

Accuracies: TypeAlias = Rationalizable | Mapping[str, Any]
"""The half width of intervals to reach, of all columns or by name."""


_MAY_HOLD_A_TOKEN = re.compile(r"://|dsc_[\w-]{43}", re.ASCII)


def connect(  # noqa: PLR0913 — what a caller may say, each by name
    source: str | Path | Tables,
    token: str | Path | None = None,
    *,
    epsilon: Rationalizable | None = None,
    rho: Rationalizable | None = None,
    delta: Rationalizable | None = None,
    within: Accuracies | None = None,
    intervals: bool = False,
    analyst: str | None = None,
    key: str | None = None,
    fingerprint: str | None = None,
    in_the_clear: bool = False,
    patience: float = 30.0,
    progress: Callable[[float], None] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Connection:
    """Connect to tables behind a server, or to those of a configuration file.

    Guarantee: the token goes to that server alone, and is in no text, message or `repr`.

    Args:
        source: the address of a server, `https://gate.example.org`, which needs `discreet[client]`; or the path of a
            `discreet.toml`; or tables that are open, which stay open when the connection is closed.
        token: of the server: its text, or the path of a file that nobody else can read; None takes it from
            `DISCREET_TOKEN`.
        epsilon: what is offered for each question, for Laplace noise. Without it, `rho` or `within`, nothing can be
            asked until `SET discreet.epsilon = 0.5`.
        rho: the same for Gaussian noise.
        delta: offered beside, for groups whose keys aren't public.
        within: the half width of intervals to reach, at the least cost.
        intervals: whether each noisy column has the ends of its interval beside it: `n_low` and `n_high`.
        analyst: who asks, of tables on this machine whose budget analysts share.
        key: the public key by which a server's answers must be signed; None takes the server's word.
        fingerprint: of a server's TLS certificate, where no authority vouches for it; then that alone is trusted.
        in_the_clear: whether `http://` may be spoken with another machine.
        patience: for how many seconds a server is tried again.
        progress: called now and then with the seconds that an answer was waited for.
        settings: others, by name, as SET has them: `{"confidence": 0.9}`.

    Raises:
        ProgrammingError: a setting can't be that; or this is no address, or there is no token.
        OperationalError: the tables or their account can't be opened.
        NotSupportedError: something isn't installed.

    Examples:
        >>> connection = connect("https://gate.example.org", "dsc_0000", epsilon=0.5)
        >>> connection
        Connection('https://gate.example.org')
        >>> connection.close()
    """
    said = {"epsilon": epsilon, "rho": rho, "delta": delta, "within": within, "analyst": analyst}
    with translated():
        set_so_far = Settings()
        for name, value in (said | {"intervals": intervals or None} | dict(settings or {})).items():
            set_so_far = set_so_far if value is None else set_so_far.set(name, value)
        if not isinstance(source, str | Path):
            return Connection(source, set_so_far, label=type(source).__name__, is_ours=False)
        if isinstance(source, str) and source.lower().startswith(("https://", "http://")):
            if analyst is not None:
                raise InvalidArgument("a server knows who asks by the token", hint="leave the analyst out")
            from discreet.interfaces.client import connect as connect_to

            remote = connect_to(
                source,
                token,
                key=key,
                fingerprint=fingerprint,
                patience=patience,
                in_the_clear=in_the_clear,
                progress=progress,
            )
            return Connection(cast("Tables", remote), set_so_far, label=source.strip().rstrip("/"))
        if isinstance(source, str) and _MAY_HOLD_A_TOKEN.search(source):  # so it isn't repeated
            raise InvalidArgument(
                "this is neither the address of a server nor a path", hint="https://gate.example.org, or discreet.toml"
            )
        if token is not None or key is not None or fingerprint is not None:
            raise InvalidArgument("tables on this machine take no token", hint="https://…, for those behind a server")
        from discreet.gateway import load

        return Connection(cast("Tables", load(source)), set_so_far, label=str(source))


class Connection:
    """A connection: made by `connect`. Use it in a `with` statement, which closes it at its end.

    Args:
        tables: what is asked.
        settings: what is offered for each question, until it is set otherwise.
        label: what they are called in its `repr`.
        is_ours: whether closing it closes them.

    Attributes:
        messages: what is said beside the last answer of any of its cursors, see `Cursor.messages`.
        answer: that answer, with intervals, cost and certificate; None before there is one.
    """

    Warning = exceptions.Warning
    Error = exceptions.Error
    InterfaceError = exceptions.InterfaceError
    DatabaseError = exceptions.DatabaseError
    DataError = exceptions.DataError
    OperationalError = exceptions.OperationalError
    IntegrityError = exceptions.IntegrityError
    InternalError = exceptions.InternalError
    ProgrammingError = exceptions.ProgrammingError
    NotSupportedError = exceptions.NotSupportedError

    def __init__(self, tables: Tables, settings: Settings, *, label: str, is_ours: bool = True) -> None:
        self.tables, self.settings = tables, settings
        self._first = settings
        self.messages: Messages = []
        self.answer: Answer | None = None
        self._label, self._is_ours, self._is_closed = label, is_ours, False

    def __repr__(self) -> str:
        """The address or path, without the token."""
        return f"Connection({self._label!r})"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The declarations of everything that may be asked about: tables, columns, units, bounds and keys.

        Raises:
            OperationalError: the server can't be reached.
            InterfaceError: it is closed.
        """
        self.check_open()
        with translated():
            return self.tables.schema

    def cursor(self) -> Cursor:
        """A cursor to ask with.

        Raises:
            InterfaceError: it is closed.
        """
        self.check_open()
        return Cursor(self)

    def commit(self) -> None:
        """Does nothing: there are no transactions, and an answer was paid for when it was asked.

        Raises:
            InterfaceError: it is closed.
        """
        self.check_open()

    def rollback(self) -> None:
        """Does nothing, and takes nothing back: what was paid stays paid.

        Raises:
            InterfaceError: it is closed.
        """
        self.check_open()

    def put_back(self) -> None:
        """Forget what was set and asked since it was opened. For pools, which hand it to somebody else."""
        self.settings, self.messages, self.answer = self._first, [], None

    def close(self) -> None:
        """Use it no more, and let go of tables that it has opened; closing twice is no error."""
        if not self._is_closed and self._is_ours:
            self.tables.close()
        self._is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._is_closed

    def check_open(self) -> None:
        """Refuse what comes after `close`.

        Raises:
            InterfaceError: it is closed.
        """
        if self._is_closed:
            raise InterfaceError("this connection is closed")
