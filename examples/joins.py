"""Uber's joins: the questions that elastic sensitivity was made for, answered with limits on what a person adds.

After Johnson, Near, Song (2018), "Towards practical differential privacy for SQL queries". Beside each answer stands
the ± that elastic sensitivity has for the same question, ε and δ.

    python examples/joins.py [--scale small|full]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dp

RIDERS = {"small": 5_000, "full": 200_000}
CITIES = ["Bogotá", "Lagos", "Lyon", "Osaka", "Quito", "Turin"]
CONTINENTS = ["America", "Africa", "Europe", "Asia", "America", "Europe"]
MOST_OF_ONE_TRIPS, MOST_OF_ONE_TICKETS = 60, 9  # what one rider has
MOST_TRIPS, MOST_TICKETS = 20, 5  # what of it counts
EPSILON, DELTA = 1, 1e-9


def company(riders: int) -> dict[str, pa.Table]:
    """Riders, their trips, their tickets with the support, and cities. One rider has far more than others."""
    draw = np.random.default_rng(2018)
    city = draw.choice(len(CITIES), riders, p=[0.3, 0.25, 0.15, 0.1, 0.1, 0.1])
    trips = np.minimum(draw.geometric(1 / 5, riders), MOST_OF_ONE_TRIPS)
    tickets = np.minimum(draw.poisson(0.3, riders), MOST_OF_ONE_TICKETS)
    trips[0], tickets[0] = MOST_OF_ONE_TRIPS, MOST_OF_ONE_TICKETS  # the target of the attack
    rider = np.repeat(np.arange(riders), trips)
    return {
        "cities": pa.table({"name": CITIES, "continent": CONTINENTS}),
        "riders": pa.table(
            {"id": np.arange(riders), "city": np.array(CITIES)[city], "since": draw.integers(2010, 2018, riders)}
        ),
        "trips": pa.table({"rider_id": rider, "fare": np.round(draw.gamma(3, 4, len(rider)), 2)}),
        "tickets": pa.table({"rider_id": np.repeat(np.arange(riders), tickets)}),
    }


def protect(tables: dict[str, pa.Table], folder: str) -> dp.Protected:
    """All tables behind one account. The unit is the rider, in all tables at once."""
    return dp.protect(
        [
            dp.table(tables["cities"], name="cities", public=True, unique=["name"]),
            dp.table(
                tables["riders"],
                name="riders",
                unit=dp.Unit("id"),
                limits=dp.Limits(rows=1),
                columns={"city": dp.Keys(CITIES), "since": dp.Bounds(2010, 2017)},
            ),
            dp.table(
                tables["trips"],
                name="trips",
                links={"rider_id": "riders.id"},
                limits=dp.Limits(rows=MOST_TRIPS),
                columns={"fare": dp.Bounds(0, 100)},
            ),
            dp.table(
                tables["tickets"], name="tickets", links={"rider_id": "riders.id"}, limits=dp.Limits(rows=MOST_TICKETS)
            ),
        ],
        name="company",
        budget=dp.Budget(epsilon=10),
        ledger=Path(folder) / "company.ledger",
    )


def elastic(stability: Callable[[int], float]) -> float:
    """The ± that elastic sensitivity has for a count, at 95 %.

    Args:
        stability: how far one row can move the count once the tables differ in so many rows from what they are.
    """
    beta = EPSILON / (2 * log(2 / DELTA))
    smooth = max(exp(-beta * rows) * stability(rows) for rows in range(2_000))
    return log(1 / 0.05) * 2 * smooth / EPSILON  # Laplace noise of scale 2 · smooth / ε


@dataclass(frozen=True)
class Question:
    """A question, what the author knows of its answer, and the noise of elastic sensitivity."""

    words: str
    sql: str
    truth: int
    kept: int
    elastic: float
    limits: dp.Limits | None = None


def questions(tables: dict[str, pa.Table]) -> list[Question]:
    """The questions. A key that occurs m times may occur m + k times in tables that differ in k rows."""
    riders = tables["riders"].num_rows
    trips, tickets = (np.bincount(tables[name]["rider_id"], minlength=riders) for name in ("trips", "tickets"))
    continents = dict(zip(CITIES, CONTINENTS, strict=True))
    european = np.array([continents[city] == "Europe" for city in tables["riders"]["city"].to_pylist()])
    dear = np.unique(tables["trips"]["rider_id"].to_numpy()[tables["trips"]["fare"].to_numpy() > 30])
    both = int((tickets[dear] > 0).sum())
    most, pairs = int(trips.max()), MOST_TRIPS * MOST_TICKETS
    of_a_rider = "trips JOIN tickets ON trips.rider_id = tickets.rider_id"
    return [
        Question(
            "trips of riders from Europe",
            "SELECT COUNT(*) AS n FROM trips JOIN riders ON trips.rider_id = riders.id "
            "JOIN cities ON riders.city = cities.name WHERE cities.continent = 'Europe'",
            truth=int(trips[european].sum()),
            kept=int(np.minimum(trips, MOST_TRIPS)[european].sum()),
            elastic=elastic(lambda rows: most + rows),
        ),
        Question(
            "a trip and a ticket of one rider",
            f"SELECT COUNT(*) AS n FROM {of_a_rider}",
            truth=int((trips * tickets).sum()),
            kept=int(np.minimum(trips * tickets, pairs).sum()),
            elastic=elastic(lambda rows: most + rows),
            limits=dp.Limits(rows=pairs),
        ),
        Question(
            "two trips of one rider",
            "SELECT COUNT(*) AS n FROM trips AS a JOIN trips AS b ON a.rider_id = b.rider_id",
            truth=int((trips**2).sum()),
            kept=int(np.minimum(trips**2, MOST_TRIPS**2).sum()),
            elastic=elastic(lambda rows: 2 * (most + rows) + 1),
            limits=dp.Limits(rows=MOST_TRIPS**2),
        ),
        Question(
            "riders with a dear trip and ticket",
            f"SELECT COUNT(DISTINCT trips.rider_id) AS n FROM {of_a_rider} WHERE trips.fare > 30",
            truth=both,
            kept=both,
            elastic=elastic(lambda rows: most + rows),
            limits=dp.Limits(rows=pairs, groups=1),
        ),
    ]


STRANGERS = "SELECT COUNT(*) AS n FROM riders AS a JOIN riders AS b ON a.city = b.city"
"""Pairs of riders: nobody's rows alone, and so refused."""


def tell(scale: str = "full") -> dict[str, object]:
    """Ask the questions, print each beside elastic sensitivity, attack one, and return what was found."""
    tables = company(RIDERS[scale])
    asked = questions(tables)
    trips, tickets = tables["trips"].num_rows, tables["tickets"].num_rows
    print(f"{RIDERS[scale]:,} riders, {trips:,} trips, {tickets:,} tickets; each question at ε = {EPSILON}.\n")
    print("                                          truth  in limits  answer            elastic")
    row = "{:<34}{:>14} {:>10}  {:<17} ± {:,.0f}"
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder, protect(tables, folder) as protected:
        answers = [protected.ask(each.sql, epsilon=EPSILON, limits=each.limits) for each in asked]
        for each, answer in zip(asked, answers, strict=True):
            print(row.format(each.words, f"{each.truth:,}", f"{each.kept:,}", shown(answer), each.elastic))
        cities = np.unique(tables["riders"]["city"].to_pylist(), return_counts=True)[1]
        try:
            protected.plan(STRANGERS, epsilon=EPSILON)
        except dp.DiscreetError as error:
            refused = error.code
            other = elastic(lambda rows: 2 * (cities.max() + rows) + 1)
            print(row.format("two riders of one city", f"{(cities**2).sum():,}", "", "refused", other))

        everything = MOST_OF_ONE_TRIPS + MOST_OF_ONE_TICKETS + 1
        print("\nhides  here all rows of a rider, there one row. Rider no. 0 has ", end="")
        print(f"{everything} rows: {dp.accounting.group(dp.PureDP(EPSILON), everything)} there")

        # The differencing attack: everybody's pairs of a trip and a ticket, less those of all but rider no. 0.
        target = asked[1]
        but_one = protected.ask(f"{target.sql} WHERE trips.rider_id <> 0", epsilon=EPSILON, limits=target.limits)
        difference = answers[1]["n"][0] - but_one["n"][0]
        print("\nAttack: pairs of a trip and a ticket of all riders, less those of all but no. 0.")
        print(f"exact answers  {MOST_OF_ONE_TRIPS * MOST_OF_ONE_TICKETS}, which are hers")
        print(
            f"these          {difference:,} ± {2 * radius(but_one):,.0f}, and limits leave {target.limits.rows} of hers"
        )
        print(f"spent          {protected.spent}")
    return {"asked": asked, "answers": answers, "refused": refused, "but_one": but_one}


def radius(answer: dp.Answer) -> float:
    """The ± of the one number of an answer."""
    ((low, high),) = answer.interval("n")
    return (high - low) / 2


def shown(answer: dp.Answer) -> str:
    """The one number of an answer, with its ±."""
    return f"{answer['n'][0]:,} ± {radius(answer):,.0f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", choices=RIDERS, default="full")
    tell(parser.parse_args().scale)
