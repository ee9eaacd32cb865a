"""Workloads: planned together, paid for at once, answered all or not at all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import discreet as dp
from discreet.accounting import charge_of, mu_for
from discreet.errors import BudgetExhausted, InvalidArgument, QuestionFailed, UnknownColumn, Unsupported
from discreet.gateway import execute as gateway
from discreet.gateway.answers import workload_planner
from discreet.gateway.answers.apportioning import _parts
from discreet.mechanisms import Laplace, NoisyRanks, Quantile
from discreet.query.planner import Request
from discreet.query.sql import question as bound
from support.tables import VISITS, visits

pytestmark = pytest.mark.usefixtures("kept_sessions")

QUESTIONS = [
    "SELECT region, COUNT(*) AS n FROM t GROUP BY region",
    "SELECT region AS r, AVG(age) AS a, COUNT(*) AS m FROM t GROUP BY 1 HAVING COUNT(*) > 0 ORDER BY a DESC LIMIT 2",
    "SELECT SUM(income) AS s FROM t",
    "SELECT SUM(income) / COUNT(*) AS mean FROM t",
    "SELECT region, SUM(age) AS s FROM t WHERE age > 30 GROUP BY region",
]


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[dp.Protected]:
    """The visits, each a unit, under a budget with a δ."""
    with dp.protect(
        visits(),
        name="t",
        unit=dp.Unit.row(),
        columns=VISITS,
        budget=dp.Budget(epsilon=100, delta=1e-3),
        ledger=tmp_path / "rows.ledger",
    ) as protected:
        yield protected


def test_what_questions_share_is_measured_once(rows: dp.Protected) -> None:
    """Five questions in three bundles: the count by region serves two of them, and so does the sum of incomes.

    What each bundle is asked is read from cells, or from one sum.
    """
    workload = rows.plan(QUESTIONS, epsilon=1)
    measured = [measure for bundle in workload.bundles for level in bundle.levels for measure in level.draft.measures]
    singles = [rows.plan(question, epsilon=1) for question in QUESTIONS]
    apart = [measure for plan in singles for level in plan.levels for measure in level.draft.measures]
    assert len(workload.bundles) == 3
    assert len(measured) == 3
    assert len(apart) == 5
    assert len(workload.plans) == 5
    assert rows.spent.epsilon == 0


def test_terms_are_for_columns_by_their_names(rows: dp.Protected) -> None:
    """What weighs more errs less; and however little a question needs, it gets something."""
    asked = [QUESTIONS[0], QUESTIONS[2]]
    even, uneven = rows.plan(asked, epsilon=1), rows.plan(asked, epsilon=1, weights={"s": 50})
    before, after = ([each.error for plan in found.plans for each in plan.expected] for found in (even, uneven))
    assert before[-1] > after[-1] > 0
    parts = _parts([1.0, 1e-9, 0.5])
    assert sum(parts) == 1
    assert min(parts) > 0


def test_all_of_it_costs_what_was_offered(rows: dp.Protected) -> None:
    """The cost is the offer; what each question costs by itself adds up to more."""
    workload = rows.plan(QUESTIONS, epsilon=1)
    assert workload.cost == dp.PureDP(1)
    alone = [plan.cost for plan in workload.plans]
    assert sum(loss.epsilon for loss in alone if isinstance(loss, dp.PureDP)) > 1
    rows.ask(workload)
    assert rows.spent.epsilon == 1


def test_an_accuracy_costs_less_together_than_apart(rows: dp.Protected) -> None:
    """Every question within the same width: together for less than the sum of single costs, and within it."""
    wide = {"n": 40, "m": 40, "a": 3, "*": "50%@100000"}
    workload = rows.plan([*QUESTIONS[:2], QUESTIONS[2]], within=wide)
    single = [
        rows.plan(QUESTIONS[0], within={"n": 40}),
        rows.plan(QUESTIONS[1], within={"m": 40, "a": 3}),
        rows.plan(QUESTIONS[2], within="50%@100000"),
    ]
    assert isinstance(workload.cost, dp.PureDP)
    assert workload.cost.epsilon < sum(plan.cost.epsilon for plan in single if isinstance(plan.cost, dp.PureDP))
    widths = {one.column: one.error for plan in workload.plans for one in plan.expected}
    for column, wanted in {"n": 40, "m": 40, "a": 3, "s": 50_000}.items():
        error = widths[column]
        assert error is not None
        assert error <= wanted
    capped = rows.plan([*QUESTIONS[:2], QUESTIONS[2]], within=wide, epsilon=workload.cost.epsilon / 2)
    assert charge_of(capped.event).epsilon == pytest.approx(float(workload.cost.epsilon / 2), rel=1e-3)


def test_the_offer_goes_where_it_is_needed(rows: dp.Protected) -> None:
    """The worst relative error is alike in all bundles; a column of weight 4 errs a quarter as much, relatively."""
    count, other = "SELECT COUNT(*) AS n FROM t WHERE age > 1", "SELECT region, COUNT(*) AS m FROM t GROUP BY region"
    even = {one.column: one.error for plan in rows.plan([count, other], epsilon=0.01).plans for one in plan.expected}
    assert even["n"] == pytest.approx(even["m"], rel=0.02)
    weighted = rows.plan([count, other], epsilon=0.01, weights={"n": 4})
    errors = {one.column: one.error for plan in weighted.plans for one in plan.expected}
    assert errors["m"] == pytest.approx(4 * (errors["n"] or 0), rel=0.02)


def test_tables_of_the_same_rows_share_what_is_measured(rows: dp.Protected) -> None:
    """A total beside its groups is measured with them: both err less than with half of the offer each."""
    asked = ["SELECT COUNT(*) AS n FROM t", "SELECT region, COUNT(*) AS m FROM t GROUP BY region"]
    workload = rows.plan(asked, epsilon=1)
    alone = [rows.plan(each, epsilon=0.5).expected[0].error or 0 for each in asked]
    errors = [plan.expected[0].error or 0 for plan in workload.plans]
    assert len(workload.bundles) == 1
    assert all(one < other for one, other in zip(errors, alone, strict=True))
    answers = rows.ask(workload)
    assert rows.spent.epsilon == 1
    for text, answer in zip(asked, answers, strict=True):  # the same numbers, for nothing
        later = rows.ask(text, epsilon="1/10")
        assert (later.rows(), later.origin) == (answer.rows(), (1,))
    filtered = [*asked, "SELECT region, COUNT(*) AS m FROM t WHERE age > 40 GROUP BY region"]
    assert len(rows.plan(filtered, epsilon=1).bundles) == 2


def test_tables_of_many_groups_are_served(rows: dp.Protected) -> None:
    """However many: a bundle's groups are those of its questions, and nothing need be worked out."""
    asked = [
        "SELECT age, CAST(income AS INTEGER) AS i, COUNT(*) AS n FROM t GROUP BY age, i",
        "SELECT age, COUNT(*) AS n FROM t GROUP BY age",
    ]
    assert len(rows.plan(asked, rho="1/2").plans) == len(asked)


def test_many_small_losses_are_added_up_in_zcdp(rows: dp.Protected, tmp_path: Path) -> None:
    """With ε and δ offered, forty counts err 3/4 as much as by a plain sum, or less; the ledger holds what was done."""
    many = [f"SELECT region, COUNT(*) AS n FROM t WHERE age > {age} GROUP BY region" for age in range(40)]
    plain, joint = rows.plan(many, epsilon=1), rows.plan(many, epsilon=1, delta=1e-6)
    assert plain.cost == dp.PureDP(1)
    assert joint.cost == dp.ApproxDP(1, 1e-6)
    charge = charge_of(joint.event)
    assert charge.rho is not None
    assert charge.rho <= mu_for(1, 1e-6) ** 2 / 2
    error, before = joint.plans[7].expected[0].error, plain.plans[7].expected[0].error
    assert error is not None
    assert before is not None
    assert error < 0.75 * before
    few = rows.plan(many[:3], epsilon=1, delta=1e-6)  # where the plain sum is the tighter one, it is taken
    assert few.cost == dp.PureDP(1)
    rows.ask(joint)
    assert (rows.spent.epsilon, rows.spent.rho) == (charge.epsilon, charge.rho)
    pure = dp.Budget(epsilon=9)
    with dp.protect(
        visits(), name="t", unit=dp.Unit.row(), columns=VISITS, budget=pure, ledger=tmp_path / "p"
    ) as other:
        assert other.plan(many, epsilon=1, delta=1e-6).cost == dp.PureDP(1)


def test_laplace_noise_of_many_small_losses_is_added_up_in_zcdp(rows: dp.Protected) -> None:
    """As answers were given before noise was chosen: forty counts got two fifths more ε than they offered."""
    texts = [f"SELECT COUNT(*) AS n FROM t WHERE age > {age}" for age in range(40)]
    questions, errors = [bound(text, rows.dataset.tables) for text in texts], []
    for offer in (Request.of(epsilon=1), Request.of(epsilon=1, delta="1e-6")):
        workload = workload_planner(questions, offer, rows.dataset)(offer)
        errors.append(workload.plans[7].expected[0].error or 0)
        noises = [each for plan in workload.plans for each in plan.levels[0].draft.noises]
        assert {type(each.mechanism) for each in noises} == {Laplace}
    assert 0.6 < errors[1] / errors[0] < 0.8


@pytest.mark.usefixtures("noiseless")
def test_answers_are_those_of_each_question(rows: dp.Protected) -> None:
    """Without noise, each is what the bounded SQL says."""
    bounded = """
        SELECT CASE WHEN region IN ('north', 'south') THEN region END AS region,
               IF(age IS NULL, NULL, LEAST(age, 110)) AS age, LEAST(income, 1000) AS income
        FROM visits
    """
    answers = rows.ask(rows.plan(QUESTIONS, epsilon=5))
    with duckdb.connect() as connection:
        connection.register("visits", visits())
        for question, answer in zip(QUESTIONS, answers, strict=True):
            text = f"WITH t AS ({bounded}) {question}"
            expected = connection.execute(text).fetchall()
            found = [tuple(row.values()) for row in answer.rows()]
            if "ORDER" not in question:
                found, expected = (sorted(each, key=lambda row: str(row[0])) for each in (found, expected))
            pairs = [pair for row, other in zip(found, expected, strict=True) for pair in zip(row, other, strict=True)]
            for value, plain in pairs:
                assert value == (pytest.approx(plain, rel=1e-6) if isinstance(plain, float) else plain), question


def test_one_entry_pays_and_serves(rows: dp.Protected) -> None:
    """One debit, one certificate; again it is free; so is each of its questions, and it says from what."""
    workload = rows.plan(QUESTIONS, epsilon=1)
    answers = rows.ask(workload)
    assert {answer.entry for answer in answers} == {1}
    assert not any(answer.reused for answer in answers)
    assert all(answer.certificate["entry"] == 1 for answer in answers)
    again = rows.ask(QUESTIONS, epsilon=1)
    assert all(answer.reused for answer in again)
    assert [answer.rows() for answer in again] == [answer.rows() for answer in answers]
    for question, answer in zip(QUESTIONS, answers, strict=True):
        later = rows.ask(question, epsilon="0.01")
        assert later.origin == (1,)
        if "COUNT" not in question or "/" not in question:  # an average divides by a number that isn't rounded first
            assert later.rows() == answer.rows()
        assert later.certificate["follows_from"] == [answer.certificate]
    assert rows.spent.epsilon == 1
    assert sum(entry.kind == "question" for entry in rows.history()) == 1
    assert rows.verify().problems == ()


def test_a_single_answer_does_not_pay_for_a_workload(rows: dp.Protected) -> None:
    """A workload is one question to the account: it is asked as a whole, or found as a whole."""
    rows.ask(QUESTIONS[0], epsilon=1)
    answers = rows.ask(QUESTIONS, epsilon=1)
    assert not any(answer.reused for answer in answers)
    assert rows.spent.epsilon == 2


def test_the_table_says_what_to_expect(rows: dp.Protected) -> None:
    """Each noisy column of each question, with its error; the text begins with the cost of all."""
    workload = rows.plan(QUESTIONS, epsilon=1)
    table = workload.table()
    assert [line["question"] for line in table] == [1, 2, 2, 3, 4, 5]
    assert [line["column"] for line in table] == ["n", "a", "m", "s", "mean", "s"]
    assert all(line["error"] for line in table)
    assert str(workload).startswith("5 questions, measured in 3; total cost: ε = 1\n")
    assert rows.spent.epsilon == 0


def test_private_groups_are_selected_once(tmp_path: Path) -> None:
    """Questions about the same private groups share their selection; δ is spent on it once."""
    budget = dp.Budget(epsilon=100, delta=1e-3)
    limits = dp.Limits(groups=1, rows_per_group=2)
    unit = dp.Unit("person_id")
    ask = ["SELECT city, COUNT(*) AS n FROM t GROUP BY city", "SELECT city, AVG(age) AS a FROM t GROUP BY city"]
    with dp.protect(
        visits(), name="t", unit=unit, limits=limits, columns=VISITS, budget=budget, ledger=tmp_path / "l"
    ) as people:
        workload = people.plan([*ask, "SELECT COUNT(*) AS n FROM t"], epsilon=60, delta="1e-4")
        first, second, third = people.ask(workload)
        assert first["city"] == second["city"]
        assert len(third) == 1
        assert len(workload.bundles) == 2
        assert people.spent.delta == dp.ApproxDP(1, "1e-4").delta


def test_one_failure_is_the_failure_of_all(rows: dp.Protected, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the last bundle fails, nothing is shown or stored; what was paid stays paid."""
    workload = rows.plan(QUESTIONS, epsilon=1)
    release, left = gateway.release, [2]

    def failing(*args: object) -> object:
        left[0] -= 1
        if left[0] < 0:
            raise ValueError("a secret")
        return release(*args)  # type: ignore[arg-type]  # as they were

    monkeypatch.setattr(gateway, "release", failing)
    with pytest.raises(QuestionFailed) as caught:
        rows.ask(workload)
    assert "secret" not in str(caught.value)
    monkeypatch.undo()
    assert rows.spent.epsilon == 1
    assert not rows.ask(QUESTIONS[0], epsilon="0.1").reused
    assert rows.verify().problems == ()


def test_what_a_workload_does_not_take(rows: dp.Protected) -> None:
    """Empty lists, automatic limits and bounds, offers inside of questions, and columns that nobody has."""
    with pytest.raises(InvalidArgument, match="1 to"):
        rows.plan([], epsilon=1)
    with pytest.raises(Unsupported):
        rows.plan(QUESTIONS, epsilon=1, limits="auto")
    with pytest.raises(Unsupported):
        rows.plan(["SELECT SUM(age) AS s FROM t"], epsilon=1, bounds={"age": "auto"})
    with pytest.raises(InvalidArgument, match="cut_off"):
        rows.plan(QUESTIONS, epsilon=1, cut_off=True)
    with pytest.raises(UnknownColumn):
        rows.plan(QUESTIONS, epsilon=1, weights={"nobody": 2})
    with pytest.raises(UnknownColumn):
        rows.plan(QUESTIONS, within={"nobody": 2})
    with pytest.raises(InvalidArgument, match="OPTIONS"):
        rows.plan(["SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) COUNT(*) AS n FROM t"], epsilon=1)
    with pytest.raises(BudgetExhausted):
        rows.ask(QUESTIONS, epsilon=1000)
    assert rows.spent.epsilon == 0


RACE = """
import sys
import discreet as dp
from support.tables import VISITS, visits
budget = dp.Budget(epsilon=1)
with dp.protect(visits(), name="t", unit=dp.Unit.row(), columns=VISITS, budget=budget, ledger=sys.argv[1]) as t:
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        answers = t.ask(["SELECT COUNT(*) AS n FROM t", "SELECT SUM(age) AS s FROM t"], epsilon="3/5")
        print([answer.rows() for answer in answers])
    except dp.DiscreetError as error:
        print(error.code)
"""


def test_a_budget_that_fits_once_pays_once(tmp_path: Path) -> None:
    """Two processes ask the same workload at once: one debit; the other is refused, or finds the answers."""
    ledger = tmp_path / "race.ledger"
    table, budget = visits(), dp.Budget(epsilon=1)
    dp.protect(table, name="t", unit=dp.Unit.row(), columns=VISITS, budget=budget, ledger=ledger).close()
    children = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(ledger)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        for _ in range(2)
    ]
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        said = []
        for child in children:
            assert child.stdin is not None
            child.stdin.write("\n")
            child.stdin.flush()
        for child in children:
            out, _ = child.communicate(timeout=600)
            said.append(out.strip())
    finally:
        for child in children:
            child.kill()
    answered = {line for line in said if line.startswith("[")}
    assert len(answered) == 1
    assert all(line.startswith("[") or line == BudgetExhausted.code for line in said)
    with dp.protect(table, name="t", unit=dp.Unit.row(), columns=VISITS, budget=budget, ledger=ledger) as after:
        assert after.spent.epsilon == dp.PureDP("3/5").epsilon
        assert after.verify().problems == ()


def test_correlations_of_many_pairs_are_served_however_they_are_measured(tmp_path: Path) -> None:
    """By itself each would put rows in parts; together, they share sums of products, which err less."""
    names = "abcdef"
    asked = [f"SELECT CORR({one}, {other}) AS c FROM t" for one in names for other in names if one < other]
    with dp.protect(
        pa.table({name: [0.1, 0.5, 0.9] for name in names}),
        name="t",
        unit=dp.Unit.row(),
        columns={name: dp.Column(kind=dp.Kind.REAL, bounds=dp.Bounds(0, 1), nullable=False) for name in names},
        budget=dp.Budget(epsilon=100),
        ledger=tmp_path / "t.ledger",
    ) as protected:
        together, alone = protected.plan(asked, epsilon=1), protected.plan(asked[0], epsilon=1)
        (bundle,) = together.bundles
        kinds = [{type(measure).__name__ for measure in each.levels[0].draft.measures} for each in (bundle, alone)]
        assert kinds == [{"Sum"}, {"Vector"}]
        assert len(protected.ask(together)) == len(asked)
        assert len(protected.ask(asked[:2], epsilon=1)) == 2


def test_quantiles_of_several_questions_are_read_from_one_release(rows: dp.Protected) -> None:
    """Also that of one which by itself would choose its median."""
    asked = [
        "SELECT QUANTILE_CONT(income, 0.1) AS a, QUANTILE_CONT(income, 0.2) AS b FROM t",
        "SELECT QUANTILE_CONT(income, 0.8) AS a, QUANTILE_CONT(income, 0.9) AS b FROM t",
        "SELECT MEDIAN(income) AS m FROM t",
    ]
    workload = rows.plan(asked, epsilon=4)
    (bundle,) = workload.bundles
    (selection,) = bundle.levels[0].draft.selections
    assert isinstance(selection.mechanism, NoisyRanks)
    assert isinstance(rows.plan(asked[2], epsilon=4).drafts[0].selections[0].mechanism, Quantile)
    answers = rows.ask(workload)
    found = [*(answers[0][name][0] for name in "ab"), answers[2]["m"][0], *(answers[1][name][0] for name in "ab")]
    assert found == sorted(found)  # far apart for ε = 4
    assert rows.ask(workload)[2]["m"] == answers[2]["m"]


@pytest.mark.parametrize("beside", ["STDDEV_SAMP(income)", "CORR(age, income)", "MAX(income)", "COUNT(*)"])
def test_quantiles_are_answered_whatever_is_asked_beside_them(rows: dp.Protected, beside: str) -> None:
    """What is best for all of a list may not be what would be best for one of its questions."""
    deciles = ", ".join(f"QUANTILE_CONT(income, 0.{tenth}) AS d{tenth}" for tenth in range(1, 10))
    for epsilon in (1, 30):
        many, *others = rows.ask(
            [
                f"SELECT {deciles} FROM t",
                f"SELECT {beside} AS x, MEDIAN(income) AS m FROM t",
                "SELECT MIN(age) AS y FROM t",
            ],
            epsilon=epsilon,
        )
        assert len(many.columns) == 9
        assert len(others) == 2
