"""Limits: how much one unit may contribute to one question."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.hints import Hint


@taking_known
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one unit may contribute to one question, in one of three shapes.

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
                "limits have three shapes: groups with rows_per_group, rows with groups, or rows alone",
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
