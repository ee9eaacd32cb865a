"""Opening an engine, found by entry point, so that a third party can bring one."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import cast

from discreet.engine.base import Engine
from discreet.errors import EngineUnavailable
from discreet.tables.admission import Snapshot

GROUP = "discreet.engines"
"""The entry point group: an engine's name, and its class, called with a snapshot."""

EMBEDDED = "duckdb"
"""The engine that comes with discreet."""


def open_engine(snapshot: Snapshot, name: str = EMBEDDED) -> Engine:
    """Open an engine over a snapshot. No row is read yet.

    Args:
        snapshot: the tables as they were admitted.
        name: of the engine.

    Raises:
        EngineUnavailable: no engine of that name is installed.
    """
    for found in entry_points(group=GROUP, name=name):
        return cast("Engine", found.load()(snapshot))
    raise EngineUnavailable(
        f"no engine named {name!r} is installed",
        hint=f"pip install 'discreet[{name}]'" if name != EMBEDDED else "reinstall discreet; its engine is missing",
    )
