"""Prosecutor, journalist and marketer: by their definitions, row by row."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import Missing
from discreet.anonymity.risk import reidentification, uniqueness
from discreet.errors import InvalidArgument, SchemaMismatch
from support.slow_risk import Table, hidden, rows_of, tables

POLICIES = [Missing.OWN_VALUE, Missing.WILDCARD]
THRESHOLDS = [Fraction(1, 5), Fraction(1, 3), Fraction(1, 2), Fraction(2, 7), Fraction(1)]


@given(tables(), st.sampled_from(POLICIES), st.sampled_from(THRESHOLDS))
def test_the_prosecutor_finds_one_among_those_who_agree(table: Table, missing: Missing, threshold: Fraction) -> None:
    """Each row's risk is one over the rows that agree with it; highest, mean, and the share above the threshold."""
    risks = [Fraction(1, size) for size in hidden(table, list(table), missing)]
    found = reidentification(table, list(table), threshold=threshold, missing=missing)
    count = max(len(risks), 1)
    assert found.prosecutor.highest == float(max(risks, default=Fraction(0)))
    assert found.prosecutor.average == pytest.approx(float(sum(risks, Fraction(0)) / count), rel=1e-12)
    assert found.prosecutor.at_risk == pytest.approx(sum(risk > threshold for risk in risks) / count, rel=1e-12)
    assert found.marketer == found.prosecutor.average
    assert found.journalist == found.prosecutor  # nothing is known of the population


@given(tables(missing=False))
def test_the_marketer_gets_one_row_of_each_class(table: Table) -> None:
    """Classes over rows, exactly."""
    rows = rows_of(table, list(table))
    assert reidentification(table, list(table)).marketer == (len(set(rows)) / len(rows) if rows else 0.0)


@given(tables(), st.sampled_from(POLICIES))
def test_the_histogram_counts_every_row_once(table: Table, missing: Missing) -> None:
    """Of each size that occurs: its rows, and its classes, which are sets of equal rows."""
    rows, sizes = rows_of(table, list(table)), hidden(table, list(table), missing)
    histogram = reidentification(table, list(table), missing=missing).sizes.to_dict()
    assert [entry["size"] for entry in histogram] == sorted(set(sizes))
    for entry in histogram:
        chosen = [row for row, size in zip(rows, sizes, strict=True) if size == entry["size"]]
        assert (entry["units"], entry["classes"]) == (len(chosen), len(set(chosen)))


@given(tables(most_columns=2), tables(most_columns=2), st.sampled_from(THRESHOLDS))
def test_the_journalist_looks_in_the_population(table: Table, others: Table, threshold: Fraction) -> None:
    """The population is the rows and others; risk is one over those of it who agree."""
    columns = [name for name in table if name in others]
    population = {name: [*table[name], *others[name]] for name in columns}
    found = reidentification(table, columns, population=population, threshold=threshold)
    sample, everybody = rows_of(table, columns), rows_of(population, columns)
    risks = [Fraction(1, everybody.count(row)) for row in sample]
    count = max(len(sample), 1)
    classes = set(sample)
    people = sum(everybody.count(row) for row in classes)
    mean = sum(risks, Fraction(0)) / count
    assert found.journalist.highest == float(max(risks, default=Fraction(0)))
    assert found.journalist.at_risk == pytest.approx(sum(risk > threshold for risk in risks) / count, rel=1e-12)
    assert found.journalist.average == pytest.approx(float(max(mean, Fraction(len(classes), people or 1))), rel=1e-12)
    assert found.marketer == pytest.approx(float(mean), rel=1e-12)
    assert found.prosecutor == reidentification(table, columns, threshold=threshold).prosecutor
    assert found.population


def test_a_register_that_lacks_a_row_doesnt_make_it_safer() -> None:
    """Whoever is in the table is of the population, so risk is at most one over the row's class."""
    found = reidentification({"zip": ["1", "1", "2"]}, ["zip"], population={"zip": ["1"] * 4})
    assert found.journalist.highest == 1.0
    assert found.marketer == pytest.approx((2 / 4 + 1) / 3)
    assert found.lacking == 1


@given(tables(missing=False, most_columns=2), tables(missing=False, most_columns=2))
def test_rows_that_a_register_lacks_are_counted(table: Table, others: Table) -> None:
    """Those that are left over once each row has been looked for in it; and none without a register."""
    columns = [name for name in table if name in others]
    sample, register = (rows_of(each, columns) for each in (table, others))
    assert reidentification(table, columns).lacking == 0
    if len(register) < len(sample):
        with pytest.raises(InvalidArgument, match="fewer than the"):
            reidentification(table, columns, population=others)
    else:
        left = Counter(sample) - Counter(register)
        assert reidentification(table, columns, population=others).lacking == left.total()


def test_a_population_smaller_than_the_table_is_none() -> None:
    """The rows are drawn from it, so one row less is too few, whatever it holds; as many are enough."""
    ages = {"age": [34, 34, 35]}
    assert reidentification(ages, ["age"], population=ages).journalist.highest == 1.0
    for population in ({"age": [34, 35]}, {"age": pa.array([], pa.int64())}):
        with pytest.raises(InvalidArgument, match="fewer than the 3 that are drawn from it") as error:
            reidentification(ages, ["age"], population=population)
        assert "everyone" in error.value.hint
    with pytest.raises(SchemaMismatch, match="the population doesn't fit: the table has no column 'age'"):
        reidentification(ages, ["age"], population={"years": [34] * 9})


def test_an_index_and_an_order_mean_nothing() -> None:
    """A permuted, an offset and a repeated index give the same figures."""
    plain = pd.DataFrame({"age": [42, 52, 36, 42], "zip": ["1", "1", "2", "1"]})
    expected = reidentification(plain, ["age", "zip"]).to_dict()
    for index in ([3, 1, 0, 2], [10, 11, 12, 13], [0, 0, 0, 0]):
        assert reidentification(plain.set_axis(index), ["age", "zip"]).to_dict() == expected
    shuffled = plain.iloc[np.array([2, 0, 3, 1])]
    assert reidentification(shuffled, ["age", "zip"]).to_dict() == expected


def test_five_people_by_three_columns() -> None:
    """The textbook's five rows: everybody is unique, and generalised to nothing nobody is at risk of more than ⅕."""
    rows = [(42, 4, 25), (52, 24, 94), (36, 31, 57), (24, 2, 62), (73, 3, 70)]
    names = ["age", "preTestScore", "postTestScore"]
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    assert reidentification(table, names).prosecutor.average == 1.0
    zeros = {name: [0] * 5 for name in names}
    assert reidentification(zeros, names).prosecutor.at_risk == 0.0
    assert reidentification(zeros, names).prosecutor.highest == 0.2


@pytest.mark.parametrize("threshold", [0, -0.5, 1.1, float("nan"), "much"])
def test_thresholds_are_probabilities(threshold: object) -> None:
    """Above 0 and at most 1."""
    with pytest.raises(InvalidArgument):
        reidentification({"a": [1]}, ["a"], threshold=threshold)  # type: ignore[arg-type]  # wrong on purpose


def test_what_cant_be_read_is_refused() -> None:
    """A column that isn't there, names that aren't a list, and missing values where none are allowed."""
    with pytest.raises(SchemaMismatch):
        reidentification({"a": [1]}, ["b"])
    with pytest.raises(InvalidArgument):
        reidentification({"a": [1]}, "a")
    with pytest.raises(InvalidArgument):
        reidentification({"a": [1, None]}, ["a"], missing="refuse")


def test_adult(trial_data: Path) -> None:
    """All nine columns of ARX's Adult: 19,502 classes, 15,512 unique rows."""
    table = trial_data / "adult_arx" / "adult.csv"
    found = uniqueness(table)
    assert (found.rows, found.unique) == (30_162, 15_512)
    assert found.distinction == 19_502 / 30_162
    risk = reidentification(table, found.columns)
    assert risk.marketer == 19_502 / 30_162
    assert risk.prosecutor.highest == 1.0
