"""Counting values: how many different ones there are, and how often each one occurs.

What counts of a unit is here how often it has each value in each group: a row of `triples`. They are made of those
rows only that a limit may touch. All others are counted as in a plain GROUP BY.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.engine.limiting.clauses import group_by, listed, numbered, place
from discreet.engine.limiting.shape import Adds, Shape
from discreet.engine.limiting.sums import NOTHING, shared, weighed


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The rows that a limit may touch, and what it holds within.

    Args:
        rows: a table with the columns of `entries`: all rows of units, or of pairs of unit and group, that may be
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
            beyond = f"{place(scope.within, unit, [*keys, 'v'], shape.salt)} > {scope.limit}"
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
                    SELECT {listed(keys, [f"v{number} AS v"])}, count(*) AS c FROM {shape.entries}
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
    """A histogram of all entries, without any limit."""
    bins = listed(numbered("k", shape.keys), [f"v{number} AS bin"])
    count = weighed("count(*)", adds, shape)
    return f"SELECT {bins}, {count} AS count FROM {shape.entries} WHERE v{number} IS NOT NULL GROUP BY ALL"


def _of_values(shape: Shape) -> Iterator[tuple[int, Adds]]:
    """The measures that count values, with their numbers."""
    return ((number, adds) for number, adds in enumerate(shape.measures) if adds.is_of_values)
