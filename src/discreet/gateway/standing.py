"""The standing of plans with an account: which parts were answered already, and what could be paid for now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import BudgetError
from discreet.gateway.outcome import Outcome
from discreet.gateway.reuse import ReuseIndex
from discreet.query.planner import Plan

if TYPE_CHECKING:
    from discreet.ledger import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStanding:
    """The standing of plans with an account, for one analyst, at one version of the tables.

    Args:
        account: that pays.
        index: of its stored outcomes.
        version: the number of the version that a plan is about; 0 if its tables weren't there.
        analyst: who asks.
    """

    account: Account
    index: ReuseIndex
    version: Callable[[Plan], int]
    analyst: str | None

    def find(self, plan: Plan) -> Outcome | None:
        """The stored outcome of a plan, or one that follows from others; None if there is none."""
        version = self.version(plan)
        return self.index.find(plan, version, self.analyst) if version else None

    def was_answered(self, plan: Plan) -> bool:
        """Whether it was answered for an offer of ε and δ."""
        return self.index.was_offered_delta(plan.digest, self.version(plan))

    def paid_first(self, plan: Plan) -> list[bool]:
        """Whether each profile was answered."""
        return [self.index.holds(each, self.version(each)) for each in plan.profiles]

    def has_begun(self, plan: Plan) -> bool:
        """Whether some of what it asks first was answered."""
        return any(self.paid_first(plan))

    def is_paid(self, plan: Plan) -> bool:
        """Whether all that it asks first was answered, or, if it asks nothing first, the plan itself."""
        return all(self.paid_first(plan)) if plan.profiles else self.find(plan) is not None

    def can_pay(self, plan: Plan) -> bool:
        """Whether the account would admit all of it now."""
        try:
            self.account.check(plan.event, self.analyst)
        except BudgetError:
            return False
        return True
