"""The US census of 2020: a hierarchy from the state to its blocks, whose counts add up, in whole people.

After Abowd et al. (2022), "The 2020 Census Disclosure Avoidance System TopDown Algorithm". Each level is measured with
noise of its own; then, from the top down, counts are made to add up, at no cost.

    python examples/census.py [--scale small|full]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dp

SHAPE = {"small": (5, 8, 60), "full": (14, 14, 120)}  # counties, tracts in each, blocks in each of these
PEOPLE = {"small": 65_000, "full": 640_000}
GROUPS = ["A", "B", "C", "D"]
SHARES = [0.5, 0.25, 0.15, 0.1]
LEVELS = {"county": "0.5", "tract": "0.5", "block": "0.55", "race": "1"}  # ρ of each
RHO, DELTA = "2.55", 1e-10
UNINHABITED = 0.25


def state(shape: tuple[int, ...], people: int) -> tuple[pa.Table, np.ndarray]:
    """The people of a state, and how many homes each block has, which is published as it is."""
    draw = np.random.default_rng(2020)
    weights = draw.gamma(0.7, 1, shape)
    weights[draw.random(shape) < UNINHABITED] = 0
    place = draw.choice(weights.size, people, p=(weights / weights.sum()).ravel())
    county, tract, block = np.unravel_index(place, shape)
    race = np.array(GROUPS)[draw.choice(len(GROUPS), people, p=SHARES)]
    homes = np.where(weights > 0, np.ceil(np.bincount(place, minlength=weights.size).reshape(shape) / 2.3 + 0.5), 0)
    return pa.table({"county": county, "tract": tract, "block": block, "race": race}), homes.astype(np.int64)


def tell(scale: str = "full") -> dict[str, object]:
    """Measure, make counts add up, say what that did, attack blocks of one person, and return what was found."""
    shape = SHAPE[scale]
    people, homes = state(shape, PEOPLE[scale])
    answers, measured, spent = measure(people, shape)
    published = from_the_top(measured, PEOPLE[scale], homes)
    truth = exact(people, shape)

    print(
        f"{PEOPLE[scale]:,} people in {shape[0]} counties, {measured['tract'].size:,} tracts, {homes.size:,} blocks.\n"
    )
    print("level      counts   mean size   measured: ±, error   from the top: error   adds up")
    above = np.array(PEOPLE[scale])
    for level in LEVELS:
        errors = [np.abs(counts[level] - truth[level]).mean() for counts in (measured, published)]
        whole = "yes" if (published[level].sum(axis=-1) == above).all() else "no"
        (low, high), *_ = answers[level].interval("n")
        print(f"{level:<9}{truth[level].size:>8,}   {truth[level].mean():>9,.1f}   {(high - low) / 2:>11.0f}", end="")
        print(f"{errors[0]:>7.2f}   {errors[1]:>19.2f}   {whole:>7}")
        above = published[level]
    empty = homes == 0
    zeros = [int((counts["block"][empty] == 0).sum()) for counts in (measured, published)]
    drift = published["block"] - truth["block"]
    small, large = drift[~empty & (truth["block"] < 5)].mean(), drift[truth["block"] >= 100].mean()
    print(f"\ninvariant  the state's {PEOPLE[scale]:,}; and homes by block: {empty.sum():,} blocks have none,")
    print(f"           so nobody lives there: {zeros[1]:,} zeros from the top, {zeros[0]:,} measured")
    print("bias       no count may be below zero, so blocks of fewer than 5 people gain")
    print(f"           {small:.2f} on average; those of 100 or more change by {large:+.2f}")
    print(f"cost       {spent}, which is {dp.accounting.to_approx(dp.ZCDP(RHO), DELTA)}")

    alone = truth["block"] == 1
    right = {
        "exact tables": guessed(truth["race"], truth["race"], alone),
        "these tables": guessed(published["race"], truth["race"], alone),
        "no tables": float(truth["race"][alone][:, 0].mean()),
    }
    print(f"\nAttack: {alone.sum():,} people live alone in their block. What is their race? Right:")
    print("   ".join(f"{share:.0%} by {name}" for name, share in right.items()))
    return {
        "answers": answers,
        "measured": measured,
        "published": published,
        "truth": truth,
        "zeros": (int(empty.sum()), zeros[1]),
        "people": PEOPLE[scale],
        "right": right,
        "alone": int(alone.sum()),
    }


def measure(people: pa.Table, shape: tuple[int, ...]) -> tuple[dict[str, dp.Answer], dict[str, np.ndarray], object]:
    """The answers about each level, the counts in them by place, and what they cost."""
    sizes = dict(zip(LEVELS, (*shape, len(GROUPS)), strict=True))
    keys = {level: dp.Keys(GROUPS if level == "race" else list(range(size))) for level, size in sizes.items()}
    answers, counts = {}, {}
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        protected = dp.protect(
            people,
            name="people",
            unit=dp.Unit.row(),
            adjacency=dp.SUBSTITUTION,  # what a person answers is hidden; how many people there are is published
            columns=keys,
            budget=dp.Budget(rho=RHO, delta=DELTA),
            ledger=Path(folder) / "people.ledger",
        )
        with protected:
            for number, (level, rho) in enumerate(LEVELS.items(), start=1):
                by = ", ".join(list(LEVELS)[:number])
                answers[level] = protected.ask(f"SELECT {by}, COUNT(*) AS n FROM people GROUP BY {by}", rho=rho)
                counts[level] = np.array(answers[level]["n"]).reshape(*list(sizes.values())[:number])
            spent = protected.spent
    return answers, counts, spent


def exact(people: pa.Table, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The true counts of each level."""
    race = np.searchsorted(GROUPS, people["race"].to_numpy(zero_copy_only=False))
    index = (*(people[level].to_numpy() for level in ("county", "tract", "block")), race)
    finest = np.zeros((*shape, len(GROUPS)), dtype=np.int64)
    np.add.at(finest, index, 1)
    return {level: finest.sum(axis=tuple(range(number, 4))) for number, level in enumerate(LEVELS, start=1)}


def from_the_top(measured: dict[str, np.ndarray], total: int, homes: np.ndarray) -> dict[str, np.ndarray]:
    """Whole counts, none negative, that add up to those above them, nearest to what was measured.

    Blocks without homes have nobody. Computed from released numbers and invariants alone, so it costs nothing.
    """
    published, above = {}, np.array(total)
    for level, counts in measured.items():
        nearest = np.where(homes > 0, counts, -2 * total) if level == "block" else counts
        above = published[level] = whole(onto_simplex(nearest.astype(np.float64), above), above)
    return published


def onto_simplex(counts: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The nearest numbers, none negative, of these sums along the last axis: all less by one number, cut off at 0."""
    ordered = -np.sort(-counts, axis=-1)
    less = (np.cumsum(ordered, axis=-1) - sums[..., np.newaxis]) / np.arange(1, counts.shape[-1] + 1)
    last = (ordered > less).sum(axis=-1, keepdims=True).clip(1) - 1
    return np.maximum(counts - np.take_along_axis(less, last, axis=-1), 0)


def whole(numbers: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Whole numbers of the same sums: those with the largest fractions are rounded up."""
    down = np.floor(numbers + 1e-6).astype(np.int64)
    missing = (sums - down.sum(axis=-1))[..., np.newaxis]
    rank = np.argsort(np.argsort(down - numbers, axis=-1, kind="stable"), axis=-1, kind="stable")
    return down + (rank < missing)


def guessed(tables: np.ndarray, truth: np.ndarray, alone: np.ndarray) -> float:
    """How often a block's largest count, the first of equals, tells the race of who lives there alone."""
    return float((tables[alone].argmax(axis=-1) == truth[alone].argmax(axis=-1)).mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", choices=SHAPE, default="full")
    tell(parser.parse_args().scale)
