"""One SELECT over private rows: what it means as a question.

Others read its parts: `from_clause` the rows, `subqueries` the subqueries, `binder` the expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from discreet.errors import QueryError, UnknownColumn, Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.ir import contradiction, listed, literal
from discreet.query.sql.aggregates import Aggregates
from discreet.query.sql.binder import AnswerBinder, RowBinder, check_total, holds_aggregate
from discreet.query.sql.dialect_semantics import check_meaning
from discreet.query.sql.from_clause import condition, source_of
from discreet.query.sql.group_keys import are_public, check_distinct, check_keys, checked_key, released_type
from discreet.query.sql.grouping import Grouping, grouping_of
from discreet.query.sql.inlining import inlined
from discreet.query.sql.limit_clause import count_of
from discreet.query.sql.names import Names, check_alias
from discreet.query.sql.options_clause import check_averages, check_strategy, check_unit_column
from discreet.query.sql.ordering import order_of, position_of
from discreet.query.sql.parsing import parse
from discreet.query.sql.places import in_text, offset_of, placed
from discreet.query.sql.pruning import pruned
from discreet.query.sql.refusals import refused_clause
from discreet.query.sql.schemas import Schema
from discreet.query.sql.scopes import SelectContext
from discreet.query.sql.selects_above import layers, over
from discreet.query.sql.spelling import spelled
from discreet.query.sql.subqueries import Subqueries
from discreet.query.sql.with_clause import Common, Derived, common_of
from discreet.tables import Table

if TYPE_CHECKING:
    from sqlglot import exp


MOST_NAME = 200
"""How long the name of a column without an alias may be."""

CLAUSES = {
    *("expressions", "from", "joins", "where", "group", "having", "order", "limit", "offset", "with", "distinct"),
}


def question(sql: str, tables: Sequence[Table], dialect: str = "duckdb", schema: str | None = None) -> ir.Question:
    """Read a question: bind it to columns, type it and check it.

    Args:
        sql: one SELECT, grouped or not.
        tables: those it may read, private and public.
        dialect: of the question, as sqlglot names it.
        schema: that the tables are in, as in `public.census`; any, if none is named.

    Raises:
        QueryError: the question is refused; with the place and, where there is one, the fix.
        InvalidArgument: there is no such dialect.

    Examples:
        >>> from discreet.tables import Column, Kind, Source
        >>> from discreet.privacy import Bounds, Unit
        >>> age = Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110))
        >>> census = Table(
        ...     name="census", source=Source(kind="csv", location="census.csv"), columns=(age,), unit=Unit.row()
        ... )
        >>> print(*question("SELECT AVG(age) AS mean FROM census", [census]).aggregates)
        avg("census"."age")
    """
    statement = parse(sql, dialect)
    named = tuple(schema.casefold().split(".")) if schema else ()
    select, above = layers(statement.select)
    with in_text(sql), placed(select):
        try:
            reading = _Reading(sql, dialect, select, tables, named)
            found = reading.question()
            if statement.options.at is not None:
                check_unit_column(statement.options, reading.scope, reading.unit)
            for each in above:
                found = over(each, found)
            found = inlined(found)
            if statement.options.at is not None:
                check_strategy(statement.options, found)
                check_averages(statement.options, found)
            check_meaning(found)
            if statement.unread is not None:
                raise statement.unread
        except RecursionError:
            raise Unsupported("this question is nested too deeply") from None
    return found


@dataclass(frozen=True, slots=True)
class _Item:
    """One column of the answer, before it is bound."""

    node: exp.Expression
    alias: str
    name: str


class _Reading:
    """One question being read."""

    def __init__(self, text: str, dialect: str, select: exp.Select, tables: Sequence[Table], schema: Schema) -> None:
        self._text = text
        self._dialect = dialect
        self._parts = {part.rstrip("_"): value for part, value in select.args.items() if value}
        for part in self._parts.keys() - CLAUSES:
            self._refuse(part)
        self._context = SelectContext(tables, self._derived, schema)
        self._source = source_of(self._context, select, common_of(select, {}))
        self.scope = self._source.scope
        self.unit = self._find_unit()

    def _derived(self, query: exp.Query, common: Common) -> Derived:
        """A subquery, read."""
        return Subqueries(self._context)(query, common)

    def _find_unit(self) -> Unit:
        """Whose presence is hidden."""
        owner = ir.owner_of(self._source.relation)
        if owner is None:
            raise Unsupported(
                "nothing here is private: only public tables are read", hint="read them directly: it costs nothing"
            )
        return owner.unit

    def question(self) -> ir.Question:
        """The question, bound, typed and checked."""
        if self._shows_columns_alone:
            return self._columns_alone()
        keys, sets = self._grouping.keys, self._grouping.sets
        names = Names()
        named = tuple(
            (names.take(self._called.get(key) or (key.name if isinstance(key, ir.Column) else str(key))), key)
            for key in keys
        )
        released = {key: ir.Released(name, released_type(key, rolled=bool(sets))) for name, key in named}
        names_of = {key: name for name, key in named}
        called = {id(item.node): item.name for item in self._items}
        aggregates = Aggregates(self.scope, self.unit, names, called)
        outputs = self._outputs(released, aggregates)
        aliases = self._aliases(outputs)
        answers = AnswerBinder(self.scope, released, aggregates, aliases, {})
        if "distinct" in self._parts:
            check_distinct(self._parts["distinct"], outputs, names_of.values())
        having = self._having(answers)
        order = order_of(self._parts["order"], answers, outputs) if "order" in self._parts else ()
        if not keys and not aggregates.found:
            raise Unsupported(
                "this would answer once for each row, and so release their number",
                hint="count or add up something, or GROUP BY a column",
            )
        found = tuple((name, listed(key)) for name, key in named)
        if found:
            check_keys(found, self.scope.facts)
        used = [
            *(key for _, key in found),
            *(each for one in aggregates.found for each in (one.argument, one.other) if each),
        ]
        check_total(used)
        return ir.Question(
            text=self._text,
            dialect=self._dialect,
            source=pruned(self._source.relation, used),
            keys=found,
            aggregates=aggregates.found,
            outputs=outputs,
            having=having,
            order=order,
            limit=self._count("limit"),
            offset=self._count("offset") or 0,
            sets=tuple(tuple(names_of[key] for key in each) for each in sets),
        )

    @cached_property
    def _shows_columns_alone(self) -> bool:
        """Whether rows themselves are asked for, and LIMIT 0 or public facts leave none of them."""
        shown = cast("list[exp.Expression]", self._parts.get("expressions", []))
        if {"group", "having"} & self._parts.keys() or any(map(holds_aggregate, shown)):
            return False
        is_cut = self._count("limit") == 0
        has_rows = not is_cut and contradiction(self._source.relation) is None
        return not (has_rows or self._are_groups)

    @cached_property
    def _are_groups(self) -> bool:
        """Whether SELECT DISTINCT is of public groups, which are shown whether or not they have rows."""
        distinct = cast("exp.Expression | None", self._parts.get("distinct"))
        if distinct is None or distinct.args.get("on"):
            return distinct is not None
        bind = RowBinder(self.scope, "SELECT DISTINCT")
        bound = (bind(item.node) for item in self._items)
        return are_public([key for key in bound if any(True for _ in ir.columns_in(key))])

    def _columns_alone(self) -> ir.Question:
        """A question of no rows: tools ask it to see the names and kinds of columns, which are public.

        The columns of the answer are those of rows, which nothing evaluates: no group is shown.
        """
        bind = RowBinder(self.scope, "rows themselves")
        outputs = tuple(ir.Output(name=item.name, expr=bind(item.node)) for item in self._items)
        check_total([output.expr for output in outputs])
        return ir.Question(
            text=self._text,
            dialect=self._dialect,
            source=pruned(self._source.relation, ()),
            keys=(),
            aggregates=(),
            outputs=outputs,
            limit=0,
        )

    @cached_property
    def _items(self) -> list[_Item]:
        """The columns of the answer; their names are all different."""
        names, items = Names(), []
        for node in self._shown():
            alias = node.alias if type(node).__name__ == "Alias" else ""
            check_alias(node.args["alias"] if alias else None)
            inner = cast("exp.Expression", node.this) if alias else node
            items.append(_Item(inner, alias, names.take(alias or self._default_name(inner))))
        return items

    def _shown(self) -> Iterator[exp.Expression]:
        """The columns that are shown; * is allowed in SELECT DISTINCT, and where there are no rows to show."""
        from sqlglot import exp

        takes_all = "distinct" in self._parts or self._shows_columns_alone
        for node in cast("list[exp.Expression]", self._parts.get("expressions", [])):
            star = node.this if isinstance(node, exp.Column) else node
            if isinstance(star, exp.Star) and takes_all and not any(star.args.values()):
                items = self.scope.called(node) if isinstance(node, exp.Column) else self.scope.items
                if isinstance(node, exp.Column) and not items:
                    self.scope.column(node)  # which says that there is no such table
                for item in items:
                    own = (name for name in item.columns if name not in item.merged)
                    yield from (exp.column(name, table=item.called, quoted=True) for name in own)
            else:
                yield node

    def _default_name(self, node: exp.Expression) -> str:
        """Roughly the name that DuckDB gives a column without an alias."""
        if type(node).__name__ == "Column":
            known = (item.columns.get(node.name.casefold()) for item in self.scope.items)
            spelled_so = (column.name for column in known if column is not None)
            return next((name for name in spelled_so if name.casefold() == node.name.casefold()), node.name)
        if type(node).__name__ == "Count" and type(node.this).__name__ in {"Star", "NoneType"}:
            return "count_star()"
        return spelled(node)[:MOST_NAME]

    def _refuse(self, part: str) -> None:
        """Refuse a clause that isn't supported."""
        found = self._parts[part]
        nodes = found if isinstance(found, list) else [found]
        at = offset_of(*(node for node in nodes if hasattr(node, "walk")))
        error = refused_clause(part, "a question")
        error.at = at
        raise error

    @cached_property
    def _grouping(self) -> Grouping:
        """The grouping expressions, each once, and the sets that ROLLUP, CUBE and GROUPING SETS make of them."""
        group = self._parts.get("group")
        if group is None:
            return self._distinct
        nodes = list(group.expressions)
        if group.args.get("all"):
            nodes = [item.node for item in self._items if not holds_aggregate(item.node)]
        with placed(group):
            return grouping_of(group, nodes, self._key)

    @cached_property
    def _distinct(self) -> Grouping:
        """SELECT DISTINCT groups by all it shows; by nothing if it shows one row of aggregates."""
        if "distinct" not in self._parts or any(holds_aggregate(item.node) for item in self._items):
            return Grouping((), ())
        bind = RowBinder(self.scope, "SELECT DISTINCT")
        nodes = [item.node for item in self._items if any(True for _ in ir.columns_in(bind(item.node)))]
        return Grouping(tuple(dict.fromkeys(map(self._key, nodes))), ())

    def _key(self, node: exp.Expression) -> ir.Expr:
        """One grouping expression: a position, an alias, or an expression over rows."""
        position = position_of(node, "GROUP BY", len(self._items))
        bind = RowBinder(self.scope, "GROUP BY")
        try:
            key = bind(node if position is None else self._items[position].node)
        except UnknownColumn:
            named = node.name.casefold() if type(node).__name__ == "Column" and not node.args.get("table") else None
            item = next((item for item in self._items if item.alias and item.alias.casefold() == named), None)
            if item is None:
                raise
            key = bind(item.node)
        return checked_key(node, key)

    @cached_property
    def _called(self) -> Mapping[ir.Expr, str]:
        """The answer's names for expressions over rows; those that aren't keys are refused later."""
        bind = RowBinder(self.scope, "GROUP BY")
        called: dict[ir.Expr, str] = {}
        for item in self._items:
            try:
                called.setdefault(bind(item.node), item.name)
            except QueryError:
                continue
        return called

    def _outputs(self, keys: Mapping[ir.Expr, ir.Released], aggregates: Aggregates) -> tuple[ir.Output, ...]:
        """The columns of the answer."""
        nodes = {item.alias.casefold(): item.node for item in reversed(self._items) if item.alias}
        bind = AnswerBinder(self.scope, keys, aggregates, {}, nodes)
        return tuple(ir.Output(name=item.name, expr=bind(item.node)) for item in self._items)

    def _aliases(self, outputs: Sequence[ir.Output]) -> dict[str, ir.Expr]:
        """The answer's columns by alias; the first of several equal ones."""
        pairs = zip(self._items, outputs, strict=True)
        return {item.alias.casefold(): output.expr for item, output in reversed(list(pairs)) if item.alias}

    def _count(self, part: str) -> int | None:
        """The number after LIMIT or OFFSET."""
        return count_of(part, self._parts[part]) if part in self._parts else None

    def _having(self, bind: AnswerBinder) -> ir.Expr | None:
        """The condition on groups."""
        if "having" not in self._parts:
            return None
        predicate = condition("HAVING", self._parts["having"].this, bind)
        return None if predicate == literal(True) else predicate  # noqa: FBT003 — SQL's TRUE
