"""Selection of groups by weights: how many are named where a unit is in several, against a threshold on counts.

    python bench/adaptive_weights.py [--data visits.parquet --unit user_id --key category] [--epsilon 1] [--delta 1e-6]

Without --data, 20,000 units draw groups from a law in which the k-th of 5,000 is as frequent as 1/k, 1 to 60 of them
each, most few. Expected numbers are computed from the laws; nothing is drawn. Whatever the limit is, a unit keeps that
many of its groups at random. "Counts" is what questions do: each group of a unit counts 1, with noise for the limit; if
the counts are shown, names cost δ alone. "Shares" gives each group of a unit 1 / (how many it has), with noise for 1;
"adaptive" passes on what frequent groups don't need, as `AdaptiveWeights` does. Both are scores of their own: with
counts beside them they get part of ε, here half.
"""

from __future__ import annotations

import argparse
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
from pyarrow.parquet import read_table

from discreet.mechanisms import Laplace, Threshold
from discreet.mechanisms.textbook import AdaptiveWeights
from discreet.privacy import Sensitivity
from discreet.textbook.mechanisms.adaptive_weights import _spread

LIMITS = (1, 2, 4, 8, 16, 32)


def synthetic() -> list[list[int]]:
    """The groups of each unit."""
    draws = np.random.default_rng()
    rates = 1 / np.arange(1, 5001)
    sizes = np.minimum(draws.zipf(1.5, 20_000), 60)
    groups = draws.choice(len(rates), size=sizes.sum(), p=rates / rates.sum())
    return [sorted(set(each.tolist())) for each in np.split(groups, np.cumsum(sizes)[:-1])]


def read(path: Path, unit: str, key: str) -> list[list[int]]:
    """The groups of each unit of a table."""
    table = read_table(path, columns=[unit, key])
    found: dict[object, set[int]] = {}
    codes = table[key].combine_chunks().dictionary_encode().indices.to_pylist()
    for each, code in zip(table[unit].to_pylist(), codes, strict=True):
        found.setdefault(each, set()).add(code)
    return [sorted(groups) for groups in found.values()]


def passing(weights: np.ndarray, threshold: float, scale: float) -> float:
    """The expected number of weights that reach a threshold with Laplace noise."""
    above = (weights - threshold) / scale
    tail = np.exp(-np.abs(above)) / 2
    return float(np.where(above < 0, tail, 1 - tail).sum())


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a Parquet file")
    parser.add_argument("--unit", default="user_id")
    parser.add_argument("--key", default="category")
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1))
    parser.add_argument("--delta", type=Fraction, default=Fraction(1, 10**6))
    given = parser.parse_args()
    units = synthetic() if given.data is None else read(given.data, given.unit, given.key)
    print(f"{len(units):,} units, {len({g for groups in units for g in groups}):,} groups, ε = {given.epsilon}")
    print(f"{'limit':>5} {'counts':>8} {'shares':>8} {'adaptive':>9}   half of ε: {'shares':>8} {'adaptive':>9}")
    draws = np.random.default_rng()
    for limit in LIMITS:
        kept = [each if len(each) <= limit else draws.choice(each, limit, replace=False).tolist() for each in units]
        counts = np.array(list(Counter(group for groups in kept for group in groups).values()))
        noise = Laplace.calibrate(Sensitivity(l0=limit, linf=1, l1=limit, l2_squared=Fraction(limit)), given.epsilon)
        named = [passing(counts, Threshold(noise, limit, 1, given.delta).value - 0.5, float(noise.scale))]
        for epsilon in (given.epsilon, given.epsilon / 2):
            naming = AdaptiveWeights.calibrate(epsilon, given.delta, limit)
            for cap in (Fraction(10**9), naming.cap):
                weights = _spread(kept, cap, lambda part, whole: part / whole)
                named.append(passing(np.array(list(weights.values())), float(naming.threshold), float(1 / epsilon)))
        print("{:>5} {:>8.1f} {:>8.1f} {:>9.1f}              {:>8.1f} {:>9.1f}".format(limit, *named))


if __name__ == "__main__":
    main()
