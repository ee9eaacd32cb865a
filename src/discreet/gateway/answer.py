"""Answers: released numbers, with intervals, cost and certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.accounting import loss_of
from discreet.errors import InvalidArgument
from discreet.exact.rational import confidence as read_confidence
from discreet.gateway.answers import Group, Values, arrange, consistent, evaluate, interval
from discreet.privacy import Bounds, ComposedEvent, Event, Loss
from discreet.query import ir
from discreet.query.estimates import Interval
from discreet.query.ir import day_of, moment_of, ordinal
from discreet.query.planner import CutOff, Moved, Plan
from discreet.tables import Kind

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

End: TypeAlias = Any
"""An end of an interval: a number; of dates a date, of timestamps a timestamp."""

_FIRST, _LAST = int(ordinal(datetime.min)), int(ordinal(datetime.max))  # noqa: DTZ901 — timestamps have no zone
"""In microseconds: rounded outwards to a float, an end may lie beyond the calendar by a few."""


@dataclass(frozen=True)
class Answer:
    """An answer: immutable, stored with its debit, and the same whenever it is asked for again.

    Args:
        plan: how it was made.
        groups: the released groups.
        certificate: what was done, as JSON-ready data.
        entry: the number of its debit in the ledger.
        reused: whether it was released before, so that this time it cost nothing.
        origin: the entries that it follows from, where it was worked out from other answers; empty where it was
            released for this question.
        before: the questions that were asked first, so that limits and bounds could be chosen.
        cut_off: what limits cut off, where it was measured.
        moved: what bounds move, by column, where it was measured.
        bounds: of columns, where they were chosen privately.

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
    origin: tuple[int, ...] = ()
    before: tuple[Plan, ...] = ()
    cut_off: CutOff | None = None
    moved: tuple[Moved, ...] = ()
    bounds: Mapping[str, Bounds] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(output.name for output in self.plan.question.outputs)

    @property
    def event(self) -> Event:
        """What was done to the data, for this question and those before it."""
        return ComposedEvent(tuple(plan.event for plan in (*self.before, self.plan)))

    @property
    def loss(self) -> Loss:
        """What the answer is proved to give away about one unit at the most."""
        return loss_of(self.event)

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

    def interval(self, name: str, confidence: float = 0.95) -> list[tuple[End, End] | None]:
        """The interval of each value of a column: it holds the bounded answer with at least this confidence.

        That is over draws of the noise, of a group that is shown whatever its noise is: the only one, or one of public
        keys without HAVING or LIMIT. A group that was selected privately is shown only if its noise lifted it over the
        threshold. If it is near that, its values are too high, and its intervals hold less often than they say: those
        of a group well below the threshold never. Likewise groups that HAVING, or ORDER BY with LIMIT, picked.

        Those of counts and sums, of linear combinations of them, of averages and of ratios of sums hold as often as
        they say, but for rounding: the ends of whole numbers are put on the outside, so with little noise they hold
        more often, at ε = 1 in 97 % and more instead of 95 %; and averages are kept within what bounds allow. Those of
        variances and standard deviations are a little wide: a 95 % interval holds in 97 % of all cases at the most,
        where the noise of the group's count is below a hundredth of it. Those of any other arithmetic (a product of two
        aggregates, a rounded one, a difference of two averages) take the worst of their parts together, and are wider
        than they need be (Bonferroni). Those of quantiles, MIN and MAX reach to the edges of the cells in which rows
        are counted around the answer, and so hold more often than they say; of dates, their ends are dates. What MODE
        chooses has none.

        An interval speaks of the noise only: what bounds and limits cut off isn't in it. None where a value has no
        noise, or where the noise may carry it anywhere.

        Args:
            name: the column.
            confidence: from 2⁻⁵⁰ to 1 − 2⁻⁵⁰.

        Raises:
            InvalidArgument: the answer has no such column, or the confidence is out of range.
        """
        level = float(read_confidence(confidence))
        expr = self._output(name)
        drafts = [each.draft for each in self.plan.levels]
        found = [interval(drafts[group.level], expr, group.noisy, level) for group, _ in self._rows]
        return [None if one is None else _ends(one, expr.type.kind) for one in found]

    @property
    def coverage(self) -> str:
        """What its intervals don't say, or say too cautiously, in words."""
        words = ["for the noise; what bounds and limits cut off isn't in it"]
        if any(level.draft.threshold is not None for level in self.plan.levels):
            words.append("groups are shown only if noisy numbers reach a threshold: near it they may hold less often")
        question = self.plan.question
        if question.having is not None or question.limit is not None or question.offset:
            words.append("rows were picked by noisy values: those may hold less often")
        if any(each.statistic is ir.Statistic.QUANTILE for each in self.plan.question.aggregates):
            words.append("a quantile's holds more often than it says")
        return "; ".join(words)

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
        table = _table(self.names, cells)
        notes = [str(each) for each in (self.cut_off, *self.moved) if each is not None]
        notes += [f"values of {name} were moved into {bounds}" for name, bounds in self.bounds.items()]
        return "\n".join([table, *notes])

    @cached_property
    def _rows(self) -> list[tuple[Group, Values]]:
        """The groups that are shown, in order, with their released values."""
        drafts = [level.draft for level in self.plan.levels]
        adjusted = consistent(drafts, self.groups) if self.plan.request.consistent else self.groups
        return arrange(drafts, self.groups, adjusted)

    def _output(self, name: str) -> Any:  # noqa: ANN401 — an expression, which answers don't otherwise know
        """The expression of a column."""
        for output in self.plan.question.outputs:
            if output.name == name:
                return output.expr
        raise InvalidArgument(f"the answer has no column {name!r}", hint=f"it has {', '.join(self.names)}")


def _ends(found: Interval, kind: Kind) -> tuple[End, End]:
    """The ends of an interval, as values of the column's kind if that is a time."""
    match kind:
        case Kind.DATE:
            return day_of(int(found.lo)), day_of(int(found.hi))
        case Kind.TIMESTAMP:
            return moment_of(max(int(found.lo), _FIRST)), moment_of(min(int(found.hi), _LAST))
        case _:
            return found.lo, found.hi


def _wide(values: Sequence[object]) -> pa.DataType | None:
    """The type of whole numbers beyond 64 bits, which noise may carry a sum to; None leaves it to Arrow."""
    import pyarrow as pa

    beyond = any(type(value) is int and not -(2**63) <= value < 2**63 for value in values)
    return pa.decimal128(38) if beyond else None


def _cell(value: object, found: tuple[End, End] | None) -> str:
    """One value: `17432 ± 30`, or with its ends where the interval is lopsided."""
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return ", ".join("NULL" if each is None else str(each) for each in value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return str(value) if found is None else f"{value} [{found[0]}, {found[1]}]"
    if found is None or isinstance(found[0], date) or isinstance(found[1], date):
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
