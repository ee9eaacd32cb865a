"""Generalisation to levels of ladders, small classes left out: full-domain, with a proof of optimality, and local.

Full-domain generalisation takes one level for each quasi-identifier. Local recoding takes what that leaves out and
recodes it by itself, at other levels, again and again. A search finds the best levels for the rows that are left, keeps
the classes that meet the models there, and hands the rest to the next round. So fewer rows are lost, and each row is at
the levels of the first round that could keep it.

Rows of different rounds may look alike in the release; they are one class there. That is why models have to merge: such
a class is a union of classes that meet them.

Guarantee: the result is a function of the multiset of rows. Proof. Each round sees distinct tuples and their counts, in
an order given by their values, and leaves out whole classes. ∎
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Mask
from discreet.anonymity.hierarchies.ladder import Hierarchy, Ladder
from discreet.anonymity.loss.cell_losses import NCP
from discreet.anonymity.loss.loss import Levels, Loss
from discreet.anonymity.models.model import Model, real
from discreet.anonymity.records import Records
from discreet.anonymity.reduce.lattice_search import Search, search
from discreet.anonymity.reduce.lattice_table import Outcome, Table, outcome_of, table_of
from discreet.anonymity.reduce.lattice_tuples import Counted
from discreet.anonymity.reduce.recoding import GroupedCells, ListedCells, Recoded, Recoding
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable

# ── One level for each quasi-identifier ───────────────────────────────────────────────────────────────────────────────


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
    have rows in them than the limit says. What a model compares classes with is what is left; see `Problem.left_out`.

    Args:
        records: the table; a missing value is a value of its own.
        hierarchies: of the quasi-identifiers, one or more.
        models: one or more; every class of the release meets all of them, with the totals of the release.
        suppression: the share of units of which rows may be left out, in [0, 1]; of rows, if they aren't counted by
            unit.
        loss: what is minimised; NCP if left out.
        population: everybody whom the rows were drawn from, for models about a population.
        most_nodes: after evaluating so many generalisations the best so far is returned; None to prove the optimum.

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
    """Of each value of a column, its code among those that a ladder has, which a population may have added to."""
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


# ── In rounds ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_ROUNDS = 30
"""In the last one as many rows as possible are kept, at whatever levels that takes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LocalRecoding:
    """A recoding in rounds.

    Args:
        recoding: of the rows.
        rounds: the levels of each round, and how many rows it kept; the first is the full-domain optimum.
    """

    recoding: Recoding
    rounds: tuple[tuple[Levels, int], ...]


def recode_locally(
    first: Optimum,
    models: Sequence[Model],
    loss: Loss,
    *,
    rounds: int = _ROUNDS,
    most_nodes: int | None = None,
) -> LocalRecoding:
    """Recode the rows that an optimum leaves out.

    Args:
        first: a full-domain optimum of a table, without a population.
        models: that it meets.
        loss: that every round minimises among the rows it is given.
        rounds: how many at the most, the first included; 1 or more.
        most_nodes: how many generalisations a round evaluates at the most; None for as many as it takes.

    Raises:
        InvalidArgument: a model doesn't hold for unions, compares classes with the whole table, or is about a
            population; `rounds` is below 1.

    Examples:
        >>> from discreet.anonymity import read
        >>> from discreet.anonymity.hierarchies import Digits
        >>> from discreet.anonymity.loss import NCP
        >>> from discreet.anonymity.models.k_anonymity import KAnonymity
        >>> from discreet.anonymity.reduce.generalisation import optimum
        >>> table = read({"age": [21, 21, 21, 44, 47, 48, 63, 70]})
        >>> first = optimum(table, {"age": Digits()}, [KAnonymity(2)], suppression=1)
        >>> first.search.suppressed
        2
        >>> found = recode_locally(first, [KAnonymity(2)], NCP())
        >>> found.rounds, found.recoding.suppressed
        ((((1,), 6), ((2,), 2)), 0)
    """
    _check(models, rounds, first.table.counted)
    codes = [column.codes for column in first.table.columns]
    round_of = np.where(first.recoding.kept, 0, -1).astype(np.int32)
    outcomes = [outcome_of(first.table.problem(models, loss, first.search.most), first.levels)]
    table = _rest(first.table, outcomes[0])
    while len(outcomes) < rounds and table.units:
        outcome = _round(table, models, loss, most_nodes, last=len(outcomes) == rounds - 1)
        if outcome is None:
            break
        left = np.flatnonzero(round_of < 0)
        round_of[left[outcome.kept([column[left] for column in codes])]] = len(outcomes)
        outcomes.append(outcome)
        table = _rest(table, outcome)
    counts = np.bincount(round_of[round_of >= 0], minlength=len(outcomes))
    return LocalRecoding(
        recoding=_recoding(first.table, outcomes, round_of, counts.tolist()),
        rounds=tuple((outcome.levels, count) for outcome, count in zip(outcomes, counts.tolist(), strict=True)),
    )


def _check(models: Sequence[Model], rounds: int, counted: Counted) -> None:
    """What can't be recoded locally.

    Raises:
        InvalidArgument: see `recode_locally`.
    """
    if rounds < 1:
        raise InvalidArgument("local recoding takes at least one round")
    for model in models:
        if not model.merges or (counted.by_unit and model.sensitive is not None):
            raise InvalidArgument(
                f"rows of different rounds may look alike, and {model} needn't hold for them together",
                hint="leave out local_recoding, or the model",
            )
        if model.relative:
            raise InvalidArgument(
                f"{model} is about the whole release, which every round adds to", hint="leave out local_recoding"
            )
    if counted.population:
        raise InvalidArgument(
            "whom a row could be in a population isn't settled where rows have different levels",
            hint="leave out local_recoding, or the models about a population",
        )


def _round(table: Table, models: Sequence[Model], loss: Loss, most_nodes: int | None, *, last: bool) -> Outcome | None:
    """The best levels for what is left, keeping at least one class; None if there are none that keep any."""
    most = table.units - 1
    if last:  # the highest levels leave out fewest, of models that grow at least
        problem = table.problem(models, loss, most)
        top = problem.at(problem.heights)
        most = min(most, top.within(problem.left_out(top)))
    problem = table.problem(models, loss, most)
    names = [column.name for column in table.columns]
    try:
        found = search(problem, names=names, loss_name=loss.name, most_nodes=most_nodes)
    except InvalidArgument:
        return None
    return outcome_of(problem, found.levels)


def _rest(table: Table, outcome: Outcome) -> Table:
    """What a round leaves out."""
    quasi = len(table.columns)
    gone: Mapping[str | None, Mask] = {
        name: ~outcome.kept(tuples.codes[:quasi]) for name, tuples in table.tuples.items()
    }
    return table.only(gone)


def _recoding(table: Table, outcomes: Sequence[Outcome], round_of: Codes, counts: Sequence[int]) -> Recoding:
    """All rounds as one recoding."""
    columns = {}
    for place, (column, ladder) in enumerate(zip(table.columns, table.ladders, strict=True)):
        levels = [outcome.levels[place] for outcome in outcomes]
        columns[column.name] = _column(column, ladder, levels, round_of)
    kept = sum(counts)
    lost = [precision(table.ladders, outcome.levels) * count for outcome, count in zip(outcomes, counts, strict=True)]
    return Recoding(
        columns=columns, kept=round_of >= 0, precision=sum(lost, Fraction(0)) / kept if kept else Fraction(0)
    )


def _column(column: Coded, ladder: Ladder, levels: Sequence[int], round_of: Codes) -> Recoded:
    """One column: each row at the level of its round; rows without one count to the last."""
    used = sorted(set(levels))
    offsets = np.concatenate(([0], np.cumsum([ladder.groups(level) for level in used]))).astype(np.int32)
    cells = ListedCells.of(
        column.name,
        [label for level in used for label in ladder.labels[level]],
        [
            np.flatnonzero(ladder.maps[level] == group).astype(np.int32)
            for level in used
            for group in range(ladder.groups(level))
        ],
    )
    codes = np.empty(column.rows, dtype=np.int32)
    for number, level in enumerate(levels):
        rows = (round_of == number) | (round_of < 0) if number == len(levels) - 1 else round_of == number
        codes[rows] = ladder.maps[level][column.codes[rows]] + offsets[used.index(level)]
    return Recoded(codes=codes, cells=cells)
