"""Opening an engine, found by entry point, so that a third party can bring one."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import cast

from discreet.dataset import Source
from discreet.engine.base import Engine
from discreet.errors import SourceUnsupported

GROUP = "discreet.engines"
"""The entry point group: an engine's name, and its class, called with the source and the data."""

EMBEDDED = "duckdb"
"""The engine that reads files and tables in memory."""

_ENGINE_OF = {"csv": EMBEDDED, "parquet": EMBEDDED, "duckdb": EMBEDDED, "memory": EMBEDDED}


def open_engine(source: Source, data: object | None = None) -> Engine:
    """Open the engine that reads this kind of source. No row of a file is read yet; a table in memory is copied.

    Args:
        source: where the table lies.
        data: the table itself, if the source is in memory; otherwise None.

    Raises:
        SourceMissing: a source in memory came without its table.
        SourceUnsupported: no installed engine reads such a source.
    """
    name = _ENGINE_OF.get(source.kind, source.kind)
    for found in entry_points(group=GROUP, name=name):
        return cast("Engine", found.load()(source, data))
    raise SourceUnsupported(
        f"no engine named {name!r} is installed, and {source.kind} sources need it",
        hint=f"pip install 'discreet[{name}]'" if name != EMBEDDED else "reinstall discreet; its own engine is missing",
    )
