"""Which plan is carried out: a table of what a caller says, and of what the account knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import discreet as dp
from discreet.errors import PlanChanged
from discreet.gateway.resolve import Way, resolve, way_of
from support.tables import VISITS, visits

pytestmark = pytest.mark.usefixtures("kept_sessions")


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dp.Plan, dp.Plan]]:
    """A plan whose offer was given Gaussian noise, and the same with Laplace noise."""
    ledger: Path = tmp_path_factory.mktemp("resolve") / "t.ledger"
    budget = dp.Budget(epsilon=9, delta=Fraction(1, 10**6))
    many = ", ".join(f"COUNT(DISTINCT age + {age}) AS n{age}" for age in range(30))
    with dp.protect(visits(), name="t", unit=dp.Unit.row(), columns=VISITS, budget=budget, ledger=ledger) as protected:
        gaussian = protected.plan(f"SELECT {many} FROM t", epsilon=1, delta=Fraction(1, 10**6))
        assert gaussian.choice is not None
        assert gaussian.choice.rho is not None
        yield gaussian, protected._planning.with_laplace(gaussian)


@dataclass(frozen=True)
class _Facts:
    """What an account might know.

    Args:
        laplace: the plan with Laplace noise.
        answered: whether that was answered.
        begun: whether a profile of it was.
        pays: whether the account would admit either, by whether it is that with Laplace noise.
        paid: whether the plan with Gaussian noise is paid for.
    """

    laplace: dp.Plan
    answered: bool = False
    begun: bool = False
    pays: tuple[bool, bool] = (True, True)
    paid: bool = False

    def was_answered(self, plan: dp.Plan) -> bool:
        assert plan is self.laplace
        return self.answered

    def has_begun(self, plan: dp.Plan) -> bool:
        assert plan is self.laplace
        return self.begun

    def is_paid(self, plan: dp.Plan) -> bool:
        assert plan is not self.laplace
        return self.paid

    def can_pay(self, plan: dp.Plan) -> bool:
        return self.pays[plan is self.laplace]


@pytest.mark.parametrize(
    ("explains", "is_plan", "named", "version", "way"),
    [
        (False, False, False, None, Way.AS_PAYABLE),
        (False, True, False, None, Way.AS_NAMED),
        (False, False, True, None, Way.AS_NAMED),
        (False, True, True, None, Way.AS_NAMED),
        (False, False, False, 1, Way.LOOKED_UP),
        (False, True, False, 1, Way.LOOKED_UP),
        (False, False, True, 1, Way.LOOKED_UP),
        (True, False, False, None, Way.EXPLAINED),
        (True, False, True, None, Way.EXPLAINED),
        (True, False, False, 1, Way.EXPLAINED),
    ],
)
def test_what_is_said_tells_the_way(  # noqa: PLR0913, PLR0917 — a table
    plans: tuple[dp.Plan, dp.Plan], explains: bool, is_plan: bool, named: bool, version: int | None, way: Way
) -> None:
    """EXPLAIN comes first, then an earlier version; a plan or its digest binds; and another's digest is refused."""
    plan, other = plans
    digest = plan.digest if named else None
    assert way_of(plan, explains=explains, is_plan=is_plan, digest=digest, version=version) is way
    with pytest.raises(PlanChanged):
        way_of(plan, explains=explains, is_plan=is_plan, digest=other.digest, version=version)


@pytest.mark.parametrize(
    ("way", "facts", "takes_laplace"),
    [
        (Way.AS_PAYABLE, {}, False),
        (Way.AS_PAYABLE, {"answered": True}, True),
        (Way.AS_PAYABLE, {"begun": True}, True),
        (Way.AS_PAYABLE, {"pays": (False, True)}, True),
        (Way.AS_PAYABLE, {"pays": (False, False)}, False),
        (Way.AS_PAYABLE, {"pays": (False, True), "paid": True}, False),
        (Way.AS_NAMED, {}, False),
        (Way.AS_NAMED, {"answered": True}, True),
        (Way.AS_NAMED, {"begun": True}, False),
        (Way.AS_NAMED, {"pays": (False, True)}, False),
        (Way.LOOKED_UP, {}, False),
        (Way.LOOKED_UP, {"answered": True}, True),
        (Way.LOOKED_UP, {"begun": True}, True),
        (Way.LOOKED_UP, {"pays": (False, True)}, False),
        (Way.EXPLAINED, {"answered": True, "begun": True, "pays": (False, True)}, False),
    ],
)
def test_the_account_tells_the_noise(
    plans: tuple[dp.Plan, dp.Plan], way: Way, facts: dict[str, bool | tuple[bool, bool]], takes_laplace: bool
) -> None:
    """What was answered is given again; what was named is never made another; what can be paid for is paid for."""
    plan, laplace = plans
    known = replace(_Facts(laplace), **facts)  # type: ignore[arg-type]  # by name
    assert resolve(plan, way, known, lambda _: laplace) is (laplace if takes_laplace else plan)


def test_a_plan_without_a_choice_of_noise_is_carried_out_as_it_is(plans: tuple[dp.Plan, dp.Plan]) -> None:
    """Whatever the account knows: it isn't asked, and nothing is planned again."""
    _, laplace = plans

    def never(_: dp.Plan) -> dp.Plan:
        raise AssertionError

    for way, pays in product(Way, (True, False)):
        assert resolve(laplace, way, _Facts(laplace, answered=True, begun=True, pays=(pays, pays)), never) is laplace
