"""Poison: a row made to break a question changes neither the kind of outcome, nor an error's bytes, nor the charge."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp

pytestmark = pytest.mark.usefixtures("kept_sessions")

EXPRESSIONS = [
    "x + b", "x - b", "x * b", "x / b", "x // b", "x % b", "-x", "ABS(x)", "SIGN(x)", "SQRT(x)", "ROUND(y, 2)",
    "FLOOR(y)", "CEIL(y)", "y / x", "y * y * y", "1 / (x - 3)", "CAST(t AS INTEGER)", "CAST(t AS DOUBLE)",
    "TRY_CAST(t AS INTEGER)", "CAST(y AS INTEGER)", "CAST(free AS DOUBLE)", "GREATEST(LEAST(free, 9), 0)",
    "NULLIF(x, 3)", "COALESCE(x, b)", "CASE WHEN free > 0 THEN x ELSE 1 / x END", "LENGTH(t)", "YEAR(d)", "MONTH(d)",
    "EXTRACT(day FROM d)", "IF(x > 0, y, x)",
]  # fmt: skip
CONDITIONS = [
    "free > 5", "free = 9223372036854775807", "x BETWEEN 1 AND 3", "t LIKE 'a%'", "t IN ('a', 'b')",
    "d >= DATE '2020-01-01'", "UPPER(t) = 'A'", "CAST(t AS DATE) > DATE '2020-01-01'", "1 / x > 0", "NOT (y > 0.5)",
    "x IS DISTINCT FROM b", "SUBSTRING(t, 1, 1) = 'a'", "TRIM(t) || 'x' = 'ax'",
    "DATE_TRUNC('month', d) = DATE '2020-01-01'",
]  # fmt: skip
KEYS = ["x > 1", "x % 3", "CASE WHEN t LIKE 'a%' THEN 1 ELSE 0 END", "t", "YEAR(d)", "free", "y > 0.5"]

CALM = {"x": 1, "b": 2, "free": 3, "y": 0.5, "t": "a", "d": date(2020, 1, 2)}
POISON: list[dict[str, Any]] = [
    {"x": 0, "b": 0, "free": 0, "y": 0.0, "t": "", "d": None},
    {"x": None, "b": None, "free": None, "y": None, "t": None, "d": None},
    {"x": 2**63 - 1, "b": -(2**63), "free": 2**63 - 1, "y": float("inf"), "t": "9" * 400, "d": date.max},
    {"x": -(2**63), "b": 2**63 - 1, "free": -(2**63), "y": float("-inf"), "t": "\x00\u202e'\"", "d": date.min},
    {"x": 3, "b": -1, "free": -1, "y": float("nan"), "t": "1e999", "d": date(1970, 1, 1)},
    {"x": 3, "b": 3, "free": 1, "y": 5e-324, "t": "2020-13-45", "d": date(2020, 2, 29)},
]
SCHEMA = pa.schema([(name, kind) for name, kind in zip(
    CALM, [pa.int64(), pa.int64(), pa.int64(), pa.float64(), pa.string(), pa.date32()], strict=True
)])  # fmt: skip

COLUMNS = {
    "x": dp.Column(name="x", kind=dp.Kind.INTEGER, bounds=dp.Bounds(-3, 3)),
    "b": dp.Column(name="b", kind=dp.Kind.INTEGER, bounds=dp.Bounds(-9, 9)),
    "free": dp.Column(name="free", kind=dp.Kind.INTEGER),
    "y": dp.Column(name="y", kind=dp.Kind.REAL, bounds=dp.Bounds(0, 1)),
    "t": dp.Column(name="t", kind=dp.Kind.TEXT),
    "d": dp.Column(name="d", kind=dp.Kind.DATE),
}


def _questions() -> list[str]:
    """Every expression summed, every condition counted, every key grouped by."""
    sums = ", ".join(f"SUM(GREATEST(LEAST({expr}, 5), -5)) AS s{n}" for n, expr in enumerate(EXPRESSIONS))
    return [
        f"SELECT {sums} FROM t",
        *(f"SELECT COUNT(*) AS n FROM t WHERE {condition}" for condition in CONDITIONS),
        *(f"SELECT COUNT(*) AS n FROM t GROUP BY {key}" for key in KEYS),
    ]


def _asked(kind: str) -> list[str]:
    """The questions of such a table; fewer of a file, whose rows lie in a snapshot as those in memory do."""
    return _questions()[:: 1 if kind == "memory" else 4]


def _outcomes(rows: list[dict[str, Any]], folder: Path, kind: str) -> list[str]:
    """What an analyst can see of each question but the noisy numbers: the kind of outcome, its bytes, the charge."""
    folder.mkdir()
    table: object = pa.Table.from_pylist(rows, schema=SCHEMA)
    if kind == "csv":
        import pyarrow.csv as pc

        pc.write_csv(table, folder / "t.csv")
        table = folder / "t.csv"
    seen = []
    budget = dp.Budget(epsilon=1000, delta=1e-3)
    with dp.protect(table, name="t", unit=dp.Unit.row(), columns=COLUMNS, budget=budget, ledger=folder / "l") as t:
        for question in _asked(kind):
            try:
                answer = t.ask(question, epsilon=1, delta=1e-9)
                seen.append(f"answered {answer.names} {answer.cost} {answer.entry}")
            except dp.DiscreetError as error:
                seen.append(json.dumps(error.to_dict()))
            seen.append(str(t.spent))
    return seen


@pytest.mark.parametrize("kind", ["memory", "csv"])
@pytest.mark.parametrize(
    "poisons", [[POISON], pytest.param([[poison] for poison in POISON], marks=pytest.mark.soak)], ids=["all", "each"]
)
def test_rows_change_nothing_but_numbers(poisons: list[list[dict[str, Any]]], kind: str, tmp_path: Path) -> None:
    """The same outcomes, errors and charges with poison rows as without any: all of them together, or each alone."""
    calm = _outcomes([CALM] * 5, tmp_path / "calm", kind)
    assert sum(line.startswith("answered") for line in calm) == len(_asked(kind)), calm
    for number, poison in enumerate(poisons):
        assert _outcomes([CALM] * 4 + poison, tmp_path / f"poison{number}", kind) == calm
