"""Schemas: the names before a table's own, and which declared table is meant with or without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from discreet.tables import Table

if TYPE_CHECKING:
    from sqlglot import exp


Schema: TypeAlias = tuple[str, ...]
"""The names before a table's own, as in `project.dataset.table`, in lower case."""

_CATALOGUES = {"information_schema", "pg_catalog", "sys"}
"""Schemas of databases' own tables, which no declared table is in."""


def schema_of(node: exp.Expression) -> Schema:
    """The names before the table's in a table's or column's node; SQL Server leaves one out between two points."""
    names = [getattr(node.args.get(part), "name", "") for part in ("catalog", "db")]
    return tuple(name.casefold() for name in names if name)


def agree(schema: Schema, other: Schema) -> bool:
    """Whether two names of a schema can mean the same: they agree from the right, as far as both go.

    Examples:
        >>> agree(("project", "sales"), ("sales",)), agree((), ("sales",)), agree(("hr",), ("sales",))
        (True, True, False)
    """
    return all(a == b for a, b in zip(reversed(schema), reversed(other), strict=False))


def declared_as(node: exp.Table, tables: Sequence[Table], schema: Schema) -> Table | None:
    """The declared table that a name in FROM means, with its schema or without; None if it is no declared one's.

    A table may have been declared by a name with a point in it, `sales.orders`. Such a name says of which schema the
    table is, so that `hr.orders` is not another word for it, nor for a table `orders` beside it.

    Args:
        node: the name.
        tables: the declared ones.
        schema: the one they are in; empty, if any will do.
    """
    written, name = schema_of(node), node.name.casefold()
    named = {table.name.casefold(): table for table in tables}
    for start in range(len(written)):
        found = named.get(".".join((*written[start:], name)))
        if found is not None:
            return found
    if not written or name not in named:
        return named.get(name)
    if not schema and (written[-1] in _CATALOGUES or any(other.endswith(f".{name}") for other in named)):
        return None
    return named[name] if agree(written, schema) else None
