"""Losses of single cells: the normalised certainty penalty, non-uniform entropy and precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import expm1, fsum, log1p

import numpy as np

from discreet.anonymity.columns import Coded, Mask, Reals, Whole
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.loss import DOUBT, CellLoss, ColumnMeter, Generalised, Left, Score, Sets, levels_of

_GRID = 1 << 30
"""Widths that aren't small integers are taken to this part of the range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NCP(CellLoss):
    """The mean width of the cells of a release, from 0 (values as they were) to 1 (nothing is said).

    A cell that stands for m of the M values that occur in its column has the width (m − 1)/(M − 1). In a column of
    numbers, dates or times it is the distance of the greatest and the least value that the cell stands for, divided by
    that of the column; a cell that may be missing or a number says nothing, and has width 1. A row's penalty is the
    mean over its quasi-identifiers, that of a row left out is 1, and the penalty of a release is the mean over rows.

    Distances are exact where the range is at most 2^30 of the column's unit; else they are taken to 2^-30 of the range.

    Source: Xu et al. (2006), "Utility-Based Anonymization Using Local Recoding", the definition of the normalized
    certainty penalty; (m − 1)/(M − 1) instead of m/M for categories, so that a value as it was costs nothing.

    Examples:
        >>> from discreet.anonymity import read
        >>> ages = read({"age": [20, 21, 40]}).column("age")
        >>> ladder = Ladder(
        ...     name="age", maps=(np.arange(3, dtype=np.int32), np.array([0, 0, 1], np.int32)),
        ...     labels=(("20", "21", "40"), ("20–29", "40–49")),
        ... )
        >>> meter = NCP().meter([ages], [ladder], [ages.counts()], 1)
        >>> meter.shown(meter.floor((1,)))  # two of three rows have width 1/20
        Fraction(1, 30)
    """

    @property
    def name(self) -> str:
        """Its name."""
        return "ncp"

    def levels(self, column: Coded, ladder: Ladder) -> list[Left]:
        """How much each group of a column still says, level by level."""
        return [self.left(column, level) for level in levels_of(ladder)]

    def left(self, column: Coded, sets: Sets) -> Left:
        """How much each set of values still says: 1 − its width, in parts of the range."""
        number = sets.sums(np.ones(column.size, dtype=np.int64))
        places = _places(column)
        if places is None:
            unit = max(column.size - 1, 1)
            return Left(parts=unit - (number - 1), unit=unit)
        unit = max(int(places.max(initial=0)), 1)
        low, high = sets.ends()
        width = places[high] - places[low]
        if column.has_missing:
            absent = np.zeros(column.size, dtype=np.int64)
            absent[-1] = 1
            width = np.where(sets.sums(absent) == 0, width, np.where(number == 1, 0, unit))
        return Left(parts=unit - width, unit=unit)


def _places(column: Coded) -> Whole | None:
    """Where each value lies in its column's range, from 0; None if values have no distances.

    A missing value is given the place 0.
    """
    import pyarrow as pa

    kind = column.values.type
    values = column.values.drop_null()
    if pa.types.is_floating(kind):
        numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
        if not len(numbers) or not np.isfinite(numbers).all():
            return None
        places = _gridded(numbers)
    elif (
        pa.types.is_integer(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_decimal(kind)
    ):
        places = _exact(_whole(values))
    else:
        return None
    return np.append(places, 0) if column.has_missing else places


def _whole(values: object) -> list[int]:
    """Numbers, dates and times as integers of the column's unit."""
    import pyarrow as pa

    array: pa.Array = values
    kind = array.type
    if pa.types.is_decimal(kind):
        return [int(value.scaleb(kind.scale)) for value in array.to_pylist()]
    if pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    elif pa.types.is_date64(kind) or pa.types.is_timestamp(kind):
        array = array.cast(pa.int64())
    return list(array.to_pylist())


def _exact(values: list[int]) -> Whole:
    """Places of integers: their distance from the least one, on a grid if the range is large."""
    if not values:
        return np.zeros(0, dtype=np.int64)
    least, span = values[0], values[-1] - values[0]
    if span <= _GRID:
        return np.array([value - least for value in values], dtype=np.int64)
    return np.array([(value - least) * _GRID // span for value in values], dtype=np.int64)


def _gridded(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Whole:
    """Places of floats: exact if they are integers, else on a grid. Either way their order is kept."""
    least, span = float(numbers[0]), float(numbers[-1]) - float(numbers[0])
    if (numbers == np.rint(numbers)).all() and span <= _GRID:
        return (numbers - least).astype(np.int64)
    # Halves can't overflow where the range itself would.
    return np.rint((numbers / 2 - least / 2) / (float(numbers[-1]) / 2 - least / 2) * _GRID).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossMetric(CellLoss):
    """The share of a hierarchy's leaves that a cell stands for, from 0 (one of them) to 1 (all): ARX's Loss.

    A cell that stands for m of the M leaves of its column's hierarchy loses (m − 1)/(M − 1), whether these values occur
    in the table or not, and whatever lies between them. A row left out loses 1. The loss is the mean over all cells. It
    is ARX's Loss with the arithmetic mean as its aggregate. A hierarchy that is a rule has the values that occur.

    Source: Iyengar (2002), "Transforming data to satisfy privacy constraints", the definition of the loss metric.

    Examples:
        >>> from discreet.anonymity import read, read_hierarchy
        >>> city = read({"city": ["Bern", "Wien"]}).column("city")
        >>> ladder = read_hierarchy({"Bern": ["CH", "*"], "Genf": ["CH", "*"], "Wien": ["AT", "*"]}).ladder(city)
        >>> meter = LossMetric().meter([city], [ladder], [city.counts()], 1)
        >>> meter.shown(meter.floor((1,)))  # Bern is one of two that CH stands for, of three in all
        Fraction(1, 4)
    """

    @property
    def name(self) -> str:
        """Its name."""
        return "arx"

    def levels(self, column: Coded, ladder: Ladder) -> list[Left]:  # noqa: ARG002 — its hierarchy says it all
        """How much each group of a column still says, level by level."""
        unit = max((ladder.domain or ladder.groups(0)) - 1, 1)
        return [Left(parts=unit - (ladder.leaves_of(level) - 1), unit=unit) for level in range(ladder.height + 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricLossMetric:
    """The same with the aggregate that ARX takes by default: a geometric mean over columns.

    It is one of 1 + share: (∏ (1 + sᵢ))^(1/q) − 1 for the q columns' losses sᵢ, each a mean over all rows,
    where a row left out has 1. So a column that loses nothing doesn't make the whole nothing.

    A search adds logarithms: log(1 + sᵢ) depends on the column's level alone, and leaving rows out adds the logarithm
    of 1 + d/(1 + sᵢ), which falls on the way up: d, the cells' share that was still said, falls, and sᵢ rises.

    The normalisation and the aggregate are those of ARX's `MetricMDNMLoss` and `ILMultiDimensionalGeometricMean`.

    Source: Prasser, Eicher, Spengler, Bild, Kuhn (2020), "Flexible data anonymization using ARX", the definition of
    the loss model.

    Examples:
        >>> from discreet.anonymity import read, read_hierarchy
        >>> table = read({"city": ["Bern", "Wien"], "age": [20, 30]})
        >>> ladders = [
        ...     read_hierarchy(listed).ladder(table.column(name))
        ...     for name, listed in (
        ...         ("city", {"Bern": ["CH", "*"], "Genf": ["CH", "*"], "Wien": ["AT", "*"]}),
        ...         ("age", {20: ["*"], 30: ["*"]}),
        ...     )
        ... ]
        >>> columns = list(table.columns.values())
        >>> meter = GeometricLossMetric().meter(columns, ladders, [column.counts() for column in columns], 1)
        >>> round(meter.shown(float(meter.floors()[2, 0])), 4), round(meter.shown(float(meter.floors()[2, 1])), 4)
        (0.4142, 1.0)
    """

    @property
    def name(self) -> str:
        """Its name."""
        return "arx_geometric"

    def meter(
        self,
        columns: Sequence[Coded],
        ladders: Sequence[Ladder],
        counts: Sequence[Whole],
        k: int,
    ) -> GeometricMeter:
        """Bind it to the quasi-identifiers of a table; see `Loss.meter`."""
        return GeometricMeter(cells=LossMetric().meter(columns, ladders, counts, k), rows=int(counts[0].sum()))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GeometricMeter:
    """Scores nodes by the sum of log(1 + loss) over columns.

    Args:
        cells: what cells still say, column by column.
        rows: how many there are.
    """

    cells: ColumnMeter
    rows: int

    @property
    def antitone(self) -> bool:
        """See `GeometricLossMetric`."""
        return True

    @property
    def tolerance(self) -> float:
        """Far more than the roundings of a few logarithms."""
        return DOUBT * len(self.cells.totals)

    def _lost(self, said: Score) -> float:
        """The loss of a column of which this much is still said."""
        return 1 - float(Fraction(int(said), self.cells.scale * self.rows)) if self.rows else 0.0

    def floors(self) -> Reals:
        """For each node, what it loses if no row is left out."""
        lost = [np.array([log1p(self._lost(said)) for said in levels]) for levels in self.cells.totals]
        return np.asarray(reduce(np.add.outer, lost), dtype=np.float64)

    def whole(self, node: Generalised) -> Score:
        """The same of one node."""
        told = zip(self.cells.totals, node.levels, strict=True)
        return fsum(log1p(self._lost(levels[level])) for levels, level in told)

    def added(self, node: Generalised, unmet: Mask) -> Score:
        """How much it adds to leave these classes out, column by column."""
        rows, found = node.rows[unmet], []
        for place, (column, level) in enumerate(zip(self.cells.left, node.levels, strict=True)):
            parts, said = column[level], self.cells.totals[place][level]
            counts = np.bincount(node.codes(place, unmet), rows, minlength=len(parts.parts)).astype(np.int64)
            kept = said - parts.total(counts, self.cells.scale)
            found.append(log1p(self._lost(kept)) - log1p(self._lost(said)))
        return fsum(found)

    def shown(self, score: Score) -> float:
        """The mean."""
        return expm1(float(score) / max(len(self.cells.totals), 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entropy(CellLoss):
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
        """Its name."""
        return "entropy"

    def levels(self, column: Coded, ladder: Ladder) -> list[Left]:
        """How much each group of a column still says, level by level."""
        counts = column.counts()
        return [self.left(counts, level) for level in levels_of(ladder)]

    def left(self, counts: Whole, sets: Sets) -> Left:
        """How much each set of values still says: log2(n/N(B)) bits.

        Args:
            counts: for each value, how many rows of the whole table have it.
            sets: of values.
        """
        rows, among = max(int(counts.sum()), 1), sets.sums(counts)
        # A set in which no row is (a group of values that only a population has) says nothing to nobody.
        shares = np.where(among > 0, among, rows) / rows
        return Left(parts=-np.log2(shares) + 0.0, unit=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision(CellLoss):
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
        """Its name."""
        return "precision"

    def levels(self, column: Coded, ladder: Ladder) -> list[Left]:  # noqa: ARG002 — whatever its values are
        """How much each group of a column still says, level by level."""
        unit = max(ladder.height, 1)
        return [
            Left(parts=np.full(ladder.groups(level), unit - level, dtype=np.int64), unit=unit)
            for level in range(ladder.height + 1)
        ]
