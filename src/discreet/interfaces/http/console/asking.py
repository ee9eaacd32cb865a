"""Asking: a question, or several together, and what is offered; its plan, which is free; and how it is asked.

Who writes SQL is proposed words; who doesn't builds a question from parts, and is shown the SQL that they make.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from fastapi import APIRouter, Response

from discreet.errors import DiscreetError, InvalidArgument, Unauthenticated
from discreet.interfaces.http.console.forms import Fields, Filled, Queried
from discreet.interfaces.http.console.pages import page, see
from discreet.interfaces.http.console.problems import said
from discreet.interfaces.http.console.session import Visit, Visiting
from discreet.results import Cost
from discreet.service import Action, check_allowed, check_ceiling, fresh_name

ROUTES = APIRouter()

OFFERS = ("within", "epsilon", "rho")
"""How somebody may say what a question is worth to them: by its accuracy, or by its cost."""

CONFIDENCES = {"80": "0.8", "90": "0.9", "95": "0.95", "99": "0.99", "99.9": "0.999"}
"""What intervals may hold with, in percent."""

_TOKENS = re.compile(
    r"""(?P<text>'[^']*(?:'|\Z)|"[^"]*(?:"|\Z))|(?P<blank>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))|(?P<end>;)|[^\s;'"/-]+|.""",
    re.DOTALL,
)
"""As much of SQL as tells where a statement ends. What is open runs to the end, so that it is read once."""


@ROUTES.get("/ask")
def ask(visit: Visiting, queried: Queried) -> Response:
    """The editor, and beside it the plan of what the address asks."""
    check_allowed(visit.caller.role, Action.PLAN)
    offered = offered_in(queried)
    return page("ask", visit, **_planned(visit, offered))


@ROUTES.post("/ask/plan")
def plan(visit: Visiting, fields: Filled) -> Response:
    """The plan of what is in the editor, while somebody types."""
    offered = offered_in(fields)
    return page("plan", visit, **_planned(visit, offered))


@ROUTES.post("/ask")
def asked(visit: Visiting, fields: Filled) -> Response:
    """Ask what was planned; its answer has a page of its own."""
    offered = offered_in(fields)
    try:
        ticket = visit.service.ask(
            visit.caller,
            questions_in(offered["question"]),
            terms_of(offered),
            key=fields.get("key") or None,  # a form that is sent twice is paid for once
            digest=fields.get("digest") or None,  # what was shown is carried out, or nothing
        )
    except Unauthenticated:
        raise
    except DiscreetError as error:
        problem = said(error)
        return page("ask", visit, problem["status"], **{**_unplanned(offered), "problem": problem})
    return see(f"/answers/{ticket.id}")


def questions_in(text: str) -> str | list[str]:
    """The question in a text; or the questions, where semicolons stand between several: they are asked together.

    Examples:
        >>> questions_in("SELECT COUNT(*) AS n FROM people WHERE name = 'a;b';")
        "SELECT COUNT(*) AS n FROM people WHERE name = 'a;b';"
        >>> questions_in("SELECT 1; SELECT 2 -- ;")
        ['SELECT 1', 'SELECT 2 -- ;']
    """
    found = list(_statements(text))
    return found if len(found) > 1 else text


def _statements(text: str) -> Iterator[str]:
    """What stands before, between and after semicolons, but for what is empty."""
    start, filled = 0, False
    for token in _TOKENS.finditer(text):
        if token["end"]:
            if filled:
                yield text[start : token.start()].strip()
            start, filled = token.end(), False
        filled = filled or not (token["end"] or token["blank"])
    if filled:
        yield text[start:].strip()


def terms_of(offered: Mapping[str, str]) -> dict[str, Any]:
    """What is offered for a question, as the service takes it.

    Raises:
        InvalidArgument: it isn't offered in a way that there is.
    """
    if offered["offer"] not in OFFERS or offered["confidence"] not in CONFIDENCES:
        raise InvalidArgument("an offer is an accuracy, an ε or a ρ", hint="choose one of them")
    amount = offered["amount"]
    found: dict[str, Any] = {offered["offer"]: accuracies(amount) if offered["offer"] == "within" else amount}
    if offered["delta"]:
        found["delta"] = offered["delta"]
    if offered["expecting"]:
        found["expecting"] = offered["expecting"].replace(",", "")
    if offered["confidence"] != "95":
        found["confidence"] = CONFIDENCES[offered["confidence"]]
    return found


def accuracies(text: str) -> str | dict[str, str]:
    """The accuracies that somebody wants: of all columns, or of each by name.

    Examples:
        >>> accuracies("50"), accuracies("2% @ 1000"), accuracies("n = 50; income = 2% @ 1000")
        ('50', '2% @ 1000', {'n': '50', 'income': '2% @ 1000'})
    """
    if "=" not in text:
        return text
    named = [part.rpartition("=") for part in text.split(";")]
    return {name.strip(): wanted.strip() for name, _, wanted in named}


def offered_in(fields: Fields) -> dict[str, str]:
    """A question and what is offered for it, with what is offered where nothing is said."""
    usual = {"question": "", "offer": "within", "amount": "", "confidence": "95", "delta": "", "expecting": ""}
    return {name: fields.get(name, otherwise).strip() for name, otherwise in usual.items()}


def _unplanned(offered: Mapping[str, str]) -> dict[str, Any]:
    """What the editor shows of a question that has no plan."""
    together = isinstance(questions_in(offered["question"]), list)
    shown = {"confidences": tuple(CONFIDENCES), "plan": None, "problem": None, "key": "", "together": together}
    return {**offered, **shown}


def _planned(visit: Visit, offered: Mapping[str, str]) -> dict[str, Any]:
    """The plan, or why there is none; neither, where nothing is asked yet."""
    found = _unplanned(offered)
    if not offered["question"] or not offered["amount"]:
        return found
    question = questions_in(offered["question"])
    try:
        plan = visit.service.plan(visit.caller, question, terms_of(offered))
        readable = _readable(plan) if isinstance(question, str) else _readable_together(plan, question)
        found |= {"plan": {**plan, **readable}, "key": fresh_name()}
        check_ceiling(visit.caller, plan)  # so that nobody is offered to pay what would be refused
    except Unauthenticated:
        raise
    except DiscreetError as error:
        return {**found, "problem": said(error)}
    return found


def _readable(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan with its words cut into headings and lines."""
    lines = [(line[:10].strip(), line[10:].strip()) for line in plan["words"].splitlines()]
    cost = next((text for head, text in lines if head == "cost"), "")
    return {
        "lines": [line for line in lines if line[0] not in {"question", "cost", "error", "warning"}],
        "parts": [("", _accuracy(plan["expected"]))],
        "cost_words": cost.split(",")[0] or "nothing",
        "warnings": _under(lines, "warning"),
    }


def _readable_together(plan: Mapping[str, Any], questions: Sequence[str]) -> dict[str, Any]:
    """The plan of several questions: what all cost, and how accurate each is."""
    cost = Cost.from_json(plan["cost"])
    return {
        "lines": [("", line) for line in plan["words"].splitlines()],
        "parts": [(text, _accuracy(each)) for text, each in zip(questions, plan["expected"], strict=True)],
        "cost_words": str(cost).split(",")[0] or "nothing",
    }


def _accuracy(expected: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The ± of each column, and of what it is."""
    words = [each["words"].partition(" at ") for each in expected]
    return [
        (half, f"{each['column']}{', at ' if rest else ''}{rest}")
        for each, (half, _, rest) in zip(expected, words, strict=True)
    ]


def _under(lines: list[tuple[str, str]], heading: str) -> list[str]:
    """What stands under a heading; a line without one belongs to the last that had one."""
    found, current = [], ""
    for head, text in lines:
        current = head or current
        if current == heading:
            found.append(text)
    return found


# ── Without SQL ───────────────────────────────────────────────────────────────────────────────────────────────────────

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


FUNCTIONS = (
    "COUNT(*)", "COUNT(DISTINCT ", "COUNT_IF(", "SUM(", "AVG(", "MEDIAN(", "MIN(", "MAX(", "STDDEV(", "VARIANCE(",
    "QUANTILE_CONT(", "MODE(", "CORR(", "COVAR_SAMP(", "ABS(", "ROUND(", "FLOOR(", "CEIL(", "SQRT(", "GREATEST(",
    "LEAST(", "COALESCE(", "NULLIF(", "UPPER(", "LOWER(", "TRIM(", "LENGTH(", "SUBSTRING(", "YEAR(", "MONTH(", "DAY(",
    "DATE_TRUNC(", "DATE_DIFF(", "CAST(", "TRY_CAST(", "EXTRACT(",
)  # fmt: skip
"""Functions that the editor proposes; there are more."""

WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "AND", "OR", "NOT", "IN", "IS NULL",
    "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE", "END", "AS", "JOIN", "LEFT JOIN", "ON", "DISTINCT", "DESC",
)  # fmt: skip
"""Words of SQL that it proposes."""


@ROUTES.get("/ask/words")
def words(visit: Visiting) -> list[dict[str, str]]:
    """What the editor proposes: names of tables and columns, functions, and words of SQL."""
    tables = visit.service.dataset(visit.caller)["tables"]
    found = [{"text": quoted(table["name"]), "note": "table"} for table in tables]
    found += [
        {"text": quoted(column["name"]), "note": f"{table['name']}, {column['kind']}"}
        for table in tables
        for column in table["columns"]
    ]
    found += [{"text": name, "note": "function"} for name in FUNCTIONS]
    return [*found, *({"text": name, "note": ""} for name in WORDS)]


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
        problem = said(error)
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
            raise InvalidArgument("this table has no such column", hint="choose one of those that are listed")
    if chosen["measure"] not in MEASURES or chosen["compare"] not in COMPARISONS:
        raise InvalidArgument("there is no such part of a question", hint="choose one of those that are listed")
    measure = MEASURES[chosen["measure"]][1]
    if "{}" in measure and not chosen["column"]:
        raise InvalidArgument("this measure is of a column", hint="choose which")
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
