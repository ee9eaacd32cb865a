"""Hierarchies bound to the values of a column, the group of each at each level; and those that hide characters.

Level by level the ZIP code 12345 becomes 1234* and 123**, and the number 57 becomes 50 or 60 and 0 or 100; or all is
hidden at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal, Protocol, cast

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Mask, Whole
from discreet.anonymity.hierarchies.texts import MISSING, TOP, numbers, present, texts
from discreet.errors import InvalidArgument, SchemaMismatch

if TYPE_CHECKING:
    import pyarrow as pa


# ── Ladders ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ladder:
    """Ever coarser groups of the values of a column.

    Level 0 is the values themselves. At each level above, every group is a union of groups of the level below, so
    that going up only ever loses information, and what is known of a level follows from any level below it. Groups are
    numbered in the order of the least value in them. The highest level need not be one group.

    Args:
        name: of the column.
        maps: level → (code of a value → its group); level 0 is the identity.
        labels: level → what a release shows for each group; different groups have different labels.
        leaves: level → how many values of the hierarchy each group stands for, those that don't occur too; None if
            the hierarchy knows no others.
        domain: how many values the hierarchy has; 0 if it knows none but those that occur.

    Raises:
        InvalidArgument: a level isn't a coarsening of the one below it, groups aren't numbered so, or labels repeat.

    Examples:
        >>> ladder = Ladder(
        ...     name="age", maps=(np.array([0, 1, 2], np.int32), np.array([0, 0, 1], np.int32)),
        ...     labels=(("21", "28", "35"), ("20–29", "30–39")),
        ... )
        >>> ladder.height, ladder.groups(1), ladder.sizes(1).tolist(), ladder.between(0, 1).tolist()
        (1, 2, [2, 1], [0, 0, 1])
    """

    name: str
    maps: tuple[Codes, ...]
    labels: tuple[tuple[str, ...], ...]
    leaves: tuple[Whole, ...] | None = None
    domain: int = 0

    def __post_init__(self) -> None:
        if not self.maps or len(self.maps) != len(self.labels):
            raise InvalidArgument(f"a ladder needs labels for each of its levels ({self.name!r})")
        size = len(self.labels[0])
        if not np.array_equal(self.maps[0], np.arange(size)):
            raise InvalidArgument(f"level 0 of {self.name!r} must be the values themselves")
        for level, (groups, labels) in enumerate(zip(self.maps, self.labels, strict=True)):
            if len(groups) != size or not _is_numbered(groups, len(labels)):
                raise InvalidArgument(f"level {level} of {self.name!r} doesn't number its groups by their least values")
            if len(set(labels)) != len(labels):
                raise InvalidArgument(f"two groups of {self.name!r} have the same label at level {level}")
            if level and not np.array_equal(self._above(level - 1, level)[self.maps[level - 1]], groups):
                raise InvalidArgument(
                    f"level {level} of {self.name!r} isn't a coarsening of level {level - 1}",
                    hint="values that share a group must share one at every level above",
                )

    @property
    def height(self) -> int:
        """How many levels there are above the values themselves."""
        return len(self.maps) - 1

    def groups(self, level: int) -> int:
        """How many groups a level has."""
        return len(self.labels[level])

    def sizes(self, level: int) -> Whole:
        """How many values each group of a level holds."""
        return np.bincount(self.maps[level], minlength=self.groups(level)).astype(np.int64)

    def leaves_of(self, level: int) -> Whole:
        """How many values of the hierarchy each group of a level stands for, whether they occur or not."""
        return self.sizes(level) if self.leaves is None else self.leaves[level]

    def between(self, low: int, high: int) -> Codes:
        """The group at level `high` that each group of level `low` is in.

        Raises:
            InvalidArgument: `high` is below `low`.
        """
        if not 0 <= low <= high <= self.height:
            raise InvalidArgument(
                f"no way up from level {low} to {high} of {self.name!r}, which has 0 to {self.height}"
            )
        return self._above(low, high)

    def _above(self, low: int, high: int) -> Codes:
        """Group at `low` → group at `high` of one of its values: of all, if `high` is a coarsening."""
        found = np.zeros(self.groups(low), dtype=np.int32)
        found[self.maps[low]] = self.maps[high]
        return found


def _is_numbered(groups: Codes, number: int) -> bool:
    """Whether the groups are 0 to number − 1, each met for the first time in that order."""
    if not len(groups):
        return number == 0
    highest = np.maximum.accumulate(groups)
    steps = np.diff(highest, prepend=np.int32(-1))
    return bool(groups.min() == 0 and highest[-1] == number - 1 and steps.max() <= 1)


class Hierarchy(Protocol):
    """A rule by which values become coarser, level by level; it knows no data until it meets a column."""

    def ladder(self, column: Coded) -> Ladder:
        """The groups that the values of a column fall into.

        Args:
            column: any, also one without rows.

        Raises:
            SchemaMismatch: the column holds values that the hierarchy doesn't know (the message names at most five) or
                values of another kind.
            InvalidArgument: the hierarchy itself is wrong.
        """
        ...


def build(column: Coded, levels: Sequence[pa.Array], *, top: bool) -> Ladder:
    """A ladder whose groups are the values with the same label.

    Args:
        column: the column.
        levels: level, from 1 on → text of each value. The missing value, which is the last, may have a text too; at
            levels where it has none, it is a group of its own.
        top: whether a level follows on which everything is `*`.

    Raises:
        InvalidArgument: a level isn't a coarsening of the one below it.
    """
    encoded = [_encoded(labels) for labels in (texts(present(column)), *levels)]
    missing = _unused(encoded) if column.has_missing else MISSING
    full = [
        (groups, labels)
        if len(groups) == column.size
        else (np.append(groups, np.int32(len(labels))), (*labels, missing))
        for groups, labels in encoded
    ]
    if top:
        full.append((np.zeros(column.size, dtype=np.int32), (TOP,) if column.size else ()))
    maps, labels = zip(*full, strict=True)
    return Ladder(name=column.name, maps=maps, labels=labels)


def _encoded(labels: pa.Array) -> tuple[Codes, tuple[str, ...]]:
    """Groups, numbered by the first value in them, and their labels. Arrow numbers by first occurrence, as we need."""
    found = labels.dictionary_encode()
    return found.indices.to_numpy(zero_copy_only=False).astype(np.int32), tuple(found.dictionary.to_pylist())


def _unused(encoded: Sequence[tuple[Codes, tuple[str, ...]]]) -> str:
    """A label for the missing value that no other group has, at any level."""
    taken = set(chain.from_iterable(labels for _, labels in encoded))
    name = MISSING
    while name in taken:
        name = f"({name})"
    return name


# ── Hierarchies that hide characters ──────────────────────────────────────────────────────────────────────────────────


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
        levels: how many; as many as it takes until all are 0, if not given. `*` follows where more than one group is
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
    """What a level shows: the digits that are left, and a 0 for each that is gone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = pc.binary_join_element_wise(pc.cast(pa.array(size), pa.string()), "0" * level, "")
    signed = pc.if_else(pa.array(negative), pc.binary_join_element_wise("-", digits, ""), digits)
    return pc.if_else(pa.array(size == 0), "0", signed)
