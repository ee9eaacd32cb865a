"""Pieces: of a source, what one task of a cluster reads, wherever it runs."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.errors import SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.files import OpenFile
from discreet.tables.sources.opening import open_source
from discreet.tables.sources.reader import OpenRowGroups, OpenSource

IN_ROW_GROUPS = frozenset({"parquet", "delta"})
"""Kinds of sources that can be cut: opened, each is an `OpenRowGroups`."""
READ_ELSEWHERE = IN_ROW_GROUPS | {"csv", "jsonl", "arrow", "xlsx"}
"""Kinds of sources that are files and nothing more, so that another machine can read them under the same path."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a source.

    Args:
        location: of the source, as it was declared.
        what: some row groups; or a whole file of another kind,
        mark: which was this one.
    """

    location: str
    what: OpenSource | Source
    mark: str = ""

    def open(self) -> OpenSource:
        """The source, open.

        Raises:
            SourceMissing: it isn't there, where this runs.
            SourceUnsupported: it can't be read, or isn't the file that it was.
        """
        if isinstance(self.what, OpenSource):
            return copy(self.what)
        with OpenFile(self.what.location) as file:
            if file.mark() != self.mark:
                raise SourceUnsupported(
                    f"{self.location!r} was changed while it was being read",
                    hint="read it while nobody is writing to it",
                )
        return open_source(self.what)


def pieces_of(source: Source, opened: OpenRowGroups | None, most: int) -> Sequence[Piece]:
    """The pieces of a source; at least one.

    Args:
        source: whose kind is one of `READ_ELSEWHERE`.
        opened: the source, open, if it can be cut.
        most: rows of a piece, unless one row group has more.

    Raises:
        SourceMissing: it isn't there.
        SourceUnsupported: it can't be opened, or was changed since it was.
    """
    if opened is not None:
        return [Piece(source.location, piece) for piece in opened.pieces(most)]
    with OpenFile(source.location) as file:
        return [Piece(source.location, replace(source, location=str(Path(source.location).absolute())), file.mark())]
