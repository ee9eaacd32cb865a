"""Units of privacy: whose presence is hidden."""

from __future__ import annotations

from dataclasses import dataclass
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
    """The unit whose presence a release hides: a row, an id, or an id during one period.

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
                    f"a unit's {name} must be a name, not {type(said).__name__}",
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
            raise InvalidArgument("a unit with a period needs an id column", hint=_PERIOD)
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
