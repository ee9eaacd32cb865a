"""A peek at the data: what `discreet init` may read off a table, and must mark as a leak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.privacy import BoundValue, KeyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was seen in one column. All of it is private: its least value belongs to somebody.

    Args:
        lo: least value of a column of numbers or times; None if there is none, or nobody looked.
        hi: greatest value, likewise.
        values: the different values of a column of texts, integers, booleans or dates, with None among them if
            there are NULLs; None for the whole if there are more than the engine was asked to list.
    """

    lo: BoundValue | None = None
    hi: BoundValue | None = None
    values: tuple[KeyValue, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Peek:
    """What was seen in a table, by the name of the column. Only the custodian's own `init` makes one.

    Examples:
        >>> Peek(columns={"age": Seen(lo=17, hi=90)}).of("age").hi
        90
        >>> Peek().of("age").hi is None
        True
    """

    columns: Mapping[str, Seen] = field(default_factory=dict)

    def of(self, column: str) -> Seen:
        """What was seen in that column; nothing if nobody looked."""
        return self.columns.get(column, Seen())
