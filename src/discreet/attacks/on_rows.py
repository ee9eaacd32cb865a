"""Attacks on rows, run on a setup: what each is given of a table, and what it is run against.

Attacks that need other data than a table get it made up: ratings by people who don't exist, and tables with little
errors in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Reals, Value, Whole
from discreet.anonymity.records import Records, read
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.attack_setup import NUMBER, Setup
from discreet.attacks.people import drawn, of_units, shuffled
from discreet.attacks.rows.background import background
from discreet.attacks.rows.fuzzy import fuzzy
from discreet.attacks.rows.homogeneity import homogeneity
from discreet.attacks.rows.intersection import intersection
from discreet.attacks.rows.linkage import linkage
from discreet.attacks.rows.nearness import Near, Nearness, Same, Typos, is_ordered
from discreet.attacks.rows.presence_in_answers import presence
from discreet.attacks.rows.singling_out import singling_out
from discreet.attacks.rows.skewness import skewness
from discreet.attacks.rows.small_groups import small_groups
from discreet.attacks.rows.sparse import Log, guessed_log, sparse
from discreet.attacks.targets.noisy_answers import Answers
from discreet.attacks.targets.rows import Rows
from discreet.census.pseudorandom import normal, pick, uniform
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa

_STARS = 5
_FIRST_DAY, _DAYS = date(2020, 1, 1), 1_000
_WRONG = 0.25  # share of what is known that is off
_ERRORS = 0.1  # share of values that are blurred


def made_up_ratings(
    people: int = 2_000, films: int = 1_000, *, targets: int = 100, known: int = 8
) -> tuple[pa.Table, pa.Table]:
    """Ratings of films, and what is known of a few people: the same on every run.

    Few films are seen by many and many by few: the n-th is seen in proportion to 1/(n + 10). Everybody rates 10 films
    or more, 30 on average. A quarter of the known ratings are off by a star, and a quarter of the known dates by a
    fortnight.

    Args:
        people: how many rated.
        films: how many there are.
        targets: how many are known, at most; the first ones.
        known: how many ratings are known of each.

    Returns:
        The ratings and what is known: person, item, value, date.

    Examples:
        >>> ratings, known = made_up_ratings(50, 100, targets=2)
        >>> ratings.column_names, known.num_rows
        (['person', 'item', 'value', 'date'], 16)
    """
    import pyarrow as pa

    numbers = np.maximum(np.rint(30 + 10 * normal("ratings of a person", people)), 10).astype(np.int64)
    person = np.repeat(np.arange(people), numbers)
    item = pick("film", 1 / (np.arange(films) + 10.0), len(person))
    keys, places = np.unique(person * films + item, return_index=True)
    order = np.argsort(places)
    person, item = np.divmod(keys[order], films)
    value = 1 + (uniform("stars", len(person)) * _STARS).astype(np.int64)
    day = (uniform("day", len(person)) * _DAYS).astype(np.int64)
    rank = np.arange(len(person)) - np.searchsorted(person, person)
    heard = np.flatnonzero((rank < known) & (person < targets))
    off = uniform("errors", len(heard))
    star = np.where(off < _WRONG, np.where(value[heard] > 1, -1, 1), 0)
    fortnight = np.where((off >= _WRONG) & (off < 2 * _WRONG), 14, 0)
    columns = {"person": person, "item": item, "value": value, "date": _dates(day)}
    told = {
        "person": person[heard],
        "item": item[heard],
        "value": value[heard] + star,
        "date": _dates(day[heard] + fortnight),
    }
    return pa.table(columns), pa.table(told)


def blurred(table: Records, how: Mapping[str, Nearness], number: str) -> pa.Table:
    """A table in which a tenth of the values that may be off are off, as far as they may be.

    Args:
        table: what is blurred.
        how: of each column that is, what may be off; the others stay as they are.
        number: the name of a column that is added: which row it is, or whose, where rows have units.
    """
    import pyarrow as pa

    known = {}
    for name, column in table.columns.items():
        values = column.values.take(column.codes)
        if name not in how:
            known[name] = values
            continue
        drawn = uniform(f"errors in {name}", table.rows)
        known[name] = pa.array(
            [
                _off(value, how[name], float(chance / _ERRORS)) if chance < _ERRORS else value
                for value, chance in zip(values.to_pylist(), drawn, strict=True)
            ],
            values.type,
        )
    whose = np.arange(table.rows) if table.units is None else table.units.codes
    return pa.table({**known, number: pa.array(whose)})


def _off(value: Value, how: Nearness, share: float) -> Value:
    """A value that is off as far as it may be; where in a text, or to which side, the share decides."""
    if isinstance(how, Typos) and isinstance(value, str) and value:
        place = int(share * len(value))
        other = "0" if value[place] != "0" else "1"
        return value[:place] + other + value[place + 1 :]
    if isinstance(how, Near):
        step = int(how.within) * (1 if share < 0.5 else -1)  # noqa: PLR2004 — either side in half of the cases
        if isinstance(value, date):
            return value + timedelta(days=step)
        if isinstance(value, int) and not isinstance(value, bool):
            return value + step
    return value


def _dates(days: Whole | Reals) -> pa.Array:
    import pyarrow as pa

    return pa.array(np.datetime64(_FIRST_DAY) + days.astype("timedelta64[D]"))


_KNOWN_THINGS = 8  # of each target of the sparse attack
_FEWEST_THINGS = 2  # of each person, on average
_LONGEST_TYPO = 3  # texts of fewer letters don't have typos that leave them recognisable
_TRIALS_ON_ANSWERS = 20  # each asks dozens of questions of an account of its own


def _target(setup: Setup, against: str) -> tuple[Rows | Answers, Records | None]:
    """The target, and whose values are asked for, where that needs to be said."""
    if against == "answers":
        return setup.answers(), setup.sample()
    return setup.rows(against), setup.sample() if setup.compared else None


def _labels(setup: Setup) -> Sequence[Value]:
    """The values that a person may have: all, for nobody knows which few of them a sample has."""
    return setup.records.column(setup.terms.sensitive).labels()


def _of_all(setup: Setup, against: str, found: AttackResult) -> AttackResult:
    """A result that is about people of the table; through answers, and beside these, about a random sample of them."""
    drawn = (against == "answers" or setup.compared) and found.tried < setup.records.counted
    return replace(found, drawn_from=setup.records.counted) if drawn else found


def run_linkage(setup: Setup, against: str) -> AttackResult:
    """Learn everyone's sensitive value, or that of a sample through answers."""
    release, people = _target(setup, against)
    terms = setup.terms
    found = linkage(release, people or setup.records, on=terms.on, sensitive=terms.sensitive, labels=_labels(setup))
    return _of_all(setup, against, found)


def run_homogeneity(setup: Setup, against: str) -> AttackResult:
    """Guess by classes."""
    return _by_classes(homogeneity, setup, against)


def run_background(setup: Setup, against: str) -> AttackResult:
    """Exclude one value."""
    return _by_classes(background, setup, against)


def run_skewness(setup: Setup, against: str) -> AttackResult:
    """Compare classes with the table."""
    return _by_classes(skewness, setup, against)


def _by_classes(run: Callable[..., AttackResult], setup: Setup, against: str) -> AttackResult:
    """Run an attack that looks at what classes say of their sensitive values."""
    release, people = _target(setup, against)
    terms = setup.terms
    found = run(release, on=terms.on, sensitive=terms.sensitive, people=people, labels=_labels(setup))
    return _of_all(setup, against, found)


def run_small_groups(setup: Setup, against: str) -> AttackResult:
    """Totals by what is known of people."""
    release, asked = _target(setup, against)
    return small_groups(
        release,
        by=setup.terms.on,
        value=str(setup.terms.value),
        people=None if asked is None else setup.records,
        asked=0 if asked is None else asked.rows,
    )


def run_fuzzy(setup: Setup, against: str) -> AttackResult:
    """Learn the sensitive value of people whose data was blurred: a tenth of what is known of them is off by a little.

    Columns with few values don't tell people apart when they may be anything, so they must agree.
    """
    terms = setup.terms
    how: dict[str, Nearness] = {}
    for name in terms.on:
        column = setup.records.column(name)
        longest = max((len(str(label)) for label in column.labels()), default=0)
        if is_ordered(column):
            how[name] = Near(within=2)
        else:
            how[name] = Typos() if longest > _LONGEST_TYPO and column.size > _LONGEST_TYPO else Same()
    told, units = setup.once("blurred", lambda: blurred(setup.records, how, NUMBER)), setup.records.units
    known = replace(read(told), units=units)
    if against == "raw" and not setup.compared:  # of these, it can be told whether the right row was found
        numbered = replace(read(setup.records.to_arrow().append_column(NUMBER, told[NUMBER])), units=units)
        return fuzzy(numbered, known, on=how, sensitive=terms.sensitive, truth=NUMBER)
    if against == "answers" or setup.compared:
        known = setup.once("known", lambda: drawn(known, terms.people))
    release, _ = _target(setup, against)
    return _of_all(setup, against, fuzzy(release, known, on=how, sensitive=terms.sensitive, labels=_labels(setup)))


def run_sparse(setup: Setup, against: str) -> AttackResult:
    """Find people by eight things each; through answers, find out who is in the data at all.

    The table's rows are taken for what people did: the first of the known columns is the person, the second the item.
    For the census, whose people did nothing, ratings are made up; of those that are known, one date and one value in
    four are off. Anonymised rows keep who did it, as a pseudonym: all else is known, and so generalised. If answers are
    attacked, every other person who is looked for is left out of the data beforehand.

    Raises:
        InvalidArgument: the table isn't one of what people did.
    """
    done, known, log = setup.once("done", lambda: _done(setup))
    if against == "answers":
        targets = known.column(log.person).labels()
        people, absent = done.column(log.person), set(targets[1::2])
        left_out = [place for place, label in enumerate(people.labels()) if label in absent]
        kept = np.flatnonzero(~np.isin(people.codes, left_out))
        there = done.take(kept)
        target = setup.answers(there if there.units else read(there, unit=log.person), grouped_by=())
        return presence(target, known, log=log, inside=targets[::2])
    if against != "anonymized":  # who did it is a pseudonym in any case
        return sparse(done if against == "raw" else setup.pseudonymised(done), known, log=log, truth=True)
    told = [name for name in (log.item, log.value, log.date) if name]
    return sparse(setup.anonymised(done, on=told, kept=[log.person]), known, log=log, truth=True)


def _done(setup: Setup) -> tuple[Records, Records, Log]:
    """A table of what people did, what of it is known, and what its columns are.

    Raises:
        InvalidArgument: the table isn't one of what people did.
    """
    if setup.made_up:
        done, known = map(read, made_up_ratings(targets=setup.terms.people, known=_KNOWN_THINGS))
        return done, known, guessed_log(done)
    log = _log(setup)
    codes = setup.records.column(log.person).codes
    rows = shuffled(setup.records.rows)
    chosen = shuffled(setup.records.column(log.person).size)[: setup.terms.people]
    order = rows[np.argsort(codes[rows], kind="stable")]
    codes = codes[order]
    rank = np.arange(len(order)) - np.searchsorted(codes, codes, side="left")
    return setup.records, setup.records.take(order[(rank < _KNOWN_THINGS) & np.isin(codes, chosen)]), log


def _log(setup: Setup) -> Log:
    """The roles of columns in a table of what people did.

    Raises:
        InvalidArgument: it isn't said who and what, or people did too little to be known by it.
    """
    if len(setup.terms.on) < 2:  # noqa: PLR2004 — who, and what
        raise InvalidArgument(
            "sparse is about what people did, with many rows for each", hint="name two columns: who, what"
        )
    person, item = setup.terms.on[:2]
    if setup.records.column(person).size * _FEWEST_THINGS > setup.records.rows:
        raise InvalidArgument(
            f"the rows of each {person!r} are too few to know anyone by what they did",
            hint="the first known column says who did it: are there many rows for each?",
        )
    return Log(person=person, item=item, value=setup.terms.value)


def run_intersection(setup: Setup, against: str) -> AttackResult:
    """Two releases of two thirds of the people each, attacked for those who are in both; through answers for a few."""
    order = setup.once("order", lambda: shuffled(setup.records.counted))
    third = max(setup.records.counted // 3, 1)
    parts = [of_units(setup.records, units) for units in (order[: 2 * third], order[third:])]
    both = of_units(setup.records, order[third : 2 * third])
    first: Rows | Answers
    second: Rows | Answers
    if against == "answers" or setup.compared:
        both = setup.once("both", lambda: drawn(both, setup.terms.people))
    if against == "answers":
        first, second = (setup.answers(part) for part in parts)
    else:
        first, second = (setup.rows(against, part) for part in parts)
    return intersection(first, second, both, on=setup.terms.on, sensitive=setup.terms.sensitive)


def run_singling_out(setup: Setup, against: str) -> AttackResult:
    """One third of the people is released; the others stand for everyone else."""
    order = setup.once("order", lambda: shuffled(setup.records.counted))
    third = max(setup.records.counted // 3, 1)
    data, fresh = of_units(setup.records, order[:third]), of_units(setup.records, order[third : 3 * third])
    few = min(setup.terms.trials, _TRIALS_ON_ANSWERS)
    if against == "answers":
        return singling_out(lambda: setup.answers(data), data, fresh=fresh, trials=few)
    trials = few if setup.compared else setup.terms.trials
    return singling_out(setup.rows(against, data), data, fresh=fresh, on=setup.terms.on, trials=trials)
