"""The intermediate representation: what a question means, as small frozen trees.

Four layers. Expressions say what is computed within a row, or from released numbers, each with the type and range of
its value. Relations say which rows. A `Question` is what the analyst asked. `Exact` says which integers the engine is
to count and add up, per group, after each unit's contribution was limited. Engines know this file and nothing else of
`query`; nothing here can reach a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.dataset import Kind, Table
from discreet.privacy import KeyValue, Limits


@dataclass(frozen=True, slots=True)
class Type:
    """The type of an expression's value, with what is known in public about its range.

    Args:
        kind: the kind of value.
        lo: least value, or None if unknown. Numbers as they are; dates as days and timestamps as microseconds since
            1970-01-01.
        hi: greatest value, or None if unknown.
        nullable: whether it can be NULL.
        values: all non-NULL values it can take, if that is a short public list; in the order to answer them.
    """

    kind: Kind
    lo: Fraction | None = None
    hi: Fraction | None = None
    nullable: bool = True
    values: tuple[KeyValue, ...] | None = field(default=None, hash=False)

    @property
    def is_bounded(self) -> bool:
        """Whether both ends of the range are known."""
        return self.lo is not None and self.hi is not None


def _as_given(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Arguments that need no bringing together."""
    return args


def _always(*_values: object) -> bool:
    """Python and the engine agree on all values."""
    return True


@dataclass(frozen=True, slots=True)
class Function:
    """One allowed function: its types, its range rule, and how it runs, on rows and on released numbers.

    Args:
        name: canonical name; two functions of one name are the same function.
        infer: the result's type and range from the arguments' types; raises `TypeMismatch` for kinds it doesn't
            take and `UnboundedColumn` where a missing bound would let a row overflow. Arguments are the bound
            expressions, because some rules need a literal's value.
        compile: from Ibis values to an Ibis value; total, so no row can make the engine raise.
        evaluate: the same on Python values, with None for NULL; used on released numbers, to work out public values,
            and by tests to check `compile`.
        prepare: brings the arguments to the kinds that `infer`, `compile` and `evaluate` expect, by casts that show
            in the expression; raises `TypeMismatch` where it can't.
        agrees: whether `evaluate` is known to give, on these Python values, what an engine gives. Where it isn't
            (upper case of exotic letters, say), no public value is worked out through the function.
        copies: how often the compiled text repeats an argument, so that its size can be limited at plan time.
    """

    name: str
    infer: Callable[[tuple[Expr, ...]], Type] = field(compare=False, repr=False)
    compile: Callable[..., Any] = field(compare=False, repr=False)
    evaluate: Callable[..., Any] = field(compare=False, repr=False)
    prepare: Callable[[tuple[Expr, ...]], tuple[Expr, ...]] = field(default=_as_given, compare=False, repr=False)
    agrees: Callable[..., bool] = field(default=_always, compare=False, repr=False)
    copies: int = field(default=1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Column:
    """The value of a column, as the door lets it in: of its kind, within its bounds, one of its keys."""

    table: str
    name: str
    type: Type

    def __str__(self) -> str:
        """The column, quoted as SQL quotes it."""
        return ".".join('"' + part.replace('"', '""') + '"' for part in (self.table, self.name))


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: None, bool, int, Fraction (a real), str, date or datetime."""

    value: object
    type: Type

    def __str__(self) -> str:
        """The constant with its kind, so that 1 and '1' and TRUE differ."""
        return f"{self.type.kind}:{self.value!r}" if isinstance(self.value, str) else f"{self.type.kind}:{self.value}"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of other expressions."""

    function: Function
    args: tuple[Expr, ...]
    type: Type

    def __str__(self) -> str:
        """The call in functional notation: canonical, since operators have names here."""
        return f"{self.function.name}({', '.join(map(str, self.args))})"


@dataclass(frozen=True, slots=True)
class Released:
    """A number or key of the answer, by name: what HAVING, ORDER BY and arithmetic on results work on."""

    name: str
    type: Type

    def __str__(self) -> str:
        """The name, marked as released."""
        return f"released({self.name})"


Expr: TypeAlias = Column | Literal | Call | Released


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows of a private table, each value let in through the door of its column.

    Rows whose unit id or period is NULL are left out. `columns` are the names that the question uses, and those of
    the unit; no other column is read.
    """

    table: Table
    columns: tuple[str, ...]

    def __str__(self) -> str:
        """The scan with the columns it reads."""
        return f"scan({self.table.name}: {', '.join(self.columns)})"


@dataclass(frozen=True, slots=True)
class Where:
    """The rows of `source` for which `predicate` is true (not false, not NULL)."""

    source: Relation
    predicate: Expr

    def __str__(self) -> str:
        """The filter over its source."""
        return f"where({self.source}, {self.predicate})"


Relation: TypeAlias = Scan | Where


class Statistic(StrEnum):
    """What an analyst may aggregate."""

    COUNT = "count"
    """COUNT(*) when it has no argument, COUNT(x) when it has one."""
    UNITS = "units"
    """COUNT(DISTINCT unit), of the rows at hand."""
    SUM = "sum"
    AVG = "avg"
    VAR_POP = "var_pop"
    VAR_SAMP = "var_samp"
    STDDEV_POP = "stddev_pop"
    STDDEV_SAMP = "stddev_samp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One aggregate of a question.

    Args:
        name: how outputs refer to it, as `Released(name, …)`; unique within the question.
        statistic: which one.
        argument: of number kind for all but COUNT and UNITS; None for COUNT(*) and UNITS.
    """

    name: str
    statistic: Statistic
    argument: Expr | None

    def __str__(self) -> str:
        """The aggregate in functional notation."""
        return f"{self.statistic}({'*' if self.argument is None else self.argument})"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One grouping expression.

    Args:
        name: of the column in the answer.
        expr: what rows are grouped by.
        values: the public values to answer, with None for a NULL group if it is one of them; rows whose key isn't
            among them are left out before limits apply. None: the groups present in the data, to be selected.
    """

    name: str
    expr: Expr
    values: tuple[KeyValue, ...] | None

    def __str__(self) -> str:
        """The key, and whether its values are public."""
        return f"{self.expr} in {list(self.values)}" if self.values is not None else str(self.expr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """A sum of integers: of each row, its value in steps of a power-of-two grid; a NULL value adds nothing.

    The engine computes round(value / 2^grid) (halves away from zero or to even, whichever it has, but by one rule
    for all rows), clamps it to [lo, hi], and adds up exactly. COUNT(*) is the sum of the literal 1.

    Under limits a unit's values are scaled by limit/rows where it has more rows than the limit, each scaled value
    rounded towards zero, so a unit's total stays within limit · max(|lo|, |hi|).
    For limits `groups × rows_per_group`: the unit's exact total in the group, times limit/rows, rounded towards zero.
    For limits `rows`: rows counts the unit's rows over all groups; the rounding is per row, or per unit and group.

    Args:
        name: unique within its question.
        value: an expression of number kind.
        grid: exponent of the step, so 0 for whole numbers; negative for finer steps.
        lo: least integer a row adds, in steps.
        hi: greatest integer a row adds, in steps.
    """

    name: str
    value: Expr
    grid: int
    lo: int
    hi: int

    def __str__(self) -> str:
        """The sum in canonical form."""
        return f"sum({self.value}, 2^{self.grid}, {self.lo}..{self.hi})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """How many different units have rows in the group, after limits on groups; each counts 1.

    Under a `rows` limit a unit is counted once for all groups together at weight limit: not offered, so plans use
    this measure only with `groups × rows_per_group`, or when there are no keys, or when each row is a unit.
    """

    name: str

    def __str__(self) -> str:
        """The count in canonical form."""
        return "units()"


Measure: TypeAlias = Sum | Units


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """What the engine computes: per group, exact integers to which each unit's contribution is limited.

    The sequence is: scan (door) → where → key → drop rows whose key isn't public → limit each unit → add up.

    Args:
        source: which rows.
        keys: what they're grouped by; none means one group, answered even when it has no rows.
        measures: what is added up.
        limits: the shape in force; with a row unit there is nothing to limit.
        salt: public text that goes into the hash by which a unit over `limits.groups` keeps its groups.
    """

    source: Relation
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    limits: Limits
    salt: str

    @property
    def table(self) -> Table:
        """The private table underneath."""
        relation = self.source
        while isinstance(relation, Where):
            relation = relation.source
        return relation.table
