"""How DuckDB ranks a unit's groups and values: the one choice that is the engine's own."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from typing import Any

import duckdb

from discreet.engine.duckdb.clauses import salted
from discreet.query.ir import Exact
from discreet.tables import Kind, Owner

_CONNECTION = duckdb.connect()
_SQL = {
    Kind.TEXT: "VARCHAR",
    Kind.INTEGER: "BIGINT",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.REAL: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
_OF_PYTHON = {bool: "BOOLEAN", int: "BIGINT", str: "VARCHAR", date: "DATE", datetime: "TIMESTAMP"}


class HashOrder:
    """Its hash of the unit, of what is ranked as the engine has it, and of the salt."""

    def __init__(self, question: Exact) -> None:
        self._question = question
        self._units = ([_SQL[_kind_of_id(question)], "TIMESTAMP"]) if not question.owner.unit.is_row else []

    def __call__(self, unit: Any, chosen: tuple[Any, ...]) -> int:
        """The rank of a group, or of a group and a value in it."""
        types, values = self._units[: len(unit)], [*unit]
        for part, value in zip(self._question.keys, chosen, strict=False):
            types.append(_SQL[part.expr.type.kind] if part.values is None else _code(len(part.values)))
            values.append(value if part.values is None else part.values.index(value))
        for value in chosen[len(self._question.keys) :]:
            types.append(_OF_PYTHON[type(value)])
            values.append(value)
        return _hashed(tuple(types), tuple(values), tuple(map(type, values)), self._question.salt)


def _kind_of_id(question: Exact) -> Kind:
    """The kind of the units' ids."""
    scan = next(scan for scan in question.scans if scan.owner is not None)
    owner: Owner | None = scan.owner
    assert owner is not None
    table = owner.hops[-1].table if owner.hops else scan.table
    return table.column(str(owner.unit.column)).kind


def _code(size: int) -> str:
    """The type of numbers in a list of keys."""
    return "UTINYINT" if size <= 2**8 else "USMALLINT"


@cache
def _hashed(types: tuple[str, ...], values: tuple[Any, ...], _kinds: tuple[type, ...], salt: str) -> int:
    """DuckDB's hash. Python's types are among the arguments, since True is 1 to a cache."""
    places = ", ".join(f"CAST(? AS {sql_type})" for sql_type in types)
    row = _CONNECTION.execute(f"SELECT hash({places}, {salted(salt)})", values).fetchone()
    assert row is not None
    return int(row[0])
