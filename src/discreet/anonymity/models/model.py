"""What every model of anonymity is: a measure of equivalence classes and a criterion on it, in one."""

from __future__ import annotations

from typing import Protocol

from discreet.anonymity.classes.frequencies import Frequencies
from discreet.anonymity.records.column import Mask, Reals


class Model(Protocol):
    """A promise about the equivalence classes of a release.

    Two facts tell a search what it may leave out. Both are about classes, with the totals of the whole table fixed.

    - `grows`: adding any rows to a class that meets the model leaves a class that meets it.
    - `merges`: the union of two disjoint classes that each meet the model meets it. A model that grows merges.

    Where missing values are wildcards, classes aren't disjoint: a row may hide in two classes, and counts once
    in their union. Then only `grows` can be relied on. Where units have several rows, a unit may be in two classes
    likewise, and another row may give a unit another value, or the class no new unit. Then `grows` holds for models
    without a sensitive attribute alone, and `merges` for all only while no unit is in two classes.
    """

    @property
    def sensitive(self) -> str | None:
        """The sensitive attribute that it is about; None if it is about none."""
        ...

    @property
    def grows(self) -> bool:
        """Whether a class that meets it still does when any rows are added."""
        ...

    @property
    def merges(self) -> bool:
        """Whether two disjoint classes that each meet it do so together."""
        ...

    @property
    def relative(self) -> bool:
        """Whether it compares a class with the whole table, so that leaving out other classes can make it miss."""
        ...

    def measure(self, frequencies: Frequencies) -> Reals:
        """What each class reaches, as floats: for people and reports. `met` doesn't rely on it where it rounds.

        Raises:
            InvalidArgument: the frequencies lack what the model is about.
        """
        ...

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it. Where rounding leaves a doubt, a class doesn't.

        Raises:
            InvalidArgument: the frequencies lack what the model is about.
        """
        ...

    def reached(self, frequencies: Frequencies) -> float:
        """What the worst class reaches; of no classes at all, the best there is.

        Raises:
            InvalidArgument: the frequencies lack what the model is about.
        """
        ...

    def __str__(self) -> str:
        """What it promises, such as "5-anonymity"."""
        ...


def lowest(measure: Reals) -> float:
    """The worst of measures of which more is better; ∞ if there are none.

    Examples:
        >>> import numpy as np
        >>> lowest(np.array([2.0, 1.0])), lowest(np.array([]))
        (1.0, inf)
    """
    return float(measure.min()) if len(measure) else float("inf")


def highest(measure: Reals) -> float:
    """The worst of measures of which less is better; 0 if there are none.

    Examples:
        >>> import numpy as np
        >>> highest(np.array([2.0, 1.0])), highest(np.array([]))
        (2.0, 0.0)
    """
    return float(measure.max()) if len(measure) else 0.0
