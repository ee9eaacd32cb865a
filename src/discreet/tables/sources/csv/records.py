"""The records of a CSV file, in blocks of text that hold nothing but whole ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from discreet.tables.sources.csv.checks import Signs, count_lines, is_utf8
from discreet.tables.sources.csv.grammar import Grammar
from discreet.tables.sources.opened import Malformed

BLOCK = 1 << 23
"""Bytes that are looked at together."""
_WINDOW = 1 << 16
"""Bytes that are looked at together, after something wrong."""

Parsed = TypeVar("Parsed")


class Text:
    """A file's text as far as it has been read and not yet used.

    Args:
        blocks: of the file.
    """

    def __init__(self, blocks: Iterator[bytes]) -> None:
        """Start before the first block."""
        self._blocks = blocks
        self.held = b""
        self.start = 0
        self.line = 1
        self.at_end = False

    def __len__(self) -> int:
        """How many bytes are there."""
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

    def drop_line(self, grammar: Grammar) -> None:
        """Drop a line, however long it is."""
        while (end := grammar.next_line(self.held, self.start, at_end=self.at_end)) is None:
            self.start = len(self.held) - (self.held[-1:] == b"\r")
            self.fill(len(self) + 1)
        self.start = end
        self.line += 1


def whole_records(  # noqa: PLR0913 — what to read, how, and where to stop
    text: Text,
    grammar: Grammar,
    parse: Callable[[bytes], Parsed | None],
    malformed: Malformed,
    *,
    most: int | None = None,
    block: int = BLOCK,
) -> Iterator[Parsed]:
    """What `parse` makes of the file's text, block by block, without the malformed records.

    Where a record is malformed, lines are dropped and counted, up to the next at which a whole record starts. What is
    dropped doesn't depend on the size of blocks: each is looked at as a whole first, which is fast, and record by
    record if anything is wrong with it.

    Args:
        text: after the header.
        grammar: what a whole record is.
        parse: makes a table of whole records, if all of them have the declared number of cells; else None.
        malformed: where dropped lines are counted.
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
        signs = Signs(text.held[text.start : text.start + window]).whole_lines(
            multiline=grammar.multiline, at_end=at_end
        )
        parsed = parse(signs.text) if signs.text and _is_sound(signs, grammar) else None
        if parsed is not None:
            text.use(len(signs.text))
            window = min(2 * window, block)
        else:
            whole = _record_by_record(text, grammar, malformed, small)
            window = small
            if not whole:
                continue
            parsed = parse(whole)
            if parsed is None:
                raise AssertionError("a record that is whole isn't parsed")
        yield parsed


def _is_sound(signs: Signs, grammar: Grammar) -> bool:
    """Whether records are whole, but for their number of cells. It may say no of some that are, if they are long."""
    return (
        signs.are_well_placed(grammar.delimiter, multiline=grammar.multiline)
        and signs.are_near(min(grammar.longest_cell, grammar.longest_record))
        and is_utf8(signs.text)
    )


def _record_by_record(text: Text, grammar: Grammar, malformed: Malformed, least: int) -> bytes:
    """The whole records of at least so many bytes of text."""
    whole = []
    size = 0
    while size < least and len(text):
        record = grammar.record(text.held, text.start, at_end=text.at_end)
        if record is None:
            text.more()
            continue
        if record.is_whole:
            taken = text.use(record.end - text.start)
            # A CR, and an LF that stood behind something dropped, would be one line end where there were two.
            whole.append(taken.removesuffix(b"\n").removesuffix(b"\r") + b"\n")
            size += len(taken)
        else:
            malformed.add(text.line)
            size += 1
            text.drop_line(grammar)
        if not len(text):
            text.fill(1)
    return b"".join(whole)
