"""Opening an engine, found by entry point, so that a third party can bring one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import cast

from discreet.engine.base import Engine
from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables import Source

GROUP = "discreet.engines"
"""The entry point group: an engine's name, and its class, called with the tables in memory."""

EMBEDDED = "duckdb"
"""The engine that reads files and tables in memory."""

_ENGINE_OF = {"csv": EMBEDDED, "parquet": EMBEDDED, "duckdb": EMBEDDED, "memory": EMBEDDED}


def open_engine(sources: Iterable[Source], data: Mapping[str, object] = MappingProxyType({})) -> Engine:
    """Open the engine that reads the tables of a dataset. No row of a file is read yet; tables in memory are copied.

    Args:
        sources: where the tables lie.
        data: those in memory, by the location of their source; anything else in it is overlooked.

    Raises:
        SourceMissing: a source in memory came without its table.
        SourceUnsupported: no installed engine reads such sources, or no single one reads them all.
    """
    wanted = tuple(sources)
    names = {_ENGINE_OF.get(source.kind, source.kind): source.kind for source in wanted}
    if len(names) > 1:
        raise SourceUnsupported(
            f"sources of the kinds {' and '.join(names.values())} are read by different engines",
            hint="tables that share one budget must be joined somewhere: bring them into one place",
        )
    frozen = {}
    for source in wanted:
        if source.kind == "memory":
            if data.get(source.location) is None:
                raise SourceMissing(
                    f"the source in memory {source.location!r} needs its table",
                    hint="hand the table over together with its source",
                )
            frozen[source.location] = data[source.location]
    for name, kind in names.items():
        for found in entry_points(group=GROUP, name=name):
            return cast("Engine", found.load()(frozen))
        raise SourceUnsupported(
            f"no engine named {name!r} is installed, and {kind} sources need it",
            hint=f"pip install 'discreet[{name}]'" if name != EMBEDDED else "reinstall discreet; its engine is missing",
        )
    raise TypeError("an engine needs sources")
