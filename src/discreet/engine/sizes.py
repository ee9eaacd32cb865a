"""How many rows a question can have: what decides how wide its sums must be."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.engine.limiting import MOST_ROWS
from discreet.query.ir import Join, JoinKind, Relation, Scan, Union, sources


def rows_at_most(relation: Relation, counts: Mapping[str, int]) -> int:
    """The rows of a relation, or more; never more than any table has.

    A join of relations that have so many pairs of rows is over long after its sums could overflow.

    Args:
        relation: whose rows.
        counts: the rows of each scan, or more, by its alias.
    """
    match relation:
        case Scan(alias=alias):
            return counts[alias]
        case Join(left=left, kind=JoinKind.SEMI | JoinKind.ANTI):
            return rows_at_most(left, counts)
        case Join(left=left, right=right):
            return min(MOST_ROWS, rows_at_most(left, counts) * max(1, rows_at_most(right, counts)))
        case Union(parts=parts):
            return min(MOST_ROWS, sum(rows_at_most(part, counts) for part in parts))
        case _:
            (below,) = sources(relation)
            return max(1, rows_at_most(below, counts))
