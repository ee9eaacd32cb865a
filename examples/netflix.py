"""The Netflix Prize: ratings under pseudonyms, found again by a few films that an attacker heard of; and answers.

After Narayanan, Shmatikov (2008), "Robust de-anonymization of large sparse datasets". The same ratings are released as
rows, and put behind an account that answers with noise.

    python examples/netflix.py [--scale small|full]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dp

PEOPLE = {"small": 2_000, "full": 50_000}
FILMS = {"small": 1_000, "full": 5_000}
TARGETS = {"small": 60, "full": 300}
ASKED = 20
SHOWN = 5
DAYS = 2_000
FIRST = np.datetime64("2000-01-01")


def ratings_of(people: int, films: int) -> dict[str, np.ndarray]:
    """Who rated what, with how many stars, and when. A few films are seen by many, and most by few."""
    draw = np.random.default_rng(2006)
    person = np.repeat(np.arange(people), 10 + draw.geometric(1 / 20, people))
    chances = 1 / (np.arange(films) + 10.0)
    film = draw.choice(films, len(person), p=chances / chances.sum())
    pairs = np.unique(person * films + film)  # nobody rates a film twice
    person, film = np.divmod(pairs, films)
    taste = draw.normal(3.3, 0.7, films)[film]
    stars = np.clip(np.rint(taste + draw.normal(0, 0.9, len(film))), 1, 5).astype(np.int64)
    return {"person": person, "item": film, "value": stars, "date": draw.integers(0, DAYS, len(film))}


def heard(ratings: dict[str, np.ndarray], targets: int, *, films: int, wrong: int, days: int) -> dict[str, np.ndarray]:
    """What an attacker knows of the first people: some of their ratings, a few all wrong, with dates that are off."""
    draw = np.random.default_rng(2007)
    rows = np.concatenate(
        [draw.permutation(np.flatnonzero(ratings["person"] == target))[:films] for target in range(targets)]
    )
    known = {name: column[rows].copy() for name, column in ratings.items()}
    known["date"] += draw.integers(-days, days + 1, len(rows))
    lies = np.arange(len(rows)) % films < wrong
    for name, end in {"item": ratings["item"].max() + 1, "value": 6, "date": DAYS}.items():
        known[name][lies] = draw.integers(1, end, lies.sum())
    return known


def table(columns: dict[str, np.ndarray]) -> pa.Table:
    """The same with dates for numbers of days."""
    return pa.table({**columns, "date": FIRST + columns["date"]})


def tell(scale: str = "full") -> dict[str, object]:
    """Release the ratings in both ways, attack both, print it, and return what was found."""
    ratings = ratings_of(PEOPLE[scale], FILMS[scale])
    released, targets = table(ratings), TARGETS[scale]

    print(f"{PEOPLE[scale]:,} people rated {FILMS[scale]:,} films, {len(ratings['item']):,} times.\n")
    print("Rows under pseudonyms. An attacker who heard of a few ratings looks for the person:\n")
    print("heard of each target                                   best right   named  rightly")
    found = {}
    for films, wrong, days in ((8, 2, 14), (2, 0, 3)):
        known = table(heard(ratings, targets, films=films, wrong=wrong, days=days))
        found[films] = dp.attacks.sparse(released, known, near_days=days, truth=True)
        words = f"{films} ratings, {wrong or 'none'} of them all wrong, dates within {days} days"
        best, named, right = (
            number / targets for number in (found[films].best_right, found[films].named, found[films].named_right)
        )
        print(f"{words:<54} {best:>10.1%}  {named:>6.1%}  {right:>7.1%}")

    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        protected = dp.protect(
            released,
            name="ratings",
            unit="person",
            columns={"item": dp.Bounds(0, FILMS[scale] - 1), "value": dp.Bounds(1, 5)},
            limits=dp.Limits(rows=60),  # of a person
            budget=dp.Budget(epsilon=3),
            ledger=Path(folder) / "ratings.ledger",
        )
        with protected:
            answer = answered(protected, ratings)
            knows = present(protected, ratings)
            spent = protected.spent
    print(f"\nThe attacker asks, for {ASKED} people, whether they are in the data; half are.")
    print(f"right  {knows['exact'].success:.0%} by exact answers, {knows['noisy'].success:.0%} by these")
    print(f"bound  {dp.attacks.most_often_right('0.1'):.1%} from even odds, on average, whatever the rule")
    print(f"spent  {spent}, of ε = 3")
    return {"found": found, "targets": targets, "ratings": ratings, "answer": answer, "knows": knows}


def answered(protected: dp.Protected, ratings: dict[str, np.ndarray]) -> dp.Answer:
    """The films that were rated most, which is what the contest was about: how they are liked."""
    question = (
        f"SELECT item, COUNT(*) AS n, AVG(value) AS stars FROM ratings WHERE item < {SHOWN} GROUP BY item ORDER BY item"
    )
    answer = protected.ask(question, epsilon=1, limits=dp.Limits(rows=SHOWN))  # nobody rates a film twice
    print("\nAnswers, with a person as the unit. How are the best-known films liked? ε = 1\n")
    print("film   ratings   answer           stars   answer")
    for number in range(SHOWN):
        stars = ratings["value"][ratings["item"] == number]
        (n_low, n_high), (low, high) = answer.interval("n")[number], answer.interval("stars")[number]
        n, mean = answer["n"][number], answer["stars"][number]
        print(
            f"{number:>4}   {len(stars):>7,}   {n:>6,.0f} ± {(n_high - n_low) / 2:<4,.0f}   "
            f"{stars.mean():>7.3f}   {mean:.3f} ({low:.3f} to {high:.3f})"
        )
    return answer


def present(protected: dp.Protected, ratings: dict[str, np.ndarray]) -> dict[str, dp.attacks.AttackResult]:
    """How well an attacker tells who is in the data, by exact answers and by noisy ones."""
    half = ASKED // 2
    known = {name: np.tile(column, 2) for name, column in heard(ratings, half, films=8, wrong=0, days=14).items()}
    strangers = np.arange(len(known["item"])) >= len(known["item"]) // 2
    known["item"][strangers] = np.random.default_rng(2008).permutation(known["item"][strangers])  # nobody saw these
    known["person"] = 2 * known["person"] + strangers
    told, inside = table(known), list(range(0, ASKED, 2))
    asked = {
        "exact": dp.attacks.Exact(table(ratings), name="ratings", unit="person"),
        "noisy": dp.attacks.Answers(protected, epsilon="0.1"),
    }
    return {
        name: dp.attacks.presence(each, told, near_days=14, enough=0.9, inside=inside) for name, each in asked.items()
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", choices=PEOPLE, default="full")
    tell(parser.parse_args().scale)
