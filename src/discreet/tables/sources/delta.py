"""Delta tables: one version, file by file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from stat import S_ISREG
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import SourceError, SourceMissing, SourceUnsupported
from discreet.tables.arrow_kinds import called
from discreet.tables.schema.source import Source
from discreet.tables.sources.arrow import MOST_BYTES, MOST_ROWS, deliver, delivered
from discreet.tables.sources.delta_log import DeltaColumn, DeltaFile, is_newest, newest_version, vectors_unreadable
from discreet.tables.sources.files import OpenFile
from discreet.tables.sources.parquet import OpenParquet, ParquetPiece, in_pieces
from discreet.tables.sources.partitions import Part, listing
from discreet.tables.sources.reader import Field, OpenRowGroups, column_names
from discreet.tables.sources.widening import is_wider, widened

T = TypeVar("T")

_TEXT = pa.string()
_CATEGORIES = pa.dictionary(pa.int32(), _TEXT)


@dataclass(frozen=True, slots=True)
class _Data:
    """A file of the table, as it was when the table was opened; in a piece, some of its row groups.

    Args:
        file: by the log.
        identity: which file it is; in a piece, by its mark.
        row_groups: how many rows each one has, deleted ones included.
        columns: what it has of the table's columns, by their names there; files that are alike share it.
        numbers: of these row groups.
    """

    file: DeltaFile
    identity: str
    row_groups: Sequence[int]
    columns: Mapping[str, Field]
    numbers: Sequence[int]

    @property
    def rows(self) -> int:
        """How many it has, deleted ones included."""
        return sum(self.row_groups)

    def some(self, numbers: Sequence[int], mark: str) -> _Data:
        """Some of its row groups, which knows no more than it needs."""
        kept = None if self.file.kept is None else _kept_of(self.file.kept, self.row_groups, numbers)
        # Copied, because a slice is pickled with all that it is a slice of.
        values = {name: pa.concat_arrays([value]) for name, value in self.file.values.items()}
        file, row_groups = replace(self.file, values=values, kept=kept), [self.row_groups[each] for each in numbers]
        return replace(self, file=file, identity=mark, row_groups=row_groups, numbers=numbers)


class OpenDelta(OpenRowGroups):
    """One version of a Delta table, the newest when it is opened.

    Guarantee: what the log says is what is read: the files that it names and no other, without the rows that it has
    deleted in them, with the columns, types and values of partitions that it declares. Files are read as Parquet is.

    Raises:
        ExtraMissing: deltalake isn't installed.
        SourceMissing: there is no table, or not every file that its log names.
        SourceUnsupported: its log or a file is damaged, or it needs a reader that understands more.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source.location)
        version = newest_version(source.location)
        self._version, columns = replace(version, files=()), version.columns
        if not all(each.name.strip() and each.written.strip() for each in columns):
            raise SourceUnsupported(
                f"a column of the Delta table {source.location!r} has a blank name", hint="rename the column"
            )
        self._columns = dict(zip(column_names([each.name for each in columns], source.location), columns, strict=True))
        written = column_names([each.written for each in columns], source.location)
        in_files = {
            there.casefold(): name
            for there, (name, each) in zip(written, self._columns.items(), strict=True)
            if each.name not in self._version.partitions
        }
        alike: dict[object, Mapping[str, Field]] = {}
        self._data = [self._found(file, in_files, alike) for file in version.files]
        self._alike = list(alike.values())
        self._fields = tuple(self._field(name, each) for name, each in self._columns.items())

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the log, in its order."""
        return self._fields

    @property
    def identity(self) -> str:
        """A digest of the table's id and the version's number: a version never changes."""
        return hashlib.sha256(f"{self._version.table} {self._version.number}".encode()).hexdigest()

    def is_unchanged(self) -> bool:
        """Whether there is no newer version, and no other table in its place."""
        return is_newest(self.location, self._version)

    @property
    def rows(self) -> int:
        """How many there are, by the log and the footers."""
        return sum(each.rows if each.file.kept is None else each.file.kept.true_count for each in self._data)

    def pieces(self, most: int) -> list[DeltaPiece]:
        """See `OpenRowGroups.pieces`."""
        marks = [self._told(each.file, partial(_mark, each.file, each.identity)) for each in self._data]
        return [
            DeltaPiece(self, [self._data[file].some(own, marks[file]) for file, own in groups.items()])
            for groups in in_pieces([each.row_groups for each in self._data], most)
        ]

    def _found(self, file: DeltaFile, in_files: Mapping[str, str], alike: dict[object, Mapping[str, Field]]) -> _Data:
        """A file of the log, and what it holds."""
        opened = self._told(file, lambda: _opened(file))
        columns = {in_files[each.name.casefold()]: each for each in opened.fields if each.name.casefold() in in_files}
        shared = alike.setdefault(tuple(columns.items()), columns)
        (row_groups,) = opened.row_groups
        found = _Data(file, opened.identity, row_groups, shared, range(len(row_groups)))
        if file.kept is not None and len(file.kept) != found.rows:
            raise vectors_unreadable(self.location)
        return found

    def _field(self, name: str, column: DeltaColumn) -> Field:
        """A column as it is handed out. One of texts is one of categories, where all files have it so."""
        kind, required = delivered(column.type), column.required
        if column.name in self._version.partitions:
            required = required and not any(each.file.values[column.name].null_count for each in self._data)
            return Field(name=name, type=_CATEGORIES if kind == _TEXT else kind, required=required)
        found = [each.columns.get(name) for each in self._data]
        there = [each for each in found if each is not None]
        if kind == _TEXT and there and all(each.type == _CATEGORIES for each in there):
            kind = _CATEGORIES
        required = required and all(each is not None and each.required for each in found)
        return Field(name=name, type=kind, untyped=column.type == pa.null(), required=required)

    def _told(self, file: DeltaFile, work: Callable[[], T]) -> T:
        """What is made of a file, with all that may be wrong with it said without its path: values name folders."""
        name, problem = Path(file.path).name, ""
        try:
            return work()
        except _WrongSizeError:
            problem = "isn't of the size that the log says"
        except _ChangedError:
            problem = "was changed while it was being read"
        except (SourceMissing, FileNotFoundError):
            pass
        except (SourceError, OSError):
            problem = "isn't Parquet, is damaged or encrypted, or was changed while it was being read"
        if problem:  # raised outside the handlers, so that no path is chained to it
            raise SourceUnsupported(
                f"the file {name!r} of the Delta table {self.location!r} {problem}",
                hint="restore the file; let nothing but Delta's own programs write there",
            )
        raise SourceMissing(
            f"the file {name!r} isn't there, which version {self._version.number} of the Delta table "
            f"{self.location!r} has",
            hint="if it was vacuumed while it was being read, try again; else restore the file",
        )

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, file by file."""
        for columns in self._alike:
            self._check_types(chosen, columns)
        for data in self._data:
            yield from self._rows(data, chosen)

    def _open(self, data: _Data) -> OpenParquet:
        """A file that must be the one that was opened before."""
        opened = _opened(data.file)
        if opened.identity != data.identity:
            raise _ChangedError
        return opened

    def _check_types(self, chosen: Sequence[Field], columns: Mapping[str, Field]) -> None:
        """Refuse files whose values can't be the table's.

        Raises:
            SourceUnsupported: a column has another type there, which isn't a narrower one.
        """
        for each in chosen:
            own = columns.get(each.name)
            if own is not None and not own.untyped and not is_wider(each.type, own.type):
                raise SourceUnsupported(
                    f"the column {each.name!r} of the Delta table {self.location!r} holds {called(own.type)} in a "
                    f"file, and {called(each.type)} by the log",
                    hint="write the table anew",
                )

    def _rows(self, data: _Data, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows of one file."""
        held = {each.name: data.columns[each.name] for each in chosen if each.name in data.columns}
        if not held:  # then it is enough to know how many there are
            for start in range(0, data.rows, MOST_ROWS):
                rows = min(MOST_ROWS, data.rows - start)
                kept = rows if data.file.kept is None else data.file.kept.slice(start, rows).true_count
                if kept:
                    yield self._batch({}, data, chosen, kept)
            return
        opened = self._told(data.file, lambda: self._open(data))
        batches = opened.batches([each.name for each in held.values()])
        while (batch := self._told(data.file, lambda: next(batches, None))) is not None:
            columns = dict(zip(held, batch.columns, strict=True))
            size = min(MOST_ROWS, max(1, MOST_BYTES // max(1, _longest(columns, chosen))))
            for place in range(0, batch.num_rows, size):
                piece = {name: column.slice(place, size) for name, column in columns.items()}
                yield self._batch(piece, data, chosen, min(size, batch.num_rows - place))
        for name, each in held.items():
            if wrong := opened.unreadable[each.name]:
                self.unreadable[name] += wrong

    def _batch(self, columns: Mapping[str, pa.Array], data: _Data, chosen: list[Field], rows: int) -> pa.RecordBatch:
        """The columns as they are handed out: of the file or the partition; or NULL, where the file is older."""
        made = []
        for each in chosen:
            if each.name in columns and not data.columns[each.name].untyped:
                array, wrong = widened(columns[each.name], each.type)
                if wrong:
                    self.unreadable[each.name] += wrong
            elif (written := self._columns[each.name].name) in self._version.partitions:
                array = _repeated(data.file.values[written], each.type, rows)
            else:
                array = pa.nulls(rows, each.type)
            made.append(array)
        return pa.RecordBatch.from_arrays(made, [each.name for each in chosen])


class DeltaPiece(OpenDelta):
    """Some row groups of a version that was opened before, perhaps on another machine; it can be pickled.

    Neither the log is read, nor any file but its own, which must be what they were; deltalake isn't needed.

    Args:
        whole: the version, open.
        data: what of it this is.
    """

    def __init__(self, whole: OpenDelta, data: Sequence[_Data]) -> None:
        vars(self).update(vars(whole))
        self._data = list(data)

    def is_unchanged(self) -> bool:
        """Whether none of its files was changed."""
        try:
            return all(_mark(each.file) == each.identity for each in self._data)
        except (SourceMissing, SourceUnsupported):
            return False

    def _open(self, data: _Data) -> OpenParquet:
        """The row groups of a file, which must be the one that was opened before."""
        if _mark(data.file) != data.identity:
            raise _ChangedError
        return ParquetPiece(_opened(data.file), {0: data.numbers}, [data.identity])


class _WrongSizeError(Exception):
    """A file isn't of the size that the log says."""


class _ChangedError(Exception):
    """A file isn't the one that was opened before."""


def _opened(file: DeltaFile) -> OpenParquet:
    """A file of the size that the log says, without the rows that it has deleted."""
    status = Path(file.path).stat()
    if not S_ISREG(status.st_mode):
        raise IsADirectoryError
    if status.st_size != file.size:
        raise _WrongSizeError
    return OpenParquet(Source(kind="parquet", location=file.path), file.kept)


def _kept_of(kept: pa.Array, row_groups: Sequence[int], numbers: Sequence[int]) -> pa.Array:
    """Of the rows of some row groups, which ones are kept.

    Args:
        kept: of all rows of the file.
        row_groups: how many rows each one has.
        numbers: of those that are meant, of which there is one at least.

    Examples:
        >>> _kept_of(pa.array([True, True, False, True]), [1, 2, 1], [1]).to_pylist()
        [True, False]
    """
    first = list(accumulate(row_groups, initial=0))
    return pa.concat_arrays([kept.slice(first[each], row_groups[each]) for each in numbers])


def _mark(file: DeltaFile, identity: str | None = None) -> str:
    """What a file is on whichever machine it is looked at.

    Args:
        file: of the version.
        identity: of the file when the table was opened, on this machine; None on others.
    """
    with OpenFile(file.path) as opened:
        if identity not in (None, listing([Part(file.path)], [opened.fingerprint])):
            raise _ChangedError
        return opened.mark()


def _longest(columns: Mapping[str, pa.Array], chosen: Sequence[Field]) -> int:
    """Bytes that categories may take in a row where they are handed out as texts: a long one may be in all rows."""
    coded = [
        columns[each.name].dictionary
        for each in chosen
        if each.name in columns and columns[each.name].type == _CATEGORIES and each.type == _TEXT
    ]
    return sum(pc.max(pc.binary_length(each)).as_py() or 0 for each in coded)


def _repeated(value: pa.Array, kind: pa.DataType, rows: int) -> pa.Array:
    """A column in which all rows have the same value."""
    if kind == _CATEGORIES:
        place = pa.scalar(None if value.null_count else 0, pa.int32())
        return pa.DictionaryArray.from_arrays(pa.repeat(place, rows), value.drop_null())
    return pa.repeat(deliver(value, kind)[0][0], rows)
