"""Tables as they lie: read whole, and laid out again without some rows, where only the audit sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from discreet.engine.frozen import freeze
from discreet.engine.reader import SourceChanged, snapshots
from discreet.engine.session import Session
from discreet.errors import SourceUnsupported
from discreet.tables import Dataset, Source, Table

Rows: TypeAlias = Mapping[str, Any]
"""The rows of each private table by its name: Arrow tables, which have no type stubs."""


@dataclass(frozen=True, slots=True, repr=False)
class State:
    """One state of the tables, where an engine can read it.

    Args:
        dataset: with sources that lie in a folder of their own, or in memory.
        data: tables in memory, by the location of their source.
    """

    dataset: Dataset
    data: Mapping[str, object]


def read(dataset: Dataset, data: Mapping[str, object] = MappingProxyType({})) -> Rows:
    """All rows of all private tables, with all columns, as they are: cells of CSV files are text.

    Args:
        dataset: which tables.
        data: those in memory, by the location of their source.

    Raises:
        SourceError: one can't be read.
    """
    import duckdb

    frozen = {location: freeze(table) for location, table in data.items()}
    sources = [table.source for table in dataset.private]
    try:
        with Session() as session, snapshots(sources, frozen, session) as opened:
            return {table.name: session.arrow(f"FROM {opened[table.source].view}") for table in dataset.private}
    except (duckdb.Error, SourceChanged):
        pass  # the cause may quote a row
    raise SourceUnsupported("a table can't be read whole", hint="is it being changed right now?")


def laid_out(dataset: Dataset, rows: Rows, data: Mapping[str, object], folder: Path) -> State:
    """The dataset over these rows; what was a CSV file is one again, so that its cells are read as they were.

    Args:
        dataset: as it was.
        rows: of the private tables; public ones are read where they lie.
        data: tables in memory, by the location of their source.
        folder: an empty one, for files.
    """
    tables = []
    held = dict(data)
    for number, table in enumerate(dataset.tables):
        if table.public:
            tables.append(table)
            continue
        source = _source(table, number, folder)
        if source.kind == "csv":
            _write(rows[table.name], Path(source.location))
        else:
            held[source.location] = rows[table.name]
        tables.append(replace(table, source=source))
    used = {table.source.location for table in tables}
    laid = replace(dataset, tables=tuple(tables), analysts={})
    return State(laid, {name: each for name, each in held.items() if name in used})


def _source(table: Table, number: int, folder: Path) -> Source:
    """Where a table is laid out."""
    if table.source.kind == "csv":
        return replace(table.source, location=str(folder / f"{number}.csv"))
    return Source(kind="memory", location=f"audited {number}")


def _write(rows: Any, path: Path) -> None:  # noqa: ANN401 — an Arrow table
    """A CSV file of texts, every one of them quoted."""
    import pyarrow.csv

    pyarrow.csv.write_csv(rows, path)
