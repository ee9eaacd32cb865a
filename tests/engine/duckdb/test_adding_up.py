"""What many parts find: added up while it comes, by several threads, in a bounded number of tables."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from discreet.duckdb.session import Connection
from discreet.engine.duckdb.adding_up import PartsFound, added_up
from discreet.engine.duckdb.aggregation import Adds, Shape, Statements
from discreet.privacy import Limits

SHAPE = Shape(
    units=1,
    keys=1,
    measures=(Adds("values", greatest=2**63), Adds("distinct", greatest=1), Adds("histogram", greatest=4, constant=4)),
    groups=3,
    limits=Limits(rows=1),
    salt="s",
)
FAR = 2**62


def part(number: int) -> Statements:
    """A part with two groups of three, whose sum soon needs more than 64 bits; one value and three bins of each."""
    one, other = number % 3, (number + 1) % 3
    groups = ", ".join(f"({key}, {FAR}::BIGINT, 0, 0)" for key in (one, other))
    values = ", ".join(f"({key}, {number % 7})" for key in (one, other))
    bins = ", ".join(f"({key}, {bin_}, {number})" for key in (one, other) for bin_ in range(3))
    return Statements(
        (),
        f"SELECT * FROM (VALUES {groups}) AS t(k0, m0, m1, m2)",
        (f"SELECT * FROM (VALUES {values}) AS t(k0, value)",),
        (f"SELECT * FROM (VALUES {bins}) AS t(k0, bin, count)",),
    )


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("parts", [1, 15, 16, 17, 31, 32, 33, 100, 300])
def test_many_parts_are_added_up_in_few_tables(parts: int, threads: int) -> None:
    """To the integers that they come to by hand, in whichever order they are added."""
    with duckdb.connect() as session:
        found = PartsFound(SHAPE, parts)

        def add(number: int) -> int:
            with Connection(session.cursor()) as connection:
                connection.execute("BEGIN TRANSACTION")
                found.add(connection, part(number))
                ((tables,),) = connection.execute("SELECT count(*) FROM duckdb_tables()")
                return int(tables)

        with ThreadPoolExecutor(threads) as pool:
            most = max(pool.map(add, range(parts)))
        groups, (bins,) = added_up(Connection(session), SHAPE, found.all)
    # Up to 31 parts, of which the last aren't added up before the end; 18 sums; 16 that each thread makes into one.
    assert most <= len(part(0).queries) * (31 + 18 + 17 * threads)
    keys = [key for number in range(parts) for key in (number % 3, (number + 1) % 3)]
    values = {(key, number % 7) for number in range(parts) for key in (number % 3, (number + 1) % 3)}
    counts = Counter(key for key, _ in values)
    assert [*groups] == [(key, FAR * times, counts[key], 0) for key, times in sorted(Counter(keys).items())]
    sums = Counter[int]()
    for number in range(parts):
        sums.update(dict.fromkeys((number % 3, (number + 1) % 3), number))
    told = {
        key: dict(zip(places, numbers, strict=True))
        for key, places, numbers in zip(*bins.to_pydict().values(), strict=True)
    }
    assert told == {key: dict.fromkeys(range(3), total) for key, total in sums.items() if total}
