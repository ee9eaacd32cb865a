"""How far answers are from the truth, limits and noise together, on a table of visits.

    python bench/accuracy.py [--rows 1e6] [--data FILE] [--rounds 10]

The error is that of a count per region against the exact count, which nobody who asks can see: what limits cut off is
in it. Each round draws new noise. Beside it, as the baseline, the same question under limits that somebody picked by
hand. For private keys, what counts is how many of the categories are released. Exits with 1 if a requirement isn't met.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

import duckdb

import discreet as dp
from visits import CATEGORIES, REGIONS, write_visits

REGION = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
CATEGORY = "SELECT category, COUNT(*) AS n FROM visits GROUP BY category"
EPSILON, DELTA = 1, 1e-6
MOST_ERROR, LEAST_RELEASED = 450, 340


def protected(data: Path, folder: Path, limits: dp.Limits) -> dp.Protected:
    """The visits behind a fresh account, so that no answer is one of before."""
    return dp.protect(
        str(data),
        name="visits",
        unit=dp.Unit("user_id"),
        columns={"region": dp.Keys(REGIONS), "amount": dp.Bounds(0, 500)},
        limits=limits,
        budget=dp.Budget(epsilon=100, delta=1e-2),
        ledger=Path(tempfile.mkdtemp(dir=folder)) / "visits.ledger",
    )


def errors(answer: dp.Answer, truth: dict[str, int]) -> float:
    """The median error over the regions."""
    rows = zip(answer["region"], answer["n"], strict=True)
    return median(abs(n - truth[region]) for region, n in rows)


def per_region(data: Path, folder: Path, rounds: int) -> bool:
    """The count per region, under limits by hand and under automatic ones."""
    truth = dict(duckdb.sql(f"SELECT region, count(*) FROM '{data}' GROUP BY region").fetchall())
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for rows in (50, 200):
            answer = protected(data, folder, dp.Limits(rows=rows)).ask(REGION, epsilon=EPSILON)
            found.setdefault(f"{rows} rows, by hand", []).append(errors(answer, truth))
        with protected(data, folder, dp.Limits(rows=50)) as visits:
            answer = visits.ask(REGION, epsilon=EPSILON, limits="auto")
        found.setdefault("auto", []).append(errors(answer, truth))
    print(f"count per region, ε = {EPSILON}: median error over {len(REGIONS)} regions, median of {rounds} rounds")
    by_hand = median(found["200 rows, by hand"])
    for name, values in found.items():
        print(f"  {name:<20}{median(values):>8.0f}   {median(values) / by_hand:>5.2f} of 200 rows by hand")
    return median(found["auto"]) <= MOST_ERROR


def private_keys(data: Path, folder: Path, rounds: int) -> bool:
    """How many categories are released, when nobody says which there are."""
    found: dict[str, list[int]] = {}
    for _ in range(rounds):
        for limits in (dp.Limits(groups=10, rows_per_group=1), dp.Limits(groups=5, rows_per_group=1)):
            answer = protected(data, folder, limits).ask(CATEGORY, epsilon=EPSILON, delta=DELTA)
            found.setdefault(str(limits), []).append(len(answer))
        with protected(data, folder, dp.Limits(rows=50)) as visits:
            answer = visits.ask(CATEGORY, epsilon=EPSILON, delta=DELTA, limits="auto")
        found.setdefault("auto", []).append(len(answer))
    print(f"private keys, ε = {EPSILON}, δ = {DELTA}: categories released of {len(CATEGORIES):,}")
    for name, values in found.items():
        print(f"  {name:<40}{median(values):>6.0f}")
    return median(found["auto"]) >= LEAST_RELEASED


def main() -> int:
    """Print all figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = arguments.data or folder / "visits.parquet"
        if arguments.data is None:
            write_visits(int(arguments.rows), data)
        verdicts = [measure(data, folder, arguments.rounds) for measure in (per_region, private_keys)]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
