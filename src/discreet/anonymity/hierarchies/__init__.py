"""Hierarchies: how the values of a column become coarser, level by level."""

from discreet.anonymity.hierarchies.intervals import Calendar, Intervals
from discreet.anonymity.hierarchies.ladder import Digits, Flat, Hierarchy, Ladder, Masking
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
