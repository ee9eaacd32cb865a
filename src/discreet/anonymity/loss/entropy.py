"""Non-uniform entropy: how many bits of the values the released cells keep back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.columns import ColumnMeter, Left, column_meter, levels_of
from discreet.anonymity.loss.loss import Sets
from discreet.anonymity.records.column import Coded, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Entropy:
    """The share of bits that is lost.

    A row whose value v became the cell B loses log2(N(B)/N(v)) bits in that column, where N counts the rows of the
    whole table: what a reader who knows the column's distribution still lacks to name the value. A row left out loses
    log2(n/N(v)), as if B were everything. The loss of a release is the sum, divided by that of leaving out all rows.

    Scores are floats, here as everywhere logarithms come in. A search rules out a node only where its bound exceeds
    the best loss by more than rounding can make up.

    Source: de Waal, Willenborg (1999), "Information loss through global recoding and local suppression", the
    definition of loss by entropy; Gionis, Tassa (2009), "k-Anonymization with Minimal Loss of Information", the
    definition of the non-uniform entropy measure.

    Examples:
        >>> from discreet.anonymity import read
        >>> city = read({"city": ["Bern", "Bern", "Genf", "Wien"]}).column("city")
        >>> ladder = Ladder(
        ...     name="city", maps=(np.arange(3, dtype=np.int32), np.array([0, 0, 1], np.int32)),
        ...     labels=(("Bern", "Genf", "Wien"), ("CH", "AT")),
        ... )
        >>> meter = Entropy().meter([city], [ladder], [city.counts()], 1)
        >>> round(meter.shown(meter.floor((1,))), 4)  # 2·log2(3/2) + log2(3) of 2·1 + 2·2 bits
        0.4591
    """

    @property
    def name(self) -> str:
        """What it is called."""
        return "entropy"

    def meter(
        self,
        columns: Sequence[Coded],
        ladders: Sequence[Ladder],
        counts: Sequence[Whole],
        k: int,  # noqa: ARG002 — for class sizes
    ) -> ColumnMeter:
        """Bind it to the quasi-identifiers of a table; see `Loss.meter`."""
        return column_meter(columns, ladders, counts, self._levels)

    def _levels(self, column: Coded, ladder: Ladder) -> list[Left]:
        """What each group of a column still says, level by level."""
        counts = column.counts()
        return [self.left(counts, level) for level in levels_of(ladder)]

    def left(self, counts: Whole, sets: Sets) -> Left:
        """What each set of values still says: log2(n/N(B)) bits.

        Args:
            counts: of each value, how many rows of the whole table have it.
            sets: of values.
        """
        rows, among = max(int(counts.sum()), 1), sets.sums(counts)
        # A set in which no row is (a group of values that only a population has) says nothing to nobody.
        shares = np.where(among > 0, among, rows) / rows
        return Left(parts=-np.log2(shares) + 0.0, unit=0)
