"""Database URLs: which database of which PostgreSQL server, read as whom. A password never stands in one.

`postgresql://reader@db.example.org/clinic` is libpq's form. It is taken apart here and put together again for libpq, so
that what was checked is what is connected to. What isn't said in it libpq finds itself, in its service file, its
environment (PGHOST, PGUSER, …) and its password file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote

from discreet.errors import InvalidArgument
from discreet.loopback import is_loopback
from discreet.tables.schema.url_parameters import check_known, parameters_in

_SCHEME = re.compile("postgres(ql)?://")
_PARAMETERS = frozenset(
    {
        "host", "hostaddr", "port", "dbname", "user", "service", "passfile", "requirepeer", "krbsrvname",
        "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslcrldir", "sslsni", "sslnegotiation",
        "ssl_min_protocol_version", "ssl_max_protocol_version", "channel_binding", "require_auth",
        "target_session_attrs", "load_balance_hosts", "application_name",
        "connect_timeout", "tcp_user_timeout", "keepalives", "keepalives_idle", "keepalives_interval",
        "keepalives_count",
    }
)  # fmt: skip
"""Those of libpq that say where the database is and how it is reached; none that changes what a query finds."""
_SECRET = frozenset({"password", "sslpassword"})
_VERIFIED = "verify-full"
_PATIENCE = {"connect_timeout": "30", "keepalives_idle": "60", "tcp_user_timeout": "300000"}
"""How long a server that doesn't answer is waited for, unless the URL says it: seconds, and milliseconds."""


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """Where a database is.

    Args:
        parameters: libpq's, as the URL says them.

    Raises:
        InvalidArgument: there is a password in it, or a parameter that isn't known; or a server on another machine is
            to be reached in a way by which nobody makes sure that it is the right one.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what would tell a secret, or rows to the wrong machine."""
        if secret := sorted(_SECRET & self.parameters.keys()):
            raise _has_password(secret[0])
        check_known(self.parameters, _PARAMETERS, "a database's URL")
        if any("\0" in each for each in self.parameters.values()):
            raise InvalidArgument("a database's URL holds no NUL")
        mode = self.parameters.get("sslmode", _VERIFIED)
        if mode != _VERIFIED and not _is_here(*self._named()):
            raise InvalidArgument(
                f"with sslmode={mode[:20]} nothing makes sure that the right machine answers",
                hint="leave sslmode out: other machines are always reached with verify-full. sslrootcert names the "
                "authority that vouches for them",
            )

    @classmethod
    def read(cls, text: str) -> Self:
        """A URL, as libpq writes it.

        Raises:
            InvalidArgument: it isn't one, or mustn't be used.

        Examples:
            >>> DatabaseUrl.read("postgresql://reader@db.example.org:5433/clinic?connect_timeout=5").database
            'clinic'
            >>> DatabaseUrl.read("postgresql://reader:secret@db.example.org/clinic")
            Traceback (most recent call last):
                ...
            discreet.errors.InvalidArgument: a password stands in the database's URL (keep it in ...)
        """
        scheme = _SCHEME.match(text)
        if scheme is None:
            raise _unread()
        place, _, query = text[scheme.end() :].partition("?")
        authority, _, database = place.partition("/")
        user, _, hosts = authority.rpartition("@")
        if ":" in user:
            raise _has_password("password")
        if set(database) & set("/:@"):  # perhaps of a password with a slash in it, so nothing is quoted
            raise _unread()
        pairs = [("user", user), *_hosts(hosts), ("dbname", database)]
        said = [(name, unquote(value)) for name, value in pairs if value]
        return cls(parameters_in(query, "a database's URL", said))

    @property
    def database(self) -> str:
        """The database's name; empty if libpq finds it itself."""
        return self.parameters.get("dbname", "")

    def conninfo(self, environment: Mapping[str, str] = os.environ) -> str:
        """What libpq is given: all that the URL says; and, unless the server is on this machine, that it is verified.

        What is given counts before a service file and the environment. So whatever these say, rows cross no network
        unless the right machine was asked for them.

        Args:
            environment: in which libpq looks for what the URL doesn't say.

        Examples:
            >>> DatabaseUrl.read("postgresql://ann@localhost/clinic").conninfo({}).split()[3:6]
            ["user='ann'", "host='localhost'", "dbname='clinic'"]
            >>> "sslmode='verify-full'" in DatabaseUrl.read("postgresql://ann@db.example.org/clinic").conninfo({})
            True
        """
        given = {**_PATIENCE, **self.parameters, "client_encoding": "UTF8", "fallback_application_name": "discreet"}
        host, address = self._named()
        by_service = "service" in self.parameters or environment.get("PGSERVICE")
        if not (host or address or by_service):
            host, address = environment.get("PGHOST", ""), environment.get("PGHOSTADDR", "")
        if (host or address) and _is_here(host, address):
            given |= {"host": host, "hostaddr": address}  # even an empty one: the environment might name another
        elif host or address or by_service:
            given |= {"sslmode": _VERIFIED, "gssencmode": "disable"}
        return " ".join(f"{name}={_quoted(value)}" for name, value in given.items())

    def _named(self) -> tuple[str, str]:
        """The host and its address, as far as they are said."""
        return self.parameters.get("host", ""), self.parameters.get("hostaddr", "")


def _is_here(host: str, address: str) -> bool:
    """Whether all hosts are this machine: libpq connects to the address, where one is given."""
    return all(each[:1] in {"/", "@"} or is_loopback(each) for each in (address or host).split(","))


def is_database_url(location: str) -> bool:
    """Whether a location is a server's database, and no path.

    Examples:
        >>> is_database_url("postgresql:///clinic"), is_database_url("clinic.duckdb")
        (True, False)
    """
    return _SCHEME.match(location) is not None


def _hosts(text: str) -> list[tuple[str, str]]:
    """The hosts of a URL and their ports, each as libpq lists several."""
    found = [re.fullmatch(r"(?:\[([^\]]*)\]|([^:\[\]]*))(?::([0-9]*))?", each) for each in text.split(",")]
    hosts = [(each[1] or each[2], each[3] or "") for each in found if each is not None]
    if len(hosts) < len(found):
        raise _unread()
    names, ports = zip(*hosts, strict=True)
    return [("host", ",".join(names) if any(names) else ""), ("port", ",".join(ports) if any(ports) else "")]


def _unread() -> InvalidArgument:
    return InvalidArgument("the database's URL can't be read", hint="postgresql://user@host:5432/database")


def _has_password(name: str) -> InvalidArgument:
    """The refusal of a secret where others read it."""
    return InvalidArgument(
        f"a {name} stands in the database's URL",
        hint="keep it in libpq's password file (~/.pgpass, or PGPASSFILE), in PGPASSWORD or in a service file, and out "
        "of the URL",
    )


def _quoted(value: str) -> str:
    """A value as libpq takes it in a list of parameters."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
