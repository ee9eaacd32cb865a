"""Members: the units that are counted in each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymity.columns import Codes, Mask, Whole


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Members:
    """Which units are in which classes, where units have several rows.

    Args:
        classes: for each entry, the class; ascending.
        units: for each entry, the number of the unit; once per class.
        rows: for each entry, how many rows the unit has in the class.
        number: how many units the table has.
    """

    classes: Whole
    units: Codes
    rows: Whole
    number: int

    @property
    def apart(self) -> bool:
        """Whether some unit is in two classes or more."""
        return len(self.classes) > self.number

    def smallest(self, of_classes: Whole) -> Whole:
        """For each unit, the smallest of its classes' numbers."""
        found = np.full(self.number, np.iinfo(np.int64).max)
        np.minimum.at(found, self.units, of_classes[self.classes])
        return found

    def within(self, classes: Mask) -> int:
        """How many units have a row in one of these classes."""
        there = np.zeros(self.number, dtype=np.bool_)
        there[self.units[classes[self.classes]]] = True
        return int(there.sum())
