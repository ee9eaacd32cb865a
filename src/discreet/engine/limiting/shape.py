"""What the limiting SQL depends on, and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from discreet.privacy import Limits

ASKED = "asked"
ENTRIES = "entries"

MOST_ROWS = 2**48
"""More rows than any table has, so that a sum of 64-bit integers always fits in 128 bits."""


@dataclass(frozen=True, slots=True)
class Adds:
    """What a measure adds up.

    Args:
        what: which of these.
            units: one for each unit.
            constant: the same integer for each row.
            present: the same integer for each row whose `v` column isn't NULL.
            values: what the `v` column says, a BIGINT or NULL.
            distinct: one for each different value of the `v` column, of any type but real; NULL is none.
            histogram: the same integer for each row, 2^-grid, in the bin whose number the `v` column says, a BIGINT;
                NULL is in none.
        greatest: the most that a row adds, up to sign.
        constant: the same integer, where it is one; from 1 to 2^62 for a histogram.
    """

    what: Literal["units", "constant", "present", "values", "distinct", "histogram"]
    greatest: int
    constant: int = 0

    @property
    def is_summed(self) -> bool:
        """Whether a unit's rows in a group come down to one integer, which limits scale."""
        return self.what in {"constant", "present", "values"}

    @property
    def is_of_values(self) -> bool:
        """Whether it matters how often a unit has each value."""
        return self.what in {"distinct", "histogram"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the SQL depends on: numbers and limits, no names and no values.

    Args:
        units: how many columns say whose a row is; none, if each row is a unit.
        keys: how many columns say which group a row is in.
        measures: what each adds up.
        groups: how many groups there can be, if all keys are public.
        late: keys that are looked up in their lists only after adding up; where each row is a unit, and a column's
            declared keys promise few groups.
        doors: views that the rows come from, each with `u0, u1`, and with a twin that has all rows (see `everybody`):
            they may be narrowed to some units, so that nothing is computed of the others. None, if that makes no
            difference.
        limits: the shape in force; a unit that is a row needs none.
        salt: public text.
        entries: where the rows come from: the view, or what is left of it.
        rows: how many rows the table has, or more. It decides how wide integers must be, not what they are.
    """

    units: int
    keys: int
    measures: tuple[Adds, ...]
    groups: int | None
    limits: Limits
    salt: str
    late: tuple[int, ...] = ()
    doors: tuple[str, ...] = ()
    entries: str = ENTRIES
    rows: int = MOST_ROWS

    def width(self, greatest: int) -> Literal["BIGINT", "HUGEINT"] | None:
        """The type that holds a sum, over all rows, of integers up to `greatest`; None if there is none."""
        return "BIGINT" if greatest * self.rows < 2**62 else "HUGEINT" if greatest * self.rows < 2**126 else None


@dataclass(frozen=True, slots=True)
class Program:
    """Statements that make temporary tables, and the queries of the answer, each of which may be given an ORDER BY.

    Args:
        setup: to be run first, in this order.
        query: `k0, k1, …`, then `m0, m1, …`, one column per measure; 0 for a histogram. All groups are here.
        histograms: one query for each histogram, in the order of the measures: `k0, k1, …, bin, count`, one row for
            each bin of a group whose count isn't 0; in no order, and of no groups but those of `query`. A count is in
            steps, so a row within the limits counts 2^-grid. It is a BIGINT where steps × rows are below 2^62, which
            NumPy and Arrow read without loss, and a HUGEINT elsewhere. Keys are as in `query`.
    """

    setup: tuple[str, ...]
    query: str
    histograms: tuple[str, ...] = ()
