"""What protocols are told of a question before its answer is there."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.service import ReleaseTimes
from discreet.service.jobs import described

MEMORY = 10**12

QUESTIONS = {
    "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex": [("sex", "text"), ("n", "integer")],
    "SELECT SUM(paid) AS s, AVG(age) AS a, MEDIAN(age) AS m FROM people": [
        ("s", "decimal(38,2)"),
        ("a", "real"),
        ("m", "integer"),
    ],
    "SELECT born, COUNT(*) > 3 AS many FROM people GROUP BY born": [("born", "date"), ("many", "boolean")],
    "SELECT SUM(paid) / 2 AS half, 2 * SUM(age) AS twice, MODE(sex) AS most FROM people": [
        ("half", "real"),
        ("twice", "integer"),
        ("most", "text"),
    ],
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Texts, whole numbers, decimals and dates."""
    rows = 40
    table = pa.table(
        {
            "sex": ["f", "m"] * (rows // 2),
            "age": [30, 41] * (rows // 2),
            "paid": [Decimal("1.25")] * rows,
            "born": [date(2020, 1, 1), date(2021, 1, 1)] * (rows // 2),
        }
    )
    columns = {
        "sex": dp.Keys(["f", "m"]),
        "age": dp.Bounds(0, 110),
        "paid": dp.Bounds(0, 100),
        "born": dp.Keys([date(2020, 1, 1), date(2021, 1, 1)]),
    }
    folder: Path = tmp_path_factory.mktemp("columns")
    with dp.protect(
        table, name="people", unit=dp.Unit.row(), columns=columns, budget=dp.Budget(epsilon=100), ledger=folder / "l"
    ) as found:
        yield found


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_plan_names_the_columns_of_its_answer(people: dp.Protected, question: str) -> None:
    """By name and kind, as they are once the answer is there; and no more than the API has always said is JSON."""
    plan = people.plan(question, epsilon=1)
    planned = described(plan, ReleaseTimes(), MEMORY)
    assert [tuple(each) for each in planned.columns[0]] == QUESTIONS[question]
    answer = people.ask(question, epsilon=1)
    assert [(each.name, each.kind) for each in answer.columns] == QUESTIONS[question]
    assert "columns" not in json.loads(json.dumps(planned.to_json()))


def test_a_plan_of_several_questions_names_those_of_each(people: dp.Protected) -> None:
    """In their order."""
    together = people.plan(list(QUESTIONS), epsilon=4)
    planned = described(together, ReleaseTimes(), MEMORY)
    assert [[tuple(column) for column in each] for each in planned.columns] == list(QUESTIONS.values())
