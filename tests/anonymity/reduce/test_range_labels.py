"""No cell of a release shows a value that fewer than k people share: whatever made it, whatever the column holds."""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import suppress
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import KAnonymity, anonymize
from discreet.anonymity.hierarchies.texts import texts
from discreet.anonymity.records import Records, read
from discreet.anonymity.reduce.anonymize import Algorithm
from discreet.anonymity.reduce.anonymized import Anonymized
from discreet.anonymity.reduce.mondrian import mondrian
from discreet.errors import InvalidArgument
from support.exact_ends import every_value_is_shown
from support.examples import examples

ALGORITHMS: list[tuple[Algorithm, bool]] = [
    ("optimal", False), ("optimal", True), ("mondrian", False), ("relaxed mondrian", False),
    ("microaggregation", False), ("auto", False),
]  # fmt: skip
PARTS = re.compile(r"–| to | or |, | … |…|[{}\[\]()<≥≤]")


def spelled(text: str) -> str:
    """One spelling for all spellings of a number, and for a day and its midnight; other texts as they are."""
    try:
        return repr(float(text))
    except ValueError:
        return text.strip().strip('"').removesuffix(" 00:00:00")


def told(release: Anonymized, table: Records, k: int) -> set[tuple[str, str]]:
    """The values of fewer than k units that a cell of a quasi-identifier shows, whole or as a part."""
    whose = np.arange(table.rows) if table.units is None else table.units.codes
    found = set()
    for name in release.quasi_identifiers:
        column = table.column(name)
        people: dict[str, set[int]] = defaultdict(set)
        shown = texts(column.values).to_pylist()
        for code, unit in zip(column.codes.tolist(), whose.tolist(), strict=True):
            if shown[code] is not None:
                people[spelled(shown[code])].add(unit)
        rare = {value for value, units in people.items() if len(units) < k}
        for cell in set(release.table.column(name).to_pylist()):
            found |= {(name, part) for part in map(spelled, [cell, *PARTS.split(cell)]) if part in rare}
    return found


COLUMNS = {
    "ages": st.integers(18, 40),
    "numbers": st.integers(9_000_000, 9_900_000),
    "balances": st.integers(-30, 30),
    "prices": st.integers(0, 4_000).map(lambda cents: cents / 100),
    "measures": st.floats(-1e6, 1e6, allow_nan=False),
    "halves": st.integers(-10, 10).map(lambda half: half / 2),
    "words": st.text("abc,… ", min_size=1, max_size=5).map(str.strip).filter(bool),
    "flags": st.booleans(),
    "days": st.integers(0, 900).map(lambda days: date(1999, 11, 3) + timedelta(days)),
    "times": st.integers(0, 90_000).map(lambda minutes: datetime(1999, 11, 3, 23) + timedelta(minutes=7 * minutes)),
}


@st.composite
def tables(draw: st.DrawFn) -> Records:
    """Two columns of any two kinds, perhaps with missing values, of people with a row or with several."""
    rows = draw(st.integers(10, 40))
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=2, unique=True))
    columns = {}
    for name in names:
        cell = COLUMNS[name] | st.none() if draw(st.booleans()) else COLUMNS[name]
        columns[name] = draw(st.lists(cell, min_size=rows, max_size=rows))
    units = draw(st.booleans())
    whose = draw(st.lists(st.integers(0, 11), min_size=rows, max_size=rows)) if units else [*range(rows)]
    return read({"who": whose, **columns}, unit="who" if units else ()).without([] if units else ["who"])


@examples(150)
@given(tables(), st.integers(2, 5), st.sampled_from(ALGORITHMS))
def test_no_cell_shows_a_value_that_few_people_share(table: Records, k: int, how: tuple[Algorithm, bool]) -> None:
    """Any table, every algorithm: what is refused shows nothing."""
    algorithm, local = how
    with suppress(InvalidArgument):
        release = anonymize(
            table, quasi_identifiers=table.names, models=[KAnonymity(k)], algorithm=algorithm, local_recoding=local,
            suppression=1,
        )  # fmt: skip
        assert not told(release, table, k)


@pytest.mark.parametrize("algorithm", ["mondrian", "relaxed mondrian", "microaggregation"])
def test_the_wrong_twin_is_caught(algorithm: Algorithm) -> None:
    """Ranges that end at whatever value there is show most of them; so do averages, where three are a step apart."""
    table = read({"number": [9_000_000 + 70 * i for i in range(300)]})
    with every_value_is_shown():
        leaky = anonymize(table, quasi_identifiers=["number"], models=[KAnonymity(3)], algorithm=algorithm)
    assert len(told(leaky, table, 3)) >= 100
    safe = anonymize(table, quasi_identifiers=["number"], models=[KAnonymity(3)], algorithm=algorithm)
    assert not told(safe, table, 3)


def shown(values: list[object], k: int) -> list[str]:
    """What the rows of a table of one column show."""
    column = mondrian(read({"x": values}), ["x"], [KAnonymity(k)]).columns["x"]
    return [column.cells.labels[cell] for cell in column.codes.tolist()]


def test_numbers_end_at_the_narrowest_round_interval_that_holds_k_people() -> None:
    """Outwards at both ends; a wider one where somebody has the round number itself."""
    assert set(shown([101, 103, 104, 107, 108, 413, 424, 435, 446, 457], 5)) == {"100–109", "400–499"}
    assert set(shown([1.25, 1.5, 1.75, 7.5, 8.25, 9.75], 3)) == {"1–2", "5–10"}
    assert set(shown([-413, -424, -475, 3, 7, 8], 3)) == {"-500 to -401", "0 to 9"}


def test_ends_that_k_people_share_stay() -> None:
    """Nobody is found by the age that three people have."""
    table = read({"age": [21] * 3 + [26] * 3 + [31] * 3 + [32, 33, 36], "sex": ["F", "M", "M"] * 4})
    found = mondrian(table, ["age", "sex"], [KAnonymity(3)]).columns["age"].cells
    assert set(found.labels) == {"21", "26", "31", "30–39"}


def test_crowded_whole_numbers_end_between_two_of_them() -> None:
    """Where every number is somebody's, a class ends halfway to the next; all of the column's rounded ends do."""
    assert set(shown([*range(20, 40)], 5)) == {"19.5–24.5", "24.5–29.5", "29.5–34.5", "34.5–39.5"}


def test_what_has_no_round_interval_has_no_end() -> None:
    """Two numbers below zero are no crowd of three, however far one goes."""
    assert set(shown([-8, -3, 11, 52, 57, 58], 3)) == {"≤99", "50 to 59"}
    assert set(shown([True, False, False], 3)) == {"*"}


def test_texts_end_at_letters_that_k_people_share() -> None:
    """All who begin alike; else the next further out that do; else no end. A beginning isn't somebody's value."""
    streets = ["dunstan street", "dunstan treet", "dunstano", "main road", "main street", "mainstreet"]
    assert set(shown([*streets], 3)) == {"{dunstan…}", "{main…}"}
    assert set(shown([*streets, "quay"], 3)) == {"{dunstan…}", "{main… …}"}
    assert set(shown(["bay", *streets[:3], *streets[2:], "main"], 4)) == {"{… dunstan…}", "{mai…}"}


def test_times_end_with_months_years_and_hours() -> None:
    """A minute, an hour, a day, a month if k people are in it, else a year, a decade."""
    days = [date(1999, 1, day) for day in (3, 9, 17)] + [date(2001, month, 5) for month in (2, 6, 10)]
    assert set(shown([*days], 3)) == {"1999-01", "2001"}
    assert set(shown([date(1970 + 2 * i, 5, 1) for i in range(10)], 5)) == {"1970s", "1980s"}
    clock = [datetime(2024, 2, 29, hour, 7 * minute) for hour in (9, 14) for minute in (1, 2, 3)]
    assert set(shown([*clock], 3)) == {"2024-02-29 09h", "2024-02-29 14h"}


def test_rows_of_one_person_are_no_crowd() -> None:
    """Five visits at 83 are one person's: by unit, the age isn't shown."""
    visits = {"who": [1] * 5 + [2, 3, 4], "age": [83] * 5 + [84, 86, 87]}
    found = mondrian(read(visits, unit="who"), ["age"], [KAnonymity(2)]).columns["age"]
    assert not any("83" in label for label in found.cells.labels)
