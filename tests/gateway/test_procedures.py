"""Procedures: asked step by step, each paid for, and never more steps than were known before."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

import discreet as dp
from discreet.errors import BudgetExhausted
from discreet.gateway.outcome import Outcome
from discreet.gateway.procedures import Procedure
from discreet.gateway.tuning import tuning
from support.tables import VISITS, visits

pytestmark = pytest.mark.usefixtures("kept_sessions")

COUNT = "SELECT COUNT(*) AS n FROM t"
TERMS = [
    {},
    {"limits": "auto"},
    {"limits": "auto", "cut_off": True},
    {"bounds": {"age": "auto"}},
    {"bounds": {"age": "auto"}, "limits": "auto"},
    {"bounds": {"age": "auto", "income": "auto"}, "limits": "auto", "cut_off": True},
]


@pytest.fixture
def people(tmp_path: Path) -> Iterator[dp.Protected]:
    """The visits of people."""
    with dp.protect(
        visits(),
        name="t",
        unit=dp.Unit("person_id"),
        limits=dp.Limits(rows=4),
        columns=VISITS,
        budget=dp.Budget(epsilon=1000),
        ledger=tmp_path / "t.ledger",
    ) as protected:
        yield protected


@pytest.mark.parametrize("terms", TERMS, ids=[" ".join(each) or "nothing" for each in TERMS])
def test_a_plan_says_how_many_steps_are_paid_for(people: dp.Protected, terms: dict[str, object]) -> None:
    """As many entries as steps: profiles of bounds, of limits and of what bounds move, and the question."""
    plan = people.plan("SELECT region, SUM(age) AS a, SUM(income) AS s FROM t GROUP BY region", epsilon=9, **terms)  # type: ignore[arg-type]  # by name
    people.ask(plan)
    assert sum(entry.kind == "question" for entry in people.history()) == len(plan.steps)


def test_several_questions_are_one_step(people: dp.Protected) -> None:
    """However many bundles they have."""
    other = "SELECT region, COUNT(*) AS n FROM t WHERE region IS NOT NULL GROUP BY region"
    workload = people.plan([COUNT, other], epsilon=1)
    assert len(workload.bundles) == 2
    assert workload.steps == (workload,)


def test_no_step_follows_that_the_plan_did_not_say(people: dp.Protected) -> None:
    """A procedure that asks for one more is stopped before that is asked."""
    plan, asked = people.plan(COUNT, epsilon=1), list[dp.Plan]()
    people.ask(plan)
    outcome = _outcome(people, plan)

    def endless() -> Generator[dp.Plan, Outcome, None]:
        while True:
            yield plan

    def ask(step: dp.Plan) -> Outcome:
        asked.append(step)
        return outcome

    with pytest.raises(AssertionError, match="more steps than its plan says"):
        Procedure(plan, endless).follow(ask)
    assert asked == [plan]


def test_a_step_of_tuning_is_chosen_by_those_before(people: dp.Protected) -> None:
    """The question itself is planned once the profiles are there, at what is left, with limits that they chose."""
    plan, asked = people.plan(COUNT, epsilon=9, limits="auto"), list[dp.Plan]()
    people.ask(plan)

    def ask(step: dp.Plan) -> Outcome:
        asked.append(step)
        return _outcome(people, step)

    found = tuning(plan, people._planning.again).follow(ask)
    assert asked[:-1] == list(plan.profiles) == list(found.before)
    assert asked[-1].request.limits not in {"auto", None}
    assert asked[-1].profiles == ()


def test_all_steps_are_payable_before_the_first_is_paid(people: dp.Protected) -> None:
    """What the profiles alone could be had for isn't begun."""
    with pytest.raises(BudgetExhausted):
        people.ask(COUNT, epsilon=1001, limits="auto")
    assert people.spent.epsilon == 0


def _outcome(people: dp.Protected, plan: dp.Plan) -> Outcome:
    """The stored outcome of a step."""
    found = people._index.find(plan, 1, None)
    assert found is not None
    return found
