"""Columns that say whose a row is are told by structure, whatever they are called; codes and measures aren't taken so.

Tables are drawn anew each time; sizes are such that a verdict by luck is rarer than one in a billion.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.anonymity import read
from discreet.anonymity.attributes import stored_kind
from discreet.anonymity.hierarchies.texts import present
from discreet.tables.unit_candidates import UnitCandidate, unit_candidates

Table = dict[str, object]


def numbers(count: int, rng: np.random.Generator) -> np.ndarray:
    """So many different numbers in no order."""
    return rng.choice(np.arange(count * 50), count, replace=False)


def candidates(table: object) -> tuple[UnitCandidate, ...]:
    """What a table's columns look like."""
    columns = read(table).columns
    return unit_candidates(columns, {name: stored_kind(present(column)) for name, column in columns.items()})


def found(table: Table, *, shuffle: bool = False, rename: bool = True) -> tuple[UnitCandidate, ...]:
    """What a table's columns look like, with names that say nothing, rows in their order or in none."""
    rng = np.random.default_rng()
    columns = [np.asarray(values) for values in table.values()]
    if shuffle:
        order = rng.permutation(len(columns[0]))
        columns = [values[order] for values in columns]
    names = string.ascii_lowercase if rename else table
    return candidates(pa.table(dict(zip(names, map(pa.array, columns), strict=False))))


# ── Tables with several rows of somebody ──────────────────────────────────────────────────────────────────────────────


def policies(rng: np.random.Generator, number: int = 400) -> Table:
    """Three years of each policy; two things are the policy's."""
    ids, age, value = numbers(number, rng), rng.integers(6, size=number), rng.integers(5, size=number)
    whose = np.repeat(np.arange(number), 3)
    claims = rng.poisson(0.3, size=3 * number)
    return {"p": ids[whose], "age": age[whose], "value": value[whose], "year": np.arange(3 * number) % 3, "n": claims}


def households(rng: np.random.Generator, number: int = 600) -> Table:
    """Members of households of one to eight; what the house is like is the household's."""
    ids = np.array([f"H{each}" for each in numbers(number, rng)])
    roof, walls, water = (rng.integers(size, size=number) for size in (4, 3, 5))
    whose = np.repeat(np.arange(number), rng.integers(1, 9, size=number))
    rows = len(whose)
    own = {"age": rng.integers(90, size=rows), "sex": rng.integers(2, size=rows), "pay": rng.gamma(2.0, 1e4, size=rows)}
    return {"h": ids[whose], "roof": roof[whose], "walls": walls[whose], "water": water[whose], **own}


def patients(rng: np.random.Generator, number: int = 700) -> Table:
    """Visits of patients, more of some than of others; sex and year of birth are the patient's, with some mistakes."""
    ids, sex, born = numbers(number, rng), rng.integers(2, size=number), rng.integers(1930, 2010, size=number)
    whose = np.repeat(np.arange(number), 1 + rng.poisson(4, size=number))
    rows = len(whose)
    wrong = rng.random(rows) < 0.005
    sexes = np.where(wrong, 1 - sex[whose], sex[whose])
    return {"who": ids[whose], "sex": sexes, "born": born[whose], "ward": rng.integers(9, size=rows)}


def birthdays(rng: np.random.Generator, number: int = 700) -> Table:
    """Visits of patients with a date of birth, which hardly two share."""
    born = np.datetime64("1930-01-01") + rng.integers(29_000, size=number)
    whose = np.repeat(np.arange(number), 1 + rng.poisson(4, size=number))
    ids, sex = numbers(number, rng), rng.integers(2, size=number)
    return {"who": ids[whose], "born": born[whose], "sex": sex[whose], "ill": rng.integers(30, size=len(whose))}


def workers(rng: np.random.Generator, number: int = 300) -> Table:
    """People of firms; branch and size are the firm's."""
    ids, branch, size = numbers(number, rng), rng.integers(12, size=number), rng.integers(4, size=number)
    whose = np.repeat(np.arange(number), rng.integers(2, 20, size=number))
    return {"f": ids[whose], "branch": branch[whose], "size": size[whose], "age": rng.integers(60, size=len(whose))}


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("table", [policies, households, patients, birthdays, workers])
def test_what_repeats_and_fixes_several_things_is_a_candidate(
    table: Callable[[np.random.Generator], Table], shuffle: bool
) -> None:
    """Policies, households, patients and firms, in the order of their numbers or in none."""
    columns = table(np.random.default_rng())
    [one] = found(columns, shuffle=shuffle)
    assert one.column == "a"
    assert one.values == len(np.unique(np.asarray(columns[next(iter(columns))])))
    assert one.fixes


def test_one_fact_is_enough_where_the_rows_of_a_value_stand_together() -> None:
    """In no order it would look as a code of places does."""
    rng = np.random.default_rng()
    whose = np.repeat(np.arange(500), 1 + rng.poisson(4, size=500))
    ids, ward = numbers(500, rng), rng.integers(8, size=500)
    table = {"who": ids[whose], "home": ward[whose], "ill": rng.integers(30, size=len(whose))}
    assert [each.column for each in found(table)] == ["a"]
    assert not found(table, shuffle=True)


def test_the_finest_is_first() -> None:
    """People of households, with rows of each."""
    rng = np.random.default_rng()
    household = rng.permutation(np.repeat(np.arange(300), 3))
    roof, walls = rng.integers(4, size=300), rng.integers(5, size=300)
    sex, born = rng.integers(2, size=900), rng.integers(80, size=900)
    whose = rng.permutation(np.repeat(np.arange(900), 4))
    of = household[whose]
    table = {"h": of, "p": whose, "sex": sex[whose], "born": born[whose], "roof": roof[of], "walls": walls[of]}
    assert [each.column for each in found(table, rename=False)] == ["p", "h"]


@pytest.mark.parametrize("shuffle", [False, True])
def test_two_columns_may_say_it_together(shuffle: bool) -> None:
    """Patients are numbered in each clinic: neither column fixes what both do."""
    rng = np.random.default_rng()
    clinic, number = np.repeat(np.arange(20), 60), np.tile(np.arange(60), 20)
    sex, born = rng.integers(2, size=1_200), rng.integers(1930, 2010, size=1_200)
    whose = np.repeat(np.arange(1_200), 1 + rng.poisson(3, size=1_200))
    own = {"sex": sex[whose], "born": born[whose], "region": (clinic // 4)[whose]}
    table = {"clinic": clinic[whose], "number": number[whose], **own, "ill": rng.integers(30, size=len(whose))}
    [one] = found(table, shuffle=shuffle, rename=False)
    assert set(one.columns) == {"clinic", "number"}
    assert (one.values, one.rows) == (1_200, len(whose))
    assert {"sex", "born"} <= set(one.fixes)


def test_wide_tables_are_looked_at_in_part() -> None:
    """Of hundreds of columns some are tried; a number of people is found all the same, if most columns are theirs."""
    rng = np.random.default_rng()
    whose = np.repeat(np.arange(300), 3)
    table: dict[str, object] = {"who": rng.permutation(300)[whose]}
    table |= {f"x{n}": rng.integers(5, size=300)[whose] for n in range(600)}
    table |= {f"y{n}": rng.integers(40, size=900) for n in range(200)}
    assert [each.column for each in candidates(table)] == ["who"]


# ── Tables of single rows ─────────────────────────────────────────────────────────────────────────────────────────────

_N = 6_000


def census(rng: np.random.Generator) -> Table:
    """People with measures, groups, and a column that says the same as another."""
    school = rng.choice(16, p=np.arange(1, 17) / 136, size=_N)
    age = rng.integers(17, 91, size=_N)
    weight = rng.integers(10_000, 14_000, size=_N)
    return {
        "age": age,
        "decade": age // 10,
        "school": np.array([f"grade {each}" for each in range(16)])[school],
        "years": school,
        "sex": rng.integers(2, size=_N),
        "weight": weight,
        "pay": np.where(rng.random(_N) < 0.9, 0, rng.integers(40_000, size=_N)),
        "land": rng.choice(40, p=np.array([361, *[1] * 39]) / 400, size=_N),
    }


def places(rng: np.random.Generator) -> Table:
    """People with a code of their place, in order of the states or in none, and what follows from it."""
    codes, state = numbers(400, rng), rng.integers(50, size=400)
    place = rng.choice(400, p=rng.dirichlet(np.full(400, 3.0)), size=_N)
    prefix = rng.integers(10_000, 60_000, size=600)[rng.integers(600, size=_N)]
    return {
        "zip": codes[place],
        "state": state[place],
        "region": (state // 13)[place],
        "other": prefix,
        "land": prefix // 1_000,
        "half": prefix // 20_000,
        "age": rng.integers(90, size=_N),
        "sex": rng.integers(2, size=_N),
    }


def orders(rng: np.random.Generator) -> Table:
    """Orders with numbers, times in seconds and as times, and products of one category and one price."""
    second = np.sort(rng.integers(86_400 * 30, size=_N))
    category, price = rng.integers(9, size=300), rng.integers(100, 100_000, size=300)
    product = rng.integers(300, size=_N)
    return {
        "number": np.arange(_N) + 10_000,
        "second": second,
        "minute": second // 600,
        "day": second // 86_400,
        "hour": second // 3_600 % 24,
        "at": np.datetime64("2024-01-01T00:00:00") + second,
        "product": product,
        "category": category[product],
        "price": price[product],
        "count": rng.poisson(2, size=_N),
    }


def small(rng: np.random.Generator) -> Table:
    """Few rows, so that hardly anything repeats by more than luck."""
    return {name: rng.integers(size, size=60) for name, size in zip("abcdef", (2, 3, 10, 30, 45, 200), strict=True)}


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("table", [census, places, orders, small])
def test_codes_measures_and_numbers_of_rows_are_none(
    table: Callable[[np.random.Generator], Table], shuffle: bool
) -> None:
    """What follows from a code, or from the order of numbers, is nobody's."""
    assert not found(table(np.random.default_rng()), shuffle=shuffle)


def test_missing_values_are_nobodys() -> None:
    """Rows without a value aren't one's."""
    table = policies(np.random.default_rng())
    ids = [None if n < 60 else int(each) for n, each in enumerate(np.asarray(table["p"]))]
    [one] = candidates({**table, "p": ids})
    assert (one.values, one.rows) == (380, 1_140)


def test_a_table_without_rows_has_none() -> None:
    """There is nothing that could repeat."""
    assert not candidates({"a": [], "b": []})


@pytest.mark.parametrize("name", ["adult.csv", "pums_10000.csv", "patients_demographic.csv"])
def test_files_of_others_with_one_row_each_are_left_alone(name: str, trial_data: Path) -> None:
    """Census and survey files, if they are here."""
    assert not candidates(trial_data / name)
