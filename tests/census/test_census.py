"""The synthetic census: the same people every time, as different from each other as real ones."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from math import exp
from typing import Any

import numpy as np
import pytest

from discreet.census import CENSUS_DAY, EDUCATION, FEMALE_NAMES, LARGEST, MALE_NAMES, SURNAMES, _ids, synthetic
from discreet.errors import InvalidArgument

PEOPLE = 32_561
DAYS_OF_BIRTH = 62 * 365.25
ZIPS = 100_000


@pytest.fixture(scope="module")
def people() -> dict[str, list[Any]]:
    """The columns of the census in its usual size."""
    return {name: column.to_pylist() for name, column in zip(*_parts(synthetic()), strict=True)}


def _parts(table: Any) -> tuple[list[str], list[Any]]:
    """Names and columns of an Arrow table."""
    return table.column_names, table.columns


def share_of_unique(values: list[Any]) -> float:
    """The share of records whose value no other record has."""
    counts: dict[Any, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return sum(count == 1 for count in counts.values()) / len(values)


def correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's correlation."""
    return float(np.corrcoef(left, right)[0, 1])


def test_it_has_people_of_every_kind(people: dict[str, list[Any]]) -> None:
    """The census has its columns, nothing is missing, and values stay where the documentation says."""
    assert list(people) == ["name", "dob", "zip", "ssn", "sex", "education", "age", "income", "hours"]
    assert all(len(column) == PEOPLE and None not in column for column in people.values())
    assert set(people["sex"]) == {"Female", "Male"}
    assert set(people["education"]) == set(EDUCATION)
    assert set(people["age"]) == set(range(18, 80))
    assert 0 == min(people["income"]) < max(people["income"]) <= 500_000
    assert 0 == min(people["hours"]) < max(people["hours"]) <= 99
    assert all(re.fullmatch(r"\d{5}", code) for code in people["zip"])


def test_it_is_the_same_in_another_process() -> None:
    """Another interpreter, with another hash seed, makes the same people."""
    program = "from discreet.census import synthetic; print(synthetic(500).to_pylist())"
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": "1"}
    )
    assert run.stdout.strip() == str(synthetic(500).to_pylist())


def test_a_longer_census_begins_with_the_shorter() -> None:
    """How many there are changes nobody."""
    assert synthetic(1_000).slice(0, 100).equals(synthetic(100))


def test_ids_were_never_issued(people: dict[str, list[Any]]) -> None:
    """Every id starts with 9, has a group below the taxpayers' numbers, and belongs to one person."""
    assert all(re.fullmatch(r"9\d\d-(0[1-9]|[1-4]\d)-\d{4}", one) for one in people["ssn"])
    assert not any(one.endswith("-0000") for one in people["ssn"])
    assert len(set(people["ssn"])) == PEOPLE


def test_ids_stay_different_in_a_large_census() -> None:
    """No two of a million ids are alike; and the modulus is the kind of prime for which cubing is one-to-one."""
    assert len(set(_ids(1_000_000).to_pylist())) == 1_000_000
    assert LARGEST % 3 == 2
    assert all(LARGEST % divisor for divisor in range(2, int(LARGEST**0.5) + 1))


def test_age_is_that_on_census_day(people: dict[str, list[Any]]) -> None:
    """Everybody's age is the number of birthdays they've had on census day."""

    def age(born: date) -> int:
        return CENSUS_DAY.year - born.year - ((CENSUS_DAY.month, CENSUS_DAY.day) < (born.month, born.day))

    assert people["age"] == [age(born) for born in people["dob"]]
    birthdays = {(born.month, born.day) for born in people["dob"]}
    assert len(birthdays) == 366
    assert (CENSUS_DAY.month, CENSUS_DAY.day) in birthdays


def test_how_selective_each_column_is(people: dict[str, list[Any]]) -> None:
    """The share of unique values is what N records over D values give: exp(−(N−1)/D); two columns single out all."""
    assert share_of_unique(people["dob"]) == pytest.approx(exp(-(PEOPLE - 1) / DAYS_OF_BIRTH), abs=0.01)
    assert share_of_unique(people["zip"]) == pytest.approx(exp(-(PEOPLE - 1) / ZIPS), abs=0.01)
    assert share_of_unique(list(zip(people["dob"], people["zip"], strict=True))) > 1 - 3 / PEOPLE


def test_columns_hang_together_as_in_life(people: dict[str, list[Any]]) -> None:
    """Income rises with education and hours; men earn and work more; mid-life earns and works most."""
    level = [EDUCATION.index(one) for one in people["education"]]
    male = [float(one == "Male") for one in people["sex"]]
    from_midlife = [abs(age - 45) for age in people["age"]]
    assert correlation(people["income"], level) > 0.2
    assert correlation(people["income"], people["hours"]) > 0.3
    assert correlation(people["income"], male) > 0.05
    assert correlation(people["hours"], male) > 0.03
    assert correlation(people["income"], from_midlife) < -0.2
    assert correlation(people["hours"], from_midlife) < -0.3
    assert abs(correlation(level, male)) < 0.02


def test_given_names_follow_sex(people: dict[str, list[Any]]) -> None:
    """A woman has a woman's name, a man a man's; common names are common."""
    assert len(FEMALE_NAMES) == len(MALE_NAMES) == len(set(FEMALE_NAMES) | set(MALE_NAMES)) / 2
    assert len(set(SURNAMES)) == len(SURNAMES)
    given = [name.split(" ")[0] for name in people["name"]]
    assert all((one in FEMALE_NAMES) == (sex == "Female") for one, sex in zip(given, people["sex"], strict=True))
    assert given.count(FEMALE_NAMES[0]) > 2 * given.count(FEMALE_NAMES[-1]) > 0


@pytest.mark.parametrize("n", [0, -1, LARGEST + 1, 1.0, True, "3"])
def test_a_number_of_people_out_of_range_is_refused(n: object) -> None:
    """What isn't a whole number within the range is an invalid argument, before any memory is taken."""
    with pytest.raises(InvalidArgument, match="a census has from 1 to"):
        synthetic(n)  # type: ignore[arg-type]  # that is the point
