"""FROM, JOIN and WHERE: the rows of a SELECT, as a relation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from discreet.errors import UnknownTable, Unsupported
from discreet.query import ir
from discreet.query.ir import call, column_type, conjunction, conjuncts, narrowed
from discreet.query.sql.binder import RowBinder
from discreet.query.sql.joins import Rows, SemiJoins, gathered, looks_inside, one_sided, parts_of_and
from discreet.query.sql.names import check_alias, in_sql, renamed
from discreet.query.sql.places import offset_of, placed
from discreet.query.sql.refusals import refused_table_part
from discreet.query.sql.schemas import declared_as, schema_of
from discreet.query.sql.scopes import Item, Scope, SelectContext, Source, note_columns
from discreet.query.sql.truths import as_condition
from discreet.query.sql.with_clause import Common, CommonTable, Derived
from discreet.suggestions import did_you_mean
from discreet.tables import Table, owner_of

if TYPE_CHECKING:
    from sqlglot import exp


def source_of(context: SelectContext, select: exp.Select, common: Common, outer: Scope | None = None) -> Source:
    """The rows after FROM, JOIN and WHERE.

    Raises:
        QueryError: with the reason, and in most cases the place.
    """
    return _From(context, select, common, outer).source()


class _From:
    """One FROM clause being read."""

    def __init__(self, context: SelectContext, select: exp.Select, common: Common, outer: Scope | None) -> None:
        self._context = context
        self._select = select
        self._common = common
        self._outer = outer
        # A comma begins a new group; JOIN goes on with the last one, since it binds closer.
        self._groups: list[list[Rows]] = []
        self._conditions: list[ir.Expr] = []

    def source(self) -> Source:
        """The rows, after all clauses about rows."""
        first = self._select.args.get("from_")
        if first is None:
            raise Unsupported("a question needs a table to ask", hint="SELECT … FROM a table")
        self._groups.append([self._rows(first.this)])
        for join in self._select.args.get("joins") or ():
            with placed(join):
                self._join(join)
        plain, nested = self._split_where()
        binder = RowBinder(self._scope(self._parts), "WHERE")
        self._conditions += [each for node in plain for each in conjuncts(condition("WHERE", node, binder))]
        own = [each for each in self._conditions if self._is_own(each)]
        joined, left = gathered(self._parts, own, self._context.facts)
        scope = self._scope([joined])
        if own:
            scope.narrow(narrowed(own))
        relation = _filtered(joined.relation, left) if left else joined.relation
        nest = SemiJoins(self._context, self._common, scope, source_of)
        for node in nested:
            with placed(node):
                relation = nest(node, relation)
        return Source(relation, scope, tuple(each for each in self._conditions if each not in own))

    @property
    def _parts(self) -> list[Rows]:
        """Everything to be joined."""
        return [rows for group in self._groups for rows in group]

    def _scope(self, parts: Sequence[Rows]) -> Scope:
        """The names of these."""
        items = [item for rows in parts for item in rows.items]
        called = [item.called.casefold() for item in items]
        twice = next((item.called for n, item in enumerate(items) if item.called.casefold() in called[:n]), None)
        if twice is not None:
            raise UnknownTable(f"two tables here are called {twice!r}", hint="give one of them an alias")
        return Scope(self._context.facts, items, self._outer)

    def _is_own(self, each: ir.Expr) -> bool:
        """Whether a condition needs nothing of the SELECT around this one."""
        names = set[tuple[str, str]]().union(*(rows.names() for rows in self._parts))
        return all((column.table, column.name) in names for column in ir.columns_in(each))

    def _rows(self, node: exp.Expression) -> Rows:
        with placed(node):
            match type(node).__name__:
                case "Table":
                    return self._table(cast("exp.Table", node))
                case "Subquery" if any(value and part not in {"this", "alias"} for part, value in node.args.items()):
                    raise Unsupported("FROM takes a subquery as it is, and an alias", hint="leave out what follows it")
                case "Subquery" if type(node.this).__name__ in {"Select", "Union"}:
                    derived = self._context.derive(cast("exp.Query", node.this), self._common)
                    return self._item(node, node.alias or "a subquery", derived)
                case _:
                    raise Unsupported("FROM takes tables, subqueries and what WITH names")

    def _table(self, node: exp.Table) -> Rows:
        """A table, or what WITH names."""
        known = [*self._common, *(table.name for table in self._context.tables)]
        if type(node.this).__name__ == "Dot":
            raise UnknownTable("a table has at most three names, with points between", hint=did_you_mean("", known))
        if type(node.this).__name__ != "Identifier":
            raise Unsupported("FROM takes a table, not a function", hint=did_you_mean("", known))
        for part, value in node.args.items():
            if value and part not in {"this", "alias", "db", "catalog"}:
                raise refused_table_part(part)
        name, schema = node.name.casefold(), schema_of(node)
        if name in self._common and not schema:
            return self._item(node, node.alias or node.name, self._used(self._common[name]))
        table = declared_as(node, self._context.tables, self._context.schema)
        if table is None:
            raise UnknownTable(
                f"no table here is called {'.'.join((*schema, node.name))!r}",
                hint=did_you_mean(node.name, known)
                if name not in {each.name.casefold() for each in self._context.tables}
                else f"write {node.name}, or declare the table by that name",
            )
        return self._scan(node, table)

    def _scan(self, node: exp.Table, table: Table) -> Rows:
        """A table's own rows."""
        alias = node.args.get("alias")
        check_alias(None if alias is None else alias.this)
        if alias is not None and alias.args.get("columns"):
            raise Unsupported("columns of a table keep their names", hint="leave the list of names out")
        name = self._context.aliases.take(table.name)
        scan = ir.Scan(table, tuple(each.name for each in table.columns), owner_of(table, self._context.tables), name)
        self._context.count(scan)
        note_columns(self._context, scan)
        held = {each.name.casefold(): ir.Column(name, each.name, column_type(each)) for each in table.columns}
        qualified = schema_of(node)
        plain = not node.alias or node.alias.casefold() == node.name.casefold()
        called = node.alias or (node.name if qualified else table.name)
        schema = (qualified or self._context.schema) if plain else None
        return Rows(scan, (Item(called, held, at=offset_of(node), schema=schema),))

    def _used(self, shared: CommonTable) -> Derived:
        """A subquery that WITH names; each use but the first gets an alias of its own."""
        if shared.derived is None:
            derived = self._context.derive(shared.query, shared.common)
            shared.derived = Derived(derived.relation, renamed(derived.columns, shared.names))
            return shared.derived
        self._context.count(shared.derived.relation)
        alias = self._context.aliases.take("subquery")
        inner = shared.derived.columns
        relation = ir.Project(shared.derived.relation, alias, tuple((name, column) for name, column in inner))
        outer = tuple((name, ir.Column(alias, name, column.type)) for name, column in inner)
        for (_, old), (_, new) in zip(inner, outer, strict=True):
            self._context.facts.hand_on(new, old)
        return Derived(relation, outer)

    def _item(self, node: exp.Expression, called: str, derived: Derived) -> Rows:
        """A subquery's rows under its name."""
        alias = node.args.get("alias")
        check_alias(None if alias is None else alias.this)
        names = () if alias is None else tuple(each.name for each in alias.args.get("columns") or ())
        held = {name.casefold(): column for name, column in renamed(derived.columns, names)}
        return Rows(derived.relation, (Item(called, held, at=offset_of(node)),))

    def _join(self, join: exp.Join) -> None:
        """One JOIN, or what follows a comma."""
        side, kind = str(join.side or "").upper(), str(join.kind or "").upper()
        method = str(join.args.get("method") or "").upper()
        if (
            method not in {"", "NATURAL"}
            or side == "FULL"
            or kind not in {"", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"}
        ):
            what = " ".join(word for word in (method, side, kind) if word)
            raise Unsupported(f"{what} JOIN isn't supported", hint="INNER, LEFT, RIGHT, SEMI and ANTI joins are")
        right = self._rows(join.this)
        is_comma = not (side or kind or method or join.args.get("on") or join.args.get("using"))
        if is_comma:
            self._groups.append([right])
            return
        group = self._groups[-1]
        is_sided = kind in {"SEMI", "ANTI"} or side in {"LEFT", "RIGHT"}
        seen = group if is_sided else self._parts  # what stands before a comma is joined later
        conditions = self._meeting(join, group, right, seen, natural=method == "NATURAL")
        if is_sided:
            self._groups[-1] = [self._sided(group, right, side, kind, conditions)]
        else:
            group.append(right)
            self._conditions += conditions

    def _sided(self, group: Sequence[Rows], right: Rows, side: str, kind: str, conditions: Sequence[ir.Expr]) -> Rows:
        """A join whose sides differ: the tables before it are joined first."""
        own = [each for each in self._conditions if self._is_own(each)]
        left, unused = gathered(group, own, self._context.facts)
        used = [each for each in own if each not in unused]
        self._conditions = [each for each in self._conditions if each not in used]
        if kind in {"SEMI", "ANTI"}:
            return one_sided(
                left, right, ir.JoinKind(kind.lower()), conditions, self._context.facts, word=f"{kind} JOIN"
            )
        if side == "RIGHT":
            left, right = right, left
        return one_sided(left, right, ir.JoinKind.LEFT, conditions, self._context.facts, word=f"{side} JOIN")

    def _meeting(
        self, join: exp.Join, group: Sequence[Rows], right: Rows, seen: Sequence[Rows], *, natural: bool
    ) -> list[ir.Expr]:
        """The conditions of ON, which sees these relations and the right side; of USING or NATURAL."""
        if join.args.get("on"):
            binder = RowBinder(self._scope([*seen, right]), "ON")
            return list(conjuncts(condition("ON", join.args["on"], binder)))
        item = right.items[0]
        held = [each for rows in group for each in rows.items]
        names = [each.name.casefold() for each in join.args.get("using") or ()]
        if natural:
            names = [name for name in item.columns if any(name in each.columns for each in held)]
        found = []
        for name in names:
            pairs = [each.columns[name] for each in held if name in each.columns and name not in each.merged]
            if not pairs or name not in item.columns:
                raise UnknownTable(
                    f"USING needs column {name!r} on both sides", hint=did_you_mean(name, item.columns, in_sql)
                )
            found.append(call("eq", pairs[0], item.columns[name]))
            item.merged.add(name)
        if not found and str(join.kind or "").upper() != "CROSS":
            raise Unsupported(
                f"nothing says which rows of {item.called!r} belong to the others", hint="JOIN … ON a.x = b.y"
            )
        return found

    def _split_where(self) -> tuple[list[exp.Expression], list[exp.Expression]]:
        """The conditions on single rows, and those that look into subqueries."""
        where = self._select.args.get("where")
        nodes = [] if where is None else list(parts_of_and(where.this))
        nested = [node for node in nodes if looks_inside(node)]
        return [node for node in nodes if node not in nested], nested


def condition(clause: str, node: exp.Expression, bind: RowBinder) -> ir.Expr:
    """A condition, or a refusal of anything else.

    Raises:
        TypeMismatch: it isn't one; with the place.
    """
    predicate = bind(node)
    with placed(node):
        return as_condition(clause, node, predicate)


def _filtered(relation: ir.Relation, conditions: Sequence[ir.Expr]) -> ir.Relation:
    """The rows for which all conditions hold."""
    predicate = conjunction(conditions)
    return relation if predicate is None else ir.Where(relation, predicate)
