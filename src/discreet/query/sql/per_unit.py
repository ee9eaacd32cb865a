"""Computations over one unit's rows in a subquery: aggregates, and functions of a row's place among the others.

It is exact, because it stays private.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from discreet.errors import TypeMismatch, UnboundedColumn, UnknownColumn, Unsupported, unforeseen
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.aggregates import SPELLINGS
from discreet.query.ir import is_null, outward
from discreet.query.sql.binder import RowBinder
from discreet.query.sql.names import Names
from discreet.query.sql.refusals import refusal, unknown_part
from discreet.query.sql.scopes import Scope
from discreet.query.sql.truths import as_condition
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp


SUMMARIES = {name: each.of_unit for name, each in SPELLINGS.items() if each.of_unit is not None}
"""Summaries, by the name of the parser's class."""

_REAL_BITS = 32
"""Real numbers are added up on a grid of some 2³² steps up to their greatest size, so that their sum doesn't depend on
their order."""

_RANKINGS = {
    "RowNumber": ir.Ranking.ROW_NUMBER,
    "Rank": ir.Ranking.RANK,
    "DenseRank": ir.Ranking.DENSE_RANK,
    "Lag": ir.Ranking.LAG,
    "Lead": ir.Ranking.LEAD,
    "FirstValue": ir.Ranking.FIRST_VALUE,
    "LastValue": ir.Ranking.LAST_VALUE,
}

MOST_OFFSET = 1_000
"""The greatest offset of LAG and LEAD."""


class Summaries:
    """The summaries of one subquery, in order of first appearance."""

    def __init__(self, scope: Scope, alias: str, names: Names) -> None:
        """Start with none.

        Args:
            scope: of their arguments.
            alias: of the relation that will have them as columns.
            names: those taken by keys; summaries get others.
        """
        self._rows = RowBinder(scope, "another aggregate")
        self._alias = alias
        self._names = names
        self._found: dict[ir.Summarized, ir.Column] = {}

    @property
    def found(self) -> tuple[ir.Summarized, ...]:
        """All of them."""
        return tuple(replace(each, name=column.name) for each, column in self._found.items())

    def released(self, node: exp.Expression) -> ir.Column:
        """The column that a summary becomes; equal ones are one.

        Raises:
            TypeMismatch: an argument of the wrong kind.
            UnboundedColumn: real numbers without bounds can't be added up exactly.
        """
        summarized = summary_of(node, self._rows)
        if summarized not in self._found:
            name = self._names.take(str(summarized.summary))
            self._found[summarized] = ir.Column(self._alias, name, summarized.type)
        return self._found[summarized]


def summary_of(node: exp.Expression, bind: RowBinder) -> ir.Summarized:
    """Read an aggregate over one unit's rows; it has no name yet.

    Raises:
        QueryError: it isn't supported, or not of this.
    """
    summary, of = SUMMARIES.get(type(node).__name__), node.args.get("this")
    if summary is None:
        raise refusal(node)
    for part, value in node.args.items():
        if value and part not in {"this", "big_int"}:
            raise unknown_part(node, part, value)
    if summary is ir.Summary.COUNT:
        return _count(of, bind)
    if of is None:
        raise TypeMismatch(f"{str(summary).upper()} takes an argument")
    argument = bind(of)
    match summary:
        case ir.Summary.ANY | ir.Summary.ALL:
            argument = as_condition("this", node, argument)
            return _summarized(summary, argument, ir.Type(Kind.BOOLEAN, nullable=argument.type.nullable))
        case ir.Summary.MIN | ir.Summary.MAX:
            return _summarized(summary, argument, argument.type)
        case ir.Summary.SUM | ir.Summary.AVG | ir.Summary.MEDIAN:
            return _added(summary, argument)
        case ir.Summary.COUNT_DISTINCT:
            raise AssertionError("COUNT(DISTINCT …) is how it is asked for")
        case _:
            raise unforeseen(summary)


def _count(of: exp.Expression | None, bind: RowBinder) -> ir.Summarized:
    """COUNT of rows, of values, or of different values."""
    whole = ir.Type(Kind.INTEGER, Fraction(0), None, nullable=False)
    if of is None or (type(of).__name__ == "Star" and not any(of.args.values())):
        return _summarized(ir.Summary.COUNT, None, whole)
    if type(of).__name__ != "Distinct":
        argument = bind(of)
        counted = None if isinstance(argument, ir.Literal) and not is_null(argument) else argument
        return _summarized(ir.Summary.COUNT, counted, whole)
    if len(of.expressions) != 1 or of.args.get("on"):
        raise TypeMismatch("COUNT(DISTINCT …) takes one argument")
    return _summarized(ir.Summary.COUNT_DISTINCT, bind(of.expressions[0]), whole)


def _added(summary: ir.Summary, argument: ir.Expr) -> ir.Summarized:
    """SUM, AVG and MEDIAN: of numbers; a condition counts as 0 or 1."""
    if argument.type.kind is Kind.BOOLEAN:
        argument = ir.cast(argument, Kind.INTEGER)
    if not argument.type.kind.is_number or is_null(argument):
        raise TypeMismatch(f"{str(summary).upper()} takes numbers, not {argument.type.kind}")
    of = argument.type
    is_real, grid = of.kind is Kind.REAL, 0
    if is_real and summary is not ir.Summary.MEDIAN:
        if of.lo is None or of.hi is None:
            raise UnboundedColumn(
                "real numbers are added up exactly only within bounds",
                hint="declare bounds for the column, or clamp in the question: GREATEST(LEAST(x, 100), 0)",
            )
        grid = _exponent(max(abs(of.lo), abs(of.hi))) - _REAL_BITS
    if summary is not ir.Summary.SUM:
        lo, hi = outward((of.lo, of.hi))
        return _summarized(summary, argument, ir.Type(Kind.REAL, lo, hi, nullable=of.nullable), grid)
    lo = Fraction(0) if of.lo is not None and of.lo >= 0 else None
    hi = Fraction(0) if of.hi is not None and of.hi <= 0 else None
    # A sum beyond 64 bits is NULL, and only whole numbers can get there.
    return _summarized(summary, argument, ir.Type(of.kind, lo, hi, nullable=of.nullable or not is_real), grid)


def _summarized(summary: ir.Summary, argument: ir.Expr | None, type_: ir.Type, grid: int = 0) -> ir.Summarized:
    """A summary that has no name yet."""
    return ir.Summarized(name="", summary=summary, argument=argument, type=type_, grid=grid)


def _exponent(size: Fraction) -> int:
    """The least e with size ≤ 2^e; 0 for size 0."""
    if size <= 0:
        return 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if size <= Fraction(2) ** exponent else exponent + 1


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
        over = self._named.get(node.alias.casefold()) if node.alias else node
        if over is None:
            raise UnknownColumn(f"there is no window {node.alias[:40]!r} here", hint="WINDOW w AS (PARTITION BY …)")
        of_another = node.args if over is not node else {}
        if any(of_another.get(part) for part in ("partition_by", "order", "spec")) or (of_another and over.alias):
            raise Unsupported("a window that goes on from another isn't supported", hint="write all of it: OVER (…)")
        if any(
            value and part not in {"this", "partition_by", "order", "over", "alias"}
            for part, value in over.args.items()
        ):
            raise Unsupported(
                "a window's frame isn't supported", hint="OVER (PARTITION BY … ORDER BY …) has SQL's own frame"
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
        terms = [] if order is None else order.expressions
        return tuple(
            ir.Sorting(self(term.this), bool(term.args.get("desc")), bool(term.args.get("nulls_first")))
            for term in terms
        )

    def _function(self, node: exp.Expression, order: tuple[ir.Sorting, ...]) -> ir.Windowed:
        """Read a window function; it has no name yet."""
        if type(node).__name__ in SUMMARIES:
            summarized = summary_of(node, self)
            if summarized.summary in {ir.Summary.MEDIAN, ir.Summary.COUNT_DISTINCT} and order:
                raise Unsupported(f"{str(summarized.summary).upper()} can't run over the rows so far")
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
        match ranking:
            case ir.Ranking.ROW_NUMBER | ir.Ranking.RANK | ir.Ranking.DENSE_RANK:
                place = ir.Type(Kind.INTEGER, Fraction(1), None, nullable=False)
                return ir.Windowed(name="", function=ranking, argument=None, offset=0, order=order, type=place)
            case ir.Ranking.LAG | ir.Ranking.LEAD:
                shifts = True
            case ir.Ranking.FIRST_VALUE | ir.Ranking.LAST_VALUE:
                shifts = False
            case _:
                raise unforeseen(ranking)
        if node.args.get("default"):
            raise Unsupported("LAG and LEAD take no default here", hint="COALESCE(LAG(…) OVER (…), …)")
        argument = self(node.this)
        offset = self._offset(node.args.get("offset")) if shifts else 0
        nullable = shifts or argument.type.nullable
        type_ = replace(argument.type, nullable=nullable, hidden=argument.type.hidden and not shifts)
        return ir.Windowed(name="", function=ranking, argument=argument, offset=offset, order=order, type=type_)

    def _offset(self, node: exp.Expression | None) -> int:
        """How many rows LAG and LEAD go."""
        value = 1 if node is None else getattr(self(node), "value", None)
        if not isinstance(value, int) or not 0 <= value <= MOST_OFFSET:
            raise TypeMismatch(f"LAG and LEAD go from 0 to {MOST_OFFSET:,} rows")
        return value
