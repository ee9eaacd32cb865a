"""JSON that can be read in only one way: no object has a name twice, and no number is NaN or infinite."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def strict_json(content: bytes | str) -> Any:  # noqa: ANN401 — JSON
    """Parse JSON, if there is only one way to read it.

    Raises:
        ValueError: it isn't JSON, an object has a name twice, or a number isn't one that JSON has.
        RecursionError: it is nested too deeply.

    Examples:
        >>> strict_json('{"aud": "a"}')
        {'aud': 'a'}
    """
    return json.loads(content, object_pairs_hook=_single, parse_constant=_no_number)


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, of which readers can't take the first or the last of two names."""
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("an object has a name twice")
    return found


def _no_number(said: str) -> NoReturn:
    """NaN and infinities are no JSON."""
    raise ValueError(f"JSON has no {said}")
