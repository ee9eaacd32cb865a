"""An open source: its columns by name, and its rows in record batches. One set of rules for every format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from discreet.errors import InvalidArgument, SchemaMismatch, SourceMissing, SourceUnsupported
from discreet.tables.arrow_kinds import called
from discreet.tables.schema.column import Kind
from discreet.tables.schema.source import Source
from discreet.tables.sources.files import OpenFile, identity_of
from discreet.tables.sources.malformed import Malformed

if TYPE_CHECKING:
    import pyarrow as pa

MOST_COLUMNS = 100_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column of a source.

    Args:
        name: as the source spells it; a blank one is called `column N`.
        type: an Arrow type, of this column's arrays in every batch. Of a column that can't be read, what it is.
        untyped: its cells are texts that may mean numbers, dates or anything, in the words that were declared; or all
            of them are NULL, by the schema.
        required: the schema itself says that it is never NULL.
        number: the kind of numbers that its texts are, of which Arrow has no type; `untyped` then, too.
        merges: by what its source takes texts for equal that are written differently; empty if it doesn't.
        fix: what makes it readable, if its type isn't, or its texts distinct, if they aren't.
    """

    name: str
    type: pa.DataType
    untyped: bool = False
    required: bool = False
    number: Kind | None = None
    merges: str = ""
    fix: str = ""


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
        self.location = location
        self.malformed = Malformed()
        self.unreadable: Counter[str] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        known = {each.name: each for each in self.fields}
        for name in names:
            if (
                name not in known
            ):  # the others aren't listed: where a text file lacks its header, they are someone's row
                raise SchemaMismatch(
                    f"{self.location!r} has no column {name!r}",
                    hint=f"it has {len(known)}; is the name spelled the same?",
                )
            if not is_delivered(known[name].type):
                raise SchemaMismatch(
                    f"the column {name!r} of {self.location!r} holds {called(known[name].type)}, which can't be read",
                    hint=known[name].fix or "convert it to texts or numbers, or leave it out",
                )
        return [known[name] for name in names]


class OpenRowGroups(OpenSource):
    """A source that lies in row groups of files: its rows are counted before any is read, and can be read in pieces."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many there are."""

    @abstractmethod
    def pieces(self, most: int) -> Sequence[OpenSource]:
        """The rows in pieces of some row groups, in order; at least one.

        Each can be pickled, and opened on another machine, which has the same files under the same paths. It reads no
        others, and those only if they are what they were.

        Args:
            most: rows of a piece, deleted ones included, unless one row group has more.

        Raises:
            SourceMissing: a file is gone.
            SourceUnsupported: a file was changed since the source was opened.
        """


class OpenFileSource(OpenSource):
    """A source that is one open file.

    Args:
        location: of the file.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it can't be opened.
    """

    def __init__(self, location: str) -> None:
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


def is_delivered(kind: pa.DataType) -> bool:
    """Whether columns of this type are handed out as they are.

    Examples:
        >>> import pyarrow as pa
        >>> is_delivered(pa.timestamp("ms", "Europe/Paris")), is_delivered(pa.time64("us"))
        (True, False)
    """
    import pyarrow as pa

    plain = (
        pa.types.is_boolean,
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal128,
        pa.types.is_decimal256,
        pa.types.is_string,
        pa.types.is_date,
        pa.types.is_timestamp,
    )
    return kind == pa.dictionary(pa.int32(), pa.string()) or any(is_kind(kind) for is_kind in plain)


def column_names(written: Sequence[str], location: str) -> tuple[str, ...]:
    """The names as they are written, without spaces around them; a blank one is called `column N`.

    Args:
        written: in the source's order.
        location: what to call the source in an error.

    Raises:
        SourceUnsupported: there are no columns or too many, or two names are equal or differ in case alone. Their
            numbers are named instead: a text file without a header has a person's row there.

    Examples:
        >>> column_names(["age", "", " sex "], "census.csv")
        ('age', 'column 2', 'sex')
        >>> column_names(["age", "Age"], "census.csv")
        Traceback (most recent call last):
            ...
        discreet.errors.SourceUnsupported: 'census.csv' has the name of column 1 again for column 2 (...)
    """
    if not 0 < len(written) <= MOST_COLUMNS:
        raise SourceUnsupported(f"{location!r} has {len(written):,} columns", hint=f"a table has 1 to {MOST_COLUMNS:,}")
    names = tuple(name.strip() or f"column {number}" for number, name in enumerate(written, start=1))
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        earlier = first.setdefault(name.casefold(), number)
        if earlier != number:
            raise SourceUnsupported(
                f"{location!r} has the name of column {earlier} again for column {number}",
                hint="give each column a different name; case doesn't count",
            )
    return names


def only(matching: Sequence[T], source: Source, whole: str, part: str, there: Sequence[str]) -> T:
    """The one of several parts that a source means; the only one, if none is named.

    Args:
        matching: those that it may mean.
        source: with the name that is wanted, if one is.
        whole: what has the parts, in an error.
        part: what they are.
        there: the names of all.

    Raises:
        SourceMissing: none, or several, may be meant.

    Examples:
        >>> only(["people"], Source.of("clinic.duckdb"), "database", "table", ["people"])
        'people'
    """
    if len(matching) != 1:
        problem = (
            f"no {part} {source.table!r}" if source.table is not None else f"{len(there)} {part}s, and none is named"
        )
        raise SourceMissing(
            f"the {whole} {source.location!r} has {problem}", hint=f"it has {', '.join(there)}" if there else ""
        )
    return matching[0]
