"""The visits table: a synthetic log of who went where, of any size, for benchmarks; and its users, with households.

    python bench/visits.py ROWS FILE

A tenth as many users as rows. How often a user comes falls off as a power of their rank, so that most come about ten
times and a few a thousand times. Users have a home region, where they are a good half of the time; regions are mildly
unequal, categories very. Amounts are log-normal. Nothing of it comes from data, and two runs give the same table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

USERS_PER_ROW = 0.1
REGIONS = tuple(f"region_{number:02d}" for number in range(50))
CATEGORIES = tuple(f"cat_{number:04d}" for number in range(1000))
TIERS = tuple(f"tier_{number:02d}" for number in range(20))
DAYS = 365
GREATEST_AMOUNT = 500

_AT_HOME = 0.6
_HOUSEHOLD = 4
_BATCH = 5_000_000
_ROW_GROUP = 1_000_000
_SCHEMA = pa.schema(
    [
        ("user_id", pa.int64()),
        ("region", pa.string()),
        ("category", pa.string()),
        ("day", pa.int32()),
        ("amount", pa.float64()),
    ]
)


def cumulative(size: int, offset: float, power: float) -> np.ndarray:
    """The distribution function over ranks 1 to `size`, when rank r weighs (r + offset)^-power."""
    weights = (np.arange(1, size + 1) + offset) ** -power
    return np.cumsum(weights) / weights.sum()


def batches(rows: int) -> Iterator[pa.Table]:
    """The table in parts that fit in memory."""
    random = np.random.default_rng(2024)
    users = max(1, int(rows * USERS_PER_ROW))
    by_user, by_region, by_category = (
        cumulative(users, 50, 0.6),
        cumulative(len(REGIONS), 5, 0.7),
        cumulative(len(CATEGORIES), 0, 1.1),
    )
    id_of = random.permutation(users)  # so that frequent visitors don't lie side by side
    homes = random.random(users)
    for start in range(0, rows, _BATCH):
        size = min(_BATCH, rows - start)
        user = id_of[np.minimum(np.searchsorted(by_user, random.random(size)), users - 1)]
        place = np.where(random.random(size) < _AT_HOME, homes[user], random.random(size))
        region = np.minimum(np.searchsorted(by_region, place), len(REGIONS) - 1)
        category = np.minimum(np.searchsorted(by_category, random.random(size)), len(CATEGORIES) - 1)
        amount = np.minimum(np.round(random.lognormal(3.2, 1.0, size), 2), GREATEST_AMOUNT)
        columns = [
            pa.array(user, pa.int64()),
            pa.array(REGIONS).take(pa.array(region)),
            pa.array(CATEGORIES).take(pa.array(category)),
            pa.array(random.integers(0, DAYS, size), pa.int32()),
            pa.array(amount),
        ]
        yield pa.table(columns, schema=_SCHEMA)


def write_visits(rows: int, path: Path) -> None:
    """Write the table as Parquet."""
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd") as writer:
        for batch in batches(rows):
            writer.write_table(batch, row_group_size=_ROW_GROUP)


def write_users(rows: int, path: Path) -> None:
    """Write the users of a table with that many visits as Parquet: their ids, in no order, households and tiers."""
    random = np.random.default_rng(2025)
    users = max(1, int(rows * USERS_PER_ROW))
    columns = {
        "id": pa.array(random.permutation(users), pa.int64()),
        "household": pa.array(random.integers(0, max(1, users // _HOUSEHOLD), users), pa.int64()),
        "tier": pa.array(TIERS).take(pa.array(random.integers(0, len(TIERS), users))),
    }
    pq.write_table(pa.table(columns), path, compression="zstd", row_group_size=_ROW_GROUP)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        write_visits(int(float(sys.argv[1])), Path(sys.argv[2]))
    else:
        print("a module of bench/query.py; by itself: python bench/visits.py ROWS FILE")
