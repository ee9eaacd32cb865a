"""Adding up what parts found: integers of equal groups, counts of equal bins, and different values once.

Parts have no unit in common, so a group's integers are the sums of those that its parts have. Values may be in several
parts; so each part says which it has, and they are counted here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from discreet.duckdb.session import Connection
from discreet.engine.duckdb.aggregation import NOTHING, Shape, Statements, of_values
from discreet.engine.duckdb.clauses import group_by, listed, numbered
from discreet.engine.duckdb.many_groups import ManyGroups

if TYPE_CHECKING:
    import pyarrow as pa


class Found(NamedTuple):
    """What one part found, as relations in SQL.

    Args:
        groups: as `Statements.query` says.
        values: as `Statements.values` says.
        histograms: as `Statements.histograms` says.
    """

    groups: str
    values: tuple[str, ...]
    histograms: tuple[str, ...]

    @classmethod
    def of(cls, relations: Sequence[str], values: int) -> Found:
        """Relations in the order of `Statements.queries`, of which so many are of values."""
        return cls(relations[0], tuple(relations[1 : 1 + values]), tuple(relations[1 + values :]))

    @classmethod
    def here(cls, statements: Statements) -> Found:
        """What is still to be computed, by the queries themselves."""
        return cls.of([f"({query})" for query in statements.queries], len(statements.values))

    @classmethod
    def kept(cls, connection: Connection, statements: Statements, number: int) -> Found:
        """What is computed now, and kept in tables that other connections to the instance see; ends the transaction."""
        tables = [f"memory.main.part{number}_{place}" for place in range(len(statements.queries))]
        for table, query in zip(tables, statements.queries, strict=True):
            connection.execute(f"CREATE TABLE {table} AS {query}")
        connection.execute("COMMIT")
        return cls.of(tables, len(statements.values))


def added_up(
    connection: Connection, shape: Shape, found: Sequence[Found]
) -> tuple[Sequence[tuple[Any, ...]], list[pa.Table]]:
    """The groups of all parts, and each histogram as two lists for each group."""
    return added_groups(connection, shape, found), added_bins(connection, shape, found)


def added_groups(connection: Connection, shape: Shape, found: Sequence[Found]) -> Sequence[tuple[Any, ...]]:
    """The groups of all parts, in the order of their keys: that of first appearance would tell whose row came first.

    Returns:
        `k0, k1, …, m0, m1, …` of each; where keys aren't public, there may be millions.
    """
    whole = found[0] if len(found) == 1 else combined(shape, found)  # one part has each group and value once
    counted = [f"({query})" for query in _counted(shape, whole)]
    groups = _summed(shape, [whole.groups, *counted]) if counted else f"FROM {whole.groups}"
    in_order = f"ORDER BY {listed(numbered('k', shape.keys))}" if shape.keys else ""
    query = f"{groups} {in_order}"
    return ManyGroups(connection.arrow(query), tuple) if shape.groups is None else connection.execute(query)


def added_bins(
    connection: Connection, shape: Shape, found: Sequence[Found], number: int = 0, of: int = 1
) -> list[pa.Table]:
    """Each histogram of all parts as two lists for each group: a row for each of many bins would take twice the time.

    Args:
        connection: that sees what the parts found.
        shape: of the question.
        found: by each part.
        number: of the share of the bins that is asked for, from 0.
        of: how many shares there are.
    """
    keys = numbered("k", shape.keys)
    lists = listed(keys, ["list(bin)", "list(count)"])
    own = f"WHERE bin % {of} = {number}" if of > 1 else ""
    some = "HAVING count(*) > 0"  # also where there are no keys
    return [
        connection.arrow(f"SELECT {lists} FROM {_bins(shape, same, own)} WHERE count > 0 {group_by(keys)} {some}")
        for same in zip(*(each.histograms for each in found), strict=True)
    ]


def combined(shape: Shape, found: Sequence[Found]) -> Found:
    """What several parts found, as one: equal groups, bins and values are there once, and integers are added.

    Args:
        shape: of the question.
        found: by parts that have no unit in common.
    """
    keys = numbered("k", shape.keys)
    return Found(
        f"({_summed(shape, [each.groups for each in found])})",
        tuple(
            f"(SELECT DISTINCT {listed(keys, ['value'])} FROM ({_all(same)}))"
            for same in zip(*(each.values for each in found), strict=True)
        ),
        tuple(_bins(shape, same) for same in zip(*(each.histograms for each in found), strict=True)),
    )


def _summed(shape: Shape, groups: Sequence[str]) -> str:
    """The sums of equal groups."""
    keys = numbered("k", shape.keys)
    sums = (f"CAST(coalesce(sum(m{number}), 0) AS HUGEINT) AS m{number}" for number in range(len(shape.measures)))
    return f"SELECT {listed(keys, sums)} FROM ({_all(groups)}) {group_by(keys)}"


def _bins(shape: Shape, same: Sequence[str], own: str = "") -> str:
    """The sums of equal bins of a histogram; `own` says of which bins, before they are added up."""
    sums = listed(numbered("k", shape.keys), ["bin", "CAST(sum(count) AS HUGEINT) AS count"])
    return f"(SELECT {sums} FROM ({_all(same)}) {own} GROUP BY ALL)"


def _counted(shape: Shape, whole: Found) -> Iterator[str]:
    """For each measure of distinct values, their number per group; the other measures are 0."""
    keys = numbered("k", shape.keys)
    for values, (number, _) in zip(whole.values, of_values(shape, "distinct"), strict=True):
        measures = (f"{'count(*)' if other == number else NOTHING} AS m{other}" for other in range(len(shape.measures)))
        yield f"SELECT {listed(keys, measures)} FROM {values} {group_by(keys)}"


def _all(relations: Sequence[str]) -> str:
    """The rows of several relations."""
    return " UNION ALL ".join(f"FROM {each}" for each in relations)
