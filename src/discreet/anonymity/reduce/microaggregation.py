"""Microaggregation: groups of at least k similar rows, each shown with the average of its group.

Up to 20,000 rows, MDAV groups the whole table at once. Its time grows with the square of the rows. So a larger table is
first cut into blocks of 5,000 to 10,000 rows by relaxed Mondrian, and each block is grouped on its own: only rows near
the rim of a block could have found nearer neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from discreet.anonymity.classes import chosen
from discreet.anonymity.columns import Coded, Reals, Whole
from discreet.anonymity.frequencies import frequencies_of
from discreet.anonymity.grouping import group, pack
from discreet.anonymity.models.k_anonymity import KAnonymity
from discreet.anonymity.models.model import Model
from discreet.anonymity.records import Records
from discreet.anonymity.reduce.averages import Averages, coordinates_of, means, medians
from discreet.anonymity.reduce.axes import axes_of
from discreet.anonymity.reduce.classes_of_rows import classes_of_rows
from discreet.anonymity.reduce.judge import Judge
from discreet.anonymity.reduce.mdav import grid_bits, mdav
from discreet.anonymity.reduce.partitioning import partition
from discreet.anonymity.reduce.points import points_of
from discreet.anonymity.reduce.recoding import ListedCells, Recoded, Recoding, recoding_of_nothing
from discreet.anonymity.sharing import sharing_of
from discreet.errors import InvalidArgument

_Average = Literal["mean", "median"]
_DIRECT, _BLOCK = 20_000, 5_000
_MOST_DECIMALS = 30


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Microaggregated:
    """A table whose quasi-identifiers are averages of groups.

    Args:
        recoding: what each row becomes. A cell stands for the values of the rows that show it.
        groups: row → its group, from 0 on. Groups that show the same averages are one class of the release.
        loss: SSE/SST: the squared distances of rows from what is shown for them, over those from the mean of the
            table, all in standard deviations of the columns; 0 if no column varies. In [0, 1] for means, but for their
            rounding; medians, which aren't nearest to a group by that measure, can lose more.
    """

    recoding: Recoding
    groups: Whole
    loss: float


def microaggregate(
    records: Records,
    quasi_identifiers: Sequence[str],
    models: Sequence[Model],
    *,
    average: _Average = "mean",
    decimals: int = 2,
) -> Microaggregated:
    """Show each row with the averages of a group of k to 2k − 1 rows that are alike.

    Columns are standardised, so that each counts the same whatever its unit; distances are taken on a grid of some
    millions of steps along the widest column, on which they are exact. The result depends on which rows there are, not
    on their order: rows with the same quasi-identifiers are taken in an order that deals out what they differ in.

    Guarantee: the release is k-anonymous, as each of its classes is a union of groups; it is tried once more on the
    cells that are shown. Rounding only ever joins groups.

    No average is a value that fewer than k rows have: where one would be, all of the column lie halfway between two of
    its units. All the same, an average isn't a range that hides a value: an attacker who knows all rows of a group but
    one works out that one from the mean, up to rounding; and a median is the value of one of them, or half a unit from
    it.

    Args:
        records: the table.
        quasi_identifiers: one or more columns of numbers or times without a missing value.
        models: k-anonymity, and any others to check the result against: groups are made for the largest
            k alone.
        average: "mean" or "median"; of an even number of rows the lower median.
        decimals: digits after the point that means are rounded to, halves to the even neighbour; 0 to 30. Means of
            times are rounded to the unit that the column has.

    Raises:
        InvalidArgument: units have several rows; a quasi-identifier holds other things than finite numbers or times, or
            misses one; there are fewer than k rows, but not none; no model is k-anonymity; another model isn't met by
            the result; an argument is out of range.
        SchemaMismatch: the table lacks a column.

    Source: Domingo-Ferrer, Mateo-Sanz (2002), "Practical data-oriented microaggregation for statistical disclosure
    control", the algorithm with a maximum distance; see `mdav`.

    Examples:
        >>> from discreet.anonymity import read
        >>> table = read({"age": [21, 64, 22, 60, 23, 65]})
        >>> found = microaggregate(table, ["age"], [KAnonymity(3)])
        >>> [found.recoding.columns["age"].cells.labels[cell] for cell in found.recoding.columns["age"].codes]
        ['22.5', '63.5', '22.5', '63.5', '22.5', '63.5']
        >>> round(found.loss, 4)
        0.0069
    """
    columns = chosen(records, quasi_identifiers)
    k = _check(records, models, average, decimals)
    if not records.rows:
        none = np.zeros(0, dtype=np.int64)
        return Microaggregated(recoding=recoding_of_nothing(quasi_identifiers), groups=none, loss=0.0)
    coordinates = [coordinates_of(column) for column in columns]
    points = _standardised(columns, coordinates)
    groups, number = _grouped(records, columns, points, k)
    shown = []
    for column in columns:
        rare = sharing_of(records, column, k).rare
        averaged = medians(column, groups, number, rare) if average == "median" else None
        shown.append(averaged or means(column, groups, number, decimals, rare))
    recoded = {column.name: _recoded(column, groups, averages) for column, averages in zip(columns, shown, strict=True)}
    _check_release(records, recoded, models)
    return Microaggregated(
        recoding=Recoding(columns=recoded, kept=np.ones(records.rows, dtype=np.bool_)),
        groups=groups,
        loss=_loss(columns, coordinates, shown, groups),
    )


def _check(records: Records, models: Sequence[Model], average: str, decimals: int) -> int:
    """The largest k that is asked for.

    Raises:
        InvalidArgument: see `microaggregate`.
    """
    if average not in get_args(_Average):
        raise InvalidArgument(f"the average is {' or '.join(get_args(_Average))}, not {average!r}")
    if type(decimals) is not int or not 0 <= decimals <= _MOST_DECIMALS:
        raise InvalidArgument(f"decimals are a whole number from 0 to {_MOST_DECIMALS}, not {decimals!r}")
    if records.counted < records.rows:
        raise InvalidArgument(
            "groups are made of rows, so they can't be counted by unit", hint="Mondrian and the optimal search can"
        )
    asked = [model.k for model in models if isinstance(model, KAnonymity)]
    if not asked:
        raise InvalidArgument("microaggregation makes groups of k rows, so it needs k-anonymity among its models")
    if 0 < records.rows < max(asked):
        raise InvalidArgument(f"{records.rows:,} rows can't be a group of {max(asked):,}", hint="ask for a smaller k")
    return max(asked)


def _units(at: Reals, values: Reals) -> Reals:
    """Values on the scale on which the column runs from 0 to 1; 0 if it is constant. No step can overflow."""
    most = float(np.abs(at).max()) or 1.0
    low, high = float(at.min()) / most, float(at.max()) / most
    return (values / most - low) / (high - low if high > low else 1.0)


def _deviations(columns: Sequence[Coded], coordinates: Sequence[Reals]) -> Reals:
    """The standard deviation of each column on the scale of `_units`; 0 if it is constant."""
    found = np.zeros(len(columns))
    for number, (column, at) in enumerate(zip(columns, coordinates, strict=True)):
        units, shares = _units(at, at), column.counts() / column.rows
        found[number] = np.sqrt(((units - (units * shares).sum()) ** 2 * shares).sum()) if column.size > 1 else 0.0
    return found


def _standardised(columns: Sequence[Coded], coordinates: Sequence[Reals]) -> Reals:
    """Rows × columns: whole numbers, of which as many make a standard deviation in every column."""
    deviations = _deviations(columns, coordinates)
    varying = deviations > 0
    steps = 2.0 ** grid_bits(len(columns)) - 1
    scales = np.zeros(len(columns))
    if varying.any():
        # The column with the least deviation reaches farthest, measured in deviations: it fills the grid.
        scales[varying] = steps * deviations[varying].min() / deviations[varying]
    points = np.empty((columns[0].rows, len(columns)))
    for number, (column, at) in enumerate(zip(columns, coordinates, strict=True)):
        points[:, number] = np.rint(_units(at, at) * scales[number])[column.codes]
    return points


def _grouped(records: Records, columns: Sequence[Coded], points: Reals, k: int) -> tuple[Whole, int]:
    """The group of each row, and how many groups there are."""
    rest = [column for name, column in records.columns.items() if name not in {each.name for each in columns}]
    order = _order(columns, rest)
    parts = [order]
    if records.rows > _DIRECT:
        blocks = _blocks(records, columns, rest, max(_BLOCK, 10 * k))
        order = order[np.argsort(blocks[order], kind="stable")]
        parts = np.split(order, np.cumsum(np.bincount(blocks))[:-1])
    groups, number = np.empty(records.rows, dtype=np.int64), 0
    for rows in parts:
        found = _of_block(points[rows], k)
        groups[rows] = found + number
        number += int(found.max()) + 1
    return groups, number


def _of_block(points: Reals, k: int) -> Whole:
    """The groups of a block; where all points are one, any will do, and there may be many of them."""
    if (points == points[0]).all():
        return np.minimum(np.arange(len(points)) // k, len(points) // k - 1)
    return mdav(points, k)


def _order(columns: Sequence[Coded], rest: Sequence[Coded]) -> Whole:
    """The rows in an order of their values alone, up to rows that are equal.

    Of rows with the same quasi-identifiers, each beginning of the list has what they differ in as often as all of them
    have, as near as can be: it is what one group may get.
    """
    mine, _ = pack([column.codes for column in columns], [column.size for column in columns])
    if not rest:
        return np.argsort(mine, kind="stable")
    others, _ = pack([column.codes for column in rest], [column.size for column in rest])
    order = np.lexsort((others, mine))
    new = (mine[order][1:] != mine[order][:-1]) | (others[order][1:] != others[order][:-1])
    starts = np.append(0, np.flatnonzero(new) + 1)
    counts = np.diff(np.append(starts, len(order)))
    due = (2 * (np.arange(len(order)) - np.repeat(starts, counts)) + 1) / (2 * np.repeat(counts, counts))
    return order[np.lexsort((others[order], due, mine[order]))]


def _blocks(records: Records, columns: Sequence[Coded], rest: Sequence[Coded], size: int) -> Whole:
    """The block of each row: `size` rows to twice as many, or more where they agree on all quasi-identifiers."""
    axes = axes_of(columns, {})
    points = points_of(records, axes, [], None)
    found = partition(points, axes, Judge(points=points, models=[KAnonymity(size)], columns={}), relaxed=True)
    return classes_of_rows(found.members, points.of_row, points.number, rest)


def _recoded(column: Coded, groups: Whole, averages: Averages) -> Recoded:
    """The cells of a column: groups that show the same are one cell."""
    places: dict[str, int] = {}
    cells = np.array([places.setdefault(label, len(places)) for label in averages.labels], dtype=np.int32)
    pairs = group([cells[groups], column.codes], [len(places), column.size]).tuples()
    starts = np.searchsorted(pairs[:, 0], np.arange(len(places) + 1))
    shown = ListedCells(name=column.name, labels=tuple(places), starts=starts, codes=pairs[:, 1].copy())
    return Recoded(codes=cells[groups], cells=shown)


def _check_release(records: Records, recoded: Mapping[str, Recoded], models: Sequence[Model]) -> None:
    """Try all models on the cells that are shown.

    Raises:
        InvalidArgument: one isn't met.
    """
    import pyarrow as pa

    columns = dict(records.columns)
    for name, each in recoded.items():
        labels = pa.array(each.cells.labels, pa.string())
        columns[name] = Coded(name=name, codes=each.codes, values=labels, has_missing=False)
    release = Records(columns=columns, rows=records.rows, missing=records.missing)
    for model in models:
        if not model.met(frequencies_of(release, list(recoded), model.sensitive)).all():
            raise InvalidArgument(
                f"groups of similar rows don't meet {model}", hint="Mondrian and the optimal search take this model"
            )


def _loss(columns: Sequence[Coded], coordinates: Sequence[Reals], shown: Sequence[Averages], groups: Whole) -> float:
    """SSE/SST, in standard deviations."""
    deviations = _deviations(columns, coordinates)
    lost = 0.0
    for column, at, averages, deviation in zip(columns, coordinates, shown, deviations.tolist(), strict=True):
        if deviation > 0:
            off = _units(at, at)[column.codes] - _units(at, averages.at)[groups]
            lost += float((off * off).sum()) / (deviation * deviation * column.rows)
    return lost / max(1, int(np.count_nonzero(deviations)))
