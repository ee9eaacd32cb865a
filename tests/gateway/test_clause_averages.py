"""AVG under BigQuery's clause is the average of each unit's own average, as its manual says; or it is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import Unsupported

CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 100000)"
OWN = "(SELECT uid, k, AVG(v) AS v FROM t GROUP BY uid, k)"
ROWS = {
    "uid": [1, 1, 2, 2, 3, 3, 3, 3],
    "v": [1.0, 1.0, 1.0, 2.0, 1.5, 1.5, 1.5, 1.5],
    "k": ["a"] * 8,
}
"""Over rows the average is 11/8; the units' averages are 1, 3/2 and 3/2, and theirs is 4/3."""


@pytest.fixture
def table(tmp_path: Path) -> dp.Protected:
    """Rows of three units."""
    return dp.protect(
        pa.table(ROWS),
        name="t",
        unit=dp.Unit("uid"),
        limits=dp.Limits(groups=1, rows_per_group=4),
        columns={"v": dp.Bounds(0, 2), "k": dp.Keys(["a"])},
        budget=dp.Budget(epsilon=10**7),
        ledger=tmp_path / "ledger",
    )


@pytest.mark.parametrize("dialect", ["bigquery", "duckdb"])
def test_an_average_over_rows_is_refused(table: dp.Protected, dialect: str) -> None:
    """At the clause, with the form that says it."""
    with table:
        for asked in ("AVG(v) AS a FROM t", "k, AVG(v) AS a FROM t GROUP BY k", f"AVG(v) AS a FROM {OWN}"):
            with pytest.raises(Unsupported, match="average of each unit's own average"):
                table.plan(f"{CLAUSE} {asked}", dialect=dialect)


def test_an_average_of_the_units_averages_is_taken(table: dp.Protected) -> None:
    """It is 4/3; without the clause, the average over rows is 11/8."""
    with table:
        own = table.ask(f"{CLAUSE} k, AVG(v) AS a FROM {OWN} GROUP BY k", dialect="bigquery")
        plain = table.ask("SELECT k, AVG(v) AS a FROM t GROUP BY k", epsilon=100_000)
    assert own["a"][0] == pytest.approx(4 / 3, abs=0.01)
    assert plain["a"][0] == pytest.approx(11 / 8, abs=0.01)
