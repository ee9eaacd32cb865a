"""From a document of TOML to a dataset: what each key of discreet.toml means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import get_args

from discreet.dataset.column import Column, Kind
from discreet.dataset.dataset import Dataset
from discreet.dataset.node import Node, suggestion
from discreet.dataset.source import Source, SourceKind
from discreet.dataset.table import Table
from discreet.dataset.toml import quoted
from discreet.errors import SourceUnsupported
from discreet.privacy import Adjacency, Bounds, Budget, Keys, KeyValue, Limits, Period, Unit

# Each key with an example, which is the hint when it is missing or wrong. `also` maps what other systems call it.

_DATASET = {
    "name": 'name = "census"',
    "ledger": 'ledger = "census.ledger"',
    "adjacency": 'adjacency = "add_remove"',
    "budget": "[budget] epsilon = 3, delta = 1e-6",
    "analysts": "[analysts.alice] epsilon = 1; or leave [analysts] out to let anyone ask",
    "tables": '[tables.census] source = "census.csv", …',
}
_BUDGET = {"epsilon": "epsilon = 3", "delta": "delta = 1e-6", "rho": "rho = 0.2, with a delta"}
_TABLE = {
    "source": 'source = "census.csv"',
    "missing": 'missing = ["?"]',
    "unit": 'unit = "row" if nobody can have two rows, else unit = "person_id"',
    "limits": "limits = { groups = 5, rows_per_group = 10 } or { rows = 50 }",
    "row_ceiling": "row_ceiling = 1_000_000",
    "columns": '[tables.census.columns] age = { kind = "integer", bounds = [0, 125] }',
}
_SOURCE = {
    "kind": 'kind = "duckdb"',
    "path": 'path = "census.duckdb"',
    "table": 'table = "people", in a database file',
}
_UNIT = {"column": 'column = "person_id"', "per": 'per = "day"', "at": 'at = "visited_at"'}
_LIMITS = {"groups": "groups = 5", "rows_per_group": "rows_per_group = 10", "rows": "rows = 50"}
_COLUMN = {
    "kind": 'kind = "integer"',
    "bounds": "bounds = [0, 125]; dates and timestamps stand without quotes: [2020-01-01, 2029-12-31]",
    "keys": 'keys = ["Female", "Male"]; with NULL as a group: ["Female", "Male", { null = true }]',
    "nullable": "nullable = false",
}
_COLUMN_ALSO = {
    "type": "kind",
    "dtype": "kind",
    "lower": "bounds",
    "upper": "bounds",
    "min": "bounds",
    "max": "bounds",
    "range": "bounds",
    "values": "keys",
    "categories": "keys",
    "cardinality": "keys",
    "null": "nullable",
}
_TABLE_ALSO = {
    "path": "source",
    "file": "source",
    "privacy_unit": "unit",
    "private_id": "unit",
    "row_privacy": "unit",
    "id": "unit",
    "max_ids": "limits",
    "max_groups_contributed": "limits",
    "max_rows_contributed": "limits",
    "rows": "row_ceiling",
    "null_values": "missing",
    "schema": "columns",
}
_ADJACENCY_ALSO = {"unbounded": "add_remove", "bounded": "substitution", "replace": "substitution"}
_KIND_ALSO = {
    "int": "integer",
    "bigint": "integer",
    "float": "real",
    "double": "real",
    "decimal": "real",
    "numeric": "real",
    "str": "text",
    "string": "text",
    "varchar": "text",
    "category": "text",
    "bool": "boolean",
    "datetime": "timestamp",
}


def decode(document: Mapping[str, object]) -> Dataset:
    """The dataset a document declares; paths stay as they are written.

    Guarantee: every key of the document has a meaning here, or it is refused; nothing that loosens the guarantee has
    a silent default (the adjacency, the unit and an id's limits must be stated).

    Raises:
        ConfigError: a key is unknown, missing, of a wrong type or value, or contradicts another.
    """
    top = Node("", dict(document)).table(_DATASET, required=("name", "ledger", "adjacency", "budget", "tables"))
    analysts = top["analysts"].named() if "analysts" in top else {}
    tables = tuple(_table(name, node) for name, node in top["tables"].named().items())
    adjacency = Adjacency(top["adjacency"].one_of(list(Adjacency), _ADJACENCY_ALSO))
    name, ledger, budget = top["name"].text(), top["ledger"].text(), _budget(top["budget"])
    with top["tables"].blamed():
        dataset = Dataset(name=name, tables=tables, budget=budget, ledger=ledger, adjacency=adjacency)
    for analyst, node in analysts.items():
        share = _budget(node)
        with node.blamed():
            dataset = replace(dataset, analysts={**dataset.analysts, analyst: share})
    return dataset


def _budget(node: Node) -> Budget:
    """A budget: epsilon and perhaps delta, or rho and delta."""
    amounts = {name: entry.number() for name, entry in node.table(_BUDGET).items()}
    with Node(node.path, node.value, "epsilon = 3, delta = 1e-6").blamed():
        return Budget(amounts.get("epsilon"), amounts.get("delta"), rho=amounts.get("rho"))


def _table(name: str, node: Node) -> Table:
    """One table."""
    entries = node.table(_TABLE, required=("source", "unit", "columns"), also=_TABLE_ALSO)
    columns = tuple(_column(column, entry) for column, entry in entries["columns"].named().items())
    unit = _unit(entries["unit"], columns)
    if "limits" in entries:
        limits = _limits(entries["limits"])
    elif unit.is_row:
        limits = Limits(rows=1)
    else:
        raise node.error(f"limits are missing: how much may one {unit} contribute?", hint=_TABLE["limits"])
    ceiling = {"row_ceiling": entries["row_ceiling"].whole()} if "row_ceiling" in entries else {}
    source = _source(entries["source"], entries.get("missing"))
    with node.blamed():
        return Table(name=name, source=source, columns=columns, unit=unit, limits=limits, **ceiling)


def _source(node: Node, missing: Node | None) -> Source:
    """Where the table lies: a path whose ending says what it is, or a table with the kind."""
    source = _place(node)
    if missing is None:
        return source
    with missing.blamed():
        return replace(source, missing=tuple(entry.text(empty=True) for entry in missing.array()))


def _place(node: Node) -> Source:
    """The source without its texts for NULL."""
    if not isinstance(node.value, dict):
        try:
            return Source.of(node.text())
        except SourceUnsupported as error:
            raise node.error(error.message, hint=error.hint) from None
    entries = node.table(_SOURCE, required=("kind", "path"), also={"location": "path", "file": "path"})
    kinds: dict[str, SourceKind] = {kind: kind for kind in get_args(SourceKind) if kind != "memory"}
    kind = kinds[entries["kind"].one_of(list(kinds))]
    table = entries["table"].text() if "table" in entries else None
    with node.blamed():
        return Source(kind=kind, location=entries["path"].text(), table=table)


def _unit(node: Node, columns: tuple[Column, ...]) -> Unit:
    """The unit: "row", the name of an id column, or an id column with a period."""
    names = [column.name for column in columns]
    if isinstance(node.value, str):
        # A column that is called "row" is meant by { column = "row" }.
        if node.value == "row":
            return Unit.row()
        return Unit(_column_name(node, names, "row"))
    entries = node.table(_UNIT, required=("column",))
    column = _column_name(entries["column"], names)
    per: Period | None = None
    if "per" in entries:
        periods: dict[str, Period] = {period: period for period in get_args(Period)}
        per = periods[entries["per"].one_of(list(periods), {"date": "day", "daily": "day"})]
    at = _column_name(entries["at"], names) if "at" in entries else None
    with node.blamed():
        return Unit(column, per=per, at=at)


def _column_name(node: Node, names: list[str], *others: str) -> str:
    """The name of one of the table's columns, as it is declared."""
    name = node.text()
    for declared in names:
        if declared.casefold() == name.casefold():
            return name
    close = suggestion(name, [*names, *others], {})
    hint = f"did you mean {quoted(close)}?" if close else "declare it under columns"
    raise node.error(f"there is no column {quoted(name)}", hint=hint)


def _limits(node: Node) -> Limits:
    """The limits, in one of their two shapes."""
    entries = node.table(_LIMITS, also={"max_groups": "groups", "max_rows": "rows"})
    limits = {name: entry.whole() for name, entry in entries.items()}
    with node.blamed():
        return Limits(**limits)


def _column(name: str, node: Node) -> Column:
    """One column."""
    if isinstance(node.value, dict) and "kind" not in node.value and _is_split_name(node.value):
        raise node.error("expected a column", hint="a name with points in it stands in quotes")
    node = replace(node, example='{ kind = "integer", bounds = [0, 125] }')
    entries = node.table(_COLUMN, required=("kind",), also=_COLUMN_ALSO)
    kind = Kind(entries["kind"].one_of(list(Kind), _KIND_ALSO))
    bounds = _bounds(entries["bounds"]) if "bounds" in entries else None
    keys = _keys(entries["keys"]) if "keys" in entries else None
    nullable = entries["nullable"].flag() if "nullable" in entries else True
    with node.blamed():
        return Column(name=name, kind=kind, bounds=bounds, keys=keys, nullable=nullable)


def _is_split_name(entries: dict[str, object]) -> bool:
    """Whether this looks like what TOML makes of a bare `a.b = { kind = … }`."""
    return bool(entries) and all(isinstance(entry, dict) and entry.keys() - {"null"} for entry in entries.values())


def _bounds(node: Node) -> Bounds:
    """Two numbers, two dates or two timestamps."""
    ends = node.array()
    if len(ends) != 2:  # noqa: PLR2004 — an interval has two ends
        raise node.wrong("an array of two: the least and the greatest value")
    lo, hi = (end.value if isinstance(end.value, date) else end.number() for end in ends)
    with node.blamed():
        return Bounds(lo, hi)


def _keys(node: Node) -> Keys:
    """The keys in order; NULL is written as a table, because TOML has no word for it."""
    keys = [_key(entry) for entry in node.array()]
    with node.blamed():
        return Keys(keys)


def _key(node: Node) -> KeyValue:
    """One key."""
    found = node.value
    if found == {"null": True} and isinstance(found, dict) and found["null"] is True:
        return None
    if isinstance(found, bool | str) or (isinstance(found, date) and not isinstance(found, datetime)):
        return found
    if isinstance(found, int):
        return node.whole()
    raise node.wrong("a text, whole number, date, true, false or { null = true }")
