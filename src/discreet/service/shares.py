"""Shares: what each process of a service has of the machine."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.machine import usable_cores, usable_memory

_PLANNING_MEMORY = 1 << 30
"""How many bytes of memory a planning process may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A worker's share of the machine.

    Args:
        cores: the numbers of those that it runs on, where the system lets one say so; its engine has a thread for each.
        memory: bytes of the engine before it spills to disk; of a process that plans, the most that it may take beyond
            what it has when it is ready, where the system has such a limit.
        slot: bytes that a slot's engine has: what plans are made for.
        planning: for how many seconds of processor time it may plan; None for one that asks.
    """

    cores: tuple[int, ...]
    memory: int
    slot: int
    planning: float | None = None


def shares(slots: int, planning: float) -> tuple[list[Share], Share]:
    """The shares of each slot, and of those who plan.

    If there are more cores than slots, each slot has its own, and one is left for the processes that plan and speak to
    strangers: they reply at once, so that how long they take would tell how long a slot is busy.
    """
    cores, memory = usable_cores(), usable_memory() // slots
    each = max(1, (len(cores) - 1) // slots)
    own = [tuple(cores[len(cores) - (slot + 1) * each :][:each]) for slot in range(slots)]
    if len(cores) <= slots:
        own = [(cores[slot % len(cores)],) for slot in range(slots)]
    rest = tuple(core for core in cores if not any(core in taken for taken in own))
    asking = [Share(cores=taken, memory=memory, slot=memory) for taken in own]
    return asking, Share(cores=rest or tuple(cores), memory=_PLANNING_MEMORY, slot=memory, planning=planning)
