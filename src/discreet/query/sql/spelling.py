"""Spelling: a column of the answer without an alias is called as the question writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.query.sql.named_arguments import MARK
from discreet.query.sql.parser_faults import FAULTS

if TYPE_CHECKING:
    from sqlglot import exp


def spelled(node: exp.Expression) -> str:
    """The node as DuckDB would write it, without schemas; nothing if it has no spelling, so that it will be refused.

    Named arguments have the names that were written.
    """
    from sqlglot import exp
    from sqlglot.errors import ErrorLevel, SqlglotError

    if any(column.args.get("db") for column in node.find_all(exp.Column)):
        node = node.copy()
        for column in node.find_all(exp.Column):
            column.set("db", None)
            column.set("catalog", None)
    try:
        text = node.sql(
            dialect="duckdb", normalize_functions="lower", comments=False, unsupported_level=ErrorLevel.IGNORE
        )
    except (SqlglotError, *FAULTS):
        return ""
    return text.replace(MARK, "")
