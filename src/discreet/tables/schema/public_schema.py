"""The public schema: what a custodian declared, as data that anybody may see. Nothing here looks at a row."""

from __future__ import annotations

from typing import Any

from discreet.privacy import Bounds, BoundValue
from discreet.tables.schema.dataset import Dataset
from discreet.tables.schema.table import Column, Table


def public_schema(dataset: Dataset) -> dict[str, Any]:
    """The declarations of a dataset, without where its sources, snapshots and ledger lie.

    Returns:
        JSON-ready data: `name`, `adjacency` and `tables`, each with its unit, limits, links and columns.
    """
    return {
        "name": dataset.name,
        "adjacency": str(dataset.adjacency),
        "tables": [_table(table, dataset) for table in dataset.tables],
    }


def _table(table: Table, dataset: Dataset) -> dict[str, Any]:
    """One table."""
    owner = dataset.owner(table)
    return {
        "name": table.name,
        "public": table.public,
        "unit": None if owner is None else str(owner.unit),
        "limits": None if table.public else str(table.limits),
        "links": [f"{link.column} → {link.table}.{link.to}" for link in table.links],
        "columns": [_column(column) for column in table.columns],
    }


def _column(column: Column) -> dict[str, Any]:
    """One column."""
    return {
        "name": column.name,
        "kind": str(column.kind),
        "nullable": column.nullable,
        "bounds": None if column.bounds is None else _ends(column.bounds),
        "keys": None if column.keys is None else [_shown(key) for key in column.keys],
    }


def _ends(bounds: Bounds) -> list[object]:
    """Both ends: whole numbers as such, others as decimal numbers or in ISO form."""
    return [_shown(bounds.lo), _shown(bounds.hi)]


def _shown(value: BoundValue | object) -> object:
    """A value as JSON has it."""
    if isinstance(value, bool | int | str) or value is None:
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    number = float(value)  # type: ignore[arg-type]  # a fraction, which all other bounds are
    return int(number) if number.is_integer() else number
