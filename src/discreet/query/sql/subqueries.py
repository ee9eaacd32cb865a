"""Subqueries: rows made of rows, each still belonging to one unit.

A subquery may filter, compute, group by the unit, look at a unit's rows through windows, and put relations one after
the other. What it may not do is mix units: an aggregate over people is a release, and costs; so it is a question of
its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from discreet.errors import Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.sql.binder import AnswerBinder, RowBinder
from discreet.query.sql.names import Names, check_alias
from discreet.query.sql.reader import Common, Derived, Reader, Shared, Source, placed
from discreet.query.sql.scopes import UNIT, Scope
from discreet.query.sql.sources import condition, source_of
from discreet.query.sql.statistics import holds_aggregate
from discreet.query.sql.summaries import Summaries
from discreet.query.sql.unions import united
from discreet.query.sql.windows import WindowBinder

if TYPE_CHECKING:
    from sqlglot import exp

_CLAUSES = {
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


def common_of(query: exp.Query, common: Common) -> Common:
    """What a query's WITH defines, besides what is defined around it; each may use those before it."""
    clause = query.args.get("with_")
    if clause is None:
        return common
    if clause.args.get("recursive"):
        raise Unsupported("WITH RECURSIVE isn't offered: how often it repeats would depend on the rows")
    known = dict(common)
    for each in clause.expressions:
        alias = each.args["alias"]
        names = tuple(column.name for column in alias.args.get("columns") or ())
        known[alias.this.name.casefold()] = Shared(each.this, dict(known), names)
    return known


class Subqueries:
    """Reads the subqueries of one question."""

    def __init__(self, reader: Reader) -> None:
        """Read for this question."""
        self._reader = reader

    def __call__(self, query: exp.Query, common: Common) -> Derived:
        """The subquery's rows and columns.

        Raises:
            QueryError: it mixes units, or isn't understood.
        """
        with placed(self._reader.text, cast("exp.Expression", query)):
            common = common_of(query, common)
            if type(query).__name__ == "Subquery":
                return self(cast("exp.Query", query.this), common)
            if type(query).__name__ == "Union":
                return united(cast("exp.Union", query), self._reader, lambda part: self(part, common))
            if type(query).__name__ != "Select":
                raise Unsupported("INTERSECT and EXCEPT aren't offered", hint="IN (SELECT …) or NOT EXISTS")
            return self._select(cast("exp.Select", query), common)

    def _select(self, select: exp.Select, common: Common) -> Derived:
        """One SELECT."""
        parts = {part.rstrip("_") for part, value in select.args.items() if value}
        for part in sorted(parts - _CLAUSES):
            raise Unsupported(
                f"{part.upper()} can't be used in a subquery",
                hint="which rows it leaves would depend on other people's" if part in {"limit", "offset"} else "",
            )
        source = source_of(self._reader, select, common)
        is_grouped = "group" in parts or "having" in parts or any(map(holds_aggregate, select.expressions))
        derived = self._groups(select, source) if is_grouped else self._rows(select, source)
        return self._distinct(select, derived) if "distinct" in parts else derived

    # ── Rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _rows(self, select: exp.Select, source: Source) -> Derived:
        """A SELECT that makes one row of each row."""
        named = {each.this.name.casefold(): each for each in select.args.get("windows") or ()}
        bind = WindowBinder(source.scope, source.relation, self._reader.aliases, named)
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
            check_alias(self._reader.text, node.args.get("alias") if type(node).__name__ == "Alias" else None)
            inner = node.unalias()
            plain = inner.name if type(inner).__name__ == "Column" else f"column{len(outputs)}"
            outputs.append((names.take(node.alias or plain), bind(inner)))
        return outputs

    def _projected(self, relation: ir.Relation, outputs: Sequence[tuple[str, ir.Expr]]) -> Derived:
        """A projection to these columns."""
        alias = self._reader.aliases.take("subquery")
        held = []
        for name, expr in outputs:
            column = ir.Column(alias, name, expr.type)
            self._reader.facts.hand_on(column, expr)
            held.append((name, column))
        return Derived(ir.Project(relation, alias, tuple(outputs)), tuple(held))

    # ── Groups ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _groups(self, select: exp.Select, source: Source) -> Derived:
        """A SELECT that makes one row of all rows with equal keys, all of one unit."""
        keys = self._keys(select, source.scope)
        owner = ir.owner_of(source.relation)
        if owner is not None:
            self._check_keys(keys, owner.unit)
        elif not keys:
            raise Unsupported("a subquery without groups makes one row of a whole table", hint="GROUP BY a column")
        alias, names = self._reader.aliases.take("subquery"), Names()
        grouped = {
            key: ir.Column(alias, names.take(key.name if isinstance(key, ir.Column) else "key"), key.type)
            for key in keys
        }
        for key, column in grouped.items():
            self._reader.facts.hand_on(column, key)
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
            single=owner is not None and all(self._reader.facts.entity(key) == UNIT for key in keys),
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
        if not any(self._reader.facts.entity(key) for key in keys):
            raise Unsupported(
                "a subquery that aggregates over several units would have to be released first",
                hint=f"GROUP BY {unit.column} as well, or ask the inner question by itself",
            )

    def _distinct(self, select: exp.Select, derived: Derived) -> Derived:
        """SELECT DISTINCT: equal rows of one unit once."""
        if cast("exp.Expression", select.args["distinct"]).args.get("on"):
            raise Unsupported("DISTINCT ON isn't offered", hint="QUALIFY ROW_NUMBER() OVER (…) = 1")
        owner = ir.owner_of(derived.relation)
        facts = self._reader.facts
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
        raise Unsupported("* takes nothing beside it here", hint="name the columns")
    table = cast("exp.Column", node).table.casefold() if is_column else ""
    return [
        (column.name if column.name.casefold() == name else name, column)
        for item in scope.items
        if not table or item.called.casefold() == table
        for name, column in item.columns.items()
        if table or name not in item.merged
    ]
