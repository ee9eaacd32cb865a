"""The records of a CSV file: RFC 4180 without exceptions, in blocks of text that hold nothing but whole ones.

A cell is either quoted from its first to its last sign, with each quotation mark in it doubled, or has none at all. A
record is as many cells as the header has, and valid UTF-8. A line ends with CR, LF or both. What may be declared beside
that: another quotation mark, or that none means anything; a delimiter at the end of each record; and a sign with which
lines begin that are no records.

A block is looked at as a whole first (`csv_quoting`), which is fast. Where anything is wrong with it, it is gone
through record by record, which is slow and certain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass, field
from typing import TypeVar

from discreet.tables.sources.csv_quoting import Signs, count_lines, is_utf8
from discreet.tables.sources.malformed import Malformed, fault_in_line

LONGEST_CELL = 1 << 20
"""How many bytes a cell may have in the file (in UTF-8); a longer one is malformed. An unclosed quotation mark would
make one cell of the rest of the file.
"""
LONGEST_RECORD = 1 << 24
"""Bytes of a record, likewise."""

BLOCK = 1 << 23
"""Bytes that are looked at together."""
_WINDOW = 1 << 16
"""Bytes that are looked at together, after something wrong."""

_LINE_ENDS = b"\r\n"
_LINE_END = re.compile(rb"[\r\n]")

Parsed = TypeVar("Parsed", bound=Sized)


@dataclass(frozen=True, slots=True)
class Record:
    """The record, or part of one, that begins at a place of the text.

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
        quote: the byte around quoted cells; none where no cell is quoted.
        comment: the byte with which lines begin that are no records; none if there are no such lines.
        trailing: whether a delimiter ends each record.
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
    quote: bytes = b'"'
    comment: bytes = b""
    trailing: bool = False
    multiline: bool = True
    longest_cell: int = LONGEST_CELL
    longest_record: int = LONGEST_RECORD
    _stops: re.Pattern[bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_stops", re.compile(b"[\r\n" + re.escape(self.quote + self.delimiter) + b"]"))

    def record(self, text: bytes, start: int, *, at_end: bool) -> Record | None:
        """Read the record at `start`, the start of a line; None if that takes more text.

        Args:
            text: a part of the file.
            start: less than its length.
            at_end: whether the file ends where `text` does.
        """
        if (text[start] in _LINE_ENDS and self.width > 1) or text[start : start + 1] == self.comment:
            end = self.next_line(text, start, at_end=at_end)
            return None if end is None else Record(end, is_whole=True, is_empty=True)
        place = start
        last = self.width + self.trailing
        for cell in range(1, last + 1):
            stop = self._cell(text, place, at_end=at_end)
            if stop is None:
                return None if len(text) - start <= self.longest_record else Record(start, is_whole=False)
            ends = stop == len(text) or (stop >= 0 and text[stop] in _LINE_ENDS)
            if (
                stop < 0
                or stop - place > self.longest_cell
                or ends != (cell == last)
                or (cell > self.width and stop > place)
            ):
                return Record(start, is_whole=False)
            place = stop + 1
        return self._ended(text, start, place - 1, at_end=at_end)

    def next_line(self, text: bytes, start: int, *, at_end: bool) -> int | None:
        """The start of the next line after `start`, ignoring quotes; None if that takes more text."""
        found = _LINE_END.search(text, start)
        if found is None:
            return len(text) if at_end else None
        return self._after_line_end(text, found.start(), at_end=at_end)

    def _ended(self, text: bytes, start: int, stop: int, *, at_end: bool) -> Record | None:
        """The record from `start` to `stop`, where its line ends."""
        if stop - start > self.longest_record or not is_utf8(text[start:stop]):
            return Record(start, is_whole=False)
        end = self._after_line_end(text, stop, at_end=at_end)
        return None if end is None else Record(end, is_whole=True)

    def _cell(self, text: bytes, start: int, *, at_end: bool) -> int | None:
        """The end of the cell at `start`: a delimiter, a line end or the end of the file; −1 if it is malformed.

        None if that can't be said yet.
        """
        if start >= len(text):
            return len(text) if at_end else None
        if text[start : start + 1] == self.quote:
            return self._quoted(text, start, at_end=at_end)
        found = self._stops.search(text, start)
        if found is None:
            return len(text) if at_end else self._unless_too_long(text, start)
        return -1 if found.group() == self.quote else found.start()

    def _quoted(self, text: bytes, start: int, *, at_end: bool) -> int | None:
        """The same for a cell that begins with a quotation mark."""
        place = start + 1
        while (closing := text.find(self.quote, place, start + self.longest_cell + 1)) >= 0:
            if closing + 1 == len(text):
                return len(text) if at_end and self._may_span(text, start, closing) else self._open(at_end=at_end)
            if text[closing + 1 : closing + 2] != self.quote:
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
        """The meaning of a quotation mark that isn't closed so far."""
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


def header_size(text: bytes, *, multiline: bool, at_end: bool, quote: bytes = b'"') -> int | None:
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
        if not multiline or not quote or text.count(quote, 0, found) % 2 == 0:
            return end
        place = end
    return len(text) if at_end else None


class Text:
    """A file's text as far as it has been read and not yet used.

    Args:
        blocks: of the file.
    """

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self.held = b""
        self.start = 0
        self.line = 1
        self.at_end = False

    def __len__(self) -> int:
        return len(self.held) - self.start

    def fill(self, least: int) -> None:
        """Read on until this many bytes are there, or the file ends."""
        if len(self) >= least or self.at_end:
            return
        pieces, size = [self.held[self.start :]], len(self)
        while size < least and not self.at_end:
            block = next(self._blocks, None)
            self.at_end = block is None
            pieces.append(block or b"")
            size += len(pieces[-1])
        self.held, self.start = b"".join(pieces), 0

    def more(self) -> None:
        """Read on, by about as much as is there already."""
        self.fill(2 * len(self) + 1)

    def use(self, size: int) -> bytes:
        """Take this many bytes, which end where a line does."""
        taken = self.held[self.start : self.start + size]
        self.start += size
        self.line += count_lines(taken)
        return taken

    def drop_line(self, grammar: Grammar) -> bytes:
        """Drop a line, however long it is; of a long one, some is missing in what is returned."""
        pieces: list[bytes] = []
        while (end := grammar.next_line(self.held, self.start, at_end=self.at_end)) is None:
            kept = len(self.held) - (self.held[-1:] == b"\r")
            if not pieces:
                pieces.append(self.held[self.start : kept][:_WINDOW])
            elif len(pieces[0]) < _WINDOW:
                pieces[0] += self.held[self.start : kept]
            self.start = kept
            self.fill(len(self) + 1)
        dropped = b"".join(pieces) + self.held[self.start : end]
        self.start = end
        self.line += 1
        return dropped


def whole_records(  # noqa: PLR0913 — what to read, how, and where to stop
    text: Text,
    grammar: Grammar,
    parse: Callable[[bytes], Parsed | None],
    malformed: Malformed,
    *,
    most: int | None = None,
    block: int = BLOCK,
) -> Iterator[Parsed]:
    """Parse the file's text block by block, without the malformed records.

    Where a record is malformed, lines are dropped and counted, up to the next at which a whole record starts. What is
    dropped doesn't depend on the size of blocks: each is looked at as a whole first, which is fast, and record by
    record if anything is wrong with it.

    Args:
        text: after the header.
        grammar: what a whole record is.
        parse: makes a table of whole records, if all of them have the declared number of cells; else None.
        malformed: where dropped lines and whole records are counted.
        most: malformed records, after which nothing more is read; None to read on.
        block: bytes to look at together.
    """
    window = block
    small = min(_WINDOW, block)
    while True:
        text.fill(window)
        if not len(text) or (most is not None and malformed.count >= most):
            return
        at_end = text.at_end and len(text) <= window
        signs = Signs(text.held[text.start : text.start + window], grammar.quote).whole_lines(
            multiline=grammar.multiline, at_end=at_end
        )
        parsed = parse(signs.text) if signs.text and _is_sound(signs, grammar) else None
        if parsed is not None:
            text.use(len(signs.text))
            malformed.add_whole(len(parsed))
            window = min(2 * window, block)
        else:
            whole = _record_by_record(text, grammar, malformed, small)
            window = small
            if not whole:
                continue
            parsed = parse(whole)
            if parsed is None:
                raise AssertionError("a complete record can't be parsed")
        yield parsed


def _is_sound(signs: Signs, grammar: Grammar) -> bool:
    """Whether records are whole, but for their number of cells. It may say no of some that are, if they are long."""
    return (
        not (grammar.comment and _has_line_of(signs.text, grammar.comment))
        and signs.are_well_placed(grammar.delimiter, multiline=grammar.multiline)
        and signs.are_near(min(grammar.longest_cell, grammar.longest_record))
        and is_utf8(signs.text)
    )


def _has_line_of(text: bytes, sign: bytes) -> bool:
    """Whether some line may begin with a sign."""
    return text.startswith(sign) or any(end + sign in text for end in (b"\n", b"\r"))


def _record_by_record(text: Text, grammar: Grammar, malformed: Malformed, least: int) -> bytes:
    """The whole records of at least this many bytes of text."""
    whole = []
    size = 0
    while size < least and len(text):
        record = grammar.record(text.held, text.start, at_end=text.at_end)
        if record is None:
            text.more()
            continue
        if record.is_whole:
            taken = text.use(record.end - text.start)
            size += len(taken)
            if not record.is_empty:
                malformed.add_whole(1)
                # A CR, and an LF that stood behind something dropped, would be one line end where there were two.
                whole.append(taken.removesuffix(b"\n").removesuffix(b"\r") + b"\n")
        else:
            line, size = text.line, size + 1
            dropped = text.drop_line(grammar)
            malformed.add(line, fault_in_line(dropped, grammar.delimiter, grammar.width, grammar.quote))
        if not len(text):
            text.fill(1)
    return b"".join(whole)
