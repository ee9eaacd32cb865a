"""JSON lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from discreet.tables.schema.source import Source
from discreet.tables.sources.cells import TextColumns
from discreet.tables.sources.encodings import utf8_blocks
from discreet.tables.sources.malformed import MOST_COUNTED, Cause, Fault, Malformed
from discreet.tables.sources.reader import MOST_COLUMNS, Field, OpenFileSource, column_names

LONGEST_LINE = 1 << 24
"""Bytes of a line, in UTF-8; a longer one is malformed."""
_JSON_BLOCK = 1 << 22
_NOTHING: dict[str, Any] = {}
"""Stands for an empty line; a record without values is another empty object."""


class OpenJsonLines(OpenFileSource):
    """A file of JSON lines, perhaps packed.

    Numbers and truth values come as they are written, texts without their quotes: 1 and "1" mean the same. Lists and
    objects within a record are unreadable values. Of a name that occurs twice in a record, the last value counts.

    Guarantee: each line stands alone; memory doesn't grow with the file.

    Raises:
        SourceMissing: it isn't there.
        SourceUnsupported: it can't be opened.
    """

    has_schema = False

    def __init__(self, source: Source, *, block: int = _JSON_BLOCK) -> None:
        """Open the file; `block` bytes are read at a time."""
        super().__init__(source.location)
        self._source = source
        self._block = block
        self._decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The names that any record has, in the order in which they first occur. It reads every row: for the custodian.

        Raises:
            SourceMalformed: there are malformed records, and they aren't to be skipped.
            SourceUnsupported: there are too many names; or two are equal but for case.
        """
        found: dict[str, None] = {}
        self.malformed = Malformed()
        for record, _ in self._records():
            found.update(dict.fromkeys(record))
            if len(found) > MOST_COLUMNS:
                break  # refused below
        column_names(list(found), self.location)
        return tuple(Field(name=name, type=pa.string(), untyped=True) for name in found)

    def _choose(self, names: Sequence[str]) -> list[Field]:
        """Columns of these names, which every record may lack."""
        return [Field(name=name, type=pa.string(), untyped=True) for name in names]

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, line by line."""
        cells = TextColumns(chosen, self._source.missing, self.unreadable)
        names = [each.name for each in chosen]
        for record, size in self._records():
            cells.add([record.get(name) for name in names], size)
            if cells.is_full:
                yield cells.take()
        if not cells.is_empty:
            yield cells.take()

    def _records(self) -> Iterator[tuple[dict[str, Any], int]]:
        """The objects, each with the bytes of its line, without malformed lines; unless these are refused."""
        skip = self._source.skip_malformed
        for number, line in enumerate(self._lines(), start=1):
            record = Fault(Cause.LONG) if line is None else self._record(line)
            if isinstance(record, Fault):
                self.malformed.add(number, record)
                if not skip and self.malformed.count >= MOST_COUNTED:
                    break
            elif record is not _NOTHING:
                self.malformed.add_whole(1)
                if skip or not self.malformed.count:
                    yield record, 0 if line is None else len(line)
        if self.malformed.count and not skip:
            raise self.malformed.refusal(self.location, encoding=self._source.encoding)

    def _record(self, line: bytes) -> dict[str, Any] | Fault:
        """The object on a line, `_NOTHING` for an empty line; or what is wrong with it."""
        try:
            text = line.decode()
        except UnicodeDecodeError:
            return Fault(Cause.ENCODING)
        try:
            found = self._decoder.decode(text) if text.strip() else _NOTHING
        except (ValueError, RecursionError):  # it isn't JSON, or is nested too deeply
            return Fault(Cause.NOT_JSON)
        return found if isinstance(found, dict) else Fault(Cause.NOT_OBJECT)

    def _lines(self) -> Iterator[bytes | None]:
        """The lines; None for one that is too long."""
        held: list[bytes] = []
        size = 0
        for block in utf8_blocks(self._file, self.location, self._source.encoding, self._block):
            first, *others = block.split(b"\n")
            size += len(first)
            if size <= LONGEST_LINE:
                held.append(first)
            if not others:
                continue
            *whole, rest = others
            yield b"".join(held) if size <= LONGEST_LINE else None
            for line in whole:
                yield line if len(line) <= LONGEST_LINE else None
            held, size = [rest], len(rest)
        if size:
            yield b"".join(held) if size <= LONGEST_LINE else None
