"""Parquet: files or objects, folders and patterns of them, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.errors import SourceError, SourceMissing, SourceUnsupported
from discreet.tables.schema.object_url import last_name
from discreet.tables.schema.source import Source
from discreet.tables.sources.arrow import MOST_BYTES, MOST_ROWS, deliver, delivered, slices, uuid_texts
from discreet.tables.sources.files import absolute, for_each, open_file
from discreet.tables.sources.partitions import Part, listing, parts_of
from discreet.tables.sources.reader import Field, OpenRowGroups, column_names

if TYPE_CHECKING:
    from discreet.tables.sources.files import AnyFile

_BUFFER = 1 << 20
_FEW_BYTES = 4
"""A column of texts with fewer bytes per row keeps them in a dictionary, because a plain text takes at least four."""
_UUID = 16
_FEW_ROWS = 1 << 10
_MOST_MILLISECONDS = (2**63 - 1) // 1000 - 1


@dataclass(frozen=True, slots=True)
class _Spec:
    """The way to read one column of the files.

    Args:
        field: the column.
        written: its name in the files.
        as_uuid: whether it is 16 bytes that are a UUID.
        as_int96: whether it is a timestamp of 96 bits, of which 64 may be too few.
    """

    field: Field
    written: str
    as_uuid: bool = False
    as_int96: bool = False


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was seen of a file when it was opened first.

    Args:
        identity: which file it is.
        rows: of each row group.
        specs: of its columns.
        sizes: how many bytes each column takes.
    """

    identity: str
    rows: list[int]
    specs: list[_Spec]
    sizes: dict[str, int]


class OpenParquet(OpenRowGroups):
    """Parquet files of one schema.

    Guarantee: page checksums are verified where there are any. Memory is bounded by the size of a row group.

    Args:
        source: a file, or several of one schema.
        kept: of a single file, which rows are read; None for all. The others' values aren't looked at; where no column
            is read, they are counted all the same.

    Attributes:
        row_groups: of each file, how many rows each one has.

    Raises:
        SourceMissing: there are none.
        SourceUnsupported: one is damaged, encrypted or no Parquet; or their schemas differ.
    """

    def __init__(self, source: Source, kept: pa.Array | None = None) -> None:
        location = source.location
        super().__init__(location)
        self._parts = parts_of(location)
        self._kept = kept
        self._identities: list[str] = []
        self._groups: list[Sequence[int]] = []
        self.row_groups: list[list[int]] = []
        specs: list[_Spec] | None = None
        rows, sizes = 0, dict[str, int]()
        for seen in for_each([part.path for part in self._parts], self._seen):
            self._identities.append(seen.identity)
            self._groups.append(range(len(seen.rows)))
            self.row_groups.append(seen.rows)
            mine = seen.specs
            rows += sum(seen.rows)
            for name, size in seen.sizes.items():
                sizes[name] = sizes.get(name, 0) + size
            if specs is not None and _schema(specs) != _schema(mine):
                raise SourceUnsupported(
                    f"the files of {location!r} have different columns, or types of them",
                    hint="write them with the same columns and types",
                )
            specs = mine if specs is None else [_either(one, other) for one, other in zip(specs, mine, strict=True)]
        found_specs = [_as_categories(spec, sizes, rows) for spec in specs or []]
        partitions = list(self._parts[0].values)
        names = column_names([spec.written for spec in found_specs] + partitions, location)
        self._specs = {spec.field.name: spec for spec in found_specs}
        self._names = {spec.written: spec.field.name for spec in found_specs}
        self._partitions = dict(zip(names[len(found_specs) :], partitions, strict=True))
        self._fields = (
            *(spec.field for spec in found_specs),
            *(Field(name=name, type=pa.string(), untyped=True) for name in self._partitions),
        )

    def _open(self, path: str) -> AnyFile:
        """A file of the source, which errors call by its own name alone where folders are named by values."""
        if not self._parts[0].values:
            return open_file(path)
        return open_file(path, f"{last_name(path)!r} in {self.location!r}")

    def _seen(self, path: str) -> _Seen:
        """The footer of a file."""
        with self._open(path) as file, self._reading(file) as found:
            groups = [found.metadata.row_group(number).num_rows for number in range(found.num_row_groups)]
            return _Seen(file.fingerprint, groups, _specs(found, self.location), _sizes(found))

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the files, then those of their folders."""
        return self._fields

    @property
    def identity(self) -> str:
        """A digest of which files there are, and of each."""
        return listing(self._parts, self._identities)

    def is_unchanged(self) -> bool:
        """Whether there are the same files, and none was changed."""
        try:
            parts = parts_of(self.location)
            return listing(parts, self._identities_now(parts)) == self.identity
        except (SourceMissing, SourceUnsupported):
            return False

    def _identities_now(self, parts: Sequence[Part]) -> list[str]:
        """What tells files apart from what they were, as they are now."""
        return list(for_each([part.path for part in parts], self._identity_at))

    def _identity_at(self, path: str) -> str:
        """What tells a file apart from what it was."""
        with self._open(path) as file:
            return self._identity_of(file)

    @property
    def rows(self) -> int:
        """How many there are, by the footers."""
        return sum(map(sum, self.row_groups))

    def pieces(self, most: int) -> list[ParquetPiece]:
        """See `OpenRowGroups.pieces`."""
        known = {part.path: identity for part, identity in zip(self._parts, self._identities, strict=True)}

        def marked(path: str) -> str:
            with self._open(path) as file:
                self._check(file, known[path])
                return file.mark()

        marks = list(for_each(list(known), marked))
        return [ParquetPiece(self, groups, marks) for groups in in_pieces(self.row_groups, most)]

    @contextmanager
    def _reading(
        self,
        file: AnyFile,
        unit: str = "us",
        categories: Sequence[str] = (),
        footer: pq.FileMetaData | None = None,
        *,
        whole: bool = False,
    ) -> Iterator[pq.ParquetFile]:
        """The file, with all that PyArrow says of damage said without its words: they may quote a cell.

        Args:
            file: open.
            unit: of timestamps of 96 bits.
            categories: columns of texts that are read as these.
            footer: of the file, if it was read before.
            whole: whether row groups are read to their end, so that much of them may be fetched at a time.
        """
        problem: SourceError | None = None
        try:
            with pq.ParquetFile(
                file.readable,
                metadata=footer,
                pre_buffer=whole and file.is_far,
                page_checksum_verification=True,
                coerce_int96_timestamp_unit=unit,
                read_dictionary=list(categories),
                buffer_size=_BUFFER,
            ) as found:
                yield found
        except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
            if isinstance(error, SourceMissing):
                raise
            problem = file.failure(error) or SourceUnsupported(
                f"the file {self.location!r} isn't Parquet, is damaged or is encrypted", hint="write it again"
            )
        if problem is not None:
            raise problem from None

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, file by file."""
        for part, identity, groups in zip(self._parts, self._identities, self._groups, strict=True):
            with self._open(part.path) as file:
                self._check(file, identity)
                yield from self._rows(file, part, groups, chosen)

    def _check(self, file: AnyFile, identity: str) -> None:
        """Refuse a file that isn't the one that was opened before."""
        if self._identity_of(file) != identity:
            raise SourceUnsupported(
                f"{self.location!r} was changed while it was being read",
                hint="read it while nobody is writing to it",
            )

    def _identity_of(self, file: AnyFile) -> str:
        """What tells whether a file is the one that was opened before."""
        return file.fingerprint

    def _rows(self, file: AnyFile, part: Part, groups: Sequence[int], chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows of some row groups of a file."""
        specs = [self._specs[each.name] for each in chosen if each.name not in self._partitions]
        categories = [spec.written for spec in specs if pa.types.is_dictionary(spec.field.type)]
        int96 = [spec.written for spec in specs if spec.as_int96]
        start = 0
        with (
            self._reading(file, categories=categories, whole=True) as found,
            self._reading(file, "ms", footer=found.metadata, whole=True) as coarse,
        ):
            for group in groups:
                columns = [spec.written for spec in specs]
                size = self._batch_size(file, found, group, columns)
                if not columns:
                    for start in range(0, found.metadata.row_group(group).num_rows, MOST_ROWS):
                        count = min(MOST_ROWS, found.metadata.row_group(group).num_rows - start)
                        yield self._batch(None, part, chosen, count)
                    continue
                fine = found.iter_batches(size, row_groups=[group], columns=columns)
                checks = coarse.iter_batches(size, row_groups=[group], columns=int96) if int96 else None
                for batch in fine:
                    mended = self._within(batch, next(checks), start) if checks else self._left(batch, start)
                    start += batch.num_rows
                    for piece in slices(mended.select(columns)):
                        yield self._batch(piece, part, chosen, piece.num_rows)

    def _batch_size(self, file: AnyFile, found: pq.ParquetFile, group: int, columns: list[str]) -> int:
        """How many rows to read at a time: a long text that is stored once may stand in all of them."""
        rows, repeated = MOST_ROWS, []
        for chunk in _chunks(found, group):
            name = chunk.path_in_schema
            if name not in columns or chunk.physical_type != "BYTE_ARRAY":
                continue
            if "DELTA_BYTE_ARRAY" in chunk.encodings:
                rows = _FEW_ROWS
            elif chunk.has_dictionary_page and self._specs[self._names[name]].field.type == pa.string():
                repeated.append(name)
        if not repeated:
            return rows
        with self._reading(file, categories=repeated, footer=found.metadata) as coded:
            first = next(coded.iter_batches(1, row_groups=[group], columns=repeated), None)
        longest = 1 if first is None else sum(_longest(first.column(name)) for name in repeated)
        return max(1, min(rows, MOST_BYTES // max(longest, 1)))

    def _left(self, batch: pa.RecordBatch, start: int) -> pa.RecordBatch:
        """The rows of a batch that are read; it begins at a row of its file."""
        return batch if self._kept is None else batch.filter(self._kept.slice(start, batch.num_rows))

    def _within(self, batch: pa.RecordBatch, coarse: pa.RecordBatch, start: int) -> pa.RecordBatch:
        """The rows of a batch that are read, without times of 96 bits that don't fit into 64 as microseconds.

        PyArrow lets them overflow. As milliseconds all of them fit, so these tell where that happened.
        """
        import pyarrow.compute as pc

        batch, coarse = self._left(batch, start), self._left(coarse, start)
        for written in coarse.schema.names:
            place = batch.schema.get_field_index(written)
            fine, check = batch.column(place), coarse.column(written).cast(pa.int64())
            fits = pc.and_(pc.less_equal(check, _MOST_MILLISECONDS), pc.greater_equal(check, -_MOST_MILLISECONDS))
            kept = pc.if_else(fits, fine, pa.scalar(None, fine.type))
            if kept.null_count > fine.null_count:
                self.unreadable[self._names[written]] += kept.null_count - fine.null_count
            batch = batch.set_column(place, batch.schema.field(place), kept)
        return batch

    def _batch(self, batch: pa.RecordBatch | None, part: Part, chosen: list[Field], rows: int) -> pa.RecordBatch:
        """The columns as they are handed out."""
        made = []
        for each in chosen:
            if batch is None or each.name in self._partitions:
                made.append(pa.repeat(pa.scalar(part.values[self._partitions[each.name]], pa.string()), rows))
                continue
            spec = self._specs[each.name]
            array = batch.column(batch.schema.get_field_index(spec.written))
            array, wrong = (uuid_texts(array), 0) if spec.as_uuid else deliver(array, each.type)
            if wrong:
                self.unreadable[each.name] += wrong
            made.append(array)
        return pa.RecordBatch.from_arrays(made, [each.name for each in chosen])


class ParquetPiece(OpenParquet):
    """Some row groups of Parquet files that were opened before, perhaps on another machine; it can be pickled.

    No folder is listed again, and no footer read but those of its own files, which must be what they were.

    Args:
        whole: the files, open.
        groups: the numbers of row groups, by the number of their file.
        marks: of all files, by which any machine knows them.
    """

    def __init__(self, whole: OpenParquet, groups: Mapping[int, Sequence[int]], marks: Sequence[str]) -> None:
        vars(self).update(vars(whole))
        self._parts = [replace(self._parts[file], path=absolute(self._parts[file].path)) for file in groups]
        self._identities = [marks[file] for file in groups]
        self.row_groups = [[self.row_groups[file][group] for group in own] for file, own in groups.items()]
        self._groups = list(groups.values())

    def is_unchanged(self) -> bool:
        """Whether none of its files was changed."""
        try:
            return self._identities_now(self._parts) == self._identities
        except (SourceMissing, SourceUnsupported):
            return False

    def _identity_of(self, file: AnyFile) -> str:
        """What it is on any machine."""
        return file.mark()


def in_pieces(row_groups: Sequence[Sequence[int]], most: int) -> list[dict[int, list[int]]]:
    """Row groups in pieces, in order: their numbers by that of their file.

    Args:
        row_groups: of each file, how many rows each one has.
        most: rows of a piece, unless one row group has more.

    Examples:
        >>> in_pieces([[40, 40, 40], [10]], 90), in_pieces([[]], 90)
        ([{0: [0, 1]}, {0: [2], 1: [0]}], [{}])
    """
    found: list[dict[int, list[int]]] = [{}]
    rows = 0
    for file, sizes in enumerate(row_groups):
        for group, size in enumerate(sizes):
            if rows and rows + size > most:
                found.append({})
                rows = 0
            found[-1].setdefault(file, []).append(group)
            rows += size
    return found


def _specs(found: pq.ParquetFile, location: str) -> list[_Spec]:
    schema = found.schema_arrow
    leaves: dict[str, Any] = {}
    for number in range(len(found.schema)):
        leaf = found.schema.column(number)
        if leaf.max_repetition_level == 0 and leaf.path == leaf.name:
            leaves[leaf.name] = leaf
    names = column_names(schema.names, location)
    return [_spec(name, spec, leaves.get(spec.name)) for name, spec in zip(names, schema, strict=True)]


def _spec(name: str, written: pa.Field, leaf: Any) -> _Spec:  # noqa: ANN401 — PyArrow has no type stubs
    kind = written.type
    logical = "" if leaf is None or pa.types.is_nested(kind) else leaf.logical_type.type
    as_uuid = logical == "UUID" and kind == pa.binary(_UUID)
    if as_uuid or (logical in ("ENUM", "JSON") and pa.types.is_binary(kind)):
        kind = pa.string()
    return _Spec(
        field=Field(name=name, type=delivered(kind), untyped=kind == pa.null(), required=not written.nullable),
        written=written.name,
        as_uuid=as_uuid,
        as_int96=leaf is not None and leaf.physical_type == "INT96",
    )


def _schema(specs: list[_Spec]) -> list[tuple[str, pa.DataType, bool]]:
    """The part of a schema that must be alike in all files."""
    return [(spec.written, spec.field.type, spec.as_uuid) for spec in specs]


def _either(one: _Spec, other: _Spec) -> _Spec:
    """One way to read a column in two files."""
    required = one.field.required and other.field.required
    untyped = one.field.untyped and other.field.untyped
    field = Field(name=one.field.name, type=one.field.type, untyped=untyped, required=required)
    return _Spec(field, one.written, one.as_uuid, one.as_int96 or other.as_int96)


def _sizes(found: pq.ParquetFile) -> dict[str, int]:
    """How many bytes each column takes, where all of it may be in a dictionary; far too many, where it isn't."""
    sizes = dict[str, int]()
    for group in range(found.num_row_groups):
        for chunk in _chunks(found, group):
            size = chunk.total_uncompressed_size if chunk.has_dictionary_page else 1 << 62
            sizes[chunk.path_in_schema] = sizes.get(chunk.path_in_schema, 0) + size
    return sizes


def _as_categories(spec: _Spec, sizes: dict[str, int], rows: int) -> _Spec:
    """A column of texts is read as categories where it is stored so. The footer tells, no row is looked at."""
    few = spec.written in sizes and sizes[spec.written] < _FEW_BYTES * rows
    if spec.field.type != pa.string() or spec.field.untyped or spec.as_uuid or not few:
        return spec
    kind = pa.dictionary(pa.int32(), pa.string())
    field = Field(name=spec.field.name, type=kind, required=spec.field.required)
    return _Spec(field, spec.written)


def _chunks(found: pq.ParquetFile, group: int) -> Iterator[Any]:
    """The footer's metadata of the columns of a row group."""
    described = found.metadata.row_group(group)
    for number in range(described.num_columns):
        yield described.column(number)


def _longest(column: pa.Array) -> int:
    """Bytes of the longest text among the categories of a column."""
    if not pa.types.is_dictionary(column.type):
        return 1
    import pyarrow.compute as pc

    return pc.max(pc.binary_length(column.dictionary)).as_py() or 1
