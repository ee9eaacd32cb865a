"""Tables of which nobody can say how many rows a unit has: a question says it, or has it chosen; none is guessed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import LimitsRequired

pytestmark = pytest.mark.usefixtures("kept_sessions")

CONFIG = """
name = "clinic"
ledger = "clinic.ledger"
adjacency = "add_remove"
budget = { epsilon = 200 }

[tables.visits]
source = "visits.parquet"
links = { pid = "people.pid" }
columns = { pid = { kind = "integer" }, ward = { kind = "text", keys = ["A", "B"] } }

[tables.people]
source = "people.parquet"
unit = "pid"
limits = { rows = 1 }
columns = { pid = { kind = "integer" }, age = { kind = "integer", bounds = [0, 125] } }
"""
WAYS = pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "SELECT ward, COUNT(DISTINCT pid) AS n FROM visits GROUP BY ward",
        "SELECT AVG(p.age) AS a FROM visits v JOIN people p ON v.pid = p.pid",
        "SELECT COUNT(*) AS n FROM (SELECT pid FROM people UNION ALL SELECT pid FROM visits) x",
    ],
)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """Some 900 people who come 1 to 30 times."""
    folder = tmp_path_factory.mktemp("clinic")
    who = [pid for pid in range(900) for _ in range(pid % 30 + 1)]
    people = pa.table({"pid": range(900), "age": [pid % 90 for pid in range(900)]})
    pq.write_table(people, folder / "people.parquet")
    pq.write_table(pa.table({"pid": who, "ward": ["AB"[n % 2] for n in range(len(who))]}), folder / "visits.parquet")
    (folder / "discreet.toml").write_text(CONFIG, encoding="utf-8")
    with dp.load(folder / "discreet.toml", create_ledger=True) as found:
        yield found


@WAYS
def test_a_question_that_states_no_limit_has_one_chosen(clinic: dp.Protected, question: str) -> None:
    """It is the question that says so itself, with the same digest; all of it costs what is offered, and nothing again.

    False alarm: intervals are taken at a confidence of 1 − 10⁻¹⁰.
    """
    plan = clinic.plan(question, epsilon=1)
    assert len(plan.steps) > 1
    assert plan.digest == clinic.plan(question, epsilon=1, limits="auto").digest
    assert "how much units contribute, by which limits are chosen: ε = 0." in plan.explain()
    assert clinic.plan(question, epsilon=1, limits=dp.Limits(rows=30)).profiles == ()
    before = clinic.spent.epsilon
    answer = clinic.ask(question, epsilon=1)
    assert answer.cost.epsilon == 1
    after = clinic.spent.epsilon
    assert before is not None
    assert after is not None
    assert 0.85 < after - before <= 1  # profiles of the same rows are asked once for all
    again = clinic.ask(question, epsilon=1)
    assert again.reused
    assert again.rows() == answer.rows()
    assert again.interval(answer.names[-1]) == answer.interval(answer.names[-1])
    assert clinic.spent.epsilon == after
    assert answer.cut_off is not None
    assert answer.cut_off.limits.rows is not None


def test_what_has_no_room_for_a_profile_is_refused_with_the_ways_out(clinic: dp.Protected) -> None:
    """An accuracy that is asked for, and questions about different rows; nothing is charged."""
    spent, question = clinic.spent, "SELECT COUNT(*) AS n FROM visits"
    for asked in (question, [question]):
        with pytest.raises(LimitsRequired, match="a unit may have many rows in table 'visits'") as refused:
            clinic.ask(asked, within={"n": 50})  # type: ignore[call-overload]  # either
        assert "--limits 20 states it" in refused.value.hint_at("cli")
        assert "it is chosen privately" in refused.value.hint
        assert "limits = { rows = 20 }" in refused.value.hint
    with pytest.raises(LimitsRequired, match="about different ones") as refused:
        clinic.ask([question, "SELECT COUNT(*) AS n FROM people"], epsilon=1)
    assert "--limits 20 states them" in refused.value.hint_at("cli")
    assert clinic.spent == spent


def test_questions_about_the_same_rows_have_one_limit_chosen(clinic: dp.Protected) -> None:
    """One profile, of those with the fewest filters; all of it costs what is offered, and nothing again.

    False alarm: intervals are taken at a confidence of 1 − 10⁻¹⁰.
    """
    questions = [
        "SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'",
        "SELECT COUNT(*) AS n, COUNT(DISTINCT pid) AS u FROM visits",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    ]
    plan, before = clinic.plan(questions, epsilon="1.03"), clinic.spent.epsilon
    assert [len(each.questions) for each in plan.steps] == [1, 3]
    assert plan.digest == clinic.plan(questions, epsilon="1.03", limits="auto").digest
    assert "first: how many rows units have" in str(plan)
    answers = clinic.ask(questions, epsilon="1.03")
    assert before is not None
    assert clinic.spent.epsilon == before + Fraction(103, 100)
    assert all(each.first is not None and each.first.epsilon == Fraction(103, 1000) for each in answers)
    again = clinic.ask(questions, epsilon="1.03")
    assert all(each.reused for each in again)
    assert [each.rows() for each in again] == [each.rows() for each in answers]
    assert clinic.spent.epsilon == before + Fraction(103, 100)
    surely, rows = 1 - Fraction(1, 10**10), [pid for pid in range(900) for _ in range(pid % 30 + 1)]
    in_a = sum(place % 2 == 0 for place in range(len(rows)))
    some, every, by_ward = answers
    exact = {("n", 0): in_a}, {("n", 0): len(rows), ("u", 0): 900}, {("n", 0): in_a, ("n", 1): len(rows) - in_a}
    for answer, numbers in zip((some, every, by_ward), exact, strict=True):
        for (name, place), number in numbers.items():
            low, high = answer.interval(name, surely)[place]  # type: ignore[misc]  # there
            assert low <= number <= high
        assert "with what limits cut off" in answer.coverage
        assert answer.cut_off == some.cut_off


def test_a_summary_of_such_a_table_says_what_all_of_it_cost(clinic: dp.Protected) -> None:
    """With what was asked first; and what limits cut off, once."""
    summary = clinic.summary("visits", epsilon="1.07")
    assert summary.cost.epsilon == Fraction(107, 100)
    words = str(summary)
    assert "of counts and means with what limits cut off" in words
    assert words.count("% of the rows") == 1
    assert type(summary[0]).from_json(summary[0].to_json()).first == summary[0].first


def test_the_number_of_rows_is_in_the_interval(clinic: dp.Protected) -> None:
    """Of all of them, and by ward; with a sum, an average and a join along the link.

    False alarm: intervals are taken at a confidence of 1 − 10⁻¹⁰.
    """
    surely = 1 - Fraction(1, 10**10)
    rows = [pid for pid in range(900) for _ in range(pid % 30 + 1)]
    ages = [pid % 90 for pid in rows]
    for epsilon in ("0.11", "1.1", "5.1"):
        answer = clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=epsilon)
        ((low, high),) = answer.interval("n", surely)  # type: ignore[misc]  # there
        assert low <= len(rows) <= high
        by_ward = clinic.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=epsilon)
        for ward, ends in zip(by_ward["ward"], by_ward.interval("n", surely), strict=True):
            assert ends is not None
            assert ends[0] <= sum("AB"[place % 2] == ward for place in range(len(rows))) <= ends[1]
        people = clinic.ask("SELECT ward, COUNT(DISTINCT pid) AS u FROM visits GROUP BY ward", epsilon=epsilon)
        for ward, ends in zip(people["ward"], people.interval("u", surely), strict=True):
            assert ends is not None
            assert ends[0] <= len({pid for place, pid in enumerate(rows) if "AB"[place % 2] == ward}) <= ends[1]
        sql = "SELECT SUM(p.age) AS s, AVG(p.age) AS a FROM visits v JOIN people p ON v.pid = p.pid"
        joined = clinic.ask(sql, epsilon=epsilon)
        for name, exact in (("s", sum(ages)), ("a", sum(ages) / len(ages))):
            ((low, high),) = joined.interval(name, surely)  # type: ignore[misc]  # there
            assert low <= exact <= high


def test_nearly_all_rows_are_counted_at_a_high_price(clinic: dp.Protected) -> None:
    """The limit is hardly above what units have, and cuts off little."""
    answer = clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=20)
    truth = sum(pid % 30 + 1 for pid in range(900))
    assert abs(answer["n"][0] - truth) < 0.1 * truth


def test_units_are_counted_once_whatever_they_have(clinic: dp.Protected) -> None:
    """A count of different units of all rows takes no limit."""
    (low, high), *_ = clinic.ask("SELECT COUNT(DISTINCT pid) AS n FROM visits", epsilon=20).interval("n", 1 - 1e-9)
    assert low <= 900 <= high


def test_a_server_is_warmed_up_without(clinic: dp.Protected) -> None:
    """The first table that a server opens may be one of these."""
    assert clinic.dataset.private[0].limits is None
    clinic.warm_up()


def test_where_no_interval_holds_what_limits_cut_off_no_word_is_said_of_its_ends(clinic: dp.Protected) -> None:
    """Of a slope the share is told, and that it isn't in the interval; of a count also what the upper end rests on."""
    answer = clinic.ask("SELECT REGR_SLOPE(p.age, p.age) AS s FROM visits v JOIN people p ON v.pid = p.pid", epsilon=1)
    assert answer.coverage.endswith("what limits cut off isn't in it")
    assert answer.cut_off is not None
    assert "cuts off" in dict(answer.notes())["limits"]
    assert not any("ends of intervals" in words for _, words in answer.notes())
    counted = (  # noise denies in one of ten or so that anybody could hide: then nothing rests on them
        clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=Fraction(100 + place, 10_000)) for place in range(20)
    )
    assert any("ends of intervals" in words for answer in counted for _, words in answer.notes())


def test_a_plan_says_that_the_announced_error_leaves_out_what_limits_cut_off(clinic: dp.Protected) -> None:
    """The answer's interval holds it, and is wider."""
    assert "without what limits cut off" in clinic.plan("SELECT COUNT(*) AS n FROM visits", epsilon=1).explain()
