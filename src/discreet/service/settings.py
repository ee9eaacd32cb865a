"""Settings: how a service is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from discreet.errors import InvalidArgument
from discreet.service.openid import OpenID
from discreet.service.release_times import ReleaseTimes
from discreet.service.witness import Witness


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningLimits:
    """Limits on planning.

    Args:
        seconds: of processor time for one question.
        patience: seconds for one question, however little of the processor it gets.
        per_minute: seconds of processor time a minute, for one subject; that much can be saved up.
        waiting: how many calls of one subject may wait at a time.
    """

    seconds: float = 10.0
    patience: float = 60.0
    per_minute: float = 20.0
    waiting: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingLimits:
    """Limits on what the questions of one subject may take. Reading a stored answer takes none of it.

    Args:
        values: how many numbers one answer may release.
        slot_seconds: of a slot's time in a day; that much can be saved up.
        ledger_bytes: by which the ledger may grow in a day, likewise.

    Raises:
        InvalidArgument: a number isn't above 0.
    """

    values: int = 50_000
    slot_seconds: float = 21_600.0
    ledger_bytes: float = 100_000_000.0

    def __post_init__(self) -> None:
        for name in ("values", "slot_seconds", "ledger_bytes"):
            if not 0 < getattr(self, name) < inf:
                raise InvalidArgument(f"{name} must be above 0, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a service.

    Args:
        slots: how many questions are carried out at a time, each by a process of its own, which has its share of the
            machine's cores and memory; by all servers of the ledger together.
        planners: how many processes plan.
        times: when answers leave.
        planning: how much planning may take.
        asking: how much the questions of one caller may take.
        waiting: how many questions of one caller may wait or run at a time.
        openid: the provider whose tokens are accepted besides those of the ledger; None for none.
        kept: how many questions of one caller are remembered after they are done, to be asked for again; fewer, if
            their answers are large. The oldest are forgotten.
        witness: where signed heads of the ledger go: a file or an address; empty for nowhere.
        witness_every: seconds between heads.

    Raises:
        InvalidArgument: a number is out of range, or heads may not be sent to that witness.
    """

    slots: int = 1
    planners: int = 1
    times: ReleaseTimes = field(default_factory=ReleaseTimes)
    planning: PlanningLimits = field(default_factory=PlanningLimits)
    asking: AskingLimits = field(default_factory=AskingLimits)
    waiting: int = 8
    openid: OpenID | None = None
    kept: int = 1000
    witness: str = ""
    witness_every: float = 60.0

    def __post_init__(self) -> None:
        for name in ("slots", "planners", "waiting", "kept", "witness_every"):
            if getattr(self, name) <= 0:
                raise InvalidArgument(f"{name} must be above 0, not {getattr(self, name)}")
        if self.witness:
            Witness(self.witness)
