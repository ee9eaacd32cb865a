"""Release times: when an answer leaves, by public facts alone.

How long a question runs depends on the rows, and so on people. Random delays don't hide that, since they average out,
and rounding up to a grid tells on which side of a step it ran. So each plan has one time, which follows from its shape:
the answer leaves exactly then, and if there is none by then, `question_failed` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument, Unsupported

if TYPE_CHECKING:
    from discreet.gateway import Workload
    from discreet.query.planner import Plan

_MOST = 3600

_MOST_SCANS = 128
"""How often one question, or one workload, may read tables. It keeps its slot for as long as that has, and whoever asks
a thousand things together, for next to nothing, would keep it from everybody."""

_STORING = 0.05
"""How many seconds before its time an answer begins to be stored, so that it leaves at its time, and not later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTimes:
    """The custodian's table of seconds.

    Args:
        base: seconds that every question takes.
        scan: seconds for each time that a question reads a table, for each of its grouping sets.

    Raises:
        InvalidArgument: a number is out of range.

    Examples:
        >>> ReleaseTimes(base=1, scan=2)
        ReleaseTimes(base=1, scan=2)
    """

    base: float = 1.0
    scan: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, seconds in (("base", self.base), ("scan", self.scan)):
            if not 0 < seconds <= _MOST:
                raise InvalidArgument(f"{name} must be above 0 and at most {_MOST} seconds, not {seconds}")

    @property
    def storing(self) -> float:
        """How many seconds before the end of a step what came of it is stored, or given up.

        From then on it isn't pending any more. The moment is as public as the end of the step.
        """
        return min(_STORING, self.base / 2)

    def step(self, plan: Plan | Workload) -> float:
        """How many seconds each step of a plan has: each profile that is asked first, and the question itself.

        All have as many, so that it makes no difference which profiles were asked before. A workload is one step, for
        all that is measured for it.

        Raises:
            Unsupported: it reads tables too often.
        """
        from discreet.query.planner import Plan

        if isinstance(plan, Plan):
            scans, steps = max(_scans(each) for each in (*plan.profiles, plan)), 1 + len(plan.profiles)
        else:
            scans, steps = sum(map(_scans, plan.bundles)), 1
        if scans * steps > _MOST_SCANS:
            raise Unsupported(
                f"this reads tables {scans * steps} times, and what is asked at a time may do so {_MOST_SCANS} times",
                hint="ask for less at a time",
            )
        return self.base + self.scan * scans


def _scans(plan: Plan) -> int:
    """How often a plan reads a table, for each of its grouping sets."""
    return sum(len(level.exact.scans) for level in plan.levels)
