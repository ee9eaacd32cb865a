"""Ladders: hierarchies bound to the values of a column, with the group of each value at each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Whole
from discreet.anonymity.hierarchies.texts import MISSING, TOP, present, texts
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa


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
