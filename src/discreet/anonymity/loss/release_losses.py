"""The losses of a finished release, however it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum

import numpy as np

from discreet.anonymity.columns import Coded, Whole
from discreet.anonymity.loss.cell_losses import NCP, Entropy
from discreet.anonymity.loss.loss import Level, Sets


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shown:
    """A quasi-identifier and what a release shows of it.

    Args:
        column: as it was, all rows.
        cells: of the release.
        counts: for each cell, how many rows show it.
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
