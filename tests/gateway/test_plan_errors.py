"""Plans: whatever the question, planning it raises errors of questions and budgets, and none that speaks of insides."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import BudgetError, InvalidArgument, QueryError

AGGREGATES = (
    *("COUNT(*)", "COUNT(amt)", "COUNT(DISTINCT cust)", "COUNT(DISTINCT item)", "SUM(amt)", "AVG(amt)", "MEDIAN(amt)"),
    *(
        "MIN(amt)",
        "MAX(x)",
        "MODE(kind)",
        "VAR_SAMP(amt)",
        "STDDEV_POP(x)",
        "CORR(amt, x)",
        "REGR_INTERCEPT(amt, x)",
        "QUANTILE_CONT(amt, 0.9)",
    ),
    *("SUM(amt) FILTER (WHERE x > 3)", "SUM(m)", "AVG(CAST(amt AS SMALLINT))", "SUM(amt * x)", "APPROX_TOP_K(kind, 2)"),
)
SOURCES = (
    *(
        "sales",
        "sales JOIN item ON item = id",
        "sales LEFT JOIN item ON item = id",
        "sales SEMI JOIN item ON item = id",
    ),
    "sales JOIN nothing ON item = nid",
    "(SELECT cust, kind, item, SUM(amt) AS amt, MAX(x) AS x FROM sales GROUP BY ALL) AS s JOIN item ON item = id",
    "(SELECT * FROM item WHERE m < 2) AS i JOIN sales ON item = id",
)
CONDITIONS = (
    *("m = 2", "brand = 'b0'", "m = 99", "m > 0", "brand IS NULL", "label = 'y'", "amt > 5", "amt > 50", "x IS NULL"),
    *("kind = 'a'", "kind = 'z'", "item IN (SELECT id FROM item WHERE m = 2)", "item IN (SELECT nid FROM nothing)"),
    *(
        "EXISTS (SELECT 1 FROM item WHERE id = item AND m > 5)",
        "m BETWEEN 3 AND 2",
        "FALSE",
        "born < '2020-06-01 10:00'",
    ),
)
KEYS = (
    *("brand", "m", "kind", "label", "item", "cust", "m % 2", "UPPER(brand)", "amt", "YEAR(born)", "DATE(seen)"),
    *("CASE WHEN m > 1 THEN brand END", "COALESCE(brand, 'none')", "born", "1"),
)
ENDS = (
    "",
    "",
    "",
    " HAVING n > 3",
    " ORDER BY n DESC LIMIT 2",
    " LIMIT 0",
    " LIMIT 3 OFFSET 5",
    " HAVING n > 3 AND FALSE",
)


@pytest.fixture(scope="module", params=[dp.Limits(rows=20), dp.Limits(groups=5, rows_per_group=5)], ids=str)
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """Sales, a public table of three rows, and one of none."""
    number = pa.array(range(30))
    sales = pa.table(
        {
            "cust": number,
            "item": number,
            "amt": number,
            "x": number,
            "kind": ["a"] * 30,
            "born": number.cast("int32").cast("date32"),
            "seen": number.cast("timestamp[us]"),
        }
    )
    items = pa.table({"id": [0, 1, 2], "brand": ["b0", "b1", "b0"], "m": [1, 2, 3], "label": ["x", None, "y"]})
    with dp.protect(
        [
            dp.table(
                sales,
                name="sales",
                unit=dp.Unit("cust"),
                limits=request.param,
                columns={"amt": dp.Bounds(0, 30), "x": dp.Bounds(0, 30), "kind": dp.Keys(["a", "b"])},
            ),
            dp.table(items, name="item", public=True, unique=["id"]),
            dp.table(pa.table({"nid": pa.array([], "int64")}), name="nothing", public=True),
        ],
        name="shop",
        budget=dp.Budget(epsilon=100, delta=1e-3),
        ledger=tmp_path_factory.mktemp("plans") / "ledger",
    ) as protected:
        yield protected


def asked(random: Random) -> str:
    """A question that somebody might ask, or nearly."""
    keys = random.sample(KEYS, random.choice([0, 0, 1, 1, 1, 2]))
    aggregates = random.sample(AGGREGATES, random.randint(1, 2))
    shown = ", ".join([*keys, f"{aggregates[0]} AS n", *aggregates[1:]])
    where = " AND ".join(random.sample(CONDITIONS, random.choice([0, 1, 1, 2])))
    grouped = random.choice([", ".join(keys), ", ".join(keys), f"ROLLUP ({', '.join(keys)})"]) if keys else ""
    return (
        f"SELECT {shown} FROM {random.choice(SOURCES)}{where and ' WHERE '}{where}"
        f"{grouped and ' GROUP BY '}{grouped}{random.choice(ENDS)}"
    )


def planned(shop: dp.Protected, rounds: int) -> None:
    """Plan so many questions, with offers of all sorts."""
    random, taken = Random(), 0  # noqa: S311 — for tests
    for _ in range(rounds):
        sql = asked(random)
        try:
            match random.randint(0, 3):
                case 0:
                    shop.plan(sql, epsilon=1)
                case 1:
                    shop.plan(sql, epsilon=1, delta=1e-9)
                case 2:
                    shop.plan(sql, rho=0.1)
                case _:
                    shop.plan(sql, epsilon=1, delta=1e-9, limits=dp.Limits(rows=random.randint(1, 9)))
            taken += 1
        except (QueryError, BudgetError):
            continue
        except InvalidArgument as error:
            pytest.fail(f"{sql}: {error}")
    assert taken >= rounds / 8


def test_planning_raises_errors_of_questions(shop: dp.Protected) -> None:
    """Anything else than these would be an accident."""
    planned(shop, 100)


@pytest.mark.soak
def test_planning_raises_errors_of_questions_for_long(shop: dp.Protected) -> None:
    """The same for 10,000 questions."""
    planned(shop, 5_000)
