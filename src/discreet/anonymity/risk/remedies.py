"""Remedies: how much risk each quasi-identifier adds, and how much leaving it out or coarsening it would save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.anonymity.classes import Classes, regrouped, sizes_of
from discreet.anonymity.columns import Coded
from discreet.anonymity.records import Missing, Records
from discreet.anonymity.risk.partition import Start

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRisk:
    """The units that a quasi-identifier tells apart.

    Args:
        name: of the column.
        values: how many different values it has.
        alone: how many units it singles out on its own.
        without: how many units the other quasi-identifiers single out without it.
        adds: how many units only it, together with the others, singles out.
    """

    name: str
    values: int
    alone: int
    without: int
    adds: int

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return asdict(self)


def column_risks(records: Records, begin: Start) -> tuple[ColumnRisk, ...]:
    """How much each quasi-identifier adds, most first.

    Args:
        records: the table.
        begin: it, to be divided by the quasi-identifiers.
    """
    names, whole = begin.names, begin.whole
    part, everything = whole, whole.unique_with_rest(0)
    found = []
    for place, name in enumerate(names):
        without = part.unique_with_rest(place + 1)  # all before it, and all after
        alone = whole.refined(place)
        size = records.column(name).size
        found.append(ColumnRisk(name=name, values=size, alone=alone.unique, without=without, adds=everything - without))
        if place + 1 < len(names):
            part = part.refined(place)
    return tuple(sorted(found, key=lambda each: (-each.adds, -each.alone)))


BANDS = 10
"""How many bands a column is coarsened into, to see what that would save."""
TOLERATED = 0.05
"""A plan goes on until at most this share of the units is in classes that are too small: those can be suppressed."""
_TRIED = 3
"""How many columns, those that add most, are tried one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """The effect of changing a column.

    Args:
        action: what is done to it.
        column: its name.
        before: how many values it has.
        after: how many are left; 0 if it is left out.
        unique: how many units are then singled out.
        exposed: how many units are then in classes that are too small.
    """

    action: Literal["leave out", "coarsen"]
    column: str
    before: int
    after: int
    unique: int
    exposed: int

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return asdict(self)


def remedies_of(classes: Classes, columns: Sequence[ColumnRisk], missing: Missing, *, safe: int) -> tuple[Remedy, ...]:
    """The effects of changing single columns, of those that add most; the best first.

    Args:
        classes: the equivalence classes.
        columns: what each quasi-identifier adds, the one that adds most first.
        missing: what a missing value is taken to be.
        safe: a class is too small below this size.
    """
    found = []
    for risk in columns[:_TRIED]:
        column = classes.columns[classes.names.index(risk.name)]
        if len(classes.columns) > 1:
            found.append(_remedy(column, 0, _without(classes, risk.name, missing), safe))
        if _can_be_banded(column):
            banded = coarsened(column)
            found.append(_remedy(column, banded.size, _banded(classes, banded, missing), safe))
    return tuple(sorted(found, key=lambda each: (each.exposed, each.unique)))


def plan_of(classes: Classes, columns: Sequence[ColumnRisk], missing: Missing, *, safe: int) -> tuple[Remedy, ...]:
    """One way to make few classes too small: change column after column until few are left.

    The columns that add most come first. Numbers and times are coarsened, others are left out, but for the last one.
    It is one way, not the best: `anonymize` searches for that.

    Args:
        classes: the equivalence classes.
        columns: what each quasi-identifier adds, the one that adds most first.
        missing: what a missing value is taken to be.
        safe: a class is too small below this size.

    Returns:
        The steps, each with what is left after it and all before; none if few classes are too small already.
    """
    steps: list[Remedy] = []
    left = classes
    for risk in columns:
        exposed = left.within(left.sizes < safe)
        if exposed <= TOLERATED * classes.total:
            break
        column = left.columns[left.names.index(risk.name)]
        if _can_be_banded(column):
            banded = coarsened(column)
            left = _banded(left, banded, missing)
            steps.append(_remedy(column, banded.size, left, safe))
        elif len(left.columns) > 1:
            left = _without(left, risk.name, missing)
            steps.append(_remedy(column, 0, left, safe))
    return tuple(steps)


def coarsened(column: Coded) -> Coded:
    """A column's values in bands of about as many rows each, in order; a missing value stays on its own.

    Returns:
        A column whose codes are the bands of the codes of `column`.
    """
    import pyarrow as pa

    counts = column.counts()
    known = column.size - column.has_missing
    middle = np.cumsum(counts[:known]) - counts[:known] / 2
    band = np.minimum((middle * BANDS / max(int(counts[:known].sum()), 1)).astype(np.int64), BANDS - 1)
    _, bands = np.unique(band, return_inverse=True)
    number = int(bands.max(initial=-1)) + 1
    codes = np.append(bands, number) if column.has_missing else bands
    values = [*range(number), None] if column.has_missing else list(range(number))
    return Coded(
        name=column.name,
        codes=codes.astype(np.int32),
        values=pa.array(values, type=pa.int64()),
        has_missing=column.has_missing,
    )


def _without(classes: Classes, name: str, missing: Missing) -> Classes:
    """The classes once a column is left out."""
    kept = [place for place, column in enumerate(classes.columns) if column.name != name]
    return regrouped(classes, [classes.columns[place] for place in kept], classes.tuples[:, kept], missing)


def _banded(classes: Classes, banded: Coded, missing: Missing) -> Classes:
    """The classes once a column is coarsened."""
    place = classes.names.index(banded.name)
    tuples = classes.tuples.copy()
    tuples[:, place] = banded.codes[tuples[:, place]]
    columns = [banded if number == place else column for number, column in enumerate(classes.columns)]
    return regrouped(classes, columns, tuples, missing)


def _remedy(column: Coded, after: int, left: Classes, safe: int) -> Remedy:
    """The risk that is left after a change."""
    sizes = sizes_of(left)
    return Remedy(
        action="coarsen" if after else "leave out",
        column=column.name,
        before=column.size,
        after=after,
        unique=sizes.unique,
        exposed=sizes.below(safe),
    )


def _can_be_banded(column: Coded) -> bool:
    """Whether coarsening a column makes sense: many values in an order."""
    return column.size > 2 * BANDS and in_order(column.values)


def in_order(values: pa.Array) -> bool:
    """Whether values are numbers or times: their order means something, and neighbours can be joined."""
    import pyarrow as pa

    kind = values.type
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_temporal)
    return any(check(kind) for check in checks)
