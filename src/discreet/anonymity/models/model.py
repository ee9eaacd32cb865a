"""Models of anonymity: each is a measure of equivalence classes and a criterion on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from operator import index
from typing import Protocol

from discreet.anonymity.columns import Mask, Reals, Whole
from discreet.anonymity.frequencies import Frequencies
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, rational
from discreet.hints import Hint


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
        """The figure that each class reaches, for people and reports. `met` doesn't rely on it where it rounds.

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
        """The figure that the worst class reaches; of no classes at all, the best there is.

        Raises:
            InvalidArgument: the frequencies lack what the model is about.
        """
        ...

    def __str__(self) -> str: ...


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


MOST = 1 << 31
"""No table here has more rows, and no threshold above it says anything."""


def whole(value: int, name: str, *, least: int = 1) -> int:
    """Read a whole number from `least` to 2^31.

    Raises:
        InvalidArgument: it isn't one; a truth value isn't either.

    Examples:
        >>> whole(5, "k")
        5
    """
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= MOST:
        raise InvalidArgument(f"{name} must be a whole number from {least} to 2^31")
    return number


def real(value: Rationalizable, name: str, *, least: int = 0, most: int = MOST) -> Fraction:
    """Read an exact number from `least` to `most`, both included.

    Raises:
        InvalidArgument: it isn't one; NaN, infinities and truth values aren't.

    Examples:
        >>> real(0.15, "t", most=1)
        Fraction(3, 20)
    """
    number = rational(value, name)
    if not least <= number <= most:
        raise InvalidArgument(f"{name} must be from {least} to {'2^31' if most == MOST else most}")
    return number


def above_zero(value: Rationalizable, name: str, *, most: int = MOST) -> Fraction:
    """Read an exact number above 0 and not above `most`.

    Raises:
        InvalidArgument: it isn't one.

    Examples:
        >>> above_zero("1/3", "alpha")
        Fraction(1, 3)
    """
    number = real(value, name, most=most)
    if not number:
        raise InvalidArgument(f"{name} must be above 0")
    return number


def attribute(value: str) -> str:
    """Read the name of a sensitive attribute.

    Raises:
        InvalidArgument: it isn't a text, or an empty one.
    """
    if not isinstance(value, str) or not value:
        raise InvalidArgument(
            "the sensitive attribute is named by a text", hint=Hint.of("{sensitive}", sensitive="disease")
        )
    return value


def shown(number: Fraction) -> str:
    """An exact number for people: in decimals where six digits say it all, else as a fraction.

    Examples:
        >>> shown(Fraction(3, 20)), shown(Fraction(1, 3))
        ('0.15', '1/3')
    """
    text = f"{float(number):.6g}"
    return text if Fraction(text) == number else str(number)


class AtLeast(ABC):
    """Every class has at least a number of something that more rows never make fewer: units, people or values."""

    __slots__ = ()

    @property
    @abstractmethod
    def least(self) -> int:
        """How many every class is to have."""

    @abstractmethod
    def number(self, frequencies: Frequencies) -> Whole:
        """For each class, how many it has.

        Raises:
            InvalidArgument: the frequencies lack what is counted.
        """

    @property
    def grows(self) -> bool:
        """True: what is counted becomes no less as rows join a class, with the people who could be them."""
        return True

    @property
    def merges(self) -> bool:
        """True, as it grows."""
        return True

    @property
    def relative(self) -> bool:
        """False: it looks at nothing outside of a class and its population."""
        return False

    def measure(self, frequencies: Frequencies) -> Reals:
        """For each class, how many it has.

        Raises:
            InvalidArgument: the frequencies lack what is counted.
        """
        return self.number(frequencies).astype(float)

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it, exactly.

        Raises:
            InvalidArgument: the frequencies lack what is counted.
        """
        return self.number(frequencies) >= self.least

    def reached(self, frequencies: Frequencies) -> float:
        """How many every class of the whole table has; ∞ of no classes.

        Raises:
            InvalidArgument: the frequencies lack what is counted.
        """
        return lowest(self.measure(frequencies))


class WithinClass:
    """A model that looks at nothing outside of a class."""

    __slots__ = ()

    @property
    def relative(self) -> bool:
        """False: it looks at nothing outside of a class."""
        return False


class AgainstTable(ABC):
    """A model that compares each class with the shares of the whole table; the less a class differs, the better."""

    __slots__ = ()

    @property
    def relative(self) -> bool:
        """True: with the shares of the whole table."""
        return True

    @abstractmethod
    def measure(self, frequencies: Frequencies) -> Reals:
        """For each class, how much it differs."""

    def reached(self, frequencies: Frequencies) -> float:
        """The threshold that the worst class reaches; 0 of no classes.

        Raises:
            InvalidArgument: the frequencies lack what the model is about.
        """
        return highest(self.measure(frequencies))


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Whether a table keeps a promise.

    Args:
        promise: the model with its thresholds, in words.
        met: whether every class keeps it.
        reached: what the worst class reaches.
        failing: how many units are in classes that don't keep it.
    """

    promise: str
    met: bool
    reached: float
    failing: int

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data; None where what is reached is infinite."""
        reached = self.reached if isfinite(self.reached) else None
        return {"promise": self.promise, "met": self.met, "reached": reached, "failing": self.failing}


def checked(models: Sequence[Model], frequencies: Frequencies) -> tuple[Checked, ...]:
    """Whether the classes keep some promises.

    Raises:
        InvalidArgument: a model needs what the frequencies lack.
    """
    found = []
    for model in models:
        met = model.met(frequencies)
        found.append(
            Checked(
                promise=str(model),
                met=bool(met.all()),
                reached=model.reached(frequencies),
                failing=frequencies.within(~met),
            )
        )
    return tuple(found)
