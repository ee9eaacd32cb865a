"""Classes of rows, from classes of points.

The rows of a point agree on the quasi-identifiers and on the models' sensitive attributes; they may differ in other
columns. They are put in the order of those and dealt to the classes evenly, like cards to hands of different sizes:
what is common among them is common in each class, and the outcome doesn't depend on the order in which rows came.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.anonymity.columns import Coded, Whole
from discreet.anonymity.grouping import pack
from discreet.anonymity.reduce.front import Members


def classes_of_rows(members: Members, of_row: Whole, number: int, others: Sequence[Coded]) -> Whole:
    """The class of each row.

    Args:
        members: the classes, and how many rows of each point they take.
        of_row: for each row, its point.
        number: how many points there are.
        others: the columns that points don't tell apart.
    """
    owners = members.owners()
    of_point = np.zeros(number, dtype=np.int64)
    of_point[members.points] = owners
    found = of_point[of_row]
    split = np.bincount(members.points, minlength=number) > 1
    if not split.any():
        return found
    rows = np.flatnonzero(split[of_row])
    rows = rows[np.lexsort((_ranks(others, rows), of_row[rows]))]
    parts = split[members.points]
    found[rows] = _dealt(members.points[parts], owners[parts], members.rows[parts])
    return found


def _ranks(others: Sequence[Coded], rows: Whole) -> Whole:
    """A number for each row that orders rows as their other columns do."""
    if not others:
        return np.zeros(len(rows), dtype=np.int64)
    return pack([column.codes[rows] for column in others], [column.size for column in others])[0]


def _dealt(points: Whole, owners: Whole, counts: Whole) -> Whole:
    """The classes of the rows of each point, point by point: card j of a hand of c is due at (2j + 1)/(2c).

    Args:
        points: for each hand, which point it takes rows from.
        owners: for each hand, its class.
        counts: for each hand, how many rows it takes.
    """
    hand = np.repeat(np.arange(len(points)), counts)
    card = np.arange(len(hand)) - np.repeat(np.cumsum(counts) - counts, counts)
    due = (2 * card + 1) / (2 * counts[hand])
    return owners[hand][np.lexsort((owners[hand], due, points[hand]))]
