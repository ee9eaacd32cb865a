"""Doubts: what the data says against a declaration that it had no part in, for the custodian's eyes only."""

from __future__ import annotations

from discreet.errors import InvalidArgument
from discreet.privacy import Bounds
from discreet.tables.proposals.peek import Seen
from discreet.tables.proposals.suggestion import Context, Origin, Suggestion, texts
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.toml import printable


def doubt(item: Suggestion, context: Context) -> str | None:
    """In what the data doesn't fit the declaration; None if it does, or if nobody looked.

    The declaration stays as it is: were it changed, it would be a leak. The answer depends on the data, so it
    belongs on the screen of a custodian, who may see all of it, and never into a file that others read.
    """
    looked = context.peek is not None and item.column.name in context.peek.columns
    if context.peek is None or not looked or item.left_out or item.origin is Origin.DATA:
        return None
    words = _against(item.column, context.peek.of(item.column.name), context)
    return words and f"{printable(item.column.name)}: {words}"


def _against(column: Column, seen: Seen, context: Context) -> str | None:
    """What was seen in a column that its declaration doesn't allow."""
    if column.keys is not None:
        found = texts(seen, context) if column.kind is Kind.TEXT else [*(seen.values or ()), seen.lo, seen.hi]
        if found is None:
            return "it has too many values to compare with its keys"
        strange = {value for value in found if value is not None} - set(column.keys)
        return "some values aren't among its keys and would be read as NULL" if strange else None
    if column.bounds is None or seen.lo is None or seen.hi is None:
        return None
    try:
        # Bounds refuses ends in the wrong order, and of different kinds.
        Bounds(column.bounds.lo, seen.lo)
        Bounds(seen.hi, column.bounds.hi)
    except InvalidArgument:
        return f"some values aren't in {column.bounds} and would be moved to its ends"
    return None
