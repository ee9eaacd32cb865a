"""Full-domain generalisation: one level for each quasi-identifier, with a proof that it loses least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np

from discreet.anonymity.columns import Coded, Codes
from discreet.anonymity.hierarchies.ladder import Hierarchy, Ladder
from discreet.anonymity.loss.cell_losses import NCP
from discreet.anonymity.loss.loss import Levels, Loss
from discreet.anonymity.models.model import Model, real
from discreet.anonymity.records import Records
from discreet.anonymity.reduce.lattice_search import Search, search
from discreet.anonymity.reduce.lattice_table import Table, outcome_of, table_of
from discreet.anonymity.reduce.recoding import GroupedCells, Recoded, Recoding
from discreet.exact.rational import Rationalizable


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Optimum:
    """An optimal recoding and its proof.

    Args:
        recoding: of the rows.
        search: how it was found.
        table: that was searched.
        levels: that were chosen.
    """

    recoding: Recoding
    search: Search
    table: Table
    levels: Levels


def optimum(  # noqa: PLR0913 — the table, what is promised, what is minimised and how far
    records: Records,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    *,
    suppression: Rationalizable = Fraction(1, 20),
    loss: Loss | None = None,
    population: Records | None = None,
    most_nodes: int | None = None,
) -> Optimum:
    """The full-domain generalisation that loses least among all that meet the models.

    Each quasi-identifier is generalised to one level. Classes that miss a model are left out, as long as no more units
    have rows in them than the limit says. A model compares classes with the rows that are left; see `Problem.left_out`.

    Args:
        records: the table; a missing value is a value of its own.
        hierarchies: of the quasi-identifiers, one or more.
        models: one or more; every class of the release meets all of them, with the totals of the release.
        suppression: the share of units of which rows may be left out, in [0, 1]; of rows, if they aren't counted by
            unit.
        loss: what is minimised; NCP if left out.
        population: everyone the rows were drawn from, for models about a population.
        most_nodes: how many generalisations are evaluated before the best so far is taken; None to prove the optimum.

    Raises:
        InvalidArgument: no generalisation meets the models; the lattice is too large; an argument is out of range.
        SchemaMismatch: a table lacks a column, or a hierarchy lacks values of one.

    Examples:
        >>> from discreet.anonymity import read
        >>> from discreet.anonymity.hierarchies import Digits
        >>> from discreet.anonymity.models.k_anonymity import KAnonymity
        >>> table = read({"age": [42, 46, 36, 31, 73]})
        >>> found = optimum(table, {"age": Digits()}, [KAnonymity(2)], suppression=0.2)
        >>> found.search.levels, found.search.suppressed, found.search.verdict
        ({'age': 1}, 1, 'optimal: no other of the 3 generalisations loses less')
    """
    share = real(suppression, "suppression", most=1)
    chosen = NCP() if loss is None else loss
    table = table_of(records, hierarchies, models, population)
    problem = table.problem(models, chosen, floor(share * table.units))
    found = search(problem, names=list(hierarchies), loss_name=chosen.name, most_nodes=most_nodes)
    kept = outcome_of(problem, found.levels).kept([column.stored for column in table.columns])
    columns = {}
    for name, column, ladder, level in zip(hierarchies, table.columns, table.ladders, found.levels, strict=True):
        columns[name] = recoded(records.column(name), column, ladder, level)
    return Optimum(
        recoding=Recoding(columns=columns, kept=kept, precision=precision(table.ladders, found.levels)),
        search=found.search,
        table=table,
        levels=found.levels,
    )


def precision(ladders: Sequence[Ladder], levels: Levels) -> Fraction:
    """The share of precision that rows at a node lose."""
    shares = [Fraction(level, max(ladder.height, 1)) for ladder, level in zip(ladders, levels, strict=True)]
    return sum(shares, Fraction(0)) / len(shares)


def ladder_codes(own: Coded, column: Coded) -> Codes:
    """For each value of a column, its code among those that a ladder has, which a population may have added to."""
    codes = np.arange(own.size, dtype=np.int32)
    if column.size > own.size:
        codes[own.codes] = column.codes
    return codes


def recoded(own: Coded, column: Coded, ladder: Ladder, level: int) -> Recoded:
    """A column at a level of its ladder.

    Args:
        own: the column, with its own values only.
        column: the same, with the values that the ladder has.
        ladder: of `column`.
        level: of the ladder.
    """
    groups = ladder.maps[level]
    theirs = ladder_codes(own, column)
    occurring = np.unique(groups[theirs])
    place = np.zeros(ladder.groups(level) + 1, dtype=np.int32)
    place[occurring] = np.arange(len(occurring), dtype=np.int32)
    of_value = place[groups[theirs]]
    labels = tuple(ladder.labels[level][group] for group in occurring.tolist())
    same = len(labels) == own.size and bool((of_value == np.arange(own.size)).all())
    codes = own.codes if same else of_value[own.stored[:]]
    return Recoded(codes=codes, cells=GroupedCells(name=own.name, labels=labels, groups=of_value))
