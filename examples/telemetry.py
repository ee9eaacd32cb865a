"""Windows' telemetry: how long an app is open on average, day after day, from one bit of each device.

After Ding, Kulkarni, Yekhanin (2017), "Collecting telemetry data privately". Nobody is trusted: a device draws its
noisy answers once, keeps them, and sends the one that fits today.

    python examples/telemetry.py [--scale small|full]
"""

from __future__ import annotations

import argparse
from fractions import Fraction

import numpy as np

import discreet as dp

DEVICES = {"small": 20_000, "full": 500_000}
WATCHED = {"small": 4_000, "full": 20_000}
DAYS = 30
YEAR = 365
SHOWN = (1, 2, 7, 14, 30)
MINUTES = 24 * 60


def minutes_by_day(devices: int) -> np.ndarray:
    """What the devices know: minutes on each day. Seven in ten have a habit that never changes."""
    draw = np.random.default_rng(2017)
    habit = np.minimum(draw.gamma(1.5, 120, devices), MINUTES).astype(np.int64)
    days = np.tile(habit, (DAYS, 1))
    restless = draw.random(devices) < 0.3
    days[:, restless] = np.minimum(draw.gamma(1.5, 120, (DAYS, restless.sum())), MINUTES)
    return days


def tell(scale: str = "full") -> dict[str, object]:
    """Collect for a month, print what is learnt, attack it, and return what was found."""
    truth = minutes_by_day(DEVICES[scale])

    # The protocol is a set of public numbers. A value is rounded to 0, 360, …, 1,440 by a shift that is the device's
    # own, and each of these points has an answer that is drawn once. A fifth of the reports are flipped afresh.
    protocol = dp.local.MemoisedOneBit(lower=0, upper=MINUTES, step=360, epsilon=1, flip=Fraction(1, 5))
    memos = protocol.memorise_all(DEVICES[scale])  # stays on the devices
    estimates = [protocol.estimate(protocol.report_all(memos, today)) for today in truth]

    print(f"How many minutes a day is the app open? {DEVICES[scale]:,} devices send one bit a day.\n")
    print("day   truth          estimate")
    for day in SHOWN:
        found = estimates[day - 1]
        print(f"{day:>3}  {truth[day - 1].mean():>6.1f}   {float(found.values):>6.1f} ± {float(found.radius()):.1f}")
    print(f"\ncost  {protocol.loss_if_unchanged} for all days together, of a device whose minutes never change")
    print(f"      {protocol.once} for each report, whatever changes")
    print(f"      with fresh answers every day: {dp.accounting.group(dp.PureDP(1), YEAR)} for a year")

    right = attacked(WATCHED[scale])
    print("\nAttack: is the app never open on this device, or always? By all bits that it ever sent:\n")
    print("days   fresh every day   memoised")
    for days, (fresh, kept) in right.items():
        print(f"{days:>4}  {fresh:>15.1%}  {kept:>9.1%}")
    bound = dp.attacks.most_often_right(1)
    print(f"\nAt ε = 1 nobody can be right in more than {bound:.1%}, from even odds.")

    seen = change_seen(WATCHED[scale])
    print("What memoising doesn't hide: someone stops after half a year. Comparing the halves,")
    print(f"the collector sees it for {seen:.0%} of such devices, and is wrong about one in a million.")
    return {
        "truth": truth.mean(axis=1),
        "estimates": estimates,
        "right": right,
        "bound": bound,
        "seen": seen,
        "watched": WATCHED[scale],
    }


def attacked(devices: int) -> dict[int, tuple[float, float]]:
    """How often the collector is right about devices that are used never or always, half of each.

    Bits of fresh answers average out. Those of kept answers tell after a while what was kept, and then nothing more.
    """
    always = np.arange(devices) % 2 == 0
    values = np.where(always, MINUTES, 0)
    fresh = dp.local.OneBitMean(lower=0, upper=MINUTES, epsilon=1)
    kept = dp.local.MemoisedOneBit(lower=0, upper=MINUTES, step=360, epsilon=1, flip=Fraction(1, 5))
    memos = kept.memorise_all(devices)
    ups = np.zeros((2, devices), dtype=np.int64)
    right = {}
    for day in range(1, YEAR + 1):
        ups += np.stack([fresh.randomise_all(values), kept.report_all(memos, values)])
        if day in (1, 31, YEAR):  # odd numbers of days: one bit is ahead
            right[day] = tuple(float(np.mean((2 * sums > day) == always)) for sums in ups)
    return right


def change_seen(devices: int) -> float:
    """For how many of the devices that go from always to never their reports show it."""
    protocol = dp.local.MemoisedOneBit(lower=0, upper=MINUTES, step=360, epsilon=1, flip=Fraction(1, 5))
    memos = protocol.memorise_all(devices)
    half = YEAR // 2
    halves = [
        sum(protocol.report_all(memos, [value] * devices).astype(np.int64) for _ in range(half))
        for value in (MINUTES, 0)
    ]
    apart = np.abs(halves[0] - halves[1])
    spread = np.sqrt(2 * half * 0.2 * 0.8)  # of the difference, where nothing changed
    return float(np.mean(apart > 5 * spread))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", choices=DEVICES, default="full")
    tell(parser.parse_args().scale)
