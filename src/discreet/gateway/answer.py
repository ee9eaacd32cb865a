"""Answers: released numbers, with intervals, cost and certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument
from discreet.exact.rational import probability
from discreet.privacy import KeyValue, Loss
from discreet.query.plan import Plan
from discreet.query.released import Group, arrange, evaluate, interval

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True)
class Answer:
    """An answer: immutable, stored with its debit, and the same whenever it is asked for again.

    Args:
        plan: how it was made.
        groups: the released groups.
        certificate: what was done, as JSON-ready data.
        entry: the number of its debit in the ledger.
        reused: whether it was released before, so that this time it cost nothing.

    Examples:
        >>> answer = census.ask("SELECT COUNT(*) AS n FROM census", epsilon=1)  # doctest: +SKIP
        >>> answer["n"][0], answer.interval("n")[0]                             # doctest: +SKIP
        (32560, (32557, 32563))
    """

    plan: Plan
    groups: Sequence[Group] = field(repr=False)
    certificate: Mapping[str, object] = field(repr=False)
    entry: int
    reused: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(output.name for output in self.plan.question.outputs)

    @property
    def loss(self) -> Loss:
        """What the answer is proved to give away about one unit at the most."""
        return self.plan.cost

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def __getitem__(self, name: str) -> list[Any]:
        """The values of one column.

        Raises:
            InvalidArgument: the answer has no such column.
        """
        expr = self._output(name)
        return [evaluate(expr, values) for _, values in self._rows]

    def rows(self) -> list[dict[str, Any]]:
        """The answer row by row."""
        columns = {name: self[name] for name in self.names}
        return [{name: column[row] for name, column in columns.items()} for row in range(len(self))]

    def interval(self, name: str, confidence: float = 0.95) -> list[tuple[float, float] | None]:
        """The interval of each value of a column: it holds the bounded answer with at least this confidence.

        It speaks of the noise only: what bounds and limits cut off, and groups left out by a threshold, aren't in
        it. None where a value has no noise, or where the noise may carry it anywhere.

        Args:
            name: the column.
            confidence: in (0, 1).

        Raises:
            InvalidArgument: the answer has no such column, or the confidence is out of range.
        """
        level = float(probability(confidence, "confidence"))
        expr = self._output(name)
        found = [interval(self.plan.draft, expr, group, level) for group, _ in self._rows]
        return [None if one is None else (one.lo, one.hi) for one in found]

    def to_arrow(self) -> pa.Table:
        """The answer as an Arrow table."""
        import pyarrow as pa

        columns = {name: self[name] for name in self.names}
        return pa.table({name: pa.array(values, type=_wide(values)) for name, values in columns.items()})

    def to_pandas(self) -> pd.DataFrame:
        """The answer as a pandas frame; needs pandas."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The answer as a Polars frame; needs Polars."""
        import polars as pl

        return pl.DataFrame(self.to_arrow())

    def __str__(self) -> str:
        """A table, each noisy value with its 95 % interval."""
        intervals = {name: self.interval(name) for name in self.names}
        cells = [
            [_cell(value, intervals[name][row]) for name, value in values.items()]
            for row, values in enumerate(self.rows())
        ]
        return _table(self.names, cells)

    @cached_property
    def _rows(self) -> list[tuple[Group, dict[str, Any]]]:
        """The groups that are shown, in order, with their released values."""
        return arrange(self.plan.draft, self.groups)

    def _output(self, name: str) -> Any:  # noqa: ANN401 — an expression, which answers don't otherwise know
        """The expression of a column."""
        for output in self.plan.question.outputs:
            if output.name == name:
                return output.expr
        raise InvalidArgument(f"the answer has no column {name!r}", hint=f"it has {', '.join(self.names)}")


def _wide(values: Sequence[object]) -> pa.DataType | None:
    """The type of whole numbers beyond 64 bits, which noise may carry a sum to; None leaves it to Arrow."""
    import pyarrow as pa

    beyond = any(type(value) is int and not -(2**63) <= value < 2**63 for value in values)
    return pa.decimal128(38) if beyond else None


def groups_to_json(groups: Sequence[Group]) -> list[dict[str, object]]:
    """Released groups as JSON-ready data, to be stored with their debit."""
    return [{"key": [_key_to_json(value) for value in group.key], "noisy": dict(group.noisy)} for group in groups]


def groups_from_json(data: Any) -> list[Group]:  # noqa: ANN401 — JSON from the ledger, whose hash was checked
    """Read back what `groups_to_json` wrote."""
    return [Group(tuple(_key_from_json(value) for value in one["key"]), one["noisy"]) for one in data]


def _key_to_json(value: KeyValue) -> object:
    """A key; a date as an object, so that it isn't taken for a string."""
    return {"date": value.isoformat()} if isinstance(value, date) else value


def _key_from_json(value: Any) -> KeyValue:  # noqa: ANN401 — JSON
    """A key as it was."""
    return date.fromisoformat(value["date"]) if isinstance(value, dict) else value


def _cell(value: object, found: tuple[float, float] | None) -> str:
    """One value: `17432 ± 30`, or with its ends where the interval is lopsided."""
    if value is None:
        return "NULL"
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return str(value)
    if found is None:
        return _number(value)
    below, above = value - found[0], found[1] - value
    if abs(below - above) <= max(abs(below), abs(above)) / 20:
        return f"{_number(value)} ± {_number(max(below, above))}"
    return f"{_number(value)} [{_number(found[0])}, {_number(found[1])}]"


def _number(value: float) -> str:
    """A number, whole or to six digits."""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _table(names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Columns of text, each as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    lines = [names, ["─" * width for width in widths], *cells]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
