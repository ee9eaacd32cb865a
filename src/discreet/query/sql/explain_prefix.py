"""EXPLAIN before a question: it is taken off, and decides what becomes of the rest."""

from __future__ import annotations

import re

from discreet.errors import Unsupported
from discreet.query.sql.places import in_text
from discreet.results import BLANK

_EXPLAIN = re.compile(rf"{BLANK}*+(EXPLAIN)\b", re.IGNORECASE)

_DP = re.compile(rf"{BLANK}*+\({BLANK}*+DP{BLANK}*+\)", re.IGNORECASE)

_OTHER = re.compile(
    rf"{BLANK}*+(ANALY[ZS]E|VERBOSE|EXTENDED|FORMATTED|CODEGEN|COST|LOGICAL|QUERY|USING|FORMAT|PLAN|\(\s*(?!SELECT|WITH)\w)",
    re.IGNORECASE,
)

_ANALYSE = re.compile(rf"{BLANK}*+\(?\s*ANALY[ZS]E", re.IGNORECASE)


def explained(text: str) -> str | None:
    """The question after an EXPLAIN, with blanks in its place so that places stay right; None without an EXPLAIN.

    Raises:
        Unsupported: EXPLAIN ANALYZE, or another kind of it.

    Examples:
        >>> explained("EXPLAIN (DP) SELECT 1")
        '             SELECT 1'
        >>> explained("SELECT 1") is None
        True
    """
    found = _EXPLAIN.match(text)
    if found is None:
        return None
    end = found.end()
    dp = _DP.match(text, end)
    end = dp.end() if dp else end
    with in_text(text):
        _check_kind(text, end)
    return re.sub(r"[^\n]", " ", text[:end]) + text[end:]


def _check_kind(text: str, end: int) -> None:
    """Refuse kinds of EXPLAIN that other databases have; `end` is where the text goes on after the word."""
    other = _OTHER.match(text, end)
    if other is None:
        return
    if _ANALYSE.match(text, end):
        raise Unsupported(
            "EXPLAIN ANALYZE would run the question, and tell what only the data can tell",
            hint="EXPLAIN says what the answer would cost and how accurate it would be",
            at=other.start(1),
        )
    raise Unsupported("EXPLAIN takes (DP) or nothing", hint="EXPLAIN SELECT …", at=other.start(1))
