"""Minimal identifying sets: all of them, and nothing else, against every subset counted by itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import Missing, read
from discreet.anonymity.risk import minimal_identifiers, uniqueness
from discreet.anonymity.risk.identifiers import search
from discreet.anonymity.risk.partition import _sorted, start
from discreet.errors import InvalidArgument, SchemaMismatch
from support.examples import examples
from support.slow_risk import Table, tables, unique

POLICIES = [Missing.OWN_VALUE, Missing.WILDCARD]
SHARES = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)]


def subsets(names: list[str], at_most: int | None) -> list[tuple[str, ...]]:
    """All sets of columns with one or more, up to so many."""
    most = len(names) if at_most is None else min(at_most, len(names))
    return [chosen for size in range(1, most + 1) for chosen in combinations(names, size)]


@given(tables(), st.sampled_from(POLICIES), st.sampled_from(SHARES), st.sampled_from([None, 1, 2]))
def test_all_minimal_sets_are_found(table: Table, missing: Missing, share: Fraction, at_most: int | None) -> None:
    """Those that single out more than the share, while no smaller set within does."""
    rows = len(next(iter(table.values())))
    identifying = [chosen for chosen in subsets(list(table), at_most) if unique(table, chosen, missing) > share * rows]
    expected = {one for one in identifying if not any(set(other) < set(one) for other in identifying)}
    found = minimal_identifiers(table, share=share, at_most=at_most, missing=missing)
    assert {each.columns for each in found.minimal} == expected
    assert len(found.minimal) == len(expected)
    assert [len(each.columns) for each in found.minimal] == sorted(len(each) for each in expected)


@dataclass(frozen=True)
class Pretended:
    """A partition of nobody's rows: one row is alone by every set that contains one of some sets."""

    identifying: tuple[frozenset[int], ...]
    columns: int
    chosen: frozenset[int] = frozenset()

    @property
    def unique(self) -> int:
        """Whether the columns identify."""
        return int(any(one <= self.chosen for one in self.identifying))

    @property
    def values(self) -> int:
        """Not asked for."""
        return 0

    @property
    def held(self) -> int:
        """Not asked for either."""
        return 0

    @property
    def pairs(self) -> int:
        """Nor this."""
        return 0

    def refined(self, column: int) -> Pretended:
        """With one more column."""
        return Pretended(self.identifying, self.columns, self.chosen | {column})

    def unique_with_rest(self, start: int) -> int:
        """With all columns from there on."""
        return Pretended(self.identifying, self.columns, self.chosen | set(range(start, self.columns))).unique


@examples(500)
@given(st.integers(1, 6), st.data())
def test_the_search_finds_every_minimal_set(columns: int, data: st.DataObject) -> None:
    """Of any family of sets that grows: no other way of identifying can be thought of."""
    some = st.frozensets(st.integers(0, columns - 1), min_size=1)
    drawn = data.draw(st.lists(some, max_size=8))
    minimal = {one for one in drawn if not any(other < one for other in drawn)}
    at_most = data.draw(st.integers(1, columns))
    found = search(Pretended(tuple(drawn), columns), columns, least=1, at_most=at_most)
    assert {each.columns for each in found.minimal} == {one for one in minimal if len(one) <= at_most}
    assert len(found.minimal) == len({each.columns for each in found.minimal})


@given(tables(), st.sampled_from(POLICIES))
def test_the_figures_of_a_set_are_its_uniqueness(table: Table, missing: Missing) -> None:
    """What is said of a set is what counting it by itself says; and so of every column alone."""
    found = minimal_identifiers(table, share=0, missing=missing)
    assert sorted(each.columns for each in found.alone) == sorted((name,) for name in table)
    for each in (*found.minimal, *found.alone):
        counted = uniqueness(table, each.columns, missing=missing)
        assert (each.unique, each.unique_share) == (counted.unique, counted.unique_share)
        assert (each.distinction, each.separation) == (counted.distinction, counted.separation)
    assert [each.unique for each in found.alone] == sorted((each.unique for each in found.alone), reverse=True)


@given(tables(most_rows=8), st.sampled_from(POLICIES), st.permutations(range(4)))
def test_the_order_of_columns_means_nothing(table: Table, missing: Missing, order: list[int]) -> None:
    """The sets are the same, each in the order that was asked for."""
    names = list(table)
    permuted = [names[place] for place in order if place < len(names)]
    found = minimal_identifiers(table, share="1/4", missing=missing)
    again = minimal_identifiers(table, permuted, share="1/4", missing=missing)
    assert {frozenset(each.columns): each.unique for each in found.minimal} == {
        frozenset(each.columns): each.unique for each in again.minimal
    }
    assert all(list(each.columns) == [name for name in permuted if name in each.columns] for each in again.minimal)


@given(tables(most_rows=12), st.sampled_from(POLICIES))
def test_every_partition_is_counted_right(table: Table, missing: Missing) -> None:
    """A partition and what it says of the columns that are still to come, along every path."""
    records = read(table, missing=missing)
    begin = start(records, records.names)
    whole = begin.whole
    for chosen in combinations(range(len(begin.names)), min(2, len(begin.names))):
        part = whole
        for column in chosen:
            part = part.refined(column)
        columns = [begin.names[column] for column in chosen]
        assert part.unique == unique(table, columns, missing)
        rest = [*columns, *begin.names[chosen[-1] + 1 :]]
        assert part.unique_with_rest(chosen[-1] + 1) == unique(table, rest, missing)


@given(st.lists(st.integers(0, 40), max_size=60))
def test_sorting_pairs_and_sorting_places_agree(drawn: list[int]) -> None:
    """Keys too long to be sorted with their places give the same groups."""
    keys, rows = np.array(drawn, dtype=np.int64), np.arange(len(drawn)) + 7
    short, long = _sorted(keys, 41, rows), _sorted(keys, 1 << 61, rows)
    assert short[2] == long[2]
    assert sorted(zip(*map(list, short[:2]), strict=True)) == sorted(zip(*map(list, long[:2]), strict=True))
    left = sorted(place + 7 for place, key in enumerate(drawn) if drawn.count(key) > 1)
    assert sorted(short[0].tolist()) == left


def test_many_values_are_divided_by_sorting() -> None:
    """Columns with more values than a table of counts has room for: sets of two of three identify."""
    rows = 3_000
    numbers = np.arange(rows)
    # each number occurs twice in every column, and no two rows share two of them
    table = pd.DataFrame({"a": numbers // 2, "b": (numbers + 1) // 2 % (rows // 2), "c": numbers % (rows // 2)})
    found = minimal_identifiers(table, share=0.5)
    assert {each.columns: each.unique for each in found.minimal} == {
        ("a", "b"): rows,
        ("a", "c"): rows,
        ("b", "c"): rows,
    }


def test_an_index_means_nothing() -> None:
    """A permuted index and permuted rows give the same sets."""
    table = pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 1, 1, 2]})
    expected = minimal_identifiers(table).to_dict()
    assert minimal_identifiers(table.iloc[[2, 0, 3, 1]]).to_dict() == expected
    assert minimal_identifiers(table.set_axis([9, 9, 7, 3])).to_dict() == expected


def test_they_are_shown() -> None:
    """One line each."""
    text = str(minimal_identifiers({"sex": ["F", "M", "F", "M"], "zip": ["1", "1", "2", "2"]}))
    assert text == "1 minimal set of columns singles out more than 10 % of the rows\n   100 %  sex, zip"


@pytest.mark.parametrize("wrong", [{"share": 1}, {"share": -0.1}, {"at_most": 0}, {"columns": []}, {"columns": "a"}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    """Shares outside [0, 1), no columns, sets of none."""
    with pytest.raises(InvalidArgument):
        minimal_identifiers({"a": [1]}, **wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_a_column_that_isnt_there() -> None:
    """Is named."""
    with pytest.raises(SchemaMismatch, match="'b'"):
        minimal_identifiers({"a": [1]}, ["b"])


def test_adult(trial_data: Path) -> None:
    """35 minimal sets of ARX's nine columns single out more than a tenth; few sets are counted."""
    found = minimal_identifiers(trial_data / "adult_arx" / "adult.csv", share=0.1)
    assert len(found.minimal) == 35
    assert found.counted < 2**9 - 1
    assert all(each.unique > 3_016 for each in found.minimal)
    for each in found.minimal[:3]:
        assert each.unique == uniqueness(trial_data / "adult_arx" / "adult.csv", each.columns).unique


def test_adult_with_thirteen_columns(trial_data: Path) -> None:
    """189 minimal sets single out more than half; most of the 8,191 sets are never counted."""
    records = read(trial_data / "adult.csv").without(["fnlwgt", "education-num"])
    found = minimal_identifiers(records, share=0.5)
    assert len(found.minimal) == 189
    assert found.counted < 2_000
