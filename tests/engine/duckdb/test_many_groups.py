"""Many groups: what a list of them would be, without their objects."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import duckdb
import pytest

from discreet.engine.duckdb.many_groups import ManyGroups

ROWS: list[tuple[Any, ...]] = [
    (None, date(1, 1, 1), datetime(2024, 2, 29, 12, 0, 0, 123456), True, -(2**125)),
    ("a", None, None, None, 0),
    ("ä\n'", date(9999, 12, 31), datetime(1, 1, 1), False, 2**126 - 1),
]


@pytest.fixture
def groups() -> ManyGroups[tuple[Any, ...]]:
    """The rows, from DuckDB's Arrow."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE found (k VARCHAR, d DATE, t TIMESTAMP, b BOOLEAN, m HUGEINT)")
        connection.executemany("INSERT INTO found VALUES (?, ?, ?, ?, ?::HUGEINT)", ROWS)
        return ManyGroups(connection.sql("FROM found").to_arrow_table(), tuple)


def test_they_are_what_a_list_of_them_is(groups: ManyGroups[tuple[Any, ...]]) -> None:
    """Values are those that DuckDB itself hands out, in their order, from any place."""
    assert [*groups] == ROWS
    assert (len(groups), groups[0], groups[-1]) == (3, ROWS[0], ROWS[-1])
    assert [groups[start:stop] for start in range(4) for stop in range(4)] == [
        ROWS[start:stop] for start in range(4) for stop in range(4)
    ]
    sums = groups.of(slice(4, 5), lambda row: int(*row))
    assert [*sums] == [row[4] for row in ROWS]
    assert {type(value) for value in sums} == {int}
    with pytest.raises(IndexError):
        groups[3]


def test_they_show_nothing(groups: ManyGroups[tuple[Any, ...]]) -> None:
    """Neither what they are nor how many."""
    assert repr(groups) == str(groups) == f"{groups}" == "<groups: private>"


def test_they_are_read_in_their_order(groups: ManyGroups[tuple[Any, ...]]) -> None:
    """Another one would be a list's affair."""
    with pytest.raises(ValueError, match="in their order"):
        groups[::2]
