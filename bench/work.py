"""How far one unit moves the processor time and the memory of a question, beside what its plan says.

    python bench/work.py [--rows 10000]

A table of 20,000 people with five visits each is asked alone, and with one more person who has as many visits as a unit
may, each with the longest texts that take an engine longest. The ratio is of what that person added to what the plan
says that one unit can add at the most: a ratio above 1 is a bound that doesn't hold, and ends with an error. With
`DISCREET_BENCH=long`, 400 random questions are tried as well.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import pyarrow as pa

import discreet as dp
from discreet.tables import Kind

RUNS = 3
PEOPLE, VISITS = 20_000, 5
SLACK = 0.01
"""Seconds, and the hundredth part of as many gigabytes, below which nothing can be told from chance."""

HOSTILE = ("a" * 1_000, "é" * 1_000, "😀" * 1_000, " " * 999 + "x", "ab" * 500)
SEGMENT = 400

FIXED = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT kind, COUNT(*) AS n, AVG(cost) AS c FROM visits GROUP BY kind",
    "SELECT kind, day, COUNT(*) AS n, SUM(cost) AS s, STDDEV(cost) AS d FROM visits GROUP BY kind, day",
    "SELECT COUNT(DISTINCT note) AS n FROM visits",
    "SELECT MEDIAN(cost) AS m, APPROX_QUANTILE(cost, 0.9) AS p FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%b%'",
    "SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%_b%'",
    f"SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%_{'a' * SEGMENT}b%'",
    f"SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%{'_' * 90}b%'",
    f"SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%_{'😀' * 30}b%'",
    f"SELECT COUNT(*) AS n FROM visits WHERE note LIKE '{'a' * SEGMENT}%'",
    f"SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%{'a' * SEGMENT}b%'",
    f"SELECT COUNT(*) AS n FROM visits WHERE note ILIKE '%{'a' * SEGMENT}b%'",
    "SELECT COUNT(*) AS n FROM visits WHERE UPPER(TRIM(note)) < LOWER(note || note)",
    "SELECT COUNT(*) AS n FROM visits WHERE CAST(note AS DATE) > CAST(note AS TIMESTAMP) OR CAST(note AS INTEGER) > 1",
    "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.pid = b.pid",
    "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.pid = b.pid AND a.note < b.note",
    "SELECT COUNT(*) AS n FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.pid = a.pid AND b.cost > a.cost)",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT pid, note FROM visits) t",
    (
        "SELECT COUNT(*) AS n FROM (SELECT pid, MAX(note) AS m, COUNT(DISTINCT note) AS d FROM visits GROUP BY pid) t "
        "WHERE d > 1"
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY note) AS r FROM visits) t "
        "WHERE r = 1"
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT pid, SUM(cost) OVER (PARTITION BY pid ORDER BY day) AS r FROM visits) t "
        "WHERE r > 100"
    ),
)


def table(rows: int, seed: int) -> pa.Table:
    """The visits, with so many of one person more."""
    chance = random.Random(seed)  # noqa: S311 — people who don't exist
    ids = [number // VISITS for number in range(PEOPLE * VISITS)] + [PEOPLE] * rows
    ordinary = [f"n{chance.randrange(50)}" for _ in range(PEOPLE * VISITS)]
    # Different ends keep engines from computing a text once for many rows.
    long = [HOSTILE[number % len(HOSTILE)][:994] + f"{number:06}" for number in range(rows)]
    return pa.table(
        {
            "pid": ids,
            "cost": [chance.random() * 1000 for _ in ids],
            "kind": [chance.choice("xy") for _ in ids],
            "day": [chance.randrange(365) for _ in ids],
            "note": ordinary + long,
        }
    )


def opened(folder: Path, rows: int, most: int) -> dp.gateway.Protected:
    """The visits behind an account."""
    return dp.protect(
        table(rows, seed=5),
        name="visits",
        unit="pid",
        limits=dp.Limits(rows=5),
        columns={"cost": (0, 1000), "kind": ["x", "y"], "day": (0, 364), "note": dp.Column(kind=Kind.TEXT)},
        most_rows_per_unit=most,
        budget=dp.Budget(epsilon=1000, delta=1e-6),
        ledger=folder / f"{rows}.ledger",
    )


def measured(tables: dp.gateway.Protected, question: str) -> tuple[float, float, float, float]:
    """Seconds and bytes that a question takes in a process of its own, and what its plan says of one unit."""

    def run(pipe: multiprocessing.connection.Connection) -> None:
        plan = tables.plan(question, epsilon=1)
        engine, took = tables.admissions.current().engine, []
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(RUNS):
            for level in plan.levels:
                engine.prepare(level.exact)
            begun = process_time()
            for level in plan.levels:
                engine.run(level.exact)
            took.append(process_time() - begun)
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        pipe.send((min(took), held * 1024.0, plan.work.seconds, float(plan.work.size)))

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=run, args=(theirs,))
    process.start()
    theirs.close()
    try:
        found: tuple[float, float, float, float] = ours.recv()
    finally:
        process.join()
    return found


def random_questions(number: int) -> Iterator[str]:
    """Conditions of random functions over the longest texts, on rows, pairs, groups and windows."""
    chance = random.Random()  # noqa: S311 — a search, each time another one

    def text(depth: int) -> str:
        if depth == 0:
            return chance.choice(["a.note", "a.note", "a.kind", "'x'"])
        below = text(depth - 1)
        return chance.choice(
            [
                f"UPPER({below})",
                f"TRIM({below})",
                f"({below} || {text(depth - 1)})",
                f"SUBSTR({below}, {chance.randrange(1, 900)}, {chance.randrange(900)})",
                f"CASE WHEN a.cost > {chance.randrange(900)} THEN {below} ELSE {text(depth - 1)} END",
                f"COALESCE({below}, a.note)",
            ]
        )

    def condition() -> str:
        pattern = "".join(chance.choice(["%", "_", "a", "é", "aaaa", "b" * 40]) for _ in range(chance.randrange(1, 12)))
        one = text(chance.randrange(4))
        return chance.choice(
            [
                f"{one} LIKE '{pattern}'",
                f"{one} ILIKE '{pattern}'",
                f"{one} < {text(2)}",
                f"LENGTH({one}) > {chance.randrange(2000)}",
                f"{one} IN ('a', 'b', '{'a' * 900}')",
                f"CAST({one} AS TIMESTAMP) > TIMESTAMP '2024-01-01'",
            ]
        )

    sources = (
        "visits a",
        "visits a",
        "visits a JOIN visits b ON a.pid = b.pid AND a.cost < b.cost",
        "(SELECT DISTINCT pid, note, kind, cost FROM visits) a",
        "(SELECT pid, note, kind, cost, RANK() OVER (PARTITION BY pid ORDER BY note, cost) AS r FROM visits) a",
    )
    for _ in range(number):
        conditions = f" {chance.choice(['AND', 'OR'])} ".join(condition() for _ in range(chance.randrange(1, 4)))
        yield f"SELECT COUNT(*) AS n FROM {chance.choice(sources)} WHERE {conditions}"


def main() -> None:
    """Print a line for each question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000, help="of the one person")
    rows = parser.parse_args().rows
    worst = 0.0
    print(f"{'moved by':>10}{'at most':>10}{'ratio':>7}   {'memory':>8}{'at most':>9}{'ratio':>7}")
    with TemporaryDirectory() as folder:
        alone, beside = opened(Path(folder), 0, rows), opened(Path(folder), rows, rows)
        for question in (*FIXED, *random_questions(400 if os.environ.get("DISCREET_BENCH") == "long" else 0)):
            try:
                without, with_one = measured(alone, question), measured(beside, question)
            except EOFError:  # refused, or too large a plan
                continue
            seconds, size = with_one[0] - without[0], max(with_one[1] - without[1], 0)
            _, _, most, most_size = with_one
            ratios = seconds / most, size / most_size
            print(
                f"{seconds:>8.4f} s{most:>8.3f} s{ratios[0]:>7.3f}   {size / 1e6:>5.0f} MB{most_size / 1e6:>6.0f} MB"
                f"{ratios[1]:>7.3f}   {question[:110]}",
                flush=True,
            )
            if seconds > SLACK:
                worst = max(worst, ratios[0])
    print(f"greatest ratio of time: {worst:.3f}")
    sys.exit(worst > 1)


if __name__ == "__main__":
    main()
