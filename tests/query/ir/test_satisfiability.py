"""What is called impossible holds for no row: against DuckDB, over every row that keeps to the declarations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import duckdb
import hypothesis.strategies as st
import pytest
from hypothesis import given

from discreet.privacy import Bounds, Keys, Unit
from discreet.query import ir
from discreet.query.ir import conditions, contradiction
from discreet.query.ir.literals import literal
from discreet.query.sql import question
from discreet.tables import Column, Kind, Source, Table
from support.examples import examples

VALUES = {
    "color": ["'red'", "'green'", "NULL"],
    "age": ["0", "1", "2", "NULL"],
    "x": ["0.0", "0.5", "1.0", "NULL"],
    "city": ["''", "'a'", "'b'", "NULL"],
    "n": ["-2", "0", "1", "3"],
    "ok": ["TRUE", "FALSE", "NULL"],
    "day": ["DATE '2024-01-01'", "DATE '2024-01-03'", "NULL"],
}
"""For each column some values that its declaration allows; of colours, ages and truths all of them."""

COLUMNS = (
    Column(name="color", kind=Kind.TEXT, keys=Keys(["red", "green"])),
    Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 2)),
    Column(name="x", kind=Kind.REAL, bounds=Bounds(0, 1)),
    Column(name="city", kind=Kind.TEXT),
    Column(name="n", kind=Kind.INTEGER, nullable=False),
    Column(name="ok", kind=Kind.BOOLEAN),
    Column(name="day", kind=Kind.DATE),
)
T = Table(name="t", source=Source(kind="csv", location="t.csv"), columns=COLUMNS, unit=Unit.row())

_TEXTS = ["'red'", "'green'", "'purple'", "'RED'"]
_CITIES = ["NULL", "'red'", "'a'", "'b'"]
_WHOLE = ["-1", "0", "1", "2", "3"]
_COMPARED = ["=", "<>", "<", "<=", ">", ">="]
_SURE = ("color", "age", "ok")
"""The columns of which `VALUES` has all values."""


@st.composite
def _atoms(draw: st.DrawFn, columns: tuple[str, ...]) -> str:
    """A condition on one or two columns."""
    column, sign = draw(st.sampled_from(columns)), draw(st.sampled_from(_COMPARED))
    if draw(st.integers(0, 5)) == 0:
        return f"{column} IS {draw(st.sampled_from(['', 'NOT ']))}NULL"
    match column:
        case "color":
            texts = draw(st.lists(st.sampled_from([*_TEXTS, "NULL"]), min_size=1, max_size=3))
            forms = [f"color = {texts[0]}", f"color IN ({', '.join(texts)})", f"color NOT IN ({', '.join(texts)})"]
            return draw(st.sampled_from([*forms, f"UPPER(color) {sign} 'RED'", f"color IS DISTINCT FROM {texts[0]}"]))
        case "ok":
            return draw(st.sampled_from(["ok", "NOT ok", "ok = TRUE", f"(age {sign} 1) = ok"]))
        case "city":
            return f"city {sign} {draw(st.sampled_from(_CITIES))}"
        case "day":
            return f"day {sign} DATE '{draw(st.sampled_from(['2023-12-31', '2024-01-01', '2024-01-02']))}'"
        case _:
            one, other = draw(st.sampled_from(_WHOLE)), draw(st.sampled_from(_WHOLE))
            computed = [f"{column} * 2", f"-{column}"] if column != "n" else []  # which has no bounds
            value = draw(st.sampled_from([column, column, f"COALESCE({column}, 5)", *computed]))
            case_ = f"CASE WHEN {column} > {one} THEN NULL ELSE {column} END {sign} {other}"
            own = f"{value} {sign} {value}"
            return draw(st.sampled_from([f"{value} {sign} {one}", f"{value} BETWEEN {one} AND {other}", case_, own]))


def predicates(columns: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Conditions put together by AND, OR and NOT."""
    joined = st.tuples(st.sampled_from([" AND ", " AND ", " OR "]), st.integers(2, 3))
    return st.recursive(
        _atoms(columns),
        lambda inner: st.one_of(
            inner.map(lambda each: f"NOT ({each})"),
            joined.flatmap(lambda how: st.lists(inner, min_size=2, max_size=how[1]).map(how[0].join)).map(
                "({})".format
            ),
        ),
        max_leaves=5,
    )


def is_called_empty(predicate: str) -> bool:
    """Whether public facts prove that no row passes."""
    return contradiction(question(f"SELECT COUNT(*) AS c FROM t WHERE {predicate}", [T]).source) is not None


@pytest.fixture(scope="module")
def rows() -> Iterator[duckdb.DuckDBPyConnection]:
    """All rows that the values make: whichever rows a table has, those that pass are some of these."""
    with duckdb.connect() as connection:
        names, kinds = ", ".join(VALUES), ("TEXT", "BIGINT", "DOUBLE", "TEXT", "BIGINT", "BOOLEAN", "DATE")
        connection.execute(f"CREATE TABLE t ({', '.join(map(' '.join, zip(VALUES, kinds, strict=True)))})")
        lines = ", ".join(f"({', '.join(row)})" for row in product(*VALUES.values()))
        connection.execute(f"INSERT INTO t ({names}) VALUES {lines}")
        yield connection


def some_row_passes(rows: duckdb.DuckDBPyConnection, predicate: str) -> bool:
    """The truth."""
    return bool(rows.execute(f"SELECT 1 FROM t WHERE {predicate} LIMIT 1").fetchall())


def counterexample(rows: duckdb.DuckDBPyConnection) -> str | None:
    """A condition that is called impossible, and holds for a row; None if none is found."""
    found: list[str] = []

    @given(predicates(tuple(VALUES)))
    @examples(1_000, at_least=200)
    def search(predicate: str) -> None:
        if not found and is_called_empty(predicate) and some_row_passes(rows, predicate):
            found.append(predicate)

    search()
    return found[0] if found else None


def test_what_is_called_impossible_holds_for_no_row(rows: duckdb.DuckDBPyConnection) -> None:
    """Over every combination of values that the declarations allow."""
    assert counterexample(rows) is None


@contextmanager
def _end_left_out() -> Iterator[None]:
    """A range without its ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conditions, "at_most", conditions.below)
        yield


@contextmanager
def _null_forgotten() -> Iterator[None]:
    """What may be NULL is taken never to be."""
    with pytest.MonkeyPatch.context() as patch:
        before = conditions._by_structure
        patch.setattr(conditions, "_by_structure", lambda each: _without_null(each, before))
        yield


def _without_null(condition: ir.Expr, before: object) -> frozenset[bool | None]:
    """IS NULL never holds."""
    if isinstance(condition, ir.Call) and condition.function.name == "is_null":
        return frozenset({False})
    return before(condition)  # type: ignore[operator]  # the function that stood there


@contextmanager
def _or_like_and() -> Iterator[None]:
    """OR can't hold once one of its parts can't."""
    with pytest.MonkeyPatch.context() as patch:
        before = conditions._connected_outcomes
        patch.setattr(conditions, "_connected_outcomes", lambda args, **_: before(args, decisive=False))
        yield


@pytest.mark.parametrize("wrong", [_end_left_out, _null_forgotten, _or_like_and])
def test_wrong_twins_are_caught(rows: duckdb.DuckDBPyConnection, wrong: object) -> None:
    """Each of these mistakes calls something impossible that isn't."""
    with wrong():  # type: ignore[operator]  # one of the above
        assert counterexample(rows) is not None


def test_conditions_on_few_values_are_decided_exactly(rows: duckdb.DuckDBPyConnection) -> None:
    """Where all values of all columns can be tried, what no row passes is called impossible."""

    @given(predicates(_SURE))
    @examples(100)
    def check(predicate: str) -> None:
        assert is_called_empty(predicate) is not some_row_passes(rows, predicate), predicate

    check()


FACTS = {
    "color = 'purple'": True,
    "age > 2": True,
    "age >= 2": False,
    "age < 0 OR age > 2": True,
    "NOT (age <= 2)": True,
    "age > 1 AND age < 1": True,
    "age BETWEEN 2 AND 1": True,
    "FALSE": True,
    "1 = 0": True,
    "NULL": True,
    "age = NULL": True,
    "age <> age": True,
    "x + 1 > x + 1": True,
    "NOT (city <= city)": True,
    "city IS DISTINCT FROM city": True,
    "x = x": False,
    "(x = x) IS NULL": False,
    "x IS NOT DISTINCT FROM x": False,
    "n IS NULL": True,
    "age IS NULL": False,
    "color IS NULL": False,
    "color IS NULL AND color = 'red'": True,
    "color NOT IN ('red', NULL)": True,
    "city = 'a' AND city = 'b'": True,
    "city = 'a' AND UPPER(city) = 'B'": True,
    "x > 0.5 AND x < 0.25": True,
    "x + 1 >= 2": False,
    "x + 1 > 2": True,
    "x + 1 > 3": True,
    "day > DATE '2024-01-02' AND day < DATE '2024-01-01'": True,
    "n > 5 AND n <= 5": True,
    "n > 5 AND age > n": True,
    "n = age AND n > 2": True,
    "CASE WHEN age > 2 THEN TRUE ELSE FALSE END": True,
    "n <= 9007199254740992.0 AND n >= 9007199254740993": False,
}


@pytest.mark.parametrize("predicate", FACTS)
def test_facts(predicate: str) -> None:
    """What these declarations prove, and what they don't. The last: as real numbers, the two are one."""
    assert is_called_empty(predicate) is FACTS[predicate]


RELATIONS = {
    "FROM t JOIN g ON t.color = g.shade": True,
    "FROM t JOIN g ON t.age = g.id": False,
    "FROM t JOIN g ON t.age = g.id WHERE g.id > 1 AND t.age < 1": True,
    "FROM t LEFT JOIN g ON t.color = g.shade": False,
    "FROM t LEFT JOIN g ON t.color = g.shade WHERE g.id IS NULL": False,
    "FROM t LEFT JOIN g ON t.age = g.id WHERE t.age > 2": True,
    "FROM t WHERE color IN (SELECT shade FROM g)": True,
    "FROM t WHERE NOT EXISTS (SELECT 1 FROM g WHERE g.shade = t.color)": False,
    "FROM (SELECT age FROM t WHERE age > 1) AS o WHERE age < 1": True,
    "FROM (SELECT age + 1 AS next FROM t) AS o WHERE next > 3": True,
    "FROM (SELECT age FROM p WHERE age > 2 UNION ALL SELECT age FROM p) AS o": False,
    "FROM (SELECT age FROM p WHERE age > 2 UNION ALL SELECT age FROM p WHERE age < 0) AS o": True,
    "FROM (SELECT person, COUNT(*) AS rows FROM p WHERE age > 2 GROUP BY person) AS o": True,
    "FROM p WHERE person IS NULL": True,
    "FROM p WHERE person = 3 AND age IS NULL": False,
}
G = Table(
    name="g",
    source=Source(kind="csv", location="g.csv"),
    columns=(
        Column(name="id", kind=Kind.INTEGER, bounds=Bounds(0, 9)),
        Column(name="shade", kind=Kind.TEXT, keys=Keys(["blue", "grey"])),
    ),
    unit=None,
    public=True,
    unique=("id", "shade"),
)
P = Table(
    name="p",
    source=Source(kind="csv", location="p.csv"),
    columns=(Column(name="person", kind=Kind.INTEGER), COLUMNS[1]),
    unit=Unit("person"),
)


@pytest.mark.parametrize("rest", RELATIONS)
def test_relations(rest: str) -> None:
    """An outer join keeps the rows of its left side, an anti join some of them; rows without an id are left out."""
    found = contradiction(question(f"SELECT COUNT(*) AS c {rest}", [T, G, P]).source)
    assert (found is not None) is RELATIONS[rest]


def test_many_conditions_take_bounded_work() -> None:
    """Steps are bounded over all conditions of a question together: what they don't settle is taken for possible."""
    wide = Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 9_000))
    table = Table(name="t", source=Source(kind="csv", location="t.csv"), columns=(wide,), unit=Unit.row())
    many = " AND ".join(f"age * 3 <> {3 * number}" for number in range(200))
    source = question(f"SELECT COUNT(*) AS c FROM t WHERE {many}", [table]).source
    assert contradiction(source) is None
    trial = ir.Trial()
    hard = [ir.call("eq", ir.call("multiply", ir.Column("t", "age", ir.column_type(wide)), literal(3)), literal(1))]
    assert [trial.may_hold(each) for each in hard * 4] == [False, True, True, True]


@pytest.mark.parametrize(
    ("others", "is_empty"),
    [("", False), (" AND a <> 'both'", True), (" AND b <> 'b1'", False), (" AND b = 'b1'", True)],
)
def test_equal_columns_have_the_values_that_both_may_have(others: str, is_empty: bool) -> None:
    """Of more pairs of values than there are steps to try them."""
    columns = [
        Column(name=name, kind=Kind.TEXT, keys=Keys([*(f"{name}{number}" for number in range(2_000)), "both"]))
        for name in "ab"
    ]
    table = Table(name="t", source=Source(kind="csv", location="t.csv"), columns=tuple(columns), unit=Unit.row())
    source = question(f"SELECT COUNT(*) AS c FROM t WHERE a = b{others}", [table]).source
    assert (contradiction(source) is not None) is is_empty
