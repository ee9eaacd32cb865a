"""What the SQL of limits depends on, what it is, and parts of its statements. Pure.

The statements read two views. `contributions` has one row per private row that counts: the unit's columns `u0, u1`,
never NULL; the keys `k0, k1, …` (its number in a public list, or the value itself); and `v0, v1, …`, what the row
contributes to each measure that needs it (see `Adds`). `source_rows` is the same before rows whose key isn't public
were left out, with the unit's columns only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from discreet.privacy import Limits

SOURCE_ROWS = "source_rows"
CONTRIBUTIONS = "contributions"

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
        scans: views that the rows come from, each with `u0, u1`, and with a twin that has all rows (see `all_units`):
            they may be narrowed to some units, so that nothing is computed of the others. None, if that makes no
            difference.
        limits: the shape in force; a unit that is a row needs none.
        salt: public text.
        contributions: where the rows come from: the view, or what is left of it.
        rows: how many rows the table has, or more. It decides how wide integers must be, not what they are.
    """

    units: int
    keys: int
    measures: tuple[Adds, ...]
    groups: int | None
    limits: Limits
    salt: str
    late: tuple[int, ...] = ()
    scans: tuple[str, ...] = ()
    contributions: str = CONTRIBUTIONS
    rows: int = MOST_ROWS

    def width(self, greatest: int) -> Literal["BIGINT", "HUGEINT"] | None:
        """The type that holds a sum, over all rows, of integers up to `greatest`; None if there is none."""
        return "BIGINT" if greatest * self.rows < 2**62 else "HUGEINT" if greatest * self.rows < 2**126 else None


@dataclass(frozen=True, slots=True)
class Statements:
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


def salted(salt: str) -> str:
    """The salt as a number that goes into the hash: text of any length, and of whatever signs, becomes a constant.

    Examples:
        >>> salted("census")
        'CAST(8748733952121696249 AS UBIGINT)'
    """
    return f"CAST({int.from_bytes(hashlib.sha256(salt.encode()).digest()[:8])} AS UBIGINT)"


def hash_rank(within: Sequence[str], unit: Sequence[str], chosen: Sequence[str], salt: str) -> str:
    """The rank of what is to be chosen, in an order of the unit's own; the first ones are kept.

    The order is by a hash of its own id, what is chosen and the salt, and by what is chosen itself where hashes are
    equal: an analyst who chooses the keys and values may have chosen them to collide. So no other unit has a say in
    it, and no two have the same rank.

    Args:
        within: the columns within which ranks are counted: the unit, and perhaps its group.
        unit: the columns that say whose it is.
        chosen: the columns that say what it is; no two rows have the same in all of `within` and `chosen`.
        salt: public text.
    """
    order = f"hash({listed(unit, chosen)}, {salted(salt)}), {listed(chosen)}"
    return f"row_number() OVER (PARTITION BY {listed(within)} ORDER BY {order})"


def all_units(scan: str) -> str:
    """The twin of a scan view that has the rows of all units, whatever the view itself is narrowed to."""
    return f"{scan}_all"


def show_units(scan: str, unit: Sequence[str], units: str) -> str:
    """The statement that narrows a scan view to the units of a table."""
    return f"CREATE OR REPLACE TEMP VIEW {scan} AS FROM {all_units(scan)} SEMI JOIN {units} USING ({listed(unit)})"


def show_all_units(scan: str) -> str:
    """The statement by which a scan view shows all units, at first or again."""
    return f"CREATE OR REPLACE TEMP VIEW {scan} AS FROM {all_units(scan)}"


def key_lookup(number: int) -> str:
    """The join that finds a key in its public list and leaves out what isn't there."""
    return f"JOIN keys{number} ON k{number} IS NOT DISTINCT FROM keys{number}.v"


def matching(left: str, right: str, unit: Iterable[str], keys: Iterable[str]) -> str:
    """The condition that two tables are of the same unit and group. A key may be NULL, a unit that counts never is."""
    equal = [f"{left}.{column} = {right}.{column}" for column in unit]
    return " AND ".join([*equal, *(f"{left}.{key} IS NOT DISTINCT FROM {right}.{key}" for key in keys)])


def numbered(prefix: str, count: int) -> list[str]:
    """Numbered columns."""
    return [f"{prefix}{number}" for number in range(count)]


def listed(*parts: Iterable[str]) -> str:
    """A comma-separated list of all parts."""
    return ", ".join(each for part in parts for each in part)


def group_by(columns: Sequence[str]) -> str:
    """The clause, or nothing, for one group."""
    return f"GROUP BY {listed(columns)}" if columns else ""
