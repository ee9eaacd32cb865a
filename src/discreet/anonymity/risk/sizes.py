"""How large the equivalence classes are: the histogram that every figure of risk is computed from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymity.records.column import Whole
from discreet.anonymity.records.grouping import group


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClassSizes:
    """Sizes of equivalence classes, smallest first, with how many classes and how many rows have each.

    Args:
        sizes: the different sizes: among how many rows a row hides, itself included.
        classes: of each size, how many classes have it.
        rows: of each size, how many rows are in such classes: size times classes, unless missing values are wildcards.

    Examples:
        >>> import numpy as np
        >>> found = class_sizes(np.array([1, 3, 1]), np.array([1, 3, 1]))
        >>> found.sizes.tolist(), found.classes.tolist(), found.rows.tolist()
        ([1, 3], [2, 1], [2, 3])
        >>> found.unique, found.below(4), found.smallest
        (2, 5, 1)
    """

    sizes: Whole
    classes: Whole
    rows: Whole

    @property
    def number(self) -> int:
        """How many classes there are."""
        return int(self.classes.sum())

    @property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.rows.sum())

    @property
    def smallest(self) -> int:
        """The k of k-anonymity: the least size; 0 if there are no rows."""
        return int(self.sizes[0]) if len(self.sizes) else 0

    @property
    def unique(self) -> int:
        """How many rows are alone in their class."""
        return self.of(1)

    def of(self, size: int) -> int:
        """How many rows are in classes of exactly this size."""
        return int(self.rows[self.sizes == size].sum())

    def below(self, size: int) -> int:
        """How many rows are in classes smaller than this."""
        return int(self.rows[self.sizes < size].sum())

    def pairs(self) -> int:
        """How many pairs of rows can't be told apart."""
        return int((self.rows * (self.sizes - 1)).sum()) // 2

    def to_dict(self) -> list[dict[str, int]]:
        """The histogram as JSON-ready data, one entry a size."""
        return [
            {"size": int(size), "classes": int(classes), "rows": int(rows)}
            for size, classes, rows in zip(self.sizes, self.classes, self.rows, strict=True)
        ]


def class_sizes(rows: Whole, sizes: Whole) -> ClassSizes:
    """The histogram of some classes.

    Args:
        rows: of each class, how many rows are in it.
        sizes: of each class, among how many rows one of its rows hides.
    """
    span = int(sizes.max()) + 1 if len(sizes) else 1
    found = group([sizes.astype(np.int32)], [span])
    held = np.bincount(found.of_row(), weights=rows, minlength=found.number).astype(np.int64)  # exact below 2^53 rows
    return ClassSizes(sizes=found.tuples()[:, 0].astype(np.int64), classes=found.counts, rows=held)
