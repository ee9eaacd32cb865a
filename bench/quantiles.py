"""How far quantiles are from the truth in rank, and how far their intervals reach, at one ε for all of a question.

    python bench/quantiles.py [--rows 1000] [--draws 200] [--epsilon 1]

Values lie from 0 to 100, and each row is a unit. "said" is the greatest rank error that the plan announces at 95 %,
"found" the one that 95 % of draws of fresh noise stay within, for the quantile that errs most; "interval" is how many
rows lie in half of the widest interval, on average, and "holds" how often the one that holds least does. Below it, on
the same rows with the same ε: one exponential mechanism in floats for each quantile, with an equal share of ε and no
interval; and diffprivlib where it is installed. Exits with 1 if a median is said to be off by more than 15 rows, or one
of five quantiles by more than 80, times ε.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.engine import ExactResult
from discreet.gateway.execute import release
from discreet.query.estimates import QuantileEstimator

ASKED: Mapping[str, tuple[float, ...]] = {
    "median": (0.5,),
    "quartiles": (0.25, 0.5, 0.75),
    "five": (0.1, 0.25, 0.5, 0.75, 0.9),
    "deciles": tuple(tenth / 10 for tenth in range(1, 10)),
}
MOST = {"median": 15, "five": 80}
RANDOM = np.random.default_rng()

Values = np.ndarray
SHAPES: Mapping[str, Callable[[int], Values]] = {
    "even": lambda rows: RANDOM.uniform(0, 100, rows),
    "skewed": lambda rows: np.minimum(5 * np.exp(0.8 * RANDOM.normal(size=rows)), 100),
    "in fives": lambda rows: 5.0 * RANDOM.integers(0, 21, rows),
}


def off(values: Values, fraction: float, found: float, half: float = 0.0) -> float:
    """How far the rank of a quantile lies from the ranks of what was found, or of a bin about it."""
    rank = fraction * len(values)
    below, through = (values < found - half).sum(), (values <= found + half).sum()
    return float(max(below - rank, rank - through, 0))


def planned(fractions: Sequence[float], values: Values, epsilon: float, folder: Path) -> dp.Plan:
    """The plan of a question with all these quantiles."""
    columns = ", ".join(f"QUANTILE_CONT(x, {each:g}) AS q{place}" for place, each in enumerate(fractions))
    with dp.protect(
        pa.table({"x": values}),
        name="t",
        unit=dp.Unit.row(),
        columns={"x": dp.Bounds(0, 100)},
        budget=dp.Budget(epsilon=100 * epsilon),
        ledger=Path(tempfile.mkdtemp(dir=folder)) / "t.ledger",
    ) as table:
        return table.plan(f"SELECT {columns} FROM t", epsilon=epsilon)


def measured(plan: dp.Plan, fractions: Sequence[float], values: Values, draws: int) -> str:
    """What is said and what is found of a plan."""
    (level,) = plan.levels
    (histogram,) = level.draft.histograms
    estimators = [one for _, one in level.draft.estimators if isinstance(one, QuantileEstimator)]
    grid = estimators[0].grid
    numbers, counts = np.unique(((values - float(grid.start)) / float(grid.width)).astype(int), return_counts=True)
    step = round(2.0**-histogram.grid)
    bins = dict(zip(numbers.tolist(), (counts * step).tolist(), strict=True))
    exact = ExactResult(keys=[()], measures={}, histograms={histogram.name: [bins]})
    errors, reaches, holds = np.zeros((3, len(fractions), draws))
    ordered = np.sort(values)
    truths = [ordered[max(ceil(each * len(values)), 1) - 1] for each in fractions]
    for draw in range(draws):
        (group,) = release(level, exact)
        for place, (fraction, estimator) in enumerate(zip(fractions, estimators, strict=True)):
            found = estimator.estimate(group.noisy, level.draft.laws)
            ends = estimator.interval(group.noisy, level.draft.laws, 0.95)
            errors[place, draw] = len(values) if found is None else off(values, fraction, found, float(grid.width) / 2)
            reaches[place, draw] = ((ends.lo <= values) & (values <= ends.hi)).sum() / 2
            holds[place, draw] = ends.lo <= truths[place] <= ends.hi
    said = max(one.ranks or 0 for one in plan.expected)
    found_ = np.quantile(errors, 0.95, axis=1).max()
    return f"{said:>8.1f}{found_:>8.1f}{reaches.mean(axis=1).max():>10.1f}{100 * holds.mean(axis=1).min():>8.1f} %"


def one_by_one(values: Values, fraction: float, epsilon: float) -> float:
    """The exponential mechanism over the gaps between rows, in floats, as one would write it."""
    edges = np.concatenate(([0.0], np.sort(values), [100.0]))
    ranks = np.arange(len(edges) - 1)
    rate = epsilon / (2 * max(fraction, 1 - fraction))
    with np.errstate(divide="ignore"):
        odds = np.log(np.diff(edges)) - rate * abs(ranks - fraction * len(values))
    odds = np.exp(odds - odds.max())
    gap = int(np.searchsorted(np.cumsum(odds), RANDOM.random() * odds.sum()))
    return float(RANDOM.uniform(edges[gap], edges[gap + 1]))


def by_diffprivlib(values: Values, fraction: float, epsilon: float) -> float:
    """The same by that library."""
    from diffprivlib.tools import quantile

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(quantile(values, fraction, epsilon=epsilon, bounds=(0, 100)))


def main() -> int:
    """Print all figures, and judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args()
    others = {"one by one": one_by_one}
    if importlib.util.find_spec("diffprivlib"):
        others["diffprivlib"] = by_diffprivlib
    is_met = True
    print(f"{given.rows:,} rows, ε = {given.epsilon:g}; errors in rank")
    print(f"{'':<34}{'said':>8}{'found':>8}{'interval':>10}{'holds':>10}")
    with tempfile.TemporaryDirectory() as name:
        for shape, drawn in SHAPES.items():
            values = drawn(given.rows)
            for asked, fractions in ASKED.items():
                plan = planned(fractions, values, given.epsilon, Path(name))
                print(f"{shape:<10}{asked:<12}{'discreet':<12}{measured(plan, fractions, values, given.draws)}")
                said = max(one.ranks or 0 for one in plan.expected)
                is_met &= said * given.epsilon <= MOST.get(asked, float("inf"))
                for other, mechanism in others.items():
                    share = given.epsilon / len(fractions)
                    errors = [
                        [off(values, each, mechanism(values, each, share)) for _ in range(given.draws)]
                        for each in fractions
                    ]
                    print(f"{'':<22}{other:<12}{'':>8}{np.quantile(errors, 0.95, axis=1).max():>8.1f}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
