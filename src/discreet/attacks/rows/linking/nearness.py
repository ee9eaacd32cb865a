"""How two columns are compared when errors are expected: the same, near, or something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Protocol

import numpy as np

from discreet.anonymity.records.column import Coded, Value, Whole
from discreet.attacks.rows.linking.typos import close_pairs
from discreet.attacks.rows.numbers import is_ordered, numbers
from discreet.attacks.targets.compatible import plain
from discreet.attacks.targets.wording import Between
from discreet.errors import InvalidArgument


class Nearness(Protocol):
    """A way to compare a known value with a released one."""

    @property
    def errors(self) -> float:
        """Which share of what is known is near the truth but not the same; in [0, 1)."""

    def pairs(self, known: Coded, released: Coded) -> tuple[Whole, Whole]:
        """The codes of values that are near each other; those of equal values may be among them."""

    def around(self, known: Coded) -> Sequence[object]:
        """Of each known value, the condition that it or what is near it meets, as `where` takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Same:
    """Values are the same, or they aren't."""

    errors: float = 0.0

    def pairs(self, known: Coded, released: Coded) -> tuple[Whole, Whole]:  # noqa: ARG002 — what the protocol hands over
        """None are near."""
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def around(self, known: Coded) -> Sequence[object]:
        """The values themselves."""
        return known.labels()


@dataclass(frozen=True, slots=True, kw_only=True)
class Typos:
    """Texts may be a few keystrokes apart.

    Args:
        most: how many letters may be inserted, left out or replaced; 1 or 2.
        errors: how often texts have typos; in [0, 1).
    """

    most: int = 1
    errors: float = 0.1

    def pairs(self, known: Coded, released: Coded) -> tuple[Whole, Whole]:
        """Texts within the edit distance."""
        ones, others = ([plain(label) or "" for label in column.labels()] for column in (known, released))
        return close_pairs(ones, others, self.most)

    def around(self, known: Coded) -> Sequence[object]:
        """The known texts within the edit distance: the attacker has no other list of what there may be."""
        labels = known.labels()
        found: list[list[Value]] = [[label] for label in labels]
        for one, other in zip(*(side.tolist() for side in self.pairs(known, known)), strict=True):
            if one != other and labels[one] is not None and labels[other] is not None:
                found[one].append(labels[other])
        return [None if label is None else each for label, each in zip(labels, found, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Numbers, or dates in days, may be a little apart.

    Args:
        within: by how much at the most; 0 or more.
        errors: how often they are; in [0, 1).
    """

    within: float
    errors: float = 0.1

    def __post_init__(self) -> None:
        """Check the distance.

        Raises:
            InvalidArgument: it isn't a number of 0 or more.
        """
        if not isinstance(self.within, int | float) or not self.within >= 0:
            raise InvalidArgument("values are near within a number of 0 or more", hint="of dates, a number of days")

    def pairs(self, known: Coded, released: Coded) -> tuple[Whole, Whole]:
        """Numbers within the distance."""
        mine, theirs = numbers(known), numbers(released)
        order = np.argsort(theirs)  # what is no number comes last
        real = int(np.isfinite(theirs).sum())
        ranked = theirs[order][:real]
        low = np.searchsorted(ranked, mine - self.within, side="left")
        high = np.searchsorted(ranked, mine + self.within, side="right")
        counts = np.where(np.isfinite(mine), high - low, 0)
        one = np.repeat(np.arange(len(mine)), counts)
        before = np.cumsum(counts) - counts
        return one, order[np.arange(len(one)) - before[one] + low[one]]

    def around(self, known: Coded) -> Sequence[object]:
        """From as much less to as much more; texts that look like numbers are asked for as they are."""
        return [self._from_to(label) if is_ordered(known) else label for label in known.labels()]

    def _from_to(self, value: Value) -> Between | Value:
        """From as much less to as much more than a number or a time; anything else as it is."""
        match value:
            case date():
                days = timedelta(days=self.within)
                return Between(value - days, value + days)
            case Decimal():
                exact = Decimal(str(self.within))
                return Between(value - exact, value + exact)
            case int() | float():
                return Between(value - self.within, value + self.within)
        return value
