"""SELECTs above the one that makes groups: they work on what it releases, and are one question with it.

`SELECT sex, n / 2 FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) WHERE n > 100 ORDER BY n` means the same as
a plain question, and has the same answer: its WHERE is a HAVING. Ibis writes all its questions like that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.errors import TypeMismatch, UnknownColumn, UnknownTable, Unsupported
from discreet.query import ir
from discreet.query.ir import call
from discreet.query.sql.aggregate_syntax import is_margin
from discreet.query.sql.binder import RowBinder, makes_groups
from discreet.query.sql.from_clause import condition
from discreet.query.sql.limit_clause import count_of
from discreet.query.sql.margins import margin
from discreet.query.sql.names import Names, check_alias, column_meant
from discreet.query.sql.ordering import order_of
from discreet.query.sql.places import offset_of
from discreet.query.sql.scopes import Facts, Scope
from discreet.query.sql.spelling import spelled
from discreet.suggestions import did_you_mean

if TYPE_CHECKING:
    from sqlglot import exp


MOST_DEPTH = 100
"""How deep an expression may be after all SELECTs: released numbers are computed by recursion."""

_CLAUSES = {"expressions", "from_", "where", "order", "limit", "offset", "with_"}


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
    """The subqueries that a SELECT's WITH defines."""
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
        """The name of a column that has no alias."""
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
                hint=did_you_mean(table.name, [self._called] if self._called else []),
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
    raise Unsupported(f"an expression may be nested at most {MOST_DEPTH} deep", hint="fewer SELECTs above each other")
