"""Anonymised rows as somebody who answers: each cell taken for one of the values that it stands for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.anonymity.records.column import Coded, Codes, Whole
from discreet.anonymity.records.read import read
from discreet.anonymity.records.records import Records
from discreet.attacks.targets.answering import Reply
from discreet.attacks.targets.compatible import CellsLike, stands_for
from discreet.attacks.targets.exact import Exact
from discreet.attacks.targets.rows import Rows
from discreet.noise import uniform


class Imputed(Exact):
    """What an attacker reads off anonymised rows where they would rather ask questions.

    Each generalised cell is replaced, once, by a value that it stands for, all of these alike; every question is then
    answered exactly on what that makes. Rows of one unit that have the same cell get the same value there. So it always
    gives the same answer, and is wrong by as much as cells are wide.

    Args:
        rows: anonymised, with their cells and the table that they were made of.
        name: what questions call the table.

    Raises:
        InvalidArgument: it isn't known what the cells stand for.

    Examples:
        >>> from discreet.anonymity import KAnonymity, anonymize, read
        >>> people = read({"age": [31, 31, 47, 47], "ill": ["flu", "cold", "flu", "gout"]})
        >>> release = anonymize(
        ...     people, quasi_identifiers=["age"], sensitive=["ill"], models=[KAnonymity(2)], algorithm="mondrian"
        ... )
        >>> crowd = Imputed(Rows.of(release, original=people))
        >>> crowd.count({"age": 31, "ill": "flu"}).value
        1
    """

    def __init__(self, rows: Rows, *, name: str = "people") -> None:
        """Draw a value for each cell."""
        super().__init__(_drawn(rows), name=name)
        self._against = rows.name

    @property
    def against(self) -> str:
        """What it is."""
        return self._against

    def _reply(self, sql: str) -> Reply:
        """An exact answer about values that were drawn: how far it is off isn't known."""
        return replace(super()._reply(sql), deviation=None)


def _drawn(rows: Rows) -> Records:
    """The rows with a value for each cell, and the units that they have."""
    import pyarrow as pa

    units = rows.records.units
    columns = {}
    for name, released in rows.records.columns.items():
        covered = rows.covered(name)
        if covered is None:
            columns[name] = released.values.take(released.codes)
        else:
            cells, original = covered
            columns[name] = original.values.take(_values(released, cells, None if units is None else units.codes))
    return replace(read(pa.table(columns)), units=units)


def _values(released: Coded, cells: CellsLike, owners: Codes | None) -> Codes:
    """Of each row, a value that its cell stands for; the same in all rows of one owner that have the cell."""
    covered = stands_for(released, cells)
    sizes = np.array([len(each) for each in covered], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
    # An even number below 2^40, scaled down to the cell's size: no value's share is off by more than one in 10^8.
    chance: Whole = uniform(1 << 40, released.rows)
    if owners is not None:
        alike = owners.astype(np.int64) * released.size + released.codes
        chance = chance[np.unique(alike, return_inverse=True)[1]]  # the n-th different one takes the n-th number
    chosen = starts[released.codes] + (chance * sizes[released.codes] >> 40)
    return np.concatenate(covered)[chosen].astype(np.int32) if released.rows else released.codes
