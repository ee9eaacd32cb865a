"""Who answers: exactly, exactly but not about few, with bare noise, or through the gateway."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from math import inf, sqrt
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.attacks.targets import Answers, Bare, Exact, Restricted
from discreet.attacks.targets.sql_conditions import where
from discreet.errors import InvalidArgument, UnknownColumn

STAFF = {
    "name": ["Ada", "Bob", "O'Hara", "Di", None, "Eve"],
    "pay": [70, 56, 48, 61, 52, 90],
    "day": [date(2020, 1, day) for day in range(1, 7)],
    "old": [True, False, None, True, False, True],
}


def staff() -> Exact:
    """The staff, exactly."""
    return Exact(pa.table(STAFF), name="staff")


def protected(folder: Path, epsilon: str = "1") -> dp.Protected:
    """The staff behind an account."""
    return dp.protect(
        pa.table(STAFF),
        name="staff",
        unit=dp.Unit.row(),
        columns={"pay": dp.Bounds(0, 100)},
        budget=dp.Budget(epsilon=epsilon),
        ledger=folder / "staff.ledger",
    )


@pytest.mark.parametrize(
    ("conditions", "count"),
    [
        ({}, 6),
        ({"name": "O'Hara"}, 1),
        ({"name": None}, 1),
        ({"pay": range(50, 62)}, 3),
        ({"pay": {48, 90}, "old": True}, 1),
        ({"day": date(2020, 1, 3)}, 1),
        ({"day": (date(2020, 1, 3), date(2020, 1, 4)), "old": True}, 1),
        ({"name": ["nobody"]}, 0),
    ],
)
def test_conditions_are_counted(conditions: dict[str, object], count: int) -> None:
    """By value, by list of values, and by several columns together."""
    assert staff().counts([conditions]) == (count,)


def test_values_are_written_as_sql_has_them() -> None:
    """Quotes are doubled; numbers, flags and times keep their kind."""
    assert where({'a"b': "it's"}) == "\"a\"\"b\" = 'it''s'"
    assert where({"a": [True, Decimal("1.50"), 0.5]}) == '"a" IN (TRUE, 1.50, 0.5)'
    assert where({"a": datetime(2020, 1, 2, 3, 4)}) == "\"a\" = TIMESTAMP '2020-01-02 03:04:00'"
    for wrong in (inf, object(), []):
        with pytest.raises(InvalidArgument):
            where({"a": wrong})


def test_exact_answers_are_the_tables_own() -> None:
    """Whole numbers stay whole; the sum of nothing is 0; no ε bounds what they tell."""
    exact = staff()
    assert [exact.ask(f"SELECT {each} FROM staff").value for each in ("COUNT(*)", "SUM(pay)", "MAX(pay)")] == [
        6,
        377,
        90,
    ]
    assert exact.aggregate("SUM(pay)", "pay > 1000").value == 0
    assert exact.rows("old").tolist() == [True, False, False, True, False, True]
    assert exact.bill.epsilon == inf
    assert exact.bill.asked == exact.bill.fresh == 4


def test_exact_refuses_what_has_no_number() -> None:
    """Two columns, many rows, a text, and what isn't SQL; the message holds no value of a row."""
    exact = staff()
    for wrong in ("SELECT 1, 2", "SELECT pay FROM staff", "SELECT MIN(name) FROM staff", "SELECT nope FROM staff"):
        with pytest.raises(InvalidArgument):
            exact.ask(wrong)
    with pytest.raises(InvalidArgument) as caught:
        exact.ask("SELECT SUM(CAST(name AS INTEGER)) FROM staff")
    assert "Ada" not in str(caught.value)


def test_exact_opens_no_file(tmp_path: Path) -> None:
    """It sees what it was handed, and nothing else."""
    (tmp_path / "other.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(InvalidArgument):
        staff().ask(f"SELECT SUM(a) FROM '{tmp_path / 'other.csv'}'")


def test_restricted_answers_are_about_many() -> None:
    """At both ends; a question in its own words can't be checked, so it is refused."""
    few = Restricted(pa.table(STAFF), name="staff", smallest=2)
    sizes = {0: "pay > 1000", 1: "pay > 80", 2: "pay > 65", 4: "pay < 65", 5: "pay < 80", 6: "TRUE"}
    answered = {size for size, condition in sizes.items() if not few.aggregate("COUNT(*)", condition).refusal}
    assert answered == {2, 4}
    assert few.bill.refused == 4
    with pytest.raises(InvalidArgument):
        few.ask("SELECT 1")
    with pytest.raises(InvalidArgument):
        Restricted(STAFF, smallest=0)


def test_bare_noise_is_fresh_each_time() -> None:
    """Forty answers at ε = 1/100 are all alike with a chance below 10⁻⁸⁰; its deviation is that of its law."""
    bare = Bare(staff(), epsilon="0.01")
    values = [bare.aggregate("COUNT(*)").value for _ in range(40)]
    assert len(set(values)) > 1
    assert bare.replies[0].deviation == pytest.approx(sqrt(2) * 100, rel=1e-4)
    assert bare.bill.epsilon == pytest.approx(0.4)
    with pytest.raises(InvalidArgument):
        bare.aggregate("AVG(pay)")


def test_answers_are_what_an_analyst_gets(tmp_path: Path) -> None:
    """Charged as the account says, given again for nothing, and refused when nothing is left."""
    with protected(tmp_path) as census:
        answers = Answers(census, epsilon="0.4")
        first = answers.aggregate("SUM(pay)")
        again = answers.aggregate("SUM(pay)")
        other = answers.count({"old": True})
        refused = answers.count({"old": False})
        assert first.deviation == pytest.approx(sqrt(2) * 100 / 0.4, rel=1e-3)
        assert (again.value, again.epsilon, again.reused) == (first.value, 0, True)
        assert not other.reused
        assert refused.refusal == "budget_exhausted"
        assert refused.value is None
        assert answers.bill.epsilon == float(census.spent.epsilon or 0) == 0.8
        assert answers.against == "answers at ε = 0.4 each from a budget of ε = 1"
        with pytest.raises(UnknownColumn):
            answers.aggregate("SUM(nope)")


def test_all_values_are_one_question(tmp_path: Path) -> None:
    """Of exact answers each value is asked for; through the gateway all of them cost what one count costs.

    At ε = 50 noise is none but for a chance below 1e-20.
    """
    names = ["Ada", "nobody", None]
    exact = staff().by_value("name", names, {"pay": range(50, 80)})
    assert exact.counts == {(0,): 1, (1,): 0, (2,): 1}
    assert exact.deviation == 0
    with protected(tmp_path, "51") as behind:
        answers = Answers(behind, epsilon=50)
        found = answers.by_value("name", names, {"pay": range(50, 80)})
        refused = answers.by_value("name", names, {"pay": 48})
    assert {key: found.counts[key] for key in exact.counts} == exact.counts
    assert found.deviation > 0
    assert (answers.bill.fresh, answers.bill.refused, answers.bill.epsilon) == (1, 1, 50.0)
    assert refused.refusal
    assert not refused.counts
