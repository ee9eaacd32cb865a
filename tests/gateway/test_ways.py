"""Ways to say it: EXPLAIN, options and margins, as analysts meet them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, NotOneSelect, Unsupported
from discreet.results import Explanation

pytestmark = pytest.mark.usefixtures("kept_sessions")

COUNT = "SELECT COUNT(*) AS n, AVG(age) AS a FROM census"


@pytest.fixture
def visits(people: pa.Table, tmp_path: Path) -> Iterator[dp.Protected]:
    """The people by their ids, some with several rows, under a zCDP budget."""
    with dp.protect(
        people,
        name="visits",
        unit=dp.Unit("person_id"),
        columns={"age": dp.Bounds(0, 110), "sex": dp.Keys(["Female", "Male"]), "income": dp.Bounds(0, 100)},
        limits=dp.Limits(groups=2, rows_per_group=3),
        budget=dp.Budget(epsilon=50, delta=1e-3),
        ledger=tmp_path / "visits.ledger",
    ) as protected:
        yield protected


def test_explain_is_the_plan_in_words(census: dp.Protected) -> None:
    """It reads like an answer of one text column, and says what `plan` says."""
    explained = census.ask(f"-- how dear?\nEXPLAIN (DP) {COUNT}", epsilon=1)
    assert isinstance(explained, Explanation)
    assert explained.names == ("plan",)
    plan = census.plan(COUNT, epsilon=1)
    *words, budget = explained["plan"]
    assert "\n".join(words) == plan.explain()
    assert budget.startswith("budget    pays for ")
    assert str(explained) == "\n".join(explained["plan"])
    assert len(explained) == len(explained.rows()) == explained.to_polars().height == explained.to_arrow().num_rows
    assert str(explained.cost) == str(plan.cost) == "ε = 1"
    assert explained.interval("plan") == [None] * len(explained)
    assert (explained.entry, explained.certificate) == (0, {})
    assert any(line.startswith("error") for line in explained["plan"])
    with pytest.raises(InvalidArgument):
        explained["n"]


def test_an_explanation_is_an_answer(census: dp.Protected) -> None:
    """So whoever shows answers can show explanations."""
    explained = census.ask(f"EXPLAIN {COUNT}", epsilon=1)
    assert isinstance(explained, dp.Answer)
    assert set(vars(Explanation)) - set(vars(object)) <= {*vars(dp.Answer), "of"}
    assert dp.Answer.from_json(explained.to_json()).rows() == explained.rows()


def test_explain_costs_nothing_and_touches_no_data(census: dp.Protected, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the version in force is opened; nothing more is in the ledger; the question itself still costs."""
    with monkeypatch.context() as patch:
        patch.setattr(census, "_admissions", None)
        census.ask(f"EXPLAIN {COUNT}", epsilon=1)
    assert [entry.kind for entry in census.history()] == ["budget", "declared", "key", "data"]
    assert census.spent.epsilon == 0
    assert census.ask(COUNT, epsilon=1).reused is False
    assert census.spent.epsilon == 1


@pytest.mark.parametrize(
    "question",
    [
        f"EXPLAIN ANALYZE {COUNT}",
        f"EXPLAIN (ANALYZE) {COUNT}",
        f"EXPLAIN (DP) ANALYZE {COUNT}",
        f"EXPLAIN VERBOSE {COUNT}",
        f"EXPLAIN QUERY PLAN {COUNT}",
        f"EXPLAIN (FORMAT JSON) {COUNT}",
    ],
)
def test_other_kinds_of_explain_are_refused(census: dp.Protected, question: str) -> None:
    """ANALYZE above all, which would run the question."""
    with pytest.raises(Unsupported) as caught:
        census.ask(question, epsilon=1)
    assert caught.value.place is not None


def test_explain_of_what_is_refused_is_refused(census: dp.Protected) -> None:
    """With the place that the error has in the whole text; and `plan` explains without it."""
    with pytest.raises(dp.DiscreetError) as caught:
        census.ask("EXPLAIN SELECT\n nope FROM census", epsilon=1)
    assert caught.value.place == (2, 2)
    with pytest.raises(NotOneSelect):
        census.plan(f"EXPLAIN {COUNT}", epsilon=1)
    with pytest.raises(NotOneSelect):
        census.ask(f"EXPLAIN EXPLAIN {COUNT}", epsilon=1)


def test_a_question_may_bring_its_own_offer(visits: dp.Protected) -> None:
    """OPTIONS are what the arguments would be: the same digest, so the same answer, paid for once."""
    options = "OPTIONS(epsilon = 0.5, max_rows_contributed = 2)"
    said = visits.ask(f"SELECT WITH DIFFERENTIAL_PRIVACY {options} COUNT(*) AS n FROM visits")
    beside = visits.ask("SELECT COUNT(*) AS n FROM visits", epsilon="0.5", limits=dp.Limits(rows=2))
    assert beside.reused
    assert beside["n"] == said["n"]
    assert str(said.cost) == "ε = 0.5"


def test_groups_are_limited_as_bigquery_says(visits: dp.Protected) -> None:
    """max_groups_contributed changes the groups of a unit, and keeps the declared rows in each."""
    options = (
        "OPTIONS(epsilon = 1, delta = 1e-6, max_groups_contributed = 1, group_selection_strategy = LAPLACE_THRESHOLD)"
    )
    plan = visits.plan(f"SELECT WITH DIFFERENTIAL_PRIVACY {options} city, COUNT(*) AS n FROM visits GROUP BY city")
    assert plan.request.limits == dp.Limits(groups=1, rows_per_group=3)


def test_what_contradicts_itself_isnt_asked(visits: dp.Protected) -> None:
    """Nor does anything of it reach the ledger."""
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) COUNT(*) AS n FROM visits"
    for beside in ({"epsilon": 2}, {"rho": 1}):
        with pytest.raises(InvalidArgument):
            visits.ask(clause, **beside)
    assert [entry.kind for entry in visits.history()] == ["budget", "declared", "key", "data"]
    assert visits.ask(clause, epsilon=1)["n"]


def test_margins_are_those_of_the_answer(visits: dp.Protected) -> None:
    """DP_INTERVAL_LOW and its like are the ends that `interval` gives, for each group."""
    answer = visits.ask(
        "SELECT sex, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS lo, DP_INTERVAL_HIGH(n, 0.8) AS hi, AVG(age) AS a,"
        " DP_INTERVAL_LOW(a) AS below, DP_STDDEV(n) AS d, DP_STDDEV(a) AS none, SUM(income) / COUNT(*) AS r,"
        " DP_INTERVAL_HIGH(SUM(income) / n) AS above FROM visits GROUP BY sex",
        epsilon=5,
    )
    wide, narrow = answer.interval("n"), answer.interval("n", 0.8)
    assert answer["lo"] == [ends[0] for ends in wide if ends]
    assert answer["hi"] == [ends[1] for ends in narrow if ends]
    assert answer["below"] == [ends[0] for ends in answer.interval("a") if ends]
    assert answer["above"] == [None if ends is None else ends[1] for ends in answer.interval("r")]
    assert all(isinstance(value, int) for value in answer["lo"])
    assert all(value > 0 for value in answer["d"])
    assert answer["none"] == [None, None]
    assert answer.interval("lo") == answer.interval("d") == [None, None]


@pytest.mark.usefixtures("noiseless")
def test_margins_filter_and_order(visits: dp.Protected) -> None:
    """In HAVING and ORDER BY they are what they are in SELECT."""
    grouped = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
    sql = grouped + " HAVING DP_INTERVAL_LOW(n) > {} ORDER BY DP_INTERVAL_HIGH(n) DESC"
    everyone = visits.ask(sql.format(-(10**6)), epsilon=5)
    assert everyone["sex"] == ["Female", "Male"]
    least = min(ends[0] for ends in everyone.interval("n") if ends)
    assert len(visits.ask(sql.format(int(least)), epsilon=5)) == 1


def test_the_same_question_with_its_schema_is_free(census: dp.Protected) -> None:
    """An answer that was paid for is that of the qualified names too, in whatever dialect they are written."""
    first = census.ask(COUNT, epsilon=1)
    for dialect, sql in {
        "postgres": 'SELECT COUNT(*) AS n, AVG("public"."census"."age") AS a FROM "public"."census"',
        "bigquery": "SELECT COUNT(*) AS n, AVG(census.age) AS a FROM `project.dataset.census`",
    }.items():
        again = census.ask(sql, epsilon=1, dialect=dialect)
        assert (again.reused, again.rows()) == (True, first.rows())
    assert census.spent.epsilon == 1


def test_histograms_of_real_steps_are_answered(census: dp.Protected) -> None:
    """As BI tools write them: groups of whole steps, shown as the question computes them."""
    answer = census.ask("SELECT FLOOR(age / 12.5) * 12.5 AS age, COUNT(*) AS n FROM census GROUP BY 1", epsilon=1)
    assert [age for age in answer["age"] if age is not None] == [12.5 * step for step in range(9)]
