"""An open CSV file: its cells as texts, in Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow

from discreet.errors import SourceMalformed, SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.csv.grammar import LONGEST_CELL, LONGEST_RECORD, Grammar
from discreet.tables.sources.csv.header import header_size, parse_header
from discreet.tables.sources.csv.records import BLOCK, Text, whole_records
from discreet.tables.sources.opened import Field, OpenFileSource, OpenSource
from discreet.tables.sources.streams import utf8_blocks

_MARK = "\ufeff".encode()
MOST_COUNTED = 1_000
"""So many malformed records are counted before the file is refused."""
_SHOWN = 10


class OpenCsv(OpenFileSource):
    """A CSV file, perhaps packed.

    Guarantee: memory doesn't grow with the file. Which records are whole is told by the header and each record alone.

    Args:
        source: with what is declared of it.
        block: bytes to look at together, for tests.

    Attributes:
        limits: bytes of a cell and of a record, at most.

    Raises:
        SourceMissing: it isn't there.
        SourceUnsupported: it has no header, or one that can't be.
    """

    def __init__(self, source: Source, *, block: int = BLOCK) -> None:
        """Read the header."""
        super().__init__(source.location)
        self._source = source
        self._block = block
        self.limits = LONGEST_CELL, LONGEST_RECORD
        try:
            text = self._text()
            self._header = parse_header(text.use(self._header_size(text)), source)
        except BaseException:
            self.close()
            raise
        self._fields = tuple(Field(name=name, type=pa.string(), untyped=True) for name in self._header.names)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns that the header names."""
        return self._fields

    def _text(self) -> Text:
        """The text of the file, from its start."""
        return Text(utf8_blocks(self._file, self.location, self._source.encoding, self._block))

    def _header_size(self, text: Text) -> int:
        """How many bytes the header has."""
        text.fill(1)
        while (size := header_size(text.held, multiline=self._source.multiline, at_end=text.at_end)) is None:
            if len(text) > LONGEST_RECORD:
                raise SourceUnsupported(
                    f"the header of {self.location!r} has no end", hint="is a quotation mark never closed?"
                )
            text.more()
        return size

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, block by block."""
        text = self._text()
        text.use(self._header_size(text))
        grammar = Grammar(
            delimiter=self._header.delimiter.encode(),
            width=len(self._fields),
            multiline=self._source.multiline,
            longest_cell=self.limits[0],
            longest_record=self.limits[1],
        )
        places = {each.name: place for place, each in enumerate(self._fields)}
        parser = _Parser(
            self._source, self._header.delimiter, [places[each.name] for each in chosen], self._header.names
        )
        skip = self._source.skip_malformed
        most = None if skip else MOST_COUNTED
        for table in whole_records(text, grammar, parser.parse, self.malformed, most=most, block=self._block):
            if table.num_rows and (skip or not self.malformed.count):
                yield from parser.cells(table)
        if self.malformed.count and not skip:
            raise refusal(self)


class _Parser:
    """PyArrow's parser, for blocks of whole records.

    Args:
        source: with what is declared of it.
        delimiter: between cells.
        places: of the columns that are wanted.
        names: of the file's columns.
    """

    def __init__(self, source: Source, delimiter: str, places: list[int], names: tuple[str, ...]) -> None:
        """Prepare the options."""
        numbers = [str(number) for number in range(len(names))]
        self._names = [names[place] for place in places]
        self._columns = [numbers[place] for place in places]
        self._numbers = numbers
        self._nulls = pa.array(["", *(text.strip(" ") for text in source.missing)], pa.string())
        self._parse = arrow.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=source.multiline,
            ignore_empty_lines=len(names) > 1,  # else it is a row whose one value is missing
        )
        self._convert = arrow.ConvertOptions(
            column_types=dict.fromkeys(self._columns, pa.string()),
            include_columns=list(dict.fromkeys(self._columns)),
            strings_can_be_null=False,
            check_utf8=False,  # it has been
        )

    def parse(self, text: bytes) -> pa.Table | None:
        """The cells of whole records; None if one has too few or too many."""
        if text.startswith(_MARK):  # PyArrow would take it for a byte order mark, in any block
            text = _MARK + text
        try:
            return arrow.read_csv(
                pa.BufferReader(text),
                read_options=arrow.ReadOptions(column_names=self._numbers, block_size=len(text) + 1),
                parse_options=self._parse,
                convert_options=self._convert,
            )
        except pa.ArrowInvalid:
            return None

    def cells(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """The cells without spaces around them; NULL where nothing is left, or a text that stands for it."""
        kept = {name: self._bare(table.column(name)) for name in table.column_names}
        made = pa.Table.from_arrays([kept[number] for number in self._columns], self._names)
        yield from made.to_batches()

    def _bare(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """The cells of a column."""
        bare = pc.ascii_trim(cells, characters=" ")
        # Comparing with one text is six times as fast as looking it up.
        is_null = pc.equal(bare, "") if len(self._nulls) == 1 else pc.is_in(bare, self._nulls)
        return pc.if_else(is_null, pa.scalar(None, pa.string()), bare) if pc.any(is_null).as_py() else bare


def refusal(opened: OpenSource) -> SourceMalformed:
    """The error for a text file with malformed records, all of which are counted unless there are a thousand."""
    count, lines = opened.malformed.count, opened.malformed.lines
    others = ""
    if count > 1:
        least = "at least " if count >= MOST_COUNTED else ""
        others = f", and on {least}{count - 1:,} other line{'s' if count > 2 else ''}: {_listed(lines[1:])}"  # noqa: PLR2004 — plural
    return SourceMalformed(
        f"no whole record starts on line {lines[0]:,} of {opened.location!r}{others}",
        hint="mend the file; or leave such lines out with skip_malformed = true",
    )


def _listed(lines: list[int]) -> str:
    """Some numbers of lines."""
    return ", ".join(f"{line:,}" for line in lines[:_SHOWN]) + (", …" if len(lines) > _SHOWN else "")
