"""Tabular formats: answers, and named columns of any kind, as CSV and as Arrow streams; the same at every door."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from discreet.exact import Rationalizable
from discreet.results.answer_parts import arrow_type

if TYPE_CHECKING:
    from discreet.results.answer import Answer


_UNKNOWN: Mapping[str, str] = MappingProxyType({})


def with_ends(answer: Answer, confidence: Rationalizable | None = None) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names and rows of an answer, with the ends of intervals beside each noisy column, as `n_low` and `n_high`.

    Where the answer has a column of that name itself, the end's name gets an underscore more.

    Args:
        answer: what was released.
        confidence: of the intervals; that at which errors were announced, if it is left out.

    Raises:
        InvalidArgument: the answer has intervals at another confidence only.
    """
    names: list[str] = []
    columns: list[Sequence[Any]] = []
    for name in answer.names:
        names.append(name)
        columns.append(answer[name])
        ends = answer.interval(name, confidence)
        if any(ends):
            for place, end in enumerate(("low", "high")):
                free = f"{name}_{end}"
                while free in answer.names:
                    free += "_"
                names.append(free)
                columns.append([None if each is None else each[place] for each in ends])
    return names, list(zip(*columns, strict=True))


def to_csv(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    r"""CSV with a header; NULL is empty, and so is a number that isn't finite.

    Examples:
        >>> to_csv(["sex", "n", "n_high"], [["f", 3, float("inf")], [None, 4, 5.5]])
        'sex,n,n_high\nf,3,\n,4,5.5\n'
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([plain(value) for value in row] for row in rows)
    return text.getvalue()


def to_arrow_stream(
    names: Sequence[str], rows: Sequence[Sequence[object]], kinds: Mapping[str, str] = _UNKNOWN
) -> bytes:
    """An Arrow IPC stream; whole numbers beyond 64 bits become text, so that none is lost. Needs PyArrow.

    Args:
        names: of the columns.
        rows: as many values each.
        kinds: of columns, by name, as an answer has them: they tell the type where there is no value.
    """
    import pyarrow as pa

    columns = [[row[place] for row in rows] for place in range(len(names))]
    table = pa.Table.from_arrays(
        [_arrow(column, kinds.get(name, "")) for name, column in zip(names, columns, strict=True)], names=list(names)
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _arrow(values: Sequence[object], kind: str) -> Any:  # noqa: ANN401 — a pyarrow array, which has no types
    """One column."""
    import pyarrow as pa

    if all(value is None for value in values):
        return pa.array(values, type=arrow_type(kind, values))
    if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values):
        values = [None if value is None else str(value) for value in values]
    elif (decimal := next((value for value in values if isinstance(value, Decimal)), None)) is not None:
        return pa.array(values, pa.decimal128(38, len(str(decimal).partition(".")[2])))
    elif any(isinstance(value, float) for value in values):
        values = [float(value) if isinstance(value, int) else value for value in values]
    return pa.array(values)


def plain(value: Any) -> Any:  # noqa: ANN401 — anything in, JSON-ready data out
    """A value as JSON has it: dates in ISO form, numbers that aren't finite as null, what else there is as text.

    Examples:
        >>> plain({"day": date(2020, 4, 1), "mean": float("inf")})
        {'day': '2020-04-01', 'mean': None}
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else None
        case date():
            return value.isoformat()
        case dict():
            return {str(key): plain(one) for key, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
        case _:
            return str(value)
