"""Texts with more and more characters masked: the ZIP code 12345 becomes 1234*, then 123**; or all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from discreet.anonymity.hierarchies.ladder import Ladder, build
from discreet.anonymity.hierarchies.texts import present, texts
from discreet.anonymity.records.column import Coded
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa


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

    Proof that it coarsens. What a level shows is the level below with further characters of the same places masked, so
    it is a function of what the level below shows.

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
        """Check the arguments."""
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
        """The texts with so many characters masked, or all they have."""
        import pyarrow as pa
        import pyarrow.compute as pc

        length = pc.utf8_length(written)
        gone = pc.min_element_wise(length, pa.scalar(number, pa.int32()))
        signs = pc.binary_repeat(pa.scalar(self.character), gone)
        if self.side == "left":
            return pc.binary_join_element_wise(signs, pc.utf8_slice_codeunits(written, number), "")
        return pc.binary_join_element_wise(pc.utf8_slice_codeunits(written, 0, -number), signs, "")
