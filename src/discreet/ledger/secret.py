"""The ledger's secret: the key under which it remembers what each version of the tables holds, and nothing else."""

from __future__ import annotations

import hmac
import re
from hashlib import sha256

_BYTES = 32
_SECRET = re.compile(f"[0-9a-f]{{{2 * _BYTES}}}")


def new_secret() -> str:
    """A secret for a new ledger, in hexadecimal: 256 bits that nobody can guess."""
    from discreet.entropy import fresh_bytes

    return fresh_bytes(_BYTES).hex()


def is_secret(text: object) -> bool:
    """Whether this could be what `new_secret` made."""
    return isinstance(text, str) and _SECRET.fullmatch(text) is not None


def commitment(secret: str) -> str:
    """What the chain holds of the secret, so that it can't be exchanged unnoticed; says nothing about it."""
    return sha256(secret.encode("ascii")).hexdigest()


def mark(secret: str, account: str, version: int, contents: str, group: str = "") -> str:
    """What the ledger holds of the contents of a version, whose digest is made from private data.

    An HMAC: whoever has a candidate for the data, but not the secret, can't find out whether it is the right one. The
    version goes into it, so that two marks don't tell either whether two versions hold the same; and the refresh group,
    unless it is the one without a name.

    Examples:
        >>> mark("00" * 32, "census", 1, "data") == mark("11" * 32, "census", 1, "data")
        False
        >>> mark("00" * 32, "census", 1, "data") == mark("00" * 32, "census", 2, "data")
        False
    """
    parts = [account, str(version), *([group] if group else []), contents]
    return hmac.new(bytes.fromhex(secret), "\0".join(parts).encode(), sha256).hexdigest()
