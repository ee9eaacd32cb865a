"""Levels: several sets of groups of the same rows, of which not all need be measured, and all are answered.

ROLLUP, CUBE and GROUPING SETS ask for several levels, and so does a workload. Where a coarser level is the sum of a
finer one, it needn't be measured; or both are, and each makes the other more accurate. Which levels are measured, and
what each gets of the offer, is chosen as in `margins`: of the splits found there, and of measuring the finest levels
alone, the one is taken by which the squared relative error is least, over all groups that are answered and all columns.
Each group counts alike there, as if it had the rows of the reference group. (By the worst group alone, the total would
take most of the offer; by the worst group of its true size, the finest level all of it.) With `within`, the one is
taken that needs the least.

*When levels are put together.* Their numbers must be sums, of the same rows: all groups are public, no unit has two
rows or all levels have one limit on rows in all, and nothing is chosen from histograms. Where a limit is on groups,
units are left out of other groups at each level, and different values or units may be counted in several groups: these
levels are measured apart, with equal shares.

*Rows of no group.* A row whose key isn't among the values that are listed is in the total and in none of its groups. So
each such key has one more group where it is measured, of the rows that are left, which isn't shown. A row is in one
group of each level nevertheless.

*What is measured is what is paid for:* each measured level is one mechanism, with the share of ε or ρ that it gets, and
shares add up to 1. The rest is arithmetic on what was released (Dwork & Roth 2014, Proposition 2.1).

*Numbers add up as they are shown.* Estimates are rounded, where they aren't whole: over all keys, sums from the first
cell on are rounded, and their differences are the numbers. A group is the difference of 2ᵃ such sums, each of which is
off by at most half of one: a is 0 for the total, and for nested levels 1, as their groups are stretches of one line;
otherwise the number of its keys. Where the finest level alone is measured in whole numbers, nothing is rounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import frexp, hypot, prod, sqrt

from discreet.mechanisms import Gaussian
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.estimates import Addend, Noise, can_be_summed
from discreet.query.ir import has_one_row
from discreet.query.planner.accuracy import MOST, Target, least_offer, squared_error, targets
from discreet.query.planner.draft import Draft
from discreet.query.planner.groups import MOST_GROUPS
from discreet.query.planner.margins import Keys, Margins, subsets
from discreet.query.planner.noise_calibration import paid, parts_of
from discreet.query.planner.request import Request
from discreet.query.planner.sensitivities import sensitivities
from discreet.tables import Kind

_MOST_CELLS = 2**20
"""Tables of more cells by all keys aren't made whole to be rounded: then each level is rounded by itself."""

_MOST_WITHIN = 64
"""The most levels over which an accuracy is looked for: all that one question can have."""

UNIT = 2**16
"""Weights of measured levels are whole numbers of 2⁻¹⁶: near enough to the best, and exact."""

_LEAST = 1e-9
"""No level's error matters less than this part of another's."""

_FEW = 10
"""The noises of a sum that are reckoned with as they are; others are many and small, and taken for a little more."""

_MOST_TERMS = 2**18
"""With more terms, over all pairs of levels, the finest is measured alone: it takes no weights. CUBE of 6 keys has 7⁶.

A term is one of 4ᵏ that two levels with k keys in common have. Planning is free, so hostile questions must end as well.
"""

_MANY = 16
"""With more levels, the best split in the model is taken, whatever rounding adds; else the better of two."""


@dataclass(frozen=True)
class Reconstruction:
    """How the groups of all levels follow from those that were measured.

    Args:
        keys: of all levels, with the group of the rows that are left, if there is one.
        measured: the keys of each level that is measured, by what tells them apart.
        weights: for each number that is released and each component, what the measured levels weigh in it, in 2⁻¹⁶;
            none where one level is measured.
        possible: the groups by all keys that there can be, where public tables rule others out; None if all can.
        drafts: of each level that is answered, with the noise that its numbers have.
        apart: the same, if each level were measured by itself.
    """

    keys: tuple[ir.Key, ...]
    measured: tuple[Keys, ...]
    weights: Mapping[str, Mapping[Keys, tuple[int, ...]]]
    possible: frozenset[tuple[KeyValue, ...]] | None
    drafts: tuple[Draft, ...]
    apart: tuple[Draft, ...] = field(compare=False)

    @cached_property
    def margins(self) -> Margins:
        """The levels that are answered, as tables."""
        return Margins(_sizes(self.keys), tuple(map(keys_of, self.drafts)))

    @cached_property
    def is_whole(self) -> bool:
        """Whether the table by all keys is made, so that all levels are its sums."""
        return self.margins.cells(frozenset(self.margins.sizes)) <= _MOST_CELLS

    @cached_property
    def is_summed(self) -> bool:
        """Whether one level is measured, so that the others are plain sums of its groups."""
        return len(self.measured) == 1

    @cached_property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """The keys, put together in lines along which sums are rounded: one for nested levels, else one for each."""
        ordered = sorted(self.margins.tables, key=len)
        names = tuple(self.margins.sizes)
        if any(not small <= large for small, large in pairwise(ordered)):
            return tuple((name,) for name in names)
        first = {name: next(place for place, each in enumerate(ordered) if name in each) for name in names}
        return (tuple(sorted(names, key=lambda name: (first[name], name))),)

    def rounded(self, table: Keys, measure: ir.Measured) -> Fraction:
        """How much rounding may move a level's number, in steps."""
        quantum = quantum_of(measure)
        if self.is_summed and quantum == 1:
            return Fraction(0)
        corners = sum(bool(table & set(axis)) for axis in self.axes) if self.is_whole else 0
        return Fraction(quantum * 2**corners, 2)


def quantum_of(measure: ir.Measured) -> int:
    """The steps of one whole row, or unit of a whole number; 1 for real numbers."""
    if isinstance(measure, ir.Sum) and measure.value.type.kind is Kind.INTEGER:
        return int(2 ** max(-measure.grid, 0))
    return 1


def keys_of(draft: Draft) -> Keys:
    """The keys of a level, by what tells them apart: whatever each is called."""
    return frozenset(str(key.expr) for key in draft.keys)


def put_together(apart: Sequence[Draft], offer: Request) -> tuple[tuple[Draft, ...], Reconstruction] | None:
    """The levels to measure, and how all follow from them; None where each has to be measured by itself.

    Args:
        apart: the draft of each level, measured by itself.
        offer: for all of them.
    """
    if not _add_up(apart) or (offer.within and len(apart) > _MOST_WITHIN):
        return None
    levels = _Levels(tuple(apart), offer)
    found = [one for one in map(levels.measured_by, levels.splits) if one is not None]
    best = min(found, key=lambda each: each.size, default=None)
    return None if best is None else (best.measured, best.reconstruction)


def _add_up(drafts: Sequence[Draft]) -> bool:
    """Whether all levels hold sums of the same rows."""
    first, tables = drafts[0], [keys_of(draft) for draft in drafts]
    is_unlimited = first.unit.is_row or has_one_row(first.question.source)
    kinds = (ir.Sum, ir.Vector, ir.Units) if is_unlimited else (ir.Sum, ir.Vector)
    return (
        len(set(tables)) == len(drafts) > 1
        and all(len(table) == len(draft.keys) for table, draft in zip(tables, drafts, strict=True))
        and all(map(_stays_small, drafts))
        and not any(draft.has_private_keys or draft.least_units or draft.picks or not draft.noises for draft in drafts)
        and all(draft.measures == first.measures for draft in drafts)
        and all(isinstance(measure, kinds) for measure in first.measures)
        and (is_unlimited or all(_limits_rows_alone(draft, first) for draft in drafts))
        and _have_the_same_values(drafts)
    )


def _stays_small(draft: Draft) -> bool:
    """Whether a level may be answered with the groups of rows that are left as well: each key's has its own."""
    cells = prod(len(key.values or ()) for key in _complete(draft).keys)
    return cells * max(1, len(draft.question.aggregates)) <= MOST_GROUPS


def _limits_rows_alone(draft: Draft, first: Draft) -> bool:
    """Whether a unit's rows are limited over all groups, as in the first level, and nothing else is."""
    limits = draft.limits
    return limits.rows is not None and limits.groups is None and limits == first.limits


def _have_the_same_values(drafts: Sequence[Draft]) -> bool:
    """Whether each key has the same values in all levels."""
    found: dict[str, object] = {}
    return all(found.setdefault(str(key.expr), key.values) == key.values for draft in drafts for key in draft.keys)


def _complete(draft: Draft) -> Draft:
    """The draft with a group for the rows that are in none of its own."""
    return replace(draft, keys=tuple(map(_completed, draft.keys)))


def _completed(key: ir.Key) -> ir.Key:
    """The key with NULL, where a row's value that isn't listed is read as that."""
    is_left = key.expr.type.nullable and key.values is not None and None not in key.values
    return replace(key, values=(*(key.values or ()), None)) if is_left else key


def _sizes(keys: Iterable[ir.Key]) -> dict[str, int]:
    """How many values each key has."""
    return {str(key.expr): len(key.values or ()) for key in keys}


@dataclass(frozen=True, slots=True)
class _Found:
    """Levels that may be measured.

    Args:
        measured: the drafts of those that are.
        reconstruction: of all.
        size: how much is needed, and how far the answers err: less is better.
    """

    measured: tuple[Draft, ...]
    reconstruction: Reconstruction
    size: tuple[Fraction, float]


@dataclass(frozen=True)
class _Levels:
    """The levels of a question, or of several.

    Args:
        apart: the draft of each, measured by itself.
        offer: for all of them.
    """

    apart: tuple[Draft, ...]
    offer: Request

    @property
    def power(self) -> int:
        """How precisions grow with shares of the offer."""
        return 2 if self.offer.rho is None else 1

    @cached_property
    def whole(self) -> tuple[Draft, ...]:
        """Each level with a group for all rows that are left, and with the noise that all of the offer would buy."""
        complete = (sensitivities(_complete(draft)) for draft in self.apart)
        return tuple(paid(each, parts_of(each), self.amount or Fraction(1)) for each in complete)

    @property
    def amount(self) -> Fraction | None:
        """The offered ε or ρ; beside an accuracy, the most that may be spent."""
        return self.offer.rho or self.offer.epsilon

    @cached_property
    def keys(self) -> tuple[ir.Key, ...]:
        """The keys of all levels."""
        return tuple({str(key.expr): key for draft in self.whole for key in draft.keys}.values())

    @cached_property
    def margins(self) -> Margins:
        """The levels as tables."""
        return Margins(_sizes(self.keys), tuple(map(keys_of, self.apart)))

    @cached_property
    def finest(self) -> Draft | None:
        """The level with all keys; None if there is none."""
        return next((each for each in self.apart if keys_of(each) == frozenset(self.margins.sizes)), None)

    @cached_property
    def possible(self) -> frozenset[tuple[KeyValue, ...]] | None:
        """The groups of the finest level that there can be, where public tables rule others out; None if all can."""
        if self.finest is None or not self.finest.together:
            return None
        values = (key.values or () for key in _complete(self.finest).keys)
        return frozenset(each for each in product(*values) if self.finest.has(each))

    @cached_property
    def wanted(self) -> tuple[tuple[Target, ...], ...]:
        """The widths that are wanted, level by level."""
        return tuple(targets(draft, draft.laws) for draft in self.whole) if self.offer.within else ()

    @property
    def is_large(self) -> bool:
        """Whether it would take long to weigh several measured levels against each other."""
        tables = self.margins.tables
        terms: int = sum(1 << 2 * len(one & other) for one in tables for other in tables)
        return terms > _MOST_TERMS

    @property
    def splits(self) -> tuple[tuple[Fraction, ...], ...]:
        """The splits of the offer among which one is chosen."""
        if self.is_large or any(draft.together for draft in self.apart):
            # Groups that can't be are known to be empty, so that others don't have equally many parts.
            alone = tuple(Fraction(draft is self.finest) for draft in self.apart)
            return () if self.finest is None else (alone,)
        sizes = [[_size(noise) for noise in draft.noises] for draft in self.whole]
        usual = sizes[self.margins.tables.index(self.margins.widest[0])]
        noise = [_mean_square(each, usual) for each in sizes]
        losses = [self._loss(place) / each for place, each in enumerate(noise)]
        greatest = max(losses)
        weights = [max(loss / greatest, _LEAST) if greatest else 1.0 for loss in losses]
        splits = self.margins.shares(weights, noise, self.power, by_worst=bool(self.offer.within))
        return splits[: 1 if len(self.apart) > _MANY else 2]

    def _loss(self, place: int) -> float:
        """The squared error of one group of a level, in what it is compared with, at all of the offer."""
        draft = self.whole[place]
        if not self.offer.within:
            return squared_error(draft)
        radii = ((one.slopes.radius(draft.laws, float(self.offer.confidence)), one.width) for one in self.wanted[place])
        return sum((radius / max(float(width), _LEAST)) ** 2 for radius, width in radii)

    def measured_by(self, split: tuple[Fraction, ...]) -> _Found | None:
        """The result of one split; None if nobody knows how far sums of its noises reach, or if it isn't enough."""
        weighing = _Weighing(self, split)
        if not weighing.is_known:
            return None
        needed = least_offer(lambda amount: self._reaches(weighing.answered(amount))) if self.offer.within else None
        amounts = [each for each in (needed, self.amount) if each is not None]
        if not amounts:
            return None
        drafts = tuple(self._said(draft, needed) for draft in weighing.answered(min(amounts)))
        shown = (prod(len(key.values or ()) for key in draft.keys) for draft in drafts)
        loss = sum(number * squared_error(draft) for number, draft in zip(shown, drafts, strict=True))
        found = replace(weighing.frame, drafts=drafts)
        return _Found(weighing.measured(min(amounts)), found, ((needed or MOST) * bool(self.offer.within), loss))

    def _said(self, draft: Draft, needed: Fraction | None) -> Draft:
        """A level with what is offered for all of them."""
        request = replace(draft.request, epsilon=self.offer.epsilon, rho=self.offer.rho, delta=self.offer.delta)
        return replace(draft, request=request, needed=needed)

    def _reaches(self, drafts: Sequence[Draft]) -> bool:
        """Whether all widths that are wanted are reached."""
        return all(
            target.is_met(draft.laws, self.offer.confidence)
            for draft, wanted in zip(drafts, self.wanted, strict=True)
            for target in wanted
        )


@dataclass(frozen=True)
class _Weighing:
    """How measured levels are weighed, for one split of the offer.

    Args:
        levels: all of them.
        split: the share of each.
    """

    levels: _Levels
    split: tuple[Fraction, ...]

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The levels that are measured."""
        return tuple(place for place, share in enumerate(self.split) if share)

    @cached_property
    def frame(self) -> Reconstruction:
        """The reconstruction, as yet without its noise."""
        levels = self.levels
        return Reconstruction(
            keys=levels.keys,
            measured=tuple(levels.margins.tables[place] for place in self.places),
            weights={} if len(self.places) == 1 else {name: self._weights(name) for name in levels.whole[0].laws},
            possible=levels.possible,
            drafts=levels.apart,
            apart=levels.apart,
        )

    @property
    def is_known(self) -> bool:
        """Whether it is known how far sums of the noises reach."""
        cells = self.levels.margins.cells(frozenset(self.levels.margins.sizes))
        drafts = self.measured(self.levels.amount or Fraction(1))
        return all(can_be_summed(noise.mechanism, cells) for draft in drafts for noise in draft.noises)

    def measured(self, amount: Fraction) -> tuple[Draft, ...]:
        """The levels that are measured, with the noise that an amount of ε or ρ buys for all."""
        return tuple(self._bought(self.levels.whole[place], amount * self.split[place]) for place in self.places)

    def _bought(self, draft: Draft, share: Fraction) -> Draft:
        """One of them, for its share."""
        is_rho = self.levels.offer.rho is not None
        request = replace(draft.request, rho=share) if is_rho else replace(draft.request, epsilon=share)
        return replace(paid(draft, parts_of(draft), share), request=request)

    def answered(self, amount: Fraction) -> tuple[Draft, ...]:
        """All levels, with the noise that they have then."""
        bought = [{noise.measure.name: noise for noise in draft.noises} for draft in self.measured(amount)]
        return tuple(
            replace(draft, noises=tuple(self._noise(keys_of(draft), measure, bought) for measure in draft.measures))
            for draft in self.levels.apart
        )

    def _noise(self, table: Keys, measure: ir.Measured, bought: Sequence[Mapping[str, Noise]]) -> Noise:
        """The noise of one measure of a level."""
        rounded = self.frame.rounded(table, measure)
        mechanisms = [noises[measure.name].mechanism for noises in bought]
        if self.frame.is_summed:
            return Noise(measure=measure, mechanism=mechanisms[0], number=self._parts[table], rounded=rounded)
        terms = self._terms[measure.name, table]
        addends = [Addend(mechanisms[place], factor, number) for place, factor, number in terms]
        main = max(addends, key=lambda each: each.factor)
        if not isinstance(main.mechanism, Gaussian):
            return Noise(measure=measure, mechanism=main.mechanism, addends=_lumped(addends), rounded=rounded)
        whole, more = _as_one(addends, main)
        return Noise(measure=measure, mechanism=main.mechanism, addends=(whole,), rounded=rounded + more)

    @cached_property
    def _parts(self) -> dict[Keys, int]:
        """The most measured groups that make up one group of a level, by level."""
        margins, possible, finest = self.levels.margins, self.levels.possible, self.levels.finest
        if possible is None or finest is None:
            (measured,) = self.frame.measured
            return {table: margins.cells(measured - table) for table in margins.tables}
        names = [str(key.expr) for key in finest.keys]
        found = {}
        for table in margins.tables:
            kept = [place for place, name in enumerate(names) if name in table]
            sizes = Counter(tuple(group[place] for place in kept) for group in possible)
            found[table] = max(sizes.values())
        return found

    @cached_property
    def _terms(self) -> dict[tuple[str, Keys], tuple[tuple[int, float, int], ...]]:
        """The noises in one group, by measure and level: from which level, times which factor, and how many."""
        return {
            (measure.name, table): tuple(self._terms_of(self.frame.weights[ir.numbers_of(measure)[0].name], table))
            for measure in self.levels.apart[0].measures
            for table in self.levels.margins.tables
        }

    def _terms_of(self, weights: Mapping[Keys, tuple[int, ...]], table: Keys) -> Iterator[tuple[int, float, int]]:
        """Those of one measure and level.

        A cell of a measured level that agrees with a group in some of the keys that both have has the factor
        Σ over components C of both: weight · ∏ over C of ([agrees] − 1/nᵢ) · ∏ over the group's other keys of 1/nᵢ.
        """
        sizes, cells = self.levels.margins.sizes, self.levels.margins.cells
        total = cells(table)
        for place, measured in enumerate(self.frame.measured):
            both = measured & table
            if not both:
                if weights[both][place]:
                    yield place, weights[both][place] / UNIT / total, cells(measured)
                continue
            shares = [(one, weights[one][place] / UNIT / cells(table - one)) for one in subsets(both)]
            for agreed in subsets(both):
                factor = sum(
                    share * prod((key in agreed) - 1 / sizes[key] for key in one) for one, share in shares if share
                )
                number = cells(measured - both) * prod(sizes[key] - 1 for key in both - agreed)
                if factor and number:
                    yield place, factor, number

    def _weights(self, name: str) -> dict[Keys, tuple[int, ...]]:
        """The weight of each measured level in a number, by component: from its precision; together one whole."""
        margins = self.levels.margins
        precise = [
            float(self.split[place]) ** self.levels.power
            / _size(self.levels.whole[place].laws[name]) ** 2
            / margins.cells(margins.tables[place])
            for place in self.places
        ]
        found = {}
        for one in margins.components:
            told = [each * (one <= table) for each, table in zip(precise, self._tables, strict=True)]
            units = [int(UNIT * each / sum(told)) for each in told]
            units[units.index(max(units))] += UNIT - sum(units)
            found[one] = tuple(units)
        return found

    @cached_property
    def _tables(self) -> tuple[Keys, ...]:
        """The keys of the levels that are measured."""
        return tuple(self.levels.margins.tables[place] for place in self.places)


def _size(noise: Noise) -> float:
    """The scale or σ of a noise, in the units of its values."""
    mechanism = noise.mechanism
    return float(noise.step * (mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale))


def _mean_square(sizes: Sequence[float], usual: Sequence[float]) -> float:
    """The mean square of the ratios of sizes."""
    return sum((one / other) ** 2 for one, other in zip(sizes, usual, strict=True)) / len(sizes)


def _lumped(addends: Sequence[Addend]) -> tuple[Addend, ...]:
    """The same Laplace noises; of many, small ones are taken for some that are alike and a little larger.

    A larger one reaches further, and so do sums of it (see `estimates.discrete_sums`).
    """
    ordered = sorted(addends, key=lambda each: -each.number * each.size**2)
    lumps: dict[int, Addend] = {}
    for each in ordered[_FEW:]:
        exponent = frexp(each.size)[1]  # the size is below 2 to this power
        known = lumps.get(exponent)
        factor = each.factor * 2.0**exponent / each.size
        lumps[exponent] = Addend(each.mechanism, abs(factor), each.number + (known.number if known else 0))
    return (*ordered[:_FEW], *lumps.values())


def _as_one(addends: Sequence[Addend], main: Addend) -> tuple[Addend, Fraction]:
    """Gaussian noises as one, times a factor; and by how many steps more they may be off, as each has its own steps."""
    factor = hypot(*(each.size * sqrt(each.number) for each in addends)) / main.size * abs(main.factor)
    return Addend(main.mechanism, factor), Fraction(max(sum(abs(each.factor) for each in addends) - factor, 0.0)) / 2
