"""Hierarchies that hide characters.

Level by level the ZIP code 12345 becomes 1234* and 123**, and the number 57 becomes 50 or 60 and 0 or 100; or all is
hidden at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from discreet.anonymity.columns import Coded, Mask, Whole
from discreet.anonymity.hierarchies.texts import numbers, present, texts
from discreet.errors import InvalidArgument, SchemaMismatch

if TYPE_CHECKING:
    import pyarrow as pa
from discreet.anonymity.hierarchies.ladder import Ladder, build


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """A value is shown as it is or as `*`; a missing value too.

    Examples:
        >>> from discreet.anonymity import read
        >>> Flat().ladder(read({"sex": ["F", "M", None]}).column("sex")).labels
        (('F', 'M', '(missing)'), ('*',))
    """

    def ladder(self, column: Coded) -> Ladder:
        """The groups that the values of a column fall into; fits every column."""
        return build(column, [], top=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """Each level masks more characters from one end; the last is `*` for all.

    A number is masked in its text form, so say `pad="0"` for ZIP codes that were read as numbers: 1234 is 01234.

    Proof that it coarsens. A level masks further characters of the same places, so what it shows is a function of what
    the level below shows.

    Args:
        side: which end is masked first, `"right"` or `"left"`.
        masked: how many characters are masked at each level, ascending; if not given, one more at each level, while the
            longest value has one left.
        character: what stands for a masked one; one character.
        pad: one character that fills up shorter values on the left, so that places mean the same in all; none if empty.
        width: to which length `pad` fills up; that of the longest value, if not given.

    Raises:
        InvalidArgument: an argument isn't as described.

    Examples:
        >>> from discreet.anonymity import read
        >>> codes = read({"zip": [2139, 12345, 12349]}).column("zip")
        >>> Masking(pad="0", masked=(1, 3)).ladder(codes).labels
        (('2139', '12345', '12349'), ('0213*', '1234*'), ('02***', '12***'), ('*',))
    """

    side: Literal["right", "left"] = "right"
    masked: Sequence[int] | None = None
    character: str = "*"
    pad: str = ""
    width: int | None = None

    def __post_init__(self) -> None:
        if self.side not in {"right", "left"}:
            raise InvalidArgument(f"texts are masked from the 'right' or the 'left', not {self.side!r}")
        if len(self.character) != 1 or len(self.pad) > 1:
            raise InvalidArgument("character must be one character, and pad one or none")
        if self.width is not None and (self.width < 1 or not self.pad):
            raise InvalidArgument("width is the length that pad fills up to: 1 or more, and with a pad")
        if self.masked is not None:
            steps = tuple(self.masked)
            if any(low >= high for low, high in zip((0, *steps), steps, strict=False)):
                raise InvalidArgument("masked must be numbers of characters, ascending, from 1 on")
            object.__setattr__(self, "masked", steps)

    def ladder(self, column: Coded) -> Ladder:
        """The groups that the values of a column fall into; fits every column."""
        import pyarrow.compute as pc

        written = texts(present(column))
        longest = pc.max(pc.utf8_length(written)).as_py() or 0
        if self.pad:
            longest = max(longest, self.width or 0)
            written = pc.utf8_lpad(written, longest, padding=self.pad)
        steps = range(1, longest) if self.masked is None else self.masked
        return build(column, [self._mask(written, step) for step in steps], top=True)

    def _mask(self, written: pa.Array, number: int) -> pa.Array:
        """The texts with that many characters masked, or all they have."""
        import pyarrow as pa
        import pyarrow.compute as pc

        length = pc.utf8_length(written)
        gone = pc.min_element_wise(length, pa.scalar(number, pa.int32()))
        signs = pc.binary_repeat(pa.scalar(self.character), gone)
        if self.side == "left":
            return pc.binary_join_element_wise(signs, pc.utf8_slice_codeunits(written, number), "")
        return pc.binary_join_element_wise(pc.utf8_slice_codeunits(written, 0, -number), signs, "")


_MOST = 10**18
"""Numbers stay below this, so that none outgrows 63 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digits:
    """Each level replaces one more digit by 0: tens, hundreds, thousands, … until 0 is all that is left.

    Two ways, which textbooks confuse. Truncation drops digits: 57 → 50 → 0. Rounding takes the nearest, away from 0 in
    doubt: 57 → 60 → 100 → 0. Digits after the point go at level 1.

    Rounding works on the number that is rounded already, because rounding afresh isn't a coarsening: 48 and 52 are both
    50 in tens, but 48 would be 0 in hundreds and 52 would be 100. So 48 → 50 → 100, a known bias of rounding twice.

    Proof that both are coarsenings. Let m be the number's size at level i in units of 10^i. At level i + 1 it is
    ⌊m / 10⌋ or ⌊(m + 5) / 10⌋: with the sign, a function of what level i shows. (0 has no sign, and stays 0.)
    That fractions may go first: ⌊(x + 5) / 10⌋ = ⌊(⌊x⌋ + 5) / 10⌋, since every multiple of ten is whole.

    Args:
        way: `"truncate"` or `"round"`.
        levels: how many; if not given, as many as it takes until all are 0. `*` follows where more than one group is
            left, of which a missing value is one.

    Raises:
        InvalidArgument: another way, or less than one level.

    Examples:
        >>> from discreet.anonymity import read
        >>> ages = read({"age": [42, 48, 52, 57]}).column("age")
        >>> Digits().ladder(ages).labels[1:]
        (('40', '50'), ('0',))
        >>> Digits(way="round").ladder(ages).labels[1:]
        (('40', '50', '60'), ('0', '100'), ('0',))
    """

    way: Literal["truncate", "round"] = "truncate"
    levels: int | None = None

    def __post_init__(self) -> None:
        if self.way not in {"truncate", "round"}:
            raise InvalidArgument(f"digits are dropped by 'truncate' or 'round', not {self.way!r}")
        if self.levels is not None and self.levels < 1:
            raise InvalidArgument(f"levels must be 1 or more, not {self.levels}")

    def ladder(self, column: Coded) -> Ladder:
        """The groups that the values of a column fall into.

        Raises:
            SchemaMismatch: the column doesn't hold numbers below 10^18.
        """
        import pyarrow as pa

        listed = numbers(column, "only numbers have digits to drop; texts can be masked").to_pylist()
        if not all(abs(number) < _MOST for number in listed):
            raise SchemaMismatch(f"column {column.name!r} holds numbers of 10^18 or more")
        whole = cast("Whole", pa.array(map(int, listed), pa.int64()).to_numpy(zero_copy_only=False))
        size, negative = np.abs(whole), whole < 0
        shown: list[pa.Array] = []
        while bool(size.any()) if self.levels is None else len(shown) < self.levels:
            size = (size + 5 * (self.way == "round")) // 10
            shown.append(_labels(size, negative, len(shown) + 1))
        return build(column, shown, top=column.has_missing or bool(size.any()) or not shown)


def _labels(size: Whole, negative: Mask, level: int) -> pa.Array:
    """A level's labels: the digits that are left, and a 0 for each that is gone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = pc.binary_join_element_wise(pc.cast(pa.array(size), pa.string()), "0" * level, "")
    signed = pc.if_else(pa.array(negative), pc.binary_join_element_wise("-", digits, ""), digits)
    return pc.if_else(pa.array(size == 0), "0", signed)
