"""Whether a block of a CSV file is well formed, by looking at all of its quotation marks and line ends at once.

Quotation marks outside of doubled ones alternate between opening and closing. So the block is well quoted if and only
if each one with an even number (from 0) opens a cell, or follows the one before it at once; and each one with an odd
number closes a cell, or precedes the next one at once: an opening one stands behind a delimiter, a line end or the
start, a closing one before a delimiter, a line end or the end.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_Places: TypeAlias = NDArray[np.int64]

_QUOTE, _CR, _LF = b'"'[0], b"\r"[0], b"\n"[0]


def whole_lines(text: bytes, *, multiline: bool, at_end: bool) -> int:
    r"""How many bytes of a text that starts with a record are, in all likelihood, whole records.

    It is exact where the text is well formed; where it isn't, `is_well_quoted` will say so of what was cut off.

    Args:
        text: a part of the file.
        multiline: whether quoted cells may hold line ends.
        at_end: whether the file ends where it does.

    Examples:
        >>> whole_lines(b'1,2\n3,"a\nb', multiline=True, at_end=False)
        4
    """
    if at_end:
        return len(text)
    # An LF may follow a CR at the very end, so nothing is cut behind it.
    stop = len(text) - (text[-1:] == b"\r")
    if multiline and b'"' in text:
        codes = np.frombuffer(text, np.uint8, stop)
        ends = _outside(codes, np.flatnonzero(codes == _QUOTE))
        return int(ends[-1]) + 1 if len(ends) else 0
    return max(text.rfind(b"\n", 0, stop), text.rfind(b"\r", 0, stop)) + 1


def _line_ends(codes: NDArray[np.uint8]) -> _Places:
    """The places of all line ends."""
    return np.flatnonzero((codes == _LF) | (codes == _CR))


def _outside(codes: NDArray[np.uint8], quotes: _Places) -> _Places:
    """The places of line ends that aren't between quotation marks."""
    ends = _line_ends(codes)
    outside: _Places = ends[np.searchsorted(quotes, ends) % 2 == 0]
    return outside


def is_well_quoted(text: bytes, delimiter: bytes, *, multiline: bool) -> bool:
    r"""Whether quotation marks open and close cells, and do nothing else.

    Args:
        text: whole records, if it is well formed.
        delimiter: the byte between cells.
        multiline: whether quoted cells may hold line ends.

    Examples:
        >>> is_well_quoted(b'1,"6"" tall"\n', b",", multiline=True)
        True
        >>> is_well_quoted(b'1,"6" tall"\n', b",", multiline=True)
        False
    """
    if b'"' not in text:
        return True
    codes = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(codes == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    doubled = closing[:-1] + 1 == opening[1:]
    is_sign = np.zeros(256, bool)
    is_sign[[delimiter[0], _CR, _LF]] = True
    before = is_sign[codes[np.maximum(opening - 1, 0)]] | (opening == 0)
    before[1:] |= doubled
    if not before.all():
        return False
    after = is_sign[codes[np.minimum(closing + 1, len(codes) - 1)]] | (closing == len(codes) - 1)
    after[:-1] |= doubled
    return bool(after.all()) and (multiline or len(_outside(codes, quotes)) == len(_line_ends(codes)))


def is_short(text: bytes, longest: int) -> bool:
    r"""Whether no record of a well-quoted text has more bytes than `longest`, and so no cell; it may be too strict.

    Examples:
        >>> is_short(b"ab\nab\nab\n", 6), is_short(b"abcdefgh\n", 6), is_short(b'"ab\nab\nab"\n', 6)
        (True, False, False)
    """
    if len(text) <= longest:
        return True
    if b'"' in text:
        codes = np.frombuffer(text, np.uint8)
        ends = _outside(codes, np.flatnonzero(codes == _QUOTE))
        return bool(np.diff(ends, prepend=-1, append=len(text)).max() <= longest)
    half = max(longest // 2, 1)
    return all(
        text.find(b"\n", start, start + half) >= 0 or text.find(b"\r", start, start + half) >= 0
        for start in range(0, len(text) - half, half)
    )


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
