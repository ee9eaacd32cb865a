"""Sources: where a private table lies. A source is a name, not a handle: with it alone nothing can be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, get_args

from discreet.errors import InvalidArgument, SourceUnsupported

SourceKind = Literal["csv", "parquet", "duckdb", "memory"]

_ENDINGS: dict[str, SourceKind] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".db": "duckdb",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a table lies.

    Args:
        kind: how to read it. `memory` tables exist in one process only and can't be named in a file.
        location: a path; for `memory`, any label.
        table: the table inside a database file; None if it holds only one.
        missing: texts that a CSV file writes for NULL, besides the empty one.

    Raises:
        InvalidArgument: an unknown kind, no location, or what another kind of source has: a table outside of a
            database, or texts for NULL outside of a CSV file.
    """

    kind: SourceKind
    location: str
    table: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what would be silently ignored."""
        if self.kind not in get_args(SourceKind):
            raise InvalidArgument(
                f"unknown kind of source {self.kind!r}", hint="one of " + ", ".join(get_args(SourceKind))
            )
        if not self.location:
            raise InvalidArgument("a source needs a location")
        if self.table is not None and self.kind != "duckdb":
            raise InvalidArgument(f"a {self.kind} source is one table; only a database has tables with names")
        if self.missing and self.kind != "csv":
            raise InvalidArgument(f"only CSV files write NULL as text; a {self.kind} source has NULL itself")

    @classmethod
    def of(cls, path: str | Path, *, table: str | None = None, missing: tuple[str, ...] = ()) -> Self:
        """The file at `path`, of the kind that its name's ending says.

        Raises:
            SourceUnsupported: the ending isn't one of those known.
            InvalidArgument: `table` or `missing` doesn't fit the kind.

        Examples:
            >>> Source.of("census.csv").kind
            'csv'
        """
        name = Path(path).name.casefold()
        for ending, kind in _ENDINGS.items():
            if name.endswith(ending):
                return cls(kind=kind, location=str(path), table=table, missing=missing)
        raise SourceUnsupported(
            f"the name {Path(path).name!r} doesn't say what kind of file it is",
            hint=f"known endings are {' '.join(_ENDINGS)}",
        )

    @property
    def stem(self) -> str:
        """The file's name without its ending; for `memory`, the label.

        Examples:
            >>> Source.of("data/adult.csv.gz").stem
            'adult'
        """
        name = self.location if self.kind == "memory" else Path(self.location).name or self.kind
        ending = max((ending for ending in _ENDINGS if name.casefold().endswith(ending)), key=len, default="")
        return name[: len(name) - len(ending)] or name
