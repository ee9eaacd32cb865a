"""The versions that must be the same on the driver and on its executors.

Another DuckDB may hash otherwise, and so choose other rows of a unit over its limits; another discreet may compute a
plan otherwise. Which Python it is PySpark checks itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from discreet.errors import EngineUnavailable
from discreet.version import __version__

Versions: TypeAlias = Mapping[str, str]
"""By distribution; "" for one that isn't there."""


def own() -> Versions:
    """The versions in this process."""
    import duckdb

    return {"discreet": __version__, "duckdb": duckdb.__version__}


def reporter() -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for `mapInArrow` that tells which versions a task finds; it travels by value, and needs no discreet.

    It looks for the modules, for an executor may be given discreet as a path or as an archive.
    """

    def report(batches: Iterator[Any]) -> Iterator[Any]:
        from importlib import import_module

        import pyarrow as pa

        found = {}
        for name, module in (("discreet", "discreet.version"), ("duckdb", "duckdb")):
            try:
                found[name] = str(import_module(module).__version__)
            except ImportError:
                found[name] = ""
        for _ in batches:
            yield pa.record_batch({name: pa.array([version]) for name, version in found.items()})

    return report


REPORT = "discreet string, duckdb string"
"""The columns of what it tells."""


def check_same(here: Versions, there: Versions) -> None:
    """Refuse an executor that would compute something else.

    Args:
        here: on the driver.
        there: on an executor.

    Raises:
        EngineUnavailable: it lacks something, or has another version of it.
    """
    for name, needed in here.items():
        found = there.get(name, "")
        if not found:
            raise EngineUnavailable(
                f"an executor of the cluster lacks {name}",
                hint=f"install it where the executors' Python finds it: pip install {name}=={needed}",
            )
        if found != needed:
            raise EngineUnavailable(
                f"an executor of the cluster has {name} {found}, and this process has {needed}",
                hint="the same version is needed on both sides, for another may choose and compute differently",
            )
