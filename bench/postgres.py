"""Admission from PostgreSQL beside ADBC's own reading of the same columns, from a server that is started for it.

    python bench/postgres.py [--rows 1e6] [--rounds 5]

Each round times both in turn, connecting included; rates are those of the best rounds, for other processes only take
time away. An admission is all that `discreet admit` does with a table: it is read, cast, written, hashed and put on the
disk. Exits with 1 if it reaches less than 70 % of ADBC's rate. Without a PostgreSQL server on this machine it says so.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import pytest
from adbc_driver_postgresql import dbapi

import discreet as dp
from discreet.tables import Kind, Source, Table
from discreet.tables.admission import admit, describe

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from support.postgres import connected, running_server

LEAST = 0.7
"""Of ADBC's rate, at least."""

VISITS = """
CREATE TABLE visits AS SELECT
    n::bigint * 7919 % 200003 AS person_id, n AS visit_id, (n % 91)::int AS age, 1000 * random() AS cost,
    (1000 * random())::numeric(10, 2) AS amount, 'region ' || n % 12 AS region, md5(n::text) AS note,
    timestamptz '2024-01-01' + n % 300 * interval '1 day' + n * interval '1 ms' AS seen,
    date '2024-01-01' + n % 300 AS day, n % 3 = 0 AS smoker
FROM generate_series(1, {rows}) n
"""


def read(url: str, columns: str) -> float:
    """The seconds that ADBC alone takes."""
    start = perf_counter()
    with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM visits")
        for _ in cursor.fetch_record_batch():
            pass
    return perf_counter() - start


def admission(table: Table, folder: Path) -> float:
    """The seconds that the custodian waits."""
    target = Path(tempfile.mkdtemp(dir=folder))
    start = perf_counter()
    admit([table], {}, target).save()
    took = perf_counter() - start
    shutil.rmtree(target)
    return took


def main() -> int:
    """Print both rates and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    try:
        with running_server() as server, tempfile.TemporaryDirectory() as folder:
            with connected(server.url) as connection:
                connection.execute(VISITS.format(rows=int(given.rows)))
                connection.execute("VACUUM ANALYZE visits")
            source = Source.of(server.url, table="visits")
            columns = tuple(
                replace(each, time_zone="UTC") if each.kind is Kind.TIMESTAMP else each for each in describe(source, {})
            )
            table = Table(
                name="visits", source=source, columns=columns, unit=dp.Unit("person_id"), limits=dp.Limits(rows=20)
            )
            listed = ", ".join(each.name for each in columns)
            rounds = [(read(server.url, listed), admission(table, Path(folder))) for _ in range(given.rounds)]
    except pytest.skip.Exception as missing:
        print(missing)
        return 0
    alone, admitted = (given.rows / min(each) for each in zip(*rounds, strict=True))
    print(f"{given.rows:,.0f} rows of {len(columns)} columns, best of {given.rounds}")
    print(f"ADBC       {alone:>12,.0f} rows/s")
    print(f"admission  {admitted:>12,.0f} rows/s")
    print(f"ratio      {admitted / alone:>12.2f}   at least {LEAST}")
    return 0 if admitted >= LEAST * alone else 1


if __name__ == "__main__":
    sys.exit(main())
