"""Answers as far as they follow from released numbers, for nothing: arithmetic, reconstruction, reuse, workloads.

Nothing here runs an engine, draws noise or opens a ledger; the rest of the gateway does, and calls this room.
"""

from discreet.gateway.answers.derivation import derive
from discreet.gateway.answers.intervals import ShownIntervals, covers, interval_of
from discreet.gateway.answers.matching import Released
from discreet.gateway.answers.parts import held, least, wanted
from discreet.gateway.answers.picking import Arrangement, picks_by_noise
from discreet.gateway.answers.reconstruction import reconstructed
from discreet.gateway.answers.released import (
    Group,
    Shown,
    Values,
    evaluate,
    in_order,
    public_groups,
    unmeasured,
)
from discreet.gateway.answers.same_rows import conditions, extra_filters, reuse_key
from discreet.gateway.answers.workload import MOST_QUESTIONS, Workload, answered_levels, how_shown, workload_planner

__all__ = [
    "MOST_QUESTIONS",
    "Arrangement",
    "Group",
    "Released",
    "Shown",
    "ShownIntervals",
    "Values",
    "Workload",
    "answered_levels",
    "conditions",
    "covers",
    "derive",
    "evaluate",
    "extra_filters",
    "held",
    "how_shown",
    "in_order",
    "interval_of",
    "least",
    "picks_by_noise",
    "public_groups",
    "reconstructed",
    "reuse_key",
    "unmeasured",
    "wanted",
    "workload_planner",
]
