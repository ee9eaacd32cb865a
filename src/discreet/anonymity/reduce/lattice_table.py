"""The table of a search: its distinct tuples, bound to ladders, and the way from a node back to rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from discreet.anonymity.classes import chosen
from discreet.anonymity.columns import Coded, Codes, Mask, Stored, Whole
from discreet.anonymity.encode import encode
from discreet.anonymity.grouping import pack
from discreet.anonymity.hierarchies.ladder import Hierarchy, Ladder
from discreet.anonymity.loss.loss import Levels, Loss
from discreet.anonymity.matching import places_of
from discreet.anonymity.models.k_anonymity import AlphaK, KAnonymity
from discreet.anonymity.models.model import Model
from discreet.anonymity.records import Records
from discreet.anonymity.reduce.lattice_problem import Problem
from discreet.anonymity.reduce.lattice_tuples import Counted, Side, Tuples, tuples_of
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
        """The problem to search: the least loss, with at most a number of units left out."""
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


_CHUNK = 1 << 16
"""Rows are looked up in pieces that fit into a processor's cache."""
_MOST = 1 << 62
"""Keys stay below this."""
_TABLE = 1 << 24
"""The most keys for which a table with an entry for each is quicker than a search among them."""
_SIEVE = 21
"""Bits of the number of a slot."""
_SPREAD = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio, made odd: products with it fall far apart, in their highest bits."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outcome:
    """A node, with the classes that are left out there.

    Args:
        levels: the node.
        ladders: of the quasi-identifiers.
        left_out: left-out classes × quasi-identifiers: their groups.
    """

    levels: Levels
    ladders: tuple[Ladder, ...]
    left_out: Codes

    def kept(self, codes: Sequence[Codes | Stored]) -> Mask:
        """Which rows, or tuples, are kept.

        Args:
            codes: of each quasi-identifier, ungeneralised.
        """
        rows = len(codes[0])
        kept = np.ones(rows, dtype=np.bool_)
        if len(self.left_out):
            among = self._among_few(self._steps()) if self._span <= _MOST else self._among_many
            for start in range(0, rows, _CHUNK):
                part = slice(start, start + _CHUNK)
                kept[part] = ~among([column[part] for column in codes])
        return kept

    @property
    def _groups(self) -> list[int]:
        """How many groups each quasi-identifier has."""
        return [max(ladder.groups(level), 1) for ladder, level in zip(self.ladders, self.levels, strict=True)]

    @property
    def _span(self) -> int:
        """How many combinations of groups there are."""
        return prod(self._groups)

    def _steps(self) -> list[Whole]:
        """For each quasi-identifier, what the group of each value adds to the key of a row."""
        maps = [ladder.maps[level].astype(np.int64) for ladder, level in zip(self.ladders, self.levels, strict=True)]
        return [groups * prod(self._groups[place + 1 :]) for place, groups in enumerate(maps)]

    def _among_few(self, steps: Sequence[Whole]) -> Callable[[Sequence[Codes]], Mask]:
        """Says which rows are in classes that are left out: by a table of all keys if it is small, else by a search."""
        scales = [prod(self._groups[place + 1 :]) for place in range(len(steps))]
        gone = np.sort(self.left_out.astype(np.int64) @ np.array(scales, dtype=np.int64))
        table, among_gone = None, _membership(gone)
        if self._span <= _TABLE:
            table = np.zeros(self._span, dtype=np.bool_)
            table[gone] = True

        def among(codes: Sequence[Codes]) -> Mask:
            keys = np.zeros(len(codes[0]), dtype=np.int64)
            for step, column in zip(steps, codes, strict=True):
                keys += step.take(column)
            return among_gone(keys) if table is None else table.take(keys)

        return among

    def _among_many(self, codes: Sequence[Codes]) -> Mask:
        """The same where there are more combinations of groups than numbers."""
        maps = [ladder.maps[level] for ladder, level in zip(self.ladders, self.levels, strict=True)]
        both = [
            np.concatenate((gone, groups[column]))
            for gone, groups, column in zip(self.left_out.T, maps, codes, strict=True)
        ]
        keys, _ = pack(both, self._groups)
        number = len(self.left_out)
        return _membership(np.sort(keys[:number]))(keys[number:])


def outcome_of(problem: Problem, levels: Levels) -> Outcome:
    """The outcome at a node: each class's cells, and what is left out of it."""
    node = problem.at(levels)
    missed = problem.left_out(node)
    groups = [node.codes(place, missed) for place in range(len(levels))]
    return Outcome(levels=levels, ladders=problem.ladders, left_out=np.stack(groups, axis=1))


def _membership(ordered: Whole) -> Callable[[Whole], Mask]:
    """Says which keys are among some ordered ones.

    A sieve lets all of those pass and few others; only what passes is searched for.
    """
    sieve = np.zeros(1 << _SIEVE, dtype=np.bool_)
    sieve[_slots(ordered)] = True

    def among(keys: Whole) -> Mask:
        found = sieve.take(_slots(keys))
        passed = np.flatnonzero(found)
        place = np.minimum(np.searchsorted(ordered, keys[passed]), len(ordered) - 1)
        found[passed] = ordered[place] == keys[passed]
        return found

    return among


def _slots(keys: Whole) -> Whole:
    """A slot of the sieve for each key, spread by multiplication."""
    return ((keys.view(np.uint64) * np.uint64(_SPREAD)) >> np.uint64(64 - _SIEVE)).view(np.int64)
