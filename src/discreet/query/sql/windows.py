"""Windows: functions of a row's place among the other rows of its unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from discreet.errors import TypeMismatch, Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.sql.binder import RowBinder
from discreet.query.sql.names import Names
from discreet.query.sql.refusals import refusal
from discreet.query.sql.scopes import Scope
from discreet.query.sql.summaries import SUMMARIES, summary_of
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

_RANKINGS = {
    "RowNumber": ir.Ranking.ROW_NUMBER,
    "Rank": ir.Ranking.RANK,
    "DenseRank": ir.Ranking.DENSE_RANK,
    "Lag": ir.Ranking.LAG,
    "Lead": ir.Ranking.LEAD,
    "FirstValue": ir.Ranking.FIRST_VALUE,
    "LastValue": ir.Ranking.LAST_VALUE,
}
_PLACES = {ir.Ranking.ROW_NUMBER, ir.Ranking.RANK, ir.Ranking.DENSE_RANK}

MOST_OFFSET = 1_000
"""How far LAG and LEAD go."""


class WindowBinder(RowBinder):
    """Binds expressions over rows, window functions among them; each becomes a column of a relation above the rows."""

    def __init__(self, scope: Scope, relation: ir.Relation, names: Names, named: Mapping[str, exp.Window]) -> None:
        """Bind over the rows of a relation.

        Args:
            scope: of its columns.
            relation: the rows.
            names: aliases that are taken.
            named: what the WINDOW clause defines, by name in lower case.
        """
        super().__init__(scope, "a subquery's rows")
        self._relation = relation
        self._aliases = names
        self._named = named
        self.aliases: Mapping[str, ir.Expr] = {}
        self._partitions: dict[tuple[ir.Expr, ...], tuple[str, list[ir.Windowed]]] = {}

    @property
    def relation(self) -> ir.Relation:
        """The rows with the columns of all window functions met so far."""
        rows = self._relation
        for partition, (alias, windowed) in self._partitions.items():
            rows = ir.Window(rows, alias, partition, tuple(windowed))
        return rows

    def _bound(self, node: exp.Expression) -> ir.Expr:
        """A window function, a column of the SELECT where it may be named, or any other expression."""
        if type(node).__name__ == "Column" and not node.args.get("table") and node.name.casefold() in self.aliases:
            return self.aliases[node.name.casefold()]
        return self._window(cast("exp.Window", node)) if type(node).__name__ == "Window" else super()._bound(node)

    def _window(self, node: exp.Window) -> ir.Expr:
        """The column that a window function becomes."""
        over = self._named.get(node.alias.casefold(), node) if node.alias else node
        if any(
            value and part not in {"this", "partition_by", "order", "over", "alias"}
            for part, value in over.args.items()
        ):
            raise Unsupported(
                "a window's frame isn't offered", hint="OVER (PARTITION BY … ORDER BY …) has SQL's own frame"
            )
        partition = tuple(dict.fromkeys(self(part) for part in over.args.get("partition_by") or ()))
        owner = ir.owner_of(self._relation)
        if owner is not None:
            self._check_partition(partition, owner.unit)
        order = self._order(over.args.get("order"))
        windowed = self._function(node.this, order)
        alias, columns = self._partitions.setdefault(partition, (self._aliases.take("subquery"), []))
        for each in columns:
            if replace(each, name="") == windowed:
                return ir.Column(alias, each.name, each.type)
        named = replace(windowed, name=f"w{len(columns)}")
        columns.append(named)
        return ir.Column(alias, named.name, named.type)

    def _check_partition(self, partition: tuple[ir.Expr, ...], unit: Unit) -> None:
        """Refuse a window over the rows of several units.

        Raises:
            Unsupported: nothing in PARTITION BY says whose the rows are.
        """
        if unit.is_row:
            raise Unsupported("each row is a unit of its own here, so a window would look at others' rows")
        if not any(self.scope.facts.entity(each) for each in partition):
            raise Unsupported(
                "a window looks at the rows of one unit, and this one would look at those of several",
                hint=f"PARTITION BY {unit.column}",
            )

    def _order(self, order: exp.Expression | None) -> tuple[ir.Sorting, ...]:
        """The ORDER BY of a window."""
        terms = [] if order is None else order.expressions
        return tuple(
            ir.Sorting(self(term.this), bool(term.args.get("desc")), bool(term.args.get("nulls_first")))
            for term in terms
        )

    def _function(self, node: exp.Expression, order: tuple[ir.Sorting, ...]) -> ir.Windowed:
        """What a window computes, without a name yet."""
        if type(node).__name__ in SUMMARIES:
            summarized = summary_of(node, self)
            if summarized.summary in {ir.Summary.MEDIAN, ir.Summary.COUNT_DISTINCT} and order:
                raise Unsupported(f"{str(summarized.summary).upper()} can't be taken of the rows so far")
            return ir.Windowed(
                name="",
                function=summarized.summary,
                argument=summarized.argument,
                offset=0,
                order=order,
                type=summarized.type,
                grid=summarized.grid,
            )
        ranking = _RANKINGS.get(type(node).__name__)
        if ranking is None:
            raise refusal(node)
        if not order:
            raise Unsupported(f"{str(ranking).upper()} needs an order", hint="OVER (PARTITION BY … ORDER BY …)")
        if ranking in _PLACES:
            place = ir.Type(Kind.INTEGER, Fraction(1), None, nullable=False)
            return ir.Windowed(name="", function=ranking, argument=None, offset=0, order=order, type=place)
        if node.args.get("default"):
            raise Unsupported("LAG and LEAD take no default here", hint="COALESCE(LAG(…) OVER (…), …)")
        argument = self(node.this)
        shifts = ranking in {ir.Ranking.LAG, ir.Ranking.LEAD}
        offset = self._offset(node.args.get("offset")) if shifts else 0
        nullable = shifts or argument.type.nullable
        type_ = replace(argument.type, nullable=nullable, hidden=argument.type.hidden and not shifts)
        return ir.Windowed(name="", function=ranking, argument=argument, offset=offset, order=order, type=type_)

    def _offset(self, node: exp.Expression | None) -> int:
        """How many rows LAG and LEAD go."""
        value = 1 if node is None else getattr(self(node), "value", None)
        if not isinstance(value, int) or not 0 <= value <= MOST_OFFSET:
            raise TypeMismatch(f"LAG and LEAD go 0 to {MOST_OFFSET:,} rows")
        return value
