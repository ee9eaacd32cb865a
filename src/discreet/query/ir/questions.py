"""Questions: what an analyst asked, bound and typed; their canonical text; and one question for each grouping set.

*Canonical text* is the same for questions that differ in spelling only, and different for all others. Case, white
space, comments, aliases of tables, redundant parentheses and the grouping of AND, OR and || don't show; names and order
of the answer's columns do. Names and texts are quoted, so nothing inside of them can pass for something else. Answers
are stored under a hash of it, and certificates show it.

*Grouping sets* (ROLLUP, CUBE and GROUPING SETS) leave some of the keys out and answer them as NULL. Each set is
measured on its own, with its share of the offer, so its sums need not add up to those of another set.

*Decimal places* are how many digits the values of an expression have behind the point, by SQL's rules for decimals.
Values are computed as real numbers all the same: they decide how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from discreet.query.ir.aggregates import Aggregate
from discreet.query.ir.expressions import (
    Call,
    Column,
    Expr,
    Function,
    Literal,
    Margin,
    Released,
    Type,
    is_null,
    margins,
    quoted,
)
from discreet.query.ir.relations import (
    PerUnit,
    Project,
    Ranking,
    Relation,
    Scan,
    Summarized,
    Summary,
    Union,
    Where,
    Window,
    Windowed,
    sources,
)
from discreet.tables import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One column of the answer: an expression over `Released` keys and aggregates."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One ORDER BY term over released values; with equal terms, groups stay in the order of their keys."""

    expr: Expr
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the analyst asked, bound to columns, typed and checked; noise hasn't been thought of yet.

    Args:
        text: as it was written.
        dialect: in which it was written.
        source: which rows.
        keys: grouping expressions, by the name under which outputs refer to them.
        sets: the grouping sets of ROLLUP, CUBE and GROUPING SETS, each as names of keys; none, if all keys are one.
        rolled: keys of other grouping sets, which are NULL in this one.
        aggregates: in order of first appearance, equal ones merged.
        outputs: the answer's columns; names are unique.
        having: over released values; None keeps every group.
        order: as written; empty means by key.
        limit: how many groups to show at the most.
        offset: how many to skip first.
    """

    text: str
    dialect: str
    source: Relation
    keys: tuple[tuple[str, Expr], ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expr | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    sets: tuple[tuple[str, ...], ...] = ()
    rolled: tuple[str, ...] = ()


def computed_in(question: Question) -> Iterator[Expr]:
    """All expressions over released values: what is shown, ordered by, and compared by HAVING."""
    yield from (output.expr for output in question.outputs)
    yield from (order.expr for order in question.order)
    if question.having is not None:
        yield question.having


def margins_of(question: Question) -> tuple[Margin, ...]:
    """The margins that an answer needs, each once."""
    return tuple(dict.fromkeys(margin for expr in computed_in(question) for margin in margins(expr)))


# ── Canonical text and grouping sets ──────────────────────────────────────────────────────────────────────────────────


MOST_GROUPING_SETS = 64
"""Each set takes its share of the offer, so many would leave nothing to any of them."""

MARK = "\x00grouping"
"""Ends the names under which GROUPING's values are kept: no question can spell it."""


def canonical(question: Question) -> str:
    """The question in canonical form, on one line."""
    return " ".join(_clauses(question))


def _clauses(question: Question) -> Iterator[str]:
    """The clauses that the question has, in SQL's order."""
    names = {name: f"key({expr})" for name, expr in question.keys}
    names |= {name: f"rolled({quoted(name)})" for name in question.rolled}
    names |= {aggregate.name: str(aggregate) for aggregate in question.aggregates}
    yield "select " + ", ".join(f"{quoted(out.name)} = {_text(out.expr, names)}" for out in question.outputs)
    relation, predicates = question.source, []
    while isinstance(relation, Where):
        predicates.append(str(relation.predicate))
        relation = relation.source
    yield f"from {relation}"
    if predicates:
        yield "where " + ", ".join(reversed(predicates))
    if question.keys:
        yield "by " + ", ".join(str(expr) for _, expr in question.keys)
    if question.sets:
        yield "sets " + ", ".join("(" + ", ".join(names[name] for name in each) + ")" for each in question.sets)
    if question.rolled:
        yield "rolled " + ", ".join(map(quoted, question.rolled))
    if question.having is not None:
        yield f"having {_text(question.having, names)}"
    if question.order:
        yield "order " + ", ".join(_order(order, names) for order in question.order)
    if question.limit is not None:
        yield f"limit {question.limit}"
    if question.offset:
        yield f"offset {question.offset}"


def _order(order: Order, names: dict[str, str]) -> str:
    """One ORDER BY term, with both of its choices."""
    direction = "down" if order.descending else "up"
    return f"{_text(order.expr, names)} {direction} nulls {'first' if order.nulls_first else 'last'}"


def _text(expr: Expr, names: dict[str, str]) -> str:
    """An expression over released values, each by what it is instead of its name."""
    match expr:
        case Released(name=name):
            return names[name] if name in names else f"grouping({names[name.removesuffix(MARK)]})"
        case Call(function=function, args=args):
            return f"{function.name}({', '.join(_text(arg, names) for arg in args)})"
        case Margin(side=side, of=of, confidence=confidence):
            return f"{side}({_text(of, names)}, {confidence})"
        case _:
            return str(expr)


def grouping_sets_of(question: Question) -> tuple[Question, ...]:
    """One question for each grouping set, in order; the question itself, if it has none."""
    if not question.sets:
        return (question,)
    names = [name for name, _ in question.keys]
    return tuple(
        replace(
            question,
            keys=tuple((name, key) for name, key in question.keys if name in kept),
            rolled=tuple(name for name in names if name not in kept),
            sets=(),
        )
        for kept in question.sets
    )


def grouping(name: str) -> Released:
    """GROUPING(key): 1 where the grouping set leaves the key out, else 0."""
    return Released(name + MARK, Type(Kind.INTEGER, nullable=False, values=(0, 1)))


# ── Decimal places ────────────────────────────────────────────────────────────────────────────────────────────────────


Places: TypeAlias = Mapping[tuple[str, str], int | None]
"""The digits of columns behind the point, by alias and name; None where nothing tells."""

_MOST = 18
"""Of constants."""

_KEEPS = {"real", "add", "subtract", "negate", "abs", "coalesce", "greatest", "least", "if"}

_BETWEEN = {Summary.AVG, Summary.MEDIAN}
"""Summaries with values between those of the rows."""

_NOTHING: Mapping[str, int | None] = MappingProxyType({})


def places_of(expr: Expr, columns: Places, released: Mapping[str, int | None] = _NOTHING) -> int | None:
    """How many digits an expression's values have behind the point; None if nothing tells.

    Args:
        expr: of a row, or of released values.
        columns: the digits of columns.
        released: the digits of released values, by name.

    Examples:
        >>> from discreet.query.ir.expressions import Type, numeral
        >>> from discreet.query.ir.functions import call
        >>> price = Column("sales", "price", Type(Kind.REAL, Fraction(0), Fraction(10)))
        >>> places_of(call("multiply", price, numeral("0.5")), {("sales", "price"): 2})
        3
    """
    match expr:
        case Released(name=name):
            return released.get(name)
        case Column(table=table, name=name) if (table, name) in columns:
            return columns[table, name]
        case Literal(value=int() | Fraction() as value):
            return next((places for places in range(_MOST + 1) if (value * 10**places).denominator == 1), None)
        case Call(function=Function(name=name), args=args) if name in _KEEPS:
            return _most((*args[1::2], args[-1]) if name == "if" else args, columns, released)
        case Call(function=Function(name="multiply"), args=args):
            found = [places_of(arg, columns, released) for arg in args]
            return None if None in found else sum(places for places in found if places is not None)
        case _:
            return 0 if expr.type.kind is Kind.INTEGER else None


def places_in(relation: Relation) -> Places:
    """The digits of all columns in a relation: of decimals as they are declared, and of what is made of them."""
    found: dict[tuple[str, str], int | None] = {}
    seen: set[int] = set()

    def add(part: Relation) -> None:
        if id(part) in seen:
            return
        seen.add(id(part))
        for below in sources(part):
            add(below)
        match part:
            case Scan(table=table, alias=alias):
                known = {each.name: 0 if each.kind is Kind.INTEGER else each.places for each in table.columns}
            case Project(alias=alias, columns=columns):
                known = {name: places_of(expr, found) for name, expr in columns}
            case Union(alias=alias, columns=typed, parts=parts):
                rows = zip(*(part.columns for part in parts), strict=True)
                same = [_most((expr for _, expr in each), found, _NOTHING) for each in rows]
                known = {name: places for (name, _), places in zip(typed, same, strict=True)}
            case PerUnit(alias=alias, keys=keys, columns=summarized):
                known = {name: places_of(expr, found) for name, expr in keys}
                known |= {each.name: _of(each, each.summary, found) for each in summarized}
            case Window(alias=alias, columns=windowed):
                known = {each.name: _of(each, each.function, found) for each in windowed}
            case _:
                return
        found.update({(alias, name): places for name, places in known.items()})

    add(relation)
    return found


def _of(column: Summarized | Windowed, function: Summary | Ranking, columns: Places) -> int | None:
    """The digits of what is computed of a unit's rows: those of its argument, or of a whole number."""
    if column.type.kind is Kind.INTEGER:
        return 0
    return None if column.argument is None or function in _BETWEEN else places_of(column.argument, columns)


def _most(args: Iterable[Expr], columns: Places, released: Mapping[str, int | None]) -> int | None:
    """The most digits that one of some values has, NULL apart; None if nothing tells of one of them."""
    found = [places_of(arg, columns, released) for arg in args if not is_null(arg)]
    return None if None in found else max((places for places in found if places is not None), default=None)
