"""Attacks on answers, run on a setup: whom they are about, and what is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from discreet.anonymity.grouping import grouped
from discreet.anonymity.records import Records, read
from discreet.attacks.answers.averaging import averaging
from discreet.attacks.answers.differencing import differencing, tracking
from discreet.attacks.answers.guessing import guessing_each
from discreet.attacks.answers.membership import TracingResult
from discreet.attacks.answers.query_log import query_log
from discreet.attacks.answers.reconstruction import reconstruction
from discreet.attacks.answers.study import Study
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.attack_setup import NAME, NUMBER, Setup
from discreet.attacks.naming import named, value_of
from discreet.attacks.people import of_units, one_of_each, shuffled
from discreet.attacks.rows.nearness import numbers
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.candidates import itself
from discreet.attacks.targets.exact_answers import Imputed, Restricted
from discreet.attacks.targets.rows import Candidates, shares_of
from discreet.attacks.targets.sql_conditions import question, where
from discreet.errors import InvalidArgument

_REPEATS = 150
_MOST_VALUES = 50  # of the sensitive column that a log has questions about
_LOOKED_AT = 50  # people who are alone in what is known of them
_FEWEST = 5  # people whom a restricted answer is about, or leaves out
_MOST_PEOPLE = 60  # whom reconstruction solves for: four questions for each are asked


def _target(setup: Setup, against: str, people: Records | None = None, *, on: Sequence[str] | None = None) -> Answering:
    """The target that is asked about the table, or about these people; `on` names the columns with ranges."""
    match against:
        case "exact":
            return setup.exact(people)
        case "fresh":
            return setup.bare(people)
        case "anonymized":
            return Imputed(setup.anonymised(people, on=on), name=NAME)
        case "restricted":
            return Restricted(setup.records if people is None else people, name=NAME, smallest=_FEWEST)
        case _:
            return setup.answers(people)


def _person(setup: Setup) -> tuple[str, str, Records]:
    """Someone whom the known columns single out: their condition, what they are called, and their rows that meet it.

    Raises:
        InvalidArgument: nobody is alone.
    """
    return next(_people(setup))


def _people(
    setup: Setup, people: Records | None = None, *, most: int = _LOOKED_AT
) -> Iterator[tuple[str, str, Records]]:
    """All of the table, or of these people, who are singled out by what is known; at most this many, in their order.

    One row of each is known, and they are alone if every row like it is theirs.

    Raises:
        InvalidArgument: nobody is alone.
    """
    records = people or setup.records
    columns = [records.column(name) for name in setup.terms.on]
    classes, known = grouped(columns), one_of_each(records)
    of_row = classes.of_row()
    sizes = Candidates.among(of_row, itself(classes.number), classes, records.units).sizes
    alone = known[sizes[of_row[known]] == 1]
    exact, names, nobody = setup.exact(records), named(records, setup.terms.on, None), True
    for row in alone[:most].tolist():
        condition = where({column.name: value_of(column, row) for column in columns})
        rows = exact.rows(condition)
        if exact.people(rows) == 1:  # SQL may take two values for one
            nobody = False
            yield condition, names(row), records.take(np.flatnonzero(rows))
    if nobody:
        looked = f" of the {most:,} people who were looked at" if len(alone) > most else ""
        raise InvalidArgument(
            f"what is known singles no one out{looked}, so no question is about one person", hint="more columns"
        )


def run_averaging(setup: Setup, against: str) -> AttackResult:
    """Ask up to 150 times how many people have one person's sensitive value, in other words each time."""
    repeats = min(setup.terms.trials, _REPEATS)
    value = value_of(setup.records.column(setup.terms.sensitive), 0)
    condition, target = where({setup.terms.sensitive: value}), _target(setup, against)
    exact = setup.exact()
    truth = exact.aggregate(exact.counting, condition).value
    others = [f"{condition} AND {n} = {n}" for n in range(1, repeats)]
    wordings = [question(target.counting, wording, NAME) for wording in (condition, *others)]
    return averaging(target, wordings, repeats=repeats, truth=None if truth is None else int(truth))


def run_differencing(setup: Setup, against: str) -> AttackResult:
    """The total with one person and without."""
    condition, who, rows = _person(setup)
    return differencing(
        _target(setup, against),
        _sum(setup),
        without=f"NOT ({condition})",
        who=who,
        truth=_total(setup, rows),
    )


def run_guessing(setup: Setup, against: str) -> AttackResult:
    """Ask of every other person whether they have the sensitive value that they have, of the others about another.

    A person who has every value, in rows that are alike in the known columns, can't be asked about another, and is left
    out.
    """
    column = setup.records.column(setup.terms.sensitive)
    labels = column.labels()
    if len(labels) < 2:  # noqa: PLR2004 — one to have, and one not to have
        raise InvalidArgument(f"{column.name!r} has one value, so there is nothing to guess", hint="another column")

    most = setup.terms.people

    def asked() -> Iterator[tuple[str, str, bool]]:
        so = True
        for condition, who, rows in islice(_people(setup, most=max(_LOOKED_AT, most)), most):
            own = rows.column(column.name).labels()
            place = labels.index(value_of(rows.column(column.name), 0))
            others = [label for label in (*labels[place:], *labels[:place]) if label not in own]
            if others:
                yield who, f"{condition} AND {where({column.name: own[0] if so else others[0]})}", so
                so = not so

    return guessing_each(_target(setup, against), asked())


def run_tracker(setup: Setup, against: str) -> AttackResult:
    """The total of one person, where no question about few people is answered."""
    condition, who, rows = _person(setup)
    exact, column = setup.exact(), setup.records.column(setup.terms.sensitive)
    middle = int(abs(shares_of(setup.records, column.name) - 1 / 2).argmin())
    by = where({column.name: column.labels()[middle]})
    inside = exact.rows(by)
    if min(exact.people(inside), exact.people(~inside)) < 2 * _FEWEST:
        raise InvalidArgument("no value of the sensitive column makes a tracker: all are too rare or too common")
    return tracking(
        _target(setup, against),
        _sum(setup),
        wanted=condition,
        by=by,
        who=who,
        truth=_total(setup, rows),
    )


def run_query_log(setup: Setup, against: str) -> AttackResult:
    """A log of harmless totals of some people: of all, of each value of the sensitive column, and of all but a person.

    Raises:
        InvalidArgument: nobody of them is alone.
    """
    people = setup.sample()
    column = people.column(setup.terms.sensitive)
    values = [where({column.name: label}) for label in column.labels()[:_MOST_VALUES]]
    but_one = [f"NOT ({condition})" for condition, _, _ in _people(setup, people, most=people.counted)]
    log = ["TRUE", *values, *but_one]
    return query_log(
        _target(setup, against, people),
        _sum(setup),
        log,
        table=setup.exact(people),
        naming=setup.terms.on,
    )


def run_reconstruction(setup: Setup, against: str) -> AttackResult:
    """Find out who has the commonest sensitive value; the attacker knows people by their place in the table.

    Places are given at random, so anonymised rows, whose places are ranges, hide each person among others by chance.
    """
    people = _numbered(setup.sample(setup.records.counted).only([setup.terms.sensitive]))
    column = people.column(setup.terms.sensitive)
    common = int(shares_of(people, column.name).argmax())
    asked = min(setup.terms.people, _MOST_PEOPLE, people.counted)
    places = people.column(NUMBER).codes  # people are numbered from 0, so a number is its own code
    have = set(places[column.codes == common].tolist())
    return reconstruction(
        _target(setup, against, people, on=[NUMBER]),
        where({column.name: column.labels()[common]}),
        key=NUMBER,
        people=range(asked),
        truth=[number in have for number in range(asked)],
    )


def run_tracing(setup: Setup, against: str) -> TracingResult:
    """Find out who is in a study, by marginals of what is known of people and of the sensitive column.

    Members are people of the table, and so are the strangers to tell them from. All others say how common
    each value is. The study alone is anonymised, or is behind the gateway, where one marginal is one question.

    Raises:
        InvalidArgument: the table is too small, or its columns are the same everywhere; the study is smaller than k; or
            the budget doesn't last for one marginal.
    """
    terms = setup.terms
    study = Study.of(setup.records.only([*terms.on, terms.sensitive]), shuffled(setup.records.counted), terms.people)
    match against:
        case "exact":
            return study.traced(study.exact(), against="exact shares", on=terms.on)
        case "anonymized":
            rows = setup.anonymised(of_units(setup.records, study.members))
            return study.traced(study.anonymised(rows), against=rows.name, on=terms.on)
        case _:
            answers = setup.answers(
                study.coded(study.members), keys=study.marginals.keys(), grouped_by=study.groupings()
            )
            counts, paid = study.answered(answers), answers.bill.epsilon
            return study.traced(
                counts,
                against=f"answers at ε = {paid:.4g} in all",
                on=terms.on,
                epsilon=paid,
                adjacency=answers.protected.dataset.adjacency,
            )


def _numbered(people: Records) -> Records:
    """These people, known by their number: the order in which they were drawn."""
    import pyarrow as pa

    places = np.arange(people.rows) if people.units is None else people.units.codes
    return replace(read(people.to_arrow().append_column(NUMBER, pa.array(places, pa.int64()))), units=people.units)


def _total(setup: Setup, rows: Records) -> float | None:
    """The sum of the totals' column in these rows; None if it has no number there."""
    column = rows.column(str(setup.terms.value))
    worth = numbers(column)[column.codes]
    known = worth[np.isfinite(worth)]
    return float(known.sum()) if len(known) else None


def _sum(setup: Setup) -> str:
    """The total that is asked for."""
    name = str(setup.terms.value).replace('"', '""')
    return f'SUM("{name}")'
