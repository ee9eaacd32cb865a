"""Declared answers: MIN and MAX of a table's columns as their bounds say, for tools that look for a slider's ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from discreet.interfaces.wire.outcomes import Outcome
from discreet.interfaces.wire.replies import Field
from discreet.interfaces.wire.statements import Statement, Token
from discreet.interfaces.wire.values import field_of

_NOTICE = ("declared bounds were told, not data", "SET discreet.metadata_probes = off asks the table itself")

_HAVING = ["HAVING", "(", "COUNT", "(", "1", ")", ">", "0", ")"]
"""What Tableau puts behind, so that a table without rows has no ends."""


class _End(NamedTuple):
    """One end of a column.

    Args:
        name: what the answer calls it.
        of: the column, in lower case.
        is_last: whether it is the greatest value.
    """

    name: str
    of: str
    is_last: bool


def declared_ends(statement: Statement, schema: Mapping[str, Any]) -> Outcome | None:
    """The ends of columns by their declared bounds; None for whatever asks for anything else, or of other columns.

    Args:
        statement: such as `SELECT MIN(at), MAX(at) FROM visits`.
        schema: what is public of the tables.
    """
    tokens = list(statement.tokens)
    if [each.word for each in tokens[-2:]] == ["LIMIT", ""] and tokens[-1].text.strip("0"):  # which leaves the one row
        tokens = tokens[:-2]
    if [each.text.upper() for each in tokens[-len(_HAVING) :]] == _HAVING:
        tokens = tokens[: -len(_HAVING)]
    at = next((at for at, each in enumerate(tokens) if each.word == "FROM"), 0)
    if not at or tokens[0].word != "SELECT":
        return None
    table = _table(tokens[at + 1 :], schema)
    ends = _ends(tokens[1:at])
    if table is None or ends is None:
        return None
    columns = {str(each["name"]).lower(): each for each in table["columns"]}
    if any(each.of not in columns or columns[each.of]["bounds"] is None for each in ends):
        return None
    fields: list[Field] = []
    row: list[Any] = []
    for end in ends:
        column = columns[end.of]
        fields.append(field_of(end.name, str(column["kind"])))
        row.append(_value(column["bounds"][end.is_last], str(column["kind"])))
    return Outcome("SELECT", fields, [tuple(row)], notices=[_NOTICE])


def _table(tokens: Sequence[Token], schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The table that is all of a FROM, with or without schema and alias."""
    names, rest = list[str](), list(tokens)
    while rest and rest[0].called:
        names.append(rest.pop(0).called.lower())
        if not rest or rest[0].text != ".":
            break
        rest.pop(0)
    if rest and rest[0].word == "AS":
        rest.pop(0)
    if not names or len(names) > 2 or len(rest) > 1 or (rest and not rest[0].called):  # noqa: PLR2004 — schema and table
        return None
    return next((each for each in schema["tables"] if str(each["name"]).lower() == names[-1]), None)


def _ends(tokens: Sequence[Token]) -> list[_End] | None:
    """What a list of columns asks for, if it is MIN and MAX alone."""
    found: list[_End] = []
    rest = list(tokens)
    while rest:
        opens = [each.text.upper() for each in rest[:2]]
        if opens not in (["MIN", "("], ["MAX", "("]):
            return None
        end = next((at for at, each in enumerate(rest) if each.text == ")"), 0)
        inner, rest = rest[2:end], rest[end + 1 :]
        names, dots = inner[::2], inner[1::2]
        if not end or not names or len(names) == len(dots) or any(each.text != "." for each in dots):
            return None
        name = opens[0].lower()
        if rest and rest[0].word == "AS":
            rest = rest[1:]
        if rest and rest[0].text != ",":
            name, rest = rest[0].called, rest[1:]
        if not name or not all(each.called for each in names) or (rest and rest[0].text != ",") or len(rest) == 1:
            return None
        found.append(_End(name, names[-1].called.lower(), opens[0] == "MAX"))
        rest = rest[1:]
    return found or None


def _value(said: Any, kind: str) -> Any:  # noqa: ANN401 — a bound, as JSON has it
    """A bound as a value of its column."""
    match kind:
        case "date":
            return date.fromisoformat(str(said))
        case "timestamp":
            return datetime.fromisoformat(str(said))
        case "integer":
            return int(said)
        case "real":
            return float(said)
        case _:
            raise TypeError(f"no column of the kind {kind} has bounds")
