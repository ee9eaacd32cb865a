"""Cut-offs: how many rows limits left out, as far as a noisy profile tells, and how far these may carry an answer.

A profile counts units by how many rows they have: nᵢ have more than aᵢ and at most bᵢ, and no unit has more than the
ceiling C. Under a limit of τ rows a unit of w rows loses max(w − τ, 0). So the rows that all units lose are at most

    E = Σ_u max(w_u − τ, 0) ≤ Σᵢ (min(bᵢ, C) − τ)⁺ nᵢ,

and at least Σᵢ (aᵢ + 1 − τ)⁺ nᵢ, of all classes or of the first few. Of each sum the noisy one is known, with noise
that is a weighted sum of independent noises. Its law is known as well, so E lies between ends that fail with a stated
chance. From above that is one sum, whatever the number of classes. From below it is the greatest of one for each number
of first classes, which share the error (Bonferroni): those behind hold little but noise of great weight. Nothing is
said of how units lie within their classes.

Every row that was cut off would have added to a measure some number within a known span, and all of them no more than E
such numbers. Where a measure is weighed down instead, a unit loses the part 1 − τ/w of what its rows add, which is
w − τ times their mean, and so as much. Rounding its weights takes off at most a step of 2⁻²⁰ for each of its rows more.

*Linear combinations.* The span of a row is that of the combination, and the interval of what was kept, moved by E times
the span, holds the whole. *Ratios.* Let A and B be the noisy numerator and denominator, X and Y their noises. At the
ratio t of all rows, A − tB + D = X − tY for some D in E times the span of a row in numerator − t·denominator. So
Fieller's construction holds if A − tB is looked at with the D that explains it best.

Where nothing bounds what a unit has, E has no upper end, and what rests on it has none on that side.

Source: Fieller (1954), "Some problems in interval estimation", the equation of the limits of a ratio, with what was cut
off in both of its parts as the proof above has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from discreet.errors import unforeseen
from discreet.query import ir
from discreet.query.estimates.discrete_sums import Addend, combined_radius
from discreet.query.estimates.estimator import Estimator
from discreet.query.estimates.intervals import Joint, ratio_interval
from discreet.query.estimates.linear import LinearRatio
from discreet.query.estimates.noise import Interval, Noise, Noises, Noisy

_FOR_ROWS = 1 / 5
"""Which part of the error is spent on how many rows were cut off."""

_ROUNDED = 2.0**-20
"""Of a row that weighs less, this much may be lost besides."""


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Units that have about as many rows as each other.

    Args:
        first: the least that one has.
        last: the most that one has; infinite where nothing bounds it.
        count: of units, with noise.
    """

    first: int
    last: float
    count: float


@dataclass(frozen=True, slots=True)
class RowsCutOff:
    """How many rows a limit cut off.

    Args:
        classes: all that a unit can be in.
        noise: of each count.
        limit: on the rows of a unit.
        by_group: whether the answer has groups, over which nobody knows how these rows are spread: any has at most all.
        pairs: the same of pairs of unit and group, as a limit on groups cuts off; None where that isn't known.
    """

    classes: tuple[SizeClass, ...]
    noise: Noise
    limit: int
    by_group: bool = False
    pairs: RowsCutOff | None = None

    def between(self, confidence: float) -> Interval:
        """The least and the most, with this confidence."""
        over = [each for each in self.classes if each.last > self.limit]
        if not over:
            return Interval(0.0, 0.0)
        outside = 1 - confidence  # half of it at either end, by symmetry
        below = [(max(each.first - self.limit, 0.0), each.count) for each in over]
        above = [(each.last * (1 + _ROUNDED) - self.limit, each.count) for each in over]
        firsts = [] if self.by_group else [below[:number] for number in range(1, len(below) + 1)]
        least = max((self._sum(each, -outside / len(firsts)) for each in firsts), default=0.0)
        least = max(least, 0.0)
        return Interval(least, inf if over[-1].last == inf else max(self._sum(above, outside), least))

    def beyond(self, size: float, confidence: float) -> float:
        """The most units that can have more rows than some number at which a class ends."""
        counts = [(1.0, each.count) for each in self.classes if each.first > size]
        return max(self._sum(counts, 2 * (1 - confidence)), 0.0)

    def _sum(self, weighed: Sequence[tuple[float, float]], outside: float) -> float:
        """A weighted sum of counts, and as far above it, or below, as noise may have carried it."""
        step, weights = float(self.noise.step), [weight for weight, _ in weighed if weight]
        addends = tuple(
            Addend(each.mechanism, step * weight * each.factor, each.number)
            for weight in weights
            for each in self.noise.held
        )
        reach = combined_radius(addends, min(abs(outside), 0.5)) if addends else 0.0
        reach += step * float(self.noise.rounded) * sum(weights)
        return sum(weight * count for weight, count in weighed) + (reach if outside > 0 else -reach)


@dataclass(frozen=True, slots=True)
class RowSpans:
    """Between which numbers one row moves what is measured.

    Args:
        noises: of what is measured.
        whole: the vectors of which each row has all parts, together 1.
        counts_all_units: whether limits leave out no unit.
    """

    noises: tuple[Noise, ...]
    whole: frozenset[str]
    counts_all_units: bool

    def of(self, factors: Mapping[str, float]) -> Interval | None:
        """The span of a combination; None where it isn't known.

        Args:
            factors: by number; in units of its values.
        """
        spans = [self._of(noise, factors) for noise in self.noises]
        known = [each for each in spans if each is not None]
        names = {one.measure.name for each in self.noises for one in each.numbers}
        if len(known) < len(spans) or not factors.keys() <= names:
            return None
        return Interval(sum(each.lo for each in known), sum(each.hi for each in known))

    def _of(self, noise: Noise, factors: Mapping[str, float]) -> Interval | None:
        """The part that one measure has in it."""
        measure, step = noise.measure, float(noise.step)
        own = [factors.get(one.measure.name, 0.0) for one in noise.numbers]
        if not any(own):
            return Interval(0.0, 0.0)
        match measure:
            case ir.Vector(name=name, most=most, rows=rows):
                if rows is not None:  # what a row adds to its parts, its unit leaves less of the whole
                    *own, room = own
                    own = [each - room for each in own]
                low, high, more = min(own), max(own), most * step  # than 1, by rounding; and as much less
                if name not in self.whole:
                    low, high = min(low, 0.0), max(high, 0.0)
                return Interval(low * (more if low < 0 else 2 - more), high * (more if high > 0 else 2 - more))
            case ir.Sum(value=value, lo=lo, hi=hi):
                ends = sorted(own[0] * step * each for each in (lo, hi))
                return Interval(*ends) if not value.type.nullable else Interval(min(ends[0], 0.0), max(ends[1], 0.0))
            case ir.DistinctValues():
                return Interval(min(own[0], 0.0), max(own[0], 0.0))
            case ir.Units():
                return Interval(0.0, 0.0) if self.counts_all_units else None
            case ir.Histogram() | ir.Room():
                return None
            case _:
                raise unforeseen(measure)


@dataclass(frozen=True, slots=True)
class CutOffIntervals:
    """Intervals with what limits cut off.

    Args:
        rows: how many they cut off.
        spans: between which numbers each of them lies.
    """

    rows: RowsCutOff
    spans: RowSpans

    def covers(self, known: Estimator | LinearRatio) -> bool:
        """Whether they are known of an aggregate, or of a ratio: of what is made of sums over rows by arithmetic.

        And of what is made of numbers of units alone, which other limits bound.
        """
        ratio = known if isinstance(known, LinearRatio) else known.ratio
        if ratio is not None and self._counts_pairs(ratio):
            return self.rows.pairs is not None
        parts = () if ratio is None else (ratio.numerator, ratio.denominator)
        return bool(parts) and all(self.spans.of(each.floats) is not None for each in parts)

    @staticmethod
    def noise_level(confidence: float) -> float:
        """The confidence that is left for the noise of an answer."""
        return 1 - (1 - confidence) * (1 - _FOR_ROWS)

    @staticmethod
    def rows_level(confidence: float) -> float:
        """The confidence with which the number of rows is taken."""
        return 1 - (1 - confidence) * _FOR_ROWS

    def moved(self, ratio: LinearRatio, kept: Interval, confidence: float) -> Interval:
        """The interval of a linear combination over all rows.

        Args:
            ratio: that it is.
            kept: its interval over what was kept, at the `noise_level`.
            confidence: of both together.
        """
        factors = ratio.numerator.floats
        if self.rows.pairs is not None and self._counts_pairs(ratio):
            rows, span = self.rows.pairs, Interval(min(0.0, *factors.values()), max(0.0, *factors.values()))
        else:
            rows, span = self.rows, self._span(factors)
        low, high = _times(rows.between(self.rows_level(confidence)), span)
        return Interval(kept.lo + low, kept.hi + high)

    def of_ratio(
        self, ratio: LinearRatio, noisy: Noisy, noises: Noises, level: float, confidence: float
    ) -> Interval | None:
        """The interval of a ratio over all rows; None if it has no end on one side.

        Args:
            ratio: of combinations.
            noisy: one group's released integers.
            noises: the mechanisms.
            level: the confidence for the noise.
            confidence: of all, from which that for the rows follows.
        """
        # That none at all were cut off explains what was released.
        names, rows = ratio.parts, Interval(0.0, self.rows.between(self.rows_level(confidence)).hi)
        above, below = ratio.numerator.floats, ratio.denominator.floats

        def moved(value: float | None) -> tuple[float, float]:
            """By how much what was cut off can move numerator − value · denominator; or the denominator."""
            factors = {name: above.get(name, 0.0) - (value or 0.0) * below.get(name, 0.0) for name in names}
            return _times(rows, self._span(below if value is None else factors))

        return ratio_interval(
            Joint.of([noises[name] for name in names]),
            (ratio.numerator.at(noisy, noises), [above.get(name, 0.0) for name in names]),
            (ratio.denominator.at(noisy, noises), [below.get(name, 0.0) for name in names]),
            level,
            lo=None if ratio.ends is None else float(ratio.ends[0]),
            hi=None if ratio.ends is None else float(ratio.ends[1]),
            moved=moved,
        )

    def _counts_pairs(self, ratio: LinearRatio) -> bool:
        """Whether a linear combination is of numbers of units, of which limits leave some out."""
        units = {each.measure.name for each in self.spans.noises if isinstance(each.measure, ir.Units)}
        return ratio.is_linear and not self.spans.counts_all_units and set(ratio.parts) <= units and bool(ratio.parts)

    def _span(self, factors: Mapping[str, float]) -> Interval:
        found = self.spans.of(factors)
        if found is None:
            raise TypeError("this isn't covered")
        return found


def _times(rows: Interval, span: Interval) -> tuple[float, float]:
    """Between which numbers so many rows move what each moves by a number of a span."""
    lows = [end * span.lo for end in (rows.lo, rows.hi) if span.lo]
    highs = [end * span.hi for end in (rows.lo, rows.hi) if span.hi]
    return min(lows, default=0.0), max(highs, default=0.0)
