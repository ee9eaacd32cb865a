"""Dummy rows: made up from the declarations alone, to write code against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from math import sqrt
from typing import Any

from discreet.errors import InvalidArgument
from discreet.interfaces.client.connection import malformed
from discreet.interfaces.client.declared import Column, Schema, Table
from discreet.results import arrow_kind

_MOST_ROWS = 1_000_000
_ROWS_OF_A_UNIT = 3
"""How many rows a unit gets if it may have several."""

_EVERY_NULL = 10
"""One in this many values is NULL if a column may hold that."""

_SOME_DAY = datetime(2020, 1, 1)  # noqa: DTZ001 — timestamps in tables carry no time zone
_SPAN = timedelta(days=1461)


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
