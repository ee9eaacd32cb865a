"""What is declared, and what is asked of it: schemas and questions, as they cross the wire.

The public schema of tables behind a server, as Ibis expressions, and rows made up from it; a question and its terms, as
they are sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from math import sqrt
from typing import Any, TypeAlias, TypedDict

from discreet.errors import ExtraMissing, InvalidArgument, Unsupported
from discreet.interfaces.client.connection import malformed
from discreet.results import arrow_kind

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
_MOST_ROWS = 1_000_000
_ROWS_OF_A_UNIT = 3
"""How many rows of a unit are made up, where it may have several."""

_EVERY_NULL = 10
"""One in so many values is made up as NULL, where a column may hold that."""

_SOME_DAY = datetime(2020, 1, 1)  # noqa: DTZ001 — timestamps in tables carry no time zone
_SPAN = timedelta(days=1461)


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


class Schema(TypedDict):
    """What may be asked about."""

    name: str
    adjacency: str
    tables: list[Table]


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


def made_up(schema: Schema, rows: int) -> dict[str, Any]:
    """Rows made up from declarations alone, by table: an Arrow table each, or a dict of lists without PyArrow.

    Raises:
        InvalidArgument: the number of rows is out of range.
        ReplyMalformed: the declarations contradict themselves.
    """
    if not 1 <= rows <= _MOST_ROWS:
        raise InvalidArgument(f"1 to {_MOST_ROWS:,} rows can be made up, not {rows:,}")
    turns = _turns()
    found = {}
    try:
        for table in schema["tables"]:
            columns = {column["name"]: _values(column, table, schema, rows, next(turns)) for column in table["columns"]}
            found[table["name"]] = _arrow(columns, table["columns"])
    except (ArithmeticError, LookupError, TypeError, ValueError):
        malformed("its declarations contradict themselves")
    return found


def _turns() -> Iterator[float]:
    """A number for each column, by whose multiples it is spread: roots of primes, so no two columns go together."""
    primes: list[int] = []
    number = 2
    while True:
        if all(number % prime for prime in primes):
            primes.append(number)
            yield sqrt(number) % 1
        number += 1


def _values(column: Column, table: Table, schema: Schema, rows: int, turn: float) -> list[Any]:
    """The values of one column: those of ids fit each other, all others are spread evenly."""
    links = {own: to for link in table["links"] for own, _, to in [link.partition(" → ")]}
    targets = {link.partition(" → ")[2] for each in schema["tables"] for link in each["links"]}
    spread = [(turn * (row + 1)) % 1 for row in range(rows)]
    if column["name"] in links:
        others = {f"{each['name']}.{one['name']}": one for each in schema["tables"] for one in each["columns"]}
        return [_id(others[links[column["name"]]], int(part * rows)) for part in spread]
    if f"{table['name']}.{column['name']}" in targets:
        return [_id(column, row) for row in range(rows)]
    if table["unit"] is not None and column["name"] == table["unit"].partition(" per ")[0]:
        several = 1 if table["limits"] == "1 rows" else _ROWS_OF_A_UNIT
        return [_id(column, row // several) for row in range(rows)]
    first = int(turn * _EVERY_NULL)
    return [
        None if column["nullable"] and row % _EVERY_NULL == first else _spread(column, part)
        for row, part in enumerate(spread)
    ]


def _id(column: Column, number: int) -> Any:  # noqa: ANN401 — a value of any kind
    """The value of an id: of the same number the same."""
    if column["keys"]:
        return _typed(column["keys"][number % len(column["keys"])], column["kind"])
    match column["kind"]:
        case "integer":
            low, high = map(int, column["bounds"] or (1, _MOST_ROWS))
            return low + number % (high - low + 1)
        case "text":
            return f"{column['name']} {number + 1}"
        case "date":
            return _SOME_DAY.date() + timedelta(days=number)
        case "timestamp":
            return _SOME_DAY + timedelta(hours=number)
        case _:
            return _spread(column, number % 2 / 2)


def _spread(column: Column, part: float) -> Any:  # noqa: ANN401 — a value of any kind
    """The value that lies so far, from 0 to 1, in what a column may hold."""
    if column["keys"]:
        return _typed(column["keys"][int(part * len(column["keys"]))], column["kind"])
    bounds = column["bounds"]
    match column["kind"]:
        case "integer":
            low, high = (0, 99) if bounds is None else (int(bounds[0]), int(bounds[1]))
            return low + int(part * (high - low + 1))
        case "real":
            least, most = (0.0, 1.0) if bounds is None else (float(bounds[0]), float(bounds[1]))
            return least + part * (most - least)
        case "boolean":
            return part < 1 / 2
        case "text":
            return f"text {int(part * _EVERY_NULL) + 1}"
        case kind:
            begin, end = (_SOME_DAY, _SOME_DAY + _SPAN) if bounds is None else map(datetime.fromisoformat, bounds)
            found = begin + part * (end - begin)
            return found.date() if kind == "date" else found.replace(microsecond=0)


def _typed(key: object, kind: str) -> object:
    """A key as it is in the table: of days and times JSON has texts only."""
    if not isinstance(key, str) or kind not in {"date", "timestamp"}:
        return key
    return date.fromisoformat(key) if kind == "date" else datetime.fromisoformat(key)


def _arrow(columns: Mapping[str, list[Any]], declared: Sequence[Column]) -> Any:  # noqa: ANN401 — Arrow has no types
    """Columns as an Arrow table, or as they are where PyArrow isn't there."""
    try:
        import pyarrow as pa
    except ImportError:
        return dict(columns)
    return pa.table({each["name"]: pa.array(columns[each["name"]], arrow_kind(each["kind"])) for each in declared})


# ── What is asked ─────────────────────────────────────────────────────────────────────────────────────────────────────

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
)
"""What may be said beside a question; who asks is said by the token."""


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
    return sql_of(question), said if isinstance(question, str) else {**said, "dialect": "duckdb"}


def body_of(asked: str | list[str], said: Mapping[str, Any]) -> dict[str, Any]:
    """A question, or several, with what is said beside."""
    return {"question" if isinstance(asked, str) else "questions": asked, **said}


def terms_in_json(terms: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """What is offered for a question, as it is sent.

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
        raise InvalidArgument("a server asks in the name of the token's holder", hint="leave the analyst out")
    unknown = [name for name in terms if name not in {*known, "analyst"}]
    if unknown:
        raise InvalidArgument(f"there is no term {unknown[0][:70]!r} here", hint=f"there are {', '.join(known)}")
    return {name: _term(name, value) for name, value in terms.items() if value is not None}


def _term(name: str, value: Any) -> Any:  # noqa: ANN401 — whatever a term may be, and what it is in JSON
    """One term, as it is sent."""
    if isinstance(value, str | bool):
        return value
    match name, value:
        case "limits", _:
            parts = {part: getattr(value, part, None) for part in ("groups", "rows_per_group", "rows")}
            return value if isinstance(value, Mapping) else {part: n for part, n in parts.items() if n is not None}
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
