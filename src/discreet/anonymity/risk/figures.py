"""The figures of a report, from which it gives its advice and is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.anonymity.attributes import Attributes, Repeated
from discreet.anonymity.hierarchies.texts import dotted_days, has_decimal_commas, present
from discreet.anonymity.records.records import Missing, Records, Unread
from discreet.anonymity.risk.exposure import Checked, Exposure
from discreet.anonymity.risk.identifiers import Identifiers
from discreet.anonymity.risk.population import PopulationUniqueness
from discreet.anonymity.risk.reidentification import Reidentification
from discreet.anonymity.risk.remedies import ColumnRisk, Remedy
from discreet.anonymity.risk.uniqueness import Uniqueness

DATES, NUMBERS = "dates with dots", "numbers with decimal commas"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Figures:
    """What a report on risk tells in numbers and names; the arguments are those of `RiskReport`."""

    rows: int
    units: int
    unit: tuple[str, ...]
    repeated: tuple[Repeated, ...]
    missing: Missing
    unread: Unread
    population_unread: Unread
    attributes: Attributes | None
    identifying: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    lookalikes: Mapping[str, str]
    uniqueness: Uniqueness
    reidentification: Reidentification
    exposures: tuple[Exposure, ...]
    checked: tuple[Checked, ...]
    columns: tuple[ColumnRisk, ...]
    identifiers: Identifiers
    population: PopulationUniqueness | None
    remedies: tuple[Remedy, ...]
    plan: tuple[Remedy, ...]

    @property
    def not_read(self) -> tuple[str, ...]:
        """What wasn't read of the table, and of the population, in words; nothing where everything was."""
        beside = (f"of the population: {each}" for each in self.population_unread.words())
        return (*self.unread.words(), *beside)

    @property
    def k(self) -> int | None:
        """The k of k-anonymity that the table has; 0 if it has no rows, None if rows were counted and not people."""
        return None if self.repeated else self.uniqueness.sizes.smallest


def lookalikes_of(records: Records) -> dict[str, str]:
    """What columns of texts look like that all seem to be dates or numbers, by column.

    Examples:
        >>> from discreet.anonymity import read
        >>> lookalikes_of(read({"born": ["29.02.1984", "1.3.1984"], "pay": ["1.200,50", None], "zip": ["1", "2"]}))
        {'born': 'dates with dots', 'pay': 'numbers with decimal commas'}
    """
    found = {}
    for name, column in records.columns.items():
        values = present(column)
        if dotted_days(values) is not None:
            found[name] = DATES
        elif has_decimal_commas(values):
            found[name] = NUMBERS
    return found
