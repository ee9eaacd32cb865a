"""Adjacency: which pairs of tables are neighbours."""

from __future__ import annotations

from enum import StrEnum


class Adjacency(StrEnum):
    """The way two neighbouring tables differ.

    A guarantee under substitution follows from one under add-remove, at twice the ε or four times the ρ if it has no δ,
    and not the reverse, so certificates always name the relation. Of (ε, δ)-DP it is (2ε, (1 + e^ε)·δ); see
    `discreet.accounting.group`.

    Examples:
        >>> Adjacency("add_remove") is ADD_REMOVE
        True
    """

    ADD_REMOVE = "add_remove"
    """One has all rows of one unit more than the other ("unbounded" in some texts)."""

    SUBSTITUTION = "substitution"
    """The rows of one unit are replaced by rows of one other ("bounded")."""


ADD_REMOVE = Adjacency.ADD_REMOVE
SUBSTITUTION = Adjacency.SUBSTITUTION
