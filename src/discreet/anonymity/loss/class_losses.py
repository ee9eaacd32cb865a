"""Losses of classes, which don't look at values: discernibility, and the average size of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from discreet.anonymity.columns import Coded, Mask, Reals, Whole
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.loss import Generalised, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Discernibility:
    """Σ |class|² over the classes of a release, and n for each row left out of n.

    Each row pays for those it looks like: its class if it is kept, all rows if it isn't. It counts classes and doesn't
    look at values, so a release that throws a useful column away may be as good as one that keeps it.

    Source: Bayardo, Agrawal (2005), "Data Privacy through Optimal k-Anonymization", the definition of
    the discernability metric.

    Examples:
        >>> Discernibility().name
        'discernibility'
    """

    @property
    def name(self) -> str:
        """Its name."""
        return "discernibility"

    def meter(
        self,
        columns: Sequence[Coded],
        ladders: Sequence[Ladder],
        counts: Sequence[Whole],
        k: int,  # noqa: ARG002 — for class sizes
    ) -> DiscernibilityMeter:
        """Bind it to the quasi-identifiers of a table; see `Loss.meter`."""
        groups = tuple(tuple(ladder.groups(level) for level in range(ladder.height + 1)) for ladder in ladders)
        return DiscernibilityMeter(rows=int(counts[0].sum()), all_rows=columns[0].rows, groups=groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscernibilityMeter:
    """Scores nodes by discernibility, in integers.

    Args:
        rows: that are recoded.
        all_rows: of the table; at most 2^31, so that squares stay below 2^63.
        groups: column → level → how many groups there are.
    """

    rows: int
    all_rows: int
    groups: tuple[tuple[int, ...], ...]

    @property
    def antitone(self) -> bool:
        """A sum over rows, of |class| or of n: see `loss.py`."""
        return True

    @property
    def tolerance(self) -> float:
        """Integers, which doubles hold up to 2^53."""
        return 0.0 if self.rows * self.all_rows <= 1 << 53 else float(self.rows) * self.all_rows * 2.0**-40

    def floors(self) -> Reals:
        """For each node, n²/g if it has g combinations of groups: squares of a given sum are least when equal.

        At least n, as each row is in its own class.
        """
        combinations = reduce(np.multiply.outer, [np.array(column, dtype=np.float64) for column in self.groups])
        floor = np.maximum(float(self.rows) ** 2 / np.maximum(combinations, 1.0), float(self.rows))
        return np.asarray(floor, dtype=np.float64)

    def whole(self, node: Generalised) -> Score:
        """Σ |class|² over all classes."""
        return int(node.rows @ node.rows)

    def added(self, node: Generalised, unmet: Mask) -> Score:
        """Each row of these classes pays n instead of |class|."""
        rows = node.rows[unmet]
        return int(rows @ (self.all_rows - rows))

    def shown(self, score: Score) -> float:
        """The sum itself."""
        return float(score)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSize:
    """Rows divided by classes and by k: 1 would be classes of exactly k rows.

    All rows of the table count. Those left out count as one class more, the fully generalised one. Without a model
    that asks for a size, k is 1.

    Source: LeFevre, DeWitt, Ramakrishnan (2006), "Mondrian Multidimensional K-Anonymity", the definition
    of the normalized average equivalence class size metric.

    Examples:
        >>> ClassSize().name
        'class_size'
    """

    @property
    def name(self) -> str:
        """Its name."""
        return "class_size"

    def meter(
        self,
        columns: Sequence[Coded],  # noqa: ARG002 — it looks at no values
        ladders: Sequence[Ladder],
        counts: Sequence[Whole],
        k: int,
    ) -> ClassSizeMeter:
        """Bind it to the quasi-identifiers of a table; see `Loss.meter`."""
        groups = tuple(tuple(ladder.groups(level) for level in range(ladder.height + 1)) for ladder in ladders)
        return ClassSizeMeter(rows=int(counts[0].sum()), groups=groups, k=k)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSizeMeter:
    """Scores nodes by minus the number of their classes: fewest rows per class is most classes.

    Args:
        rows: that are recoded.
        groups: column → level → how many groups there are.
        k: the size that was asked for.
    """

    rows: int
    groups: tuple[tuple[int, ...], ...]
    k: int

    @property
    def antitone(self) -> bool:
        """No: two classes left out may become one on the way down, or many."""
        return False

    @property
    def tolerance(self) -> float:
        """Integers."""
        return 0.0

    def floors(self) -> Reals:
        """There are no more classes than combinations of groups, nor than rows."""
        combinations = reduce(np.multiply.outer, [np.array(column, dtype=np.float64) for column in self.groups])
        return np.asarray(-np.minimum(combinations, float(self.rows)), dtype=np.float64)

    def whole(self, node: Generalised) -> Score:
        """Minus the number of classes."""
        return -len(node.rows)

    def added(self, node: Generalised, unmet: Mask) -> Score:  # noqa: ARG002 — it counts classes
        """The classes left out become one: at least 0, as there is one."""
        return max(int(np.count_nonzero(unmet)) - 1, 0)

    def shown(self, score: Score) -> Fraction:
        """Rows divided by classes and by k; 0 for no rows."""
        return Fraction(self.rows, -int(score) * self.k) if score else Fraction(0)
