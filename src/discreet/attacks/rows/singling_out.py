"""Singling out: a predicate that exactly one person of the data meets, found by what was released.

Rows that were published have classes, which predicates are made of. Answers are asked for counts of ever smaller
ranges: if these are exact, halving leads to a range with one person in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from discreet.anonymity.columns import Mask, Reals, Whole
from discreet.anonymity.grouping import distinct, group
from discreet.anonymity.records import Records, read
from discreet.attacks.attack_result import AttackResult, Guess, surest
from discreet.attacks.naming import shown
from discreet.attacks.people import of_units, refuse_rows
from discreet.attacks.rows.halving import axes_of, halve
from discreet.attacks.rows.nearness import numbers
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.candidates import expand, summed
from discreet.attacks.targets.rows import Candidates, Rows, paired
from discreet.errors import InvalidArgument, NotTried
from discreet.hints import Hint
from discreet.noise import uniform

_UNIT = 1 << 53
_FITTING = 0.5  # all rows of a release made of classes are like someone's; hardly any of noise or synthetic rows are
_EXTRA = 4  # halvings beyond log2(n): predicates of weight about 1/(16n), so that chance isn't at its best


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SinglingOutResult(AttackResult):
    """How often a predicate isolates one person: a row, or, where the data is read by unit, all that meet it are one's.

    `success` is the share of predicates that exactly one person of the data meets; `baseline` that of the same
    predicates among as many people who weren't in the data: what they isolate there they isolate by chance.

    Args:
        people: how many people the data has.
        weight: mean share of the population that a predicate is met by, as measured on those who aren't in the data;
            None where there are none.
        ceiling: the most that chance can do: the probability (1 − 1/n)^(n−1), about 37 %, that a predicate of weight
            1/n isolates one of n people, whatever it says.
        expected: against rows, the mean over classes of (1 − 1/k)^(k−1) for a class of k people whose rows differ, or
            what it is if some have several rows in the class; None against answers.
        asked: questions answered per predicate; 0 against rows. What was refused after these is decided by coins.
    """

    people: int
    weight: float | None
    ceiling: float
    expected: float | None
    asked: float


def singling_out(
    release: object | Callable[[], Answering],
    data: object,
    *,
    fresh: object | None = None,
    on: Sequence[str] | None = None,
    trials: int = 1_000,
) -> SinglingOutResult:
    """Make predicates from a release, and count those that isolate a row.

    Against rows, a predicate is: "is in the class of a released row, drawn at random, and a random function of the
    record is below 1/k", for a class of k people. If they have one record each, and these differ, it isolates one
    with probability (1 − 1/k)^(k−1), above 37 %; and its weight is small as far as the class says more than chance
    would.
    Against answers, ranges are halved, see `halve`. Exact counts lead to one row; noise leads astray.

    The legal notion, and the mathematical one, ask whether a predicate of small weight isolates oftener than chance.
    So the same predicates are tried on fresh people; where a release is harmless, they isolate as often there.

    Args:
        release: published rows (a table, an `Anonymized`, or `Rows`); or a function that gives `Answers` with an
            unspent account, called once for each predicate.
        data: the rows that were released, before anything was done to them.
        fresh: as many other people of the same population, who weren't released, or more; None if there are none.
            Answers need twice as many: half of them are what an attacker knows of the population.
        on: the columns by which a class is known, or the ranges are made; all that release and data have if left out.
        trials: how many predicates; 1 or more.

    Raises:
        InvalidArgument: no trials, no rows, no columns, or answers and nobody fresh; or answers that count rows, and
            people with several.
        NotTried: not one question about a predicate was answered, so that coins alone would make it.
        SchemaMismatch: a table lacks a column.

    Source: Cohen, Nissim (2020), "Towards formalizing the GDPR's notion of singling out", the
    definition of predicate singling out, its baseline, and the attack on k-anonymity.

    Examples:
        >>> people = {"age": [21, 25, 28, 34, 35, 39, 41, 48]}
        >>> found = singling_out(people, people, trials=10)
        >>> found.success, round(found.ceiling, 2)
        (1.0, 0.39)
    """
    records, others = read(data), None if fresh is None else read(fresh)
    number = records.counted
    if trials < 1 or not number:
        raise InvalidArgument("singling out needs one or more trials, and a row")
    if others is not None and others.counted < number * (2 if callable(release) else 1):
        raise InvalidArgument(
            "too few fresh people to compare with", hint="as many as in the data; for answers twice as many"
        )
    if callable(release):
        if others is None:
            raise InvalidArgument("an attacker on answers must know the population", hint="fresh=…, other people")
        tried = _by_answers(release, (records, others), on, trials)
    else:
        rows = Rows.of(release, original=records)
        tried = _by_rows(rows, (records, None if others is None else of_units(others, np.arange(number))), on, trials)
    measured = tried.outside is not None
    ceiling = float((1 - 1 / number) ** (number - 1))
    return SinglingOutResult(
        attack="singling out",
        against=tried.against,
        tried=trials,
        success=float((tried.inside == 1).mean()),
        baseline=float((tried.outside == 1).mean()) if tried.outside is not None else ceiling,
        baseline_is=(
            "the same predicate among people who weren't in the data" if measured else "the best predicate without data"
        ),
        guesses=surest(tried.guesses),
        people=number,
        weight=tried.weight,
        ceiling=ceiling,
        expected=tried.expected,
        asked=tried.asked,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Tried:
    """The outcome of the predicates.

    Args:
        against: what was attacked.
        inside: for each predicate, how many people of the data meet it.
        outside: of each, how many fresh people; None if there are none.
        weight: mean share of fresh people; None if there are none.
        expected: see the result.
        asked: see the result.
        guesses: what some of them say.
    """

    against: str
    inside: Whole
    outside: Whole | None
    weight: float | None
    expected: float | None
    asked: float
    guesses: tuple[Guess, ...]


def _by_rows(rows: Rows, tables: tuple[Records, Records | None], on: Sequence[str] | None, trials: int) -> _Tried:
    """Predicates of a class and a random function."""
    data, fresh = tables
    names = tuple(n for n in data.names if n in rows.records.names) if on is None else tuple(on)
    paired(names)
    found = rows.candidates(data, names)
    drawn = found.of_row[uniform(max(rows.records.rows, 1), trials)]
    sizes = found.sizes[drawn]
    if np.mean(_in_classes(found, drawn) > 0) < _FITTING:
        raise NotTried(
            "no one meets a predicate of all columns: most released rows match no one's in the data",
            hint=Hint(
                "predicates(release, original, control), of a few columns each", cli="--original FILE --control FILE"
            ),
        )
    inside = _met(found, data, drawn, sizes)
    outside, weight = None, None
    if fresh is not None:
        there = rows.candidates(fresh, names)
        outside = _met(there, fresh, drawn, sizes)
        met = _in_classes(there, drawn) / sizes if fresh.units is None else outside
        weight = float(met.mean() / max(fresh.counted, 1))
    belief = _isolating(found)[drawn]
    shown_trials = np.argsort(-belief, kind="stable")[:20]
    first_row = np.zeros(len(found.sizes), dtype=np.int64)
    first_row[found.of_row] = np.arange(rows.records.rows)
    one = "row" if rows.records.units is None else "unit"
    guesses = [
        Guess(
            who=_class_words(rows, names, int(first_row[drawn[trial]])),
            what=f"one {one} of them" if sizes[trial] == 1 else f"one {one} of them has a hash below 1/{sizes[trial]}",
            confidence=float(belief[trial]),
            right=bool(inside[trial] == 1),
        )
        for trial in shown_trials
    ]
    return _Tried(
        against=rows.name,
        inside=inside,
        outside=outside,
        weight=weight,
        expected=float(belief.mean()),
        asked=0.0,
        guesses=tuple(guesses),
    )


def _met(found: Candidates, table: Records, drawn: Whole, sizes: Whole) -> Whole:
    """For each predicate, how many people of a table meet it: a row fits the class, and its hash is below 1/size.

    A random function gives equal records equal numbers, so it is drawn once for each trial and different record.
    """
    starts, people = _people_by_class(found)
    trial, place = expand(starts, drawn)
    records = group([column.codes for column in table.columns.values()], [c.size for c in table.columns.values()])
    same = records.of_row()[people[place]]
    keys, of_pair = np.unique(trial * max(records.number, 1) + same, return_inverse=True)
    hashes: Whole = uniform(_UNIT, len(keys))
    thresholds = _UNIT // sizes[keys // max(records.number, 1)]
    hit: Mask = (hashes < thresholds)[of_pair]
    owners = np.arange(table.rows) if table.units is None else table.units.codes.astype(np.int64)
    met = distinct(trial[hit] * max(table.counted, 1) + owners[people[place[hit]]]) // max(table.counted, 1)
    return np.bincount(met, minlength=len(drawn)).astype(np.int64)


def _isolating(found: Candidates) -> Reals:
    """For each class, how likely its predicate isolates a unit, if its rows differ.

    Of r rows, m of them one unit's, each is hit with probability 1/k. That unit alone is hit with probability
    (1 − q^m)·q^(r − m), where q = 1 − 1/k. For k units with one row each, this adds up to q^(k − 1).
    """
    classes = len(found.sizes)
    if found.whose is None:
        return np.asarray((1 - 1 / found.sizes) ** (found.sizes - 1))
    held = group([found.of_row.astype(np.int32), found.whose.codes], [max(classes, 1), found.whose.number])
    of_class, rows = held.tuples()[:, 0].astype(np.int64), held.counts
    missed, all_rows = 1 - 1 / found.sizes[of_class], np.bincount(found.of_row, minlength=classes)[of_class]
    alone = (1 - missed**rows) * missed ** (all_rows - rows)
    return np.minimum(summed(of_class, alone, classes), 1.0)


def _people_by_class(found: Candidates) -> tuple[Whole, Whole]:
    """The people who may be in each released class: where they start, and who."""
    kinds = np.repeat(np.arange(found.kinds), np.diff(found.pairs.starts))
    order = np.argsort(found.of_person, kind="stable")
    by_kind = np.searchsorted(found.of_person[order], np.arange(found.kinds + 1))
    owner, place = expand(by_kind, kinds)
    classes = found.pairs.right[owner]
    rank = np.argsort(classes, kind="stable")
    return np.searchsorted(classes[rank], np.arange(len(found.sizes) + 1)), order[place][rank]


def _in_classes(found: Candidates, drawn: Whole) -> Reals:
    """For each predicate, how many people fit the class."""
    starts, _ = _people_by_class(found)
    return np.diff(starts)[drawn].astype(np.float64)


def _by_answers(
    publish: Callable[[], Answering], tables: tuple[Records, Records], on: Sequence[str] | None, trials: int
) -> _Tried:
    """Predicates found by halving."""
    data, others = tables
    number = data.counted
    fresh, public = of_units(others, np.arange(number)), of_units(others, np.arange(number, others.counted))
    axes = axes_of(public, on)
    columns = [
        [numbers(table.column(axis.name))[table.column(axis.name).codes] for axis in axes] for table in (data, fresh)
    ]
    depth = ceil(log2(number)) + _EXTRA
    inside, outside, asked, guesses = [], [], 0, []
    against, one = "", "row" if data.units is None else "unit"
    for _ in range(trials):
        answers = publish()
        refuse_rows(answers, data)
        before = len(answers.replies)
        box = halve(answers, public, axes, depth)
        answered = sum(1 for reply in answers.replies[before:] if not reply.refusal)
        if not answered:
            raise NotTried("the budget doesn't last for one question", hint="offer less per question")
        against, asked = answers.against, asked + answered
        here, there = (_number(table, box.holds(side)) for table, side in zip((data, fresh), columns, strict=True))
        inside.append(here)
        outside.append(there)
        guesses.append(Guess(who=str(box), what=f"one {one} of them", confidence=0.0, right=here == 1))
    sure = sum(1 for each in inside if each == 1) / trials
    return _Tried(
        against=against,
        inside=np.array(inside),
        outside=np.array(outside),
        weight=float(np.mean(outside) / max(fresh.counted, 1)),
        expected=None,
        asked=asked / trials,
        guesses=tuple(Guess(who=g.who, what=g.what, confidence=sure, right=g.right) for g in guesses),
    )


def _number(table: Records, rows: Mask) -> int:
    """How many people these rows of a table belong to."""
    return int(rows.sum()) if table.units is None else len(np.unique(table.units.codes[rows]))


def _class_words(rows: Rows, names: Sequence[str], row: int) -> str:
    columns = [rows.records.column(name) for name in names]
    return ", ".join(f"{column.name} {shown(column.labels()[int(column.codes[row])])}" for column in columns)
