"""Sources of an answer: the released numbers that its aggregates are made of, each where it errs least."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from discreet.gateway.answers.matching import Released, is_unlimited
from discreet.gateway.answers.parts import about, meaning, summand
from discreet.gateway.answers.regrouping import Regrouping
from discreet.gateway.answers.released import Shown
from discreet.mechanisms import Gaussian, Mode
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.aggregates import Moment, centred
from discreet.query.estimates import (
    Apart,
    Condition,
    Grid,
    Linear,
    Noise,
    Noisy,
    Pick,
    Selection,
    can_be_summed,
)
from discreet.query.planner import CONFIDENCE, Cells, Draft, counts_rows_for_units, laws_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

_Key = tuple[KeyValue, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """An answer that serves a question, with how its groups make up the question's.

    Args:
        released: the answer.
        how: its groups are put together.
        by_key: what was released of each.
    """

    released: Released
    how: Regrouping
    by_key: Mapping[_Key, Noisy]

    @classmethod
    def of(cls, released: Released, how: Regrouping) -> Self:
        """The source."""
        return cls(released, how, {group.key: group.noisy for group in released.groups})

    def values(self, name: str, goal: _Key) -> list[int | tuple[int, ...]]:
        """The released numbers of the old groups that make up one of the question's."""
        return [self.by_key[key][name] for key in self.how.groups[goal]]

    def before(self, goal: _Key, names: Mapping[str, str]) -> Shown:
        """How the old groups that make up one of the question's groups were shown or left out.

        Args:
            goal: the key of the question's group.
            names: what the numbers that are used are called now, by their old names.
        """
        keys = self.how.groups[goal]
        how = self.released.shown
        found = [(key, one) for key in keys for one in [None if how is None else how(key)] if one is not None]
        conditions: list[Condition] = [
            each.renamed({**{number: f"{self.released.entry} {key} {number}" for number in each.numbers}, **names})
            for key, one in found
            for each in one.conditions
            if each.numbers & names.keys()
        ]
        if len(keys) > 1 and conditions:
            conditions = [Apart(frozenset().union(*(each.numbers for each in conditions)), tuple(conditions))]
        return Shown(min((one.share for _, one in found), default=1.0), tuple(conditions))


@dataclass(frozen=True, slots=True)
class Total:
    """A measure that was released, added up to the question's groups.

    Args:
        source: where it was.
        old: the measure, under the name that it had there.
        noise: what it holds now, under a name that no other has.
        cells: how moments are read from it, where it is a vector.
    """

    source: Source
    old: ir.Measured
    noise: Noise
    cells: Cells | None = None

    @property
    def error(self) -> Fraction:
        """The reach of its noise."""
        return self.noise.radius(CONFIDENCE)

    @property
    def whole(self) -> Linear:
        """The measure by itself."""
        return Linear.of(self.noise.measure.name)

    @property
    def names(self) -> dict[str, str]:
        """The names of its numbers, by those that they had."""
        numbers = zip(ir.numbers_of(self.old), self.noise.numbers, strict=True)
        return {old.name: one.measure.name for old, one in numbers}

    def read(self, moment: Moment) -> Linear | None:
        """A moment, if the measure tells it."""
        if self.cells is None:
            return self.whole if meaning(self.old) == f"sum({moment.summand})" else None
        found = self.cells.read(moment)
        return None if found is None else self._renamed(found)

    @property
    def units(self) -> Linear | None:
        """The number of units, if cells tell it."""
        found = None if self.cells is None else self.cells.units
        return None if found is None else self._renamed(found)

    def _renamed(self, found: Linear) -> Linear:
        names = self.names
        return Linear({names[name]: factor for name, factor in found.factors.items()})

    def values(self, goal: _Key) -> dict[str, int]:
        """Each number of one group; 0 where no old group is part of it, so that it has no rows for certain."""
        return {
            name: sum(one for one in self.source.values(old, goal) if isinstance(one, int))
            for old, name in self.names.items()
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice that was released, of the one old group that each of the question's is made of.

    Args:
        source: where it was.
        selection: how it was made, under its old name.
    """

    source: Source
    selection: Selection

    def error(self, fraction: Fraction | None) -> float:
        """How many rows it may be off, at this quantile if it is one."""
        return self.selection.reach(CONFIDENCE, fraction)

    def value(self, goal: _Key, name: str) -> int | tuple[int, ...]:
        """The choice that was made in one group, or the interval about it."""
        (value,) = self.source.values(name, goal)
        return value


class MissingError(Exception):
    """Something that a question needs wasn't released."""


class AvailableParts:
    """Released numbers and choices that can serve a question, by meaning; of equals, the one that errs least.

    They are measures as aggregates ask for them: what is asked for is read from where it errs least.

    Args:
        sources: that serve it.
        is_gaussian: which family of noises to take; intervals know no mixtures.
        draft: of the question.
    """

    def __init__(self, sources: Sequence[Source], *, is_gaussian: bool, draft: Draft) -> None:
        totals = [one for source in sources for one in _totals(source, counts_units_once=is_unlimited(draft))]
        kept = [one for one in totals if isinstance(one.noise.mechanism, Gaussian) is is_gaussian]
        least = dict(sorted(((meaning(one.old), one) for one in kept), key=lambda each: each[1].error, reverse=True))
        self._totals = {key: _named(one, f"m{place}") for place, (key, one) in enumerate(least.items())}
        self._laws = laws_of(one.noise for one in self._totals.values())
        self._counts_rows_for_units = counts_rows_for_units(draft)
        self._choices = [one for source in sources if source.how.renames for one in _choices(source)]

    def used(self, numbers: Collection[str]) -> list[Total]:
        """The measures of some numbers."""
        return [one for one in self._totals.values() if set(one.names.values()) & set(numbers)]

    def measured_units(self) -> str:
        """The number of units as a measure of its own, by which groups are selected or found too small."""
        rows = f"sum({Moment().summand})"
        found = self._totals.get(rows if self._counts_rows_for_units else meaning(ir.Units(name="")))
        if found is None:
            raise MissingError
        return found.noise.measure.name

    def fullest_in(self, measure: ir.Histogram, most: int) -> Choice:
        """The choice of as many of the fullest bins."""
        found = [
            one
            for one in self._from(measure)
            if isinstance(one.selection.mechanism, Mode) and one.selection.pick.most == most
        ]
        return _nearest(found, None)

    def quantile_in(self, measure: ir.Histogram, fraction: Fraction) -> Choice:
        """A choice of this quantile, by itself or among others."""
        found = [
            one
            for one in self._from(measure)
            if fraction in (one.selection.pick.fraction, *one.selection.pick.fractions)
        ]
        return _nearest(found, fraction)

    def _from(self, measure: ir.Histogram) -> Iterator[Choice]:
        """The choices from a histogram, whatever the grid that it is counted on."""
        wanted = str(measure.value), measure.values, measure.size
        for one in self._choices:
            its = one.selection.measure
            if (str(its.value), its.values, its.size) == wanted:
                yield one

    def moment(self, moment: Moment) -> Linear:
        """A moment."""
        return self._least(self._moments(moment))

    def total(self, value: ir.Expr) -> Linear:
        """The sum of an expression, over the rows where it isn't NULL."""
        return self._least(self._sums(value))

    def units(self) -> Linear:
        """The number of units."""
        if self._counts_rows_for_units:
            return self.moment(Moment())
        counted = self._totals.get(meaning(ir.Units(name="")))
        told = [found for one in self._totals.values() if (found := one.units) is not None]
        return self._least([*([] if counted is None else [counted.whole]), *told])

    def distinct(self, value: ir.Expr) -> Linear:
        """The number of an expression's different values."""
        return self._whole(ir.DistinctValues(name="", value=value))

    def quantile(self, value: ir.Expr, fraction: Fraction) -> tuple[Pick, Grid]:  # noqa: ARG002 — as aggregates ask
        """Nothing: choices are taken as they were made."""
        raise MissingError

    def fullest(self, value: ir.Expr, most: int) -> Pick:  # noqa: ARG002 — as aggregates ask
        """Nothing: choices are taken as they were made."""
        raise MissingError

    def _whole(self, measure: ir.Measure) -> Linear:
        found = self._totals.get(meaning(measure))
        if found is None:
            raise MissingError
        return found.whole

    def _moments(self, moment: Moment) -> Iterator[Linear]:
        """All ways to read a moment."""
        yield from (found for one in self._totals.values() if (found := one.read(moment)) is not None)
        match moment.powers:
            case ((value, 1),):
                yield from self._about_centres(value)
            case _:  # sums of products, and of nothing but ones, have no other centres
                return

    def _about_centres(self, value: ir.Expr) -> Iterator[Linear]:
        """The sum about the middle, from those about other centres, and the number of rows."""
        centre, offset = centred(value)
        *_, (base, _) = about(offset)
        counts = list(self._moments(Moment.of((value, 0))))
        if not counts:
            return
        count = self._least(counts)
        for other, sum_ in self._about(base):
            if other != centre:
                yield sum_.plus(count.times(other - centre))

    def _about(self, value: ir.Expr) -> Iterator[tuple[Fraction, Linear]]:
        """Sums of a value, each with the centre that it is about."""
        for one in self._totals.values():
            if isinstance(one.old, ir.Sum):
                yield from ((centre, one.whole) for base, centre in about(one.old.value) if str(base) == str(value))
        if str(summand(value)) != str(value):
            yield from ((Fraction(0), each) for each in self._sums(summand(value)))

    def _sums(self, value: ir.Expr) -> Iterator[Linear]:
        """All ways to read a sum."""
        yield from (one.whole for key, one in self._totals.items() if key == f"sum({value})")
        count, total = (list(self._moments(Moment.of((value, power)))) for power in range(2))
        if count and total:
            yield self._least(total).plus(self._least(count).times(centred(value)[0]))

    def _least(self, found: Iterable[Linear]) -> Linear:
        """Whichever errs least."""
        best = min(found, key=lambda each: each.radius(self._laws, CONFIDENCE), default=None)
        if best is None:
            raise MissingError
        return best


def _nearest(choices: Sequence[Choice], fraction: Fraction | None) -> Choice:
    """The choice that may be off least."""
    if not choices:
        raise MissingError
    return min(choices, key=lambda each: each.error(fraction))


def _named(total: Total, name: str) -> Total:
    """A measure under another name."""
    return replace(total, noise=replace(total.noise, measure=replace(total.noise.measure, name=name)))


def _totals(source: Source, *, counts_units_once: bool) -> Iterator[Total]:
    """The measures of an answer that can be added up as the question needs it."""
    how = source.how
    cells = {each.vector.name: each for each in source.released.draft.cells}
    for noise in source.released.draft.noises:
        adds_up = isinstance(noise.measure, ir.Sum | ir.Vector) or (
            isinstance(noise.measure, ir.Units) and counts_units_once
        )
        if not how.merges:
            yield Total(source, noise.measure, noise, cells.get(noise.measure.name))
        elif adds_up and noise.is_sum and noise.number == 1 and can_be_summed(noise.mechanism, how.most):
            yield Total(source, noise.measure, replace(noise, number=how.most), cells.get(noise.measure.name))


def _choices(source: Source) -> Iterator[Choice]:
    """The choices of an answer."""
    return (Choice(source, selection) for selection in source.released.draft.selections)
