"""Attacks that didn't succeed, kept: extreme values of every DuckDB type, and literals of every dialect."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import Unsupported

pytestmark = pytest.mark.usefixtures("kept_sessions")

ROWS = [
    ("infinity", "infinity", "infinity", "infinity", "nan", 2**127 - 1, True),
    ("2020-01-01 00:00:00+99:99", "-infinity", "-infinity", "-infinity", "inf", -(2**127) + 1, False),
    ("2020-01-01 00:00:00 Europe/Bern", "5881580-07-10", "294247-01-10 04:00:54.775806", "2020-01-01", "-inf", 0, None),
    ("290309-12-22 (BC)", "5877642-06-25 (BC)", "290309-12-22 (BC) 00:00:00", None, "-0.0", 1, True),
    ("1e400", "10000-01-01", "10000-01-01", "9999-12-31", "5e-324", -1, None),
    ("\0\u202e'\"", "0001-01-01", "0001-01-01", "0001-01-01", "1.7976931348623157e308", 2**63 - 1, True),
    ("9" * 400, None, None, None, None, -(2**63), False),
]
KEYS = [
    "CAST(s AS DATE)", "CAST(CAST(s AS TIMESTAMP) AS VARCHAR)", "CAST(ts AS VARCHAR)", "CAST(tz AS VARCHAR)", "d",
    "DATE_TRUNC('week', d)", "DATE_TRUNC('quarter', ts)", "CAST(i AS VARCHAR)", "UPPER(s) || s", "CAST(y AS INTEGER)",
]  # fmt: skip
NUMBERS = [
    "i % i", "i // 7", "i // i", "i * y", "-i", "1 / i", "y % 0.3", "POWER(y, 16)", "SQRT(y)", "ROUND(y, -3)",
    "YEAR(d)", "EXTRACT(second FROM tz)", "DATE_DIFF('day', d, ts)", "DATE_DIFF('month', ts, tz)", "CAST(s AS DOUBLE)",
    "LENGTH(s)",
]  # fmt: skip


def test_no_extreme_of_a_native_type_makes_a_question_fail(tmp_path: Path) -> None:
    """Each expression over each row at once; a failure would be an answer without noise."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE t (s VARCHAR, d DATE, ts TIMESTAMP, tz TIMESTAMPTZ, y DOUBLE, i HUGEINT, b BOOLEAN)"
        )
        casts = "?, CAST(? AS DATE), CAST(? AS TIMESTAMP), CAST(? AS TIMESTAMPTZ), CAST(? AS DOUBLE), "
        for s, d, ts, tz, y, i, b in ROWS:
            insert = f"INSERT INTO t VALUES ({casts} CAST(? AS HUGEINT), ?)"
            connection.execute(insert, [s, d, ts, tz, y, str(i), b])
    with dp.protect(
        path,
        name="t",
        unit=dp.Unit.row(),
        columns={"y": dp.Bounds(-5, 5), "i": dp.Bounds(-(2**52), 2**52)},
        budget=dp.Budget(epsilon=1000, delta=1e-3),
        ledger=tmp_path / "t.ledger",
        time_zone="UTC",
    ) as protected:
        sums = ", ".join(f"SUM(GREATEST(LEAST({number}, 5), -5)) AS s{n}" for n, number in enumerate(NUMBERS))
        questions = [
            f"SELECT {sums} FROM t",
            *(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY {key}" for key in KEYS),
        ]
        for question in questions:
            protected.ask(question, epsilon=1, delta=1e-6)


LITERALS = {
    ("duckdb", "'a\\'"): "a\\",
    ("mysql", "'\\0'"): "\0",
    ("bigquery", "'\\x00'"): "\0",
    ("databricks", "'\\u0000'"): "\0",
    ("mysql", "'\\' OR 1=1 -- '"): "' OR 1=1 -- ",
    ("bigquery", "'''a'b'''"): "a'b",
    ("duckdb", "'/*'"): "/*",
    ("duckdb", "'{0} $1 ? :x'"): "{0} $1 ? :x",
}


@pytest.mark.usefixtures("noiseless")
def test_a_literal_of_any_dialect_stays_a_literal(tmp_path: Path) -> None:
    """Quotes, escapes, NULs and placeholders compare as text, and reach no SQL."""
    texts = [*LITERALS.values(), "x"]
    with dp.protect(
        pa.table({"s": texts}),
        name="t",
        unit=dp.Unit.row(),
        budget=dp.Budget(epsilon=1000),
        ledger=tmp_path / "t.ledger",
    ) as protected:
        for (dialect, literal), text in LITERALS.items():
            question = f"SELECT COUNT(*) AS n FROM t WHERE s = {literal}"
            if dialect in {"mysql", "tsql"}:  # where texts are compared without case, which isn't supported
                with pytest.raises(Unsupported):
                    protected.plan(question, epsilon=1, dialect=dialect)
                continue
            answer = protected.ask(question, epsilon=1, dialect=dialect)
            assert answer["n"] == [texts.count(text)], (dialect, literal)
