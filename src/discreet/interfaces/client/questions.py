"""Questions and their terms, as they are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import InvalidArgument, Unsupported
from discreet.interfaces.client.declared import Frame
from discreet.parameters import parameters_to_json, read_parameters
from discreet.results import is_summary

TERMS = (
    "epsilon",
    "rho",
    "delta",
    "within",
    "weights",
    "confidence",
    "expecting",
    "limits",
    "bounds",
    "consistent",
    "cut_off",
    "dialect",
    "parameters",
)
"""The terms that may be given with a question; the token says who asks."""


def sql_of(question: Any) -> str:  # noqa: ANN401 — a text, an Ibis expression, or what was handed over by mistake
    """A question as SQL.

    Raises:
        InvalidArgument: it is neither a text nor an Ibis expression.
        Unsupported: Ibis has no SQL for it.
    """
    if isinstance(question, str):
        return question
    if not any(each.__module__.startswith("ibis.expr.types") for each in type(question).__mro__):
        raise InvalidArgument(f"a question is SQL, an Ibis expression or a plan, not {type(question).__name__}")
    import ibis

    try:
        return str(ibis.to_sql(question, dialect="duckdb", pretty=False))
    except Exception:  # noqa: BLE001 — Ibis and sqlglot fail in ways of their own, and none has touched a server
        raise Unsupported(
            "Ibis can't write this expression as SQL",
            hint="tables with data of their own, and functions in Python, have no part in a question",
        ) from None


def written(
    question: str | Frame | list[str | Frame], terms: Mapping[str, Any]
) -> tuple[str | list[str], dict[str, Any]]:
    """A question and its terms, as they are sent; what Ibis writes is DuckDB's SQL."""
    said = terms_in_json(terms, TERMS)
    if isinstance(question, list):
        return [sql_of(each) for each in question], said
    if isinstance(question, str) and is_summary(question):  # it stands for several
        return [question], said
    return sql_of(question), said if isinstance(question, str) else {**said, "dialect": "duckdb"}


def body_of(asked: str | list[str], said: Mapping[str, Any]) -> dict[str, Any]:
    """A question, or several, with what is said beside."""
    return {"question" if isinstance(asked, str) else "questions": asked, **said}


def terms_in_json(terms: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The terms of a question as they are sent.

    Args:
        terms: as they are said in Python: numbers of any kind, `Limits`, `Bounds`, or what these are in JSON.
        known: the names that there are.

    Raises:
        InvalidArgument: there is no such term, or the server decides it.

    Examples:
        >>> from fractions import Fraction
        >>> terms_in_json({"epsilon": Fraction(1, 3), "bounds": {"age": (0, 110)}}, ["epsilon", "bounds"])
        {'epsilon': '1/3', 'bounds': {'age': ['0', '110']}}
    """
    if terms.get("analyst") is not None:
        raise InvalidArgument("questions are asked in the name of the token's holder", hint="leave the analyst out")
    unknown = [name for name in terms if name not in {*known, "analyst"}]
    if unknown:
        raise InvalidArgument(f"there is no term {unknown[0][:70]!r} here", hint=f"there are {', '.join(known)}")
    return {name: _term(name, value) for name, value in terms.items() if value is not None}


def _term(name: str, value: Any) -> Any:  # noqa: ANN401 — whatever a term may be, and what it is in JSON
    """One term, as it is sent."""
    if isinstance(value, str | bool) and name != "parameters":
        return value
    match name, value:
        case "limits", _:
            parts = {part: getattr(value, part, None) for part in ("groups", "rows_per_group", "rows")}
            return value if isinstance(value, Mapping) else {part: n for part, n in parts.items() if n is not None}
        case "parameters", _:
            return parameters_to_json(read_parameters(value))
        case "bounds", Mapping():
            return {column: _bounds(ends) for column, ends in value.items()}
        case _, Mapping():
            return {column: _amount(each) for column, each in value.items()}
        case _:
            return _amount(value)


def _bounds(ends: Any) -> list[str] | str:  # noqa: ANN401 — Bounds, or a pair, or a text
    """Both ends of a column's bounds; or "auto"."""
    if isinstance(ends, str):
        return ends
    low, high = (ends.lo, ends.hi) if hasattr(ends, "lo") else ends
    return [_end(low), _end(high)]


def _end(value: Any) -> str:  # noqa: ANN401 — a number, a date or a time
    """An end of bounds."""
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _amount(value: Any) -> str:  # noqa: ANN401 — a number, or a share with a size
    """A number, as a text, which is read exactly; of ("5%", 1000) the text that says so."""
    return "@".join(map(str, value)) if isinstance(value, tuple) else str(value)
