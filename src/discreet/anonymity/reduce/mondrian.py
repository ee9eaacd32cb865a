"""Mondrian: ranges of quasi-identifiers that are as narrow as the models allow, other ranges for other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymity.classes import chosen, classes_of
from discreet.anonymity.columns import Codes
from discreet.anonymity.encode import encode
from discreet.anonymity.grouping import group
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.models.delta_presence import DeltaPresence
from discreet.anonymity.models.model import Model
from discreet.anonymity.records import Records
from discreet.anonymity.reduce.axes import Axis, axes_of
from discreet.anonymity.reduce.classes_of_rows import classes_of_rows
from discreet.anonymity.reduce.front import Members, everything
from discreet.anonymity.reduce.judge import Judge
from discreet.anonymity.reduce.lattice_table import asked_size
from discreet.anonymity.reduce.partitioning import Partition, partition
from discreet.anonymity.reduce.points import Points, points_of
from discreet.anonymity.reduce.range_labels import shown
from discreet.anonymity.reduce.recoding import Cells, Recoded, Recoding, recoding_of_nothing
from discreet.anonymity.sharing import Sharing, sharing_of
from discreet.anonymity.words import Noun
from discreet.errors import InvalidArgument
from discreet.exact.rational import rational


def mondrian(  # noqa: PLR0913 — what is to be protected, how, and three choices that all have a default
    records: Records,
    quasi_identifiers: Sequence[str],
    models: Sequence[Model],
    *,
    relaxed: bool = False,
    ladders: Mapping[str, Ladder] | None = None,
    population: Records | None = None,
) -> Recoding:
    """Replace quasi-identifiers by ranges, so that each class of rows with the same ranges meets the models.

    All rows are one class at first. A class is cut in two along its widest quasi-identifier, at its median, as long as
    both halves meet all models; if they don't, along the next widest. For each, only the most balanced cut is tried:
    for k-anonymity, cut strictly and without ladders, that misses none; for other models an uneven one may be. No row
    is left out, and a table without rows stays one. The result depends on which rows there are, not on their order.

    A strict cut keeps equal values together, so that ranges of different classes don't overlap in all columns. A
    relaxed cut makes halves of the same size also where many rows share the median: classes are smaller, more alike in
    size, and may overlap. Rows with the same quasi-identifiers may then have different cells.

    Missing values are values of their own here, whatever the table takes them for: none of the cells is missing in the
    release, so nothing in it could be a wildcard.

    Without a ladder a range ends at the least and the greatest value of its class where k people of the table share
    these, for the largest k that is asked for; else it reaches outwards to a round number, a month, or first letters,
    as `range_labels.py` says: no end is a value that fewer people have. With a ladder only its labels are shown.

    Args:
        records: the table.
        quasi_identifiers: one or more of its columns.
        models: one or more; each class of the release meets all of them.
        relaxed: whether equal values may come apart.
        ladders: by name, for quasi-identifiers whose cells are to be groups of a hierarchy. Their values are cut in an
            order that keeps groups together, and a range is shown as the smallest group that holds it.
        population: everyone the rows were drawn from, for models about a population; strict cuts only.

    Raises:
        InvalidArgument: there is no quasi-identifier or no model; a ladder fits no quasi-identifier; a column
            is quasi-identifying and sensitive; the whole table, taken as one class, doesn't meet a model; or a model
            bounds presence from below and the population has values that the table lacks.
        SchemaMismatch: a table lacks a column, or the population holds values of another kind in it.

    Source: LeFevre, DeWitt, Ramakrishnan (2006), "Mondrian Multidimensional K-Anonymity", the greedy
    partitioning algorithm.

    Examples:
        >>> from discreet.anonymity import read
        >>> from discreet.anonymity.models.k_anonymity import KAnonymity
        >>> table = read({"age": [42, 52, 36, 24, 73], "zip": ["1", "2", "1", "1", "2"]})
        >>> found = mondrian(table, ["age", "zip"], [KAnonymity(2)])
        >>> [found.columns["age"].cells.labels[cell] for cell in found.columns["age"].codes]
        ['40–99', '40–99', '20–39', '20–39', '40–99']
    """
    _check(models, relaxed=relaxed, ladders=bool(ladders), population=population is not None)
    axes = axes_of(chosen(records, quasi_identifiers), ladders or {})
    return _cut(records, axes, models, population, relaxed=relaxed).recoding


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Beside:
    """A table, recoded, and its population as the same release would show it.

    Args:
        recoding: of the table.
        population: quasi-identifiers as texts: of each row the ranges that it is in. Rows that have a value which the
            table lacks are in none, and are left out.
    """

    recoding: Recoding
    population: Records


def mondrian_beside(
    records: Records, quasi_identifiers: Sequence[str], models: Sequence[Model], population: Records
) -> Beside:
    """As `mondrian` with a population, together with what becomes of the population: to check the release against it.

    Args:
        records: the table.
        quasi_identifiers: one or more columns that both have.
        models: one or more.
        population: everyone the rows were drawn from.

    Raises:
        InvalidArgument: as `mondrian`.
        SchemaMismatch: one of them lacks a column.

    Examples:
        >>> from discreet.anonymity import read
        >>> from discreet.anonymity.models.k_anonymity import KMap
        >>> town = read({"age": [20, 20, 23, 30, 35, 35]})
        >>> found = mondrian_beside(read({"age": [20, 23, 35]}), ["age"], [KMap(2)], town)
        >>> found.population.to_arrow()["age"].to_pylist()
        ['20', '20', '23–35', '23–35', '23–35']
    """
    _check(models, relaxed=False, ladders=False, population=True)
    return _cut(records, axes_of(chosen(records, quasi_identifiers), {}), models, population, relaxed=False)


def _cut(
    records: Records, axes: Sequence[Axis], models: Sequence[Model], population: Records | None, *, relaxed: bool
) -> Beside:
    """Points, classes, cells, rows.

    Raises:
        InvalidArgument: see `mondrian`.
    """
    sensitive = sorted({model.sensitive for model in models if model.sensitive is not None})
    if not records.rows:
        names = [axis.column.name for axis in axes]
        return Beside(recoding=recoding_of_nothing(names), population=records.only(names))
    points = points_of(records, axes, sensitive, population)
    _check_units(records, axes, models, population, relaxed=relaxed)
    if (points.of_person < 0).any():
        _check_below(models)
    judge = Judge(points=points, models=models, columns={name: records.column(name) for name in sensitive})
    unit = () if records.units is None else records.units.names
    for model in judge.failing(everything(points)):
        raise InvalidArgument(
            f"the whole table, taken as one class, doesn't meet {model}, so ranges can't help",
            hint=f"ask for less: it has {Noun.of(unit).counted(records.counted)}",
        )
    found = partition(points, axes, judge, relaxed=relaxed)
    shared = [sharing_of(records, axis.column, asked_size(models)) for axis in axes]
    seen = [_shown(axis, found.low[i], found.high[i], shared[i]) for i, axis in enumerate(axes)]
    _check_release(seen, found.members, judge)
    if population is not None and any(_is_wider(*each, found, i) for i, each in enumerate(seen)):
        _check_below(models)
    known = {*sensitive, *(axis.column.name for axis in axes)}
    rest = [column for name, column in records.columns.items() if name not in known]
    of_row = classes_of_rows(found.members, points.of_row, points.number, rest)
    recoded = {cells.name: Recoded(codes=codes[of_row], cells=cells) for cells, codes in seen}
    return Beside(
        recoding=Recoding(columns=recoded, kept=np.ones(records.rows, dtype=np.bool_)),
        population=_people(seen, found.members, points),
    )


def _check_below(models: Sequence[Model]) -> None:
    """No model asks for people who are absent, where some of them aren't counted.

    They have values between those of the table, or in what rounding adds to a range, so ranges hold them that don't
    count them. Too few people err on the safe side for every other model.

    Raises:
        InvalidArgument: a model does.
    """
    for model in models:
        if isinstance(model, DeltaPresence) and rational(model.lo, "lo") > 0:
            raise InvalidArgument(
                f"the lower end of {model} can't be checked: the population has values that the table lacks, or ranges "
                "are rounded, so that people are in several",
                hint="take 0 for it, or the optimal search, which knows the population's values",
            )


def _check_units(
    records: Records, axes: Sequence[Axis], models: Sequence[Model], population: Records | None, *, relaxed: bool
) -> None:
    """Refuse what can't be had where rows are counted by unit: cuts part the rows of a unit, which then counts twice.

    Raises:
        InvalidArgument: a model is about a population; or compares classes with the whole table, though units may be in
            several classes.
    """
    hint = "take the optimal search"
    if population is not None and not (records.units is None and population.units is None):
        raise InvalidArgument("ranges of a population can't be counted by unit", hint=hint)
    if records.units is None:
        return
    members = classes_of(records, [axis.column.name for axis in axes]).members
    apart = relaxed or (members is not None and members.apart)
    for model in models:
        if model.relative and apart:
            raise InvalidArgument(f"{model} can't be kept by ranges where a unit's rows may be in several", hint=hint)


def _people(seen: Sequence[tuple[Cells, Codes]], members: Members, points: Points) -> Records:
    """The rows of the population that are in a range, as the release would show them."""
    import pyarrow as pa

    inside = points.of_person[points.of_person >= 0]
    classes = classes_of_rows(members, inside, points.number, []) if len(inside) else inside
    columns = {}
    for cells, codes in seen:
        labels = pa.array(cells.labels, pa.string())
        columns[cells.name] = encode(cells.name, pa.DictionaryArray.from_arrays(codes[classes], labels))
    return Records(columns=columns, rows=len(inside))


def _check(models: Sequence[Model], *, relaxed: bool, ladders: bool, population: bool) -> None:
    """Refuse what can't be had by cuts.

    Raises:
        InvalidArgument: see `mondrian`.
    """
    if not models:
        raise InvalidArgument("Mondrian needs a model: without one it would cut until every row is a class")
    if population and (relaxed or ladders):
        raise InvalidArgument(
            "models about a population need ranges that don't overlap: strict cuts, and no hierarchies",
            hint="the optimal search takes hierarchies and a population",
        )


def _shown(axis: Axis, low: Codes, high: Codes, sharing: Sharing) -> tuple[Cells, Codes]:
    """The cells of a quasi-identifier, and the cell of each class."""
    ranges = group([low, high], [axis.column.size, axis.column.size])
    of_class, ends = ranges.of_row(), ranges.tuples()
    cells, of_range = shown(axis, ends[:, 0].copy(), ends[:, 1].copy(), sharing)
    return cells, of_range[of_class].astype(np.int32)


def _is_wider(cells: Cells, codes: Codes, found: Partition, axis: int) -> bool:
    """Whether a cell of an axis stands for more values than its class has between its least and its greatest."""
    low, high = cells.ends()
    return bool((low[codes] < found.low[axis]).any() or (high[codes] > found.high[axis]).any())


def _check_release(seen: Sequence[tuple[Cells, Codes]], members: Members, judge: Judge) -> None:
    """Try the models once more, on classes as the release shows them: those that look alike are one.

    Raises:
        InvalidArgument: a model isn't met by the union of classes that meet it.
    """
    alike = group([codes for _, codes in seen], [len(cells.labels) for cells, _ in seen])
    owners = alike.of_row()[members.owners()]
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(alike.number + 1))
    for model in judge.failing(Members(points=members.points[order], rows=members.rows[order], starts=starts)):
        raise InvalidArgument(
            f"classes that meet {model} look alike in the release, and don't meet it together",
            hint="cut strictly, without hierarchies",
        )
