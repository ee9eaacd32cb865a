"""Tokens: who may come in to an account through a server. They are made and revoked by entries of the chain.

The ledger holds the SHA-256 of a token, never the token: whoever reads a copy of it can't come in. A token is 256
random bits, so no digest of it can be found by trying.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.hints import Hint
from discreet.ledger.declaration import checked_name
from discreet.ledger.row import Kind, Row, to_body

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain
    from discreet.ledger.store import Store

_DIGEST = re.compile("[0-9a-f]{64}")


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
        """What it is called by; says nothing of the token itself."""
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
                raise InvalidArgument("there is a token with this digest already")
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
                hint = Hint("tokens.all() has them", cli="`discreet token list` shows them")
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
