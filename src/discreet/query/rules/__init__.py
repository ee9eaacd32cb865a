"""The rules that turn a question into a plan: one decision per file, applied in this order.

A rule is a pure function from a draft to a draft with its own part filled in. It sees public facts only, and refuses
with a `QueryError` what it can't prove.
"""

from __future__ import annotations

from collections.abc import Callable

from discreet.query.draft import Draft
from discreet.query.rules.contributions import contributions
from discreet.query.rules.measures import measures
from discreet.query.rules.noise import noise
from discreet.query.rules.public_keys import public_keys
from discreet.query.rules.selection import selection
from discreet.query.rules.sensitivities import sensitivities

RULES: tuple[Callable[[Draft], Draft], ...] = (
    public_keys,
    contributions,
    measures,
    sensitivities,
    noise,
    selection,
)
