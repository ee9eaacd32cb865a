"""Terms: what may be said beside a question, by name; `Protected.plan` says what each means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from discreet.exact import Rationalizable
from discreet.privacy import Bounds, Limits
from discreet.query.planner import Auto, Within


class PlanTerms(TypedDict, total=False):
    """What may be said to `plan`."""

    epsilon: Rationalizable | None
    delta: Rationalizable | None
    rho: Rationalizable | None
    within: Within | None
    weights: Mapping[str, Rationalizable] | None
    confidence: Rationalizable
    limits: Limits | Auto | None
    bounds: Mapping[str, Bounds | Auto] | None
    consistent: bool
    cut_off: bool
    dialect: str


class AskTerms(PlanTerms, total=False):
    """What may be said to `ask`."""

    analyst: str | None
    version: int | None
