"""Class sizes: how many classes there are of each size, and how many units are in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Whole
from discreet.anonymity.grouping import group
from discreet.anonymity.members import Members


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClassSizes:
    """Sizes of equivalence classes, smallest first, with how many classes and how many units have each.

    Args:
        sizes: the different sizes: among how many units a unit hides, itself included.
        classes: for each size, how many classes have it.
        units: of each size, how many units are in such classes, and in none that is smaller: size times classes, unless
            missing values are wildcards or units are in several classes.

    Examples:
        >>> import numpy as np
        >>> found = class_sizes(np.array([1, 3, 1]), np.array([1, 3, 1]))
        >>> found.sizes.tolist(), found.classes.tolist(), found.units.tolist()
        ([1, 3], [2, 1], [2, 3])
        >>> found.unique, found.below(4), found.smallest
        (2, 5, 1)
    """

    sizes: Whole
    classes: Whole
    units: Whole

    @property
    def number(self) -> int:
        """How many classes there are."""
        return int(self.classes.sum())

    @property
    def total(self) -> int:
        """How many units there are."""
        return int(self.units.sum())

    @property
    def smallest(self) -> int:
        """The k of k-anonymity: the least size; 0 if there are no units."""
        return int(self.sizes[0]) if len(self.sizes) else 0

    @property
    def unique(self) -> int:
        """How many units are alone in a class."""
        return self.of(1)

    def of(self, size: int) -> int:
        """How many units have exactly this size as their smallest."""
        return int(self.units[self.sizes == size].sum())

    def below(self, size: int) -> int:
        """How many units are in classes smaller than this."""
        return int(self.units[self.sizes < size].sum())

    def to_dict(self) -> list[dict[str, int]]:
        """The histogram as JSON-ready data, one entry a size."""
        return [
            {"size": int(size), "classes": int(classes), "units": int(units)}
            for size, classes, units in zip(self.sizes, self.classes, self.units, strict=True)
        ]


def class_sizes(units: Whole, sizes: Whole, members: Members | None = None) -> ClassSizes:
    """The histogram of some classes.

    Args:
        units: for each class, how many units are in it.
        sizes: for each class, among how many units one of its units hides.
        members: which units are in it, if they may be in several.
    """
    span = int(sizes.max()) + 1 if len(sizes) else 1
    found = group([sizes.astype(np.int32)], [span])
    of_class, different = found.of_row(), found.tuples()[:, 0].astype(np.int64)
    if members is None:
        held = np.bincount(of_class, weights=units, minlength=found.number).astype(np.int64)  # exact below 2^53
    else:
        held = np.bincount(members.smallest(of_class), minlength=found.number)
    return ClassSizes(sizes=different, classes=found.counts, units=held)
