"""Subqueries: rows made of rows, each still belonging to one unit.

A subquery may filter, compute, group by the unit, look at a unit's rows through windows, and put relations one after
the other with UNION ALL. It may not mix units: an aggregate over people is a release and has a cost, so it is a
question of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from discreet.errors import TypeMismatch, Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.ir import alike, hull
from discreet.query.sql.binder import AnswerBinder, RowBinder, holds_aggregate
from discreet.query.sql.from_clause import condition, source_of
from discreet.query.sql.names import Names, check_alias
from discreet.query.sql.per_unit import Summaries, WindowBinder
from discreet.query.sql.places import placed
from discreet.query.sql.refusals import refused_clause
from discreet.query.sql.scopes import UNIT, Scope, SelectContext, Source
from discreet.query.sql.with_clause import Common, Derived, common_of

if TYPE_CHECKING:
    from sqlglot import exp


CLAUSES = {
    "expressions",
    "from",
    "joins",
    "where",
    "group",
    "having",
    "distinct",
    "windows",
    "qualify",
    "with",
    "order",
}


class Subqueries:
    """Reads the subqueries of one question."""

    def __init__(self, context: SelectContext) -> None:
        self._context = context

    def __call__(self, query: exp.Query, common: Common) -> Derived:
        """The subquery's rows and columns.

        Raises:
            QueryError: it mixes units, or isn't understood.
        """
        with placed(cast("exp.Expression", query)):
            common = common_of(query, common)
            if type(query).__name__ == "Subquery":
                return self(cast("exp.Query", query.this), common)
            if type(query).__name__ == "Union":
                return united(cast("exp.Union", query), self._context, lambda part: self(part, common))
            if type(query).__name__ != "Select":
                raise Unsupported("INTERSECT and EXCEPT aren't supported", hint="IN (SELECT …) or NOT EXISTS")
            return self._select(cast("exp.Select", query), common)

    def _select(self, select: exp.Select, common: Common) -> Derived:
        """One SELECT."""
        parts = {part.rstrip("_") for part, value in select.args.items() if value}
        for part in sorted(parts - CLAUSES):
            raise refused_clause(part, "a subquery")
        source = source_of(self._context, select, common)
        is_grouped = "group" in parts or "having" in parts or any(map(holds_aggregate, select.expressions))
        derived = self._groups(select, source) if is_grouped else self._rows(select, source)
        return self._distinct(select, derived) if "distinct" in parts else derived

    def _rows(self, select: exp.Select, source: Source) -> Derived:
        """A SELECT that makes one row of each row."""
        named = {each.this.name.casefold(): each for each in select.args.get("windows") or ()}
        bind = WindowBinder(source.scope, source.relation, self._context.aliases, named)
        outputs = self._outputs(select, bind, source.scope)
        relation, qualify = bind.relation, select.args.get("qualify")
        if qualify is not None:
            bind.aliases = {name.casefold(): expr for name, expr in outputs}
            predicate = condition("QUALIFY", qualify.this, bind)
            relation = ir.Where(bind.relation, predicate)
        return self._projected(relation, outputs)

    def _outputs(self, select: exp.Select, bind: RowBinder, scope: Scope) -> list[tuple[str, ir.Expr]]:
        """The columns of a SELECT, with * laid out."""
        names, outputs = Names(), list[tuple[str, ir.Expr]]()
        for node in select.expressions:
            starred = _starred(node, scope)
            if starred is not None:
                outputs += [(names.take(name), column) for name, column in starred]
                continue
            check_alias(node.args.get("alias") if type(node).__name__ == "Alias" else None)
            inner = node.unalias()
            plain = inner.name if type(inner).__name__ == "Column" else f"column{len(outputs)}"
            outputs.append((names.take(node.alias or plain), bind(inner)))
        return outputs

    def _projected(self, relation: ir.Relation, outputs: Sequence[tuple[str, ir.Expr]]) -> Derived:
        """A projection to these columns."""
        alias = self._context.aliases.take("subquery")
        held = []
        for name, expr in outputs:
            column = ir.Column(alias, name, expr.type)
            self._context.facts.hand_on(column, expr)
            held.append((name, column))
        return Derived(ir.Project(relation, alias, tuple(outputs)), tuple(held))

    def _groups(self, select: exp.Select, source: Source) -> Derived:
        """A SELECT that makes one row of all rows with equal keys, all of one unit."""
        keys = self._keys(select, source.scope)
        owner = ir.owner_of(source.relation)
        if owner is not None:
            self._check_keys(keys, owner.unit)
        elif not keys:
            raise Unsupported("a subquery without groups makes one row of a whole table", hint="GROUP BY a column")
        alias, names = self._context.aliases.take("subquery"), Names()
        grouped = {
            key: ir.Column(alias, names.take(key.name if isinstance(key, ir.Column) else "key"), key.type)
            for key in keys
        }
        for key, column in grouped.items():
            self._context.facts.hand_on(column, key)
        summaries = Summaries(source.scope, alias, names)
        bind = AnswerBinder(source.scope, grouped, summaries, {})
        outputs = self._outputs(select, bind, source.scope)
        having = select.args.get("having")
        predicate = None
        if having is not None:
            aliases = {name.casefold(): expr for name, expr in outputs}
            predicate = condition("HAVING", having.this, AnswerBinder(source.scope, grouped, summaries, aliases))
        relation: ir.Relation = ir.PerUnit(
            source.relation,
            alias,
            tuple((column.name, key) for key, column in grouped.items()),
            summaries.found,
            single=owner is not None and all(self._context.facts.entity(key) == UNIT for key in keys),
        )
        if predicate is not None:
            relation = ir.Where(relation, predicate)
        return self._projected(relation, outputs)

    def _keys(self, select: exp.Select, scope: Scope) -> tuple[ir.Expr, ...]:
        """The grouping expressions of a subquery."""
        group = select.args.get("group")
        if group is None:
            return ()
        if any(value for part, value in group.args.items() if part not in {"expressions", "all"}):
            raise Unsupported("ROLLUP, CUBE and GROUPING SETS can't be used in a subquery")
        nodes = group.expressions
        if group.args.get("all"):
            nodes = [each.unalias() for each in select.expressions if not holds_aggregate(each)]
        bind = RowBinder(scope, "GROUP BY")
        items = [each.unalias() for each in select.expressions]
        aliases = {each.alias.casefold(): each.unalias() for each in select.expressions if each.alias}
        found = []
        for node in nodes:
            is_place = type(node).__name__ == "Literal" and node.name.isdigit() and 0 < int(node.name) <= len(items)
            named = aliases.get(node.name.casefold()) if type(node).__name__ == "Column" and not node.table else None
            is_known = named is not None and not any(node.name.casefold() in item.columns for item in scope.items)
            found.append(bind(items[int(node.name) - 1] if is_place else named if is_known else node))
        return tuple(dict.fromkeys(found))

    def _check_keys(self, keys: Sequence[ir.Expr], unit: Unit) -> None:
        """Refuse groups that hold rows of several units.

        Raises:
            Unsupported: nothing among the keys says whose the rows are.
        """
        if unit.is_row:
            raise Unsupported(
                "each row is a unit of its own here, so groups in a subquery would mix units",
                hint="ask for the groups themselves: SELECT …, COUNT(*) … GROUP BY …",
            )
        if not any(self._context.facts.entity(key) for key in keys):
            raise Unsupported(
                "a subquery that aggregates over several units would have to be released first",
                hint=f"GROUP BY {unit.column} as well, or ask the inner question on its own",
            )

    def _distinct(self, select: exp.Select, derived: Derived) -> Derived:
        """SELECT DISTINCT: equal rows of one unit once."""
        if cast("exp.Expression", select.args["distinct"]).args.get("on"):
            raise Unsupported("DISTINCT ON isn't supported", hint="QUALIFY ROW_NUMBER() OVER (…) = 1")
        owner = ir.owner_of(derived.relation)
        facts = self._context.facts
        if owner is not None and not any(facts.entity(column) for _, column in derived.columns):
            raise Unsupported(
                "DISTINCT over the rows of several units would make one unit's row stand for another's",
                hint="add the unit's id to the columns, or count with COUNT(DISTINCT …)",
            )
        if not isinstance(derived.relation, ir.Project):
            raise TypeError("a SELECT ends in a projection")
        return Derived(ir.Distinct(derived.relation), derived.columns)


def _starred(node: exp.Expression, scope: Scope) -> list[tuple[str, ir.Column]] | None:
    """The columns that * or t.* stands for; None if the node is something else."""
    is_column = type(node).__name__ == "Column"
    star = node.this if is_column else node
    if type(star).__name__ != "Star":
        return None
    if any(star.args.values()):
        raise Unsupported("nothing can stand beside * here", hint="name the columns")
    starred = scope.called(cast("exp.Column", node)) if is_column else scope.items
    return [
        (column.name if column.name.casefold() == name else name, column)
        for item in starred
        for name, column in item.columns.items()
        if is_column or name not in item.merged
    ]


def united(union: exp.Union, context: SelectContext, read: Callable[[exp.Query], Derived]) -> Derived:
    """UNION ALL of several SELECTs.

    Args:
        union: the whole chain.
        context: of the question.
        read: reads one part.

    Raises:
        Unsupported: the parts have different units, or one row would count twice where rows are units.
        TypeMismatch: their columns don't go together.
    """
    if union.args.get("distinct"):
        raise Unsupported("UNION would drop rows that are equal to someone else's", hint="UNION ALL keeps them")
    if any(value and part not in {"this", "expression", "distinct", "with_"} for part, value in union.args.items()):
        raise Unsupported("ORDER BY and LIMIT can't be used on a UNION")
    parts = [read(query) for query in _members(union)]
    width = len(parts[0].columns)
    if any(len(part.columns) != width for part in parts):
        raise TypeMismatch("all parts of a UNION have the same number of columns")
    owners = [ir.owner_of(part.relation) for part in parts]
    if len({owner is None for owner in owners}) > 1:
        raise Unsupported("a UNION of private and public rows would make units of public rows")
    _check_rows(parts)
    aligned = [alike("UNION", tuple(part.columns[n][1] for part in parts)) for n in range(width)]
    alias, names = context.aliases.take("subquery"), Names()
    typed = tuple((names.take(parts[0].columns[n][0]), _covering(aligned[n])) for n in range(width))
    projected = tuple(
        ir.Project(
            part.relation,
            context.aliases.take("subquery"),
            tuple((name, aligned[n][place]) for n, (name, _) in enumerate(typed)),
        )
        for place, part in enumerate(parts)
    )
    facts = context.facts
    for n, (name, _) in enumerate(typed):
        entities = {facts.entity(part.columns[n][1]) for part in parts}
        entity = entities.pop() if len(entities) == 1 else None
        if entity is not None:
            facts.entities[(alias, name)] = entity
    held = tuple((name, ir.Column(alias, name, type_)) for name, type_ in typed)
    return Derived(ir.Union(projected, alias, typed), held)


def _check_rows(parts: Sequence[Derived]) -> None:
    """Where rows are units, no row may come twice; nor may units of different kinds be put together.

    Raises:
        Unsupported: they do.
    """
    scans = [(scan.table, owner) for part in parts for scan in ir.scans(part.relation) if (owner := scan.owner)]
    if len({owner.signature(table) for table, owner in scans}) > 1:
        raise Unsupported("the parts of this UNION have different units")
    owners, tables = [owner for _, owner in scans], [table.name for table, _ in scans]
    if owners and owners[0].unit.is_row and len(set(tables)) < len(tables):
        raise Unsupported("each row is a unit of its own here, and this UNION would take it twice")


def _members(union: exp.Union) -> list[exp.Query]:
    """The SELECTs of a chain of UNION ALL; a long chain is a deep tree, so it is walked without recursion."""
    found: list[exp.Query] = []
    node: exp.Expression = union
    while (
        type(node).__name__ == "Union"
        and not node.args.get("distinct")
        and (node is union or not node.args.get("with_"))
    ):
        found.append(cast("exp.Query", node.expression))
        node = node.this
    found.append(cast("exp.Query", node))
    return found[::-1]


def _covering(columns: Sequence[ir.Expr]) -> ir.Type:
    """A type that holds the values of all these columns."""
    types = [column.type for column in columns]
    values = None
    if all(each.values is not None for each in types):
        values = tuple(dict.fromkeys(value for each in types for value in each.values or ()))
    lo, hi = hull(*((each.lo, each.hi) for each in types))
    return ir.Type(
        types[0].kind,
        lo,
        hi,
        nullable=any(each.nullable for each in types),
        values=values,
        hidden=all(each.hidden or not each.nullable for each in types),
    )
