"""A database's schema beyond the types of its columns: what it declares of a table to everyone who may use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A column whose values name rows of another table.

    Args:
        column: of the table that it is declared of.
        table: that it leads to, as a source names it.
        to: the column there.
    """

    column: str
    table: str
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSchema:
    """What a database declares of a table.

    Args:
        links: its foreign keys of one column.
        keys: the members of enumerations, by the column that holds them.
        comments: on its columns.
        comment: on the table; empty if there is none.
    """

    links: tuple[ForeignKey, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
