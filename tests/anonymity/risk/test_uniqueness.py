"""How selective columns are: by definition, by enumeration, and on people who don't exist.

Special uniques: the minimal sets of every row, one by one.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import exp, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import Missing
from discreet.anonymity.risk import expected_rows, special_uniques, uniqueness
from discreet.census import synthetic
from discreet.errors import InvalidArgument
from support.slow_risk import Table, apart, hidden, rows_of, tables

FALSE_ALARM = 1e-9
PEOPLE = 32_561


@given(tables(), st.sampled_from([Missing.OWN_VALUE, Missing.WILDCARD]))
def test_it_is_its_definition(table: Table, missing: Missing) -> None:
    """Rows by how many share their value, distinct values per row, and the share of pairs told apart."""
    found = uniqueness(table, list(table), missing=missing)
    sizes = Counter(hidden(table, list(table), missing))
    rows = rows_of(table, list(table))
    assert {size: found.shared_by(size) for size in range(len(rows) + 2)} == {
        size: sizes[size] for size in range(len(rows) + 2)
    }
    assert found.unique == sizes[1]
    assert found.unique_share == (sizes[1] / len(rows) if rows else 0.0)
    assert found.distinction == (len(set(rows)) / len(rows) if rows else 0.0)
    told, pairs = apart(table, list(table), missing)
    assert found.separation == (float(Fraction(told, pairs)) if pairs else 1.0)


def test_it_says_so() -> None:
    """In words, with the figures."""
    text = str(uniqueness({"zip": ["1", "1", "2"], "sex": ["F", "F", "F"]}))
    assert "zip, sex" in text
    assert "1 row whose value nobody shares (33.3 %)" in text
    assert "in pairs    2 rows" in text


@pytest.mark.parametrize(("rows", "values"), [(1, 1), (3, 1), (4, 2), (5, 3), (3, 4)])
def test_what_is_expected_is_the_mean_over_all_tables(rows: int, values: int) -> None:
    """Every way to give each row one of the values, counted."""
    ways = list(product(range(values), repeat=rows))
    for shared in range(1, rows + 2):
        mean = Fraction(sum(times for way in ways for times in Counter(way).values() if times == shared), len(ways))
        assert expected_rows(rows, values, shared_by=shared) == pytest.approx(float(mean), rel=1e-12)


def test_what_is_expected_of_all_sizes_is_all_rows() -> None:
    """Every row shares its value with somebody or nobody."""
    assert sum(expected_rows(300, 40, shared_by=size) for size in range(1, 301)) == pytest.approx(300, rel=1e-11)


def test_the_textbooks_figures() -> None:
    """N·exp(−(N−1)/D): dates of birth over 62 years, about 7,850 of 32,563 alone by 2 %, and 11,000 in pairs by 2 %."""
    rows, days = 32_563, 22_640
    assert expected_rows(rows, days) == pytest.approx(rows * exp(-(rows - 1) / days), rel=1e-4)
    assert expected_rows(rows, days) == pytest.approx(7_850, rel=0.02)
    assert expected_rows(rows, days, shared_by=2) == pytest.approx(11_000, rel=0.02)
    assert expected_rows(rows, 100_000) == pytest.approx(rows * exp(-rows / 100_000), rel=1e-4)


@pytest.mark.parametrize("wrong", [{"rows": -1}, {"values": 0}, {"shared_by": 0}])
def test_what_is_expected_of_nonsense(wrong: dict[str, int]) -> None:
    """Is refused."""
    with pytest.raises(InvalidArgument):
        expected_rows(**{"rows": 1, "values": 1, **wrong})


def room(rows: int) -> float:
    """How far the number of unique rows may be from its mean.

    One row's value moves it by 2 at the most, so by McDiarmid's inequality it is off by t with probability at most
    2·exp(−t²/2N), which here is a false alarm of 1e-9.
    """
    return sqrt(2 * rows * log(2 / FALSE_ALARM))


def test_zip_codes_single_out_as_many_as_expected() -> None:
    """100,000 codes alike. False alarm 1e-9; codes of 80,000 are caught, as they would be but once in 10⁹ times."""
    found = uniqueness(synthetic(PEOPLE), ["zip"])
    assert abs(found.unique - expected_rows(PEOPLE, 100_000)) < room(PEOPLE)
    twin = [str(int(code) * 4 // 5) for code in synthetic(PEOPLE).column("zip").to_pylist()]
    wrong = uniqueness({"zip": twin}, ["zip"])
    assert abs(wrong.unique - expected_rows(PEOPLE, 100_000)) > room(PEOPLE)
    assert expected_rows(PEOPLE, 100_000) - expected_rows(PEOPLE, 80_000) > 1.5 * room(PEOPLE)


def test_dates_of_birth_and_both_together() -> None:
    """A quarter is alone by date of birth; with the ZIP code everybody is but a couple.

    Two given people agree in both with probability 1/(22,645·100,000) or little more, so 0.23 pairs are expected; five
    or more have a probability below 1e-5, and ten below 1e-14.
    """
    people = synthetic(PEOPLE)
    by_date = uniqueness(people, ["dob"])
    assert abs(by_date.unique - expected_rows(PEOPLE, 22_645)) < room(PEOPLE)
    both = uniqueness(people, ["dob", "zip"])
    assert PEOPLE - both.unique < 20
    assert by_date.unique_share < 0.3


POLICIES = [Missing.OWN_VALUE, Missing.WILDCARD]


@given(tables(), st.sampled_from(POLICIES), st.integers(1, 5))
def test_every_row_has_its_minimal_sets(table: Table, missing: Missing, at_most: int) -> None:
    """Sets by which the row is alone while it isn't by any set within; counted by row, by size and by column."""
    names = list(table)
    rows = len(table[names[0]])
    sets = [chosen for size in range(1, at_most + 1) for chosen in combinations(names, size)]
    alone = {chosen: [size == 1 for size in hidden(table, chosen, missing)] for chosen in sets}
    smallest, uses, number = [0] * at_most, dict.fromkeys(names, 0), 0
    for row in range(rows):
        singling = [set(chosen) for chosen in sets if alone[chosen][row]]
        minimal = [one for one in singling if not any(other < one for other in singling)]
        number += len(minimal)
        for one in minimal:
            for name in one:
                uses[name] += 1
        if minimal:
            smallest[min(map(len, minimal)) - 1] += 1
    found = special_uniques(table, at_most=at_most, missing=missing)
    assert found.smallest == tuple(smallest)
    assert dict(zip(found.columns, found.uses, strict=True)) == uses
    assert (found.sets, found.never) == (number, rows - sum(smallest))


@given(tables(), st.sampled_from(POLICIES))
def test_all_columns_single_out_the_unique_rows(table: Table, missing: Missing) -> None:
    """With sets of all sizes, whoever is unique has a minimal set, and nobody else."""
    found = special_uniques(table, at_most=len(table), missing=missing)
    assert sum(found.smallest) == uniqueness(table, list(table), missing=missing).unique
    assert found.to_dict()["never"] == found.units - sum(found.smallest)


@pytest.mark.parametrize("wrong", [{"at_most": 0}, {"columns": []}, {"columns": "a"}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    """Sets of none, and no columns."""
    with pytest.raises(InvalidArgument):
        special_uniques({"a": [1]}, **wrong)  # type: ignore[arg-type]  # wrong on purpose
