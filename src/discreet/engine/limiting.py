"""Limiting what each unit contributes, and adding up: the SQL of each shape of limits. Pure.

The statements read two views. `entries` has one row per private row that counts: the unit's columns `u0, u1`, the
keys `k0, k1, …` (its number in a public list, or the value itself), and `v0, v1, …`, the BIGINT or NULL that the row
adds to each measure. `asked` is the same before rows whose key isn't public were left out, with the unit's columns
only. Sums have 128 bits, 16 more than 2^48 rows of 64 bits need, or 64 bits where the table is too small to fill them.

Only units over a limit cost more than a plain aggregation. They are found first; then everything is added up as if
there were no limits, and what those units have too much is taken off again. In integers, that is exact.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
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
        what: one for each unit; the same integer for each row; the same for each row whose `v` column isn't NULL; or
            what that column says.
        greatest: the most that a row adds, up to sign.
        constant: the same integer, where it is one.
    """

    what: Literal["units", "constant", "present", "values"]
    greatest: int
    constant: int = 0


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
        limits: the shape in force; a unit that is a row needs none.
        salt: public text.
        rows: how many rows the table has, or more. It decides how wide integers must be, not what they are.
    """

    units: int
    keys: int
    measures: tuple[Adds, ...]
    groups: int | None
    limits: Limits
    salt: str
    late: tuple[int, ...] = ()
    rows: int = MOST_ROWS

    def width(self, greatest: int) -> Literal["BIGINT", "HUGEINT"] | None:
        """The type that holds a sum, over all rows, of integers up to `greatest`; None if there is none."""
        return "BIGINT" if greatest * self.rows < 2**62 else "HUGEINT" if greatest * self.rows < 2**126 else None


@dataclass(frozen=True, slots=True)
class Program:
    """Statements that make temporary tables, and the query of the answer: `k0, k1, …`, then one column per measure."""

    setup: tuple[str, ...]
    query: str


def limiting(shape: Shape) -> Program:
    """The statements that limit each unit and add up."""
    if shape.units == 0:
        return Program((), _each_row(shape))
    if not shape.keys and all(adds.what == "units" for adds in shape.measures):
        return Program((), f"SELECT {_list('n' for _ in shape.measures)} FROM ({_distinct_units(shape)})")
    if shape.limits.groups is not None and shape.limits.rows_per_group is not None:
        return _by_groups(shape, shape.limits.groups, shape.limits.rows_per_group)
    if shape.limits.rows is not None:
        return _by_rows(shape, shape.limits.rows)
    raise TypeError


def salted(salt: str) -> str:
    """The salt as a number that goes into the hash: text of any length, and of whatever signs, becomes a constant.

    Examples:
        >>> salted("census")
        'CAST(8748733952121696249 AS UBIGINT)'
    """
    return f"CAST({int.from_bytes(hashlib.sha256(salt.encode()).digest()[:8])} AS UBIGINT)"


def looked_up(number: int) -> str:
    """The join that finds a key in its public list and leaves out what isn't there."""
    return f"JOIN list{number} ON k{number} IS NOT DISTINCT FROM list{number}.v"


def _each_row(shape: Shape) -> str:
    """Each row is a unit, so there is nothing to limit."""
    plain = _plain(shape, units="count(*)")
    if not shape.late:
        return plain
    keys = (f"list{number}.i AS k{number}" if number in shape.late else f"k{number}" for number in range(shape.keys))
    measures = _names("m", len(shape.measures))
    return f"SELECT {_list(keys, measures)} FROM ({plain}) {' '.join(map(looked_up, shape.late))}"


def _by_rows(shape: Shape, limit: int) -> Program:
    """At most `limit` rows of a unit count, over all groups together.

    `heavy` are all units that may be over the limit: rows that no public key lists are counted too, which spares
    the first pass from looking keys up. Their exact totals come out of `pairs`.
    """
    unit, keys = _names("u", shape.units), _names("k", shape.keys)
    pairs = f"SELECT {_list(unit, keys, _sums(shape))} FROM {ENTRIES} JOIN heavy USING ({_list(unit)})"
    surplus = [
        f"sum({_share(total, 'total', limit, shape.width(adds.greatest * limit))} - {total})"
        for adds, total in zip(shape.measures, _totals(shape), strict=True)
    ]
    query = f"""
        WITH excess AS (
            SELECT {_list(unit)}, CAST(sum(n) AS BIGINT) AS total FROM pairs GROUP BY {_list(unit)}
            HAVING sum(n) > {limit}
        ), parts AS (
            {_plain(shape, units=f"(SELECT n FROM ({_distinct_units(shape)}))")}
            UNION ALL
            SELECT {_list(keys, surplus)} FROM pairs JOIN excess USING ({_list(unit)}) {_group_by(keys)}
        )
        SELECT {_list(keys, (f"coalesce(sum(m{number}), 0)" for number in range(len(shape.measures))))}
        FROM parts {_group_by(keys)}
    """
    return Program(
        (
            f"CREATE TEMP TABLE heavy AS SELECT {_list(unit)} FROM {ASKED} {_group_by(unit)} HAVING count(*) > {limit}",
            f"CREATE TEMP TABLE pairs AS {pairs} {_group_by([*unit, *keys])}",
        ),
        query,
    )


def _by_groups(shape: Shape, groups: int, limit: int) -> Program:
    """A unit counts in at most `groups` groups, and with at most `limit` rows in each.

    Which groups a unit keeps is decided by a hash of its own id, the key and the salt, and by the key itself where
    hashes are equal: whoever chooses the keys may have chosen them to collide. So no other unit has a say in it, and
    a unit never keeps more than `groups`.
    """
    unit, keys = _names("u", shape.units), _names("k", shape.keys)
    pairs = f"CREATE TEMP TABLE pairs AS SELECT {_list(unit, keys, _sums(shape))} FROM {ENTRIES}"
    setup = [f"{pairs} {_group_by([*unit, *keys])}"]
    parts = [_kept("pairs", shape, limit, sign=1)]
    if keys and (shape.groups is None or shape.groups > groups):
        order = f"hash({_list(unit, keys)}, {salted(shape.salt)}), {_list(keys)}"
        crowded = f"SELECT {_list(unit)} FROM pairs {_group_by(unit)} HAVING count(*) > {groups}"
        rank = f"row_number() OVER (PARTITION BY {_list(unit)} ORDER BY {order})"
        dropped = f"SELECT {_list(keys, _sum_names(shape))} FROM pairs SEMI JOIN crowded USING ({_list(unit)})"
        setup.append(f"CREATE TEMP TABLE crowded AS {crowded}")
        setup.append(f"CREATE TEMP TABLE dropped AS {dropped} QUALIFY {rank} > {groups}")
        parts.append(_kept("dropped", shape, limit, sign=-1))
    measures = (f"coalesce(sum(m{number}), 0)" for number in range(len(shape.measures)))
    return Program(
        tuple(setup),
        f"SELECT {_list(keys, measures)} FROM ({' UNION ALL '.join(parts)}) {_group_by(keys)}"
        + (" HAVING sum(present) > 0" if keys else ""),
    )


def _kept(table: str, shape: Shape, limit: int, *, sign: int) -> str:
    """What the pairs of a table add up to, per group, after the limit on rows; and how many they are."""
    keys = _names("k", shape.keys)
    added = []
    for adds, total in zip(shape.measures, _totals(shape), strict=True):
        share = _share(total, "n", limit, shape.width(adds.greatest * limit))
        share = f"CASE WHEN n > {limit} THEN {share} ELSE {total} END"
        by_kind = {
            "units": "count(*)",
            "constant": f"sum(least(n, {limit})) * {adds.constant}",
            "present": f"sum({share})",
            "values": f"sum({share})",
        }
        added.append(by_kind[adds.what])
    measures = (f"{sign} * {each} AS m{number}" for number, each in enumerate(added))
    return f"SELECT {_list(keys, measures)}, {sign} * count(*) AS present FROM {table} {_group_by(keys)}"


def _plain(shape: Shape, *, units: str) -> str:
    """What all entries add up to, per group, without any limit."""
    keys = _names("k", shape.keys)
    measures = []
    for number, adds in enumerate(shape.measures):
        constant = f"count(*) * CAST({adds.constant} AS HUGEINT)"
        present = f"count(v{number}) * CAST({adds.constant} AS HUGEINT)"
        total = f"coalesce(sum(v{number}), 0)"
        by_kind = {"units": units, "constant": constant, "present": present, "values": total}
        measures.append(f"{by_kind[adds.what]} AS m{number}")
    return f"SELECT {_list(keys, measures)} FROM {ENTRIES} {_group_by(keys)}"


def _distinct_units(shape: Shape) -> str:
    """How many units there are: `n`. DuckDB counts groups faster than COUNT(DISTINCT)."""
    unit = _names("u", shape.units)
    return f"SELECT count(*) AS n FROM (SELECT {_list(unit)} FROM {ENTRIES} {_group_by(unit)})"


def _sum_names(shape: Shape) -> list[str]:
    """What is known of a unit's rows in one group: how many, `n`, and of each measure the sum or count, `s0, s1, …`."""
    return ["n", *(f"s{number}" for number, adds in enumerate(shape.measures) if adds.what in {"present", "values"})]


def _sums(shape: Shape) -> list[str]:
    """The aggregates behind `_sum_names`."""
    sums = ["count(*) AS n"]
    for number, adds in enumerate(shape.measures):
        if adds.what == "present":
            sums.append(f"count(v{number}) AS s{number}")
        elif adds.what == "values":
            sums.append(f"CAST(coalesce(sum(v{number}), 0) AS {shape.width(adds.greatest)}) AS s{number}")
    return sums


def _totals(shape: Shape) -> list[str]:
    """For each measure, a unit's exact total in one group, of the columns that `_sums` made."""
    totals = []
    for number, adds in enumerate(shape.measures):
        counted = "n" if adds.what == "constant" else f"s{number}"
        scaled = f"CAST({counted} AS {shape.width(adds.greatest)}) * {adds.constant}"
        totals.append({"units": "0", "values": f"s{number}"}.get(adds.what, scaled))
    return totals


def _share(total: str, rows: str, limit: int, width: str | None) -> str:
    """A unit's total times limit/rows, exact, rounded towards zero as integer division does.

    Args:
        total: what its rows add up to.
        rows: how many they are; more than `limit`.
        limit: how many count.
        width: the type that holds the product; None if it may need more than 127 bits. Then quotient and remainder,
            which have the total's sign, are scaled apart.
    """
    if width is not None:
        return f"(CAST({total} AS {width}) * {limit}) // {rows}"
    return f"(({total}) // {rows}) * {limit} + ((({total}) % {rows}) * {limit}) // {rows}"


def _names(prefix: str, count: int) -> list[str]:
    """Numbered columns."""
    return [f"{prefix}{number}" for number in range(count)]


def _list(*parts: Iterable[str]) -> str:
    """A comma-separated list of all parts."""
    return ", ".join(each for part in parts for each in part)


def _group_by(columns: list[str]) -> str:
    """The clause, or nothing, for one group."""
    return f"GROUP BY {_list(columns)}" if columns else ""
