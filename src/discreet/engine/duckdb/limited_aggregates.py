"""Aggregates of contributions, without limits and with them: what is summed, and how often each value occurs.

Sums come to one integer per unit and group, which limits scale. Of counts by value, what counts of a unit is how often
it has each value in each group: a row of `triples`. They are made of those rows only that a limit may touch. All others
are counted as in a plain GROUP BY.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.engine.duckdb.limit_statements import Adds, Shape, group_by, hash_rank, listed, numbered

NOTHING = "0 * count(*)"
"""What a measure is where others are added up: an aggregate, so that there is one row for one group."""


def plain(shape: Shape, *, units: str) -> str:
    """What all contributions add up to, per group, without any limit.

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
    return f"SELECT {listed(keys, measures)} FROM {shape.contributions} {group_by(keys)}"


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
    return f"SELECT count(*) AS n FROM (SELECT {listed(unit)} FROM {shape.contributions} {group_by(unit)})"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The rows that a limit may touch, and what it holds within.

    Args:
        rows: a table with the columns of `contributions`: all rows of units, or of pairs of unit and group, that may be
            over the limit. Where a pair doesn't count at all, its unit is NULL, as no other unit is.
        within: what the limit holds within: the columns of the unit, and those of the group if it holds in each.
        limit: on values, or on rows that have one.
    """

    rows: str
    within: list[str]
    limit: int


def value_tables(shape: Shape, scope: Scope) -> Iterator[str]:
    """Tables of what limits may touch: `triples…`, each with how many rows it is, `c`; and, of those, `lost…`.

    Lost are the values that a unit has beyond the limit, whose choice is by hash, and those of pairs left out.
    """
    unit, keys = numbered("u", shape.units), numbered("k", shape.keys)
    for number, adds in _of_values(shape):
        triples = f"SELECT {listed(unit, keys)}, v{number} AS v, count(*) AS c FROM {scope.rows}"
        yield f"CREATE TEMP TABLE triples{number} AS {triples} WHERE v{number} IS NOT NULL GROUP BY ALL"
        if adds.what == "distinct":
            lost = f"SELECT {listed(keys)}{',' if keys else ''} v, c FROM triples{number}"
            beyond = f"{hash_rank(scope.within, unit, [*keys, 'v'], shape.salt)} > {scope.limit}"
            yield (
                f"CREATE TEMP TABLE lost{number} AS {lost} WHERE u0 IS NOT NULL QUALIFY {beyond} "
                f"UNION ALL {lost} WHERE u0 IS NULL"
            )


def different(shape: Shape) -> Iterator[str]:
    """For each measure of different values, how many there are, per group; the other measures are 0.

    A value is there as long as not all of its rows are lost.
    """
    keys = numbered("k", shape.keys)
    for number, adds in _of_values(shape):
        if adds.what == "distinct":
            pair = listed(keys, ["v"])
            left = f"""
                SELECT {pair} FROM (
                    SELECT {listed(keys, [f"v{number} AS v"])}, count(*) AS c FROM {shape.contributions}
                    WHERE v{number} IS NOT NULL GROUP BY ALL
                    UNION ALL SELECT {pair}, -c FROM lost{number}
                ) GROUP BY ALL HAVING sum(c) > 0
            """
            measures = (
                f"{'count(*)' if other == number else NOTHING} AS m{other}" for other in range(len(shape.measures))
            )
            yield f"SELECT {listed(keys, measures)} FROM ({left}) {group_by(keys)}"


def histograms(shape: Shape, scope: Scope) -> Iterator[str]:
    """For each histogram, its counts: those without a limit, less what units have too much, less pairs left out."""
    keys = numbered("k", shape.keys)
    for number, adds in _of_values(shape):
        if adds.what == "histogram":
            total = weighed("c", adds, shape)
            share = shared(total, "n", scope.limit, shape.width(adds.greatest * scope.limit))
            rows_within = f"CAST(sum(c) OVER (PARTITION BY {listed(scope.within)}) AS BIGINT) AS n"
            bins = listed(keys, ["v AS bin"])
            yield f"""
                SELECT {listed(keys, ["bin"])}, CAST(sum(count) AS {shape.width(adds.greatest)}) AS count FROM (
                    {whole_histogram(shape, number, adds)}
                    UNION ALL
                    SELECT {bins}, sum({share} - {total}) AS count
                    FROM (SELECT *, {rows_within} FROM triples{number} WHERE u0 IS NOT NULL)
                    WHERE n > {scope.limit} GROUP BY ALL
                    UNION ALL
                    SELECT {bins}, -sum({total}) AS count FROM triples{number} WHERE u0 IS NULL GROUP BY ALL
                ) GROUP BY ALL HAVING sum(count) > 0
            """


def whole_histogram(shape: Shape, number: int, adds: Adds) -> str:
    """A histogram of all contributions, without any limit."""
    bins = listed(numbered("k", shape.keys), [f"v{number} AS bin"])
    count = weighed("count(*)", adds, shape)
    return f"SELECT {bins}, {count} AS count FROM {shape.contributions} WHERE v{number} IS NOT NULL GROUP BY ALL"


def _of_values(shape: Shape) -> Iterator[tuple[int, Adds]]:
    """The measures that count values, with their numbers."""
    return ((number, adds) for number, adds in enumerate(shape.measures) if adds.is_of_values)
