"""Re-identification risk: who can be singled out in a table, by what, and what it would cost to stop it."""

from discreet.anonymity.class_sizes import ClassSizes
from discreet.anonymity.risk.gathering import Gathered, gathered
from discreet.anonymity.risk.identifiers import ColumnSet, Identifiers, minimal_identifiers
from discreet.anonymity.risk.population import PopulationUniqueness, population_uniqueness
from discreet.anonymity.risk.reidentification import Reidentification, Risk, reidentification
from discreet.anonymity.risk.report import RiskReport, assess
from discreet.anonymity.risk.uniqueness import SpecialUniques, Uniqueness, expected_rows, special_uniques, uniqueness

__all__ = [
    "ClassSizes",
    "ColumnSet",
    "Gathered",
    "Identifiers",
    "PopulationUniqueness",
    "Reidentification",
    "Risk",
    "RiskReport",
    "SpecialUniques",
    "Uniqueness",
    "assess",
    "expected_rows",
    "gathered",
    "minimal_identifiers",
    "population_uniqueness",
    "reidentification",
    "special_uniques",
    "uniqueness",
]
