"""How far groups of several levels err, against measuring each level by itself with an equal share of the offer.

    python bench/levels.py [--rounds 5]

The error is the root of the mean square over all groups: once as it is reckoned with, for both ways, and once as it is
drawn, over rounds of fresh noise. The tables are random; noise doesn't depend on them. Exits with 1 if a requirement
isn't met.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from itertools import combinations
from math import fsum, prod, sqrt
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import discreet as dp

ROWS = 3_000
MOST_SECONDS = 1

COLUMNS = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
"""As many values as the columns of the Adult table have."""


def table(sizes: Sequence[int]) -> pa.Table:
    """Rows with random keys."""
    random = np.random.default_rng()
    return pa.table({f"k{place}": random.integers(1, size + 1, ROWS) for place, size in enumerate(sizes)})


def protected(data: pa.Table, sizes: Sequence[int]) -> dp.Protected:
    """The table behind a fresh account."""
    columns = {
        f"k{place}": dp.Column(kind=dp.Kind.INTEGER, bounds=dp.Bounds(1, size), nullable=False)
        for place, size in enumerate(sizes)
    }
    return dp.protect(
        data,
        name="t",
        unit=dp.Unit.row(),
        columns=columns,
        budget=dp.Budget(epsilon=10**6, delta=1e-3),
        ledger=Path(tempfile.mkdtemp()) / "t.ledger",
    )


def by(*keys: int) -> str:
    """The count by some keys."""
    names = ", ".join(f"k{key}" for key in keys)
    return f"SELECT {names}, COUNT(*) AS n FROM t GROUP BY {names}" if keys else "SELECT COUNT(*) AS n FROM t"


def mean(drafts: Sequence[Any]) -> float:
    """The root of the mean square of the noise of all groups."""
    cells = [prod(len(key.values) for key in draft.keys) for draft in drafts]
    squares = [cell * draft.noises[0].deviation ** 2 for cell, draft in zip(cells, drafts, strict=True)]
    return sqrt(fsum(squares) / sum(cells))


def squares_of(answers: Sequence[dp.Answer], data: pa.Table) -> list[int]:
    """The squared errors of all groups of some answers."""
    frame = {name: data[name].to_numpy() for name in data.column_names}
    found = []
    for answer in answers:
        for row in answer.rows():
            kept = [frame[name] == value for name, value in row.items() if name != "n" and value is not None]
            exact = int(np.logical_and.reduce(kept).sum()) if kept else ROWS
            found.append((row["n"] - exact) ** 2)
    return found


class Case(NamedTuple):
    """A line of the table.

    Args:
        name: in words.
        asked: a question, or several.
        sizes: of the keys.
        offer: for all of it.
        least: by how much errors are to be smaller.
    """

    name: str
    asked: str | list[str]
    sizes: Sequence[int]
    offer: dict[str, str]
    least: float


def is_met(case: Case, rounds: int) -> bool:
    """Print a line; whether its requirements are met."""
    name, asked, sizes, offer, least = case
    data = table(sizes)
    with protected(data, sizes) as account:
        account.plan(asked, **offer)  # what is loaded only once isn't timed
    with protected(data, sizes) as account:
        begin = process_time()
        plan = account.plan(asked, **offer)
        seconds = process_time() - begin
    apart = [draft for bundle in plan.bundles for draft in bundle.reconstruction.apart]
    squares = list[int]()
    for _ in range(rounds):
        with protected(data, sizes) as account:
            answers = account.ask(asked, **offer)
            squares += squares_of(answers if isinstance(answers, list) else [answers], data)
    drawn = f"{sqrt(fsum(squares) / len(squares)):9.3g}" if squares else f"{'–':>9}"
    gain = mean(apart) / mean(plan.drafts)
    said = ", ".join(f"{key} = {value}" for key, value in offer.items())
    print(
        f"{name:<34} {said:<16} {mean(apart):9.3g} {mean(plan.drafts):9.3g} {drawn} "
        f"÷ {gain:4.2f} (÷ {least}) {seconds:6.2f} s"
    )
    return gain >= least and seconds <= MOST_SECONDS


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    cube = "SELECT k0, k1, k2, COUNT(*) AS n FROM t GROUP BY CUBE (k0, k1, k2)"
    rollup, dashboard = cube.replace("CUBE", "ROLLUP"), [by(), by(0), by(1), by(2), by(0, 1)]
    pairs = [by(*keys) for number in (1, 2) for keys in combinations(range(len(COLUMNS)), number)]
    print(f"{'tables':<34} {'offer':<16} {'apart':>9} {'now':>9} {'drawn':>9} {'':<15} planned in")
    cases = [
        Case("CUBE of 2 × 9 × 10", cube, (2, 9, 10), {"epsilon": "1/10"}, 3.5),
        Case("CUBE of 2 × 9 × 10", cube, (2, 9, 10), {"rho": "1/2000"}, 1.8),
        Case("ROLLUP of 1, 10, 100, 1,000", rollup, (10, 10, 10), {"epsilon": "1/10"}, 2.1),
        Case("ROLLUP of 1, 10, 100, 1,000", rollup, (10, 10, 10), {"rho": "1/2000"}, 1.58),
        Case("total, sex, age, region, sex × age", dashboard, (2, 10, 10), {"epsilon": "1/10"}, 2.0),
        Case("total, sex, age, region, sex × age", dashboard, (2, 10, 10), {"rho": "1/2000"}, 1.4),
    ]
    met = [is_met(case, rounds) for case in cases]
    met.append(is_met(Case("1 or 2 of 14 columns, 105 tables", pairs, COLUMNS, {"rho": "1/200"}, 1.45), 0))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
