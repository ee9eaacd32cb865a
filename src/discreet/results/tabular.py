"""Tabular formats: answers, and named columns of any kind, as CSV and as Arrow streams; the same at every door."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from discreet.exact import Rationalizable
from discreet.results.columns import arrow_type
from discreet.results.columns import with_ends as columns_with_ends

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
    columns = columns_with_ends(answer.columns, {name: answer.interval(name, confidence) for name in answer.names})
    return [one.name for one in columns], list(zip(*(one.values for one in columns), strict=True))


def to_csv(names: Sequence[str], rows: Sequence[Sequence[object]], *, raw: bool = False) -> str:
    r"""CSV with a header; NULL is empty, and so is a number that isn't finite.

    Spreadsheets take a cell that begins with `=`, and some others, for a formula, and carry it out. What is in a cell
    may have been written by the one least trusted, so such texts get an apostrophe before them; see `no_formula`.

    Args:
        names: of the columns.
        rows: as many values each.
        raw: leave texts as they are, for programs.

    Examples:
        >>> to_csv(["sex", "n", "n_high"], [["f", -3, float("inf")], [None, 4, 5.5], ["=1+1", 2, 3]])
        "sex,n,n_high\nf,-3,\n,4,5.5\n'=1+1,2,3\n"
    """
    written = plain if raw else _for_people
    return "".join(_line([written(value) for value in row]) for row in (names, *rows))


def _line(cells: Sequence[object]) -> str:
    """Cells as a line of CSV.

    Python's own writer puts no quotes around a carriage return. Where readers take it for the end of a line, what
    follows it is a cell of its own, and may be a formula.
    """
    texts = ["" if cell is None else str(cell) for cell in cells]
    if texts == [""]:
        return '""\n'  # an empty line is no row to readers
    quoted = (f'"{text.replace(_QUOTE, 2 * _QUOTE)}"' if _QUOTED.search(text) else text for text in texts)
    return ",".join(quoted) + "\n"


def _for_people(value: object) -> Any:  # noqa: ANN401 — as `plain`
    """A cell that no spreadsheet carries out; numbers and dates stay what they are."""
    cell = plain(value)
    return no_formula(cell) if isinstance(cell, str) else cell


def no_formula(text: str) -> str:
    """A text that no spreadsheet takes for a formula: one that it would, with an apostrophe before it.

    Those are texts that begin with `=`, `+`, `-` or `@`, in whatever width, behind spaces and signs that aren't seen or
    not; and with a tab or the end of a line.

    Source: OWASP, "CSV Injection".

    Examples:
        >>> no_formula("=1+1"), no_formula(" -1"), no_formula("＝1"), no_formula("a=1")
        ("'=1+1", "' -1", "'＝1", 'a=1')
    """
    if text[:1] in _FORMULAS | _ENDS:
        return f"'{text}"
    for sign in text:
        if not sign.isspace() and unicodedata.category(sign)[0] != "C":
            return f"'{text}" if unicodedata.normalize("NFKC", sign) in _FORMULAS else text
    return text


_QUOTE = '"'
_QUOTED = re.compile(r'[",\r\n]')

_FORMULAS = frozenset("=+-@")
_ENDS = frozenset("\t\r\n")


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
