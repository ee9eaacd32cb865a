"""Hierarchies: how the values of a column become coarser, level by level."""

from discreet.anonymity.hierarchies.dates import Calendar
from discreet.anonymity.hierarchies.intervals import Intervals
from discreet.anonymity.hierarchies.ladder import Hierarchy, Ladder
from discreet.anonymity.hierarchies.masks import Digits, Flat, Masking
from discreet.anonymity.hierarchies.propose import ProposedHierarchy, propose_hierarchy
from discreet.anonymity.hierarchies.table import Listed, Taxonomy, read_hierarchy

__all__ = [
    "Calendar",
    "Digits",
    "Flat",
    "Hierarchy",
    "Intervals",
    "Ladder",
    "Listed",
    "Masking",
    "ProposedHierarchy",
    "Taxonomy",
    "propose_hierarchy",
    "read_hierarchy",
]
