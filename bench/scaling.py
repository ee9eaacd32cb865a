"""How bounded questions scale: with the number of threads, and with the number of rows.

    python bench/scaling.py [--rows 1e7] [--times 10] [--rounds 5] [--data FILE] [--users FILE]

The questions are those of `bench/query.py`, on one table of visits whose snapshot lies in parts. Each is asked with one
thread and with two, in turn. Of two threads, the processor time should be nearly twice the clock's: what it lacks is
the part of the work that only one of them could do, by Amdahl's law. The two clocks stand beside it; where two threads
share one core's units, each is slower than alone, which they show as well. Rows of units of their own are read as a
whole, by DuckDB's own threads.

With `--times 10`, the same questions are asked of a table ten times as large, in 2 GB: the processor time should grow
no more than the rows, and the peak of a fresh process stay below 2 GB. Exits with 1 if a requirement isn't met.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from admission import peak_of_this_process
from query import CASES, Setting, engine
from visits import write_users, write_visits
from warm import timed

SHAPES = (
    "row, count",
    "50 rows, both",
    "50 rows, both, filtered",
    "5 × 10 rows, sum",
    "50 rows, median",
    "private keys",
    "count users",
    "join, sum by tier",
)
"""One question of each shape."""

BUSY = 1.85
"""Processor time over clock that two threads should reach,"""
SERIAL = 0.05
"""and the part of the work that they may not share."""

GROWTH = 1.05
"""How much faster than its rows a question's processor time may grow,"""
PEAK = 2000
"""and what memory it may take, in MB, which is also what it is given."""


def asked(name: str, data: Path, users: Path, folder: Path, threads: int | None) -> Callable[[], object]:
    """A question, ready to be asked."""
    return engine(CASES[name], Setting(data, users, folder, threads, PEAK * 10**6))


def compare_threads(name: str, data: Path, users: Path, folder: Path, rounds: int) -> bool:
    """One thread and two, in turn."""
    calls = {threads: asked(name, data, users, folder, threads) for threads in (1, 2)}
    for call in calls.values():
        call()
    taken = [{threads: timed(call) for threads, call in calls.items()} for _ in range(rounds)]
    clock, cpu = ({each: median(one[each][part] for one in taken) for each in calls} for part in (0, 1))
    busy = cpu[2] / clock[2]
    serial = max(2 / busy - 1, 0.0)
    met = busy >= BUSY and serial <= SERIAL
    print(
        f"{name:<26}{clock[1]:>9.3f}{clock[2]:>9.3f}{busy:>9.2f}{serial:>9.1%}  {'' if met else '← not met'}",
        flush=True,
    )
    return met


def of_fresh_process(name: str, data: Path, users: Path, folder: Path) -> tuple[float, float]:
    """The processor time of a question, and the peak memory in MB of the process that asks it."""
    paths = [f"--data={data}", f"--users={users}", f"--folder={folder}"]
    command = [sys.executable, __file__, *paths, f"--once={name}"]
    time, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(time), float(peak)


def compare_sizes(folder: Path, rows: int, times: int, rounds: int) -> list[bool]:
    """A table, and one that is some times as large."""
    tables = {}
    for size in (rows, rows * times):
        within = folder / f"{size}"
        within.mkdir()
        tables[size] = within / "visits.parquet", within / "users.parquet", within
        write_visits(size, tables[size][0])
        write_users(size, tables[size][1])
    print(f"\n{'':<26}{rows:>13,}{rows * times:>14,}{'growth':>9}{'peak':>9}")
    verdicts = []
    for name in SHAPES:
        found = {size: [of_fresh_process(name, *where) for _ in range(rounds)] for size, where in tables.items()}
        small, large = (median(time for time, _ in each) for each in found.values())
        peak, growth = median(peak for _, peak in found[rows * times]), large / small / times
        met = growth <= GROWTH and peak <= PEAK
        print(
            f"{name:<26}{small:>13.2f}{large:>14.2f}{growth:>9.2f}{peak:>9.0f}  {'' if met else '← not met'}",
            flush=True,
        )
        verdicts.append(met)
    return verdicts


def once(name: str, data: Path, users: Path, folder: Path) -> None:
    """Ask once, after all that is loaded and admitted, and say what it took."""
    call = asked(name, data, users, folder, None)
    before = resource.getrusage(resource.RUSAGE_SELF)
    call()
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak_of_this_process())


def main() -> int:
    """Make the tables, compare, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--times", type=int, default=0, help="also a table so many times as large")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, help="a table of visits that is there already")
    parser.add_argument("--users", type=Path, help="the table of its users")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--once", choices=SHAPES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        once(arguments.once, arguments.data, arguments.users, arguments.folder)
        return 0
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as temporary:
        folder = Path(temporary)
        data, users = arguments.data or folder / "visits.parquet", arguments.users or folder / "users.parquet"
        if not arguments.data:
            write_visits(int(arguments.rows), data)
        if not arguments.users:
            write_users(int(arguments.rows), users)
        print(f"{'':<26}{'1 thread':>9}{'2':>9}{'busy':>9}{'serial':>9}")
        verdicts = [compare_threads(name, data, users, folder, arguments.rounds) for name in SHAPES]
        if arguments.times:
            verdicts += compare_sizes(folder, int(arguments.rows), arguments.times, min(arguments.rounds, 3))
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
