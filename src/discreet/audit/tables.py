"""Tables as they lie: read whole, and laid out again without some rows, where only the audit sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from discreet.tables import Dataset, Source
from discreet.tables.admission import admit

Rows: TypeAlias = Mapping[str, Any]
"""The rows of each table by its name: Arrow tables, which have no type stubs."""


@dataclass(frozen=True, slots=True, repr=False)
class State:
    """One state of the tables, in memory.

    Args:
        dataset: with sources in memory.
        data: tables in memory, by the location of their source.
    """

    dataset: Dataset
    data: Mapping[str, object]


def read(dataset: Dataset, data: Mapping[str, object] = MappingProxyType({})) -> Rows:
    """All rows of all tables, with all declared columns, as they are admitted.

    Args:
        dataset: which tables.
        data: those in memory, by the location of their source.

    Raises:
        SourceError: one can't be read.
    """
    admitted = admit(dataset.tables, data, None).tables
    return {table.name: admitted[table.name.casefold()].data for table in dataset.tables}


def laid_out(dataset: Dataset, rows: Rows) -> State:
    """The dataset over these rows, in memory.

    Args:
        dataset: as it was.
        rows: of all tables, as `read` gives them.
    """
    sources = {table.name: Source(kind="memory", location=f"audited {table.name}") for table in dataset.tables}
    tables = tuple(replace(table, source=sources[table.name]) for table in dataset.tables)
    laid = replace(dataset, tables=tables, analysts={}, snapshots=None)
    return State(laid, {source.location: rows[name] for name, source in sources.items()})
