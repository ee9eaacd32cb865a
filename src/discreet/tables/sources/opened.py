"""An open source: its columns, and its rows in record batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

from discreet.errors import InvalidArgument, SchemaMismatch, SourceMissing, SourceUnsupported
from discreet.tables.sources.files import OpenFile, identity_of

if TYPE_CHECKING:
    import pyarrow as pa

MOST_LINES = 100
"""So many lines of malformed records are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column of a source.

    Args:
        name: as the source spells it; a blank one is called `column N`.
        type: an Arrow type, of this column's arrays in every batch. Of a column that can't be read, what it is.
        untyped: its cells are texts that may mean numbers, dates or anything, in the words that were declared; or all
            of them are NULL, by the schema.
        required: the schema itself says that it is never NULL.
    """

    name: str
    type: pa.DataType
    untyped: bool = False
    required: bool = False


@dataclass(slots=True)
class Malformed:
    """The malformed records of a text file, as far as it has been read.

    Args:
        count: lines that were left out because no whole record starts there.
        lines: the numbers of the first 100 of them; the header is line 1.
    """

    count: int = 0
    lines: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        """Count one more."""
        self.count += 1
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)


class OpenSource(ABC):
    """A source that is open for reading; a context manager.

    Guarantee: no value makes `batches` raise. What can't be represented is NULL, and counted in `unreadable`. Only a
    damaged file does, and a malformed record unless these are skipped; no error quotes a cell.

    Attributes:
        location: what it is called in errors.
        malformed: the malformed records of the last pass, as far as it went.
        unreadable: by column, values of the last pass that became NULL, or in which wrong bytes are now U+FFFD.
        has_schema: whether the source says what columns it has. JSON lines don't: finding `fields` reads every row, and
            a column that no record has is NULL throughout.
    """

    has_schema = True

    def __init__(self, location: str) -> None:
        """Start with nothing counted."""
        self.location = location
        self.malformed = Malformed()
        self.unreadable: Counter[str] = Counter()

    def __enter__(self) -> Self:
        """The open source itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    @property
    @abstractmethod
    def fields(self) -> tuple[Field, ...]:
        """The columns, in the source's order; no two names are equal, nor differ in case alone."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """A digest of what was opened: of a file its place, size, time and ends; of a table in memory its contents."""

    @abstractmethod
    def is_unchanged(self) -> bool:
        """Whether what was opened is what it was. An open file whose name another has taken since may be."""

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in record batches of these columns in this order, in bounded memory.

        One pass; a later call starts another, and counts anew.

        Args:
            names: of columns, as `fields` has them.

        Raises:
            SchemaMismatch: there is no such column, or it holds what no kind of column is: lists, bytes, times of day.
            SourceMalformed: there are malformed records, and they aren't to be skipped.
            SourceUnsupported: the file is damaged, or was changed since it was opened.
        """
        if not names:
            raise InvalidArgument("a batch needs at least one column")
        chosen = self._choose(names)
        self.malformed, self.unreadable = Malformed(), Counter()
        return self._batches(chosen)

    def close(self) -> None:  # noqa: B027 — most of them hold nothing open
        """Let go of it."""

    @abstractmethod
    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows in these columns, which exist and can be read."""

    def _choose(self, names: Sequence[str]) -> list[Field]:
        """The columns of these names."""
        from discreet.tables.sources.arrays import is_delivered

        known = {each.name: each for each in self.fields}
        for name in names:
            if (
                name not in known
            ):  # the others aren't listed: where a text file lacks its header, they are somebody's row
                raise SchemaMismatch(
                    f"{self.location!r} has no column {name!r}", hint=f"it has {len(known)}; is the name spelt alike?"
                )
            if not is_delivered(known[name].type):
                raise SchemaMismatch(
                    f"the column {name!r} of {self.location!r} holds {known[name].type}, which can't be read",
                    hint="make texts or numbers of it, or leave it out",
                )
        return [known[name] for name in names]


class OpenFileSource(OpenSource):
    """A source that is one open file.

    Args:
        location: of the file.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it can't be opened.
    """

    def __init__(self, location: str) -> None:
        """Open the file."""
        super().__init__(location)
        self._file = OpenFile(location)

    @property
    def identity(self) -> str:
        """The open file's fingerprint."""
        return self._file.fingerprint

    def is_unchanged(self) -> bool:
        """Whether the file is what it was when it was opened."""
        return self._file.is_unchanged()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class OpenDatabase(OpenSource):
    """A table of a database file, which a library opens for itself.

    Args:
        location: of the file.
        logs: of files beside it in which the newest changes may lie.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it can't be opened.
    """

    def __init__(self, location: str, *logs: str) -> None:
        """Note what the file and its logs are now."""
        super().__init__(location)
        self._places = location, *logs
        self._identity = identity_of(*self._places)

    @property
    def identity(self) -> str:
        """A digest of the file, and of its logs."""
        return self._identity

    def is_unchanged(self) -> bool:
        """Whether the file and its logs are what they were."""
        try:
            return identity_of(*self._places) == self._identity
        except (SourceMissing, SourceUnsupported):
            return False
