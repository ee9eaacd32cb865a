"""Signing: the key of an account, and what is signed with it: answers, and heads of the ledger.

The private key is a file that its owner alone can read, beside the ledger or the configuration; it is in no database,
message or log. The ledger's chain names the public one, so that a key that was exchanged shows, and that two servers on
one ledger can't sign with two. Each kind of thing that is signed begins with what it is (`results.signed_text`), so the
signature of an answer is none of a head.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import LedgerCorrupt, LedgerUnavailable
from discreet.hints import Hint
from discreet.ledger.row import Kind, Row, to_body
from discreet.ledger.transaction import AccountTransaction
from discreet.private_files import IS_OPEN, is_open, write_private
from discreet.results import PublicKey, Signer, signature_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from discreet.ledger.chain import Chain
    from discreet.ledger.store import Store

_BYTES = 32


class SigningKey:
    """A private key. It shows itself nowhere, and leaves no process: a pickle or a copy of it is None.

    Args:
        private: the key.
    """

    __slots__ = ("_private", "public")

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = PublicKey(private.public_key().public_bytes_raw())

    def sign(self, text: bytes) -> bytes:
        """The signature of a text, which says what it is."""
        return self._private.sign(text)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    @classmethod
    def read(cls, path: Path) -> SigningKey | None:
        """The key in a file; None if there is no file.

        Raises:
            LedgerUnavailable: others can read it, or it can't be read, or is no such key.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            with path.open("rb") as file:
                opened, content = is_open(file.fileno()), file.read(10_000)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(path, f"can't be read: {os.strerror(error.errno or 0)}") from None
        if opened:
            raise _unusable(path, IS_OPEN, "chmod 600, and `discreet key --new`")
        try:
            private = load_pem_private_key(content, password=None)
        except (ValueError, TypeError):
            private = None
        if not isinstance(private, Ed25519PrivateKey):
            raise _unusable(path, "was altered", "restore it from a copy")
        return cls(private)

    @classmethod
    def written(cls, path: Path, *, anew: bool = False) -> SigningKey:
        """The key in a file, which is made with a key of its own where there is none, or anew.

        Raises:
            LedgerUnavailable: it can't be written.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        from discreet.entropy import fresh_bytes

        if not anew and (found := cls.read(path)) is not None:
            return found
        _write(path, Ed25519PrivateKey.from_private_bytes(fresh_bytes(_BYTES)), anew=anew)
        found = cls.read(path)
        if found is None:
            raise _unusable(path, "can't be written")
        return found

    @classmethod
    def copied(cls, source: Path, place: Path) -> None:
        """Copy a key's file to where there is none.

        Raises:
            LedgerUnavailable: it is no key, or can't be written there.
        """
        found = cls.read(source)
        if found is None:
            raise _unusable(source, "isn't there")
        _write(place, found._private, anew=False)  # noqa: SLF001 — its own


def _write(path: Path, private: Ed25519PrivateKey, *, anew: bool) -> None:
    """Write a key where there is none, or anew.

    Raises:
        LedgerUnavailable: it can't be written.
    """
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    try:
        write_private(path, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), replacing=anew)
    except OSError as error:
        raise _unusable(path, f"can't be written: {os.strerror(error.errno or 0)}") from None


class Signing:
    """The signatures of one account; `Account.signing` has them.

    Args:
        store: of the ledger.
        account: its name.
        path: of the key's file; None where there is none.
    """

    def __init__(self, store: Store, account: str, path: Path | None) -> None:
        """Keep the parts; nothing is read yet."""
        self.path = path
        self._store = store
        self._account = account
        self._key: SigningKey | None = None
        self._ledger = ""
        self._is_loaded = False

    def load(self) -> None:
        """Have the key at hand, if there is one: afterwards nothing of it can fail any more.

        Raises:
            LedgerUnavailable: the file can't be used, or holds another key than the ledger names.
            LedgerError: the ledger can't be read.
        """
        if self._is_loaded:
            return
        named, ledger = self._store.read(lambda chain: (self._named(chain), chain.head.commitment))
        found = None if self.path is None or named is None else SigningKey.read(self.path)
        if self.path is not None and named is not None and found is not None and found.public != named:
            raise _unusable(
                self.path,
                f"holds key {found.public.id}, but the ledger names {named.id}",
                "copy the right key there, from a backup or the other server; or make a new one: `discreet key --new`",
            )
        self._key, self._ledger, self._is_loaded = found, ledger, True

    def make(self, *, anew: bool = False) -> PublicKey:
        """Have a key at hand: the ledger's, or the first one, or a new one.

        What was signed with an earlier key is checked against that.

        Raises:
            LedgerUnavailable: it can't be written; or the ledger names one, and it isn't here.
            LedgerError: the ledger can't be read or written.
        """
        if self.path is None:
            raise LedgerUnavailable(
                "there is nowhere to keep a signing key",
                hint="load the tables from a configuration, beside which the key is kept",
            )
        if anew or self.public is None:
            made = SigningKey.written(self.path, anew=anew)
            self._store.write(lambda chain: self._name(chain, made.public, anew=anew))
        self._is_loaded = False
        self.load()
        return self._needed().public

    @property
    def public(self) -> PublicKey | None:
        """The key that the ledger names; None if no key was made yet.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return self._store.read(self._named)

    def all(self) -> Sequence[PublicKey]:
        """All keys that the ledger has named, the first one first: what was signed before is verified with an old one.

        Raises:
            LedgerError: the ledger can't be read.
        """
        return self._store.read(lambda chain: [key_of(row) for row in chain.every(Kind.KEY, self._account)])

    def signer(self, question: str) -> Signer | None:
        """The signer of a question's answer; None if no key is at hand.

        Args:
            question: as it was asked, this time.
        """
        return None if self._key is None else _AnswerSigner(self._key, self._ledger, self._account, question)

    def certificate(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The account's signed statement about one question that was paid for.

        Args:
            content: all of it, as JSON-ready data.

        Raises:
            LedgerUnavailable: no key is at hand.
            LedgerError: the ledger can't be read.
        """
        self.load()
        key, said = self._needed(), {"ledger": self._ledger, "account": self._account, "at": _now()}
        return {**content, "signature": signature_of("certificate", content, said, key=key.public, sign=key.sign)}

    def head(self) -> dict[str, Any]:
        """The ledger's head as it is now, signed: how many entries, the hash of the last, and what this account spent.

        Raises:
            LedgerUnavailable: no key is at hand.
            LedgerError: the ledger can't be read, or is damaged at its end.
        """
        self.load()
        key = self._needed()

        def look(chain: Chain) -> dict[str, Any]:
            chain.time()
            return {
                "entries": chain.head.seq,
                "head": chain.head.hash,
                "ledger": chain.head.commitment,
                "account": self._account,
                "spent": AccountTransaction(chain, self._account).spent().to_dict(),
            }

        content = {**self._store.read(look), "at": _now()}
        return {**content, "signature": signature_of("head", content, {}, key=key.public, sign=key.sign)}

    def _needed(self) -> SigningKey:
        """The key at hand."""
        if self._key is None:
            raise LedgerUnavailable(
                f"the signing key isn't at {self.path}",
                hint=Hint(
                    "copy it there, from a backup or the other server; if there never was one, signing.make()",
                    cli="copy it there, from a backup or the other server; if there never was one: `discreet key`",
                ),
            )
        return self._key

    def _named(self, chain: Chain) -> PublicKey | None:
        """The key that the chain names last."""
        row = chain.last(Kind.KEY, account=self._account)
        return None if row is None else key_of(row)

    def _name(self, chain: Chain, key: PublicKey, *, anew: bool) -> None:
        """Name a key in the chain, from now on."""
        named = self._named(chain)
        if named == key:
            return
        if named is not None and not anew:  # another server came first
            raise LedgerUnavailable(f"the ledger names another key, {named.id}", hint=f"copy that key to {self.path}")
        body = to_body({"algorithm": "Ed25519", "public": key.text})
        chain.append(Kind.KEY, body, account=self._account, digest=sha256(key.raw).hexdigest())


@dataclass(frozen=True, slots=True, repr=False)
class _AnswerSigner:
    """Signs one answer, whenever it is written.

    It says when, to the second: an answer of before there were signatures is signed when it is given again, and an
    answer that is given at a public time is signed at that.
    """

    key: SigningKey
    ledger: str
    account: str
    question: str

    def __call__(self, content: Mapping[str, Any]) -> Mapping[str, Any]:
        """The signature."""
        said = {"ledger": self.ledger, "account": self.account, "question": self.question, "at": _now()}
        return signature_of("answer", content, said, key=self.key.public, sign=self.key.sign)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Nothing: an answer in a pickle isn't signed any more."""
        return type(None), ()


def key_of(row: Row) -> PublicKey:
    """The key that an entry names.

    Raises:
        LedgerCorrupt: it can't be read.
    """
    try:
        return PublicKey.read(str(row.content().get("public")))
    except ValueError:
        raise LedgerCorrupt(f"the key in entry {row.seq} can't be read") from None


def _now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _unusable(path: Path, reason: str, hint: str = "") -> LedgerUnavailable:
    """The error for a key's file; never with anything of what is in it."""
    return LedgerUnavailable(f"the signing key {path} {reason}", hint=hint)
