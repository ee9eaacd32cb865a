"""Dummy rows: made up from the declarations alone, to write code against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from math import sqrt
from typing import Any

from discreet.errors import InvalidArgument
from discreet.interfaces.client.connection import malformed
from discreet.interfaces.client.declared import Column, Schema, Table
from discreet.notebook import framed, table
from discreet.results import arrow_kind

_MOST_ROWS = 1_000_000
_ROWS_OF_A_UNIT = 3
"""How many rows a unit gets if it may have several."""

_SHOWN = 5
"""How many rows of a table a notebook shows."""

_EVERY_NULL = 10
"""One in this many values is NULL if a column may hold that."""

_SOME_DAY = datetime(2020, 1, 1)  # noqa: DTZ001 — timestamps in tables carry no time zone
_SPAN = timedelta(days=1461)


class DummyRows(dict[str, Any]):
    """Made-up rows by table: an Arrow table each, or a dict of lists without PyArrow; a dict that shows itself."""

    def __repr__(self) -> str:
        """The tables with their columns, and how many rows they have; `dict` has all of it."""
        tables = (f"{name}: {', '.join(_columns(table))}" for name, table in self.items())
        return f"<DummyRows, made up, {self._rows():,} of each table; {'; '.join(tables)}>"

    def _repr_html_(self) -> str:
        """The first rows of each table, for notebooks."""
        return framed(*(self._first(name, _columns(found)) for name, found in self.items()))

    def _first(self, name: str, columns: Mapping[str, list[Any]]) -> str:
        """The first rows of one table."""
        rows = list(zip(*(values[:_SHOWN] for values in columns.values()), strict=True))
        texts = [["NULL" if value is None else _text(value) for value in row] for row in rows]
        numbers = [place for place, row in enumerate(zip(*rows, strict=True)) if any(map(_is_number, row))]
        caption = f"{name}: made up, the first of {self._rows():,} rows"
        return table(list(columns), texts, numbers=numbers, caption=caption)

    def _rows(self) -> int:
        """How many rows each table has."""
        return max((len(values) for found in self.values() for values in _columns(found).values()), default=0)


def _text(value: object) -> str:
    """A value as it is shown."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _is_number(value: object) -> bool:
    """Whether a value is set to the right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _columns(found: Any) -> Mapping[str, list[Any]]:  # noqa: ANN401 — an Arrow table, or a dict
    """The values of a table by column."""
    columns: Mapping[str, list[Any]] = found if isinstance(found, dict) else found.to_pydict()
    return columns


def made_up(schema: Schema, rows: int) -> DummyRows:
    """Rows made up from declarations alone, by table: an Arrow table each, or a dict of lists without PyArrow.

    Raises:
        InvalidArgument: the number of rows is out of range.
        ReplyMalformed: the declarations contradict themselves.
    """
    if not 1 <= rows <= _MOST_ROWS:
        raise InvalidArgument(f"1 to {_MOST_ROWS:,} rows can be made up, not {rows:,}")
    turns = _turns()
    found = DummyRows()
    try:
        for table in schema.tables:
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
    targets = {link.partition(" → ")[2] for each in schema.tables for link in each["links"]}
    spread = [(turn * (row + 1)) % 1 for row in range(rows)]
    if column["name"] in links:
        others = {f"{each['name']}.{one['name']}": one for each in schema.tables for one in each["columns"]}
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
