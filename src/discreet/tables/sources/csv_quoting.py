"""Whether a block of a CSV file is well formed, by looking at all of its quotation marks and line ends at once.

Quotation marks outside of doubled ones alternate between opening and closing. So the block is well quoted if and only
if each one with an even number (from 0) opens a cell, or follows the one before it at once; and each one with an odd
number closes a cell, or precedes the next one at once: an opening one stands behind a delimiter, a line end or the
start, a closing one before a delimiter, a line end or the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_Places: TypeAlias = NDArray[np.int64]

_CR, _LF = b"\r"[0], b"\n"[0]


class Signs:
    r"""The quotation marks and line ends of a text, each found once.

    Args:
        text: a part of the file that starts with a record.
        quote: the quotation mark, one byte; none where no cell is quoted.

    Examples:
        >>> Signs(b'1,"6"" tall"\n').are_well_placed(b",", multiline=True)
        True
        >>> Signs(b'1,"6" tall"\n').are_well_placed(b",", multiline=True)
        False
    """

    def __init__(self, text: bytes, quote: bytes = b'"') -> None:
        self.text = text
        self._codes = np.frombuffer(text, np.uint8)
        there = quote and quote in text
        self._quotes = np.flatnonzero(self._codes == quote[0]) if there else np.zeros(0, np.int64)

    @cached_property
    def _ends(self) -> _Places:
        """The places of all line ends."""
        ends = self._codes == _LF
        if b"\r" in self.text:
            ends |= self._codes == _CR
        return np.flatnonzero(ends)

    @cached_property
    def _outside(self) -> _Places:
        """The places of line ends that aren't between quotation marks."""
        outside: _Places = self._ends[np.searchsorted(self._quotes, self._ends) % 2 == 0]
        return outside

    def whole_lines(self, *, multiline: bool, at_end: bool) -> Signs:
        r"""Look at as much of the text as is, in all likelihood, whole records.

        It is exact where the text is well formed; where it isn't, `are_well_placed` will say so of what was cut off.

        Args:
            multiline: whether quoted cells may hold line ends.
            at_end: whether the file ends where the text does.

        Examples:
            >>> Signs(b'1,2\n3,"a\nb').whole_lines(multiline=True, at_end=False).text
            b'1,2\n'
        """
        if at_end:
            return self
        # An LF may follow a CR at the very end, so nothing is cut behind it.
        stop = len(self.text) - (self.text[-1:] == b"\r")
        if multiline and len(self._quotes):
            ends = self._outside[: np.searchsorted(self._outside, stop)]
            return self._cut(int(ends[-1]) + 1 if len(ends) else 0)
        return self._cut(max(self.text.rfind(b"\n", 0, stop), self.text.rfind(b"\r", 0, stop)) + 1)

    def _cut(self, size: int) -> Signs:
        """Those of the first bytes."""
        made = object.__new__(Signs)
        made.text, made._codes = self.text[:size], self._codes[:size]
        made._quotes = self._quotes[: np.searchsorted(self._quotes, size)]
        for name in {"_ends", "_outside"} & vars(self).keys():
            places = vars(self)[name]
            vars(made)[name] = places[: np.searchsorted(places, size)]
        return made

    def are_well_placed(self, delimiter: bytes, *, multiline: bool) -> bool:
        """Whether quotation marks open and close cells, and do nothing else.

        Args:
            delimiter: the byte between cells.
            multiline: whether quoted cells may hold line ends.
        """
        codes, quotes = self._codes, self._quotes
        if not len(quotes):
            return True
        if len(quotes) % 2:
            return False
        opening, closing = quotes[::2], quotes[1::2]
        doubled = closing[:-1] + 1 == opening[1:]
        signs = (delimiter[0], _CR, _LF)
        before = _are_of(codes.take(opening - 1, mode="clip"), signs)
        before[0] |= opening[0] == 0
        before[1:] |= doubled
        if not before.all():
            return False
        after = _are_of(codes.take(closing + 1, mode="clip"), signs)
        after[-1] |= closing[-1] == len(codes) - 1
        after[:-1] |= doubled
        return bool(after.all()) and (multiline or len(self._outside) == len(self._ends))

    def are_near(self, longest: int) -> bool:
        r"""Whether no record has more bytes than `longest`, where all are well quoted; it may be too strict.

        Examples:
            >>> [Signs(text).are_near(6) for text in (b"ab\nab\nab\n", b"abcdefgh\n", b'"ab\nab\nab"\n')]
            [True, False, False]
        """
        text = self.text
        if len(text) <= longest:
            return True
        if len(self._quotes):
            return bool(np.diff(self._outside, prepend=-1, append=len(text)).max() <= longest)
        half = max(longest // 2, 1)
        return all(
            text.find(b"\n", start, start + half) >= 0 or text.find(b"\r", start, start + half) >= 0
            for start in range(0, len(text) - half, half)
        )


def _are_of(codes: NDArray[np.uint8], signs: Sequence[int]) -> NDArray[np.bool_]:
    """Which bytes are one of a few; comparing with each is faster than looking them up in a table."""
    found: NDArray[np.bool_] = codes == signs[0]
    for sign in signs[1:]:
        found |= codes == sign
    return found


def count_lines(text: bytes) -> int:
    r"""How many lines end in a text; CR, LF and both together each end one.

    Examples:
        >>> count_lines(b"a\nb\r\nc\rd")
        3
    """
    codes = np.frombuffer(text, np.uint8)
    count = int(np.count_nonzero(codes == _LF))
    if b"\r" in text:
        count += int(np.count_nonzero(codes == _CR)) - text.count(b"\r\n")
    return count


def is_utf8(text: bytes) -> bool:
    """Whether bytes are valid UTF-8; faster than by decoding them.

    Examples:
        >>> is_utf8("é".encode()), is_utf8("é".encode("latin-1"))
        (True, False)
    """
    offsets = pa.py_buffer(np.array([0, len(text)], np.int32))
    try:
        pa.StringArray.from_buffers(1, offsets, pa.py_buffer(text)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
