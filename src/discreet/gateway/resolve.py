"""Resolution: which plan is carried out, and how, given what the caller said and what the account knows.

A question is planned with the noise that errs less. Where an offer of ε and δ left that open, and Gaussian noise was
planned, the same may be had with Laplace noise instead: because that was paid for before, or because nothing else can
be paid for any more. A plan that was named is carried out as it is, or not at all; only what was paid for before stands
in for it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from discreet.errors import PlanChanged
from discreet.query.planner import Plan


class Way(Enum):
    """The use that is made of a plan."""

    EXPLAINED = "put into words, free of charge"
    LOOKED_UP = "answered from what is stored for an earlier version, or not at all"
    AS_NAMED = "carried out as it is"
    AS_PAYABLE = "carried out, with Laplace noise if Gaussian noise can't be paid for"


class Known(Protocol):
    """Everything the account knows about plans at the version that is asked about."""

    def was_answered(self, plan: Plan) -> bool:
        """Whether it was answered for an offer of ε and δ."""

    def has_begun(self, plan: Plan) -> bool:
        """Whether some of what it asks first was answered."""

    def is_paid(self, plan: Plan) -> bool:
        """Whether all that it asks first was answered, or, if it asks nothing first, the plan itself."""

    def can_pay(self, plan: Plan) -> bool:
        """Whether all of it would be admitted now."""


def way_of(plan: Plan, *, explains: bool, is_plan: bool, digest: str | None, version: int | None) -> Way:
    """The use that a caller wants of a plan.

    Args:
        plan: as it is made here and now.
        explains: whether the question began with EXPLAIN.
        is_plan: whether a plan was handed in, and not a question.
        digest: of the plan that was named, if one was.
        version: the earlier version that was named, if one was.

    Raises:
        PlanChanged: the plan isn't the one that was named.
    """
    if digest not in {None, plan.digest}:
        raise PlanChanged("this question's plan isn't the one that was named", hint="plan it again")
    if explains:
        return Way.EXPLAINED
    if version is not None:
        return Way.LOOKED_UP
    return Way.AS_NAMED if is_plan or digest is not None else Way.AS_PAYABLE


def resolve(plan: Plan, way: Way, known: Known, laplace: Callable[[Plan], Plan]) -> Plan:
    """The plan that is carried out, or looked up: this one, or the same with Laplace noise.

    What an offer of ε and δ was answered with is given again, whichever noise it has. Where only what is asked first
    was paid for in Laplace noise, asking goes on with that, unless a plan was named. And where Gaussian noise can't be
    paid for, and isn't paid for already, Laplace noise is taken if it can be, again unless a plan was named.

    Args:
        plan: with the noise that errs less.
        way: how it is used.
        known: what the account knows.
        laplace: plans the same with Laplace noise.
    """
    if plan.choice is None or plan.choice.rho is None or way is Way.EXPLAINED:
        return plan
    other = laplace(plan)
    if known.was_answered(other):
        return other
    if way is Way.AS_NAMED:
        return plan
    if known.has_begun(other):
        return other
    if way is Way.LOOKED_UP or known.can_pay(plan) or known.is_paid(plan) or not known.can_pay(other):
        return plan
    return other
