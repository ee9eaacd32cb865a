"""Grouping sets: ROLLUP, CUBE and GROUPING SETS leave some of the keys out and answer them as NULL.

Which sets are measured, and how the others follow from them, the planner decides: see `planner.levels`.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.query.ir.expressions import (
    Released,
    Type,
)
from discreet.query.ir.questions import Question
from discreet.tables import Kind

MOST_GROUPING_SETS = 64
"""If sets have to be measured apart, each takes its share of the offer: many would leave next to nothing for each."""

MARK = "\x00grouping"
"""Ends the names under which GROUPING's values are kept: no question can spell it."""


def grouping_sets_of(question: Question) -> tuple[Question, ...]:
    """One question for each grouping set, in order; the question itself, if it has none."""
    if not question.sets:
        return (question,)
    names = [name for name, _ in question.keys]
    return tuple(
        replace(
            question,
            keys=tuple((name, key) for name, key in question.keys if name in kept),
            rolled=tuple(name for name in names if name not in kept),
            sets=(),
        )
        for kept in question.sets
    )


def grouping(name: str) -> Released:
    """GROUPING(key): 1 where the grouping set leaves the key out, else 0."""
    return Released(name + MARK, Type(Kind.INTEGER, nullable=False, values=(0, 1)))
