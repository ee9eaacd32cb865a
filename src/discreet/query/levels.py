"""Levels: ROLLUP, CUBE and GROUPING SETS as several questions, each with its share of the offer.

A level leaves some of the keys out and answers them as NULL. Each is measured on its own, so the sums of a level need
not add up to those of another; `consistency` makes them do so afterwards, for nothing.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.query import ir
from discreet.tables import Kind

MOST_LEVELS = 64
"""Each level takes its share of the offer, so many would leave nothing to any of them."""


def levels_of(question: ir.Question) -> tuple[ir.Question, ...]:
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


MARK = "\x00grouping"
"""Ends the names under which GROUPING's values are kept: no question can spell it."""


def grouping(name: str) -> ir.Released:
    """GROUPING(key): 1 where the level leaves the key out, else 0."""
    return ir.Released(name + MARK, ir.Type(Kind.INTEGER, nullable=False, values=(0, 1)))
