"""Relations: which rows a question is about, as a tree over tables.

Guarantee: each row of a private relation belongs to exactly one unit, and depends on that unit's rows and on public
tables alone. Every node keeps this: private relations meet only where their units are equal, and rows are brought
together only within one unit. So what a unit contributes to a question can be limited at the very end, whatever
stands below, and no node needs a stability of its own.

A relation's rows have columns, referred to by `Column(table=<alias>, name=<column>)`. Aliases are unique within a
question, and are numbered rather than spelled as the analyst did, so that two spellings of one question are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from discreet.errors import unforeseen
from discreet.query.ir.expressions import Expr, Type, quoted
from discreet.tables import Owner, Table


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows of a table, each value brought within the bounds or keys of its column.

    Rows of a private table whose unit can't be found (an id or period that is NULL or out of bounds, a link that
    leads nowhere) are left out. A row that a link leads to several owners counts once for each of them.

    Args:
        table: private or public.
        columns: the names that the question uses; no other column is read, but those that say whose a row is.
        owner: how a row's unit is found; None if the table is public.
        alias: under which columns are referred to; the table's name, if it is the first scan of that table.
    """

    table: Table
    columns: tuple[str, ...]
    owner: Owner | None
    alias: str

    def __str__(self) -> str:
        name = quoted(self.table.name)
        return name if self.alias == self.table.name else f"{name} as {quoted(self.alias)}"


@dataclass(frozen=True, slots=True)
class Where:
    """The rows of `source` for which `predicate` is true (not false, not NULL)."""

    source: Relation
    predicate: Expr

    def __str__(self) -> str:
        return f"where({self.source}, {self.predicate})"


@dataclass(frozen=True, slots=True)
class Project:
    """The rows of `source` with other columns, computed row by row.

    Args:
        source: of the rows.
        alias: of the new columns.
        columns: each with its name and what it is computed from.
    """

    source: Relation
    alias: str
    columns: tuple[tuple[str, Expr], ...]

    def __str__(self) -> str:
        return f"project({self.source}, {quoted(self.alias)}: {_listed(self.columns)})"


class JoinKind(StrEnum):
    """How two relations are brought together."""

    INNER = "inner"
    LEFT = "left"
    """Rows of the left side without a partner stay, with NULLs."""
    SEMI = "semi"
    """Rows of the left side that have a partner, each once."""
    ANTI = "anti"
    """Rows of the left side that have none."""

    @property
    def has_both_sides(self) -> bool:
        """Whether rows have columns of both sides; else the right one only decides which rows of the left remain."""
        match self:
            case JoinKind.INNER | JoinKind.LEFT:
                return True
            case JoinKind.SEMI | JoinKind.ANTI:
                return False
            case _:
                raise unforeseen(self)

    @property
    def keeps_lonely(self) -> bool:
        """Whether rows of the left side that have no partner are among the result."""
        match self:
            case JoinKind.LEFT | JoinKind.ANTI:
                return True
            case JoinKind.INNER | JoinKind.SEMI:
                return False
            case _:
                raise unforeseen(self)


@dataclass(frozen=True, slots=True)
class Join:
    """Rows of `left` with those of `right` for which `predicate` is true.

    Two private sides meet only where their units are equal, besides the predicate. If one side only is private, its
    unit is the unit of the result; a public left side with a private right side occurs in inner joins only.

    A unit that would make too many pairs of rows brings fewer of them, which its own rows decide: engines keep one unit
    from making a question endless. It may always make as many pairs as it has rows on either side.

    Args:
        left: with the columns that every kind of join keeps.
        right: whose columns semi and anti joins drop.
        kind: how.
        predicate: over the columns of both; None for every pair.
    """

    left: Relation
    right: Relation
    kind: JoinKind
    predicate: Expr | None

    def __str__(self) -> str:
        return f"{self.kind}({self.left}, {self.right}, {self.predicate})"


@dataclass(frozen=True, slots=True)
class Union:
    """The rows of all parts, as they are (UNION ALL).

    Args:
        parts: all private or all public; each with the same names and kinds of columns, in this order.
        alias: of the columns.
        columns: their names and types, which hold the values of all parts.
    """

    parts: tuple[Project, ...]
    alias: str
    columns: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return f"union({', '.join(map(str, self.parts))}, {quoted(self.alias)})"


@dataclass(frozen=True, slots=True)
class Distinct:
    """The rows of `source`, equal ones of one unit once. A public relation's rows, equal ones once."""

    source: Project | Union

    def __str__(self) -> str:
        return f"distinct({self.source})"


class Summary(StrEnum):
    """Exact computations over one unit's rows; the result stays private."""

    COUNT = "count"
    """COUNT(*) without an argument."""
    COUNT_DISTINCT = "count_distinct"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    MEDIAN = "median"
    ANY = "any"
    """Whether a condition is true of any row: bool_or."""
    ALL = "all"
    """Whether it is true of all rows where it isn't NULL: bool_and."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarized:
    """One column of a summary, or of a window.

    Sums and averages are exact, whatever the order of rows: of real numbers, each value is put on a grid first (see
    `Sum`), so that they depend on no other unit, not even in the last bit.

    Args:
        name: of the column.
        summary: which.
        argument: None for COUNT(*).
        type: of the result.
        grid: for SUM and AVG of real numbers: the exponent of the step.
    """

    name: str
    summary: Summary
    argument: Expr | None
    type: Type
    grid: int = 0

    def __str__(self) -> str:
        return f"{self.summary}({'*' if self.argument is None else self.argument})"


@dataclass(frozen=True, slots=True)
class PerUnit:
    """One row for each unit and each value of the keys: GROUP BY with the unit's id among the keys.

    Args:
        source: private. (Of a public source: one row for each value of the keys.)
        alias: of the new columns.
        keys: what rows are grouped by, besides the unit; the id itself is here too, if it is asked for.
        columns: what is computed of each unit's rows.
        single: whether the keys leave one row to each unit: those that say which unit it is, and nothing more.
    """

    source: Relation
    alias: str
    keys: tuple[tuple[str, Expr], ...]
    columns: tuple[Summarized, ...]
    single: bool = False

    def __str__(self) -> str:
        summaries = ", ".join(f"{quoted(column.name)} = {column}" for column in self.columns)
        return f"per_unit({self.source}, {quoted(self.alias)}: {_listed(self.keys)}; {summaries})"


class Ranking(StrEnum):
    """A row's place among the others, or a value from its neighbours."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    LAG = "lag"
    LEAD = "lead"
    FIRST_VALUE = "first_value"
    LAST_VALUE = "last_value"


@dataclass(frozen=True, slots=True)
class Sorting:
    """One ORDER BY term within a window."""

    expr: Expr
    descending: bool
    nulls_first: bool

    def __str__(self) -> str:
        direction = "down" if self.descending else "up"
        return f"{self.expr} {direction} nulls {'first' if self.nulls_first else 'last'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Windowed:
    """One window function.

    Rows that are equal in `order` are told apart by all columns of the source that the question uses, so that the
    result, as a set of rows, depends on no physical order.

    Args:
        name: of the new column.
        function: a ranking, or a summary of the rows so far.
        argument: of LAG, LEAD, FIRST_VALUE, LAST_VALUE and the summaries.
        offset: how many rows LAG and LEAD go.
        order: within the partition. Without one, a summary is of the whole partition; with one, of the rows from its
            first to the last that is equal to the present one in `order` (SQL's default frame).
        type: of the result.
        grid: as for `Summarized`.
    """

    name: str
    function: Ranking | Summary
    argument: Expr | None
    offset: int
    order: tuple[Sorting, ...]
    type: Type
    grid: int = 0

    def __str__(self) -> str:
        of = "*" if self.argument is None else self.argument
        return f"{self.function}({of}, {self.offset}; {', '.join(map(str, self.order))})"


@dataclass(frozen=True, slots=True)
class Window:
    """The rows of `source` with further columns, each computed from rows of the same unit.

    Args:
        source: private, and not of a unit that is a row.
        alias: of the new columns; those of the source keep theirs.
        partition: what rows must have in common besides the unit.
        columns: the new ones; all of one partition.
    """

    source: Relation
    alias: str
    partition: tuple[Expr, ...]
    columns: tuple[Windowed, ...]

    def __str__(self) -> str:
        columns = ", ".join(f"{quoted(column.name)} = {column}" for column in self.columns)
        by = ", ".join(map(str, self.partition))
        return f"window({self.source}, {quoted(self.alias)} by {by}: {columns})"


Relation: TypeAlias = Scan | Where | Project | Join | Union | Distinct | PerUnit | Window


def sources(relation: Relation) -> tuple[Relation, ...]:
    """The relations directly below."""
    match relation:
        case Scan():
            return ()
        case Join(left=left, right=right):
            return left, right
        case Union(parts=parts):
            return parts
        case Where(source=source) | Project(source=source) | Distinct(source=source):
            return (source,)
        case PerUnit(source=source) | Window(source=source):
            return (source,)
        case _:
            raise unforeseen(relation)


def nodes(relation: Relation) -> Iterator[Relation]:
    """A relation and all those below it; one that is used several times comes once."""
    seen: set[int] = set()
    waiting = [relation]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(sources(node))


def scans(relation: Relation) -> Iterator[Scan]:
    """All scans, from left to right; a relation that is used twice gives its scans twice."""
    if isinstance(relation, Scan):
        yield relation
    for below in sources(relation):
        yield from scans(below)


def owner_of(relation: Relation) -> Owner | None:
    """How the units of a relation's rows are found, in its first private table; None if it is public."""
    return next((scan.owner for scan in scans(relation) if scan.owner is not None), None)


def _listed(columns: tuple[tuple[str, Expr], ...]) -> str:
    """Columns with what they are computed from."""
    return ", ".join(f"{quoted(name)} = {expr}" for name, expr in columns)
