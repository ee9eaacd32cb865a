"""Answers as far as they follow from released numbers, for nothing: arithmetic, consistency, reuse, workloads.

Nothing here runs an engine, draws noise or opens a ledger; the rest of the gateway does, and calls this room.
"""

from discreet.gateway.answers.derivation import derive
from discreet.gateway.answers.released import (
    Group,
    Values,
    arrange,
    confidence_of_shown,
    consistent,
    evaluate,
    in_order,
    interval_of,
    picks_by_noise,
    public_groups,
    unmeasured,
)
from discreet.gateway.answers.serving import Released, conditions, held, least, reuse_key, wanted
from discreet.gateway.answers.workload import Workload, make_workload

__all__ = [
    "Group",
    "Released",
    "Values",
    "Workload",
    "arrange",
    "conditions",
    "confidence_of_shown",
    "consistent",
    "derive",
    "evaluate",
    "held",
    "in_order",
    "interval_of",
    "least",
    "make_workload",
    "picks_by_noise",
    "public_groups",
    "reuse_key",
    "unmeasured",
    "wanted",
]
