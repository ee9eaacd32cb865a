"""The header line of a CSV file: its only schema."""

from __future__ import annotations

import csv
import zlib
from dataclasses import dataclass

from discreet.engine.files import OpenFile
from discreet.errors import SourceUnsupported

_LONGEST = 1 << 20
_DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Header:
    """The names of a CSV file's columns, and the sign that separates them.

    Args:
        names: in the file's order, without surrounding spaces.
        delimiter: one of `, ; | tab`.
    """

    names: tuple[str, ...]
    delimiter: str


def read_header(file: OpenFile, location: str) -> Header:
    """Read the first line, and nothing after it.

    The separator is found in the header alone. Were it guessed from the rows, as readers like to do, one person's
    cell could change how all the others are read.

    Args:
        file: the open file.
        location: what to call it in an error; the suffix .tsv means tabs.

    Raises:
        SourceUnsupported: the first line isn't a header, or two columns have one name.
    """
    line = _first_line(file, zipped=is_zipped(location))
    if not line:
        raise SourceUnsupported(f"{location!r} has no header line", hint="the first line must name the columns")
    delimiter = "\t" if location.casefold().endswith(".tsv") else max(_DELIMITERS, key=line.count)
    names = tuple(name.strip() for name in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True)))
    folded = [name.casefold() for name in names]
    for number, name in enumerate(folded):
        if not name or name in folded[:number]:  # not quoted: a file that lacks its header has a row here
            problem = f"the name of column {folded.index(name) + 1} again for" if name else "no name for"
            raise SourceUnsupported(
                f"{location!r} has {problem} column {number + 1}", hint="give each column a name of its own"
            )
    return Header(names, delimiter)


def is_zipped(location: str) -> bool:
    """Whether a file's name says that it is compressed with gzip.

    Examples:
        >>> is_zipped("census.csv.gz")
        True
    """
    return location.casefold().endswith(".gz")


def _first_line(file: OpenFile, *, zipped: bool) -> str:
    """The first line of the file's text. What else was read stays in here, out of sight of any traceback."""
    head = file.head(_LONGEST)
    if zipped:
        try:
            head = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, _LONGEST)
        except zlib.error:
            return ""
    text = head.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n", 1)[0].strip()
