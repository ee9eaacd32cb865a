"""Building a question without SQL, from parts to choose; the SQL that they make is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument
from discreet.interfaces.http.console.forms import Fields, Queried
from discreet.interfaces.http.console.pages import page
from discreet.interfaces.http.console.session import Visiting
from discreet.interfaces.http.problems import problem_of
from discreet.service import PublicError

ROUTES = APIRouter()

MEASURES = {
    "count": ("number of rows", "COUNT(*) AS n"),
    "average": ("average of", "AVG({}) AS average"),
    "sum": ("sum of", "SUM({}) AS total"),
    "median": ("median of", "MEDIAN({}) AS median"),
    "deviation": ("standard deviation of", "STDDEV({}) AS deviation"),
    "share": ("number of rows with a value of", "COUNT({}) AS n"),
}
"""What may be measured: in words, and in SQL."""

COMPARISONS = {"=": "is", "<>": "is not", ">=": "is at least", "<=": "is at most", ">": "is above", "<": "is below"}
"""How a column may be compared."""


@ROUTES.get("/build")
def build(visit: Visiting, queried: Queried) -> Response:
    """Parts to choose from, and the question that they make."""
    tables = visit.service.dataset(visit.caller)["tables"]
    table = next((each for each in tables if each["name"] == queried.get("table")), tables[0])
    usual = {"measure": "count", "column": "", "group": "", "where": "", "compare": "=", "value": ""}
    chosen = {name: queried.get(name, otherwise) for name, otherwise in usual.items()}
    problem, sql = None, ""
    try:
        sql = sql_of(table, chosen)
    except DiscreetError as error:
        problem = problem_of(PublicError.of(error))
    return page(
        "build", visit, tables=tables, table=table, chosen=chosen, sql=sql, problem=problem,
        measures=MEASURES, comparisons=COMPARISONS,
    )  # fmt: skip


def sql_of(table: Mapping[str, Any], chosen: Fields) -> str:
    """The question that the chosen parts make.

    Args:
        table: as the service describes it.
        chosen: `measure`, `column`, `group`, `where`, `compare` and `value`; empty is none.

    Raises:
        InvalidArgument: a part isn't there, or a value isn't of its column's kind.

    Examples:
        >>> columns = [{"name": "sex", "kind": "text"}, {"name": "age", "kind": "integer"}]
        >>> parts = {"measure": "average", "column": "age", "group": "sex", "where": "", "compare": "=", "value": ""}
        >>> print(sql_of({"name": "people", "columns": columns}, parts))
        SELECT "sex", AVG("age") AS average
        FROM "people"
        GROUP BY "sex"
    """
    columns: Sequence[Mapping[str, Any]] = table["columns"]
    kinds = {column["name"]: str(column["kind"]) for column in columns}
    for part in ("column", "group", "where"):
        if chosen[part] and chosen[part] not in kinds:
            raise InvalidArgument("this table has no such column", hint="choose one of those listed")
    if chosen["measure"] not in MEASURES or chosen["compare"] not in COMPARISONS:
        raise InvalidArgument("there is no such part of a question", hint="choose one of those listed")
    measure = MEASURES[chosen["measure"]][1]
    if "{}" in measure and not chosen["column"]:
        raise InvalidArgument("this measure needs a column", hint="choose which")
    measure = measure.replace("{}", quoted(chosen["column"]))
    group = quoted(chosen["group"]) if chosen["group"] else ""
    lines = [f"SELECT {f'{group}, ' if group else ''}{measure}", f"FROM {quoted(table['name'])}"]
    if chosen["where"]:
        value = literal(chosen["value"], kinds[chosen["where"]])
        lines.append(f"WHERE {quoted(chosen['where'])} {chosen['compare']} {value}")
    return "\n".join([*lines, *([f"GROUP BY {group}"] if group else [])])


def quoted(name: str) -> str:
    """A name as SQL has it: in quotes, so that it may be any.

    Examples:
        >>> quoted("age")
        '"age"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str, kind: str) -> str:
    """A value as SQL has it.

    Args:
        text: as it was typed.
        kind: of the column that it is compared with.

    Raises:
        InvalidArgument: it isn't of that kind.

    Examples:
        >>> literal("O'Neill", "text"), literal("40", "integer"), literal("2020-04-01", "date")
        ("'O''Neill'", '40', "DATE '2020-04-01'")
    """
    try:
        match kind:
            case "text":
                return "'" + text.replace("'", "''") + "'"
            case "boolean" if text.casefold() in {"true", "false"}:
                return text.upper()
            case "date":
                return f"DATE '{date.fromisoformat(text).isoformat()}'"
            case "timestamp":
                return f"TIMESTAMP '{date.fromisoformat(text[:10]).isoformat()}'"
            case _ if kind != "boolean" and (found := Decimal(text)).is_finite():
                return str(found)
    except (InvalidOperation, ValueError):
        pass
    raise InvalidArgument(f"this isn't a value of kind {kind}", hint="40, 2020-04-01, true or a text")
