"""Work: how far one unit can move the time and the memory that a question takes. Public facts alone decide it.

Noise hides what a unit adds because what it adds is bounded. Time is hidden the same way: a unit brings at most so many
rows into each relation, and none of them costs more than the expressions there do at the longest texts. So a release
time that is many times their product tells next to nothing about any one unit.

Figures are upper ends: a function is taken to be computed wherever it is written, with each argument as long as it can
be; a unit to have as many rows as its table's `most_rows_per_unit`, and to meet as many as a join lets it. `COSTS` are
nanoseconds of one core, some three times what was measured; `bench/work.py` measures them on any machine.

The time that a question takes whatever the tables hold isn't in it. Yet one row may decide whether the others are
looked at: engines skip a side of a join where the other is empty, and read rows once more where any unit is over its
limit. So `readings_of` says how long a question takes over all of them, and release times have room for that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, floor, inf, log2, log10

from discreet.errors import Unsupported, unforeseen
from discreet.query import ir
from discreet.query.ir import BYTES_OF_CHARACTER, CALL, name_of
from discreet.tables import Column, Kind
from discreet.tables.schema.column import LONGEST_TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The most nanoseconds that an engine takes for one row of one unit, and for each byte of its texts."""

    row: float = 40.0
    """To read it, filter it, or hand it on."""
    pair: float = 150.0
    """To try it with another one in a join."""
    grouped: float = 300.0
    """To find its like among the unit's others."""
    sorted: float = 60.0
    """For each halving of the unit's rows, to find its place among them."""
    contributed: float = 250.0
    """To count what it adds, and to limit that."""
    stored: float = 0.4
    """To read a byte of text from where it is stored."""
    byte: float = 1.0
    """To copy a byte of text, or to compare it in order."""
    looked_up: float = 8.0
    """To find a text among others, for each of its bytes: it is hashed, kept, compared and sorted."""


COSTS = Costs()

_PAIRS_SECONDS = 0.03
"""How far the pairs of one unit may move a question. Joins leave out what would be beyond."""

_ROOM = 3.0
"""`COSTS` are some three times what was measured, so expressions that are said to take three readings take one."""

_WIDE = 16
"""Bytes of a value that is no text, and of what points to one."""

_GROWTH = 2
"""How many times what rows take engines hold: what grows is doubled."""

_VECTOR = 2048
"""How many rows engines compute at a time, all texts of which they hold."""


@dataclass(frozen=True, slots=True)
class Work:
    """The most that one unit can add to what a question takes.

    Args:
        seconds: of one core.
        size: bytes of memory.

    Examples:
        >>> Work(0.0042, 20_000_000).in_words(of=8)
        '0.0042 s of 8 and 20 MB'
    """

    seconds: float = 0.0
    size: float = 0.0

    def __add__(self, other: Work) -> Work:
        """The work of two questions, one after the other, as if the first gave no memory back."""
        return Work(self.seconds + other.seconds, self.size + other.size)

    def in_words(self, of: float | None = None) -> str:
        """Both, rounded up; nothing, where nothing is asked of the data.

        Args:
            of: how many seconds the question has.
        """
        if not self.seconds:
            return ""
        return f"{_up(self.seconds)} s{'' if of is None else f' of {of:.3g}'} and {_up(self.size / 1e6)} MB"


def _up(number: float) -> str:
    """Two digits, rounded up; at least a thousandth."""
    if number == inf:
        return "∞"
    number = max(number, 0.001)
    digit = 10.0 ** (floor(log10(number)) - 1)
    return f"{ceil(number / digit) * digit:.2g}"


def work_of(exact: ir.Exact) -> Work:
    """The most that one unit can add to the exact part of a question."""
    return _work(exact, _GREATEST)


def readings_of(exact: ir.Exact) -> float:
    """The time that the exact part takes over all rows, whatever engines skip, in readings of a table.

    A plain question takes one for each table that it names. Others take more by the factor that their expressions and
    the public rows which each row meets add to a unit's work: at the longest texts or at empty ones, for a unit with
    all the rows it may have or with one, whichever factor is greatest.
    """
    times = [
        _times(partial(_seconds, exact), _Case(is_short=is_short, is_single=is_single))
        for is_short in (False, True)
        for is_single in (False, True)
    ]
    times += (
        _times(partial(_nanoseconds, side), _Case(is_short=is_short, is_single=True, is_of_public=True))
        for is_short in (False, True)
        for side in _public_sides(exact.source)
    )
    return len(exact.scans) * max(1.0, max(times) / _ROOM)


def _times(took: Callable[[_Case], float], case: _Case) -> float:
    """How many times as long something takes as it would if expressions took nothing."""
    whole = took(case)
    return 1.0 if whole == inf else whole / took(replace(case, is_plain=True))


def _seconds(exact: ir.Exact, case: _Case) -> float:
    """The seconds of the work that one unit adds, in a case."""
    return _work(exact, case).seconds


def _nanoseconds(relation: ir.Relation, case: _Case) -> float:
    """The nanoseconds that a relation takes."""
    return _Walk(1, case).of(relation).nanoseconds


def _public_sides(relation: ir.Relation) -> Iterator[ir.Relation]:
    """Public relations that are joined with rows of units."""
    for node in ir.nodes(relation):
        if isinstance(node, ir.Join) and ir.owner_of(node) is not None:
            yield from (side for side in (node.left, node.right) if ir.owner_of(side) is None)


def _work(exact: ir.Exact, case: _Case) -> Work:
    """The work that one unit adds, in a case."""
    walk = _Walk(exact.most_pairs, case)
    rows = walk.of(exact.source)
    values = [measure.value for measure in exact.measures if not isinstance(measure, ir.Units)]
    found = walk.computed([*(key.expr for key in exact.keys), *values], rows)
    each = COSTS.contributed * (1 + len(exact.keys) + len(exact.measures)) + found.nanoseconds
    each += COSTS.looked_up * found.size
    # Limits look at the rows of a unit that is over them a second time; at different values, and at bins, once more.
    of_values = sum(isinstance(measure, (ir.DistinctValues, ir.Histogram)) for measure in exact.measures)
    passes = 1 if exact.owner.unit.is_row else 2 + of_values
    kept = rows.rows * (found.size + _WIDE * (1 + len(exact.keys) + len(exact.measures)))
    return Work(
        seconds=passes * (rows.nanoseconds + rows.rows * each) / 1e9,
        size=_GROWTH * (passes * kept + rows.size + found.held * min(rows.rows, _VECTOR)),
    )


def rows_of_unit(source: ir.Relation) -> int | None:
    """The most rows that one unit has in a relation, by what is declared; None where nothing bounds it."""
    rows = _Walk(ir.MOST_PAIRS, _GREATEST).of(source).rows
    return None if rows == inf else int(rows)


def pairs_within_work(exact: ir.Exact) -> int:
    """The most pairs of rows that one unit may make in each join of a question: as many as its work allows.

    As many as it has rows on either side are never too many, so there is no less to be had than a number of 1 gives.
    """
    if not any(isinstance(node, ir.Join) and ir.makes_pairs(node) for node in ir.nodes(exact.source)):
        return ir.MOST_PAIRS

    def seconds(exponent: int) -> float:
        return work_of(replace(exact, most_pairs=2**exponent)).seconds

    exponents = range(1, ir.MOST_PAIRS.bit_length())
    return int(2 ** bisect_right(exponents, seconds(0) + _PAIRS_SECONDS, key=seconds))


@dataclass(frozen=True, slots=True)
class _Rows:
    """The most that one unit can bring into a relation; all there is, if it is public.

    Args:
        rows: how many.
        texts: the most bytes in each column that is a text.
        columns: how many there are.
        nanoseconds: that it takes to make them, with all that they're made of; 0 of public ones.
        size: bytes that are held meanwhile.
    """

    rows: float
    texts: Mapping[ir.Name, int]
    columns: int
    nanoseconds: float = 0.0
    size: float = 0.0

    @property
    def width(self) -> int:
        """Bytes of one row."""
        return _WIDE * (1 + self.columns) + sum(self.texts.values())


@dataclass(frozen=True, slots=True)
class _Computed:
    """The cost of expressions for one row.

    Args:
        nanoseconds: with all that they're made of.
        size: bytes of the texts they give, in all.
        held: bytes of the texts that are computed on the way.
    """

    nanoseconds: float
    size: int
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """The case that work is computed for.

    Args:
        is_single: a unit has one row in a table, instead of all that it may have.
        is_short: texts that are stored are empty, instead of as long as they may be.
        is_plain: expressions take nothing, and rows meet one public row each.
        is_of_public: public relations count too, each by one row of its tables; no unit moves them.
    """

    is_single: bool = False
    is_short: bool = False
    is_plain: bool = False
    is_of_public: bool = False


_GREATEST = _Case()


class _Walk:
    """Goes through a question's relations from the tables up, each once."""

    def __init__(self, most_pairs: int, case: _Case) -> None:
        self._most = most_pairs
        self._case = case
        self._done: dict[int, tuple[ir.Relation, _Rows]] = {}

    def of(self, relation: ir.Relation) -> _Rows:
        """The most that a unit can bring there."""
        if id(relation) not in self._done:
            found = self._found(relation)
            if ir.owner_of(relation) is None and not self._case.is_of_public:
                found = _Rows(found.rows, found.texts, found.columns)
            self._done[id(relation)] = relation, found
        return self._done[id(relation)][1]

    def computed(self, exprs: Iterable[ir.Expr | None], rows: _Rows) -> _Computed:
        """The cost of expressions over these rows, for one row."""
        each = _Effort(rows.texts)
        found = [each.of(expr) for expr in exprs if expr is not None]
        took = 0.0 if self._case.is_plain else sum(one.nanoseconds for one in found)
        return _Computed(took, sum(one.size for one in found), sum(one.held for one in found))

    def _found(self, relation: ir.Relation) -> _Rows:  # noqa: PLR0911 — one case for each kind of relation
        match relation:
            case ir.Scan():
                return _scanned(relation, self._case)
            case ir.Where(source=source, predicate=predicate):
                return self._through(source, [predicate], self.of(source).texts, self.of(source).columns)
            case ir.Project(source=source, alias=alias, columns=columns):
                texts = self._texts(alias, columns, self.of(source))
                return self._through(source, [expr for _, expr in columns], texts, len(columns))
            case ir.Join():
                return self._joined(relation)
            case ir.Union(parts=parts, alias=alias, columns=columns):
                return self._united([self.of(part) for part in parts], parts, alias, columns)
            case ir.Distinct(source=source):
                below = self.of(source)
                took = below.nanoseconds + below.rows * (COSTS.grouped + COSTS.looked_up * below.width)
                return replace(below, nanoseconds=took, size=below.size + below.rows * below.width)
            case ir.PerUnit():
                return self._summarized(relation)
            case ir.Window():
                return self._windowed(relation)
            case _:
                raise unforeseen(relation)

    def _through(
        self, source: ir.Relation, exprs: Sequence[ir.Expr], texts: Mapping[ir.Name, int], columns: int
    ) -> _Rows:
        """Rows of which each is looked at by itself."""
        below = self.of(source)
        found = self.computed(exprs, below)
        took = below.rows * (COSTS.row + found.nanoseconds + COSTS.byte * found.size)
        held = found.held * min(below.rows, _VECTOR)
        return _Rows(below.rows, texts, columns, below.nanoseconds + took, below.size + held)

    def _texts(self, alias: str, columns: Iterable[tuple[str, ir.Expr]], below: _Rows) -> dict[ir.Name, int]:
        """The texts among computed columns, which are cut."""
        texts = [(name, expr) for name, expr in columns if expr.type.kind is Kind.TEXT]
        return {
            (alias, name.casefold()): min(self.computed([expr], below).size, BYTES_OF_CHARACTER * LONGEST_TEXT)
            for name, expr in texts
        }

    def _united(
        self, parts: Sequence[_Rows], of: Sequence[ir.Project], alias: str, columns: Sequence[tuple[str, ir.Type]]
    ) -> _Rows:
        """The rows of all parts."""
        texts: dict[ir.Name, int] = {}
        for part, project in zip(parts, of, strict=True):
            for (name, kind), (own, _) in zip(columns, project.columns, strict=True):
                if kind.kind is Kind.TEXT:
                    here = (alias, name.casefold())
                    texts[here] = max(texts.get(here, 0), part.texts.get((project.alias, own.casefold()), 0))
        return _Rows(
            sum(part.rows for part in parts),
            texts,
            len(columns),
            sum(part.nanoseconds for part in parts),
            sum(part.size for part in parts),
        )

    def _joined(self, join: ir.Join) -> _Rows:
        """The rows of the left side with those of the right that they meet."""
        left, right = self.of(join.left), self.of(join.right)
        both = _Rows(0, {**left.texts, **right.texts}, left.columns + right.columns)
        private = [side for side, of in ((left, join.left), (right, join.right)) if ir.owner_of(of) is not None]
        pairs = self._pairs(join, left, right) if ir.makes_pairs(join) else left.rows
        condition = self.computed([join.predicate], both)
        each = COSTS.pair + condition.nanoseconds + COSTS.byte * both.width
        took = pairs * each + sum(side.rows * (COSTS.grouped + COSTS.byte * side.width) for side in private)
        size = sum(side.size + side.rows * side.width for side in private) + condition.held * min(pairs, _VECTOR)
        below = left.nanoseconds + right.nanoseconds
        if not join.kind.has_both_sides:
            return _Rows(left.rows, left.texts, left.columns, below + took, size)
        made = pairs + (left.rows if join.kind.keeps_lonely else 0)
        return _Rows(made, both.texts, both.columns, below + took, size)

    def _pairs(self, join: ir.Join, left: _Rows, right: _Rows) -> float:
        """How many pairs a unit's rows make, by what is unique and what engines let them make."""
        if self._case.is_plain and ir.owner_of(join.left) is None:
            return right.rows
        if self._case.is_plain and ir.owner_of(join.right) is None:
            return left.rows
        met = [_most_met(join, of, rows) for of, rows in ((join.left, left.rows), (join.right, right.rows))]
        pairs = min(left.rows * met[1], right.rows * met[0]) if left.rows and right.rows else 0.0
        owner = ir.owner_of(join)
        if owner is None or owner.unit.is_row:
            return pairs  # one row: nothing of it can be left out
        return min(pairs, max(self._most, left.rows, right.rows))

    def _summarized(self, node: ir.PerUnit) -> _Rows:
        """Groups of a unit's rows."""
        below = self.of(node.source)
        named = [*node.keys, *((each.name, each.argument) for each in node.columns)]
        exprs = [(name, expr) for name, expr in named if expr is not None]
        found = self.computed([expr for _, expr in exprs], below)
        each = COSTS.grouped * (1 + len(node.columns)) + found.nanoseconds + COSTS.looked_up * found.size
        texts = self._texts(node.alias, exprs, below)
        rows = min(1.0, below.rows) if node.single else below.rows
        size = below.size + below.rows * (found.size + _WIDE * (1 + len(named))) + found.held * min(below.rows, _VECTOR)
        return _Rows(rows, texts, len(named), below.nanoseconds + below.rows * each, size)

    def _windowed(self, node: ir.Window) -> _Rows:
        """Rows in the order of each window: those that are equal in it are told apart by all of their columns."""
        below = self.of(node.source)
        order = [term.expr for each in node.columns for term in each.order]
        exprs = [*node.partition, *order, *(each.argument for each in node.columns)]
        found = self.computed(exprs, below)
        width = below.width + found.size + _WIDE * len(exprs)
        halvings = 1 + log2(max(below.rows, 1))
        each = found.nanoseconds + len(node.columns) * halvings * (COSTS.sorted + COSTS.byte * width / 8)
        named = [(each.name, each.argument) for each in node.columns if each.argument is not None]
        texts = {**below.texts, **self._texts(node.alias, named, below)}
        size = below.size + below.rows * width * (1 + len(node.columns)) + found.held * min(below.rows, _VECTOR)
        took = below.nanoseconds + below.rows * (each + COSTS.grouped)
        return _Rows(below.rows, texts, below.columns + len(node.columns), took, size)


class _Effort:
    """The cost of expressions; each is looked at once, however often it stands in others."""

    def __init__(self, texts: Mapping[ir.Name, int]) -> None:
        self._texts = texts
        self._done: dict[int, tuple[ir.Expr, _Computed]] = {}

    def of(self, expr: ir.Expr) -> _Computed:
        """An expression with all that it's made of."""
        if id(expr) not in self._done:
            self._done[id(expr)] = expr, self._found(expr)
        return self._done[id(expr)][1]

    def _found(self, expr: ir.Expr) -> _Computed:
        match expr:
            case ir.Literal(value=value):
                return _Computed(0.0, len(value.encode()) if isinstance(value, str) else 0, 0)
            case ir.Column():
                return _Computed(CALL, self._texts[name_of(expr)] if expr.type.kind is Kind.TEXT else 0, 0)
            case ir.Call(function=function, args=args):
                parts = [self.of(arg) for arg in args]
                sizes = tuple(part.size for part in parts)
                took = function.effort(args, sizes) + function.copies * sum(part.nanoseconds for part in parts)
                size = _longest(function, args, sizes) if expr.type.kind is Kind.TEXT else 0
                return _Computed(took, size, size + function.copies * sum(part.held for part in parts))
            case ir.Released() | ir.Margin():
                raise TypeError("a released number has no rows")
            case _:
                raise unforeseen(expr)


def _longest(function: ir.Function, args: tuple[ir.Expr, ...], sizes: tuple[int, ...]) -> int:
    """How many bytes a text has that a function gives."""
    if function.longest is None:
        raise Unsupported(f"nothing says how long the texts of {function.name.upper()} are")
    return function.longest(args, sizes)


def _scanned(scan: ir.Scan, case: _Case) -> _Rows:
    """The rows that a unit can have in a table; of a public one, all that it has."""
    table, texts, stored = scan.table, {}, 0
    for column in map(table.column, scan.columns):
        if column.kind is Kind.TEXT:
            whole = 0 if case.is_short else BYTES_OF_CHARACTER * column.max_length
            texts[scan.alias, column.name.casefold()] = int(min(whole, _longest_listed(column)))
            stored += whole
    hops = 0 if scan.owner is None else COSTS.grouped * len(scan.owner.hops)
    each = COSTS.row * (2 + len(scan.columns)) + hops + COSTS.stored * stored
    rows = 1 if case.is_single and (scan.owner or case.is_of_public) else _most_rows(scan)
    return _Rows(rows, texts, len(scan.columns), rows * each, _VECTOR * stored)


def _most_rows(scan: ir.Scan) -> float:
    """The most rows that a unit has in a table; of a public one, how many there are."""
    if scan.owner is None:
        return inf if scan.table.size is None else scan.table.size
    return 1 if scan.owner.unit.is_row else scan.table.most_rows_per_unit


def _longest_listed(column: Column) -> float:
    """How many bytes the texts of a column have, if all are known: its keys, or what a public table holds."""
    is_whole = column.values is not None and len(column.values) <= ir.MOST_VALUES
    listed = column.values if is_whole else column.keys
    if listed is None:
        return inf
    # A text that is longer than all keys is none of them, and is cut to one sign more.
    return max((len(each.encode()) for each in listed if isinstance(each, str)), default=0) + BYTES_OF_CHARACTER


def _most_met(join: ir.Join, side: ir.Relation, rows: float) -> float:
    """The most rows of one side of a join that a row of the other meets, by what equal columns tell."""
    on, (first, *others) = ir.joined_on(join), ir.scans(side)
    # Of tables that are joined, rows that are equal in one column could meet more than one each.
    repeats = set() if others else {each.repeats for each in first.table.columns if each.repeats is not None}
    for most in sorted({1, *repeats}):
        if ir.is_unique(side, on, partial(_is_equal_in, most)):
            return min(rows, most)
    return rows


def _is_equal_in(most: int, scan: ir.Scan, names: frozenset[ir.Name]) -> bool:
    """Whether at most a number of rows of a public table are equal in some columns, by what it declares or holds."""
    unique = {name.casefold() for name in scan.table.unique}
    columns = (scan.table.column(name) for alias, name in names if alias == scan.alias)
    repeats = (1 if each.name.casefold() in unique else each.repeats for each in columns)
    return scan.table.public and any(each is not None and each <= most for each in repeats)
