"""Frames: Ibis expressions are questions like any other; without noise, DuckDB computes the same on the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from math import isclose
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pytest
from ibis import _

import discreet as dp
from discreet.errors import QueryError, Unsupported

pytestmark = pytest.mark.usefixtures("kept_sessions")

PEOPLE = 24
TABLES = {
    "people": pa.table(
        {
            "id": list(range(PEOPLE)),
            "sex": ["Female" if n % 3 else "Male" for n in range(PEOPLE)],
            "age": [15 + 3 * n for n in range(PEOPLE)],
            "born": [date(1990, 1, 1) + timedelta(days=100 * n) for n in range(PEOPLE)],
        }
    ),
    "visits": pa.table(
        {
            "person_id": [n % PEOPLE for n in range(200)],
            "region": [("north", "south", "west")[n % 7 % 3] for n in range(200)],
            "amount": [float(n % 41) for n in range(200)],
            "day": [date(2024, 1, 1) + timedelta(days=n % 300) for n in range(200)],
        }
    ),
    "regions": pa.table({"region": ["north", "south"], "zone": ["cold", "warm"]}),
}


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[dp.Protected]:
    """People and their visits, and regions that everybody knows."""
    many = dp.Limits(rows=1000)
    regions, zones = dp.Keys(["north", "south", "west"]), dp.Keys(["cold", "warm"])
    declared = [
        dp.table(
            TABLES["people"],
            name="people",
            unit=dp.Unit("id"),
            limits=many,
            columns={
                "sex": dp.Keys(["Female", "Male"]),
                "age": dp.Bounds(0, 120),
                "born": dp.Bounds(date(1990, 1, 1), date(1999, 12, 31)),
            },
        ),
        dp.table(
            TABLES["visits"],
            name="visits",
            links={"person_id": "people.id"},
            limits=many,
            columns={
                "region": regions,
                "amount": dp.Bounds(0, 100),
                "day": dp.Bounds(date(2024, 1, 1), date(2024, 12, 31)),
            },
        ),
        dp.table(
            TABLES["regions"],
            name="regions",
            public=True,
            unique=["region"],
            columns={"region": regions, "zone": zones},
        ),
    ]
    with dp.protect(
        declared, name="asked", budget=dp.Budget(epsilon=10_000), ledger=tmp_path / "asked.ledger"
    ) as protected:
        yield protected


Tables = Any
"""A mapping of names to Ibis tables."""


def _first_visits(t: Tables) -> Any:
    """The first visit of each person, by a window."""
    place = ibis.row_number().over(group_by="person_id", order_by=["day", "amount"])
    return t["visits"].mutate(place=place).filter(_.place == 0)


EXPRESSIONS: dict[str, Callable[[Tables], Any]] = {
    "count": lambda t: t["people"].filter(_.age >= 40).count(),
    "named count": lambda t: t["people"].filter(_.age >= 40).aggregate(n=_.count()),
    "mean": lambda t: t["people"].age.mean(),
    "several": lambda t: t["people"].aggregate(n=_.count(), s=_.age.sum(), m=_.age.mean(), u=_.id.nunique()),
    "spread": lambda t: t["people"].aggregate(v=_.age.var(), sd=_.age.std(), p=_.age.var(how="pop")),
    "groups": lambda t: t["people"].group_by("sex").aggregate(n=_.count(), s=_.age.sum()).order_by("sex"),
    "mutate": lambda t: (
        t["people"].mutate(decade=_.age // 10).filter(_.decade > 3).group_by("decade").agg(n=_.count()).filter(_.n > 0)
        .order_by("decade")
    ),
    "having": lambda t: (
        t["visits"].group_by("region").agg(n=_.count()).filter(_.n > 60).order_by(_.n.desc(), _.region).limit(1)
    ),
    "ratio": lambda t: (
        t["visits"].group_by("region").agg(n=_.count(), s=_.amount.sum()).mutate(r=_.s / _.n).order_by("region")
    ),
    "filtered": lambda t: t["people"].aggregate(n=_.count(where=_.sex == "Male"), s=_.age.sum(where=_.age > 30)),
    "cases": lambda t: (
        t["people"].mutate(kind=ibis.cases((_.age < 18, "minor"), else_="adult")).group_by("kind").agg(n=_.count())
        .order_by("kind")
    ),
    "if else": lambda t: t["people"].aggregate(s=(_.age > 30).ifelse(1, 0).sum(), m=(_.sex == "Male").mean()),
    "clip": lambda t: t["visits"].aggregate(s=_.amount.clip(5, 20).sum()),
    "dates": lambda t: t["people"].group_by(y=_.born.year()).agg(n=_.count()).filter(_.n > 0).order_by("y"),
    "truncate": lambda t: (
        t["people"].group_by(y=_.born.truncate("Y")).agg(n=_.count()).filter(_.n > 0).order_by("y").select("n")
    ),
    "weekdays": lambda t: t["people"].filter(_.born.day_of_week.index() == 0).count(),
    "date arithmetic": lambda t: t["people"].filter(_.born < ibis.date(1998, 12, 1) - ibis.interval(days=90)).count(),
    "intervals": lambda t: t["people"].filter(_.born + ibis.interval(months=3) < ibis.date(1995, 1, 1)).count(),
    "texts": lambda t: t["people"].filter(_.sex.lower().like("f%") & (_.sex.length() > 3)).count(),
    "substrings": lambda t: t["people"].filter(_.sex.substr(0, 2) == "Fe").count(),
    "lists": lambda t: t["people"].filter(_.sex.isin(["Male"]) | _.age.between(18, 30)).count(),
    "nulls": lambda t: t["people"].filter(_.age.notnull()).aggregate(s=_.age.fill_null(0).sum()),
    "inner join": lambda t: (
        t["visits"].join(t["regions"], "region").group_by("zone").agg(n=_.count(), s=_.amount.sum()).order_by("zone")
    ),
    "left join": lambda t: t["visits"].left_join(t["regions"], "region").filter(_.zone.isnull()).count(),
    "semi join": lambda t: t["visits"].semi_join(t["regions"], "region").amount.sum(),
    "anti join": lambda t: t["visits"].anti_join(t["regions"], "region").count(),
    "join along a link": lambda t: (
        t["visits"].join(t["people"], _.person_id == t["people"].id).group_by("sex").agg(s=_.amount.sum())
        .order_by("sex")
    ),
    "people without visits": lambda t: (
        t["people"].anti_join(t["visits"], t["people"].id == t["visits"].person_id).count()
    ),
    "union": lambda t: (
        t["visits"].select("person_id", "amount").union(t["visits"].select("person_id", "amount")).amount.sum()
    ),
    "distinct": lambda t: (
        t["visits"].select("person_id", "region").distinct().group_by("region").agg(n=_.count()).order_by("region")
    ),
    "total of each person": lambda t: (
        t["visits"].group_by("person_id").agg(total=_.amount.sum()).aggregate(m=_.total.clip(0, 400).mean())
    ),
    "features of each person": lambda t: (
        t["visits"].group_by("person_id").agg(n=_.count(), most=_.amount.max(), kinds=_.region.nunique())
        .filter(_.n > 8).aggregate(people=_.count(), m=_.most.mean(), k=_.kinds.clip(0, 3).sum())
    ),
    "window": lambda t: _first_visits(t).group_by("region").agg(n=_.count()).order_by("region"),
    "share of a total": lambda t: (
        t["visits"].mutate(most=_.amount.max().over(group_by="person_id")).filter(_.amount == _.most).count()
    ),
    "top": lambda t: t["visits"].region.topk(2),
    "value counts": lambda t: t["people"].sex.value_counts().order_by("sex"),
}  # fmt: skip


@pytest.mark.usefixtures("noiseless")
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_same_expression_on_the_rows(asked: dp.Protected, name: str) -> None:
    """Nothing is cut off here, and without noise the answer is what DuckDB makes of what Ibis writes."""
    answer = asked.ask(EXPRESSIONS[name](asked.tables), epsilon=10)
    with duckdb.connect() as connection:
        for table, data in TABLES.items():
            connection.register(table, data)
        result = connection.execute(str(ibis.to_sql(EXPRESSIONS[name](asked.tables), dialect="duckdb")))
        names, expected = [column[0] for column in result.description], result.fetchall()
    found = answer.rows()
    assert list(answer.names) == names
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        for value, plain in zip(row.values(), other, strict=True):
            same = isclose(value, plain, rel_tol=1e-4) if isinstance(plain, float) else value == plain
            assert same, (row, other)


CHOSEN: dict[str, Callable[[Tables], Any]] = {
    "median": lambda t: t["people"].aggregate(q=_.age.median()),
    "quantile": lambda t: t["people"].group_by("sex").aggregate(q=_.age.quantile(0.9)),
    "extremes": lambda t: t["people"].aggregate(a=_.age.min(), b=_.age.max()),
    "distinct values": lambda t: t["visits"].aggregate(n=_.region.nunique(), m=_.region.approx_nunique()),
    "mode": lambda t: t["visits"].aggregate(r=_.region.mode()),
    "correlation": lambda t: t["people"].aggregate(c=_.age.corr(_.id.clip(0, 50), how="pop")),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_what_is_chosen_rather_than_added_up_is_planned(asked: dp.Protected, name: str) -> None:
    """Quantiles, extremes, modes and their like have plans too."""
    plan = asked.plan(CHOSEN[name](asked.tables), epsilon=1)
    assert plan.question.aggregates


SAME = [
    (
        lambda t: t["people"].filter(_.age >= 40).aggregate(n=_.count()),
        "SELECT COUNT(*) AS n FROM people WHERE age >= 40",
    ),
    (
        lambda t: t["people"].filter(_.age >= 40).filter(_.sex == "Male").aggregate(m=_.age.mean()),
        "SELECT AVG(age) AS m FROM people WHERE age >= 40 AND sex = 'Male'",
    ),
    (
        lambda t: t["visits"].group_by("region").agg(n=_.count()).filter(_.n > 9).order_by(_.n.desc()).limit(2),
        "SELECT region, COUNT(*) AS n FROM visits GROUP BY region HAVING n > 9 ORDER BY n DESC LIMIT 2",
    ),
    (
        lambda t: t["people"].select("age", "sex").group_by("sex").agg(s=_.age.sum()),
        "SELECT sex, SUM(age) AS s FROM people GROUP BY sex",
    ),
]


@pytest.mark.parametrize(("frame", "sql"), SAME)
def test_an_expression_is_the_question_that_its_sql_is(
    asked: dp.Protected, frame: Callable[[Tables], Any], sql: str
) -> None:
    """One digest, so one answer: asked again in the other form, it costs nothing."""
    assert asked.plan(frame(asked.tables), epsilon=1).digest == asked.plan(sql, epsilon=1).digest
    first = asked.ask(frame(asked.tables), epsilon=1)
    second = asked.ask(sql, epsilon=1)
    assert (first.reused, second.reused) == (False, True)
    assert first.rows() == second.rows()


def test_a_plan_of_an_expression_is_carried_out(asked: dp.Protected) -> None:
    """A plan is made again from its SQL."""
    plan = asked.plan(asked.tables["people"].aggregate(n=_.count()), epsilon=1, dialect="bigquery")
    assert asked.ask(plan).names == ("n",)


@ibis.udf.scalar.python
def doubled(x: int) -> int:
    """A function in Python, which an expression may hold and a question may not."""
    return 2 * x


REFUSED: dict[str, Callable[[Tables], Any]] = {
    "rows": lambda t: t["people"],
    "a column": lambda t: t["people"].age,
    "a constant": lambda _t: ibis.literal(1),
    "a table of the analyst's own": lambda _t: ibis.memtable(pa.table({"a": [1]})).a.sum(),
    "another table": lambda _t: ibis.table({"a": "int64"}, name="secrets").a.sum(),
    "a catalogue": lambda _t: ibis.table({"age": "int64"}, name="people", database="information_schema").age.sum(),
    "another column": lambda _t: ibis.table({"salary": "int64"}, name="people").salary.clip(0, 1).sum(),
    "a function in Python": lambda t: t["people"].mutate(x=doubled(_.age)).x.clip(0, 9).sum(),
    "a hash": lambda t: t["people"].age.hash().clip(0, 1).sum(),
    "random numbers": lambda t: t["people"].mutate(x=ibis.random()).x.clip(0, 1).sum(),
    "now": lambda t: t["people"].filter(_.born < ibis.today()).count(),
    "an expression that Ibis can't write": lambda t: t["people"].age.corr(t["people"].id),
    "a list": lambda t: t["people"].age.collect(),
    "a sample": lambda t: t["people"].sample(0.5).count(),
    "the first rows": lambda t: t["people"].limit(5).count(),
    "a window over strangers": lambda t: t["visits"].mutate(n=ibis.row_number().over(order_by="day")).n.max(),
    "a cross join of people": lambda t: t["people"].cross_join(t["people"].view()).count(),
    "groups over strangers": lambda t: t["visits"].group_by("region").agg(n=_.count()).n.sum(),
    "a full join": lambda t: t["visits"].outer_join(t["regions"], "region").count(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(asked: dp.Protected, name: str) -> None:
    """What isn't supported is refused with a typed error, with no place in SQL that nobody wrote; nothing is spent."""
    with pytest.raises(QueryError) as caught:
        asked.ask(REFUSED[name](asked.tables), epsilon=1)
    assert caught.value.place is None
    assert caught.value.message
    assert asked.spent.epsilon == 0


@pytest.mark.parametrize("question", [3, None, b"SELECT 1", ["SELECT 1"], _.count(), lambda t: t.count()])
def test_what_is_no_question(asked: dp.Protected, question: Any) -> None:
    """Anything but SQL, an expression or a plan is a wrong argument."""
    with pytest.raises(dp.DiscreetError):
        asked.ask(question, epsilon=1)


def test_the_only_table_has_a_name_of_its_own(asked: dp.Protected, census: dp.Protected) -> None:
    """One table is `.table`; of several, `.tables` has each, with the declared kinds and no data."""
    assert census.table.schema() == census.tables["census"].schema()
    assert str(census.table.schema()["age"]) == "int64"
    assert list(asked.tables) == ["people", "visits", "regions"]
    with pytest.raises(dp.DiscreetError, match="several tables"):
        _ = asked.table
    with pytest.raises(ibis.common.exceptions.IbisError):
        census.table.count().execute()


def test_messages_of_ibis_are_short(asked: dp.Protected) -> None:
    """Its reason is kept, without its types and its traceback."""
    with pytest.raises(Unsupported, match="can't write this expression") as caught:
        asked.plan(REFUSED["an expression that Ibis can't write"](asked.tables), epsilon=1)
    assert "<class" not in str(caught.value)
    assert caught.value.__cause__ is None
