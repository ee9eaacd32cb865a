"""Local recoding: the rows that one level for all would leave out are recoded separately, again and again.

A search finds the best levels for the rows that are left, keeps the classes that meet the models there, and hands the
rest to the next round. So fewer rows are lost, and each row is at the levels of the first round that could keep it.

Rows of different rounds may look alike in the release; they are one class there. That is why models have to merge: such
a class is a union of classes that meet them.

Guarantee: the result is a function of the multiset of rows. Proof. Each round sees distinct tuples and their counts, in
an order given by their values, and leaves out whole classes. ∎
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Mask
from discreet.anonymity.hierarchies.ladder import Ladder
from discreet.anonymity.loss.loss import Levels, Loss
from discreet.anonymity.models.model import Model
from discreet.anonymity.reduce.generalisation import Optimum, precision
from discreet.anonymity.reduce.lattice_search import search
from discreet.anonymity.reduce.lattice_table import Outcome, Table, outcome_of
from discreet.anonymity.reduce.lattice_tuples import Counted
from discreet.anonymity.reduce.recoding import ListedCells, Recoded, Recoding
from discreet.errors import InvalidArgument

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
        rounds: how many at most, the first included; 1 or more.
        most_nodes: how many generalisations a round evaluates at most; None for as many as it takes.

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
    """Refuse what can't be recoded locally.

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
            "where rows have different levels, it isn't settled who a row could be in a population",
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
    """The rows that a round leaves out."""
    quasi = len(table.columns)
    gone: Mapping[str | None, Mask] = {
        name: ~outcome.kept(tuples.codes[:quasi]) for name, tuples in table.tuples.items()
    }
    return table.only(gone)


def _recoding(table: Table, outcomes: Sequence[Outcome], round_of: Codes, counts: Sequence[int]) -> Recoding:
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
