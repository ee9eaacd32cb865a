"""All losses by name, and what a finished release lost, however it was made.

Two of them look at classes and not at values: discernibility, and the average size of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import fsum
from types import MappingProxyType

import numpy as np

from discreet.anonymity.columns import Coded, Mask, Reals, Whole
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.cell_losses import NCP, Entropy, GeometricLossMetric, LossMetric, Precision
from discreet.anonymity.loss.loss import Generalised, Level, Loss, Score, Sets
from discreet.errors import InvalidArgument

# ── Losses of classes ─────────────────────────────────────────────────────────────────────────────────────────────────


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
        """What it is called."""
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
        """Of each node, n²/g if it has g combinations of groups: squares of a given sum are least when equal.

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
        """What it is called."""
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


# ── All losses ────────────────────────────────────────────────────────────────────────────────────────────────────────

LOSSES: Mapping[str, Loss] = MappingProxyType(
    {
        loss.name: loss
        for loss in (NCP(), LossMetric(), GeometricLossMetric(), Precision(), Entropy(), Discernibility(), ClassSize())
    }
)
"""All of them."""


def loss_named(loss: str | Loss) -> Loss:
    """A loss, by its name or as it is.

    Raises:
        InvalidArgument: there is none of that name.

    Examples:
        >>> loss_named("ncp")
        NCP()
    """
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise InvalidArgument(f"there is no loss {loss!r}", hint=f"one of {', '.join(LOSSES)}")
    return LOSSES[loss]


# ── Of a finished release ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shown:
    """A quasi-identifier and what a release shows of it.

    Args:
        column: as it was, all rows.
        cells: of the release.
        counts: of each cell, how many rows show it.
    """

    column: Coded
    cells: Sets
    counts: Whole


def losses_of(shown: Sequence[Shown], classes: Whole, k: int, precision: Fraction | None) -> dict[str, float]:
    """All losses of a release, by name; rows that were left out count as fully generalised.

    Args:
        shown: the quasi-identifiers, one or more.
        classes: of each class of the release, how many rows it has.
        k: the size that classes were asked to have; 1 where none was.
        precision: the share of precision that kept rows lost; None where cells have no levels, and then it isn't told.

    Examples:
        >>> from discreet.anonymity import read
        >>> age = read({"age": [20, 30, 40]}).column("age")
        >>> pair = Level(groups=np.array([0, 0, 1], np.int32), number=2)
        >>> kept = Shown(column=age, cells=pair, counts=np.array([2, 0]))  # the third row was left out
        >>> losses_of([kept], np.array([2]), 2, None)["ncp"]
        0.6666666666666666
    """
    rows = shown[0].column.rows
    kept = int(classes.sum())
    out = rows - kept
    losses = {"ncp": float(_ncp(shown))}
    if precision is not None:
        losses["precision"] = float((precision * kept + out) / rows) if rows else 0.0
    losses["entropy"] = _entropy(shown)
    losses["discernibility"] = float(int(classes @ classes) + out * rows)
    number = len(classes) + (out > 0)
    losses["class_size"] = float(Fraction(rows, number * k)) if number else 0.0
    return losses


def _ncp(shown: Sequence[Shown]) -> Fraction:
    """The mean width of cells."""
    cells = shown[0].column.rows * len(shown)
    if not cells:
        return Fraction(0)
    said = Fraction(0)
    for each in shown:
        left = NCP().left(each.column, each.cells)
        said += Fraction(left.total(each.counts, left.unit)) / left.unit
    return 1 - said / cells


def _entropy(shown: Sequence[Shown]) -> float:
    """The share of bits that is lost."""
    full, said = [], []
    for each in shown:
        counts = each.column.counts()
        alone = Level(groups=np.arange(each.column.size, dtype=np.int32), number=each.column.size)
        full.append(Entropy().left(counts, alone).total(counts, 0))
        said.append(Entropy().left(counts, each.cells).total(each.counts, 0))
    most = fsum(full)
    return max(1 - fsum(said) / most, 0.0) if most else 0.0
