"""Adding up what comes to one integer per unit and group: rows, and integers that rows bring along."""

from __future__ import annotations

from discreet.engine.limiting.clauses import group_by, listed, numbered
from discreet.engine.limiting.shape import Adds, Shape

NOTHING = "0 * count(*)"
"""What a measure is where others are added up: an aggregate, so that there is one row for one group."""


def plain(shape: Shape, *, units: str) -> str:
    """What all entries add up to, per group, without any limit.

    Different values can't be corrected by what units over the limit have too much, so they are counted elsewhere,
    unless there is no limit because each row is a unit.
    """
    keys = numbered("k", shape.keys)
    measures = []
    for number, adds in enumerate(shape.measures):
        by_kind = {
            "units": units,
            "constant": f"count(*) * CAST({adds.constant} AS HUGEINT)",
            "present": f"count(v{number}) * CAST({adds.constant} AS HUGEINT)",
            "values": f"coalesce(sum(v{number}), 0)",
            "distinct": NOTHING if shape.units else f"count(DISTINCT v{number})",
            "histogram": NOTHING,
        }
        measures.append(f"{by_kind[adds.what]} AS m{number}")
    return f"SELECT {listed(keys, measures)} FROM {shape.entries} {group_by(keys)}"


def kept(table: str, shape: Shape, limit: int, *, sign: int) -> str:
    """What the pairs of a table add up to, per group, after the limit on rows; and how many they are."""
    keys = numbered("k", shape.keys)
    added = []
    for adds, total in zip(shape.measures, totals(shape), strict=True):
        share = shared(total, "n", limit, shape.width(adds.greatest * limit))
        share = f"CASE WHEN n > {limit} THEN {share} ELSE {total} END"
        by_kind = {
            "units": "count(*)",
            "constant": f"sum(least(n, {limit})) * {adds.constant}",
            "present": f"sum({share})",
            "values": f"sum({share})",
        }
        added.append(by_kind.get(adds.what, NOTHING))
    measures = (f"{sign} * {each} AS m{number}" for number, each in enumerate(added))
    return f"SELECT {listed(keys, measures)}, {sign} * count(*) AS present FROM {table} {group_by(keys)}"


def surplus(pairs: str, shape: Shape, limit: int) -> str:
    """What is too much, per group, of pairs that are joined with their unit's rows in `total`; negative."""
    keys = numbered("k", shape.keys)
    measures = [
        f"sum({shared(total, 'total', limit, shape.width(adds.greatest * limit))} - {total})"
        for adds, total in zip(shape.measures, totals(shape), strict=True)
    ]
    return f"SELECT {listed(keys, measures)} FROM {pairs} {group_by(keys)}"


def distinct_units(shape: Shape) -> str:
    """How many units there are: `n`. DuckDB counts groups faster than COUNT(DISTINCT)."""
    unit = numbered("u", shape.units)
    return f"SELECT count(*) AS n FROM (SELECT {listed(unit)} FROM {shape.entries} {group_by(unit)})"


def sum_names(shape: Shape) -> list[str]:
    """What is known of a unit's rows in one group: how many, `n`, and of each measure the sum or count, `s0, s1, …`."""
    return ["n", *(f"s{number}" for number, adds in enumerate(shape.measures) if adds.what in {"present", "values"})]


def sums(shape: Shape) -> list[str]:
    """The aggregates behind `sum_names`."""
    found = ["count(*) AS n"]
    for number, adds in enumerate(shape.measures):
        if adds.what == "present":
            found.append(f"count(v{number}) AS s{number}")
        elif adds.what == "values":
            found.append(f"CAST(coalesce(sum(v{number}), 0) AS {shape.width(adds.greatest)}) AS s{number}")
    return found


def totals(shape: Shape) -> list[str]:
    """For each measure, a unit's exact total in one group, of the columns that `sums` made; 0 if it isn't summed."""
    found = []
    for number, adds in enumerate(shape.measures):
        by_kind = {
            "constant": weighed("n", adds, shape),
            "present": weighed(f"s{number}", adds, shape),
            "values": f"s{number}",
        }
        found.append(by_kind.get(adds.what, "0"))
    return found


def weighed(rows: str, adds: Adds, shape: Shape) -> str:
    """A number of rows, times what each of them adds."""
    return f"CAST({rows} AS {shape.width(adds.greatest)}) * {adds.constant}"


def shared(total: str, rows: str, limit: int, width: str | None) -> str:
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
