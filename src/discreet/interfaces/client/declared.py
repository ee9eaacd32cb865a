"""The public schema of tables behind a server, and the tables as Ibis expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict

from discreet.errors import ExtraMissing
from discreet.interfaces.client.connection import malformed
from discreet.notebook import framed, schema

Frame: TypeAlias = Any
"""An Ibis expression; Ibis hands out no types of its own."""

_IBIS_TYPES = {
    "integer": "int64",
    "real": "float64",
    "text": "string",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
}

_ENDS = 2


class Column(TypedDict):
    """A column, as it is declared."""

    name: str
    kind: str
    nullable: bool
    bounds: list[Any] | None
    keys: list[Any] | None


class Table(TypedDict):
    """A table, as it is declared."""

    name: str
    public: bool
    unit: str | None
    limits: str | None
    links: list[str]
    columns: list[Column]


class Schema(dict[str, Any]):
    """The tables that may be asked about: a dict of `name`, `adjacency` and `tables`, which shows itself."""

    @property
    def tables(self) -> list[Table]:
        """What is declared of each table."""
        found: list[Table] = self["tables"]
        return found

    def __repr__(self) -> str:
        """The names of tables and columns; `dict` has all of it."""
        tables = (f"{each['name']}({', '.join(one['name'] for one in each['columns'])})" for each in self.tables)
        return f"<Schema of {self['name']}: {'; '.join(tables)}>"

    def _repr_html_(self) -> str:
        """The declarations, for notebooks."""
        return framed(schema(self))


def read_schema(data: Mapping[str, Any]) -> Schema:
    """The public schema that a server gives.

    Raises:
        ReplyMalformed: it isn't one.
    """
    try:
        tables = [_table(each) for each in data["tables"]]
        found = Schema(name=_of(data["name"], str), adjacency=_of(data["adjacency"], str), tables=tables)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        malformed("a public schema was expected")
    return found


def _table(data: Mapping[str, Any]) -> Table:
    """One table."""
    unit, limits = data["unit"], data["limits"]
    return Table(
        name=_of(data["name"], str),
        public=_of(data["public"], bool),
        unit=None if unit is None else _of(unit, str),
        limits=None if limits is None else _of(limits, str),
        links=[_of(each, str) for each in data["links"]],
        columns=[_column(each) for each in data["columns"]],
    )


def _column(data: Mapping[str, Any]) -> Column:
    """One column."""
    bounds, keys = data["bounds"], data["keys"]
    if data["kind"] not in _IBIS_TYPES or not (bounds is None or len(bounds) == _ENDS):
        raise ValueError("of another form")
    return Column(
        name=_of(data["name"], str),
        kind=data["kind"],
        nullable=_of(data["nullable"], bool),
        bounds=None if bounds is None else [_of(each, int | float | str) for each in bounds],
        keys=None if keys is None else [_of(each, str | int | float | None) for each in keys],
    )


def _of(value: Any, kind: Any) -> Any:  # noqa: ANN401 — JSON, of the kind that is asked for
    """A value, if it is of a kind."""
    if not isinstance(value, kind):
        raise TypeError("of another form")
    return value


def frame_of(table: Table) -> Any:  # noqa: ANN401 — Ibis hands out no types of its own
    """A table as Ibis knows it: its name and the kinds of its columns, and no data.

    Raises:
        ExtraMissing: Ibis isn't installed.
    """
    try:
        import ibis
    except ImportError as error:
        raise ExtraMissing(
            "tables as expressions need Ibis", hint="pip install 'ibis-framework[duckdb]', or ask in SQL"
        ) from error
    return ibis.table({column["name"]: _IBIS_TYPES[column["kind"]] for column in table["columns"]}, name=table["name"])
