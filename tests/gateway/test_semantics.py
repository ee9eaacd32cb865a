"""Semantics: without noise, every answer equals the plain SQL's, bounded by hand."""

from __future__ import annotations

from math import isclose
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import discreet as dp

pytestmark = pytest.mark.usefixtures("kept_sessions")

BOUNDED = """
    SELECT person_id, CASE WHEN sex IN ('Female', 'Male') THEN sex END AS sex,
           IF(age IS NULL, NULL, LEAST(GREATEST(age, 0), 110)) AS age,
           IF(income IS NULL, NULL, LEAST(GREATEST(income, 0), 100)) AS income, city
    FROM people
"""

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM census",
    "SELECT COUNT(age) AS n, COUNT(*) AS m FROM census",
    "SELECT COUNT(*) AS n FROM census WHERE age >= 40",
    "SELECT SUM(age) AS s FROM census",
    "SELECT SUM(income) AS s FROM census WHERE sex = 'Female'",
    "SELECT AVG(age) AS a, AVG(income) AS i FROM census",
    "SELECT VAR_POP(age) AS a, VAR_SAMP(age) AS b, STDDEV_POP(income) AS c, STDDEV_SAMP(income) AS d FROM census",
    "SELECT sex, COUNT(*) AS n FROM census WHERE sex IS NOT NULL GROUP BY sex ORDER BY sex",
    "SELECT sex, SUM(age) AS s FROM census WHERE sex IN ('Female', 'Male') GROUP BY sex ORDER BY s DESC",
    "SELECT sex, COUNT(*) AS n FROM census WHERE sex IS NOT NULL GROUP BY sex HAVING COUNT(*) > 3",
    "SELECT sex, COUNT(*) AS n FROM census WHERE sex IS NOT NULL GROUP BY sex ORDER BY n DESC LIMIT 1",
    "SELECT sex, COUNT(*) AS n FROM census WHERE sex IS NOT NULL GROUP BY sex ORDER BY n LIMIT 1 OFFSET 1",
    "SELECT SUM(income) / COUNT(*) AS mean, ROUND(AVG(age), 1) AS rounded FROM census",
    "SELECT SUM(CASE WHEN age BETWEEN 30 AND 60 THEN income ELSE 0 END) AS s FROM census",
    "SELECT COUNT(*) AS n FROM census WHERE city LIKE 'B%'",
    "SELECT age >= 40 AS older, COUNT(*) AS n FROM census WHERE age IS NOT NULL GROUP BY age >= 40 ORDER BY older",
    "SELECT SUM(ABS(age - 50)) AS s, SUM(GREATEST(age, 40)) AS g FROM census WHERE age IS NOT NULL",
    "SELECT SUM(COALESCE(age, 0)) AS s, SUM(NULLIF(age, 52)) AS t FROM census",
    "SELECT SUM(age * income) AS s FROM census",
    "SELECT COUNT(*) * 2 AS twice, -COUNT(*) AS minus FROM census",
]


@pytest.mark.usefixtures("noiseless")
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_equal_the_bounded_sql(census: dp.Protected, people: pa.Table, question: str) -> None:
    """The exact part and the post-processing together compute what the SQL says, on values within bounds."""
    answer = census.ask(question, epsilon=1)
    with duckdb.connect() as connection:
        connection.register("people", people)
        expected = connection.execute(f"WITH census AS ({BOUNDED}) {question}").fetchall()
    found = [tuple(row.values()) for row in answer.rows()]
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        for value, plain in zip(row, other, strict=True):
            same = isclose(value, plain, rel_tol=1e-6, abs_tol=1e-6) if isinstance(plain, float) else value == plain
            assert same, (value, plain)


@pytest.mark.usefixtures("noiseless")
def test_public_keys_are_all_answered(census: dp.Protected) -> None:
    """A key without rows is a row of the answer; a value that isn't a key is not."""
    answer = census.ask("SELECT sex, COUNT(*) AS n FROM census WHERE age > 200 GROUP BY sex", epsilon=1)
    assert answer.rows() == [{"sex": "Female", "n": 0}, {"sex": "Male", "n": 0}]


@pytest.mark.usefixtures("noiseless")
@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        # person 1 has three rows, person 2 two: scaled to one row's weight they count 1 each
        (dp.Limits(rows=1), 7),
        (dp.Limits(rows=2), 9),
        (dp.Limits(rows=3), 10),
    ],
)
def test_units_over_their_limit_are_averaged_down(
    people: pa.Table, tmp_path: Path, limits: dp.Limits, expected: int
) -> None:
    """A person's rows weigh no more than the limit, and rows of nobody count nothing."""
    with dp.protect(
        people,
        name="t",
        unit=dp.Unit("person_id"),
        columns={"age": dp.Bounds(0, 110), "city": dp.Keys(["Bern", "Basel"])},
        limits=limits,
        budget=dp.Budget(epsilon=100),
        ledger=tmp_path / "l",
    ) as t:
        assert t.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)["n"] == [expected]
        assert t.ask("SELECT COUNT(DISTINCT person_id) AS n FROM t", epsilon=1)["n"] == [7]


@pytest.mark.usefixtures("noiseless")
def test_private_groups_below_the_threshold_are_left_out(people: pa.Table, tmp_path: Path) -> None:
    """A group of one person is never released, however certain the rest."""
    crowd = {"person_id": list(range(100, 300)), "sex": ["Male"] * 200, "age": [40] * 200, "income": [1.0] * 200}
    many = pa.concat_tables([people.slice(0, 1), pa.table(crowd | {"city": ["Genf"] * 200})])
    with dp.protect(
        many,
        name="t",
        unit=dp.Unit("person_id"),
        limits=dp.Limits(groups=1, rows_per_group=1),
        budget=dp.Budget(epsilon=100, delta=1e-3),
        ledger=tmp_path / "l",
    ) as t:
        answer = t.ask("SELECT city, COUNT(*) AS n FROM t GROUP BY city", epsilon=1, delta=1e-6)
        assert answer.rows() == [{"city": "Genf", "n": 200}]
