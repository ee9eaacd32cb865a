"""The exact part of a plan: the integers that the engine counts and adds up, and the limits it keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias

from discreet.errors import unforeseen
from discreet.privacy import KeyValue, Limits
from discreet.query.ir.expressions import Call, Expr
from discreet.query.ir.literals import literal
from discreet.query.ir.relations import (
    Relation,
    Scan,
    owner_of,
    scans,
)
from discreet.tables import Owner, Table
from discreet.tables.schema.dataset import CHOSEN_BY


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
    Beside `groups`, where some key's values aren't public: over all groups that the unit keeps.

    Args:
        name: unique within its question.
        value: an expression of number kind.
        grid: exponent of the step, so 0 for whole numbers; negative for finer steps.
        lo: least integer a row adds, in steps.
        hi: greatest integer a row adds, in steps.
        is_rest: whether a row that has a value adds what this leaves of `hi`; `lo` is 0 then. Engines count such rows
            and take their sum from it, instead of computing another value.

    Raises:
        ValueError: a rest of nothing, or of a value that may be negative.
    """

    name: str
    value: Expr
    grid: int
    lo: int
    hi: int
    is_rest: bool = False

    def __post_init__(self) -> None:
        if self.is_rest and not self.lo == 0 < self.hi:
            raise ValueError("only of something, what is 0 or more leaves a rest")

    @property
    def rest(self) -> Sum:
        """The sum of what values leave, if this is one of values; and the other way round."""
        return replace(self, is_rest=not self.is_rest)

    def __str__(self) -> str:
        what = f"rest of {self.value}" if self.is_rest else f"{self.value}"
        return f"sum({what}, 2^{self.grid}, {self.lo}..{self.hi})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """How many different units have rows in the group; each counts 1, in at most `groups` groups.

    Which groups a unit over the limit keeps is decided by a salted hash of unit and group, and among equal hashes by
    the group itself. Limits on `rows` without `groups` don't bound it: not offered, unless there are no keys, or each
    row is a unit.
    """

    name: str

    def __str__(self) -> str:
        return "units()"


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctValues:
    """How many different values an expression has in the group: COUNT(DISTINCT x).

    A unit counts by its different pairs of group and value, NULL left out. Limits bound these instead of rows. For
    limits `groups × rows_per_group`: in each of the groups that the unit keeps, which its rows decide as for every
    other measure, at most `rows_per_group` values. For limits `rows`: at most that many pairs over all groups. Which
    ones a unit over the limit keeps is decided by a salted hash of unit, group and value, and among equal hashes by
    group and value themselves. The count is of the values that any unit keeps, so a unit moves the counts by at most
    its limit, 1 for each pair. Where each row is a unit, nothing is limited.

    Args:
        name: unique within its question.
        value: of any kind but real.
    """

    name: str
    value: Expr

    def __str__(self) -> str:
        return f"distinct({self.value})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many rows of the group have each value of a public list: the basis on which quantiles and modes are chosen.

    The engine returns, per group, the counts that aren't 0 by the value's number, in steps of 2^grid: a row within the
    limits counts 2^-grid. Rows with other values are left out before limits apply, for this measure only.
    For limits `groups × rows_per_group`: in each of the groups that the unit keeps, which all of its rows decide as for
    every other measure, its count of a value is floor(rows with this value · 2^-grid · limit / n), where it has
    n > limit rows with any value of the list in the group. For limits `rows`: the same, where n is over all groups.
    So a unit moves all counts of a group together, or of all groups, by at most limit · 2^-grid steps. Where each row
    is a unit, nothing is limited.

    Args:
        name: unique within its question.
        value: what is looked up; of INTEGER kind, and itself the number, if there are no `values`.
        values: the list, or None if the value is a number from 0 to size − 1 already.
        size: how many values there are.
        grid: exponent of the step in which counts are given: 0 or negative.
    """

    name: str
    value: Expr
    values: tuple[KeyValue, ...] | None
    size: int
    grid: int

    def __str__(self) -> str:
        among = f"{self.size} bins" if self.values is None else f"{list(self.values)}"
        return f"histogram({self.value} in {among}, 2^{self.grid})"


Measure: TypeAlias = Sum | Units | DistinctValues | Histogram


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What units leave of a whole that each may fill, in steps; worked out from what engines count.

    Args:
        name: unique within its question.
        grid: exponent of the step.
    """

    name: str
    grid: int


_WHOLE = literal(Fraction(1))


def _left_by(rest: Expr) -> Expr | None:
    """The value of which an expression is the rest; None if it isn't one."""
    if isinstance(rest, Call) and rest.function.name == "subtract" and rest.args[0] == _WHOLE:
        return rest.args[1]
    return None


_FINEST_OF_PARTS = -36
"""On a finer grid, rounding in float64 might add a whole step to a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """Several sums that are released together, because each row has one whole to share out among them.

    In each row, values that aren't NULL, each moved into [0, 1], add up to at most 1: as float64 computes them, to less
    than 1 + 2⁻⁴⁰. So a row's parts go into several sums, as a whole row goes into one bin of a histogram. Engines know
    nothing of vectors; they are asked for the sums.

    A unit of r rows has r wholes to fill. Where there are no keys, what it leaves of them may be released as well: then
    all that is released of a unit adds up to r wholes, however many rows it has, and tells how many units there are.

    Args:
        name: unique within its question.
        values: of number kind.
        grid: exponent of the step; −36 or more.
        parts: which part of the rows of a usual group each number is taken to hold, by which errors are announced.
        rows: of a unit, where what it leaves is released too; else None.

    Raises:
        ValueError: the grid is so fine that rounding in float64 might fill a step.
    """

    name: str
    values: tuple[Expr, ...]
    grid: int
    parts: tuple[Fraction, ...]
    rows: int | None = None

    def __post_init__(self) -> None:
        if self.grid < _FINEST_OF_PARTS:
            raise ValueError(f"rows are put in parts on grids of 2^{_FINEST_OF_PARTS} and coarser, not 2^{self.grid}")

    @property
    def most(self) -> int:
        """The most that one row adds to all sums together, in steps.

        *Proof.* Each of the p values is rounded up by at most half a step, so a row adds less than s = 2^−grid + p/2
        and 2⁻⁴⁰·2^−grid ≤ 1/16 more. It adds integers. The fractional part of s is 0, 1/2 or, where a step is larger
        than 1, at most 3/4, so the next whole number isn't reached. ∎
        """
        return floor(Fraction(2) ** -self.grid + Fraction(len(self.values), 2))

    @property
    def sums(self) -> tuple[Sum, ...]:
        """The sums that engines add up. Where a whole has whole steps, one of two parts is what the other leaves."""
        found = []
        for place, value in enumerate(self.values):
            left_by = _left_by(value)
            is_rest = self.grid <= 0 and left_by in self.values
            found.append(
                Sum(
                    name=f"{self.name}.{place}",
                    value=left_by if left_by is not None and is_rest else value,
                    grid=self.grid,
                    lo=0,
                    hi=ceil(Fraction(2) ** -self.grid),
                    is_rest=is_rest,
                )
            )
        return tuple(found)

    @property
    def whole(self) -> int:
        """The most that one unit adds to all sums together, in steps, where what it leaves is released too.

        Raises:
            TypeError: it isn't.
        """
        if self.rows is None:
            raise TypeError("what units leave isn't released")
        return self.rows * self.most

    @property
    def counted(self) -> tuple[Measure, ...]:
        """What engines are asked for."""
        return (*self.sums, *([] if self.rows is None else [Units(name=f"{self.name}.units")]))

    @property
    def numbers(self) -> tuple[Sum | Room, ...]:
        """What is released."""
        return (*self.sums, *([] if self.rows is None else [Room(name=f"{self.name}.room", grid=self.grid)]))

    def __str__(self) -> str:
        room = "" if self.rows is None else f", {self.rows} rows of a unit"
        return f"vector({', '.join(map(str, self.values))}, 2^{self.grid}, ..{self.most}{room})"


Measured: TypeAlias = Measure | Vector | Room
"""What gets noise."""


def counted_for(measure: Measured) -> tuple[Measure, ...]:
    """What engines are asked for, so that a measure can be released."""
    match measure:
        case Vector(counted=counted):
            return counted
        case Sum() | Units() | DistinctValues() | Histogram():
            return (measure,)
        case Room():
            raise TypeError("engines aren't asked for room: it is worked out from what they count for its vector")
        case _:
            raise unforeseen(measure)


def numbers_of(measure: Measured) -> tuple[Measured, ...]:
    """The numbers that are released of a measure: itself, or those of a vector."""
    return measure.numbers if isinstance(measure, Vector) else (measure,)


MOST_PAIRS = 2**20
"""The most pairs of one unit's rows that a join tries, however cheap each is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Everything an engine computes: exact integers per group, to which each unit contributes a limited amount.

    The sequence is: scan (values clamped) → where → key → drop rows whose key isn't public → limit each unit → add up.

    Limits on `groups` with `rows_per_group` leave a unit's rows in some of its groups, whatever is measured of them.
    Limits on `rows` with `groups` bound `Units` by groups, and every other measure by rows alone. Where some key's
    values aren't public, a unit's rows outside the groups that it keeps are left out there, too: only then does one
    unit make no more than `groups` groups appear that nobody else is in.

    Args:
        source: which rows.
        keys: what they're grouped by; none means one group, answered even when it has no rows.
        measures: what is added up.
        limits: the shape in force; with a row unit there is nothing to limit.
        salt: public text that goes into the hash by which a unit over the limits keeps groups and different values.
        most_pairs: how many pairs of rows a unit may make in each join. Up to its number of rows on either side, pairs
            are never too many.
        chosen_by: the hash by which the engine chooses what a unit over the limits keeps.
    """

    source: Relation
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    limits: Limits
    salt: str
    most_pairs: int = MOST_PAIRS
    chosen_by: str = CHOSEN_BY

    @property
    def scans(self) -> tuple[Scan, ...]:
        """All scans of tables, private and public."""
        return tuple(scans(self.source))

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables that are read, each once: those that are scanned, and those in which owners are found."""
        read = {scan.table.name.casefold(): scan.table for scan in self.scans}
        for scan in self.scans:
            for hop in scan.owner.hops if scan.owner is not None else ():
                read.setdefault(hop.table.name.casefold(), hop.table)
        return tuple(read.values())

    @property
    def owner(self) -> Owner:
        """How units are found, in the first private table; all others agree with it in the units' kinds."""
        owner = owner_of(self.source)
        if owner is None:
            raise TypeError("a question reads a private table")
        return owner
