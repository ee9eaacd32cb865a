"""Apple's count-mean sketch: which emoji are popular; and what a year of person-days tells about one person.

After Apple's Differential Privacy Team (2017), "Learning with privacy at scale". Devices randomise; the collector reads
the count of any emoji off a small table of sums.

    python examples/count_mean_sketch.py [--scale small|full]
"""

from __future__ import annotations

import argparse
import tempfile
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dp

DEVICES = {"small": 20_000, "full": 500_000}
WATCHED = {"small": 50, "full": 300}
OTHERS = {"small": 2_000, "full": 100_000}
EMOJI = [chr(0x1F300 + number) for number in range(600)] + [chr(0x1F600 + number) for number in range(80)]
FAVOURITES = 8
YEAR = 365


def tell(scale: str = "full") -> dict[str, object]:
    """Count emoji, print who found what, watch a few people for a year, and return what was found."""
    devices = DEVICES[scale]
    draw = np.random.default_rng(2017)
    chances = 1 / (np.arange(len(EMOJI)) + 3.0)
    favourite = draw.choice(len(EMOJI), devices, p=chances / chances.sum())
    counts = np.bincount(favourite, minlength=len(EMOJI))
    items = dp.local.fingerprints(EMOJI, b"emoji")

    # Both forms at Apple's ε and width. Apple has 65,536 hash functions: see the page for what fewer of them change.
    sketches = {
        "count-mean sketch": dp.local.CountMeanSketch(epsilon=4, hashes=1024, width=1024, salt=b"emoji"),
        "Hadamard form": dp.local.HadamardCountMeanSketch(epsilon=4, hashes=1024, width=1024, salt=b"emoji"),
    }
    estimates = {
        name: sketch.estimate(sketch.randomise_all(items[favourite]), items) for name, sketch in sketches.items()
    }
    print(f"Which of {len(EMOJI)} emoji are the favourites of {devices:,} people? One report from each.\n")
    print("emoji     truth    count-mean sketch   Hadamard form")
    for number in range(FAVOURITES):
        each, other = (f"{found.values[number]:,.0f} ± {found.radius()[number]:,.0f}" for found in estimates.values())
        print(f"no. {number + 1}   {counts[number]:>7,}   {each:<18}  {other}")
    print("\nreport            130 bytes           three numbers, one of them a bit that tells")
    print(f"cost              {sketches['count-mean sketch'].loss} a report, so a day; ", end="")
    print(f"{dp.accounting.group(dp.PureDP(4), YEAR)} for a year, by group privacy")

    named = watched(WATCHED[scale], items)
    print(f"\nAttack: {WATCHED[scale]:,} people send their favourite every day. Which is it, of {len(EMOJI)}?\n")
    print("days   named rightly")
    for days, share in named.items():
        print(f"{days:>4}   {share:>12.1%}")

    by_day, by_person = (central(OTHERS[scale], unit) for unit in ("person-day", "person"))
    print("\nThe same with a trusted custodian. An analyst asks for the total, at ε = 1, and knows")
    print(f"the messages of all but one person, who sent one on each of {YEAR} days.\n")
    print("unit         that person's messages")
    print(f"person-day   {by_day[0]:,} ± {by_day[1]:,.0f}")
    print(f"person       {by_person[0]:,} ± {by_person[1]:,.0f}, and at most 30 of a person count")
    return {
        "counts": counts,
        "estimates": estimates,
        "named": named,
        "watched": WATCHED[scale],
        "by_day": by_day,
        "by_person": by_person,
    }


def watched(people: int, items: np.ndarray) -> dict[int, float]:
    """How often a collector who knows which reports are of one device names its favourite, after some days.

    They estimate counts from that device's reports alone, and name the largest.
    """
    sketch = dp.local.CountMeanSketch(epsilon=4, hashes=64, width=1024, salt=b"emoji")
    right = dict.fromkeys((1, 3, 7, 14), 0)
    for favourite in np.random.default_rng(1).integers(0, len(items), people):
        reports = sketch.randomise_all(np.repeat(items[favourite], max(right)))
        for days in right:
            right[days] += int(sketch.estimate(reports[:days], items).values.argmax() == favourite)
    return {days: number / people for days, number in right.items()}


def central(others: int, unit: str) -> tuple[float, float]:
    """What the total says of one person, less the messages of all others, who sent one each; and its ±."""
    year = [date(2025, 1, 1) + timedelta(days=day) for day in range(YEAR)]
    messages = pa.table({"who": [0] * YEAR + list(range(1, others + 1)), "day": year + [year[0]] * others})
    units = {
        "person-day": (dp.Unit("who", per="day", at="day"), dp.Limits(rows=1)),
        "person": (dp.Unit("who"), dp.Limits(rows=30)),
    }
    who, limits = units[unit]
    with (
        tempfile.TemporaryDirectory(prefix="discreet-") as folder,
        dp.protect(
            messages,
            name="messages",
            unit=who,
            limits=limits,
            budget=dp.Budget(epsilon=1),
            ledger=Path(folder) / "ledger",
        ) as protected,
    ):
        answer = protected.ask("SELECT COUNT(*) AS n FROM messages", epsilon=1)
        ((low, high),) = answer.interval("n")
        return answer["n"][0] - others, (high - low) / 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", choices=DEVICES, default="full")
    tell(parser.parse_args().scale)
