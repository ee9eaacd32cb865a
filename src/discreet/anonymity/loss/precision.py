"""Precision: how high in their hierarchies the released cells are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.columns import ColumnMeter, Left, column_meter
from discreet.anonymity.records.column import Coded, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """The share of precision that is lost: the mean of level over height, 1 for a row left out.

    A column without levels above its values loses nothing while it is kept. Sweeney's Prec is 1 minus this loss.

    Source: Sweeney (2002), "Achieving k-Anonymity Privacy Protection Using Generalization and Suppression", the
    definition of the precision metric.

    Examples:
        >>> from discreet.anonymity import read
        >>> ages = read({"age": [20, 21, 40]}).column("age")
        >>> ladder = Ladder(
        ...     name="age", maps=(np.arange(3, dtype=np.int32), np.zeros(3, np.int32)),
        ...     labels=(("20", "21", "40"), ("*",)),
        ... )
        >>> meter = Precision().meter([ages], [ladder], [ages.counts()], 1)
        >>> meter.shown(meter.floor((0,))), meter.shown(meter.floor((1,)))
        (Fraction(0, 1), Fraction(1, 1))
    """

    @property
    def name(self) -> str:
        """What it is called."""
        return "precision"

    def meter(
        self,
        columns: Sequence[Coded],
        ladders: Sequence[Ladder],
        counts: Sequence[Whole],
        k: int,  # noqa: ARG002 — for class sizes
    ) -> ColumnMeter:
        """Bind it to the quasi-identifiers of a table; see `Loss.meter`."""
        return column_meter(columns, ladders, counts, _levels)


def _levels(_: Coded, ladder: Ladder) -> list[Left]:
    """What each group of a column still says, level by level, whatever its values are."""
    unit = max(ladder.height, 1)
    return [
        Left(parts=np.full(ladder.groups(level), unit - level, dtype=np.int64), unit=unit)
        for level in range(ladder.height + 1)
    ]
