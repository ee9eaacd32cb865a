"""Building a question without SQL, from parts to choose; the SQL that they make is shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument
from discreet.interfaces.http.console.asking import editor_of
from discreet.interfaces.http.console.examples import is_number, is_plain, named, width_of
from discreet.interfaces.http.console.forms import Fields, Queried
from discreet.interfaces.http.console.pages import page
from discreet.interfaces.http.console.session import Visiting
from discreet.interfaces.http.problems import problem_of
from discreet.service import PublicError

ROUTES = APIRouter()

MEASURES = {
    "count": ("number of rows", "COUNT(*) AS n"),
    "average": ("average of", "AVG({})"),
    "total": ("sum of", "SUM({})"),
    "median": ("median of", "MEDIAN({})"),
    "deviation": ("standard deviation of", "STDDEV({})"),
    "known": ("number of rows with a value of", "COUNT({})"),
}
"""What may be measured: in words, and in SQL."""

COMPARISONS = {"=": "is", "<>": "is not", ">=": "is at least", "<=": "is at most", ">": "is above", "<": "is below"}
"""How a column may be compared."""

PLACES = ("", "_2", "_3")
"""What follows the names of fields: there are so many measures, groups and conditions."""

PERIODS = {"month": "by month", "year": "by year"}
"""Parts of dates that rows are grouped by."""

_PARTS = ("measure", "column", "group", "where", "compare", "value")


@ROUTES.get("/build")
def build(visit: Visiting, queried: Queried) -> Response:
    """Parts to choose from, the question that they make, and its plan."""
    tables = visit.service.dataset(visit.caller)["tables"]
    table = next((each for each in tables if each["name"] == queried.get("table")), tables[0])
    chosen = {f"{part}{place}": queried.get(f"{part}{place}", "") for part in _PARTS for place in PLACES}
    chosen["measure"] = chosen["measure"] or "count"
    problem, shown = None, editor_of(visit, {**queried, "question": "", "offer": "exact"}, plans=False)
    try:
        sql = sql_of(table, chosen)
    except DiscreetError as error:
        problem, sql = problem_of(PublicError.of(error)), ""
    if sql:
        shown = editor_of(visit, {**queried, "question": sql, "offer": "exact"}, plans=visit.may("PLAN"))
    return page(
        "build", visit, **shown, tables=tables, table=table, chosen=chosen, sql=sql, wrong=problem, places=PLACES,
        measures=MEASURES, comparisons=COMPARISONS, groups=_groups(table),
    )  # fmt: skip


def _groups(table: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What rows may be grouped by: the fields' values, and their words."""
    found = []
    for column in table["columns"]:
        name, bounds = column["name"], column["bounds"]
        if bounds is not None and str(column["kind"]) in {"date", "timestamp"}:
            found += [(f"{name}/{period}", f"{name}, {words}") for period, words in PERIODS.items()]
        elif is_number(column) and (width := width_of(*bounds)) is not None:
            found.append((f"{name}/{width}", f"{name}, in steps of {width:,}"))
        found.append((name, f"{name} ({column['kind']})"))
    return found


def sql_of(table: Mapping[str, Any], chosen: Fields) -> str:
    """The question that the chosen parts make.

    Args:
        table: as the service describes it.
        chosen: `measure`, `column`, `group`, `where`, `compare` and `value`, each once more with `_2` and `_3`; what is
            empty or left out is none.

    Raises:
        InvalidArgument: a part isn't there, or a value isn't of its column's kind.

    Examples:
        >>> columns = [{"name": "sex", "kind": "text", "bounds": None}]
        >>> columns += [{"name": "age", "kind": "integer", "bounds": [0, 120]}]
        >>> parts = {"measure": "count", "measure_2": "average", "column_2": "age", "group": "age/10", "group_2": "sex"}
        >>> print(sql_of({"name": "people", "columns": columns}, parts))
        SELECT FLOOR(age / 10) * 10 AS age_from, sex, COUNT(*) AS n, AVG(age) AS average_age
        FROM people
        GROUP BY age_from, sex
    """
    kinds = {column["name"]: str(column["kind"]) for column in table["columns"]}
    parts = [{part: chosen.get(f"{part}{place}", "") for part in _PARTS} for place in PLACES]
    groups = list(dict.fromkeys(_group(table, each["group"]) for each in parts if each["group"]))
    measures = list(dict.fromkeys(_measure(kinds, each) for each in parts if each["measure"]))
    conditions = [_condition(kinds, each) for each in parts if each["where"]]
    if not measures:
        raise InvalidArgument("nothing is measured", hint="choose a measure")
    lines = [f"SELECT {', '.join([*(said for said, _ in groups), *measures])}", f"FROM {named(table['name'])}"]
    lines += [f"WHERE {' AND '.join(conditions)}"] if conditions else []
    return "\n".join([*lines, *([f"GROUP BY {', '.join(name for _, name in groups)}"] if groups else [])])


def _measure(kinds: Mapping[str, str], part: Fields) -> str:
    """A measure, as SQL has it."""
    if part["measure"] not in MEASURES:
        raise InvalidArgument("there is no such part of a question", hint="choose one of those listed")
    measure = MEASURES[part["measure"]][1]
    if "{}" not in measure:
        return measure
    if not part["column"]:
        raise InvalidArgument("this measure needs a column", hint="choose which")
    column = _known(kinds, part["column"])
    called = f"{part['measure']}_{column}" if is_plain(column) else part["measure"]
    return f"{measure.replace('{}', named(column))} AS {called}"


def _group(table: Mapping[str, Any], group: str) -> tuple[str, str]:
    """What is selected for a group, and what it is grouped by."""
    if all(group != value for value, _ in _groups(table)):
        raise InvalidArgument("rows can't be grouped by that", hint="choose one of those listed")
    if any(group == column["name"] for column in table["columns"]):
        return named(group), named(group)
    column, _, step = group.rpartition("/")
    called = f"{column}_{'from' if step.isdecimal() else step}"
    called = named(called)
    if step in PERIODS:
        return f"DATE_TRUNC('{step}', {named(column)}) AS {called}", called
    return f"FLOOR({named(column)} / {step}) * {step} AS {called}", called


def _condition(kinds: Mapping[str, str], part: Fields) -> str:
    """A condition, as SQL has it."""
    compare = part["compare"] or "="
    if compare not in COMPARISONS:
        raise InvalidArgument("there is no such part of a question", hint="choose one of those listed")
    return f"{named(_known(kinds, part['where']))} {compare} {literal(part['value'], kinds[part['where']])}"


def _known(kinds: Mapping[str, str], column: str) -> str:
    """A column that the table has.

    Raises:
        InvalidArgument: it hasn't.
    """
    if column not in kinds:
        raise InvalidArgument("this table has no such column", hint="choose one of those listed")
    return column


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
