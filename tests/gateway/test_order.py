"""The order of things: pay, run, release; never an answer without its debit, never a refund."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from shutil import rmtree
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import (
    AccuracyUnreachable,
    BudgetExhausted,
    DiscreetError,
    InvalidArgument,
    LedgerUnavailable,
    LossNotAccepted,
    QuestionFailed,
    SnapshotMissing,
)
from discreet.gateway import execute
from discreet.gateway import versions as gateway

pytestmark = pytest.mark.usefixtures("kept_sessions")

COUNT = "SELECT COUNT(*) AS n FROM census"


class _Broken:
    """An engine that fails with a row's value in its message."""

    def __init__(self, engine: object) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def run(self, exact: object) -> object:
        raise ValueError(f"Could not convert string 'CANARY' to INT64 {exact!r}")


def _break(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every engine fail when it is run."""
    opened = gateway.open_engine
    monkeypatch.setattr(gateway, "open_engine", lambda *given: _Broken(opened(*given)))


def test_a_question_costs_what_its_plan_says(census: dp.Protected) -> None:
    """The debit is the plan's cost, exactly."""
    plan = census.plan(COUNT, epsilon=0.1)
    assert str(plan.cost) == "ε = 0.1"
    census.ask(plan)
    assert census.spent.epsilon == Fraction(1, 10)


def test_the_same_question_is_the_same_answer_for_nothing(census: dp.Protected) -> None:
    """Averaging attacks die here: a hundred askings are one release."""
    first = census.ask(COUNT, epsilon=0.1)
    again = [census.ask(text, epsilon=0.1) for text in [COUNT, "select count(*) AS n\nfrom CENSUS"] * 50]
    assert {answer["n"][0] for answer in again} == {first["n"][0]}
    assert all(answer.reused and answer.entry == first.entry for answer in again)
    assert not first.reused
    assert census.spent.epsilon == Fraction(1, 10)
    assert [answer.certificate for answer in again[:2]] == [first.certificate] * 2


def test_a_better_answer_is_another_question(census: dp.Protected) -> None:
    """What is identical is given again; more accuracy is paid for; another name for a column isn't."""
    census.ask(COUNT, epsilon=0.1)
    better = census.ask(COUNT, epsilon=0.2)
    assert not better.reused
    renamed = census.ask("SELECT COUNT(*) AS m FROM census", epsilon=0.1)
    assert renamed.origin == (better.entry,)
    assert renamed["m"] == better["n"]


def test_new_data_is_asked_anew(people: pa.Table, tmp_path: Path) -> None:
    """An answer belongs to one version of the tables; it is the custodian who moves it on."""
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    pq.write_table(people, path)
    budget = dp.Budget(epsilon=10)
    with dp.protect(path, name="t", unit=dp.Unit.row(), budget=budget, ledger=tmp_path / "l") as t:
        first = t.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
        assert t.ask("SELECT COUNT(*) AS n FROM t", epsilon=1).reused
        pq.write_table(people.slice(1), path)
        assert t.ask("SELECT COUNT(*) AS n FROM t", epsilon=1).reused
        t.refresh()
        second = t.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
        assert not second.reused
        assert (first.certificate["data_version"], second.certificate["data_version"]) == (1, 2)


def test_a_failure_after_the_data_was_touched_says_one_thing_and_stays_charged(
    census: dp.Protected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No message, cause, context or traceback frame of the failure is passed on."""
    _break(monkeypatch)
    with pytest.raises(QuestionFailed) as caught:
        census.ask(COUNT, epsilon=0.1)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "CANARY" not in json.dumps(error.to_dict())
    assert census.spent.epsilon == Fraction(1, 10)
    assert census.verify().problems == ()


def test_nothing_is_charged_for_what_is_refused(census: dp.Protected) -> None:
    """Every kind of refusal, and the account is as it was."""
    for question, offer in [
        ("SELECT nope FROM census", {"epsilon": 1}),
        ("SELECT age FROM census", {"epsilon": 1}),
        ("SELECT SUM(person_id) FROM census", {"epsilon": 1}),
        ("SELECT city, COUNT(*) FROM census GROUP BY city", {"epsilon": 1}),
        ("SELECT COUNT(*) FROM census; SELECT 1", {"epsilon": 1}),
        ("DROP TABLE census", {"epsilon": 1}),
        ("SELECT NOPE(age) FROM census", {"epsilon": 1}),
        ("SELEC", {"epsilon": 1}),
        (COUNT, {"epsilon": -1}),
        (COUNT, {"epsilon": float("nan")}),
        (COUNT, {"epsilon": float("inf")}),
        (COUNT, {"epsilon": 0}),
        (COUNT, {}),
        (COUNT, {"epsilon": 1, "rho": 1}),
        (COUNT, {"epsilon": 1, "delta": 2}),
        (COUNT, {"epsilon": 1000}),
        (COUNT, {"within": 0}),
        (COUNT, {"within": {"nope": 10}}),
    ]:
        with pytest.raises(DiscreetError) as caught:
            census.ask(question, **offer)
        assert caught.value.message
    assert census.spent.epsilon == 0
    assert all(entry.kind != "reserve" for entry in census.history())


def test_the_budget_ends(census: dp.Protected) -> None:
    """What would overspend is refused, with what was asked and what remains; what fits still passes."""
    census.ask(COUNT, epsilon=99)
    with pytest.raises(BudgetExhausted):
        census.ask("SELECT COUNT(age) AS n FROM census", epsilon=2)
    census.ask("SELECT COUNT(age) AS n FROM census", epsilon=1)
    with pytest.raises(BudgetExhausted):
        census.ask("SELECT SUM(age) AS n FROM census", epsilon="1/1000000")


def test_a_pure_budget_takes_no_other_loss(people: pa.Table, tmp_path: Path) -> None:
    """Gaussian noise and private selection need a δ that a pure budget doesn't have."""
    budget = dp.Budget(epsilon=10)
    with dp.protect(people, name="t", unit=dp.Unit.row(), budget=budget, ledger=tmp_path / "l") as t:
        with pytest.raises(LossNotAccepted):
            t.ask("SELECT COUNT(*) AS n FROM t", rho=0.1)
        with pytest.raises(LossNotAccepted):
            t.ask("SELECT city, COUNT(*) AS n FROM t GROUP BY city", epsilon=1, delta=1e-6)


def test_shares_of_analysts(people: pa.Table, tmp_path: Path) -> None:
    """An analyst stays within their share, all of them within the budget, and strangers get not even old answers."""
    with dp.protect(
        people,
        name="census",
        unit=dp.Unit.row(),
        budget=dp.Budget(epsilon=3),
        analysts={"ann": dp.Budget(epsilon=2), "bob": dp.Budget(epsilon=2)},
        ledger=tmp_path / "l",
    ) as t:
        other = f"{COUNT} WHERE age > 1"
        t.ask(COUNT, epsilon=2, analyst="ann")
        with pytest.raises(BudgetExhausted):
            t.ask(other, epsilon=1, analyst="ann")
        assert t.ask(COUNT, epsilon=2, analyst="bob").reused
        with pytest.raises(BudgetExhausted):
            t.ask(other, epsilon="3/2", analyst="bob")
        for stranger in (None, "eve"):
            with pytest.raises(DiscreetError):
                t.ask(COUNT, epsilon=2, analyst=stranger)


def test_a_ledger_that_cannot_be_written_is_found_out_before_the_data_is_touched(
    census: dp.Protected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If nothing can be reserved, nothing is run."""
    _break(monkeypatch)

    def full(*_: object, **__: object) -> None:
        raise LedgerUnavailable("the ledger's disk is full")

    monkeypatch.setattr(census._account, "reserve", full)
    with pytest.raises(LedgerUnavailable):
        census.ask(COUNT, epsilon=1)


def test_an_answer_that_cannot_be_recorded_is_not_given(census: dp.Protected, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit comes before the answer: without it there is only a debit."""

    def full(*_: object, **__: object) -> None:
        raise LedgerUnavailable("the ledger's disk is full")

    monkeypatch.setattr(census._account, "commit", full)
    with pytest.raises(QuestionFailed) as caught:
        census.ask(COUNT, epsilon=1)
    assert caught.value.__context__ is None
    assert census.spent.epsilon == 1


@pytest.mark.parametrize("asked", [COUNT, [COUNT, "SELECT AVG(age) AS a FROM census"]])
@pytest.mark.parametrize("step", ["run", "certificate_of", "recorded", "reuse_key", "commit", "commit and fail"])
def test_nothing_of_an_error_leaves_once_it_is_paid(
    census: dp.Protected, monkeypatch: pytest.MonkeyPatch, step: str, asked: Any
) -> None:
    """Whatever fails after the reservation, with whatever error: one text, no cause, no context; the debit stands."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret")

    census.refresh()
    if step.startswith("commit"):
        monkeypatch.setattr(census._account, "commit", fail)
        if step.endswith("fail"):
            monkeypatch.setattr(census._account, "fail", fail)
    else:
        monkeypatch.setattr(execute, step, fail)
    with pytest.raises(QuestionFailed) as caught:
        census.ask(asked, epsilon=1)
    assert str(caught.value) == str(QuestionFailed())
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert census.spent.epsilon == 1
    assert census.history()[-1].state == ("reserved" if step.endswith("fail") else "failed")


def test_a_plan_needs_no_data(people: pa.Table, tmp_path: Path) -> None:
    """With the file gone, and the snapshot too, a question can still be planned and explained."""
    import pyarrow.csv as pc

    path = tmp_path / "t.csv"
    pc.write_csv(people, path)
    columns = {"age": dp.Bounds(0, 110)}
    budget = dp.Budget(epsilon=10)
    with dp.protect(path, name="t", unit=dp.Unit.row(), columns=columns, budget=budget, ledger=tmp_path / "l") as t:
        path.unlink()
        rmtree(tmp_path / "l.snapshots")
        plan = t.plan("SELECT AVG(age) AS a, COUNT(*) AS n FROM t", epsilon=1)
        assert "± " in plan.explain()
        with pytest.raises(SnapshotMissing):
            t.ask(plan)
        assert t.spent.epsilon == 0


def test_within_buys_the_least_that_is_accurate_enough(census: dp.Protected) -> None:
    """The plan's error meets the width, and a thousandth less ε would not."""
    plan = census.plan(COUNT, within=30)
    assert plan.expected[0].error is not None
    assert plan.expected[0].error <= 30
    cheaper = census.plan(COUNT, epsilon=plan.levels[0].draft.noises[0].mechanism.loss.epsilon * Fraction(98, 100))
    assert cheaper.expected[0].error is not None
    assert cheaper.expected[0].error > 30


def test_what_is_left_may_not_reach_the_accuracy_asked_for(census: dp.Protected) -> None:
    """The refusal says the best that it does reach, and asking for that is then possible; nothing is charged before."""
    census.ask("SELECT COUNT(age) AS n FROM census", epsilon="99.9")
    with pytest.raises(AccuracyUnreachable) as caught:
        census.ask(COUNT, within=5)
    assert "; ε = 0.1, with" in caught.value.message
    assert "n: ± 30 at 95 %, where ± 5 was wanted" in caught.value.hint
    assert census.spent.epsilon == Fraction(999, 10)
    answer = census.ask(COUNT, within=5, epsilon="0.1")
    assert str(answer.cost) == "ε = 0.1"
    with pytest.raises(BudgetExhausted):
        census.ask(COUNT, epsilon=1)


def test_limits_of_a_question_are_kept(people: pa.Table, tmp_path: Path) -> None:
    """One person's three rows count as many as the question's own limit says, and answers aren't confused."""
    with dp.protect(
        people,
        name="t",
        unit=dp.Unit("person_id"),
        limits=dp.Limits(rows=3),
        budget=dp.Budget(epsilon=10_000),
        ledger=tmp_path / "l",
    ) as t:
        sql = "SELECT COUNT(*) AS n FROM t WHERE person_id <= 2"
        found = [t.ask(sql, epsilon=1_000, limits=limits) for limits in (None, dp.Limits(rows=1), dp.Limits(rows=2))]
        assert [answer["n"][0] for answer in found] == [5, 2, 4]
        assert not any(answer.reused for answer in found)
        assert t.ask(sql, epsilon=1_000, limits=dp.Limits(rows=2)).reused


def test_a_plan_of_one_dataset_is_not_carried_out_by_another(census: dp.Protected, tmp_path: Path) -> None:
    """A plan made under other bounds or limits would be charged here for what it cost there."""
    with dp.protect(
        pa.table({"age": [1, 2]}),
        name="census",
        unit=dp.Unit.row(),
        columns={"age": dp.Bounds(0, 1)},
        budget=dp.Budget(epsilon=10),
        ledger=tmp_path / "other",
    ) as other:
        plan = other.plan("SELECT SUM(age) AS s FROM census", epsilon=1)
        with pytest.raises(InvalidArgument):
            census.ask(plan)
