"""CSV files, whose header is their only schema."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow

from discreet.errors import SourceUnsupported
from discreet.hints import Hint
from discreet.tables.schema.source import Source
from discreet.tables.sources.csv_quoting import Signs
from discreet.tables.sources.csv_records import (
    BLOCK,
    LONGEST_CELL,
    LONGEST_RECORD,
    Grammar,
    Text,
    header_size,
    whole_records,
)
from discreet.tables.sources.encodings import unescaped, utf8_blocks, without_last_lines
from discreet.tables.sources.malformed import MOST_COUNTED
from discreet.tables.sources.reader import Field, OpenFileSource, column_names

_MARK = "\ufeff".encode()
_DELIMITERS = ",;\t|"
_SEPARATED = re.compile(rb'"?sep=([\t -~])"?[\r\n]')
"""The line that a spreadsheet writes above a CSV file's header to name the delimiter."""
_LONGEST_SEPARATED = 16
_BINARY = {
    b"\x1f\x8b": ("is packed", "give it a name that ends in .gz"),
    b"\x28\xb5\x2f\xfd": ("is packed", "give it a name that ends in .zst"),
    b"\xfd7zX": ("is packed", "unpack it first"),
    b"PK\x03\x04": ("is a zip archive or a spreadsheet", "unpack it, or give it a name that ends in .xlsx"),
    b"PAR1": ("is Parquet", "give it a name that ends in .parquet"),
    b"\xff\xfe": ("is UTF-16", 'encoding = "utf-16"'),
    b"\xfe\xff": ("is UTF-16", 'encoding = "utf-16"'),
}
"""How files that aren't UTF-8 text begin, what they are, and what to do about them."""


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a CSV file.

    Args:
        names: of the columns.
        delimiter: what stands between them.
        sign: the first of it.
    """

    names: tuple[str, ...]
    delimiter: str
    sign: str = ""


def parse_header(line: bytes, source: Source, separated: str | None = None) -> Header:
    """The names in a header, and the delimiter: the one that is declared, or the one of which it has most.

    Args:
        line: the header.
        source: with what is declared of the file.
        separated: the delimiter that a line above it says.

    Raises:
        SourceUnsupported: it can't be a header. It isn't quoted, for it may be a row.
    """
    where = repr(source.location)
    for sign, (what, hint) in _BINARY.items():
        if line.startswith(sign):
            raise SourceUnsupported(f"{where} {what}", hint=hint)
    text = _text(line, source)
    delimiter = source.delimiter or separated or _delimiter(text, source)
    if not text.strip(f"{delimiter} "):
        raise SourceUnsupported(
            f"{where} has no header line",
            hint=Hint.of(
                f"line {source.header_line} must name the columns, or {{header_line}} says which", header_line=2
            ),
        )
    cells = _cells(text, line, delimiter, source)
    if cells is None:
        raise SourceUnsupported(
            f"the header of {where} isn't quoted as it should be",
            hint=Hint.of(
                'a name has quotes around all of it, with each " in it doubled and no spaces outside them, or none at '
                "all. If this line is a title, {header_line} says which line is the header",
                header_line=source.header_line + 1,
            ),
        )
    if source.trailing_delimiter and len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    if len(cells) == 1:
        other = next((each for each in _DELIMITERS if each in _bare(text, source)), None)
        if other is not None and other != delimiter:
            raise SourceUnsupported(
                f"there is no {delimiter!r} in the header of {where}",
                hint=Hint.of("{delimiter} seems right", delimiter=other),
            )
    return Header(column_names(cells, source.location), delimiter, text[:1])


def _delimiter(header: str, source: Source) -> str:
    """The delimiter where nothing says it: tab by the file's name, or the one of which the header has most."""
    name = source.location.casefold().removesuffix(".gz").removesuffix(".zst")
    return "\t" if name.endswith(".tsv") else max(_DELIMITERS, key=_bare(header, source).count)


def _bare(header: str, source: Source) -> str:
    """A header without what is quoted."""
    quote = re.escape(source.quote)
    return re.sub(f"{quote}(?:[^{quote}]|{quote}{quote})*{quote}", "", header) if quote else header


def _cells(text: str, line: bytes, delimiter: str, source: Source) -> list[str] | None:
    """The cells of a header; None if it isn't quoted as it should be."""
    signs = Signs(line.rstrip(b"\r\n"), source.quote.encode())
    if not signs.are_well_placed(delimiter.encode(), multiline=source.multiline):
        return None
    if not source.quote:
        return text.split(delimiter)
    with suppress(csv.Error):
        lines = io.StringIO(text, newline="")
        return next(csv.reader(lines, delimiter=delimiter, quotechar=source.quote, strict=True))
    return None


def _text(line: bytes, source: Source) -> str:
    """The header, decoded."""
    text = None
    if b"\0" not in line:
        with suppress(UnicodeDecodeError):
            text = line.decode().rstrip("\r\n")
    if text is None:
        raise SourceUnsupported(
            f"the header of {source.location!r} isn't {source.encoding} text",
            hint=Hint.of("declare its encoding, such as {encoding}; or save it as UTF-8", encoding="cp1252"),
        )
    return text


class OpenCsv(OpenFileSource):
    """A CSV file, perhaps packed.

    Guarantee: memory doesn't grow with the file. The header and each record alone decide which records are whole.

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
        super().__init__(source.location)
        self._source = source
        self._block = block
        self.limits = LONGEST_CELL, LONGEST_RECORD
        try:
            text = self._text()
            separated = self._to_header(text)
            self._header = parse_header(text.use(self._header_size(text)), source, separated)
        except BaseException:
            self.close()
            raise
        self._fields = tuple(Field(name=name, type=pa.string(), untyped=True) for name in self._header.names)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns that the header names."""
        return self._fields

    def _text(self) -> Text:
        """The text of the file, from its start, without its last lines if these aren't rows."""
        said = self._source
        blocks = utf8_blocks(self._file, self.location, said.encoding, self._block)
        if said.footer_lines:
            blocks = without_last_lines(blocks, said.footer_lines, self.location)
        if said.escape is not None:
            blocks = unescaped(blocks, said.escape.encode(), said.quote.encode())
        return Text(blocks)

    def _to_header(self, text: Text) -> str | None:
        """Go on to the header, over lines that aren't; and the delimiter, where one of them says it."""
        lines = Grammar(delimiter=b",", width=1)
        separated = None
        for _ in range(self._source.header_line - 1):
            text.fill(1)
            if len(text):
                text.drop_line(lines)
        text.fill(_LONGEST_SEPARATED)
        if self._source.header_line == 1 and (found := _SEPARATED.match(text.held, text.start)) is not None:
            separated = found[1].decode()
            text.drop_line(lines)
            text.fill(1)
        comment = (self._source.comment or "").encode()
        while comment and text.held[text.start : text.start + 1] == comment:
            text.drop_line(lines)
            text.fill(1)
        return separated

    def _header_size(self, text: Text) -> int:
        """How many bytes the header has."""
        text.fill(1)
        said = self._source
        while (
            size := header_size(
                text.held[text.start :], multiline=said.multiline, at_end=text.at_end, quote=said.quote.encode()
            )
        ) is None:
            if len(text) > LONGEST_RECORD:
                raise SourceUnsupported(
                    f"the header of {self.location!r} has no end", hint="is a quotation mark never closed?"
                )
            text.more()
        return size

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, block by block."""
        text = self._text()
        self._to_header(text)
        text.use(self._header_size(text))
        said = self._source
        grammar = Grammar(
            delimiter=self._header.delimiter.encode(),
            width=len(self._fields),
            quote=said.quote.encode(),
            comment=(said.comment or "").encode(),
            trailing=said.trailing_delimiter,
            multiline=said.multiline,
            longest_cell=self.limits[0],
            longest_record=self.limits[1],
        )
        places = {each.name: place for place, each in enumerate(self._fields)}
        parser = _Parser(said, self._header.delimiter, [places[each.name] for each in chosen], self._header.names)
        skip = said.skip_malformed
        most = None if skip else MOST_COUNTED
        for table in whole_records(text, grammar, parser.parse, self.malformed, most=most, block=self._block):
            if table.num_rows and (skip or not self.malformed.count):
                yield from parser.cells(table)
        if self.malformed.count and not skip:
            raise self.malformed.refusal(
                self.location, width=len(self._fields), encoding=said.encoding, header=self._header.sign
            )


class _Parser:
    """PyArrow's parser, for blocks of whole records.

    Args:
        source: with what is declared of it.
        delimiter: between cells.
        places: of the columns that are wanted.
        names: of the file's columns.
    """

    def __init__(self, source: Source, delimiter: str, places: list[int], names: tuple[str, ...]) -> None:
        self._numbers = [str(number) for number in range(len(names))]
        self._names = [names[place] for place in places]
        self._columns = [self._numbers[place] for place in places]
        self._nulls = pa.array(["", *(text.strip(" ") for text in source.missing)], pa.string())
        self._trailing = str(len(names)) if source.trailing_delimiter else None
        if self._trailing is not None:
            self._numbers.append(self._trailing)
        self._parse = arrow.ParseOptions(
            delimiter=delimiter,
            quote_char=source.quote or False,
            newlines_in_values=source.multiline,
            ignore_empty_lines=len(names) > 1,  # else it is a row whose one value is missing
        )
        self._convert = arrow.ConvertOptions(
            column_types=dict.fromkeys(self._numbers, pa.string()),
            include_columns=list(dict.fromkeys([*self._columns, *([self._trailing] if self._trailing else [])])),
            strings_can_be_null=False,
            check_utf8=False,  # it has been
        )

    def parse(self, text: bytes) -> pa.Table | None:
        """The cells of whole records; None if one has too few or too many, or something behind its last delimiter."""
        if text.startswith(_MARK):  # PyArrow would take it for a byte order mark, in any block
            text = _MARK + text
        try:
            found = arrow.read_csv(
                pa.BufferReader(text),
                read_options=arrow.ReadOptions(column_names=self._numbers, block_size=len(text) + 1),
                parse_options=self._parse,
                convert_options=self._convert,
            )
        except pa.ArrowInvalid:
            return None
        if self._trailing is None:
            return found
        is_empty = not pc.any(pc.not_equal(found.column(self._trailing), "")).as_py()
        return found.drop_columns([self._trailing]) if is_empty else None

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
