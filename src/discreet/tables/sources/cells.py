"""Untyped cells: what each is as text, and columns of such texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.tables.sources.arrow import MOST_BYTES, MOST_ROWS
from discreet.tables.sources.reader import Field

_MOST_BITS = 4_000
"""A whole number of more bits than this isn't written out; Python refuses to from about 14,000."""


class Unreadable(Exception):
    """The value has no text that means it. It stays inside this room."""


def text_of(value: Any) -> str | None:  # noqa: ANN401 — a cell of a spreadsheet, database or frame
    """A cell as text; None where nothing is in it, which NaN says of frames.

    Raises:
        Unreadable: it is a list, bytes, a time of day or anything else that no column holds.

    Examples:
        >>> [text_of(cell) for cell in (7, 0.5, True, "a", date(2024, 2, 29), float("nan"))]
        ['7', '0.5', 'true', 'a', '2024-02-29', None]
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return None if value.is_nan() else str(value)
    if isinstance(value, Integral):
        if int(value).bit_length() > _MOST_BITS:
            raise Unreadable
        return str(int(value))
    if isinstance(value, Real) and not isinstance(value, Fraction):
        number = float(value)
        return None if number != number else repr(number)  # noqa: PLR0124 — only NaN differs from itself
    return _other(value)


def _other(value: Any) -> str | None:  # noqa: ANN401 — as above
    """A cell that is neither text nor number, as text."""
    kind = type(value).__name__
    if kind in ("NaTType", "NAType"):  # pandas' signs for nothing
        return None
    if kind == "bool_" or kind == "bool":  # noqa: PLR1714 — NumPy's, by its two names
        return text_of(bool(value))
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    raise Unreadable


class Mended(str):
    """A text in which wrong bytes were replaced by U+FFFD."""

    __slots__ = ()


class TextColumns:
    """Record batches of texts, filled row by row.

    Args:
        columns: of the batches.
        missing: texts that stand for NULL.
        unreadable: where texts with characters that UTF-8 lacks, and cells without a text, are counted.
        bare: whether texts come without the spaces around them, and the empty one stands for NULL, too.
    """

    def __init__(
        self, columns: Sequence[Field], missing: Sequence[str], unreadable: Counter[str], *, bare: bool = False
    ) -> None:
        self._names = [each.name for each in columns]
        self._bare = bare
        self._nulls = pa.array(["", *(each.strip(" ") for each in missing)] if bare else list(missing), pa.string())
        self._unreadable = unreadable
        self._rows: list[Sequence[Any]] = []
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Whether a batch should be taken now."""
        return len(self._rows) >= MOST_ROWS or self._size >= MOST_BYTES

    @property
    def is_empty(self) -> bool:
        """Whether there are no rows."""
        return not self._rows

    def add(self, row: Sequence[Any], size: int | None = None) -> None:
        """Add a row of cells; those that have no text will be NULL, and counted.

        Args:
            row: its cells.
            size: about how many bytes they have, if that is known.
        """
        self._rows.append(row)
        self._size += sum(len(each) for each in row if isinstance(each, str)) if size is None else size

    def take(self) -> pa.RecordBatch:
        """The rows so far as a batch; none are left."""
        columns = [
            self._column(name, cells) for name, cells in zip(self._names, zip(*self._rows, strict=True), strict=True)
        ]
        self._rows = []
        self._size = 0
        return pa.RecordBatch.from_arrays(columns, self._names)

    def _column(self, name: str, cells: Sequence[Any]) -> pa.Array:
        """The cells of a column. Mostly all are texts or nothing, which is seen at once."""
        wrong = 0
        if not set(map(type, cells)) <= {str, type(None)}:
            cells, wrong = as_texts(cells)
        made, mended = texts(cells)
        if wrong + mended:
            self._unreadable[name] += wrong + mended
        made = pc.ascii_trim(made, characters=" ") if self._bare else made
        return pc.if_else(pc.is_in(made, self._nulls), pa.scalar(None, pa.string()), made) if len(self._nulls) else made


def as_texts(cells: Iterable[Any]) -> tuple[list[str | None], int]:
    """Cells as texts, each read by itself; and how many have none, or were mended.

    Examples:
        >>> as_texts([7, "7", b"7"])
        (['7', '7', None], 1)
    """
    found: list[str | None] = []
    wrong = 0
    for value in cells:
        try:
            text = text_of(value)
        except Unreadable:
            text, wrong = None, wrong + 1
        wrong += isinstance(text, Mended)
        found.append(text)
    return found, wrong


def texts(cells: Sequence[str | None]) -> tuple[pa.Array, int]:
    r"""Texts as an array, and how many had characters that UTF-8 lacks: halves of a surrogate pair, here U+FFFD.

    Examples:
        >>> texts(["a", "\ud800", None])[0].to_pylist()
        ['a', '\ufffd', None]
    """
    try:
        return pa.array(cells, pa.string()), 0
    except UnicodeEncodeError:
        pass
    kept: list[str | None] = []
    wrong = 0
    for each in cells:
        mended = None if each is None else _without_surrogates(each)
        wrong += mended != each
        kept.append(mended)
    return pa.array(kept, pa.string()), wrong


def _without_surrogates(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair."""
    return "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text)
