"""Choices from a million options and trees over a million leaves, beside NumPy in floats, in one run on one core.

    python bench/mechanisms.py [repetitions]

The NumPy twins do the same in floating point with `numpy.random`: scores turned into probabilities and inverted for
one draw; noise of every node of the tree, without consistency. Each repetition times all in turn; figures are medians.
Required: 50 ms for the exponential mechanism, 1 s for the tree with one range asked. Exits with 1 if that isn't met.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np

from discreet.mechanisms import Exponential
from discreet.mechanisms.textbook import NoisyMax, PermuteAndFlip, RangeTree

OPTIONS, LEAVES = 10**6, 2**20
NUMPY = np.random.default_rng()


def drawn(scores: np.ndarray) -> int:
    """The exponential mechanism as one would write it."""
    odds = np.exp(0.5 * (scores - scores.max()))
    return int(np.searchsorted(np.cumsum(odds), NUMPY.random() * odds.sum()))


def noisy(scores: np.ndarray) -> int:
    """The noisy maximum as one would write it."""
    return int((scores + NUMPY.laplace(0, 2, len(scores))).argmax())


def summed(counts: np.ndarray) -> list[np.ndarray]:
    """The nodes of a binary tree, level by level, each with noise."""
    levels, scale = [], counts.size.bit_length()
    while True:
        levels.append(counts + np.rint(NUMPY.laplace(0, scale, counts.size)))
        if counts.size == 1:
            return levels
        counts = counts.reshape(-1, 2).sum(axis=1)


def main(repetitions: int = 7) -> int:
    """Time, print, and judge."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    scores = NUMPY.integers(0, 10**6, OPTIONS)
    leaves = NUMPY.integers(0, 100, LEAVES)
    tree = RangeTree.calibrate(LEAVES, epsilon=1)
    cases: dict[str, tuple[Callable[[], object], Callable[[], object], float]] = {
        "exponential": (lambda: Exponential.calibrate(1, 1).choose(scores), lambda: drawn(scores), 0.05),
        "permute and flip": (lambda: PermuteAndFlip.calibrate(1, 1).choose(scores), lambda: drawn(scores), 0.05),
        "noisy max": (lambda: NoisyMax.calibrate(1, 1).choose(scores), lambda: noisy(scores), 0.05),
        "range tree": (lambda: tree.release(leaves).sum(1000, 900_000), lambda: summed(leaves), 1.0),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for number in range(repetitions + 1):
        for name, (ours, theirs, _) in cases.items():
            start = perf_counter()
            ours()
            middle = perf_counter()
            theirs()
            if number:  # the first warms up
                times[name].append((middle - start, perf_counter() - middle))
    print(f"{OPTIONS:,} options, {LEAVES:,} leaves, median of {repetitions}, one core, numpy {np.__version__}")
    print(f"{'mechanism':<18}{'ms':>8}{'numpy ms':>10}{'ratio':>8}{'allowed ms':>12}")
    met = True
    for name, pairs in times.items():
        own, numpy = (median(pair[part] for pair in pairs) for part in (0, 1))
        allowed = cases[name][2]
        met &= own <= allowed
        mark = "" if own <= allowed else "  ← not met"
        print(f"{name:<18}{1e3 * own:>8.1f}{1e3 * numpy:>10.1f}{own / numpy:>8.2f}{1e3 * allowed:>12.0f}{mark}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
