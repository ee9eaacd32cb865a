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
from discreet.anonymity.records.column import Coded, Codes, Mask
from discreet.anonymity.records.encode import encode, places_of
from discreet.anonymity.records.records import Records
from discreet.anonymity.reduce.lattice.problem import Problem
from discreet.anonymity.reduce.lattice.tuples import Counted, Side, Tuples, tuples_of
from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Table:
    """A table, or a part of one, ready to be searched.

    Args:
        columns: the quasi-identifiers of the whole table, coded as their ladders have it: with the values of the
            population, if there is one.
        ladders: of each.
        sensitive: the attributes that models are about, of the whole table.
        tuples: sensitive attribute → tuples that hold it; under None, which is first, those without one, if there is a
            population, rows are counted by unit, or there are no attributes.
        counted: what their weights count.
    """

    columns: tuple[Coded, ...]
    ladders: tuple[Ladder, ...]
    sensitive: Mapping[str, Coded]
    tuples: Mapping[str | None, Tuples]
    counted: Counted

    @property
    def units(self) -> int:
        """How many units the table, or the part of it, has: rows, if they aren't counted by unit."""
        first = next(iter(self.tuples.values()))
        return self.counted.distinct(first.weights, first.codes[-1] if self.counted.codes else None)

    def problem(self, models: Sequence[Model], loss: Loss, most: int) -> Problem:
        """What to search for: the least loss with at most so many units left out."""
        first = next(iter(self.tuples.values()))
        counts = [
            np.bincount(codes, first.weights[0], minlength=column.size).astype(np.int64)
            for codes, column in zip(first.codes, self.columns, strict=False)
        ]
        return Problem(
            tuples=self.tuples,
            ladders=self.ladders,
            sensitive=dict(self.sensitive),
            counted=self.counted,
            models=models,
            meter=loss.meter(self.columns, self.ladders, counts, asked_size(models)),
            units=self.units,
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
    ladders = tuple(hierarchies[column.name].ladder(column) for column in columns)
    people = None if population is None or others is None else Side(columns=others, units=population.units)
    tuples, counted = tuples_of(Side(columns=columns, units=records.units), people, sensitive)
    return Table(columns=columns, ladders=ladders, sensitive=sensitive, tuples=tuples, counted=counted)


def asked_size(models: Sequence[Model]) -> int:
    """The largest class size that models ask for; 1 if none does."""
    return max((model.k for model in models if isinstance(model, (KAnonymity, AlphaK))), default=1)


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
