"""Random relations over a shop, and questions about them: every node, every summary, every window function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st

from discreet.privacy import Limits
from discreet.query.ir import (
    Call,
    Column,
    Distinct,
    DistinctValues,
    Exact,
    Expr,
    Histogram,
    Join,
    JoinKind,
    Key,
    Literal,
    Measure,
    PerUnit,
    Project,
    Ranking,
    Relation,
    Scan,
    Sorting,
    Summarized,
    Summary,
    Type,
    Union,
    Units,
    Where,
    Window,
    Windowed,
)
from discreet.tables import Kind
from support.questions import AT_LEAST, BOTH, BROKEN, EQUAL, IS_NULL, LESS, PLUS, TIMES, call, count, literal, total
from support.shop import DAYS, Shop

CONSTANTS: dict[Kind, list[Any]] = {
    Kind.INTEGER: [0, 1, 2, 7],
    Kind.REAL: [0.0, 0.1, 7.25],
    Kind.TEXT: ["", "a", "b"],
    Kind.BOOLEAN: [True, False],
    Kind.DATE: DAYS,
}
_ADDED = [Summary.SUM, Summary.AVG, Summary.MEDIAN]
_COUNTED = [Summary.COUNT, Summary.COUNT_DISTINCT, Summary.MIN, Summary.MAX]
SMALL = Type(Kind.REAL, Fraction(-4), Fraction(9))


@dataclass(frozen=True)
class Made:
    """A relation with its columns."""

    relation: Relation
    columns: tuple[Column, ...]
    private: bool


@dataclass
class Maker:
    """Draws relations over one shop; those it made before may be used again, as CTEs are.

    Args:
        draw: Hypothesis's.
        shop: whose tables.
        joins: how many joins may still be made.
        alone: whether each private row is a unit of its own, which no other may meet.
    """

    draw: st.DrawFn
    shop: Shop
    joins: int = 2
    alone: bool = False
    aliases: int = 0
    made: list[Made] = field(default_factory=list)

    def alias(self) -> str:
        """One that is new."""
        self.aliases += 1
        return f"a{self.aliases}"

    def one_of(self, options: Sequence[Any]) -> Any:
        """One of several."""
        return self.draw(st.sampled_from(list(options)))

    def relation(self, depth: int, *, private: bool) -> Made:
        """A relation of at most this depth."""
        if depth == 0:
            return self.scan(private=private)
        shared = [each for each in self.made if each.private == private]
        if self.alone and private:
            step = self.one_of([self.where, self.project, self.beside])
            return step(depth, private=True)  # type: ignore[no-any-return]  # a relation
        steps = [self.scan] * (depth < 2) + [self.where, self.project, self.per_unit, self.distinct, self.union]
        steps += [self.join] * 3 * (self.joins > 0) + [self.window] * 2 + [self.again] * bool(shared)
        step = self.one_of(steps)
        if step == self.scan:
            return self.scan(private=private)
        found: Made = self.again(shared) if step == self.again else step(depth, private=private)
        self.made.append(found)
        return found

    def scan(self, *, private: bool) -> Made:
        """A table."""
        table = self.shop.tables[self.one_of(self.shop.private if private else ["parts"])]
        alias = self.alias()
        columns = tuple(Column(alias, each.name, Type(each.kind)) for each in table.columns)
        names = tuple(each.name for each in columns)
        return Made(Scan(table, names, self.shop.owners[table.name], alias), columns, private)

    def again(self, shared: Sequence[Made]) -> Made:
        """A relation that is used already, under other names."""
        below = self.one_of(shared)
        return self.renamed(below, below.columns)

    def renamed(self, below: Made, exprs: Iterable[Expr]) -> Made:
        """A projection."""
        alias = self.alias()
        columns = tuple((f"c{number}", expr) for number, expr in enumerate(exprs))
        return Made(Project(below.relation, alias, columns), _named(alias, columns), below.private)

    def where(self, depth: int, *, private: bool) -> Made:
        """A filter."""
        below = self.relation(depth - 1, private=private)
        return replace(below, relation=Where(below.relation, self.condition(below.columns)))

    def project(self, depth: int, *, private: bool) -> Made:
        """Other columns."""
        below = self.relation(depth - 1, private=private)
        exprs = [self.expr(below.columns) for _ in range(self.one_of([1, 2, 3]))]
        return self.renamed(below, exprs)

    def distinct(self, depth: int, *, private: bool) -> Made:
        """Different rows."""
        below = self.one_of([self.project, self.union])(depth, private=private)
        return replace(below, relation=Distinct(below.relation))

    def union(self, depth: int, *, private: bool) -> Made:
        """Two projections with columns of the same kinds."""
        one, other = (self.relation(depth - 1, private=private) for _ in range(2))
        exprs = [self.expr(one.columns) for _ in range(self.one_of([1, 2]))]
        parts = [self.renamed(one, exprs), self.renamed(other, [self.alike(each, other.columns) for each in exprs])]
        alias = self.alias()
        columns = tuple((each.name, Type(each.type.kind)) for each in parts[0].columns)
        union = Union(tuple(part.relation for part in parts), alias, columns)  # type: ignore[arg-type]  # projections
        return Made(union, tuple(Column(alias, name, kind) for name, kind in columns), private)

    def alike(self, expr: Expr, columns: Sequence[Column]) -> Expr:
        """A column or constant of the same kind."""
        same = [each for each in columns if each.type.kind is expr.type.kind]
        constants = [Literal(None, Type(expr.type.kind))] if expr.type.kind is Kind.DATE else []
        return self.one_of([*same, *constants, *map(literal, CONSTANTS[expr.type.kind][:1])])

    def join(self, depth: int, *, private: bool) -> Made:
        """Two relations; one of them private, if the result is to be."""
        self.joins -= 1
        left_private, right_private = self.one_of(
            [(True, True), (True, False), (False, True)] if private else [(False, False)]
        )
        left = self.relation(depth - 1, private=left_private)
        right = self.relation(self.one_of([0, depth - 1]), private=right_private)
        kinds = [JoinKind.INNER] if right_private and not left_private else list(JoinKind)
        kind = self.one_of(kinds)
        join = Join(left.relation, right.relation, kind, self.meeting(left.columns, right.columns))
        kept = right.columns if kind in {JoinKind.INNER, JoinKind.LEFT} else ()
        return Made(join, (*left.columns, *kept), private)

    def beside(self, depth: int, *, private: bool) -> Made:
        """Rows with, or without, a public partner."""
        left, right = self.relation(depth - 1, private=private), self.relation(depth - 1, private=False)
        kind = self.one_of([JoinKind.SEMI, JoinKind.ANTI])
        return replace(
            left, relation=Join(left.relation, right.relation, kind, self.meeting(left.columns, right.columns))
        )

    def meeting(self, left: Sequence[Column], right: Sequence[Column]) -> Expr | None:
        """A join's condition; mostly an equality."""
        pairs = [(a, b) for a in left for b in right if a.type.kind is b.type.kind and a.type.kind is not Kind.BOOLEAN]
        if not pairs or self.one_of([False] * 4 + [True]):
            return None
        likely = [pair for pair in pairs if pair[0].type.kind is Kind.INTEGER] or pairs
        found: Expr = call(self.one_of([EQUAL, EQUAL, EQUAL, LESS]), *self.one_of(self.one_of([pairs, likely])))
        if self.one_of([False, False, True]):
            found = call(BOTH, found, self.condition([*left, *right]))
        return found

    def per_unit(self, depth: int, *, private: bool) -> Made:
        """Groups with summaries."""
        below = self.relation(depth - 1, private=private)
        alias = self.alias()
        keys = tuple((f"k{n}", self.expr(below.columns)) for n in range(self.one_of([0, 1, 1, 2])))
        columns = tuple(self.summarized(f"s{n}", below.columns) for n in range(self.one_of([1, 2, 3])))
        found = tuple(Column(alias, each.name, each.type) for each in columns)
        return Made(PerUnit(below.relation, alias, keys, columns), (*_named(alias, keys), *found), private)

    def summarized(self, name: str, columns: Sequence[Column]) -> Summarized:
        """A summary of something."""
        argument = self.expr(columns) if self.one_of([True] * 5 + [False]) else None
        if argument is None:
            return Summarized(name=name, summary=Summary.COUNT, argument=None, type=Type(Kind.INTEGER))
        kind = argument.type.kind
        offered = _COUNTED + _ADDED * 2 * kind.is_number + [Summary.ANY, Summary.ALL] * 2 * (kind is Kind.BOOLEAN)
        summary = self.one_of(offered)
        return Summarized(
            name=name,
            summary=summary,
            argument=argument,
            type=self.type_of(summary, kind),
            grid=self.one_of([0, -1, -20, 3]) if kind is Kind.REAL else 0,
        )

    def type_of(self, summary: Summary, kind: Kind) -> Type:
        """A summary's type; sometimes with a range, which its values must keep to."""
        if summary in {Summary.COUNT, Summary.COUNT_DISTINCT}:
            return Type(Kind.INTEGER)
        if summary in {Summary.AVG, Summary.MEDIAN}:
            kind = Kind.REAL
        if kind.is_number and self.one_of([False, True]):
            return Type(kind, Fraction(-3), self.one_of([None, Fraction(5)]))
        return Type(kind)

    def window(self, depth: int, *, private: bool) -> Made:
        """Columns from a row's neighbours."""
        below = self.relation(depth - 1, private=private)
        alias = self.alias()
        partition = tuple(self.one_of(below.columns) for _ in range(self.one_of([0, 0, 1])))
        columns = tuple(self.windowed(f"w{n}", below.columns) for n in range(self.one_of([1, 2])))
        found = tuple(Column(alias, each.name, each.type) for each in columns)
        return Made(Window(below.relation, alias, partition, columns), (*below.columns, *found), private)

    def windowed(self, name: str, columns: Sequence[Column]) -> Windowed:
        """A window function of something."""
        order = tuple(
            Sorting(self.expr(columns), self.one_of([False, True]), self.one_of([False, True]))
            for _ in range(self.one_of([0, 1, 1, 2]))
        )
        of = self.summarized(name, columns)
        argument = self.expr(columns)
        function = self.one_of([of.summary, *Ranking])
        if isinstance(function, Summary):
            return Windowed(
                name=name, function=of.summary, argument=of.argument, offset=0, order=order, type=of.type, grid=of.grid
            )
        places = function in {Ranking.ROW_NUMBER, Ranking.RANK, Ranking.DENSE_RANK}
        return Windowed(
            name=name,
            function=function,
            argument=None if places else argument,
            offset=self.one_of([0, 1, 1, 2]),
            order=order,
            type=Type(Kind.INTEGER) if places else argument.type,
        )

    def expr(self, columns: Sequence[Column]) -> Expr:
        """A column, or something computed from one or two."""
        column = self.one_of(columns) if columns else literal(1)
        numbers = [each for each in columns if each.type.kind is Kind.REAL]
        truths = [each for each in columns if each.type.kind is Kind.BOOLEAN]
        computed: list[Expr] = [call(IS_NULL, column), call(AT_LEAST, column, self.constant(column.type.kind))]
        computed += [call(TIMES, each, literal(3.0)) for each in numbers[:1]]
        computed += [call(TIMES, each, numbers[-1]) for each in numbers[:1]]
        computed += [call(PLUS, column, literal(1))] * (column.type.kind is Kind.INTEGER)
        computed += [call(BROKEN, column)] * (column.type.kind is Kind.TEXT)
        computed += [call(BOTH, each, truths[-1]) for each in truths[:1]]
        return self.one_of([column, column, column, self.one_of(computed)])

    def constant(self, kind: Kind) -> Literal:
        """A constant of a kind."""
        return literal(self.one_of(CONSTANTS[kind]))

    def condition(self, columns: Sequence[Column]) -> Expr:
        """A condition on columns; of NaN, which only a product can be, none."""
        column = self.one_of(columns)
        other = self.one_of([each for each in columns if each.type.kind is column.type.kind])
        options: list[Expr] = [
            call(IS_NULL, column),
            call(AT_LEAST, column, self.constant(column.type.kind)),
            call(EQUAL, column, other),
            call(LESS, column, other),
        ]
        options += [column] * (column.type.kind is Kind.BOOLEAN)
        found = self.one_of(options)
        return call(BOTH, found, self.condition(columns)) if self.one_of([False] * 4 + [True]) else found


def _named(alias: str, columns: Iterable[tuple[str, Expr]]) -> tuple[Column, ...]:
    """Columns of other expressions; nothing is known of their ranges."""
    return tuple(Column(alias, name, Type(expr.type.kind)) for name, expr in columns)


@st.composite
def exacts(draw: st.DrawFn, shop: Shop, *, depth: int = 3, alone: bool = False) -> Exact:
    """A question about a random relation."""
    maker = Maker(draw, shop, alone=alone)
    rows = maker.relation(depth, private=True)
    keys = tuple(_key(maker, f"k{n}", rows.columns) for n in range(maker.one_of([0, 1, 1, 2])))
    limits = shop.tables[shop.private[0]].limits
    return question(rows.relation, keys, _measures(maker, rows.columns, limits, bool(keys)), limits)


def question(source: Relation, keys: Sequence[Key], measures: Sequence[Measure], limits: Limits) -> Exact:
    """A question whose scans read nothing but what is used."""
    exprs = [key.expr for key in keys] + [each.value for each in measures if not isinstance(each, Units)]
    needed = {(column.table, column.name) for column in _columns([*exprs, *_exprs(source)])}
    return Exact(
        source=trimmed(source, needed, {}), keys=tuple(keys), measures=tuple(measures), limits=limits, salt="s"
    )


def _key(maker: Maker, name: str, columns: Sequence[Column]) -> Key:
    """A key, public or not."""
    expr = maker.expr(columns)
    values = [*CONSTANTS[expr.type.kind][:2], *maker.one_of([[], [None]])] if expr.type.kind is not Kind.REAL else None
    return Key(name=name, expr=expr, values=None if values is None or maker.one_of([True, False]) else tuple(values))


def _measures(maker: Maker, columns: Sequence[Column], limits: Limits, grouped: bool) -> list[Measure]:
    """A count, and some of what else there is."""
    expr = maker.expr(columns)
    measures: list[Measure] = [count()]
    if expr.type.kind is Kind.REAL:
        measures.append(total("s", expr, grid=-40, lo=-(2**50), hi=2**50))
    elif expr.type.kind is Kind.INTEGER:
        measures.append(total("s", expr, grid=0, lo=-1000, hi=1000))
        measures.append(Histogram(name="h", value=expr, values=None, size=4, grid=-6))
    if expr.type.kind is not Kind.REAL:
        measures.append(DistinctValues(name="d", value=expr))
        listed = tuple(CONSTANTS[expr.type.kind][:2])
        measures.append(Histogram(name="l", value=expr, values=(*listed, None), size=3, grid=0))
    if limits.groups is not None or not grouped:
        measures.append(Units(name="u"))
    return measures


def trimmed(relation: Relation, needed: set[tuple[str, str]], seen: dict[int, Relation]) -> Relation:
    """The relation whose scans read only what is needed; one that is used twice stays one."""
    if id(relation) not in seen:
        if isinstance(relation, Scan):
            names = tuple(name for name in relation.columns if (relation.alias, name) in needed)
            found: Relation = replace(relation, columns=names)
        elif isinstance(relation, Join):
            sides = (trimmed(side, needed, seen) for side in (relation.left, relation.right))
            found = replace(relation, left=next(sides), right=next(sides))
        elif isinstance(relation, Union):
            found = replace(relation, parts=tuple(trimmed(part, needed, seen) for part in relation.parts))  # type: ignore[misc]  # projections
        else:
            found = replace(relation, source=trimmed(relation.source, needed, seen))  # type: ignore[arg-type]  # of its kind
        seen[id(relation)] = found
    return seen[id(relation)]


def _exprs(relation: Relation) -> Iterable[Expr]:
    """All expressions in a relation."""
    match relation:
        case Scan():
            return
        case Join(left=left, right=right, predicate=predicate):
            yield from [predicate] if predicate is not None else []
            yield from _exprs(left)
            yield from _exprs(right)
            return
        case Union(parts=parts):
            for part in parts:
                yield from _exprs(part)
            return
        case Where(predicate=predicate):
            yield predicate
        case Project(columns=columns):
            yield from (expr for _, expr in columns)
        case PerUnit(keys=keys, columns=summarized):
            yield from (expr for _, expr in keys)
            yield from (each.argument for each in summarized if each.argument is not None)
        case Window(partition=partition, columns=windowed):
            yield from partition
            yield from (each.argument for each in windowed if each.argument is not None)
            yield from (term.expr for each in windowed for term in each.order)
    yield from _exprs(relation.source)


def _columns(exprs: Iterable[Expr]) -> Iterator[Column]:
    """The columns that expressions mention."""
    for expr in exprs:
        if isinstance(expr, Column):
            yield expr
        elif isinstance(expr, Call):
            yield from _columns(expr.args)
