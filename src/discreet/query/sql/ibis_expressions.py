"""Ibis expressions become SQL, so they mean what the same question in SQL means, and can do no more than it.

Ibis writes nested SELECTs in DuckDB's dialect. No backend is connected to and no data is touched: the tables are names
and types.
"""

from __future__ import annotations

import re
from typing import Any

from discreet.errors import InvalidArgument, Unsupported
from discreet.query.sql.parser_faults import FAULTS
from discreet.tables import Kind, Table

DIALECT = "duckdb"
"""The dialect that expressions are written in."""

_TYPES = {
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.TEXT: "string",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}


def is_frame(value: object) -> bool:
    """Whether a value is an Ibis expression; without importing Ibis, which takes a while.

    Examples:
        >>> is_frame("SELECT COUNT(*) FROM people")
        False
    """
    return any(each.__module__.startswith("ibis.expr.types") for each in type(value).__mro__)


def frame_of(table: Table) -> Any:  # noqa: ANN401 — Ibis hands out no types of its own
    """A table as Ibis knows it: its name and the kinds of its columns, and no data.

    Examples:
        >>> from discreet.tables import Column, Source
        >>> from discreet.privacy import Unit
        >>> source = Source(kind="csv", location="census.csv")
        >>> age = Column(name="age", kind=Kind.INTEGER)
        >>> census = Table(name="census", source=source, columns=(age,), unit=Unit.row())
        >>> sql_of(frame_of(census).age.mean().name("age"))
        'SELECT AVG("t0"."age") AS "age" FROM "census" AS "t0"'
    """
    import ibis

    return ibis.table({column.name: _TYPES[column.kind] for column in table.columns}, name=table.name)


def sql_of(frame: Any) -> str:  # noqa: ANN401 — as above
    """The SQL that an expression stands for.

    Raises:
        InvalidArgument: it isn't an Ibis expression.
        Unsupported: Ibis has no SQL for it.
    """
    if not is_frame(frame):
        raise InvalidArgument(
            f"a question is SQL, an Ibis expression or a plan, not {type(frame).__name__}",
            hint="protected.table.count(), for example",
        )
    import ibis
    from ibis.common.exceptions import IbisError

    try:
        text = str(ibis.to_sql(frame, dialect=DIALECT, pretty=False))
    except (IbisError, NotImplementedError, *FAULTS) as error:
        said = re.sub(r"<[^>]*>\s*|\s+", " ", str(error)).strip()[:200]
        raise Unsupported(
            "Ibis can't write this expression as SQL" + (f": {said}" if said else ""),
            hint="a question can't hold in-memory tables or Python functions",
        ) from None
    return text


def written(question: Any, dialect: str) -> tuple[str, str]:  # noqa: ANN401 — a text or an expression
    """A question as SQL, and the dialect it is in.

    Raises:
        InvalidArgument: it is neither a text nor an Ibis expression.
        Unsupported: Ibis has no SQL for it.
    """
    return (question, dialect) if isinstance(question, str) else (sql_of(question), DIALECT)
