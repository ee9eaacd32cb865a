"""What a record of a CSV file is, exactly: RFC 4180 without exceptions, record by record.

A cell is either quoted from its first to its last sign, with each quotation mark in it doubled, or has none at all. A
record is as many cells as the header has, and valid UTF-8. A line ends with CR, LF or both.

This is the slow and certain way, for parts of a file in which `checks` finds something wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LONGEST_CELL = 1 << 20
"""Bytes of a cell as it stands in the file (in UTF-8); a longer one is malformed. A quotation mark that is never closed
would make one cell of the rest of the file."""
LONGEST_RECORD = 1 << 24
"""Bytes of a record, likewise."""

_QUOTE = ord('"')
_LINE_ENDS = b"\r\n"


@dataclass(frozen=True, slots=True)
class Record:
    """What begins at a place of the text.

    Args:
        end: where the next record starts, if this one is whole.
        is_whole: whether it is a record.
        is_empty: whether it is an empty line.
    """

    end: int
    is_whole: bool
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Grammar:
    r"""The records of one file.

    Args:
        delimiter: the byte between cells.
        width: cells of a record.
        multiline: whether quoted cells may hold line ends.
        longest_cell: bytes.
        longest_record: bytes.

    Examples:
        >>> grammar = Grammar(delimiter=b",", width=2)
        >>> grammar.record(b'1,"6"" tall"\n2,', 0, at_end=True)
        Record(end=13, is_whole=True, is_empty=False)
        >>> grammar.record(b'1,"6" tall"\n2,', 0, at_end=True).is_whole
        False
    """

    delimiter: bytes
    width: int
    multiline: bool = True
    longest_cell: int = LONGEST_CELL
    longest_record: int = LONGEST_RECORD
    _stops: re.Pattern[bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile what ends a cell that isn't quoted."""
        object.__setattr__(self, "_stops", re.compile(b'[\r\n"' + re.escape(self.delimiter) + b"]"))

    def record(self, text: bytes, start: int, *, at_end: bool) -> Record | None:
        """What begins at `start`, which is the start of a line; None if that can't be said before more text is there.

        Args:
            text: a part of the file.
            start: less than its length.
            at_end: whether the file ends where `text` does.
        """
        if text[start] in _LINE_ENDS and self.width > 1:
            end = self._after_line_end(text, start, at_end=at_end)
            return None if end is None else Record(end, is_whole=True, is_empty=True)
        place = start
        for cell in range(1, self.width + 1):
            stop = self._cell(text, place, at_end=at_end)
            if stop is None:
                return None if len(text) - start <= self.longest_record else Record(start, is_whole=False)
            ends = stop == len(text) or (stop >= 0 and text[stop] in _LINE_ENDS)
            if stop < 0 or stop - place > self.longest_cell or ends != (cell == self.width):
                return Record(start, is_whole=False)
            place = stop + 1
        return self._ended(text, start, place - 1, at_end=at_end)

    def next_line(self, text: bytes, start: int, *, at_end: bool) -> int | None:
        """Where the line after the one at `start` begins, whatever is quoted; None if that can't be said yet."""
        found = _LINE_END.search(text, start)
        if found is None:
            return len(text) if at_end else None
        return self._after_line_end(text, found.start(), at_end=at_end)

    def _ended(self, text: bytes, start: int, stop: int, *, at_end: bool) -> Record | None:
        """The record from `start` to `stop`, where its line ends."""
        if stop - start > self.longest_record or not _is_utf8(text[start:stop]):
            return Record(start, is_whole=False)
        end = self._after_line_end(text, stop, at_end=at_end)
        return None if end is None else Record(end, is_whole=True)

    def _cell(self, text: bytes, start: int, *, at_end: bool) -> int | None:
        """Where the cell at `start` stops: a delimiter, a line end or the end of the file; −1 if it is malformed.

        None if that can't be said yet.
        """
        if start >= len(text):
            return len(text) if at_end else None
        if text[start] == _QUOTE:
            return self._quoted(text, start, at_end=at_end)
        found = self._stops.search(text, start)
        if found is None:
            return len(text) if at_end else self._unless_too_long(text, start)
        return -1 if text[found.start()] == _QUOTE else found.start()

    def _quoted(self, text: bytes, start: int, *, at_end: bool) -> int | None:
        """The same for a cell that begins with a quotation mark."""
        place = start + 1
        while (closing := text.find(b'"', place, start + self.longest_cell + 1)) >= 0:
            if closing + 1 == len(text):
                return len(text) if at_end and self._may_span(text, start, closing) else self._open(at_end=at_end)
            if text[closing + 1] != _QUOTE:
                after = text[closing + 1 : closing + 2]
                is_closed = (after == self.delimiter or after in (b"\r", b"\n")) and self._may_span(
                    text, start, closing
                )
                return closing + 1 if is_closed else -1
            place = closing + 2
        if len(text) - start > self.longest_cell:
            return -1
        if not self.multiline and _LINE_END.search(text, start):
            return -1
        return self._open(at_end=at_end)

    def _open(self, *, at_end: bool) -> int | None:
        """What a quotation mark is that isn't closed so far."""
        return -1 if at_end else None

    def _may_span(self, text: bytes, start: int, stop: int) -> bool:
        """Whether a quoted cell has no line end in it, or may have."""
        return self.multiline or _LINE_END.search(text, start, stop) is None

    def _unless_too_long(self, text: bytes, start: int) -> int | None:
        """Not known yet how long a cell is; but malformed if it is too long already."""
        return -1 if len(text) - start > self.longest_cell else None

    def _after_line_end(self, text: bytes, stop: int, *, at_end: bool) -> int | None:
        """The start of the line after the line end at `stop`; None if an LF may follow a CR."""
        if text[stop : stop + 1] == b"\r":
            if stop + 1 == len(text) and not at_end:
                return None
            return stop + 2 if text[stop + 1 : stop + 2] == b"\n" else stop + 1
        return min(stop + 1, len(text))


_LINE_END = re.compile(rb"[\r\n]")


def _is_utf8(text: bytes) -> bool:
    """Whether bytes are valid UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
