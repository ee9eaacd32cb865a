"""The page on SQL is the whole language: every example on it can be planned, and together they use every function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

import pyarrow as pa
import pytest
import sqlglot

import discreet as dp
from discreet.errors import QueryError
from discreet.query import ir
from discreet.query.aggregates import AGGREGATES
from discreet.query.ir import FUNCTIONS
from discreet.query.sql.aggregate_syntax import AGGREGATE_SYNTAX
from discreet.query.sql.scalar_syntax import SCALAR_SYNTAX
from support.pages import blocks
from support.project import DOCS
from support.tables import synthetic_census

PAGE = (DOCS / "reference" / "sql.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("## Aggregates") : PAGE.index("## What is refused")]

COLUMNS = {
    "condition": dp.Column(kind=dp.Kind.BOOLEAN),
    "whole": dp.Column(kind=dp.Kind.INTEGER, bounds=dp.Bounds(0, 9)),
    "unbounded": dp.Column(kind=dp.Kind.INTEGER),
    "real": dp.Column(kind=dp.Kind.REAL, bounds=dp.Bounds(0, 9)),
    "text": dp.Column(kind=dp.Kind.TEXT),
    "key": dp.Column(kind=dp.Kind.TEXT, keys=dp.Keys(["a", "b"])),
    "date": dp.Column(kind=dp.Kind.DATE, bounds=dp.Bounds(date(2020, 1, 1), date(2020, 12, 31))),
    "moment": dp.Column(
        kind=dp.Kind.TIMESTAMP,
        bounds=dp.Bounds(datetime(2020, 1, 1), datetime(2020, 12, 31)),
    ),
    "ever": dp.Column(kind=dp.Kind.DATE),
}
"""One column for each way in which an aggregate may take or refuse its argument."""

NUMBERS = {"condition", "whole", "real"}
TAKES = {
    "a condition": {"condition"},
    "any kind": set(COLUMNS),
    "any kind but real": set(COLUMNS) - {"real"},
    "numbers with a known range": NUMBERS,
    "two numbers with known ranges": NUMBERS,
    "numbers, dates and timestamps with a known range": NUMBERS | {"date", "moment"},
    "anything with a public list of values": {"condition", "whole", "key", "date"},
}
"""The columns that the words in the table of aggregates mean."""

ELSEWHERE = {
    *("RawString", "DateTrunc", "SafeDivide", "DateSub", "TsOrDsAdd", "AddMonths"),
    *("DatetimeAdd", "DatetimeSub", "TimestampAdd", "TimestampSub"),
}
"""What other dialects make of spellings that the page shows as DuckDB has them."""


def examples() -> list[str]:
    """The expressions in the first column of the tables of functions.

    `'year'` alone, after "also", stands for the expression before it with that text in the place of its first one.
    """
    found: list[str] = []
    for row in re.findall(r"^\| (`.*?`) \|", PAGE[PAGE.index("## Functions") :], re.MULTILINE):
        whole = ""
        for part in re.findall(r"`([^`]+)`", row):
            whole = whole if re.fullmatch(r"'\w+'", part) else part
            found.append(part if whole == part else re.sub(r"'\w+'", part, whole, count=1))
    return found


def questions() -> list[str]:
    """The questions on the page that aren't there to be refused, and one about each example."""
    asked = [block.text for block in blocks(PAGE) if block.language == "sql" and not block.mark]
    return [*asked, *(f"SELECT COUNT(*) AS n FROM census WHERE ({one}) IS NOT NULL" for one in examples())]


def functions(expr: ir.Expr) -> Iterator[str]:
    """The names of the functions in an expression."""
    if isinstance(expr, ir.Call):
        yield expr.function.name
        for arg in expr.args:
            yield from functions(arg)


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """The synthetic census, declared."""
    with synthetic_census(tmp_path_factory.mktemp("sql")) as protected:
        yield protected


def test_the_page_shows_every_function(census: dp.Protected) -> None:
    """Each example is planned, and each of the allowed functions is in one of them."""
    shown = set()
    for text in questions():
        source = census.plan(text, epsilon=1, delta=1e-9).question.source
        shown |= set(functions(source.predicate)) if isinstance(source, ir.Where) else set()
    assert FUNCTIONS.keys() - shown == set()


def test_the_page_shows_every_spelling() -> None:
    """Each syntax that is understood is in one of the examples."""
    trees = [sqlglot.parse_one(text, dialect="duckdb") for text in questions()]
    shown = {type(node).__name__ for tree in trees for node in tree.walk()}
    assert SCALAR_SYNTAX.keys() - shown - ELSEWHERE == set()


@pytest.mark.parametrize("name", AGGREGATES)
def test_the_page_shows_every_aggregate(name: str) -> None:
    """Each aggregate that is offered has its row."""
    shown = {"units": "COUNT(DISTINCT unit)", "distinct": "COUNT(DISTINCT x)", "quantile": "MEDIAN(x)"}
    assert shown.get(name, f"{name.upper()}(") in TABLE


@pytest.mark.parametrize("written", re.findall(r"`([A-Z_0-9]+\([^`]+)`", TABLE))
def test_every_aggregate_on_the_page_is_offered(census: dp.Protected, written: str) -> None:
    """As it is written there."""
    of = re.sub(r"\bx\b", "age", written).replace("unit", "ssn").replace(", y)", ", hours)")
    of = of.replace("(y, ", "(hours, ")
    of = of.replace("…", "age > 3")
    assert census.plan(f"SELECT {of} AS a FROM census", epsilon=1).question.aggregates


def arguments() -> list[tuple[str, str]]:
    """Each aggregate with an argument as the table writes it, and the words for what it takes."""
    found, takes = [], ""
    for names, words in re.findall(r"^\| (`.*?`) \| (.*?) \|", TABLE, re.MULTILINE):
        takes = takes if words == "the same" else words
        found += [(name, takes) for name in re.findall(r"`([^`]+)`", names) if re.search(r"\bx\b", name)]
    return found


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """A table with a column of each kind, with bounds or keys and without."""
    day, moment = date(2020, 1, 2), datetime(2020, 1, 2)
    row = {"who": 1, "condition": True, "whole": 1, "unbounded": 1, "real": 0.5, "text": "a", "key": "a"}
    table = pa.Table.from_pylist([row | {"date": day, "moment": moment, "ever": day}])
    ledger = tmp_path_factory.mktemp("kinds") / "kinds.ledger"
    unit, limits, budget = dp.Unit("who"), dp.Limits(rows=2), dp.Budget(epsilon=1)
    with dp.protect(table, name="t", unit=unit, limits=limits, columns=COLUMNS, budget=budget, ledger=ledger) as found:
        yield found


@pytest.mark.parametrize(("written", "takes"), arguments())
def test_every_aggregate_takes_what_the_page_says(kinds: dp.Protected, written: str, takes: str) -> None:
    """It is planned for the columns that the words mean, and refused for all others."""
    taken = set()
    for column in COLUMNS:
        asked = re.sub(r"\bx\b|\by\b", column, written.replace("x > 0", "x"))
        try:
            kinds.plan(f"SELECT {asked} AS a FROM t", epsilon=1)
        except QueryError:
            continue
        taken.add(column)
    assert taken == TAKES[takes]


def test_the_page_shows_every_form_of_an_aggregate() -> None:
    """Each syntax that is understood is on the page, but for names that only other dialects have."""
    shown = {
        type(node).__name__
        for written in re.findall(r"`([A-Z_0-9]+\([^`]+)`", TABLE)
        for node in sqlglot.parse_one(written.replace("…", "y"), dialect="duckdb").walk()
    }
    assert AGGREGATE_SYNTAX.keys() - shown == set()
