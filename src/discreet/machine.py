"""The machine's cores and memory, and this process's share of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_SHARE_OF_MEMORY = 0.6
_LEAST_MEMORY = 1 << 29


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the machine.

    Args:
        threads: of each session; None for one per core.
        memory: bytes of each session before it spills; None for what `usable_memory` says.
    """

    threads: int | None = None
    memory: int | None = None


def take_share(threads: int, memory: int) -> None:
    """Give sessions of this process no more than this from now on, unless one asks for more; for servers.

    Where several processes answer questions at the same time, each needs its own part of the machine, or else the time
    that one takes depends on what others ask.

    Args:
        threads: of each session.
        memory: bytes of each session before it spills.
    """
    global _own  # noqa: PLW0603 — a process has one
    _own = Share(threads, memory)


def own_share() -> Share:
    """The share that `take_share` left to this process; all of the machine, unless it was called."""
    return _own


_own = Share()


def usable_cores() -> list[int]:
    """The cores that this process may run on, by their numbers."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def usable_memory() -> int:
    """The bytes a session may use before it spills: a share of the machine's memory, or of the container's."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 2 * _LEAST_MEMORY
    limit = Path("/sys/fs/cgroup/memory.max")
    written = limit.read_text(encoding="ascii").strip() if limit.is_file() else "max"
    if written.isdigit():
        total = min(total, int(written))
    return max(_LEAST_MEMORY, int(total * _SHARE_OF_MEMORY))
