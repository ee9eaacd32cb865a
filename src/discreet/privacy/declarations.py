"""What a custodian declares: whose presence is hidden, bounds of values, public keys of groups, and limits.

From these follow which tables are neighbours, and how far an exact answer moves between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Literal, Self, TypeAlias, get_args

from discreet.arguments import taking_known
from discreet.errors import Hint, InvalidArgument
from discreet.exact.rational import Rationalizable, rational

FAILURES = 10
"""How many questions may fail after they were paid for, before the custodian looks, unless it is declared."""

_MOST_FAILURES = 1000


def checked_failures(number: int) -> int:
    """A number of failures, if it may be declared.

    Raises:
        InvalidArgument: it isn't a whole number, or not from 1 to 1,000.

    Examples:
        >>> checked_failures(10)
        10
    """
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= _MOST_FAILURES:
        raise InvalidArgument(
            f"from 1 to {_MOST_FAILURES:,} questions may fail before the custodian looks",
            hint=Hint.of("{failures}", failures=FAILURES).in_file(),
        )
    return number


Period = Literal["hour", "day", "week", "month", "quarter", "year"]

_WRITTEN = 'unit = { column = "person_id", per = "day", at = "visited_at" }'
_PERIOD = Hint('Unit("person_id", per="day", at="visited_at")', cli=_WRITTEN, file=_WRITTEN)


@taking_known
@dataclass(frozen=True, slots=True)
class Unit:
    """Whose presence a release hides: a row, an id, or an id during one period.

    Rows whose id (or time, for a period) is NULL belong to nobody who could be protected, so they're left out of
    every answer.

    Args:
        column: the id column; None means that each row is a unit of its own.
        per: a period, for units such as a person-day. A person present on 365 days is then 365 units, and the
            guarantee for the whole person is weaker: 365 times the ε, or 365² times the ρ.
        at: the date or timestamp column that says in which period a row lies; goes with `per`.

    Raises:
        InvalidArgument: `per` without `at` or the reverse, either without a column, or an unknown period.

    Examples:
        >>> print(Unit.row())
        row
        >>> print(Unit("person_id", per="day", at="visited_at"))
        person_id per day of visited_at
    """

    column: str | None
    per: Period | None = None
    at: str | None = None

    def __post_init__(self) -> None:
        """Refuse half-stated units."""
        for name in ("column", "at"):
            said = getattr(self, name)
            if said is not None and not isinstance(said, str):
                raise InvalidArgument(
                    f"a unit's {name} is the name of one, not {type(said).__name__}",
                    hint=Hint('Unit("person_id")', cli='unit = "person_id"', file='unit = "person_id"'),
                )
        if self.column == "":
            raise InvalidArgument(
                "a unit needs a column name",
                hint=Hint(
                    "Unit.row() makes each row a unit",
                    cli="`row` makes each row a unit",
                    file='unit = "row" makes each row a unit',
                ),
            )
        if (self.per is None) != (self.at is None):
            raise InvalidArgument("per and at go together", hint=_PERIOD)
        if self.per is not None and self.column is None:
            raise InvalidArgument("a period needs an id column", hint=_PERIOD)
        if self.per is not None and self.per not in get_args(Period):
            raise InvalidArgument(f"unknown period {self.per!r}", hint=f"one of {', '.join(get_args(Period))}")

    @classmethod
    def row(cls) -> Self:
        """Each row is a unit of its own: right only if nobody can have two rows."""
        return cls(None)

    @property
    def is_row(self) -> bool:
        """Whether each row is a unit."""
        return self.column is None

    def __str__(self) -> str:
        if self.column is None:
            return "row"
        return self.column if self.per is None else f"{self.column} per {self.per} of {self.at}"


BoundValue: TypeAlias = Rationalizable | date
"""A bound: a number, or a date or timestamp (without a time zone)."""


@taking_known
@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and greatest value a column may hold; what lies outside is moved to the nearer end when scanned.

    Bounds must come from knowledge of what the column means (ages reach 125), never from the data: the least and
    greatest value of a table belong to somebody.

    Args:
        lo: least value.
        hi: greatest value, at least `lo`; numbers both, or dates both, or timestamps both.

    Raises:
        InvalidArgument: an end isn't finite, the ends are of different kinds, or `lo` exceeds `hi`.

    Examples:
        >>> print(Bounds(0, 110))
        [0, 110]
    """

    lo: BoundValue
    hi: BoundValue

    def __post_init__(self) -> None:
        if isinstance(self.lo, date) or isinstance(self.hi, date):
            self._check_times()
        else:
            object.__setattr__(self, "lo", rational(self.lo, "lo"))
            object.__setattr__(self, "hi", rational(self.hi, "hi"))
        if self.lo > self.hi:  # type: ignore[operator]  # both are of one kind by now
            raise InvalidArgument(f"bounds are in the wrong order: {self.lo} exceeds {self.hi}")

    def _check_times(self) -> None:
        """Refuse a date beside a number or a timestamp, and time zones, which dates in tables don't carry."""
        if type(self.lo) is not type(self.hi):
            raise InvalidArgument("bounds must be two numbers, two dates or two timestamps")
        if self.lo != self.lo or self.hi != self.hi:  # NaT of pandas is a time, and unequal to itself
            raise InvalidArgument("bounds must be two dates or two timestamps, and NaT is no time")
        if any(isinstance(end, datetime) and end.tzinfo is not None for end in (self.lo, self.hi)):
            raise InvalidArgument("bounds must be timestamps without a time zone")

    @property
    def is_time(self) -> bool:
        """Whether the ends are dates or timestamps."""
        return isinstance(self.lo, date)

    def __str__(self) -> str:
        return f"[{self.lo}, {self.hi}]"


KeyValue = str | int | bool | date | None


@taking_known
@dataclass(frozen=True, slots=True, init=False)
class Keys:
    """The values a column may take, known in public.

    Every key is answered, with or without rows, so the list of groups in an answer says nothing about anybody.
    A value that isn't listed is read as NULL; NULL is a group only if None is listed.

    Args:
        values: one or more different strings, integers, booleans or dates of one kind, and None for NULL.

    Raises:
        InvalidArgument: no keys, a repeated one, or keys of different kinds.

    Examples:
        >>> list(Keys(["Female", "Male"]))
        ['Female', 'Male']
    """

    values: tuple[KeyValue, ...]

    def __init__(self, values: Iterable[KeyValue]) -> None:
        if isinstance(values, str):
            raise InvalidArgument(
                "keys must be a list of values, not one string",
                hint=Hint(f"Keys([{values!r}])", cli=f"keys = [{values!r}]"),
            )
        if not isinstance(values, Iterable):
            raise InvalidArgument(
                f"keys must be a list of values, not {type(values).__name__}",
                hint=Hint('Keys(["a", "b"])', cli='keys = ["a", "b"]'),
            )
        listed = tuple(values)
        if not listed:
            raise InvalidArgument("keys must not be empty")
        kinds = {type(value) for value in listed if value is not None}
        if len(kinds) > 1 or not kinds <= {str, int, bool, date}:
            raise InvalidArgument(
                "keys must be of one kind: strings, integers, booleans or dates",
                hint="a real number makes no group; CAST or FLOOR it in the question",
            )
        if len(set(listed)) < len(listed):
            twice = next(value for n, value in enumerate(listed) if value in listed[:n])
            raise InvalidArgument(f"the key {twice!r} is listed twice")
        object.__setattr__(self, "values", listed)

    def __iter__(self) -> Iterator[KeyValue]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        head = ", ".join("NULL" if value is None else repr(value) for value in self.values[:4])
        return f"{head}, … ({len(self)} keys)" if len(self) > 4 else head  # noqa: PLR2004 — what fits a line


@taking_known
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one unit may contribute to one question, in one of three shapes.

    Either `rows` over all groups together; or `groups` and `rows_per_group`; or `rows` and `groups`, where rows are
    limited over all groups together, and a unit is counted in few groups. Nothing is cut off a unit within its limits.
    A unit over a limit on rows isn't cut off row by row: its rows count for less, so that together they weigh exactly
    the limit. Which groups a unit over `groups` keeps is decided by a hash of its own rows.

    A unit with at most r rows is in at most r groups. So `rows` alone bounds its groups as well, and `groups` beside
    it is worth declaring where units are in fewer groups than they have rows: what counts units, or selects groups by
    them, gets less noise then.

    Args:
        groups: in how many groups of one answer a unit may appear; 1 or more. Beside `rows`: in how many groups units
            are counted, and make groups appear whose keys aren't public.
        rows_per_group: how many rows of a unit count fully within a group; 1 or more. Without GROUP BY, all rows are
            one group.
        rows: how many rows of a unit count fully in all groups together; 1 or more.

    Raises:
        InvalidArgument: no shape is complete, `rows` and `rows_per_group` are mixed, or a limit is below 1.

    Examples:
        >>> print(Limits(groups=5, rows_per_group=10))
        5 groups × 10 rows
        >>> print(Limits(rows=50))
        50 rows
        >>> print(Limits(rows=50, groups=8))
        50 rows in 8 groups
    """

    groups: int | None = None
    rows_per_group: int | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        """Refuse half a shape."""
        for name in ("groups", "rows_per_group", "rows"):
            limit = getattr(self, name)
            if limit is not None and (type(limit) is not int or not 1 <= limit <= 2**31):
                raise InvalidArgument(f"{name} must be a whole number from 1 to 2³¹, not {limit!r}")
        by_group = self.groups is not None and self.rows_per_group is not None and self.rows is None
        by_rows = self.rows is not None and self.rows_per_group is None
        if not (by_group or by_rows):
            raise InvalidArgument(
                "limits come in three shapes: groups with rows_per_group, rows with groups, or rows alone",
                hint=Hint(
                    "Limits(groups=5, rows_per_group=10), Limits(rows=50, groups=8) or Limits(rows=50)",
                    cli="--limits 5x10, 50in8 or 50",
                    file="{ groups = 5, rows_per_group = 10 }, { rows = 50, groups = 8 } or { rows = 50 }",
                ),
            )

    def __str__(self) -> str:
        if self.rows is None:
            return f"{self.groups} groups × {self.rows_per_group} rows"
        return f"{self.rows} rows" if self.groups is None else f"{self.rows} rows in {self.groups} groups"


# ── Neighbours ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Adjacency(StrEnum):
    """How two neighbouring tables differ.

    A guarantee under substitution follows from one under add-remove, at twice the ε or four times the ρ if it has no δ,
    and not the reverse, so certificates always name the relation. Of (ε, δ)-DP it is (2ε, (1 + e^ε)·δ); see
    `discreet.accounting.group`.

    Examples:
        >>> Adjacency("add_remove") is ADD_REMOVE
        True
    """

    ADD_REMOVE = "add_remove"
    """One has all rows of one unit more than the other ("unbounded" in some texts)."""

    SUBSTITUTION = "substitution"
    """The rows of one unit are replaced by rows of one other ("bounded")."""


ADD_REMOVE = Adjacency.ADD_REMOVE
SUBSTITUTION = Adjacency.SUBSTITUTION


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far the exact answer can move between neighbours, in steps of its grid.

    Args:
        l0: in how many coordinates it can move.
        linf: how far one coordinate can move.
        l1: how far all coordinates can move together, in sum.
        l2_squared: the square of how far they can move in the Euclidean norm; squared, so that it's exact.

    Raises:
        InvalidArgument: a norm is negative, or the norms contradict each other (`linf ≤ l2 ≤ l1 ≤ l0·linf` holds
            for every vector, so a declaration that breaks it would hide a mistake).

    Examples:
        >>> Sensitivity.scalar(3).l1
        3
    """

    l0: int
    linf: int
    l1: int
    l2_squared: Fraction

    def __post_init__(self) -> None:
        consistent = 0 <= self.linf <= self.l1 <= self.l0 * self.linf and (
            self.linf**2 <= self.l2_squared <= min(self.l1**2, self.l1 * self.linf)
        )
        if not consistent:
            raise InvalidArgument(f"no vector has these norms: {self}")

    @classmethod
    def scalar(cls, size: int) -> Sensitivity:
        """The sensitivity of one number that moves by at most `size` steps."""
        return cls(l0=1, linf=size, l1=size, l2_squared=Fraction(size * size))
