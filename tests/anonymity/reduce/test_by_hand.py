"""Generalising by hand: what is shown, and which k that reaches, beside a count of rows by hand."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from discreet.anonymity import Digits, Flat, Masking, generalize
from discreet.census import synthetic
from discreet.errors import DiscreetError, InvalidArgument


def test_the_k_is_that_of_a_count_by_hand() -> None:
    """Over all levels of two columns: each cell is the value's, and the smallest class is as large as said."""
    people = synthetic(300).select(["age", "zip", "sex"])
    rows = people.to_pylist()
    for age, zip_ in product((0, 1, 2, 9), (0, 2, 4, 5)):
        found = generalize(people, ["age", "zip"], {"age": (Digits(), age), "zip": (Masking(), zip_)}, keep=["sex"])
        shown = Counter(
            (
                row["age"] if age == 0 else str(row["age"] // 10 ** min(age, 2) * 10 ** min(age, 2)),
                row["zip"] if zip_ == 0 else row["zip"][: 5 - zip_] + "*" * zip_ if zip_ < 5 else "*",
            )
            for row in rows
        )
        cells = Counter((row["age"], row["zip"]) for row in found.table.to_pylist())
        assert Counter({(str(a), z): n for (a, z), n in cells.items()}) == Counter(
            {(str(a), z): n for (a, z), n in shown.items()}
        )
        assert found.k == min(shown.values())
        assert found.is_anonymous(found.k)
        assert not found.is_anonymous(found.k + 1)
        assert found.table.column_names == ["age", "zip", "sex"]


def test_a_missing_value_is_shown_as_such() -> None:
    """It makes a class of its own, at every level that isn't one group."""
    table = {"age": [31, 32, None, 39]}
    assert generalize(table, ["age"], {"age": (Digits(), 1)}).k == 1
    assert generalize(table, ["age"], {"age": (Flat(), 1)}).k == 4
    assert generalize({"age": []}, ["age"]).k == 0
    assert str(generalize({"age": [1]}, ["age"])) == "k = 1 by age: 1 row in 1 class, 100 % of them unique"


def test_what_is_refused() -> None:
    """No column, a text for a list, a level of another column or below 0, a column that isn't there, a misfit."""
    table = {"age": [31, 32], "name": ["a", "b"]}
    for columns, levels in (
        ([], {}),
        ("age", {}),
        (["age"], {"name": (Flat(), 1)}),
        (["age"], {"age": (Flat(), -1)}),
        (["agee"], {}),
        (["name"], {"name": (Digits(), 1)}),
    ):
        with pytest.raises(DiscreetError):
            generalize(table, columns, levels)
    with pytest.raises(InvalidArgument):
        generalize(table, ["age"], keep="name")
