"""Release times: when answers leave, told before anything is paid.

How long a question runs depends on the rows, and so on people. Random delays don't hide that, since they average out,
and rounding up to a grid tells on which side of a step it ran. So each plan has one release time, which follows from
its shape, from what it computes of each row, and from how far one unit can move it: the answer leaves exactly then, and
if there is none by then, `question_failed` does. One unit moves a question by at most a hundredth of that time, and
where it decides whether the rows of others are looked at, there is time for them. A custodian may give each step
several times, each twice the one before: it ends at the first for which it is ready, and that tells which.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument, Unsupported

if TYPE_CHECKING:
    from discreet.query.planner import Plan


_LONGEST = 3600

_MOST_RUNGS = 8
"""The last is 128 times the first."""

MOST_READINGS = 128
"""How long one question or one workload may take, in readings of a table. It holds its slot that long: a thousand
things asked together for next to nothing would keep everyone else out.
"""

_TIMES_WORK = 90
"""How many times longer a step is than one unit can move it, beside what the custodian's table says."""

MOST_SHARE = 0.01
"""The largest part of a step's time, and of a slot's memory, that one unit may move."""

_STORING = 0.05
"""How many seconds before its release time storing an answer begins, so that it leaves on time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTimes:
    """The custodian's table of seconds.

    Args:
        base: seconds that every question takes.
        scan: seconds for each time that a question reads a table, for each of its grouping sets; as many times more as
            its expressions can take longer than that.
        rungs: how many times each step may end at: the one that follows from its shape, twice that, and so on. With
            one, the default, a step tells whether it was in time; with more, by which of them it was: up to
            log₂(rungs + 1) bits of how long the rows took, which no budget accounts for.

    Raises:
        InvalidArgument: a number is out of range.

    Examples:
        >>> ReleaseTimes(base=1, scan=2)
        ReleaseTimes(base=1, scan=2, rungs=1)
    """

    base: float = 1.0
    scan: float = 1.0
    rungs: int = 1

    def __post_init__(self) -> None:
        for name, seconds in (("base", self.base), ("scan", self.scan)):
            if not 0 < seconds <= _LONGEST:
                raise InvalidArgument(f"{name} must be above 0 and at most {_LONGEST} seconds, not {seconds}")
        if not 1 <= self.rungs <= _MOST_RUNGS:
            raise InvalidArgument(f"a step may end at 1 to {_MOST_RUNGS} times, not {self.rungs}")

    @property
    def storing(self) -> float:
        """How many seconds before the end of a step what came of it is stored, or given up.

        From then on it isn't pending any more. The moment is as public as the end of the step.
        """
        return min(_STORING, self.base / 2)

    def step(self, plan: Plan) -> float:
        """How many seconds each step of a plan has: each profile that is asked first, and the questions themselves.

        All have as many, so that it makes no difference which profiles were asked before.

        Raises:
            Unsupported: it reads tables too often, or one unit could move it too far.
        """
        work, steps = plan.work, len(plan.steps)
        readings = max(sum(level.readings for level in step.looked_at) for step in plan.steps)
        if readings * steps > MOST_READINGS:
            raise Unsupported(
                f"this can take as long as reading tables {ceil(readings * steps)} times; what is asked at once may "
                f"take as long as {MOST_READINGS}",
                hint="ask for less at once, use shorter patterns, or join a public table on a column that is unique "
                "in it; or have the custodian declare max_length of texts, and what is unique",
            )
        shape = self.base + self.scan * readings
        most = shape * MOST_SHARE / (1 - MOST_SHARE * _TIMES_WORK)  # which is a hundredth of the step that follows
        if work.seconds > most:
            raise _too_much(f"{work.seconds:.2g} s, and may by {most:.2g} s")
        return ceil(100 * (shape + _TIMES_WORK * work.seconds)) / 100


def check_memory(plan: Plan, memory: int) -> None:
    """Refuse a question of which one unit could move the memory too far.

    Args:
        plan: of the question.
        memory: bytes that a slot has.

    Raises:
        Unsupported: it could.
    """
    size = plan.work.size
    if size > MOST_SHARE * memory:
        raise _too_much(f"{size / 1e6:.3g} MB of memory, and may by {MOST_SHARE * memory / 1e6:.3g} MB")


def _too_much(how_far: str) -> Unsupported:
    """The refusal of a question that tells too much of one unit by what it takes."""
    return Unsupported(
        f"one person's rows could move what this question takes by {how_far}",
        hint="use a shorter pattern, SUBSTR of long texts, or a filter in the join; or have the custodian declare "
        "max_length of texts, or a lower most_rows_per_unit",
    )


def longest(step: float, steps: int, rungs: int) -> float:
    """The most seconds that a question may take: each step lasts to the last of its times, each twice the one before.

    Examples:
        >>> longest(1.5, 2, 1), longest(1.5, 2, 3)
        (3.0, 12.0)
    """
    return step * steps * (1 << (rungs - 1))
