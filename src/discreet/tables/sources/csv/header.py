"""The header of a CSV file: its only schema, and all of the file that is looked at to find the delimiter."""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from dataclasses import dataclass

from discreet.errors import SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.csv.checks import Signs
from discreet.tables.sources.names import column_names

_DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_BINARY = {
    b"\x1f\x8b": ("is packed", "let its name end in .gz"),
    b"\x28\xb5\x2f\xfd": ("is packed", "let its name end in .zst"),
    b"\xfd7zX": ("is packed", "unpack it first"),
    b"PK\x03\x04": ("is a zip archive or a spreadsheet", "unpack it, or let its name end in .xlsx"),
    b"PAR1": ("is Parquet", "let its name end in .parquet"),
    b"\xff\xfe": ("is UTF-16", 'encoding = "utf-16"'),
    b"\xfe\xff": ("is UTF-16", 'encoding = "utf-16"'),
}
"""How files begin that are no UTF-8 text, what they are, and what to do."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a CSV file's first record says.

    Args:
        names: of the columns.
        delimiter: what stands between them.
    """

    names: tuple[str, ...]
    delimiter: str


def header_size(text: bytes, *, multiline: bool, at_end: bool) -> int | None:
    r"""How many bytes the first record has, with its line end; None if that can't be said before more text is there.

    Examples:
        >>> header_size(b'age,"s\nex"\n39,', multiline=True, at_end=False)
        11
    """
    place = 0
    while (found := min((at for at in (text.find(b"\r", place), text.find(b"\n", place)) if at >= 0), default=-1)) >= 0:
        end = found + 1
        if text[found:end] == b"\r":
            if end == len(text) and not at_end:
                return None
            end += text[end : end + 1] == b"\n"
        if not multiline or text.count(b'"', 0, found) % 2 == 0:
            return end
        place = end
    return len(text) if at_end else None


def parse_header(line: bytes, source: Source) -> Header:
    """The names in a header, and the delimiter: the one that is declared, or the one of which it has most.

    Raises:
        SourceUnsupported: it can't be a header. It isn't quoted, for it may be a row.
    """
    where = repr(source.location)
    for sign, (what, hint) in _BINARY.items():
        if line.startswith(sign):
            raise SourceUnsupported(f"{where} {what}", hint=hint)
    text = _text(line, source)
    delimiter = source.delimiter or ("\t" if _is_tsv(source.location) else None)
    if delimiter is None:
        bare = _QUOTED.sub("", text)
        delimiter = max(_DELIMITERS, key=bare.count)
    if not text.strip(f"{delimiter} "):
        raise SourceUnsupported(f"{where} has no header line", hint="the first line must name the columns")
    cells = None
    if Signs(line.rstrip(b"\r\n")).are_well_placed(delimiter.encode(), multiline=source.multiline):
        try:
            cells = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
        except csv.Error:
            cells = None
    if cells is None:
        raise SourceUnsupported(
            f"the header of {where} isn't quoted as it should be",
            hint='a name is quoted from its first to its last sign, with each " in it doubled and no space before the '
            "first or behind the last; or it has none",
        )
    if len(cells) == 1:
        other = next((each for each in _DELIMITERS if each in _QUOTED.sub("", text)), None)
        if other is not None:
            raise SourceUnsupported(
                f"no {delimiter!r} stands in the header of {where}", hint=f"delimiter {other!r} seems right"
            )
    return Header(column_names(cells, source.location), delimiter)


def _text(line: bytes, source: Source) -> str:
    """The header, decoded."""
    text = None
    if b"\0" not in line:
        with suppress(UnicodeDecodeError):
            text = line.decode().rstrip("\r\n")
    if text is None:
        raise SourceUnsupported(
            f"the header of {source.location!r} isn't {source.encoding} text",
            hint='declare its encoding, such as encoding = "cp1252"; or save it in UTF-8',
        )
    return text


def _is_tsv(location: str) -> bool:
    """Whether a file's name says that tabs separate its cells."""
    return location.casefold().removesuffix(".gz").removesuffix(".zst").endswith(".tsv")
