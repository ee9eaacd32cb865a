"""The groups that a public table's rows reach through filters and joins: against what DuckDB says of the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import duckdb
import hypothesis.strategies as st
import pytest
from hypothesis import given

from discreet.privacy import Bounds, Unit
from discreet.query.planner import groups as planner_groups
from discreet.query.planner.groups import reached
from discreet.query.sql import question
from discreet.tables import Column, Kind, Source, Table
from support.examples import examples

ROWS = (
    (1, "Rock", 1960, 1.5),
    (2, "Jazz", 1920, 2.0),
    (3, "Rock", 1990, None),
    (4, None, 1930, -1.0),
    (5, "folk", None, 0.25),
)
KINDS = {"id": Kind.INTEGER, "name": Kind.TEXT, "decade": Kind.INTEGER, "price": Kind.REAL}


def _values(place: int) -> tuple[int | str | None, ...]:
    """What a column holds, NULL at the end."""
    return tuple(sorted({row[place] for row in ROWS}, key=lambda value: (value is None, value)))  # type: ignore[arg-type,return-value]  # no reals are asked for


G = Table(
    name="g",
    source=Source(kind="csv", location="g.csv"),
    columns=tuple(
        replace(Column(name=name, kind=kind), values=None if kind is Kind.REAL else _values(place))
        for place, (name, kind) in enumerate(KINDS.items())
    ),
    unit=None,
    public=True,
    unique=("id",),
    rows=ROWS,
)
T = Table(
    name="t",
    source=Source(kind="csv", location="t.csv"),
    columns=(Column(name="g_id", kind=Kind.INTEGER), Column(name="x", kind=Kind.INTEGER)),
    unit=Unit.row(),
)

KEYS = ["name", "decade", "UPPER(name)", "decade // 20", "name || '!'", "decade > 1950", "COALESCE(name, 'none')"]
KEYS += ["CAST(FLOOR(price) AS INTEGER)"]  # of which the column alone makes no list
KEYS += ["id", "id // 2", "-id"]  # NULL without a partner only
CONDITIONS = [
    *("decade > 1925", "decade = 1930", "name <> 'Jazz'", "name IN ('Rock', 'folk')", "name IS NULL", "price > 0"),
    *("price IS NULL OR decade < 1950", "UPPER(name) = 'FOLK'", "id * 2 < 7", "decade IS NOT NULL", "id > 99"),
]


@pytest.fixture(scope="module")
def rows() -> Iterator[duckdb.DuckDBPyConnection]:
    """The public table in DuckDB."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE g (id BIGINT, name TEXT, decade BIGINT, price DOUBLE)")
        connection.executemany("INSERT INTO g VALUES (?, ?, ?, ?)", ROWS)
        yield connection


def groups(sql: str) -> set[object]:
    """What the question's key can be."""
    asked = question(sql, [T, G])
    ((_, key),) = asked.keys
    found = reached(asked.source, key)
    assert found is not None
    return set(found)


def differing(rows: duckdb.DuckDBPyConnection) -> list[str]:
    """The questions whose groups aren't those that the table has."""
    found: list[str] = []
    filters = st.lists(st.sampled_from(CONDITIONS), max_size=3)

    @given(st.sampled_from(KEYS), filters, filters, st.booleans())
    @examples(200)
    def search(key: str, joined: list[str], passed: list[str], is_left: bool) -> None:
        on, where = (" AND ".join(map("({})".format, each)) or "TRUE" for each in (joined, passed))
        kind = "LEFT JOIN" if is_left else "JOIN"
        sql = f"SELECT {key} AS k, COUNT(*) AS n FROM t {kind} g ON g_id = id AND {on} WHERE {where} GROUP BY k"
        missing = "UNION ALL SELECT NULL, NULL, NULL, NULL" if is_left else ""
        truth = rows.execute(
            f"SELECT DISTINCT {key} FROM (SELECT * FROM g WHERE {on} {missing}) AS g(id, name, decade, price) "
            f"WHERE {where}"
        ).fetchall()
        if groups(sql) != {value for (value,) in truth}:
            found.append(sql)

    search()
    return found


def test_groups_are_those_of_the_rows_that_pass(rows: duckdb.DuckDBPyConnection) -> None:
    """NULL is one for a row whose key is NULL and, after a LEFT JOIN, for having no partner, if WHERE lets it pass."""
    assert differing(rows) == []


@pytest.mark.parametrize("kept", ["rows without a partner", "rows that don't pass"])
def test_wrong_twins_are_caught(rows: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, kept: str) -> None:
    """Who forgets NULL after a LEFT JOIN, or the filters, is found out."""
    if kept == "rows that don't pass":
        monkeypatch.setattr(planner_groups._Passing, "_filtered", lambda _self, rows, _predicate: rows)
    else:
        before = planner_groups._Passing._joined
        monkeypatch.setattr(
            planner_groups._Passing, "_joined", lambda self, join: [row for row in before(self, join) or () if any(row)]
        )
    assert differing(rows) != []


def test_what_a_private_row_decides_leaves_all_groups() -> None:
    """A condition on both tables, or on the private one, drops none; nor does one on another use of the table."""
    every = {"Rock", "Jazz", "folk", None}
    for rest in (
        "WHERE x > 3",
        "WHERE x > decade",
        "WHERE decade = 1960 OR x = 1",
        "JOIN g AS h ON g_id = h.id WHERE h.id = 1",
    ):
        assert groups(f"SELECT g.name AS k, COUNT(*) AS n FROM t JOIN g ON g_id = g.id {rest} GROUP BY k") == every


def test_declared_keys_are_all_answered() -> None:
    """As those of a private table are, whatever the public one holds and the filters leave."""
    declared = replace(G, columns=(*G.columns[:2], replace(G.columns[2], bounds=Bounds(1980, 1983)), G.columns[3]))
    asked = question(
        "SELECT decade, COUNT(*) AS n FROM t JOIN g ON g_id = id WHERE id = 1 GROUP BY decade", [T, declared]
    )
    assert reached(asked.source, asked.keys[0][1]) == (1980, 1981, 1982, 1983, None)
