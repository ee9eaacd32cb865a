"""What protocols are told of a question: before its answer is there, and what became of it."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import (
    Category,
    DiscreetError,
    InvalidArgument,
    LedgerCorrupt,
    QuestionFailed,
    SourceMissing,
    TooManyWaiting,
    UnknownColumn,
    from_dict,
)
from discreet.service import EncodedAnswer, PublicError, ReleaseTimes, Reply
from discreet.service.jobs import described
from support.errors import errors_below

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


def test_what_is_expected_is_said_for_each_question(people: dp.Protected) -> None:
    """As JSON it is a list of columns for one question, and a list of such lists for several."""
    one = described(people.plan(next(iter(QUESTIONS)), epsilon=1), ReleaseTimes(), MEMORY)
    two = described(people.plan(list(QUESTIONS)[:2], epsilon=1), ReleaseTimes(), MEMORY)
    assert [[each.column for each in columns] for columns in two.expected] == [["n"], ["s", "a", "m"]]
    assert [each["column"] for each in one.to_json()["expected"]] == ["n"]
    assert [[each["column"] for each in columns] for columns in two.to_json()["expected"]] == [["n"], ["s", "a", "m"]]
    assert list(one.to_json()["expected"][0]) == ["column", "error", "rows", "ranks", "share", "informative", "words"]


def test_nothing_is_told_of_what_is_unavailable_but_that_it_is() -> None:
    """Whatever its message says: of every error of that category, also where it has passed through a process."""
    for kind in [DiscreetError, *errors_below(DiscreetError)]:
        error = from_dict({"code": kind.code, "message": "secret.csv", "hint": "secret.csv", "place": (1, 2)})
        told = PublicError.of(error)
        for each in (told, PublicError.of(told.as_error())):
            assert (each.code, each.category) == (kind.code, kind.category)
            assert ("secret" in str(each)) is (kind.category is not Category.UNAVAILABLE)
    assert PublicError.of(SourceMissing("x")).message != PublicError.of(LedgerCorrupt("x")).message


def test_an_error_is_raised_again_as_it_was() -> None:
    """Of its own kind, with all that was told."""
    first = UnknownColumn("no such column", hint="did you mean age?", place=(1, 8))
    again = PublicError.of(first).as_error()
    assert type(again) is UnknownColumn
    assert again.to_dict() == first.to_dict()
    assert PublicError.of(TooManyWaiting("slowly", retry_after=7)).as_error().retry_after == 7


@pytest.mark.parametrize(
    "parts",
    [{}, {"answer": EncodedAnswer(content=b"{}", values=0), "error": PublicError.of(QuestionFailed())}],
    ids=["neither", "both"],
)
def test_a_reply_has_an_answer_or_an_error(parts: Any) -> None:
    """Exactly one of them."""
    with pytest.raises(InvalidArgument):
        Reply(**parts)


def test_replies_are_counted_by_what_they_are() -> None:
    """What was paid for and failed apart from what was refused."""
    replies = [Reply(answer=EncodedAnswer(content=b"{}", values=0)), Reply.of(UnknownColumn("x"))]
    assert [each.kind for each in (*replies, Reply.of(QuestionFailed()))] == ["answered", "refused", "failed"]
