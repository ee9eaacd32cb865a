"""Sources of an answer: the released numbers that its aggregates are made of, each where it errs least."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from discreet.gateway.answers.matching import Released
from discreet.gateway.answers.parts import about, meaning, summand
from discreet.gateway.answers.regrouping import Regrouping
from discreet.gateway.answers.released import Shown
from discreet.mechanisms import Gaussian
from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.estimates import (
    Apart,
    Condition,
    Noise,
    Noisy,
    Pick,
    Selection,
    can_be_summed,
)
from discreet.query.planner import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
        noise: what it holds now, under its old name.
    """

    source: Source
    noise: Noise

    @property
    def error(self) -> Fraction:
        """The reach of its noise."""
        return self.noise.radius(CONFIDENCE)

    def values(self, goal: _Key) -> list[int]:
        """Each number of one group; 0 where no old group is part of it, so that it has no rows for certain."""
        names = [each.name for each in ir.sums_of(self.noise.measure)]
        return [sum(one for one in self.source.values(name, goal) if isinstance(one, int)) for name in names]


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice that was released, of the one old group that each of the question's is made of.

    Args:
        source: where it was.
        selection: how it was made, under its old name.
    """

    source: Source
    selection: Selection

    @property
    def error(self) -> float:
        """By how many rows it may be off."""
        return self.selection.reach(CONFIDENCE)

    def value(self, goal: _Key, name: str) -> int | tuple[int, ...]:
        """The choice that was made in one group, or the interval about it."""
        (value,) = self.source.values(name, goal)
        return value


class AvailableParts:
    """Released numbers and choices that can serve a question, by meaning; of equals, the one that errs least.

    Args:
        sources: that serve it.
        is_gaussian: which family of noises to take; intervals know no mixtures.
        counts_units_once: whether no unit is in two groups, so that numbers of units add up.
    """

    def __init__(self, sources: Sequence[Source], *, is_gaussian: bool, counts_units_once: bool) -> None:
        totals = [one for source in sources for one in _totals(source, counts_units_once=counts_units_once)]
        kept = [one for one in totals if isinstance(one.noise.mechanism, Gaussian) is is_gaussian]
        self._totals = _best((meaning(one.noise.measure), one) for one in kept)
        choices = [one for source in sources if source.how.renames for one in _choices(source)]
        self._choices = {
            _choice_means(one.selection.measure, one.selection.pick): one
            for one in sorted(choices, key=lambda each: each.error, reverse=True)
        }

    def total(self, measure: ir.Measure | ir.Vector | None) -> Total | None:
        """A measure of the same meaning."""
        return self._totals.get(meaning(measure))

    def choice(self, measure: ir.Histogram, pick: Pick) -> Choice | None:
        """The same choice."""
        return self._choices.get(_choice_means(measure, pick))

    def totals_about(self, value: ir.Expr) -> Iterator[tuple[Fraction, Total]]:
        """The sums of a value about any centre, each with its centre."""
        for one in self._totals.values():
            measure = one.noise.measure
            if isinstance(measure, ir.Sum):
                yield from ((centre, one) for base, centre in about(measure.value) if str(base) == str(value))
                if str(measure.value) == str(summand(value)) != str(value):
                    yield Fraction(0), one


def _totals(source: Source, *, counts_units_once: bool) -> Iterator[Total]:
    """The measures of an answer that can be added up as the question needs it."""
    how = source.how
    for noise in source.released.draft.noises:
        adds_up = isinstance(noise.measure, ir.Sum | ir.Vector) or (
            isinstance(noise.measure, ir.Units) and counts_units_once
        )
        if not how.merges or (adds_up and can_be_summed(noise.mechanism, how.most)):
            yield Total(source, Noise(measure=noise.measure, mechanism=noise.mechanism, number=max(how.most, 1)))


def _choices(source: Source) -> Iterator[Choice]:
    """The choices of an answer."""
    return (Choice(source, selection) for selection in source.released.draft.selections)


def _best(totals: Iterable[tuple[str, Total]]) -> dict[str, Total]:
    """The total of each meaning that errs least."""
    return dict(sorted(totals, key=lambda each: each[1].error, reverse=True))


def _choice_means(measure: ir.Histogram, pick: Pick) -> tuple[object, ...]:
    """The meaning of a choice, whatever the grid that it is counted on."""
    return str(measure.value), measure.values, measure.size, pick.fraction, pick.most
