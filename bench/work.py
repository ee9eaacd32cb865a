"""How far one unit moves the processor time and the memory of a question, beside what its plan says.

    python bench/work.py [--rows 10000]

A table of 20,000 people with five visits each is asked alone, and with one more person who has as many visits as a unit
may, each with the longest texts that take an engine longest. The ratio is of what that person added to what the plan
says that one unit can add at the most: a ratio above 1 is a bound that doesn't hold, and ends with an error. Last comes
how many times as long as a count of all rows the question takes without that person, beside how many readings its
release time has room for. With `DISCREET_BENCH=long`, 400 random questions are tried as well.
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
from discreet.service.release_times import MOST_READINGS
from discreet.tables import Kind

RUNS = 3
PEOPLE, VISITS = 20_000, 5
SLACK = 0.01, 16e6
"""Seconds and bytes below which nothing can be told from chance: engines take memory in pieces."""

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
    "SELECT COUNT(*) AS n FROM visits v JOIN days d ON d.day = v.day WHERE d.season = 'c'",
    "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits v JOIN many d ON d.day = v.day WHERE d.season <> 'c'",
    "SELECT COUNT(*) AS n, COUNT(DISTINCT season) AS s FROM visits v JOIN many d ON d.day = v.day",
    "SELECT COUNT(*) AS n FROM visits v JOIN many d ON d.season < v.note",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN many d ON d.day = v.day AND d.season < v.note WHERE season IS NULL",
    (
        "SELECT season, COUNT(*) AS n FROM (SELECT DISTINCT pid, season FROM visits v JOIN many d ON d.day = v.day) t "
        "GROUP BY season"
    ),
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
    visits = dp.table(
        table(rows, seed=5),
        name="visits",
        unit="pid",
        limits=dp.Limits(rows=5),
        columns={"cost": (0, 1000), "kind": ["x", "y"], "day": (0, 364), "note": dp.Column(kind=Kind.TEXT)},
        most_rows_per_unit=most,
    )
    public = pa.table({"day": [*range(365)] * 20, "season": ["a" * 100, "b" * 100, "c", "d", "e"] * 1460})
    days = dp.table(public.slice(0, 365), name="days", public=True, unique=["day"], columns={"day": (0, 364)})
    many = dp.table(public, name="many", public=True, columns={"day": (0, 364)})
    return dp.protect(
        [visits, days, many],
        name="clinic",
        budget=dp.Budget(epsilon=1000, delta=1e-6),
        ledger=folder / f"{rows}.ledger",
    )


def measured(tables: dp.gateway.Protected, question: str) -> tuple[float, float, float, float, float]:
    """Seconds and bytes that a question takes in a process of its own; and seconds, bytes and readings of its plan."""

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
        readings = sum(level.readings for level in plan.levels)
        pipe.send((min(took), held * 1024.0, plan.work.seconds, float(plan.work.size), readings))

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=run, args=(theirs,))
    process.start()
    theirs.close()
    try:
        found: tuple[float, float, float, float, float] = ours.recv()
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
    print("  moved by   at most  ratio     memory  at most  ratio    counts   room")
    with TemporaryDirectory() as folder:
        alone, beside = opened(Path(folder), 0, rows), opened(Path(folder), rows, rows)
        count, *_ = measured(alone, FIXED[0])
        for question in (*FIXED, *random_questions(400 if os.environ.get("DISCREET_BENCH") == "long" else 0)):
            try:
                without, with_one = measured(alone, question), measured(beside, question)
            except EOFError:  # refused, or too large a plan
                continue
            moved = with_one[0] - without[0], max(with_one[1] - without[1], 0)
            seconds, size, readings = with_one[2:]
            ratios = moved[0] / seconds, moved[1] / size
            is_served = readings <= MOST_READINGS
            print(
                f"{moved[0]:>8.4f} s{seconds:>8.3f} s{ratios[0]:>7.3f}   {moved[1] / 1e6:>5.0f} MB{size / 1e6:>6.0f} MB"
                f"{ratios[1]:>7.3f}   {without[0] / count:>7.1f}{readings:>7.1f}   "
                f"{'' if is_served else 'refused by servers: '}{question[:110]}",
                flush=True,
            )
            told = (ratio for ratio, by, slack in zip(ratios, moved, SLACK, strict=True) if is_served and by > slack)
            worst = max(worst, *told, 0.0)
    print(f"greatest ratio of what servers take: {worst:.3f}")
    sys.exit(worst > 1)


if __name__ == "__main__":
    main()
