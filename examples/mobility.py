"""Google's mobility reports: how many people visit which kind of place, each day, in percent of what was usual.

After Aktay et al. (2020), "Google COVID-19 Community Mobility Reports: anonymization process description". The unit is
a person-day: what someone does on one day is hidden, all of it, and no more than that.

    python examples/mobility.py [--scale small|full]
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa

import discreet as dp

PEOPLE = {"small": 4_000, "full": 60_000}
REGIONS = {"North": 410.0, "South": 95.0, "Harbour": 12.0, "Island": 2.1}  # square kilometres
SHARES = [0.60, 0.37, 0.02, 0.01]  # of the people
PLACES = ["grocery", "parks", "retail", "transit"]
CHANCES = np.array([0.30, 0.12, 0.28, 0.34])  # of a visit on a usual day
CHANGED = np.array([0.85, 1.30, 0.45, 0.40])  # on the last day, times as many
WEEKS = 5
LAST = date(2020, 4, 6)
EPSILON = 1
LEAST_PEOPLE, LEAST_AREA, MOST_DOUBT = 100, 3, 0.10


def visits_of(people: int) -> pa.Table:
    """Who was where on five usual Mondays, and on one that wasn't. A few go twice, or to another region."""
    draw = np.random.default_rng(2020)
    home = draw.choice(len(REGIONS), people, p=SHARES)
    parts = []
    for week in range(WEEKS + 1):
        chances = CHANCES * (CHANGED if week == WEEKS else 1)
        who, place = np.nonzero(draw.random((people, len(PLACES))) < chances)
        again = draw.random(len(who)) < 0.2
        who, place = np.concatenate([who, who[again]]), np.concatenate([place, place[again]])
        away = draw.random(len(who)) < 0.05
        region = np.where(away, draw.choice(len(REGIONS), len(who), p=SHARES), home[who])
        parts.append((np.full(len(who), week), who, region, place))
    week, who, region, place = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    days = np.array([LAST - timedelta(weeks=WEEKS - number) for number in range(WEEKS + 1)])
    return pa.table(
        {
            "person": who,
            "day": days[week],
            "region": np.array(list(REGIONS))[region],
            "place": np.array(PLACES)[place],
        }
    )


@dataclass(frozen=True)
class Cell:
    """The counts of one kind of place in one region: of each day, truth, answer and interval."""

    truth: list[int]
    counts: list[int]
    ends: list[tuple[float, float]]

    @property
    def change(self) -> tuple[float, float, float]:
        """The last day over the median of those before, less one; and where it lies, if all six intervals hold."""
        *before, (low, high) = self.ends
        usual_low, usual_high = (median(side) for side in zip(*before, strict=True))
        usual = median(self.counts[:-1])
        return self.counts[-1] / usual - 1, low / usual_high - 1, high / usual_low - 1

    def published(self, area: float) -> str:
        """What the report says; post-processing of the counts, and so free."""
        if area < LEAST_AREA:
            return "left out: area"
        if min(self.counts) < LEAST_PEOPLE:
            return "left out: people"
        change, low, high = self.change
        if high - low > 2 * MOST_DOUBT:
            return "left out: doubt"
        return f"{change:+.1%} ({low:+.1%} to {high:+.1%})"


def tell(scale: str = "full") -> dict[str, object]:
    """Count visitors, publish what is certain enough, attack it, and return what was found."""
    visits = visits_of(PEOPLE[scale])
    days = sorted(set(visits["day"].to_pylist()))
    keys = {"day": days, "region": list(REGIONS), "place": PLACES}
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        protected = dp.protect(
            visits,
            name="visits",
            unit=dp.Unit("person", per="day", at="day"),
            columns={name: dp.Keys(values) for name, values in keys.items()},
            limits=dp.Limits(groups=4, rows_per_group=1),  # of a person in a day: four pairs of a region and a place
            budget=dp.Budget(epsilon=EPSILON),
            ledger=Path(folder) / "visits.ledger",
        )
        with protected:
            answer = protected.ask(
                "SELECT region, place, day, COUNT(DISTINCT person) AS n FROM visits GROUP BY region, place, day",
                epsilon=EPSILON,
                confidence=1 - Fraction(1, 40) / len(days),  # so that the six of a cell hold together in 97.5 %
            )
            spent = protected.spent
    people = visits.group_by(["region", "place", "day"]).aggregate([("person", "count_distinct")]).to_pylist()
    exact = {(each["region"], each["place"], each["day"]): each["person_count_distinct"] for each in people}
    cells: dict[tuple[str, str], Cell] = {}
    for row, ends in zip(answer.rows(), answer.interval("n"), strict=True):
        cell = cells.setdefault((row["region"], row["place"]), Cell([], [], []))
        cell.truth.append(exact.get((row["region"], row["place"], row["day"]), 0))
        cell.counts.append(row["n"])
        cell.ends.append(ends)

    print(
        f"{PEOPLE[scale]:,} people, {len(days)} Mondays, {visits.num_rows:,} visits; the last against those before.\n"
    )
    print("region    place     people on that day    change   published, with its 97.5 % interval")
    for (region, place), cell in cells.items():
        change = cell.truth[-1] / median(cell.truth[:-1]) - 1
        radius = (cell.ends[-1][1] - cell.ends[-1][0]) / 2
        counted = f"{cell.truth[-1]:,} as {cell.counts[-1]:,} ± {radius:.0f}"
        print(f"{region:<9} {place:<9} {counted:<21} {change:<+8.0%} {cell.published(REGIONS[region])}")
    print(f"\nleft out  regions below {LEAST_AREA} km²; fewer than {LEAST_PEOPLE} people, by their noisy number;")
    print(f"          and what is known to no better than ± {MOST_DOUBT * 100:.0f} percentage points")
    print(f"cost      {spent} for a day of a person,")
    print(f"          {dp.accounting.group(dp.PureDP(EPSILON), len(days))} for the {len(days)} Mondays of one")

    right = attacked(cells)
    print("\nAttack: was one certain person there? Of each count, the attacker knows all others.")
    print(f"right     {right['exact']:.0%} of {len(answer)} by exact counts, {right['noisy']:.0%} by these")
    print(f"bound     {right['bound']:.1%} from even odds, on average, whatever the rule")
    return {"answer": answer, "cells": cells, "right": right}


def attacked(cells: dict[tuple[str, str], Cell]) -> dict[str, float]:
    """How often a guess is right about one person in each cell on each day, of whom half were there.

    The attacker takes all others' visits off the count, and says yes if what is left is nearer to one than to none.
    """
    truth, counts = (np.array([getattr(cell, name) for cell in cells.values()]).ravel() for name in ("truth", "counts"))
    there = np.random.default_rng(1).random(len(truth)) < 0.5
    there &= truth > 0
    left = {"exact": there, "noisy": counts - (truth - there)}
    return {
        **{name: float(np.mean((rest > 0.5) == there)) for name, rest in left.items()},
        "bound": float(dp.attacks.most_often_right(Fraction(EPSILON, 4))),  # a visit is one of four pairs
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", choices=PEOPLE, default="full")
    tell(parser.parse_args().scale)
