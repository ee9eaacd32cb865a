"""Idempotency keys, by which a question that is sent again is paid for once: one rule for client and service."""

from __future__ import annotations

import re

from discreet.errors import InvalidArgument

_KEY = re.compile("[!-~](?:[ -~]{0,198}[!-~])?", re.ASCII)


def check_key(key: str) -> None:
    """Refuse what isn't an idempotency key, before it gets into the head of a request or into a ledger.

    Raises:
        InvalidArgument: it isn't one.

    Examples:
        >>> check_key("4f9c1e")
        >>> check_key(" ")
        Traceback (most recent call last):
        ...
        discreet.errors.InvalidArgument: an Idempotency-Key has 1 to 200 printable ASCII characters, ...
    """
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InvalidArgument(
            "an Idempotency-Key has 1 to 200 printable ASCII characters, with no space at its ends",
            hint="use a random UUID, a new one for each question",
        )
