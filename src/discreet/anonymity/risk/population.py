"""How many people of a population are unique, estimated from a sample by three models and a rule between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from discreet.anonymity.class_sizes import ClassSizes, class_sizes
from discreet.anonymity.classes import Classes, classes_of
from discreet.anonymity.columns import Reals
from discreet.anonymity.records import Missing, Unit, read
from discreet.anonymity.risk.pitman import fit_pitman
from discreet.anonymity.risk.slide_negative_binomial import fit_snb
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, rational


def unique_in_population(sizes: ClassSizes, population: int) -> float:
    """How many rows of the population are unique, by Zayatz's estimate.

    A unique row of the sample is unique in the population with probability p₁·P(1|1) / Σⱼ pⱼ·P(1|j) by Bayes, where
    P(1|j) is the chance that a class of j people sends exactly one into the sample (hypergeometric). The shares pⱼ of
    the population's classes aren't known; the estimate puts those of the sample in their place, in which small classes
    are too frequent. The unique rows of the sample, times that probability, divided by the sampling fraction, are the
    unique rows of the population.

    Args:
        sizes: of the sample's classes.
        population: how many people the sample was drawn from; at least as many as there are rows.

    Source: Zayatz (1991), "Estimation of the number of unique population elements using a sample", the definition of
    the equivalence class estimator; Dankar et al. (2012), appendix A.

    Examples:
        >>> from discreet.anonymity.class_sizes import class_sizes
        >>> found = class_sizes(np.array([1, 1, 2]), np.array([1, 1, 2]))
        >>> round(unique_in_population(found, 8), 4)
        2.5455
    """
    if not sizes.unique:
        return 0.0
    return sizes.unique * stays_unique(sizes, population) * population / sizes.total


def stays_unique(sizes: ClassSizes, population: int) -> float:
    """The probability that a unique row of the sample is unique in the population; 0 if the sample has none."""
    if not sizes.unique:
        return 0.0
    chances = _one_of(sizes.sizes.max(), sizes.total, population)[sizes.sizes - 1]
    weighed = sizes.classes * chances
    return float(weighed[0] / weighed.sum())


def _one_of(most: int, sample: int, population: int) -> Reals:
    """For j = 1, 2, …: P(1|j) as a multiple of P(1|1) = n/N.

    C(j, 1)·C(N−j, n−1)/C(N, n) = j·(n/N)·∏ (N−n−i+1)/(N−i) over i from 1 to j−1.
    """
    steps = np.arange(1, most, dtype=np.float64)
    left = np.maximum(population - sample - steps + 1, 0.0)  # 0: so many people don't fit outside the sample
    with np.errstate(divide="ignore"):
        logs = np.log(left) - np.log(population - steps)
    ratios: Reals = np.exp(np.concatenate(([0.0], np.cumsum(logs))))
    return ratios * np.arange(1.0, most + 1)


Model = Literal["zayatz", "snb", "pitman", "census"]
_SMALL = Fraction(1, 10)
"""Samples of up to this fraction are Pitman's in the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationUniqueness:
    """How many people of the population are unique, by each model.

    Args:
        fraction: the share of the population that is in the sample.
        units: of the sample: rows, or the people or households that rows belong to.
        unique: units of the sample that are unique in it.
        people: of the population.
        zayatz: by the equivalence class model of Zayatz.
        snb: by the slide negative binomial model; None if it didn't converge.
        pitman: by Pitman's sampling formula; None if it didn't converge.
        chosen: the model that the decision rule of Dankar et al. picks; "census" if the sample is the population.
        estimate: how many people are unique by the chosen model.
    """

    fraction: float
    units: int
    unique: int
    people: int
    zayatz: float
    snb: float | None
    pitman: float | None
    chosen: Model
    estimate: float

    @property
    def share(self) -> float:
        """Unique people as a share of the population; 0 if there is nobody."""
        return self.estimate / self.people if self.people else 0.0

    @property
    def stays(self) -> float:
        """How probable it is that a unique unit of the sample is unique in the population; 0 if there are none.

        A unique person of the population is in the sample with the probability `fraction`, and unique in it.
        """
        return min(1.0, self.estimate * self.fraction / self.unique) if self.unique else 0.0

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data; a model that didn't converge has none."""
        return {
            "fraction": self.fraction,
            "units": self.units,
            "unique": self.unique,
            "people": self.people,
            "zayatz": self.zayatz,
            "snb": self.snb,
            "pitman": self.pitman,
            "chosen": self.chosen,
            "estimate": self.estimate,
            "share": self.share,
            "stays": self.stays,
        }


def population_uniqueness(
    table: object,
    quasi_identifiers: Sequence[str],
    *,
    fraction: Rationalizable,
    unit: Unit = None,
    missing: Missing | str | None = None,
) -> PopulationUniqueness:
    """How many people are unique in the population that a table was drawn from.

    It is an estimate: the sample is taken to be drawn evenly, and each model makes an assumption about how large
    classes are. Missing values count as values of their own, whatever else they are taken to be.

    Args:
        table: the sample: a path, a pandas, Polars or Arrow table, or `Records`.
        quasi_identifiers: the columns that an attacker knows.
        fraction: the share of the population that is in the sample; above 0 and at most 1.
        unit: the column, or columns, that say whose a row is; as in `read`. If left out, each row is another person's.
        missing: what a missing value is taken to be where the table is read.

    Raises:
        InvalidArgument: no column is named, one twice, or the fraction is out of range; or a unit's rows differ in
            their quasi-identifiers, of which the models know nothing.
        SchemaMismatch: the table lacks a column.

    Source: Dankar, El Emam, Neisa, Roffey (2012), "Estimating the re-identification risk of clinical data sets", the
    definition of its decision rule.

    Examples:
        >>> table = {"age": [40, 40, 41, 52, 52, 60, 60, 60]}
        >>> found = population_uniqueness(table, ["age"], fraction="1/4")
        >>> found.unique, found.people, found.snb, found.chosen, round(found.stays, 2)
        (1, 32, None, 'zayatz', 0.17)
    """
    wanted = None if isinstance(quasi_identifiers, str) else quasi_identifiers
    return estimated(
        sample_of(classes_of(read(table, columns=wanted, unit=unit, missing=missing), quasi_identifiers)), fraction
    )


def sample_of(classes: Classes) -> ClassSizes:
    """The class sizes of a sample, in which everyone is in one class; missing values are values of their own.

    Raises:
        InvalidArgument: a unit's rows differ in their quasi-identifiers.
    """
    if classes.members is not None and classes.members.apart:
        raise InvalidArgument(
            "samples say something of the population only where a unit's rows agree in the quasi-identifiers",
            hint="leave out what differs from row to row, or take one row of each unit",
        )
    return class_sizes(classes.units, classes.units)


def estimated(sizes: ClassSizes, fraction: Rationalizable) -> PopulationUniqueness:
    """The same of a sample's class sizes; rows that agree are in one class.

    The rule: up to a tenth of the population, Pitman's estimate, or Zayatz's if that didn't converge; above it, the
    lesser of the slide negative binomial model's and Zayatz's.

    Raises:
        InvalidArgument: the fraction is out of range.
    """
    share = rational(fraction, "fraction")
    if not 0 < share <= 1:
        raise InvalidArgument(f"fraction must be above 0 and at most 1, not {fraction}")
    people = round(sizes.total / share)
    by_zayatz = unique_in_population(sizes, people)
    by_snb, by_pitman = _slide(sizes, share, people), _pitman(sizes, share, people)
    chosen: Model = "zayatz"
    estimate = by_zayatz
    if share == 1:
        chosen, estimate = "census", float(sizes.unique)
    elif share <= _SMALL and by_pitman is not None:
        chosen, estimate = "pitman", by_pitman
    elif share > _SMALL and by_snb is not None and by_snb <= by_zayatz:
        chosen, estimate = "snb", by_snb
    return PopulationUniqueness(
        fraction=float(share),
        units=sizes.total,
        unique=sizes.unique,
        people=people,
        zayatz=by_zayatz,
        snb=by_snb,
        pitman=by_pitman,
        chosen=chosen,
        estimate=estimate,
    )


def _slide(sizes: ClassSizes, fraction: Fraction, people: int) -> float | None:
    """The unique people by the slide negative binomial model; never more than there are people."""
    if not sizes.unique or fraction == 1:
        return float(sizes.unique)
    model = fit_snb(sizes, float(fraction))
    return None if model is None or model.unique > people else model.unique


def _pitman(sizes: ClassSizes, fraction: Fraction, people: int) -> float | None:
    """The unique people by Pitman's formula."""
    if not sizes.unique or fraction == 1:
        return float(sizes.unique)
    model = fit_pitman(sizes)
    return None if model is None else model.expected_of_size(1, people)
