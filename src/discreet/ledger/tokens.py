"""Tokens: who may come in to an account through a server. They are made and revoked by entries of the chain.

The ledger holds the SHA-256 of a token, never the token: nobody can sign in with a copy of it. A token is 256
random bits, so no digest of it can be found by trying.

Beside the digest stands a SCRAM-SHA-256 verifier, by which a server that speaks PostgreSQL's protocol checks a token.
Nor does it let anyone in: what a client has to show is hashed in it. Someone who reads it can pretend to be the server
to a client that doesn't check the server's certificate, and then hear what lets them in. So clients come by TLS.

Source: RFC 5802, section 3; RFC 7677; PostgreSQL's own text of a verifier, as in `pg_authid.rolpassword`.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.hints import Hint
from discreet.ledger.declaration import checked_name
from discreet.ledger.row import Kind, Row, to_body

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain
    from discreet.ledger.store import Store

_DIGEST = re.compile("[0-9a-f]{64}")

ITERATIONS = 4096
"""How many times a token is hashed.

Iterations make guessing slow. A token is 256 random bits, which nobody can guess, so one would do; but RFC 7677 asks
for at least 4,096, and some clients refuse a server that names fewer. More would slow down every connection and protect
nothing.
"""

_SALT = 16
_KEY = 32
_SCRAM = re.compile(
    r"SCRAM-SHA-256\$([1-9][0-9]{3,8}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)", re.ASCII
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A token as the ledger knows it.

    Args:
        digest: the SHA-256 of the token, in hexadecimal.
        subject: who holds it; questions that are asked with it are this analyst's.
        at: when it was made, in UTC.
        content: what it allows, as JSON-ready data; the ledger itself reads `role`, `expires`, `share`
            and `scram` alone.
        revoked: when it was revoked, in UTC; None if it wasn't.
    """

    digest: str
    subject: str
    at: datetime
    content: Mapping[str, Any]
    revoked: datetime | None = None

    @property
    def id(self) -> str:
        """Its name; says nothing of the token itself."""
        return self.digest[:12]


class Tokens:
    """The tokens of one account; `Account.tokens` has them.

    Args:
        store: of the ledger.
        account: its name.
    """

    def __init__(self, store: Store, account: str) -> None:
        """Keep the parts; nothing is read yet."""
        self._store = store
        self.account = account

    def grant(self, digest: str, subject: str, content: Mapping[str, object]) -> Grant:
        """Let a new token in. It is on the disk when this returns.

        Args:
            digest: the SHA-256 of the token, in hexadecimal.
            subject: who holds it: 1 to 255 printable characters.
            content: what it allows, as JSON-ready data.

        Raises:
            InvalidArgument: the digest isn't one, or is that of another token; or the subject can't be stored.
            LedgerError: the ledger can't be written.
        """
        if not _DIGEST.fullmatch(digest):
            raise InvalidArgument("a token's digest has 64 hexadecimal digits")
        checked_name(subject, "the subject's name")
        body = to_body(content)

        def append(chain: Chain) -> Row:
            if self._last(chain, Kind.TOKEN, digest) is not None:
                raise InvalidArgument("there already is a token with this digest")
            return chain.append(Kind.TOKEN, body, account=self.account, analyst=subject, digest=digest)

        return granted(self._store.write(append))

    def find(self, digest: str) -> Grant | None:
        """The token with this digest, revoked or not; None if there is none.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return self.shown(digest)[0]

    def shown(self, digest: str) -> tuple[Grant | None, datetime]:
        """The token with this digest, and the time by which it holds or not: never before that of the last entry.

        Raises:
            LedgerError: the ledger can't be read.
        """

        def look(chain: Chain) -> tuple[Grant | None, datetime]:
            row = self._last(chain, Kind.TOKEN, digest)
            found = None if row is None else granted(row, self._last(chain, Kind.REVOKE, digest))
            return found, datetime.fromisoformat(chain.time())

        return self._store.read(look)

    def revoke(self, digest: str) -> Grant:
        """Let a token in no more. Nothing lets it in again; revoking it once more changes nothing.

        Raises:
            InvalidArgument: there is no such token.
            LedgerError: the ledger can't be written.
        """

        def append(chain: Chain) -> Grant:
            row = self._last(chain, Kind.TOKEN, digest)
            if row is None:
                hint = Hint("tokens.all() lists them", cli="`discreet token list` shows them")
                raise InvalidArgument("there is no such token", hint=hint)
            before = self._last(chain, Kind.REVOKE, digest)
            return granted(
                row,
                before
                or chain.append(Kind.REVOKE, to_body({}), account=self.account, analyst=row.analyst, digest=digest),
            )

        return self._store.write(append)

    def all(self) -> Sequence[Grant]:
        """All tokens, revoked ones too, in the order in which they were made.

        Raises:
            LedgerError: the ledger can't be read.
        """

        def look(chain: Chain) -> list[Grant]:
            made = chain.every(Kind.TOKEN, self.account)
            revoked = {row.digest: row for row in chain.every(Kind.REVOKE, self.account)}
            return [granted(row, revoked.get(row.digest)) for row in made]

        return self._store.read(look)

    def called(self, name: str) -> Grant | None:
        """The token of this id, revoked or not; None if there is none.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return next((grant for grant in self.all() if grant.id == name), None)

    def _last(self, chain: Chain, kind: Kind, digest: str) -> Row | None:
        """The last entry of a kind about a token."""
        return chain.last(kind, account=self.account, digest=digest)


def granted(row: Row, revocation: Row | None = None) -> Grant:
    """A token, read from its entries.

    Raises:
        LedgerCorrupt: they aren't what was written.
    """
    if row.digest is None or row.analyst is None:
        raise LedgerCorrupt(f"the token in entry {row.seq} can't be read")
    return Grant(
        digest=row.digest,
        subject=row.analyst,
        at=datetime.fromisoformat(row.at),
        content=row.content(),
        revoked=None if revocation is None else datetime.fromisoformat(revocation.at),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """The verifier by which a password is checked.

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
        found = _SCRAM.fullmatch(text) if isinstance(text, str) else None
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
        salt, stored_key, server_key = (b64encode(b).decode() for b in (self.salt, self.stored_key, self.server_key))
        return f"SCRAM-SHA-256${self.iterations}:{salt}${stored_key}:{server_key}"

    def __repr__(self) -> str:
        return "Verifier()"
