"""Whose presence is hidden, which tables are neighbours, and how far an exact answer moves between them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Literal, Self, get_args

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.hints import Hint

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
        """The unit in words."""
        if self.column is None:
            return "row"
        return self.column if self.per is None else f"{self.column} per {self.per} of {self.at}"


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
        """Check what holds for any vector."""
        consistent = 0 <= self.linf <= self.l1 <= self.l0 * self.linf and (
            self.linf**2 <= self.l2_squared <= min(self.l1**2, self.l1 * self.linf)
        )
        if not consistent:
            raise InvalidArgument(f"no vector has these norms: {self}")

    @classmethod
    def scalar(cls, size: int) -> Sensitivity:
        """The sensitivity of one number that moves by at most `size` steps."""
        return cls(l0=1, linf=size, l1=size, l2_squared=Fraction(size * size))
