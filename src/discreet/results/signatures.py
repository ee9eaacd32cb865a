"""Signatures: that an account said something, shown to anyone who has its public key and nothing else of it.

What is signed is all of an answer, or of a ledger's head: its values and kinds, intervals, cost and certificate, the
account and the ledger it comes from, the question, and when it was signed. So no part can be changed, left out, added,
or moved to another answer. Ed25519 (RFC 8032), over a text that begins with what it is about: the signature of one kind
of thing is none of another.

The text is the same however JSON is written: keys in the order of their code points, no spaces, ASCII alone, whole
numbers as digits, other numbers as the shortest text that reads back as the same double. Numbers are what they are
worth: `1` and `1.0` are one text. Whole numbers beyond 2⁵³ survive only where a reader of JSON keeps their digits.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal, Self, TypeAlias

from discreet.errors import InvalidArgument
from discreet.results.answer import Answer
from discreet.results.contradictions import contradictions
from discreet.strict_json import strict_json

FORM = 1
"""The form of what is signed, which is signed along with it."""

ALGORITHM = "Ed25519"

Signed: TypeAlias = Literal["answer", "certificate", "head"]
"""The kinds of signed text, which begins with one of these words."""

UNSIGNED = frozenset({"id", "state", "spent"})
"""Fields beside an answer that aren't part of it: a server's name for it, its state, and the account's standing."""

_KEY_BYTES = 32
_VALUE_BYTES = 64
_FIELDS: Mapping[Signed, frozenset[str]] = MappingProxyType(
    {
        "answer": frozenset({"form", "algorithm", "key", "ledger", "account", "question", "at", "value"}),
        "certificate": frozenset({"form", "algorithm", "key", "ledger", "account", "at", "value"}),
        "head": frozenset({"form", "algorithm", "key", "value"}),
    }
)
"""The fields of a signature: all of them, and no others."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The key that signatures of an account are checked against; everyone may have it.

    Args:
        raw: its 32 bytes.

    Examples:
        >>> key = PublicKey(bytes(32))
        >>> key.id, PublicKey.read(key.text) == key
        ('66687aadf862bd77', True)
    """

    raw: bytes

    @property
    def id(self) -> str:
        """The name of the key: the beginning of its SHA-256."""
        return sha256(self.raw).hexdigest()[:16]

    @property
    def text(self) -> str:
        """The key in base64."""
        return b64encode(self.raw).decode("ascii")

    def to_json(self) -> dict[str, str]:
        """The key as JSON-ready data, as `GET /v1/key` gives it."""
        return {"algorithm": ALGORITHM, "key": self.text, "id": self.id}

    @classmethod
    def read(cls, text: str) -> Self:
        """A key in base64, or in the JSON that `to_json` makes.

        Raises:
            InvalidArgument: it is neither.
        """
        found: object = text.strip()
        if text.lstrip().startswith("{"):
            given = _parsed(text)
            found = given.get("key") if given.get("algorithm") == ALGORITHM else None
        raw = _bytes(found, _KEY_BYTES)
        if raw is None:
            raise InvalidArgument(
                "this isn't a public key", hint="give 44 characters of base64, or the reply of /v1/key"
            )
        return cls(raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureCheck:
    """The result of checking something signed.

    Args:
        problems: what doesn't hold, in words; nothing, if all of it does.
        content: what was signed, if it holds; else empty, so that nobody takes forged words for signed ones.
    """

    problems: tuple[str, ...]
    content: Mapping[str, Any]

    @property
    def holds(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def signed_text(kind: Signed, content: Mapping[str, Any], signature: Mapping[str, Any]) -> bytes:
    """The text that is signed: the kind, the content, and what the signature says of itself.

    Args:
        kind: what the content is.
        content: as JSON-ready data.
        signature: without its value.

    Raises:
        TypeError: it isn't JSON.
        ValueError: it holds NaN, an infinity, or a number too long for a text.
    """
    whole = {"content": content, "signature": signature}
    text = json.dumps(_exact(whole), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"discreet {kind}\0{text}".encode("ascii")


def signature_of(
    kind: Signed,
    content: Mapping[str, Any],
    said: Mapping[str, Any],
    *,
    key: PublicKey,
    sign: Callable[[bytes], bytes],
) -> dict[str, Any]:
    """A signature, as JSON-ready data.

    Args:
        kind: what the content is.
        content: all that is signed, as JSON-ready data.
        said: what the signature says beside form, algorithm and key.
        key: whose signature it is.
        sign: makes the 64 bytes.
    """
    signature = {"form": FORM, "algorithm": ALGORITHM, "key": key.id, **said}
    value = sign(signed_text(kind, content, signature))
    return {**signature, "value": b64encode(value).decode("ascii")}


def verify_certificate(answer: str | bytes | Mapping[str, Any], key: PublicKey | str) -> SignatureCheck:
    """Whether an account signed this answer, all of it, and its certificate is its own.

    The certificate of an entry of the ledger, which auditors have without the answer, is verified just so.

    It takes nothing but the public key: no ledger, no server. It shows that the holder of the key said this, about this
    question, of this version of the tables; not that it is right, nor that it is the newest.

    Args:
        answer: the JSON that `Answer.to_json`, `discreet ask --format json` or a server gave, as a text or as data. A
            text is read more strictly: where a key appears twice, it isn't said which of the two was meant.
        key: of the account, as it was learnt in another way than with the answer; a text is read by `PublicKey.read`.

    Raises:
        InvalidArgument: the key isn't one.

    Examples:
        >>> verify_certificate('{"rows": [{"n": 17}]}', PublicKey(bytes(32))).problems
        ("it isn't signed",)
    """
    found = _checked("answer", answer, key, UNSIGNED)
    if not found.holds:
        entry = _checked("certificate", answer, key, frozenset())
        return _vouched(entry.content) if entry.holds else found
    try:
        wrong = contradictions(Answer.from_json(_exact(found.content)))
    except InvalidArgument as error:
        wrong = [error.message]
    return SignatureCheck(problems=tuple(wrong), content={} if wrong else found.content)


def _vouched(content: Mapping[str, Any]) -> SignatureCheck:
    """Whether a signed certificate of an entry vouches for it: it isn't of another, and the account knew no problem."""
    proof = content["certificate"]
    wrong = [str(each) for each in content["problems"]]
    if proof is None:
        wrong.append("this entry has no certificate: no answer was released for it")
    elif proof.get("entry") != content["entry"]:
        wrong.append(f"it is of entry {content['entry']}, but its certificate names {proof.get('entry')}")
    return SignatureCheck(problems=tuple(wrong), content={} if wrong else content)


def verify_head(head: str | bytes | Mapping[str, Any], key: PublicKey | str) -> SignatureCheck:
    """Whether an account signed this head of its ledger.

    Args:
        head: the JSON that a server or `discreet witness` gave, as a text or as data.
        key: of the account, as it was learnt in another way than with the head.

    Raises:
        InvalidArgument: the key isn't one.
    """
    return _checked("head", head, key, frozenset())


def heads_in(text: str) -> list[str]:
    """The heads in what a witness kept: one, or one on each line. A line that was broken off is none."""
    return [text] if _is_object(text) else [line for line in text.splitlines() if _is_object(line)]


def _is_object(text: str) -> bool:
    """Whether a text is one JSON object."""
    try:
        return bool(_parsed(text))
    except InvalidArgument:
        return False


def _checked(
    kind: Signed, given: str | bytes | Mapping[str, Any], key: PublicKey | str, unsigned: frozenset[str]
) -> SignatureCheck:
    """Whether something was signed, all but what isn't part of it."""
    public = PublicKey.read(key) if isinstance(key, str) else key
    try:
        data = given if isinstance(given, Mapping) else _parsed(given)
    except InvalidArgument as error:
        return SignatureCheck(problems=(error.message,), content={})
    content = {name: value for name, value in data.items() if name not in unsigned | {"signature"}}
    problem = _problem(kind, content, data.get("signature"), public)
    if problem is not None:
        return SignatureCheck(problems=(problem,), content={})
    return SignatureCheck(problems=(), content={**content, "signature": data["signature"]})


def _problem(kind: Signed, content: Mapping[str, Any], signature: object, key: PublicKey) -> str | None:
    """The first thing that doesn't hold of a signature, in words; None if all of it does."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if signature is None:
        return "it isn't signed"
    if not isinstance(signature, Mapping) or signature.keys() != _FIELDS[kind]:
        return f"what should be its signature isn't one, or is of something else: not of the kind {kind!r}"
    if (signature["form"], signature["algorithm"]) != (FORM, ALGORITHM):
        return "it is signed in a form that this version doesn't know; another version of discreet may"
    if signature["key"] != key.id:
        return (
            f"it names another key than {key.id}: it is from another account, or from before or after this key's time"
        )
    value = _bytes(signature["value"], _VALUE_BYTES)
    said = {name: each for name, each in signature.items() if name != "value"}
    try:
        text = signed_text(kind, content, said)
        Ed25519PublicKey.from_public_bytes(key.raw).verify(value or b"", text)
    except (InvalidSignature, TypeError, ValueError, OverflowError, RecursionError):
        return "it doesn't match its signature: it was changed, or the signature is of something else"
    return None


def _exact(value: Any) -> Any:  # noqa: ANN401 — JSON-ready data
    """The same with one way to write each number, and with texts alone for keys."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise TypeError("JSON takes only strings as keys")
        return {name: _exact(each) for name, each in value.items()}
    return [_exact(each) for each in value] if isinstance(value, list | tuple) else value


def _bytes(text: object, length: int) -> bytes | None:
    """Decode this many bytes of base64 in its canonical spelling; None for any other text."""
    try:
        raw = b64decode(text, validate=True) if isinstance(text, str) else b""
    except (NotBase64, ValueError):
        return None
    return raw if len(raw) == length and b64encode(raw).decode("ascii") == text else None


def _parsed(text: str | bytes) -> dict[str, Any]:
    """A JSON object.

    Raises:
        InvalidArgument: it is anything else; or a key stands in it twice, which one reader takes so and another so.
    """
    try:
        found = strict_json(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidArgument("it isn't one JSON object, with each key once")
    return found
