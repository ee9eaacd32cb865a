"""Sources: where a private table lies. A source is a name, not a handle: with it alone nothing can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SourceKind = Literal["csv", "parquet", "duckdb", "memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a table lies.

    Args:
        kind: how to read it. `memory` tables exist in one process only and can't be named in a file.
        location: a path; for `memory`, any label.
        table: the table inside a database file.
        missing: texts that a CSV file writes for NULL, besides the empty one.
    """

    kind: SourceKind
    location: str
    table: str | None = None
    missing: tuple[str, ...] = ()
