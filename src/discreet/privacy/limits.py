"""Limits: how much one unit may contribute to one question."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one unit may contribute to one question, in one of two shapes.

    Either `groups` and `rows_per_group`, or `rows` over all groups together. A unit over a limit isn't cut off row
    by row: its rows count for less, so that together they weigh exactly the limit. Which groups a unit over
    `groups` keeps is decided by a hash of its own rows.

    Args:
        groups: in how many groups of one answer a unit may appear; 1 or more.
        rows_per_group: how many rows of a unit count fully within a group; 1 or more.
        rows: how many rows of a unit count fully in all groups together; 1 or more.

    Raises:
        InvalidArgument: neither shape is complete, both are mixed, or a limit is below 1.

    Examples:
        >>> print(Limits(groups=5, rows_per_group=10))
        5 groups × 10 rows
        >>> print(Limits(rows=50))
        50 rows
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
        by_rows = self.rows is not None and self.groups is None and self.rows_per_group is None
        if not (by_group or by_rows):
            raise InvalidArgument(
                "limits come in two shapes: groups with rows_per_group, or rows alone",
                hint="Limits(groups=5, rows_per_group=10) or Limits(rows=50)",
            )

    def __str__(self) -> str:
        """The limits in words."""
        return f"{self.groups} groups × {self.rows_per_group} rows" if self.rows is None else f"{self.rows} rows"
