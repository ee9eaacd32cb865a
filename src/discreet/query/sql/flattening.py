"""Flattening: questions written in layers of SELECTs mean the same as plain ones, and have the same answer.

*Above* the SELECT that makes groups, others may work on what it releases: `SELECT sex, n / 2 FROM (SELECT sex,
COUNT(*) AS n FROM people GROUP BY sex) WHERE n > 100 ORDER BY n` is one question: its WHERE is a HAVING. Ibis writes
all its questions like that.

*Below* it, projections that change nothing are left out, and no column is read that the question doesn't use.
`SELECT COUNT(*) FROM (SELECT * FROM people WHERE age > 40)` becomes `SELECT COUNT(*) FROM people WHERE age > 40`; and a
key that is computed in a subquery has the public values that it has in GROUP BY.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import TypeMismatch, UnknownColumn, UnknownTable, Unsupported
from discreet.query import ir
from discreet.query.ir import call, listed
from discreet.query.sql.aggregate_syntax import is_margin
from discreet.query.sql.binder import RowBinder, makes_groups
from discreet.query.sql.did_you_mean import column_meant, meant
from discreet.query.sql.from_clause import condition
from discreet.query.sql.group_and_order import count_of, margin, order_of
from discreet.query.sql.names import Names, check_alias
from discreet.query.sql.places import offset_of
from discreet.query.sql.question_text import spelled
from discreet.query.sql.scopes import Facts, Scope

if TYPE_CHECKING:
    from sqlglot import exp


MOST_DEPTH = 100
"""How deep an expression may be after all SELECTs: the numbers released are worked through by recursion."""

_CLAUSES = {"expressions", "from_", "where", "order", "limit", "offset", "with_"}


# ── SELECTs above ─────────────────────────────────────────────────────────────────────────────────────────────────────


def layers(select: exp.Select) -> tuple[exp.Select, list[exp.Select]]:
    """The SELECT that makes the groups, and those above it that only work on what it releases, from the inside out.

    If there is none that makes groups, or something else stands between, the SELECT itself and nothing above it.
    """
    above: list[exp.Select] = []
    here = select
    while not makes_groups(here):
        below = _below(here)
        if below is None:
            return select, []
        above.append(here)
        here = below
    return here, above[::-1]


def _below(select: exp.Select) -> exp.Select | None:
    """The SELECT that another one, which does nothing but choose and compute, takes its rows from."""
    if any(value and part not in _CLAUSES for part, value in select.args.items()):
        return None
    found = select.args.get("from_")
    source: Any = None if found is None else found.this
    if any(value and part not in {"this", "alias"} for part, value in (source.args if source else {}).items()):
        return None
    if type(source).__name__ == "Subquery" and type(source.this).__name__ == "Select":
        return _with(source.this, _common(select))
    if type(source).__name__ == "Table":
        return _named(select, source.name)
    return None


def _common(select: exp.Select) -> list[exp.Expression]:
    """What a SELECT's WITH defines."""
    clause = select.args.get("with_")
    return [] if clause is None else list(clause.expressions)


def _named(select: exp.Select, name: str) -> exp.Select | None:
    """The SELECT that WITH gives this name."""
    clause: Any = select.args.get("with_")
    for at, common in enumerate(_common(select)):
        if common.alias.casefold() == name.casefold() and not clause.args.get("recursive"):
            names = common.args["alias"].args.get("columns")
            is_plain = type(common.this).__name__ == "Select" and not names
            return _with(common.this, _common(select)[:at]) if is_plain else None
    return None


def _with(select: exp.Select, common: list[exp.Expression]) -> exp.Select:
    """A SELECT that sees what is defined around it."""
    from sqlglot import exp

    if not common:
        return select
    seen = [*common, *_common(select)]
    inner = type(select)(**select.args)
    inner.set("with_", exp.With(expressions=seen))
    return inner


def over(select: exp.Select, question: ir.Question) -> ir.Question:
    """The question with what a SELECT above it does.

    Raises:
        QueryError: the SELECT doesn't understand what it reads, or reads what is cut off already.
    """
    cut = question.limit is not None or question.offset > 0
    if cut and any(select.args.get(clause) for clause in ("where", "order", "limit", "offset")):
        raise Unsupported(
            "what LIMIT has left can't be filtered, ordered or limited again",
            hint="put LIMIT on the outermost SELECT",
            at=offset_of(select),
        )
    source: Any = select.args["from_"].this
    bind = _Binder(_columns(source, question), source.alias_or_name)
    outputs = tuple(_outputs(select, bind))
    where = select.args.get("where")
    having = question.having
    if where is not None:
        predicate = condition("WHERE", where.this, bind)
        having = predicate if having is None else call("and", having, predicate)
    aliases = {each.alias.casefold() for each in select.expressions if type(each).__name__ == "Alias"}
    bind = bind.naming({output.name.casefold(): output.expr for output in outputs if output.name.casefold() in aliases})
    order = order_of(select.args.get("order"), bind, outputs)
    for expr in (*(output.expr for output in outputs), *(each.expr for each in order), *([having] if having else [])):
        _check_depth(expr)
    return replace(
        question,
        outputs=outputs,
        having=having,
        order=order or question.order,
        limit=count_of("limit", select.args.get("limit")) if not cut else question.limit,
        offset=count_of("offset", select.args.get("offset")) or 0 if not cut else question.offset,
    )


def _columns(source: exp.Expression, question: ir.Question) -> dict[str, ir.Output]:
    """The columns of what is read, by name in lower case."""
    alias = source.args.get("alias")
    names = [] if alias is None else [column.name for column in alias.args.get("columns") or ()]
    if len(names) > len(question.outputs):
        raise TypeMismatch(f"{len(names)} names are listed for {len(question.outputs)} columns")
    called = [*names, *(output.name for output in question.outputs[len(names) :])]
    pairs = zip(called, question.outputs, strict=True)
    return {name.casefold(): ir.Output(name=name, expr=output.expr) for name, output in pairs}


def _outputs(select: exp.Select, bind: _Binder) -> Iterator[ir.Output]:
    """The columns of a SELECT, with * laid out."""
    names = Names()
    for node in select.expressions:
        if type(node).__name__ == "Star" or (type(node).__name__ == "Column" and type(node.this).__name__ == "Star"):
            star = node if type(node).__name__ == "Star" else node.this
            if any(star.args.values()):
                raise Unsupported("nothing can stand beside * here", hint="name the columns", at=offset_of(node))
            bind.check_table(node)
            for output in bind.columns.values():
                yield ir.Output(name=names.take(output.name), expr=output.expr)
            continue
        inner = node.unalias()
        check_alias(node.args.get("alias") if inner is not node else None)
        name = node.alias if inner is not node else bind.name_of(inner)
        yield ir.Output(name=names.take(name), expr=bind(inner))


class _Binder(RowBinder):
    """Binds expressions over the columns that a question releases."""

    def __init__(
        self, columns: Mapping[str, ir.Output], called: str, aliases: Mapping[str, ir.Expr] | None = None
    ) -> None:
        """Bind over these.

        Args:
            columns: by name in lower case.
            called: the name before the dot.
            aliases: further names, in lower case, that come before the columns.
        """
        super().__init__(Scope(Facts(), ()), "a SELECT that works on released numbers")
        self.columns = columns
        self._called = called
        self._aliases = aliases or {}

    def naming(self, aliases: Mapping[str, ir.Expr]) -> _Binder:
        """The same, with further names."""
        return _Binder(self.columns, self._called, aliases)

    def name_of(self, node: exp.Expression) -> str:
        """What a column without an alias is called."""
        is_known = type(node).__name__ == "Column" and node.name.casefold() in self.columns
        return self.columns[node.name.casefold()].name if is_known else spelled(node)[:200]

    def check_table(self, node: exp.Expression) -> None:
        """Refuse another name before the dot.

        Raises:
            UnknownTable: it isn't the name of what is read.
        """
        table = node.args.get("table")
        if table is not None and table.name.casefold() != self._called.casefold():
            raise UnknownTable(
                f"no table here is called {table.name!r}",
                hint=meant(table.name, [self._called] if self._called else []),
                at=offset_of(node),
            )

    def _bound(self, node: exp.Expression) -> ir.Expr:
        """A margin, or any other expression."""
        return margin(node, self) if is_margin(node) else super()._bound(node)

    def _column(self, node: exp.Column) -> ir.Expr:
        """A column that is released."""
        self.check_table(node)
        name = node.name.casefold()
        if name in self._aliases and not node.args.get("table"):
            return self._aliases[name]
        if name not in self.columns:
            known = [output.name for output in self.columns.values()]
            raise UnknownColumn(f"the subquery has no column {node.name!r}", hint=column_meant(node.name, known))
        return self.columns[name].expr


def _check_depth(expr: ir.Expr) -> None:
    """Refuse an expression that is too deep to be worked through.

    Raises:
        Unsupported: too many SELECTs have each added to it.
    """
    level: dict[int, ir.Expr] = {id(expr): expr}
    for _ in range(MOST_DEPTH):
        below = [arg for each in level.values() if isinstance(each, ir.Call) for arg in each.args]
        below += [each.of for each in level.values() if isinstance(each, ir.Margin)]
        level = {id(arg): arg for arg in below}
        if not level:
            return
    raise Unsupported(f"an expression may be nested {MOST_DEPTH} deep", hint="fewer SELECTs above each other")


# ── Projections below ─────────────────────────────────────────────────────────────────────────────────────────────────


_Known: TypeAlias = Mapping[tuple[str, str], ir.Expr]
"""What a column of a projection is below all of them."""

MOST_CALLS = 200
"""Projections that compute more than this, wherever they are used, are left as they are."""

_Names: TypeAlias = set[tuple[str, str]]


class _NarrowedError(Exception):
    """A filter has narrowed what a projection computes, and the narrower type would be lost."""


def inlined(question: ir.Question) -> ir.Question:
    """The question without the projections above its rows.

    Only those between the question and the first join, union or other step are looked at: above it, each name has one
    meaning. A column keeps the type that it has above, because filters in between may have narrowed it.
    """
    chain, base = _chain(question.source, computing=True)
    try:
        return _without(question, chain, base)
    except _NarrowedError:
        return _without(question, *_chain(question.source, computing=False))


def _chain(relation: ir.Relation, *, computing: bool) -> tuple[list[ir.Where | ir.Project], ir.Relation]:
    """The filters and projections above a relation's first other step, from above; and that step."""
    chain = list[ir.Where | ir.Project]()
    while isinstance(relation, ir.Where) or (isinstance(relation, ir.Project) and (computing or _hands_on(relation))):
        chain.append(relation)
        relation = relation.source
    return chain, relation


def _without(question: ir.Question, chain: Sequence[ir.Where | ir.Project], base: ir.Relation) -> ir.Question:
    """The question on the base, with the filters of the chain, and without its projections."""
    if all(isinstance(each, ir.Where) for each in chain):
        return question
    known: dict[tuple[str, str], ir.Expr] = {}
    relation, replaced = base, _Replaced(known)
    for each in reversed(chain):
        if isinstance(each, ir.Where):
            relation = ir.Where(relation, replaced(each.predicate))
        else:
            known |= {(each.alias, name): replaced(expr) for name, expr in each.columns}
    return replace(
        question,
        source=relation,
        keys=tuple((name, listed(replaced(key))) for name, key in question.keys),
        aggregates=tuple(
            replace(
                one,
                argument=None if one.argument is None else replaced(one.argument),
                other=None if one.other is None else replaced(one.other),
            )
            for one in question.aggregates
        ),
    )


def _hands_on(projection: ir.Project) -> bool:
    """Whether a projection computes nothing."""
    return all(isinstance(expr, ir.Column) for _, expr in projection.columns)


class _Replaced:
    """Puts what columns are below in their places; shared parts stay shared."""

    def __init__(self, known: _Known) -> None:
        """Replace what is known; it may grow."""
        self._known = known
        self._done: dict[int, tuple[ir.Expr, ir.Expr]] = {}
        self._calls = 0

    def __call__(self, expr: ir.Expr) -> ir.Expr:
        """The expression with the columns of projections by what they are below.

        Raises:
            _NarrowedError: it can't be, or would become too large.
        """
        if isinstance(expr, ir.Column):
            return self._column(expr)
        if not isinstance(expr, ir.Call):
            return expr
        if id(expr) not in self._done:
            self._done[id(expr)] = expr, replace(expr, args=tuple(map(self, expr.args)))
        return self._done[id(expr)][1]

    def _column(self, column: ir.Column) -> ir.Expr:
        """What a column is below."""
        found = self._known.get((column.table, column.name), column)
        if isinstance(found, ir.Column):
            return replace(found, type=column.type)
        self._calls += _calls(found)
        if found.type != column.type or self._calls > MOST_CALLS:
            raise _NarrowedError
        return found


def _calls(expr: ir.Expr) -> int:
    """How many calls an expression compiles to, about; no more than are of interest."""
    waiting, number = [expr], 0
    while waiting and number <= MOST_CALLS:
        part = waiting.pop()
        if isinstance(part, ir.Call):
            number += part.function.copies
            waiting += part.args
    return number


def pruned(relation: ir.Relation, used: Iterable[ir.Expr]) -> ir.Relation:
    """The relation without the columns that nothing uses.

    Args:
        relation: what the question's rows are.
        used: the expressions over these rows.
    """
    needed: _Names = set()
    _need(needed, *used)
    # A relation that occurs twice may be needed for more on its second visit, so this goes on until nothing is new.
    before = -1
    while before < len(needed):
        before = len(needed)
        _collect(relation, needed)
    return _rebuilt(relation, needed)


def _need(needed: _Names, *exprs: ir.Expr | None) -> None:
    """Note the columns of expressions."""
    for expr in exprs:
        if expr is not None:
            needed.update((column.table, column.name) for column in ir.columns_in(expr))


def _collect(relation: ir.Relation, needed: _Names) -> None:
    """Note what a relation needs of those below it, for what is needed of it."""
    _need(needed, *_used(relation, needed))
    match relation:
        case ir.Union(alias=alias, columns=typed, parts=parts):
            for number, (name, _) in enumerate(typed):
                if (alias, name) in needed:
                    needed.update((part.alias, part.columns[number][0]) for part in parts)
        case ir.Distinct(source=ir.Project(alias=alias) | ir.Union(alias=alias)):
            needed.update((alias, name) for name, *_ in relation.source.columns)
        case _:
            pass
    for below in ir.sources(relation):
        _collect(below, needed)


def _used(relation: ir.Relation, needed: _Names) -> Iterator[ir.Expr | None]:
    """The expressions over what is below that a relation computes, for what is needed of it."""
    match relation:
        case ir.Where(predicate=predicate) | ir.Join(predicate=predicate):
            yield predicate
        case ir.Project(alias=alias, columns=named):
            yield from (expr for name, expr in named if (alias, name) in needed)
        case ir.PerUnit(alias=alias, keys=keys, columns=summarized):
            yield from (expr for _, expr in keys)
            yield from (each.argument for each in summarized if (alias, each.name) in needed)
        case ir.Window(alias=alias, partition=partition, columns=windowed):
            yield from partition
            for each in windowed:
                if (alias, each.name) in needed:
                    yield each.argument
                    yield from (term.expr for term in each.order)
        case _:
            pass


def _rebuilt(relation: ir.Relation, needed: _Names) -> ir.Relation:  # noqa: PLR0911 — one case for each kind of relation
    """The relation with what is needed of it."""
    match relation:
        case ir.Scan(table=table, alias=alias):
            return replace(relation, columns=tuple(each.name for each in table.columns if (alias, each.name) in needed))
        case ir.Join(left=left, right=right):
            return replace(relation, left=_rebuilt(left, needed), right=_rebuilt(right, needed))
        case ir.Union(parts=parts, columns=typed, alias=alias):
            kept = [number for number, (name, _) in enumerate(typed) if (alias, name) in needed]
            rebuilt = tuple(_rebuilt(part, needed) for part in parts)
            return replace(relation, parts=rebuilt, columns=tuple(typed[number] for number in kept))  # type: ignore[arg-type]  # projections, as they were
        case ir.Project(alias=alias, columns=named, source=source):
            kept_columns = tuple((name, expr) for name, expr in named if (alias, name) in needed)
            return replace(relation, source=_rebuilt(source, needed), columns=kept_columns)
        case ir.PerUnit(alias=alias, columns=summarized, source=source):
            used = tuple(each for each in summarized if (alias, each.name) in needed)
            return replace(relation, source=_rebuilt(source, needed), columns=used)
        case ir.Window(alias=alias, columns=windowed, source=source):
            wanted = tuple(each for each in windowed if (alias, each.name) in needed)
            below = _rebuilt(source, needed)
            return replace(relation, source=below, columns=wanted) if wanted else below
        case ir.Where(source=source) | ir.Distinct(source=source):
            return replace(relation, source=_rebuilt(source, needed))  # type: ignore[arg-type]  # of the kind it was
