"""SCRAM-SHA-256: what a server that speaks PostgreSQL's protocol checks a token by, without having the token.

With a verifier nobody comes in: what a client has to show is hashed in it. Whoever reads it can pretend to be the
server to a client that doesn't check the server's certificate, and then hear what lets them in. So it is kept where the
digests of tokens are, and clients come by TLS.

Source: RFC 5802, section 3; RFC 7677; PostgreSQL's own text of a verifier, as in `pg_authid.rolpassword`.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Self

from discreet.errors import LedgerCorrupt

ITERATIONS = 4096
"""How often a token is hashed.

Iterations make guessing slow. A token is 256 random bits, which nobody guesses, so one would do; but RFC 7677 asks for
4,096 at the least, and some clients refuse a server that names fewer. More would cost each connection of each client
its time, and protect nothing.
"""

_SALT = 16
_KEY = 32
_TEXT = re.compile(r"SCRAM-SHA-256\$([1-9][0-9]{3,8}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """What a password is checked by.

    Args:
        iterations: how often it is hashed.
        salt: random bytes of its own.
        stored_key: the SHA-256 of what a client proves to have.
        server_key: what the server proves to have.
    """

    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes

    @classmethod
    def make(cls, password: str, salt: bytes, *, iterations: int = ITERATIONS) -> Self:
        """The verifier of a password of printable ASCII characters, which SASLprep leaves as it is.

        Args:
            password: a token.
            salt: 16 random bytes.
            iterations: how often it is hashed.

        Examples:
            >>> str(Verifier.make("pencil", bytes(16)))[:46]
            'SCRAM-SHA-256$4096:AAAAAAAAAAAAAAAAAAAAAA==$cY'
        """
        salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, iterations)
        client_key = hmac.digest(salted, b"Client Key", "sha256")
        return cls(
            iterations=iterations,
            salt=salt,
            stored_key=hashlib.sha256(client_key).digest(),
            server_key=hmac.digest(salted, b"Server Key", "sha256"),
        )

    @classmethod
    def read(cls, text: object) -> Self:
        """A verifier as PostgreSQL writes it.

        Raises:
            LedgerCorrupt: it is none, or of fewer iterations than RFC 7677 asks for.
        """
        found = _TEXT.fullmatch(text) if isinstance(text, str) else None
        try:
            if found is not None:
                salt, stored_key, server_key = (b64decode(part, validate=True) for part in found.groups()[1:])
                read = cls(iterations=int(found[1]), salt=salt, stored_key=stored_key, server_key=server_key)
                is_whole = (len(salt), len(stored_key), len(server_key)) == (_SALT, _KEY, _KEY)
                if is_whole and read.iterations >= ITERATIONS and str(read) == text:
                    return read
        except binascii.Error:
            pass
        raise LedgerCorrupt("a token's SCRAM verifier can't be read")

    def __str__(self) -> str:
        """As PostgreSQL writes it."""
        salt, stored_key, server_key = (b64encode(b).decode() for b in (self.salt, self.stored_key, self.server_key))
        return f"SCRAM-SHA-256${self.iterations}:{salt}${stored_key}:{server_key}"

    def __repr__(self) -> str:
        """No part of it, so that none is in a log."""
        return "Verifier()"
