"""What it takes to reach a server: its address and a token, as they are given, and whose certificates are trusted."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from discreet.errors import ExtraMissing, Hint, InvalidArgument, ServerUnreachable
from discreet.loopback import is_loopback

if TYPE_CHECKING:
    import ssl

    import urllib3

_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is.

    Args:
        scheme: https, or http.
        host: its name or number.
        port: None for the scheme's own.
        prefix: what stands before `/v1` in its paths, where it shares the host with others.
    """

    scheme: str
    host: str
    port: int | None
    prefix: str

    @classmethod
    def read(cls, text: str, *, in_the_clear: bool = False) -> Self:
        """An address as somebody wrote it; with `/v1` at its end or without.

        Raises:
            InvalidArgument: it isn't one, or a token would travel to another machine in the clear.

        Examples:
            >>> str(Address.read("https://gate.example.org/v1"))
            'https://gate.example.org'
        """
        example = "https://gate.example.org"
        try:
            parts = urlsplit(text.strip())
            host, port = parts.hostname, parts.port
        except ValueError:
            raise InvalidArgument("this isn't the address of a server", hint=example) from None
        if parts.scheme not in {"http", "https"} or not host or not text.isprintable() or " " in text.strip():
            raise InvalidArgument("this isn't the address of a server", hint=example)
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise InvalidArgument(
                "an address is a host and a path: names, tokens and questions don't belong into it", hint=example
            )
        if parts.scheme == "http" and not in_the_clear and not is_loopback(host):
            raise InvalidArgument(
                f"the token would travel to {host[:100]} in the clear",
                hint=Hint("https://…; or in_the_clear=True, where the way there is safe", cli="https://…"),
            )
        return cls(parts.scheme, host, port, parts.path.rstrip("/").removesuffix("/v1"))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port is None else f":{self.port}") + self.prefix


def token_of(given: str | Path | None) -> str:
    """The token; no error says anything of it.

    Raises:
        InvalidArgument: there is none, it is of no form that tokens have, or others can read its file.
    """
    if given is None:
        given = os.environ.get("DISCREET_TOKEN", "")
    text = (_kept(given) if isinstance(given, Path) else given).strip()
    if not text:
        raise InvalidArgument(
            "there is no token",
            hint=Hint(
                "connect(url, Path('~/discreet.token')), or the variable DISCREET_TOKEN",
                cli="--token-file FILE, or the variable DISCREET_TOKEN",
            ),
        )
    if isinstance(given, str) and _is_file(text):
        raise InvalidArgument(
            "the token is a text, and a file is called so: its path was meant",
            hint=Hint("connect(url, Path(…))", cli="--token-file FILE"),
        )
    if not _TOKEN.fullmatch(text):
        raise InvalidArgument("this isn't a token: it is one word, as the custodian was shown it")
    return text


def _is_file(text: str) -> bool:
    """Whether a file is called so; no token is."""
    try:
        return Path(text).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):  # too long for a name, for example
        return False


def _kept(path: Path) -> str:
    """What a file holds that nobody else can read.

    Raises:
        InvalidArgument: it can't be read; or others can read it.
    """
    try:
        with path.expanduser().open(encoding="ascii", errors="replace") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise InvalidArgument(f"{str(path)!r} is no file")
            if os.name == "posix" and (found.st_mode & 0o077 or found.st_uid not in {os.geteuid(), 0}):
                raise InvalidArgument(f"others can read the token in {str(path)!r}", hint=f"chmod 600 {path}")
            return file.read(16_384)
    except OSError as error:
        raise InvalidArgument(f"the token's file {str(path)!r} can't be read: {error.strerror}") from None


# ── Sockets ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_CONNECTING = 10.0
_SILENCE = 60.0
"""How many seconds a server may say nothing before it counts as gone."""


def pool_of(address: Address) -> urllib3.PoolManager:
    """What keeps the sockets; by the proxy that the environment names, but never in the clear.

    Raises:
        ExtraMissing: urllib3 isn't installed.
        InvalidArgument: the proxy is of no kind that is known, or `SSL_CERT_FILE` is of no use.
    """
    from urllib.request import getproxies, proxy_bypass

    try:
        import urllib3
    except ImportError as error:
        raise ExtraMissing("asking a server needs urllib3", hint="pip install 'discreet[client]'") from error
    patience = urllib3.Timeout(connect=_CONNECTING, read=_SILENCE)
    proxy = getproxies().get("https")
    if address.scheme == "http":
        return urllib3.PoolManager(timeout=patience)
    trusted = _trusted()
    if not proxy or proxy_bypass(address.host):
        return urllib3.PoolManager(timeout=patience, ssl_context=trusted)
    try:
        return urllib3.ProxyManager(proxy, timeout=patience, ssl_context=trusted)
    except (urllib3.exceptions.HTTPError, ValueError):
        raise InvalidArgument("the proxy that HTTPS_PROXY names isn't one", hint="http://proxy:3128") from None


def without_tls(address: Address, error: Exception) -> ServerUnreachable:
    """That no safe connection came about: the certificate isn't trusted, or there is no TLS at all."""
    import ssl

    if error.args and isinstance(error.args[0], ssl.SSLCertVerificationError):
        return ServerUnreachable(
            f"{address} has no certificate for TLS that this machine trusts",
            hint="SSL_CERT_FILE names a file with the authority's certificate, if it is your own",
        )
    return ServerUnreachable(
        f"{address} doesn't speak TLS, or not as this machine does",
        hint="check the address and the port; a server without TLS has an address with http://",
    )


def _trusted() -> ssl.SSLContext:
    """Whose certificates are trusted: the system's authorities, and those that `SSL_CERT_FILE` names.

    Raises:
        InvalidArgument: that file can't be read, or holds no certificate; OpenSSL would trust nobody, and not say why.
    """
    import ssl

    context, named = ssl.create_default_context(), os.environ.get("SSL_CERT_FILE")
    if named:
        try:
            context.load_verify_locations(named)
        except ssl.SSLError:
            raise InvalidArgument(
                f"the file {named!r}, which SSL_CERT_FILE names, holds no certificate", hint="it is in PEM"
            ) from None
        except OSError as error:
            raise InvalidArgument(
                f"the file {named!r}, which SSL_CERT_FILE names, can't be read: {error.strerror}",
                hint="name the authority's certificate, or unset SSL_CERT_FILE",
            ) from None
    return context
