"""The ledger's secret: the key under which it remembers which data it has seen, and nothing else."""

from __future__ import annotations

import hmac
import re
from hashlib import sha256

_BYTES = 32
_SECRET = re.compile(f"[0-9a-f]{{{2 * _BYTES}}}")


def new_secret() -> str:
    """A secret for a new ledger, in hexadecimal: 256 bits that nobody can guess."""
    from discreet.noise.entropy import fresh_bytes

    return fresh_bytes(_BYTES).hex()


def is_secret(text: object) -> bool:
    """Whether this could be what `new_secret` made."""
    return isinstance(text, str) and _SECRET.fullmatch(text) is not None


def commitment(secret: str) -> str:
    """What the chain holds of the secret, so that it can't be exchanged unnoticed; says nothing about it."""
    return sha256(secret.encode("ascii")).hexdigest()


def mark(secret: str, account: str, fingerprint: str) -> str:
    """What the ledger holds of a fingerprint, which is made from private data.

    An HMAC: whoever has a candidate for the data, but not the secret, can't find out whether it is the right one.

    Examples:
        >>> mark("00" * 32, "census", "data") == mark("11" * 32, "census", "data")
        False
    """
    return hmac.new(bytes.fromhex(secret), f"{account}\0{fingerprint}".encode(), sha256).hexdigest()
