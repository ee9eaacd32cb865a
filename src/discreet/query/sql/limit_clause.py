"""LIMIT and OFFSET: how many groups are shown, and how many are skipped before them."""

from __future__ import annotations

from typing import Any

from discreet.errors import Unsupported
from discreet.query.sql.places import offset_of


def count_of(part: str, clause: Any) -> int | None:  # noqa: ANN401 — a part of a node, or none
    """The number after LIMIT or OFFSET; None without one.

    Raises:
        Unsupported: it isn't a whole number that is written out.
    """
    if clause is None:
        return None
    node, extra = clause.args.get("expression"), {key for key, value in clause.args.items() if value}
    digits = node.name if type(node).__name__ == "Literal" and not node.args.get("is_string") else ""
    if extra - {"expression"} or not digits.isdigit() or len(digits) > 18:  # noqa: PLR2004 — 64 bits
        called = "TOP" if clause.meta.get("top") else part.upper()
        raise Unsupported(f"{called} takes a whole number", at=offset_of(clause))
    return int(digits)
