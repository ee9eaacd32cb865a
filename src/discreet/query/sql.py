"""SQL: from a question's text to what it means, from public facts alone.

parse → bind → type → check. Nothing here has a handle on data, so any error may say all it knows: cause, place, fix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from discreet.dataset import Kind, Table
from discreet.errors import QueryError, TypeMismatch, UnknownColumn, Unsupported
from discreet.query import ir
from discreet.query.aggregates import Aggregates
from discreet.query.binder import AnswerBinder, RowBinder, Weights, weight
from discreet.query.functions.arguments import columns
from discreet.query.images import listed
from discreet.query.literals import literal
from discreet.query.names import Names, Scope, check_alias, scope_of
from discreet.query.parse import parse, spelled
from discreet.query.places import place_of
from discreet.query.statistics import statistic_of

if TYPE_CHECKING:
    from sqlglot import exp

MOST_KEYS = 20
"""More keys than this make groups of single people, and each may take a list of values to work out."""

MOST_TOTAL = 10_000
"""How many function calls all expressions over rows may compile to."""

MOST_NAME = 200
"""How long the name of a column without an alias may be."""

_CLAUSES = {"expressions", "from", "where", "group", "having", "order", "limit", "offset"}

_REFUSED = {
    "with": ("WITH", "ask the question directly of the table"),
    "joins": ("joins", "a question reads one table"),
    "laterals": ("LATERAL", "a question reads one table"),
    "distinct": ("SELECT DISTINCT", "GROUP BY the same columns gives each combination once"),
    "windows": ("WINDOW", "GROUP BY answers each group"),
    "qualify": ("QUALIFY", "HAVING filters groups"),
    "sample": ("SAMPLE", "all rows are asked; noise is what protects them"),
    "hint": ("hints", "leave them out"),
    "into": ("SELECT INTO", "answers are returned, not stored"),
    "locks": ("FOR UPDATE", "tables here can only be asked"),
}


def question(sql: str, tables: Sequence[Table], dialect: str = "duckdb") -> ir.Question:
    """What a question means: bound to columns, typed and checked.

    Args:
        sql: one SELECT over one table, grouped or not.
        tables: those protected here.
        dialect: of the question, as sqlglot names it.

    Raises:
        QueryError: the question is refused; with the place and, where there is one, the fix.
        InvalidArgument: there is no such dialect.

    Examples:
        >>> from discreet.dataset import Column, Source
        >>> from discreet.privacy import Bounds, Unit
        >>> age = Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110))
        >>> census = Table(
        ...     name="census", source=Source(kind="csv", location="census.csv"), columns=(age,), unit=Unit.row()
        ... )
        >>> print(*question("SELECT AVG(age) AS mean FROM census", [census]).aggregates)
        avg("census"."age")
    """
    select = parse(sql, dialect)
    try:
        return _Reading(sql, dialect, select, tables).question()
    except RecursionError:
        raise Unsupported("this question is nested too deeply", place=place_of(sql, select)) from None
    except QueryError as error:
        error.place = error.place or place_of(sql, select)
        raise


@dataclass(frozen=True, slots=True)
class _Item:
    """One column of the answer, before it is bound."""

    node: exp.Expression
    alias: str
    name: str


class _Reading:
    """One question being read."""

    def __init__(self, text: str, dialect: str, select: exp.Select, tables: Sequence[Table]) -> None:
        """Check the clauses, and find the table."""
        self._text = text
        self._dialect = dialect
        self._parts = {part.rstrip("_"): value for part, value in select.args.items() if value}
        for part in self._parts.keys() - _CLAUSES:
            self._refuse(part)
        self._scope = self._find_table(tables)

    def question(self) -> ir.Question:
        """What the question means."""
        where = self._where()
        keys = self._keys()
        names = Names()
        named = tuple((names.take(self._key_name(key)), key) for key in keys)
        released = {key: ir.Released(name, listed(key, self._scope.table).type) for name, key in named}
        called = {id(item.node): item.name for item in self._items}
        aggregates = Aggregates(self._scope, names, called)
        outputs = self._outputs(released, aggregates)
        aliases = self._aliases(outputs)
        answers = AnswerBinder(self._scope, released, aggregates, aliases)
        having = self._having(answers)
        order = self._order(answers, outputs)
        if not keys and not aggregates.found:
            raise Unsupported(
                "this would answer once for each row, and so release their number",
                hint="count or add up something, or GROUP BY a column",
            )
        found = tuple((name, listed(key, self._scope.table)) for name, key in named)
        self._check_size([where, *keys, *(aggregate.argument for aggregate in aggregates.found)])
        return ir.Question(
            text=self._text,
            dialect=self._dialect,
            source=self._source(where, [key for _, key in found], aggregates.found),
            keys=found,
            aggregates=aggregates.found,
            outputs=outputs,
            having=having,
            order=order,
            limit=self._count("limit"),
            offset=self._count("offset") or 0,
        )

    @cached_property
    def _items(self) -> list[_Item]:
        """The columns of the answer; their names are all different."""
        names, items = Names(), []
        for node in cast("list[exp.Expression]", self._parts.get("expressions", [])):
            alias = node.alias if type(node).__name__ == "Alias" else ""
            check_alias(self._text, node.args["alias"] if alias else None)
            inner = cast("exp.Expression", node.this) if alias else node
            items.append(_Item(inner, alias, names.take(alias or self._default_name(inner))))
        return items

    def _default_name(self, node: exp.Expression) -> str:
        """What DuckDB would call a column without an alias, more or less."""
        if type(node).__name__ == "Column":
            known = {column.name.casefold(): column.name for column in self._scope.table.columns}
            return known.get(node.name.casefold(), node.name)
        if type(node).__name__ == "Count" and type(node.this).__name__ in {"Star", "NoneType"}:
            return "count_star()"
        return spelled(node)[:MOST_NAME]

    def _refuse(self, part: str) -> None:
        """Refuse a clause that isn't offered."""
        found = self._parts[part]
        nodes = found if isinstance(found, list) else [found]
        place = place_of(self._text, *(node for node in nodes if hasattr(node, "walk")))
        what, hint = _REFUSED.get(part, (part.upper().replace("_", " "), "leave it out"))
        raise Unsupported(f"{what} can't be used in a question", hint=hint, place=place)

    def _find_table(self, tables: Sequence[Table]) -> Scope:
        """The table after FROM."""
        source = self._parts.get("from")
        if source is None:
            raise Unsupported("a question needs a table to ask", hint="SELECT … FROM a table")
        node = source.this
        if type(node).__name__ != "Table":
            place = place_of(self._text, node)
            raise Unsupported("FROM takes the name of one table", hint="ask the table directly", place=place)
        return scope_of(self._text, node, tables)

    def _where(self) -> ir.Expr | None:
        """The condition on rows; a constant TRUE is none."""
        if "where" not in self._parts:
            return None
        predicate = self._condition("WHERE", self._parts["where"].this, RowBinder(self._scope, "WHERE"))
        return None if predicate == literal(True) else predicate  # noqa: FBT003 — SQL's TRUE

    def _condition(self, clause: str, node: exp.Expression, bind: RowBinder) -> ir.Expr:
        """A condition, or a refusal of anything else."""
        predicate = bind(node)
        if predicate.type.kind is not Kind.BOOLEAN:
            place = place_of(self._text, node)
            raise TypeMismatch(
                f"{clause} takes a condition, not {predicate.type.kind}", hint="compare it: x > 0", place=place
            )
        return predicate

    def _keys(self) -> tuple[ir.Expr, ...]:
        """The grouping expressions, each once."""
        group = self._parts.get("group")
        if group is None:
            return ()
        if any(value for part, value in group.args.items() if part not in {"expressions", "all"}):
            place = place_of(self._text, group)
            raise Unsupported(
                "ROLLUP, CUBE and GROUPING SETS aren't offered", hint="ask one question for each", place=place
            )
        nodes = list(group.expressions)
        if group.args.get("all"):
            nodes = [item.node for item in self._items if not _holds_aggregate(item.node)]
        if len(nodes) > MOST_KEYS:
            raise Unsupported(f"GROUP BY takes {MOST_KEYS} keys at the most", place=place_of(self._text, group))
        return tuple(dict.fromkeys(self._key(node) for node in nodes))

    def _key(self, node: exp.Expression) -> ir.Expr:
        """One grouping expression: a position, an alias, or an expression over rows."""
        position = self._position(node, "GROUP BY")
        bind = RowBinder(self._scope, "GROUP BY")
        try:
            key = bind(node if position is None else self._items[position].node)
        except UnknownColumn:
            item = next((item for item in self._items if item.alias and _is_name(node, item.alias)), None)
            if item is None:
                raise
            key = bind(item.node)
        if key.type.kind in {Kind.REAL, Kind.TIMESTAMP}:
            hint = (
                "FLOOR or CAST AS INTEGER" if key.type.kind is Kind.REAL else "DATE_TRUNC('day', …) or EXTRACT(hour …)"
            )
            raise TypeMismatch(
                f"a {key.type.kind} value makes no group", hint=f"{hint} does", place=place_of(self._text, node)
            )
        if not any(True for _ in columns(key)):
            raise Unsupported("a constant makes no groups", hint="leave it out", place=place_of(self._text, node))
        return key

    def _position(self, node: exp.Expression, clause: str) -> int | None:
        """Which of the answer's columns a number means, counted from 0; None if the node isn't a number."""
        if type(node).__name__ != "Literal" or node.args.get("is_string"):
            return None
        position = int(node.name) if node.name.isdigit() and len(node.name) < 10 else 0  # noqa: PLR2004 — no more columns than that
        if not 1 <= position <= len(self._items):
            raise UnknownColumn(
                f"{clause} {node.name[:20]}: the answer has columns 1 to {len(self._items)}",
                place=place_of(self._text, node),
            )
        return position - 1

    def _key_name(self, key: ir.Expr) -> str:
        """What the answer calls a key; else its column's name, or its text."""
        called = self._called.get(key)
        return called or (key.name if isinstance(key, ir.Column) else str(key))

    @cached_property
    def _called(self) -> Mapping[ir.Expr, str]:
        """What the answer calls expressions over rows; those that aren't keys are refused in their turn."""
        bind = RowBinder(self._scope, "GROUP BY")
        called: dict[ir.Expr, str] = {}
        for item in self._items:
            try:
                called.setdefault(bind(item.node), item.name)
            except QueryError:
                continue
        return called

    def _outputs(self, keys: Mapping[ir.Expr, ir.Released], aggregates: Aggregates) -> tuple[ir.Output, ...]:
        """The columns of the answer."""
        bind = AnswerBinder(self._scope, keys, aggregates, {})
        return tuple(ir.Output(name=item.name, expr=bind(item.node)) for item in self._items)

    def _aliases(self, outputs: Sequence[ir.Output]) -> dict[str, ir.Expr]:
        """The answer's columns by alias; the first of several equal ones."""
        pairs = zip(self._items, outputs, strict=True)
        return {item.alias.casefold(): output.expr for item, output in reversed(list(pairs)) if item.alias}

    def _having(self, bind: AnswerBinder) -> ir.Expr | None:
        """The condition on groups."""
        if "having" not in self._parts:
            return None
        predicate = self._condition("HAVING", self._parts["having"].this, bind)
        return None if predicate == literal(True) else predicate  # noqa: FBT003 — SQL's TRUE

    def _order(self, bind: AnswerBinder, outputs: Sequence[ir.Output]) -> tuple[ir.Order, ...]:
        """The ORDER BY terms."""
        order = self._parts.get("order")
        if order is None:
            return ()
        if order.args.get("siblings") or order.args.get("this"):
            raise Unsupported("ORDER SIBLINGS isn't offered", hint="leave it out")
        return tuple(self._term(term, bind, outputs) for term in order.expressions)

    def _term(self, term: exp.Expression, bind: AnswerBinder, outputs: Sequence[ir.Output]) -> ir.Order:
        """One ORDER BY term."""
        if term.args.get("with_fill") or type(term).__name__ != "Ordered":
            raise Unsupported("WITH FILL isn't offered", hint="leave it out", place=place_of(self._text, term))
        node = cast("exp.Expression", term.this)
        position = self._position(node, "ORDER BY")
        expr = bind(node) if position is None else outputs[position].expr
        return ir.Order(
            expr=expr, descending=bool(term.args.get("desc")), nulls_first=bool(term.args.get("nulls_first"))
        )

    def _count(self, part: str) -> int | None:
        """The number after LIMIT or OFFSET."""
        clause = self._parts.get(part)
        if clause is None:
            return None
        node, extra = clause.args.get("expression"), {key for key, value in clause.args.items() if value}
        digits = node.name if type(node).__name__ == "Literal" and not node.args.get("is_string") else ""
        if extra - {"expression"} or not digits.isdigit() or len(digits) > 18:  # noqa: PLR2004 — 64 bits
            raise Unsupported(f"{part.upper()} takes a whole number", place=place_of(self._text, clause))
        return int(digits)

    def _check_size(self, exprs: Sequence[ir.Expr | None]) -> None:
        """Refuse a question that compiles to too much, in all its expressions over rows together."""
        known: Weights = {}
        if sum(weight(expr, known) for expr in exprs if expr is not None) > MOST_TOTAL:
            raise Unsupported("this question is too large", hint="ask several smaller ones")

    def _source(
        self, where: ir.Expr | None, keys: Sequence[ir.Expr], aggregates: Sequence[ir.Aggregate]
    ) -> ir.Relation:
        """The rows, with the columns that are used and those of the unit, in the table's order."""
        table = self._scope.table
        used = {name.casefold() for name in (table.unit.column, table.unit.at) if name is not None}
        for expr in (where, *keys, *(aggregate.argument for aggregate in aggregates)):
            if expr is not None:
                used |= {column.name.casefold() for column in columns(expr)}
        scan = ir.Scan(table, tuple(column.name for column in table.columns if column.name.casefold() in used))
        return scan if where is None else ir.Where(scan, where)


def _is_name(node: exp.Expression, name: str) -> bool:
    """Whether the node is that name and nothing more."""
    is_column = type(node).__name__ == "Column" and not node.args.get("table")
    return is_column and node.name.casefold() == name.casefold()


def _holds_aggregate(node: exp.Expression) -> bool:
    """Whether there is an aggregate in the node."""
    from sqlglot import exp

    parts = cast("list[exp.Expression]", list(node.walk()))
    return any(isinstance(part, exp.AggFunc) or statistic_of(part) is not None for part in parts)
