"""Rates of the exact samplers beside NumPy's floating-point ones, in one run on one core.

    python bench/noise.py [draws] [repetitions]

Each repetition times all samplers in turn, so that whatever else the machine does falls on all of them; the figures
are medians. DISCREET_BENCH=long draws 10^7. Required: discrete Laplace at least 1/4 of the rate of `Generator.laplace`,
discrete Gaussian at least 1/3 of that of `Generator.standard_normal`, at every scale. Exits with 1 if they aren't met.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np

from discreet.noise import discrete_gaussian, discrete_laplace

SCALES = {"1": 1, "10": 10, "1000": 1000, "2^20": 2**20, "2^40": 2**40}
DRAWS = 10**7 if os.environ.get("DISCREET_BENCH") == "long" else 10**6
REQUIRED = {"laplace": 1 / 4, "gaussian": 1 / 3}


def seconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = perf_counter()
    call()
    return perf_counter() - start


def contenders(draws: int) -> dict[tuple[str, str], Callable[[], object]]:
    """What is timed, by distribution and scale; NumPy's under the scale ``numpy``."""
    numpy = np.random.default_rng()
    calls: dict[tuple[str, str], Callable[[], object]] = {
        ("laplace", "numpy"): lambda: numpy.laplace(0.0, 1.0, draws),
        ("gaussian", "numpy"): lambda: numpy.standard_normal(draws),
    }
    for name, scale in SCALES.items():
        calls["laplace", name] = partial(discrete_laplace, scale, draws)
        calls["gaussian", name] = partial(discrete_gaussian, scale, draws)
    return calls


def main(draws: int = DRAWS, repetitions: int = 9) -> int:
    """Time, print, and judge."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    calls = contenders(draws)
    for call in calls.values():
        call()
    rounds = [{key: seconds(call) for key, call in calls.items()} for _ in range(repetitions)]
    times = {key: median(each[key] for each in rounds) for key in calls}
    print(f"{draws:,} draws, median of {repetitions}, one core, numpy {np.__version__}")
    print(f"{'distribution':<14}{'scale':>8}{'ns/draw':>10}{'rate/numpy':>12}{'required':>10}")
    met = True
    for (distribution, name), time in times.items():
        ratio = times[distribution, "numpy"] / time
        required = 0.0 if name == "numpy" else REQUIRED[distribution]
        met &= ratio >= required
        print(f"{distribution:<14}{name:>8}{time / draws * 1e9:>10.1f}{ratio:>12.2f}{required:>10.2f}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:3])))
