"""Offers of ε and δ get the noise that errs less, keep what they promise, and are charged for what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, exp
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.accounting import charge_of, mu_for, rho_for
from discreet.errors import BudgetExhausted
from discreet.gateway import planning as gateway
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.planner import Plan, Request, make_plan

pytestmark = pytest.mark.usefixtures("kept_sessions")

PEOPLE = pa.table(
    {"id": [n // 3 for n in range(90)], "age": [n % 60 for n in range(90)], "town": [f"t{n % 7}" for n in range(90)]}
)
ONE = "SELECT COUNT(*) AS n FROM t"
EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)

Opened = Callable[..., dp.Protected]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """A table of rows, or of units, under any budget."""
    made: list[dp.Protected] = []

    def protect(groups: int = 0, **more: Any) -> dp.Protected:
        terms: dict[str, Any] = (
            {"unit": dp.Unit("id"), "limits": dp.Limits(groups=groups, rows_per_group=1)} if groups else {}
        )
        terms |= {"budget": dp.Budget(epsilon=3, delta=1e-6), "ledger": tmp_path / f"{len(made)}"} | more
        found = dp.protect(PEOPLE, name="t", columns={"age": dp.Bounds(0, 110)}, **{"unit": dp.Unit.row(), **terms})
        made.append(found)
        return found

    yield protect
    for each in made:
        each.close()


def counts(number: int) -> str:
    """So many counts in one question, none of which is read from cells."""
    columns = [f"COUNT(DISTINCT age + {age}) AS n{age}" for age in range(number)]
    return f"SELECT {', '.join(columns)} FROM t"


def radius(plan: Plan) -> float:
    """The announced error of the first column."""
    error = plan.expected[0].error
    assert error is not None
    return error


def hockey_stick(sigma: float, number: int, epsilon: float) -> float:
    """The exact δ(ε) of discrete Gaussian noise on so many counts that one unit moves by 1 each, by convolution."""
    reach = ceil(12 * sigma)
    law = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma**2))
    total = np.ones(1)
    for _ in range(number):
        total = np.convolve(total, law / law.sum())
    sums = np.arange(len(total)) - number * reach
    losses = (2 * sums + number) / (2 * sigma**2)
    return float(np.sum(total * np.maximum(0, -np.expm1(np.minimum(epsilon - losses, 0)))))


def test_thirty_counts_get_gaussian_noise_and_one_gets_laplace(opened: Opened) -> None:
    """The radius is that of μ-GDP, half of Laplace noise's; one count and five stay; `explain` says why."""
    people = opened()
    thirty = people.plan(counts(30), epsilon=EPSILON, delta=DELTA)
    plain = people.plan(counts(30), epsilon=EPSILON)
    sigma = 30**0.5 / float(mu_for(EPSILON, DELTA))
    assert radius(thirty) <= ceil(1.001 * sigma * NormalDist().inv_cdf(0.975))
    assert radius(thirty) < 0.51 * radius(plain)
    assert thirty.cost == dp.ApproxDP(EPSILON, DELTA)
    assert (
        f"Gaussian: at this ε and δ its worst error is {radius(thirty) / radius(plain):.3g} times" in thirty.explain()
    )
    for few in (1, 5):
        plan = people.plan(counts(few), epsilon=EPSILON, delta=DELTA)
        assert plan.digest == people.plan(counts(few), epsilon=EPSILON).digest
        assert plan.cost == dp.PureDP(1)
        assert "noise     Laplace: at this ε and δ the worst error of Gaussian noise would be" in plan.explain()
    assert "noise     " not in plain.explain()


def test_what_is_offered_is_kept_and_nearly_used_up(opened: Opened) -> None:
    """By the exact law of all thirty noises; a σ that is 2 % smaller wouldn't keep it."""
    plan = opened().plan(counts(30), epsilon=EPSILON, delta=DELTA)
    sigmas = {noise.mechanism.sigma for noise in plan.levels[0].draft.noises if isinstance(noise.mechanism, Gaussian)}
    (sigma,) = sigmas
    assert 0.98 * DELTA < hockey_stick(float(sigma), 30, 1) <= DELTA
    assert hockey_stick(0.98 * float(sigma), 30, 1) > DELTA


def test_many_groups_of_a_unit_are_selected_by_gaussian_noise(opened: Opened) -> None:
    """Half of δ is for the threshold, half for the noise; 20 groups need a third of the threshold, one stays."""
    asked = "SELECT town, COUNT(DISTINCT id) AS n FROM t GROUP BY town"
    offer: dict[str, Any] = {"epsilon": EPSILON, "delta": Fraction(1, 10**7)}
    many = opened(groups=20).plan(asked, **offer)
    draft = many.levels[0].draft
    assert draft.threshold is not None
    assert draft.threshold.delta == offer["delta"] / 2
    (noise,) = draft.noises
    assert isinstance(noise.mechanism, Gaussian)
    ratio = 20**0.5 / float(noise.mechanism.sigma)  # how far a unit moves it, in σ
    normal = NormalDist()
    spent = normal.cdf(-1 / ratio + ratio / 2) - exp(1) * normal.cdf(-1 / ratio - ratio / 2)
    assert spent <= offer["delta"] / 2
    laplace = make_plan(many.question, Request.of(**offer), many.dataset).levels[0].draft
    assert laplace.threshold is not None
    assert draft.threshold.value * noise.step < 0.36 * laplace.threshold.value * laplace.noises[0].step
    one = opened(groups=1).plan(asked, **offer)
    assert isinstance(one.levels[0].draft.noises[0].mechanism, Laplace)
    assert one.levels[0].draft.threshold is not None
    assert one.levels[0].draft.threshold.delta == offer["delta"]


def test_the_account_is_charged_for_what_was_done(opened: Opened) -> None:
    """ρ, and no finite ε; asked again, also as the plan, it is free; and the ledger verifies."""
    people = opened()
    plan = people.plan(counts(30), epsilon=EPSILON, delta=DELTA)
    first = people.ask(plan)
    assert people.spent == charge_of(plan.event)
    assert people.spent.epsilon is None
    assert people.ask(counts(30), epsilon=EPSILON, delta=DELTA).entry == first.entry
    assert people.ask(counts(30), rho=plan.request.rho).reused  # it is the same question
    assert people.verify().problems == ()


def test_a_workload_has_the_same_choice(opened: Opened) -> None:
    """Thirty questions of one count: 45 where it was 74; few keep Laplace noise."""
    people = opened()
    many = people.plan([f"{ONE} WHERE age > {age}" for age in range(30)], epsilon=EPSILON, delta=DELTA)
    assert radius(many.plans[0]) == radius(people.plan(counts(30), epsilon=EPSILON, delta=DELTA))
    assert many.cost == dp.ApproxDP(EPSILON, DELTA)
    assert "noise: Gaussian: at this ε and δ" in str(many)
    answers = people.ask(many)
    assert people.ask(many)[3].entry == answers[3].entry
    few = people.plan([ONE, f"{ONE} WHERE age > 9"], epsilon=EPSILON, delta=DELTA)
    assert few.cost == dp.PureDP(1)


def test_a_workload_selects_groups_with_half_of_delta_in_all(opened: Opened) -> None:
    """Two questions share it, and noise of both together keeps ε with the other half."""
    asked = [f"SELECT town, COUNT(DISTINCT id) AS n FROM t WHERE age > {age} GROUP BY town" for age in (0, 9)]
    many = opened(groups=20).plan(asked, epsilon=EPSILON, delta=Fraction(1, 10**7))
    charge = charge_of(many.event)
    assert charge.delta == Fraction(1, 2 * 10**7)
    assert charge.rho is not None
    assert charge.rho <= mu_for(EPSILON, Fraction(1, 2 * 10**7)) ** 2 / 2
    assert many.cost == dp.ApproxDP(EPSILON, Fraction(1, 10**7))


def test_an_offer_as_large_as_the_budget_can_be_paid(opened: Opened) -> None:
    """Of the budget's δ half is for groups, so noise that uses all of an offered δ wouldn't be admitted: it is cut."""
    people = opened(budget=dp.Budget(epsilon=1, delta=1e-6))
    plan = people.plan(counts(30), epsilon=1, delta=1e-6)
    assert plan.request.rho is not None
    assert 0.9999 * rho_for(1, DELTA / 2) < plan.request.rho <= rho_for(1, DELTA / 2)
    assert not people.ask(plan).reused
    with pytest.raises(BudgetExhausted):
        people.ask(counts(31), epsilon=1, delta=1e-6)


def test_an_account_that_plain_sums_have_used_pays_for_laplace_noise(opened: Opened) -> None:
    """What is left of ε still pays, where zCDP is spent; a plan isn't changed; and a stored answer stays what it is."""
    people = opened(groups=20)
    asked = "SELECT town, COUNT(*) AS n FROM t GROUP BY town"
    offer: dict[str, Any] = {"epsilon": EPSILON, "delta": Fraction(1, 10**7)}
    plan = people.plan(asked, **offer)
    people.ask("SELECT COUNT(*) AS n FROM t", epsilon=2)
    with pytest.raises(BudgetExhausted):
        people.ask(plan)
    first = people.ask(asked, **offer)
    assert (people.spent.epsilon, first.reused) == (3, False)
    assert people.ask(asked, **offer).entry == people.ask(plan).entry == first.entry
    fresh = opened(groups=20)
    gaussian = fresh.ask(asked, **offer)
    with pytest.raises(BudgetExhausted):
        fresh.ask("SELECT COUNT(*) AS n FROM t", epsilon=2)
    fresh.ask("SELECT COUNT(*) AS n FROM t WHERE age > 3", rho=fresh.remaining.rho)
    assert fresh.ask(asked, **offer).entry == gaussian.entry


def test_there_is_no_choice_where_gaussian_noise_cant_be_paid_or_wasnt_meant(opened: Opened) -> None:
    """Budgets without a δ, of all or of whoever asks; offers above the budget; accuracies; OPTIONS that say Laplace."""
    offer: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA}
    budget = dp.Budget(epsilon=3, delta=1e-6)
    pure = opened(budget=dp.Budget(epsilon=3))
    shared = opened(budget=budget, analysts={"ann": dp.Budget(epsilon=2), "bob": dp.Budget(epsilon=2, delta=1e-6)})
    plans = [
        pure.plan(counts(30), **offer),
        shared.plan(counts(30), analyst="ann", **offer),
        shared.plan(counts(30), **offer),
        opened(budget=dp.Budget(epsilon="0.5", delta=1e-6)).plan(counts(30), **offer),
        opened().plan(counts(30), within=50, **offer),
    ]
    assert [plan.choice for plan in plans] == [None] * len(plans)
    assert shared.plan(counts(30), analyst="bob", **offer).request.rho is not None
    options = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 1e-7{}) town, COUNT(*) AS n FROM t GROUP BY 1"
    )
    people = opened(groups=20)
    assert people.plan(options.format("")).request.rho is not None
    assert people.plan(options.format(", group_selection_strategy = LAPLACE_THRESHOLD")).choice is None


def test_choices_go_by_zcdp(opened: Opened) -> None:
    """A quantile's loss is no Gaussian's: what it shares an offer with is held to the ρ of every release."""
    columns = ", ".join(f"MEDIAN(CASE WHEN age > {age} THEN age END) AS m{age}" for age in range(40))
    plan = opened().plan(f"SELECT {columns} FROM t", epsilon=EPSILON, delta=DELTA)
    rho = charge_of(plan.event).rho
    assert plan.choice is not None
    assert plan.request.rho is not None
    assert rho is not None
    assert 0.9999 * rho_for(EPSILON, DELTA) < plan.request.rho <= rho_for(EPSILON, DELTA)
    assert rho <= rho_for(EPSILON, DELTA)


@pytest.mark.parametrize("asked", [counts(30), [counts(30), ONE]], ids=["one", "workload"])
def test_answers_of_before_are_found(opened: Opened, monkeypatch: pytest.MonkeyPatch, asked: Any) -> None:
    """What an offer of ε and δ got in Laplace noise is given again for nothing, also as a plan, or by its version."""
    people = opened()
    offer: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA}
    with monkeypatch.context() as before:
        before.setattr(gateway, "choose_noise", lambda plan, *_: (plan, None))
        first = people.ask(asked, **offer)
    people._planning._last = None  # the rules are others now
    spent = people.spent
    plan = people.plan(asked, **offer)
    assert plan.choice is not None
    assert plan.choice.rho is not None
    again, planned = people.ask(asked, **offer), people.ask(plan)
    entries = [[each.entry for each in (found if isinstance(found, list) else [found])] for found in (again, planned)]
    assert entries[0] == entries[1] == [each.entry for each in (first if isinstance(first, list) else [first])]
    assert people.spent == spent
    people.refresh()
    people.ask(asked, version=1, **offer)
    assert people.spent == spent


def test_an_answer_to_epsilon_alone_is_another(opened: Opened) -> None:
    """It errs twice as much as what both are offered for."""
    people = opened()
    plain = people.ask(counts(30), epsilon=EPSILON)
    both = people.ask(counts(30), epsilon=EPSILON, delta=DELTA)
    assert (plain.reused, both.reused) == (False, False)
    (narrow,), (wide,) = both.interval("n0"), plain.interval("n0")
    assert narrow is not None
    assert wide is not None
    assert narrow[1] - narrow[0] < 0.51 * (wide[1] - wide[0])


def test_profiles_of_before_are_found(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question whose profile was paid for in Laplace noise goes on with it."""
    people = opened(groups=20, budget=dp.Budget(epsilon=9, delta=1e-6))
    asked = "SELECT town, COUNT(*) AS n FROM t GROUP BY town"
    offer: dict[str, Any] = {"epsilon": EPSILON, "delta": Fraction(1, 10**7), "limits": "auto"}
    with monkeypatch.context() as before:
        before.setattr(gateway, "choose_noise", lambda plan, *_: (plan, None))
        people.ask(asked, **offer)
    people._planning._last = None
    spent = people.spent
    assert people.plan(asked, **offer).request.rho is not None
    people.ask(asked, **offer)
    assert people.spent == spent


def test_a_plan_is_made_again_and_not_believed(opened: Opened) -> None:
    """One that says it was chosen for another offer is planned for that, and found to be another."""
    people = opened()
    plan = people.plan(counts(30), epsilon=EPSILON, delta=DELTA)
    assert plan.choice is not None
    forged = replace(plan, choice=replace(plan.choice, offer=Request.of(epsilon="0.01", delta=DELTA)))
    with pytest.raises(dp.errors.InvalidArgument, match="made for other tables"):
        people.ask(forged)
