"""Cells: bins about a chosen one, brought together in groups that grow with the distance from it.

A quantile's interval is read off noisy counts of the rows around it. They are counted in few cells, because each of
them adds noise; and in narrow ones near the chosen bin, where the ends of the interval mostly lie, because an end is
known no better than to the edge of a cell. So cells double in width: 1, 1, 2, 4, 8, … bins on either side. Which cells
there are follows from the chosen bin alone, and that is released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells about a bin of a histogram, from the least to the greatest.

    Args:
        chosen: the number of the bin that is a cell of its own.
        size: how many bins there are.
    """

    chosen: int
    size: int

    @property
    def home(self) -> int:
        """The place of the chosen bin's cell: how many cells lie below it."""
        return self.chosen.bit_length()

    def __len__(self) -> int:
        """How many cells there are.

        Examples:
            >>> len(Cells(10, 111)), len(Cells(8192, 16384))
            (12, 28)
        """
        return self.home + 1 + (self.size - 1 - self.chosen).bit_length()

    def bins(self, place: int) -> tuple[int, int]:
        """The first and the last bin of a cell.

        Examples:
            >>> cells = Cells(10, 111)
            >>> [cells.bins(place) for place in range(6)]
            [(0, 2), (3, 6), (7, 8), (9, 9), (10, 10), (11, 11)]
        """
        away = abs(place - self.home)
        if away == 0:
            return self.chosen, self.chosen
        near, far = 1 << (away - 1), (1 << away) - 1
        if place < self.home:
            return max(self.chosen - far, 0), self.chosen - near
        return self.chosen + near, min(self.chosen + far, self.size - 1)

    def counts(self, histogram: Mapping[int, int]) -> list[int]:
        """What the cells hold.

        Examples:
            >>> Cells(10, 111).counts({0: 5, 2: 1, 10: 7, 110: 3})
            [6, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 3]
        """
        found, home = [0] * len(self), self.home
        for number, count in histogram.items():
            away = number - self.chosen
            found[home + away.bit_length() if away >= 0 else home - (-away).bit_length()] += count
        return found


def most_cells(size: int) -> int:
    """As many cells as there can be about a bin of a histogram of this size.

    Examples:
        >>> most_cells(16384)
        29
    """
    return 2 * (size - 1).bit_length() + 1
