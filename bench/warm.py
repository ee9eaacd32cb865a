"""Warm questions: the second one of a table and those after it, beside what they have to take.

    python bench/warm.py --rows 1e6 [--rounds 5]

A count on 10,000 rows that nobody asked before, beside the ledger's two durable commits alone; and a count by group on
a table of visits that was admitted from Parquet, and from CSV. Exits with 1 if a requirement isn't met. It is a part of
`bench/query.py`, and without arguments it does nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import discreet as dp
from discreet.ledger import Ledger
from discreet.privacy import LaplaceEvent
from discreet.tables import Kind
from visits import GREATEST_AMOUNT, REGIONS, write_visits


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """How long one call takes, on the clock and in processor time."""
    start, start_cpu = perf_counter(), process_time()
    call()
    return perf_counter() - start, process_time() - start_cpu


def paid(table: dp.Protected, question: str, **offer: str) -> None:
    """Ask, and see that the answer isn't a stored one."""
    if table.ask(question, **offer).reused:
        raise RuntimeError("a stored answer was given, which isn't what is to be timed")


SMALL = 10_000
WARM, WARM_ROUNDS = 0.025, 40
"""Seconds that a warm question of a small table may take beside its two durable commits."""

AS_PARQUET = 1.15
"""How often the time of a question on Parquet the same on a CSV file may take: it is the same work, but for noise."""


def visits(data: Path, folder: Path, name: str) -> dp.Protected:
    """A table of visits whose rows are units, behind an account of its own."""
    amount = dp.Column(name="amount", kind=Kind.REAL, bounds=dp.Bounds(0, GREATEST_AMOUNT))
    return dp.protect(
        data,
        name=name,
        unit=dp.Unit.row(),
        columns={"region": dp.Keys(REGIONS), "amount": amount},
        budget=dp.Budget(epsilon=10**6),
        ledger=folder / f"{name}.ledger",
    )


def compare_small(folder: Path) -> bool:
    """A small question that nobody asked before, each round another, beside two commits."""
    data = folder / "small.parquet"
    write_visits(SMALL, data)
    ledger = Ledger.open(folder / "alone.ledger", create=True)
    account = ledger.account("alone", dp.Budget(epsilon=10**6))
    version = account.admit("", after=0).version

    def commits(number: int) -> None:
        """What the ledger does for a question."""
        tenth = LaplaceEvent(scale=Fraction(10), l1=1)
        reserved = account.reserve(question=f"{number}", text="SELECT 1", version=version, event=tenth)
        account.commit(reserved, certificate={}, answer={"n": number})

    with visits(data, folder, "small") as table, ledger:
        taken: dict[str, list[float]] = {"ask": [], "commits": []}
        for number in range(WARM_ROUNDS):
            question = f"SELECT COUNT(*) AS n FROM small WHERE amount >= {number}"
            taken["ask"].append(timed(partial(paid, table, question, epsilon="1/10"))[0])
            taken["commits"].append(timed(partial(commits, number))[0])
    asked, alone = (median(taken[name][5:]) for name in ("ask", "commits"))
    met = asked <= alone + WARM
    print(
        f"warm ask of {SMALL:,} rows: {asked * 1e3:.1f} ms, two durable commits alone {alone * 1e3:.1f} ms: "
        f"ratio {asked / alone:.2f}, {(asked - alone) * 1e3:.1f} ms beside them, allowed {WARM * 1e3:.0f}"
        f"  {'' if met else '← not met'}",
        flush=True,
    )
    return met


def compare_formats(data: Path, folder: Path, rounds: int) -> bool:
    """The second question and those after it, on the same rows as Parquet and as CSV."""
    import duckdb

    text = folder / "visits.csv"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM read_parquet('{data}')) TO '{text}' (HEADER)")
    tables = {name: visits(path, folder, name) for name, path in (("typed", data), ("text", text))}
    text.unlink()
    taken: dict[str, list[float]] = {name: [] for name in tables}
    for number in range(rounds + 1):
        for name, table in tables.items():
            question = f"SELECT region, COUNT(*) AS n FROM {name} WHERE amount >= {number} GROUP BY region"
            taken[name].append(timed(partial(paid, table, question, epsilon="1/10"))[0])
    typed, untyped = (median(taken[name][1:]) for name in ("typed", "text"))
    met = untyped <= AS_PARQUET * typed
    print(
        f"a second question: on CSV {untyped:.3f} s, on Parquet {typed:.3f} s: ratio {untyped / typed:.2f}, "
        f"allowed {AS_PARQUET:g}  {'' if met else '← not met'}",
        flush=True,
    )
    return met


def main() -> int:
    """Make the table, compare, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, help="of the table of visits")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.rows is None:
        print("a part of bench/query.py; by itself: python bench/warm.py --rows ROWS")
        return 0
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as temporary:
        folder = Path(temporary)
        data = folder / "visits.parquet"
        write_visits(int(arguments.rows), data)
        return 0 if all([compare_small(folder), compare_formats(data, folder, arguments.rounds)]) else 1


if __name__ == "__main__":
    sys.exit(main())
