"""Identity disclosure: how likely an attacker re-identifies a unit.

It depends on who is looking: a prosecutor, a journalist or a marketer. Units are rows, or the people or households that
rows belong to. A unit with several rows is as safe as the row that hides it least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, fsum

import numpy as np

from discreet.anonymity.class_sizes import ClassSizes, class_sizes
from discreet.anonymity.columns import Whole
from discreet.anonymity.frequencies import Frequencies, frequencies_of
from discreet.anonymity.records import Missing, Records, Unit, population_of, read
from discreet.anonymity.words import Noun
from discreet.errors import InvalidArgument, SchemaMismatch
from discreet.exact.rational import Rationalizable, rational

THRESHOLD = Fraction(1, 5)
"""A unit is at risk above this unless said otherwise: it hides among fewer than five."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """The risk of single units, summed up.

    Args:
        highest: of any unit; 0 if there are none.
        average: over the units.
        at_risk: the share of units whose risk is above the threshold.
    """

    highest: float
    average: float
    at_risk: float

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {"highest": self.highest, "average": self.average, "at_risk": self.at_risk}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reidentification:
    """The success of three attackers against a release.

    Args:
        prosecutor: seeks a person known to be in the table: 1 / size of the class.
        journalist: seeks anyone, in a register of the population that the rows were drawn from: 1 / units of the
            population with the same quasi-identifiers. Without a register, the prosecutor's risk bounds it.
        marketer: links all units at once; the share that they get right on average.
        threshold: above it a unit is at risk.
        population: whether there was a register of the population.
        lacking: how many units the register lacks, class by class; they count as if it had them.
        sizes: of the classes.
    """

    prosecutor: Risk
    journalist: Risk
    marketer: float
    threshold: Fraction
    population: bool
    lacking: int
    sizes: ClassSizes

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "prosecutor": self.prosecutor.to_dict(),
            "journalist": self.journalist.to_dict(),
            "marketer": self.marketer,
            "threshold": float(self.threshold),
            "population": self.population,
            "lacking": self.lacking,
            "class_sizes": self.sizes.to_dict(),
        }


def reidentification(  # noqa: PLR0913 — a table, and what is known of it
    table: object,
    quasi_identifiers: Sequence[str],
    *,
    unit: Unit = None,
    population: object | None = None,
    threshold: Rationalizable = THRESHOLD,
    missing: Missing | str | None = None,
) -> Reidentification:
    """The risk that rows, or the units that they belong to, are re-identified through their quasi-identifiers.

    Args:
        table: a path, a pandas, Polars or Arrow table, or `Records`.
        quasi_identifiers: the columns that an attacker knows.
        unit: the column, or columns, that say whose a row is; as in `read`.
        population: a table of everyone the rows were drawn from, with the same quasi-identifiers; the units of `table`
            are taken to be among them. If it lacks the columns of `unit`, each of its rows is a unit.
        threshold: above it a unit is at risk; in (0, 1].
        missing: what a missing value is taken to be; as in `read`.

    Raises:
        InvalidArgument: no column is named, one twice, the threshold is out of range, or the population has fewer
            units than the table.
        SchemaMismatch: a table lacks a column.

    Source: El Emam (2013), "Guide to the De-Identification of Personal Health Information", the definitions of
    prosecutor, journalist and marketer risk; the words are ARX's.

    Examples:
        >>> found = reidentification({"zip": ["1", "1", "1", "2"]}, ["zip"])
        >>> found.prosecutor.highest, found.marketer
        (1.0, 0.5)
        >>> crowd = {"zip": ["1"] * 6 + ["2"] * 4}
        >>> reidentification({"zip": ["1", "1", "1", "2"]}, ["zip"], population=crowd).journalist.highest
        0.25
    """
    wanted = None if isinstance(quasi_identifiers, str) else list(quasi_identifiers)
    records = read(table, columns=wanted, unit=unit, missing=missing)
    register = register_of(population, wanted, records)
    return reidentification_of(frequencies_of(records, quasi_identifiers, population=register), threshold)


def register_of(population: object | None, columns: Sequence[str] | None, records: Records) -> Records | None:
    """Read a population, which holds the units of the table: it can't have fewer.

    Args:
        population: whatever `read` reads; None if there is none.
        columns: which to read; all if None.
        records: the table.

    Raises:
        InvalidArgument: it has fewer units than the table.
        SchemaMismatch: it lacks a column.
    """
    if population is None:
        return None
    try:
        register = population_of(population, columns, records)
    except SchemaMismatch as error:
        raise SchemaMismatch(f"the population doesn't fit: {error.message}", hint=error.hint) from None
    if register.counted < records.counted:
        noun = Noun.of(() if records.units is None else records.units.names)
        raise InvalidArgument(
            f"the population has {noun.counted(register.counted)}, fewer than the {records.counted:,} that are drawn "
            "from it",
            hint="name a table of everyone the rows were drawn from, these people included",
        )
    return register


def reidentification_of(frequencies: Frequencies, threshold: Rationalizable = THRESHOLD) -> Reidentification:
    """The same of a frequency table.

    Raises:
        InvalidArgument: the threshold is out of range.
    """
    limit = rational(threshold, "threshold")
    if not 0 < limit <= 1:
        raise InvalidArgument(f"threshold must be above 0 and at most 1, not {threshold}")
    units, sizes = frequencies.units, frequencies.sizes
    members = None if frequencies.classes is None else frequencies.classes.members
    found = class_sizes(units, sizes, members)
    prosecutor = _risk(found, limit)
    journalist, marketer, lacking = prosecutor, prosecutor.average, 0
    if frequencies.population is not None:
        lacking = int(np.maximum(units - frequencies.population, 0).sum())
        crowd = np.maximum(frequencies.population, sizes)  # units are among the population, whatever a register lacks
        hidden = class_sizes(units, crowd, members)
        journalist, marketer = _journalist(hidden, crowd, limit)
    return Reidentification(
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=marketer,
        threshold=limit,
        population=frequencies.population is not None,
        lacking=lacking,
        sizes=found,
    )


def smallest_safe(threshold: Fraction) -> int:
    """The least size at which a unit isn't at risk: 1 / size ≤ threshold.

    Examples:
        >>> smallest_safe(Fraction(1, 5)), smallest_safe(Fraction(3, 10))
        (5, 4)
    """
    return ceil(1 / threshold)


def _risk(hidden: ClassSizes, threshold: Fraction) -> Risk:
    """The risk of units, by how many each hides among."""
    total = hidden.total
    if not total:
        return Risk(highest=0.0, average=0.0, at_risk=0.0)
    return Risk(
        highest=1 / hidden.smallest,
        average=fsum(hidden.units / hidden.sizes) / total,
        at_risk=hidden.below(smallest_safe(threshold)) / total,
    )


def _journalist(hidden: ClassSizes, crowd: Whole, threshold: Fraction) -> tuple[Risk, float]:
    """The journalist's risk and the marketer's, where the population is known.

    A journalist may start from the table, and is right for Σ f/F of its n units, or from the register, and is right for
    one unit of each of the J classes among their ΣF people. The average is the worse of both.
    """
    risk = _risk(hidden, threshold)
    people = int(crowd.sum())
    register = len(crowd) / people if people else 0.0
    return Risk(highest=risk.highest, average=max(risk.average, register), at_risk=risk.at_risk), risk.average
