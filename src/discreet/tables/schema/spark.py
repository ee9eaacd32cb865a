"""Where Spark Connect listens, and in how many tasks a question is computed there. A token is never declared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit

from discreet.errors import InvalidArgument
from discreet.hints import Hint
from discreet.loopback import is_loopback

SPARK = "spark"
"""The engine that asks a cluster."""

LOCAL: Literal["local"] = "local"
"""The address of Sail, which runs in this process."""

TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 — the name of a variable
"""The environment variable with the token, as Spark's own clients have it."""

PORT = 15002
"""Of Spark Connect, where the address names none."""

MOST_TASKS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkConnect:
    """A cluster that is reached by Spark Connect.

    Guarantee: what is sent over a network is encrypted, and goes to nobody who wasn't shown a token.

    Args:
        remote: `sc://host:15002`, or "local": Sail in this process. Where a session is given, the address stays empty.
        tasks: how many at most compute a question; None for one per part of its tables, or locally one per core.
            Answers don't depend on it.
        session: the caller's own, of Spark 4 or Sail, which is used and not closed. Who made it settled whether it is
            encrypted.

    Raises:
        InvalidArgument: it isn't such an address, or says what would be ignored or would send rows in the clear.

    Examples:
        >>> SparkConnect(remote="sc://spark.example.org").encrypted
        True
        >>> SparkConnect(remote="sc://localhost:15002").encrypted
        False
    """

    remote: str = ""
    tasks: int | None = None
    session: object = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.tasks is not None and (isinstance(self.tasks, bool) or not 1 <= self.tasks <= MOST_TASKS):
            raise InvalidArgument(f"tasks must be a number from 1 to {MOST_TASKS:,}", hint="leave it out")
        if (self.session is not None) == bool(self.remote):
            raise InvalidArgument("a cluster is reached by an address, or by a session", hint=_EXAMPLE)
        if self.remote and not self.is_local:
            _check(self._address())

    @property
    def is_local(self) -> bool:
        """Whether it is Sail in this process."""
        return self.remote == LOCAL

    @property
    def host(self) -> str:
        """The machine to which a connection is made."""
        return self._address().hostname or ""

    @property
    def port(self) -> int:
        """Its port."""
        return self._address().port or PORT

    @property
    def encrypted(self) -> bool:
        """Whether the connection is by TLS."""
        return not is_loopback(self.host) or self._address().path == _TLS

    def _address(self) -> SplitResult:
        try:
            split = urlsplit(self.remote)
            split.port  # noqa: B018 — whose reading raises
        except ValueError:
            split = urlsplit("")
        return split


_TLS = "/;use_ssl=true"
_EXAMPLE = Hint.of("{remote}", remote="sc://spark.example.org:15002").in_file()


def _check(address: SplitResult) -> None:
    """Refuse an address that says less, or more, than where to connect."""
    if address.scheme != "sc" or not address.hostname:
        raise InvalidArgument("a cluster's address is sc://host:port, or local", hint=_EXAMPLE)
    said = [each for each in unquote(address.path).strip("/;").split(";") if each]
    if "token" in {each.partition("=")[0] for each in said} or address.username or address.password:
        raise InvalidArgument(
            "a token is a secret, and doesn't stand in an address", hint=f"put it into the environment, as {TOKEN}"
        )
    if said == ["use_ssl=false"] and not is_loopback(address.hostname):
        raise InvalidArgument(
            "integers before noise would go over a network in the clear", hint="leave out what follows the port"
        )
    if address.path not in {"", "/", _TLS, "/;use_ssl=false"} or address.query or address.fragment:
        raise InvalidArgument(
            "the address of a cluster may say ;use_ssl=true, and nothing more", hint="sc://host:15002 is enough"
        )
