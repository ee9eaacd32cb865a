"""Collation: dialects in which 'male' = 'Male', and averages are cut off; what they would compute is refused.

By default MySQL and SQL Server compare texts without case, and MySQL without accents. What is asked here compares them
by code points, so a question in such a dialect is taken only where the two agree: where all texts that can meet are
known, and no two of them are one to the dialect.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.ir import listed
from discreet.query.sql.manners import manners_of
from discreet.tables import Kind

_EQUALITIES = {"eq", "ne", "in", "distinct"}
_ORDERS = {"lt", "le", "gt", "ge", "least", "greatest"}


def check_meaning(question: ir.Question) -> None:
    """Refuse what the question's dialect would compute differently.

    Raises:
        Unsupported: with the fix.
    """
    manners = manners_of(question.dialect)
    if manners.whole_averages:
        _check_averages(question)
    if not manners.folds:
        return
    shown = [output.expr for output in question.outputs] + [order.expr for order in question.order]
    arguments = [argument for one in question.aggregates for argument in (one.argument, one.other) if argument]
    having = [] if question.having is None else [question.having]
    groups, others = [expr for _, expr in question.keys], list[ir.Expr]()
    for relation in _relations(question.source):
        groups += _groups(relation)
        others += _expressions(relation)
    compared = [one.argument for one in question.aggregates if one.argument and one.statistic in _COMPARING]
    for expr in (*groups, *compared):
        _check([expr], ordered=False)
    for order in question.order:
        _check([order.expr], ordered=True)
    for expr in (*groups, *others, *arguments, *shown, *having):
        for call in _calls(expr):
            if call.function.name in _EQUALITIES | _ORDERS:
                _check(call.args, ordered=call.function.name in _ORDERS)


_COMPARING = {ir.Statistic.DISTINCT, ir.Statistic.MODE}


def _check(args: Sequence[ir.Expr], *, ordered: bool) -> None:
    """Refuse texts that meet and may be one to the dialect.

    Args:
        args: what is compared with each other.
        ordered: whether their order matters too.
    """
    if all(arg.type.kind is not Kind.TEXT for arg in args):
        return
    lists = [listed(arg).type.values if any(True for _ in ir.columns_in(arg)) else arg.type.values for arg in args]
    known = {str(value) for values in lists for value in values or () if value is not None}
    folded = {_folded(value) for value in known}
    in_order = [_folded(value) for value in sorted(known)]
    if None in lists or len(folded) < len(known) or (ordered and in_order != sorted(in_order)):
        raise Unsupported(
            "texts are compared without case in this dialect, and by code points here",
            hint='declare the keys of the column and write them as declared, or ask with dialect="duckdb"',
        )


def _folded(text: str) -> str:
    """A text without case, accents and blanks at its end."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return plain.casefold().rstrip(" ")


def _check_averages(question: ir.Question) -> None:
    """Refuse averages of whole numbers where the dialect cuts off their fractions."""
    found: Iterable[ir.Expr | None] = (
        *(one.argument for one in question.aggregates if one.statistic is ir.Statistic.AVG),
        *(
            column.argument
            for relation in _relations(question.source)
            if isinstance(relation, (ir.PerUnit, ir.Window))
            for column in relation.columns
            if (column.summary if isinstance(column, ir.Summarized) else column.function) is ir.Summary.AVG
        ),
    )
    if any(argument is not None and argument.type.kind is Kind.INTEGER for argument in found):
        raise Unsupported(
            "the average of whole numbers is cut off to a whole one in this dialect", hint="AVG(CAST(x AS FLOAT))"
        )


def _relations(relation: ir.Relation) -> Iterator[ir.Relation]:
    """The relation and all below it."""
    yield relation
    for below in ir.sources(relation):
        yield from _relations(below)


def _groups(relation: ir.Relation) -> list[ir.Expr]:
    """What a relation brings equal values of together."""
    match relation:
        case ir.PerUnit(keys=keys, columns=columns):
            distinct = [each.argument for each in columns if each.summary is ir.Summary.COUNT_DISTINCT]
            return [expr for _, expr in keys] + [each for each in distinct if each is not None]
        case ir.Window(partition=partition, columns=columns):
            return [*partition, *(sorting.expr for each in columns for sorting in each.order)]
        case ir.Distinct(source=ir.Project(columns=columns)):
            return [expr for _, expr in columns]
        case _:
            return []


def _expressions(relation: ir.Relation) -> list[ir.Expr]:
    """What a relation computes of its rows."""
    match relation:
        case ir.Where(predicate=predicate):
            return [predicate]
        case ir.Join(predicate=predicate):
            return [] if predicate is None else [predicate]
        case ir.Project(columns=columns):
            return [expr for _, expr in columns]
        case ir.PerUnit(columns=columns) | ir.Window(columns=columns):
            return [each.argument for each in columns if each.argument is not None]
        case _:
            return []


def _calls(expr: ir.Expr) -> Iterator[ir.Call]:
    """All calls in an expression, each once."""
    waiting, seen = [expr], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, ir.Margin):
            waiting.append(part.of)
        elif isinstance(part, ir.Call):
            waiting += part.args
            yield part
