"""How well limits are chosen, and how often intervals hold what they cut off, where nothing says how many rows count.

    python bench/truncation.py [--draws 100]

Registers of 5,000 and 20,000 units, each of whom has a number of rows by a law: lognormal, Pareto, or the weights of
visitors by rank. A count and a sum are simulated, profile, choice, noise and interval, by the product's own functions:
the mean error of the count as a multiple of that of the best limit anybody could have set by hand for all of ε, and the
same of R2T as it was published (Dong et al., SIGMOD 2022), which tries all limits 2^i; the ratio below which nobody can
stay both for this register and for it with some large units more (the proof is in `docs/mathematics.md`); in which part
of all draws the 95 % intervals hold the true numbers; and their upper end as a multiple of the truth, as it is, and if
no unit has more rows than those that show. Then some are asked for real, of files without a limit. At last one unit has
as many rows as all others together, and nothing bounds it: the lower end holds, and there is no other.

Exits with 1 if an interval holds too seldom, or the mean of all ratios, a geometric one, is above `MOST_RATIO`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from fractions import Fraction
from math import ceil, exp, inf, log, log2
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dp
from discreet.mechanisms import Laplace
from discreet.privacy import Sensitivity
from discreet.query import ir
from discreet.query.estimates import Noise, RowsCutOff, SizeClass
from discreet.query.planner import FIRSTS, STEPS, Profile

CEILING = 10_000
GREATEST = 100
"""What a row adds to the sum at most; on average half of it."""

SHARE = Fraction(1, 10)
LEVEL = 0.95
MOST_RATIO = 2.2
MOST_EXPONENT = 12
"""Groups of more units than this by ε are told apart too well to prove anything."""

FAILED = 0.1
"""R2T fails to stay below the truth in so many runs, as its authors take it."""

Sizes = Any
"""How many rows each unit has."""


def registers(units: int) -> dict[str, Sizes]:
    """The registers, by name."""
    places = (np.arange(units) + 0.5) / units
    normal = np.array(list(map(NormalDist().inv_cdf, places)))
    weights = (np.arange(units) + 50) ** -0.6
    found = {f"lognormal σ = {sigma}": np.round(np.exp(log(5) + sigma * normal)) for sigma in (1, 1.5, 2)}
    found |= {f"Pareto α = {alpha}": np.floor((1 - places) ** (-1 / alpha)) for alpha in (1.2, 1.5, 2.5)}
    found["visits"] = np.round(weights / weights.sum() * 40 * units)
    return {name: np.clip(sizes, 1, CEILING).astype(int) for name, sizes in found.items()}


def laplace(scale: Fraction) -> Laplace:
    """Noise of a scale."""
    return Laplace(scale, Sensitivity.scalar(1))


def mean_error(sizes: Sizes, limit: int, scale: float) -> float:
    """The mean distance of a noisy count under a limit."""
    bias = float(np.maximum(sizes - limit, 0).sum())
    return bias + scale * limit * exp(-bias / (scale * limit))


def best_by_hand(sizes: Sizes, epsilon: Fraction) -> tuple[float, int]:
    """The least mean error at all of ε, and its limit."""
    limits = sorted({round(each) for each in np.geomspace(1, sizes.max(), 400)})
    return min((mean_error(sizes, limit, float(1 / epsilon)), limit) for limit in limits)


def nobody_below(sizes: Sizes, epsilon: Fraction) -> float:
    """The ratio that no ε-private count keeps below, neither for a register nor for it with k units of `CEILING` rows.

    Let e and e′ be the errors of their best limits. A count that errs by ρ·e for the first errs for the second by
    k·`CEILING` − exp(kε)·ρ·e at least, since there it lies in any place at most exp(kε) times as often. No more than
    ρ·e′ is allowed.
    """
    least, _ = best_by_hand(sizes, epsilon)
    ratios = []
    for more in range(1, ceil(MOST_EXPONENT / epsilon)):
        other, _ = best_by_hand(np.append(sizes, [CEILING] * more), epsilon)
        ratios.append(more * CEILING / (other + exp(more * epsilon) * least))
    return max(ratios)


def r2t(sizes: Sizes, epsilon: Fraction, draws: int) -> float:
    """The mean error of R2T: the greatest of all noisy counts, each moved down by what its noise may have added."""
    runs = ceil(log2(CEILING))
    limits = 2 ** np.arange(1, runs + 1)
    kept = np.array([np.minimum(sizes, limit).sum() for limit in limits])
    scales = runs * limits / float(epsilon)
    noisy = kept + scales * np.random.default_rng().laplace(size=(draws, runs)) - scales * log(runs / FAILED)
    return float(np.abs(np.maximum(noisy.max(axis=1), 0) - sizes.sum()).mean())


class Draws(NamedTuple):
    """What came of one register.

    Args:
        error: of the count, on average.
        limit: in the middle of all draws.
        held: in which part the interval held the count, and the sum.
        upper: the upper end of the count in the middle of all draws, of the truth.
        narrow: the same if no unit has more rows than those that show.
    """

    error: float
    limit: float
    held: tuple[float, float]
    upper: float
    narrow: float


def drawn(sizes: Sizes, epsilon: Fraction, draws: int, most: int | None = CEILING) -> Draws:
    """Profile, choice and interval, with fresh noise for each."""
    counts = np.bincount(np.searchsorted(STEPS, sizes), minlength=len(STEPS)).tolist()
    noise = Noise(measure=ir.Units(name="units"), mechanism=laplace(1 / (SHARE * epsilon)))
    scale, exact = 1 / ((1 - SHARE) * epsilon), int(sizes.sum())
    errors, limits, held, uppers = [], [], [], []
    for released in np.reshape(noise.mechanism.release(counts * draws), (draws, -1)).tolist():
        profile = Profile(tuple(released), float(noise.mechanism.scale), 0.0, most)
        limit = profile.best(float(scale), 1)
        rows = cut_off(released, noise, limit, inf if most is None else most)
        kept = int(np.minimum(sizes, limit).sum())
        (noisy,) = laplace(scale * limit).release([kept])
        of_noise, of_rows = 1 - (1 - LEVEL) * 4 / 5, 1 - (1 - LEVEL) / 5  # as `query.estimates.cut_off` shares them
        radius, found = float(laplace(scale * limit).radius(Fraction(of_noise))), rows.between(of_rows)
        errors.append(abs(noisy - exact))
        limits.append(limit)
        (moved,) = laplace(scale * limit * GREATEST).release([kept * GREATEST // 2])
        reach = float(laplace(scale * limit * GREATEST).radius(Fraction(of_noise)))
        held.append(
            (
                noisy - radius + found.lo <= exact <= noisy + radius + found.hi,
                moved - reach <= exact * GREATEST / 2 <= moved + reach + GREATEST * found.hi,
            )
        )
        seen = tuple(each for each in rows.classes if each.last <= profile.shows_up_to)
        shown = RowsCutOff(seen, noise, limit).between(of_rows)
        uppers.append(((noisy + radius + found.hi) / exact, (noisy + radius + shown.hi) / exact))
    count, total = np.mean(held, axis=0).tolist()
    upper, narrow = np.median(uppers, axis=0).tolist()
    return Draws(float(np.mean(errors)), float(np.median(limits)), (count, total), upper, narrow)


def cut_off(released: list[int], noise: Noise, limit: int, most: float) -> RowsCutOff:
    """What is known of the rows that a limit cuts off."""
    ends = (*STEPS[:-1], inf)
    classes = [
        SizeClass(first, min(last, most), float(count))
        for first, last, count in zip(FIRSTS, ends, released, strict=True)
        if first <= most
    ]
    return RowsCutOff(tuple(classes), noise, limit)


def asked(sizes: Sizes, epsilon: Fraction) -> tuple[bool, str]:
    """Whether the intervals of a count, a sum and an average hold, asked of files; and the answer."""
    folder = Path(tempfile.mkdtemp())
    who = np.repeat(np.arange(len(sizes)), sizes)
    paid = (np.arange(len(who)) % (GREATEST + 1)).astype(float)
    pq.write_table(pa.table({"person": who, "paid": paid}), folder / "visits.parquet")
    config = f"""
name = "visits"
ledger = "visits.ledger"
adjacency = "add_remove"
budget = {{ epsilon = 100 }}

[tables.visits]
source = "visits.parquet"
unit = "person"
most_rows_per_unit = {CEILING}
columns = {{ person = {{ kind = "integer" }}, paid = {{ kind = "real", bounds = [0, {GREATEST}] }} }}
"""
    (folder / "discreet.toml").write_text(config, encoding="utf-8")
    with dp.load(folder / "discreet.toml", create_ledger=True) as account:
        sql = "SELECT COUNT(*) AS n, SUM(paid) AS s, AVG(paid) AS a FROM visits"
        answer = account.ask(sql, epsilon=epsilon)
    truths = {"n": len(who), "s": paid.sum(), "a": paid.mean()}
    return all(low <= truths[name] <= high for name in truths for low, high in answer.interval(name)), str(answer)


def most_missed(draws: int) -> float:
    """In which part of all draws an interval may fail: so often that chance does it once in a million."""
    return 1 - LEVEL + 5 * ((1 - LEVEL) * LEVEL / draws) ** 0.5


def main() -> int:
    """Print all rows; 1 if a requirement isn't met."""
    draws = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    draws.add_argument("--draws", type=int, default=100)
    number = draws.parse_args().draws
    print(
        f"{'register':<18} {'units':>6} {'ε':>4} {'best limit':>10} {'chosen':>7} {'error ÷':>8} {'R2T ÷':>6}"
        f" {'nobody <':>8}",
        end="",
    )
    print(f" {'count held':>10} {'sum held':>8} {'upper end ÷':>11} {'if none hides ÷':>15}")
    ratios, proved, missed = [], [], 0.0
    for units in (5_000, 20_000):
        for name, sizes in registers(units).items():
            for epsilon in (Fraction(1, 10), Fraction(1), Fraction(5)):
                least, limit = best_by_hand(sizes, epsilon)
                found, other = drawn(sizes, epsilon, number), r2t(sizes, epsilon, number)
                ratios.append(found.error / least)
                proved.append(nobody_below(sizes, epsilon))
                missed = max(missed, 1 - min(found.held))
                print(
                    f"{name:<18} {units:>6} {float(epsilon):>4} {limit:>10} {found.limit:>7.0f} {ratios[-1]:>8.2f} "
                    f"{other / least:>6.2f} {proved[-1]:>8.2f} {found.held[0]:>10.3f} {found.held[1]:>8.3f} "
                    f"{found.upper:>11.3f} {found.narrow:>15.3f}",
                    flush=True,
                )
    mean = exp(sum(map(log, ratios)) / len(ratios))
    print(
        f"geometric mean of the errors ÷ {mean:.2f}; {sum(each <= 1.3 for each in ratios)} of {len(ratios)} are ≤ 1.3; "
        f"for {sum(each > 1.3 for each in proved)} of them nobody can be sure of that"
    )
    held = [asked(registers(5_000)[name], epsilon) for name in ("visits", "Pareto α = 1.5") for epsilon in ANY]
    print(
        f"asked for real: {sum(each for each, _ in held)} of {len(held)} hold, with a count, a sum and an average each"
    )
    print(held[1][1])
    huge = np.append(registers(5_000)["visits"], 200_000)
    alone = drawn(huge, Fraction(1), number, None)
    print(f"one unit with as many rows as all others: lower ends held in {alone.held[0]:.3f}, upper end {alone.upper}")
    is_held = missed <= most_missed(number) and alone.upper == inf and sum(each for each, _ in held) >= len(held) - 2
    return 0 if mean <= MOST_RATIO and is_held else 1


ANY = (Fraction(1, 10), Fraction(1), Fraction(5))

if __name__ == "__main__":
    sys.exit(main())
