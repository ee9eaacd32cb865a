"""Adding up what parts found: integers of equal groups, counts of equal bins, and different values once.

Parts have no unit in common, so a group's integers are the sums of those that its parts have. Values may be in several
parts; so each part says which it has, and they are counted here.

A table has as many parts as its size asks for. So what some of them found is added up while others are still computed:
at any time, little more is held than a few parts and a few sums of theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from discreet.duckdb.session import Connection
from discreet.engine.duckdb.aggregation import NOTHING, Shape, Statements, of_values
from discreet.engine.duckdb.clauses import group_by, listed, numbered
from discreet.engine.duckdb.many_groups import ManyGroups

if TYPE_CHECKING:
    import pyarrow as pa

_TOGETHER = 16
"""So many are added up at a time: parts, then sums of as many parts, and so on."""


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

    @property
    def relations(self) -> tuple[str, ...]:
        """All of them, in the order of `Statements.queries`."""
        return (self.groups, *self.values, *self.histograms)


class PartsFound:
    """What parts found, kept in tables that all connections to an instance see; few of these, however many parts.

    Threads may add to it at the same time, each by a connection of its own.

    Args:
        shape: of the question.
        parts: how many will be added.
    """

    def __init__(self, shape: Shape, parts: int) -> None:
        self._shape = shape
        self._to_come = parts
        self._numbers = count()
        self._turn = Lock()
        self._levels = defaultdict[int, list[Found]](list)

    def add(self, connection: Connection, statements: Statements) -> None:
        """Compute what a part has, and keep it; ends the transaction."""
        level, found = 0, self._kept(connection, statements.queries, len(statements.values))
        with self._turn:
            self._to_come -= 1
        while several := self._several(level, found):
            level, found = level + 1, self._one(connection, several)

    @property
    def all(self) -> list[Found]:
        """What was found, once all parts have been added."""
        return [found for level in self._levels.values() for found in level]

    def _several(self, level: int, found: Found) -> list[Found]:
        """Remember what was found; where there are enough of a level by now, these, to be added up by who asks.

        Not at the end: then other threads would have nothing to do meanwhile, and all of them add up the rest.
        """
        with self._turn:
            same = self._levels[level]
            same.append(found)
            enough = len(same) >= _TOGETHER and self._to_come >= _TOGETHER
            return self._levels.pop(level) if enough else []

    def _one(self, connection: Connection, several: Sequence[Found]) -> Found:
        """What several found, as one, which takes their place."""
        whole = combined(self._shape, several)
        connection.execute("BEGIN TRANSACTION")
        found = self._kept(connection, [f"FROM {each}" for each in whole.relations], len(whole.values))
        for each in several:
            for table in each.relations:
                connection.execute(f"DROP TABLE {table}")
        return found

    def _kept(self, connection: Connection, queries: Sequence[str], values: int) -> Found:
        """The outcome of queries in tables; ends the transaction."""
        with self._turn:
            number = next(self._numbers)
        tables = [f"memory.main.found{number}_{place}" for place in range(len(queries))]
        for table, query in zip(tables, queries, strict=True):
            connection.execute(f"CREATE TABLE {table} AS {query}")
        connection.execute("COMMIT")
        return Found.of(tables, values)


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
