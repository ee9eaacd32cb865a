"""Procedures: plans that are asked one after the other, each chosen by what those before it answered.

Private tuning is one: profiles first, then the question with what they chose. Each step is paid for by itself. The
most steps that there can be are known before the first, from the plan that is shown: a server gives each of them its
time, whatever their answers choose.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from discreet.errors import BudgetExhausted
from discreet.gateway.current import Current
from discreet.gateway.execute import execute
from discreet.gateway.outcome import Outcome
from discreet.gateway.standing import PlanStanding
from discreet.query.planner import Plan

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Procedure(Generic[_Found]):
    """Plans to be asked step by step.

    Args:
        plan: all of it, as it is shown before anything is paid: its `steps` are the most that are asked.
        begin: starts a generator that yields the plan of each step, is sent its outcome, and returns the result.
    """

    plan: Plan
    begin: Callable[[], Generator[Plan, Outcome, _Found]]

    def follow(self, ask: Callable[[Plan], Outcome]) -> _Found:
        """Ask one step after the other.

        Args:
            ask: looks for the outcome of a step, or pays for it.
        """
        asking = self.begin()
        step = next(asking)
        for _ in self.plan.steps:
            outcome = ask(step)
            try:
                step = asking.send(outcome)
            except StopIteration as end:
                found: _Found = end.value
                return found
        raise AssertionError("a procedure can't have more steps than its plan says")


def carry_out(
    procedure: Procedure[_Found], standing: PlanStanding, current: Current, until: Callable[[], None] | None
) -> _Found:
    """Ask one step after the other; each has its stored outcome, or is paid for by `execute`.

    Before the first is paid for, the account must admit all of them. What was paid stays paid if a later step is
    refused: another analyst may have spent the rest meanwhile.

    Args:
        procedure: what is asked.
        standing: of its plans with the account, at the versions in force.
        current: these versions.
        until: as for `execute`.

    Raises:
        DiscreetError: as for `execute`.
    """
    plan = procedure.plan
    if not all(standing.paid_first(plan)):
        standing.account.check(plan.event, standing.analyst)  # all of it, so that a profile isn't paid for in vain
    pay = partial(
        execute, account=standing.account, current=current, index=standing.index, analyst=standing.analyst, until=until
    )
    try:
        return procedure.follow(pay)
    except BudgetExhausted as refusal:
        if standing.has_begun(plan):
            refusal.hint = "the measurements before it are paid for, and free if you ask again at the same offer"
        raise
