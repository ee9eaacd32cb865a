"""Selection of groups: how many a threshold on the noisy count names, and how many the best selection would.

    python bench/group_selection.py [--data adult.csv] [--keys native-country education]

Without --data, the rows are those of a synthetic census, as many as Adult has. Expected numbers are computed from the
laws; nothing is drawn. "Threshold" is what questions do: the count that is compared with it is the one that is shown,
so names cost δ alone. "Best" is truncated geometric selection, which gives names and nothing else, with all of ε or
with half of it, as it would have if the other half went into counts.
"""

from __future__ import annotations

import argparse
from collections import Counter
from fractions import Fraction
from math import exp
from pathlib import Path

from pyarrow.csv import read_csv

from discreet.census import synthetic
from discreet.mechanisms import Laplace, Threshold
from discreet.mechanisms.textbook import TruncatedGeometric
from discreet.privacy import Sensitivity

ROWS = 32_561
EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2)]
DELTAS = [Fraction(1, 10**6), Fraction(1, 10**9)]


def chance(noise: Laplace, least: int) -> float:
    """Pr[noise ≥ least], of discrete Laplace noise."""
    falls = exp(-float(1 / noise.scale))
    return falls**least / (1 + falls) if least > 0 else 1 - falls ** (1 - least) / (1 + falls)


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a CSV file with a header, each row of which is a unit")
    parser.add_argument("--keys", nargs="+", default=["age", "education"], help="the columns whose values make a group")
    arguments = parser.parse_args()
    table = synthetic(ROWS) if arguments.data is None else read_csv(arguments.data)
    sizes = Counter(zip(*(table[key].to_pylist() for key in arguments.keys), strict=True)).values()
    print(f"{len(sizes)} groups\ngroups of a unit      ε       δ  threshold   best          with half of ε")
    for most in (1, 3):
        sensitivity = Sensitivity(l0=most, linf=1, l1=most, l2_squared=Fraction(most))
        for epsilon in EPSILONS:
            for delta in DELTAS:
                noise = Laplace.calibrate(sensitivity, epsilon)
                threshold = Threshold(noise, l0=most, linf=1, delta=delta).value
                named = sum(chance(noise, threshold - size) for size in sizes)
                best, half = (
                    sum(map(TruncatedGeometric.calibrate(share, delta, most).mass, sizes))
                    for share in (epsilon, epsilon / 2)
                )
                print(
                    f"{most:>15} {float(epsilon):>6g} {float(delta):>7g} {named:>10.1f} "
                    f"{best:>6.1f} {best / named - 1:>+6.1%} {half:>7.1f} {half / named - 1:>+6.1%}"
                )


if __name__ == "__main__":
    main()
