"""The table of a search: its distinct tuples, bound to ladders. Rows are grouped once, and never looked at again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.anonymity.classes.classes import chosen
from discreet.anonymity.hierarchies.hierarchy import Hierarchy
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.loss import Loss
from discreet.anonymity.models.alpha_k import AlphaK
from discreet.anonymity.models.k_anonymity import KAnonymity
from discreet.anonymity.models.model import Model
from discreet.anonymity.records.column import Coded, Codes, Mask, Whole
from discreet.anonymity.records.encode import encode
from discreet.anonymity.records.grouping import group, grouped
from discreet.anonymity.records.matching import places_of
from discreet.anonymity.records.records import Records
from discreet.anonymity.reduce.lattice.keys import Roller
from discreet.anonymity.reduce.lattice.problem import Problem
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tuples:
    """Distinct tuples with how often they occur.

    Args:
        codes: column by column: the quasi-identifiers, and behind them the sensitive attribute if there is one.
        weights: of each tuple, its rows; behind that, those of the population, if there is one.
    """

    codes: tuple[Codes, ...]
    weights: tuple[Whole, ...]

    def only(self, which: Mask) -> Tuples:
        """Some of them."""
        return Tuples(
            codes=tuple(column[which] for column in self.codes),
            weights=tuple(weight[which] for weight in self.weights),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Table:
    """A table, or a part of one, ready to be searched.

    Args:
        columns: the quasi-identifiers of the whole table, coded as their ladders have it: with the values of the
            population, if there is one.
        ladders: of each.
        sensitive: the attributes that models are about, of the whole table.
        tuples: sensitive attribute → tuples that hold it; under None, which is first, those without one, if there is a
            population or there are no attributes.
    """

    columns: tuple[Coded, ...]
    ladders: tuple[Ladder, ...]
    sensitive: Mapping[str, Coded]
    tuples: Mapping[str | None, Tuples]

    @property
    def rows(self) -> int:
        """How many rows the table, or the part of it, has."""
        return int(next(iter(self.tuples.values())).weights[0].sum())

    def problem(self, models: Sequence[Model], loss: Loss, most: int) -> Problem:
        """What to search for: the least loss with at most so many rows left out."""
        first = next(iter(self.tuples.values()))
        counts = [
            np.bincount(codes, first.weights[0], minlength=column.size).astype(np.int64)
            for codes, column in zip(first.codes, self.columns, strict=False)
        ]
        keys = {
            name: Roller(self.ladders, 0 if name is None else max(self.sensitive[name].size, 1)).bottom(
                tuples.codes, tuples.weights
            )
            for name, tuples in self.tuples.items()
        }
        return Problem(
            keys=keys,
            ladders=self.ladders,
            sensitive=dict(self.sensitive),
            models=models,
            meter=loss.meter(self.columns, self.ladders, counts, asked_size(models)),
            rows=self.rows,
            most=most,
        )

    def only(self, which: Mapping[str | None, Mask]) -> Table:
        """A part of the table: of each of `tuples`, which stay."""
        return replace(self, tuples={name: tuples.only(which[name]) for name, tuples in self.tuples.items()})


def table_of(
    records: Records,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    population: Records | None = None,
) -> Table:
    """Group a table and bind it to hierarchies.

    Args:
        records: the table.
        hierarchies: of each quasi-identifier; one or more.
        models: whose sensitive attributes are needed.
        population: with the same quasi-identifiers; None if no model asks for it.

    Raises:
        SchemaMismatch: a table lacks a column, or a hierarchy lacks values of one.
        InvalidArgument: a column is quasi-identifying and sensitive.
    """
    own = chosen(records, list(hierarchies))
    names = sorted({model.sensitive for model in models if model.sensitive is not None})
    sensitive = {name: records.column(name) for name in names}
    for name in names:
        if name in hierarchies:
            raise InvalidArgument(f"the column {name!r} can't be both quasi-identifying and sensitive")
    if population is None:
        columns, others = own, None
    else:
        both = [_together(column, population.column(column.name)) for column in own]
        columns, others = tuple(mine for mine, _ in both), tuple(theirs for _, theirs in both)
    tuples: dict[str | None, Tuples] = {}
    if others is not None or not names:
        tuples[None] = _counted(columns, others)
    for name in names:
        tuples[name] = _counted((*columns, sensitive[name]), None)
    ladders = tuple(hierarchies[column.name].ladder(column) for column in columns)
    return Table(columns=columns, ladders=ladders, sensitive=sensitive, tuples=tuples)


def asked_size(models: Sequence[Model]) -> int:
    """The largest class size that models ask for; 1 if none does."""
    return max((model.k for model in models if isinstance(model, (KAnonymity, AlphaK))), default=1)


def _counted(columns: Sequence[Coded], others: Sequence[Coded] | None) -> Tuples:
    """The tuples of some columns, with those of a population."""
    if others is None:
        found = grouped(columns)
        weights: tuple[Whole, ...] = (found.counts,)
    else:
        both = [np.concatenate((mine.codes, theirs.codes)) for mine, theirs in zip(columns, others, strict=True)]
        found = group(both, [column.size for column in columns])
        rows, of_row = columns[0].rows, found.of_row()
        mine = np.bincount(of_row[:rows], minlength=found.number).astype(np.int64)
        weights = (mine, found.counts - mine)
    codes = found.tuples()
    return Tuples(codes=tuple(np.ascontiguousarray(codes[:, place]) for place in range(len(columns))), weights=weights)


def _together(column: Coded, other: Coded) -> tuple[Coded, Coded]:
    """A column and that of a population, with the values of both.

    Raises:
        SchemaMismatch: one holds numbers and the other texts, say.
        InvalidArgument: there is no kind of values that holds those of both.
    """
    import pyarrow as pa

    places_of(column, other)  # refuses numbers beside texts, of which none would match
    schemas = [pa.schema([(column.name, each.values.type)]) for each in (column, other)]
    try:
        kind = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
        values = [each.values.cast(kind) for each in (column, other)]
    except pa.ArrowException:
        raise InvalidArgument(
            f"the column {column.name!r} holds {column.values.type}, but that of the population {other.values.type}",
            hint="store it alike in both",
        ) from None
    joint = encode(column.name, pa.concat_arrays(values))
    mine, theirs = np.split(joint.codes, [column.size])
    return _recoded(joint, mine[column.codes]), _recoded(joint, theirs[other.codes])


def _recoded(joint: Coded, codes: Codes) -> Coded:
    """A column of these rows, with all values, of which it may lack some."""
    return Coded(name=joint.name, codes=codes, values=joint.values, has_missing=joint.has_missing)
