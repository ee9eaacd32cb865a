"""Credentials: a server's address and a token, as they are given."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from discreet.errors import InvalidArgument
from discreet.hints import Hint
from discreet.loopback import is_loopback

_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server.

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
        """Read an address, with `/v1` at its end or without.

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
                "an address is a host and a path: names, tokens and questions don't belong in it", hint=example
            )
        if parts.scheme == "http" and not in_the_clear and not is_loopback(host):
            raise InvalidArgument(
                f"the token would travel to {host[:100]} in the clear",
                hint=Hint("use https://…; or in_the_clear=True, if the network on the way is safe", cli="https://…"),
            )
        return cls(parts.scheme, host, port, parts.path.rstrip("/").removesuffix("/v1"))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port is None else f":{self.port}") + self.prefix


def fingerprint_of(given: str, address: Address) -> str:
    """The fingerprint of a certificate, as 64 digits; colons, blanks and `SHA256` before it may be there.

    Raises:
        InvalidArgument: it isn't one, or the address is of a server without certificates.

    Examples:
        >>> gate = Address.read("https://gate.example.org")
        >>> fingerprint_of("SHA256:" + ":".join(["0A"] * 32), gate) == "0a" * 32
        True
    """
    bare = re.sub(r"(?i)^\s*sha-?256(\s+fingerprint)?\s*[:=]|[\s:]", "", given).lower()
    if not re.fullmatch(r"[0-9a-f]{64}", bare):  # shorter ones would be of hashes that can be forged
        raise InvalidArgument(
            "this isn't the SHA-256 fingerprint of a certificate, which has 64 digits",
            hint=Hint("the custodian sees it when the server starts", cli="`discreet serve --self-signed` shows it"),
        )
    if address.scheme != "https":
        raise InvalidArgument(
            "only a server that is reached by https:// has a certificate", hint=f"https://{address.host}"
        )
    return bare


def token_of(given: str | Path | None) -> str:
    """The token; no error says anything of it.

    Raises:
        InvalidArgument: there is none, it is of no form that tokens have, or others can read its file.
    """
    if given is None:
        given = os.environ.get("DISCREET_TOKEN", "")
    text = (_kept(Path(given)) if isinstance(given, Path) or _is_path(given.strip()) else given).strip()
    if not text:
        raise InvalidArgument(
            "there is no token",
            hint=Hint(
                "connect(url, '~/discreet.token'), or the variable DISCREET_TOKEN",
                cli="--token-file FILE, or the variable DISCREET_TOKEN",
            ),
        )
    if not _TOKEN.fullmatch(text):
        raise InvalidArgument("this isn't a token, which is one word, exactly as the custodian was shown it")
    return text


def _is_path(text: str) -> bool:
    """Whether a text is the path of a file, and so no token: it begins like one, or there is a file of that name."""
    try:
        return text.startswith(("~", "/", "./", "../")) or Path(text).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):  # too long for a name, for example
        return False


def _kept(path: Path) -> str:
    """The content of a file that nobody else can read.

    Raises:
        InvalidArgument: it can't be read; or others can read it.
    """
    try:
        with path.expanduser().open(encoding="ascii", errors="replace") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise InvalidArgument(f"{str(path)!r} isn't a file")
            if os.name == "posix" and (found.st_mode & 0o077 or found.st_uid not in {os.geteuid(), 0}):
                raise InvalidArgument(f"other users can read the token in {str(path)!r}", hint=f"chmod 600 {path}")
            return file.read(16_384)
    except OSError as error:
        raise InvalidArgument(f"the token's file {str(path)!r} can't be read: {error.strerror}") from None
