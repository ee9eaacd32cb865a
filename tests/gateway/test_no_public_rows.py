"""Public tables of which a question keeps no row, or few: the answer is empty and free, or it is measured."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import BudgetError, QueryError

pytestmark = pytest.mark.usefixtures("kept_sessions")

AGGREGATES = (
    *("COUNT(*)", "COUNT(DISTINCT cust)", "SUM(amt)", "AVG(amt)", "MEDIAN(amt)", "MAX(amt)", "MODE(kind)"),
    *("VAR_SAMP(amt)", "CORR(amt, x)", "REGR_SLOPE(amt, x)", "REGR_COUNT(amt, x)", "COUNT(DISTINCT item)"),
)
LIMITS = (dp.Limits(rows=20), dp.Limits(groups=5, rows_per_group=5))
FILTERS = ("m = 2 AND brand = 'b0'", "brand = 'b1' AND m = 2")
"""Which leave none and one of the public rows."""


def shop(path: Path, limits: dp.Limits, *, rows: int = 2, unique: bool = True) -> dp.Protected:
    """Sales, whose keys of interest are those of a public table."""
    sales = pa.table(
        {
            "cust": [n // 3 for n in range(60)],
            "item": [n % 3 for n in range(60)],
            "amt": [n % 10 for n in range(60)],
            "x": [n % 7 for n in range(60)],
            "kind": ["a" if n % 2 else "b" for n in range(60)],
        }
    )
    items = pa.table({"id": [0, 1], "brand": ["b0", "b1"], "m": [1, 2]}).slice(0, rows)
    return dp.protect(
        [
            dp.table(
                sales,
                name="sales",
                unit=dp.Unit("cust"),
                limits=limits,
                columns={"amt": dp.Bounds(0, 10), "x": dp.Bounds(0, 7), "kind": dp.Keys(["a", "b"])},
            ),
            dp.table(items, name="item", public=True, unique=["id"] if unique else []),
        ],
        name="shop",
        budget=dp.Budget(epsilon=100, delta=1e-3),
        ledger=path / "ledger",
    )


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_filter_that_leaves_no_public_group_is_answered_free(tmp_path: Path, limits: dp.Limits) -> None:
    """For each aggregate: an empty answer, exact; where a row is left, there is its group."""
    with shop(tmp_path, limits) as census:
        for aggregate, keeps in product(AGGREGATES, FILTERS):
            sql = f"SELECT brand, {aggregate} AS v FROM sales JOIN item ON item = id WHERE {keeps} GROUP BY brand"
            plan = census.plan(sql, epsilon=1)
            assert plan.is_free == (keeps == FILTERS[0]), sql
        spent = census.spent
        answer = census.ask(
            f"SELECT brand, COUNT(*) AS n FROM sales JOIN item ON item = id WHERE {FILTERS[0]} GROUP BY brand",
            epsilon=1,
        )
        assert len(answer["n"]) == 0
        assert census.spent == spent
        assert any("ublic tables hold no row" in warning for warning in answer.warnings)


@pytest.mark.parametrize(("rows", "unique"), list(product((0, 1, 2), (True, False))))
def test_few_public_rows(tmp_path: Path, rows: int, unique: bool) -> None:
    """Public tables of 0, 1 and 2 rows: whatever is refused is refused as a question, and nothing else fails."""
    shapes = (
        "SELECT brand, COUNT(*) AS n FROM sales JOIN item ON item = id GROUP BY brand",
        "SELECT brand, m, COUNT(*) AS n FROM sales JOIN item ON item = id GROUP BY brand, m",
        "SELECT brand, m, COUNT(*) AS n FROM sales JOIN item ON item = id GROUP BY ROLLUP (brand, m)",
        "SELECT brand, kind, SUM(amt) AS n FROM sales LEFT JOIN item ON item = id GROUP BY brand, kind",
        "SELECT SUM(amt) AS n FROM sales JOIN item ON item = id",
        "SELECT COUNT(*) AS n FROM sales JOIN item ON item = id WHERE m = 2 AND brand = 'b0'",
        "SELECT SUM(m) AS n FROM sales JOIN item ON item = id",
        "SELECT COUNT(*) AS n FROM sales WHERE item IN (SELECT id FROM item WHERE m > 5)",
        "SELECT DISTINCT brand FROM sales JOIN item ON item = id",
    )
    with shop(tmp_path, dp.Limits(rows=20), rows=rows, unique=unique) as census:
        for sql in shapes:
            try:
                answer = census.ask(sql, epsilon=1)
            except (QueryError, BudgetError):
                continue
            if "GROUP BY brand" in sql and not rows and "LEFT" not in sql:
                assert len(answer["n"]) == 0
