"""LinkedIn's audience engagements: which articles an audience reads most, for analysts with a budget for each month.

After Rogers et al. (2020), "LinkedIn's audience engagements API: a privacy preserving data analytics system at scale".

    python examples/audience.py [--scale small|full]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dp

MEMBERS = {"small": 100_000, "full": 1_000_000}
ARTICLES = {"small": 5_000, "full": 20_000}
INDUSTRIES = ["finance", "health", "hotels", "media", "retail", "schools", "software", "transport"]
MOST_READ = 20  # articles of one member that count
MONTH = dp.MonthlyShare(epsilon=3, delta=1e-8)


def engagements(members: int, articles: int) -> pa.Table:
    """Who read what. Each industry has its own favourites; some members read far more than others."""
    draw = np.random.default_rng(2020)
    industry = draw.choice(len(INDUSTRIES), members, p=np.array([8, 6, 3, 5, 7, 4, 9, 3]) / 45)
    company = draw.integers(0, members // 10, members)
    member = np.repeat(np.arange(members), np.minimum(draw.geometric(1 / 4, members), 200))
    chances = 1 / (np.arange(articles) + 5.0)
    rank = draw.choice(articles, len(member), p=chances / chances.sum())
    article = (rank + 37 * industry[member]) % articles
    return (
        pa.table(
            {
                "member": member,
                "industry": np.array(INDUSTRIES)[industry[member]],
                "company": company[member],
                "article": article,
            }
        )
        .group_by(["member", "industry", "company", "article"])
        .aggregate([])
    )


INDUSTRY = "SELECT industry, COUNT(DISTINCT member) AS n FROM reads GROUP BY industry ORDER BY n DESC LIMIT 5"
ARTICLE = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy = LAPLACE_THRESHOLD) "
    "article, COUNT(DISTINCT member) AS n FROM reads WHERE {} GROUP BY article ORDER BY n DESC LIMIT 5"
)
"""Laplace noise is asked for by name, so that each question's ε comes off the month's, and no ρ."""


def tell(scale: str = "full") -> dict[str, object]:
    """Ask as two analysts until the month is over, attack a member, print it, and return what was found."""
    table = engagements(MEMBERS[scale], ARTICLES[scale])
    print(f"{MEMBERS[scale]:,} members read {table.num_rows:,} articles. Two analysts: {MONTH}, each.\n")
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        protected = dp.protect(
            table,
            name="reads",
            unit="member",
            columns={"industry": dp.Keys(INDUSTRIES)},  # a public list; articles have none
            limits=dp.Limits(rows=MOST_READ, groups=MOST_READ),
            budget=dp.Budget(epsilon=35, delta=1e-7),
            analysts={"ann": MONTH, "bob": MONTH},
            ledger=Path(folder) / "reads.ledger",
        )
        with protected:
            # A member has one industry, so one row of each is enough here, and there is less to hide.
            industries = protected.ask(INDUSTRY, epsilon="0.5", analyst="ann", limits=dp.Limits(rows=1))
            show("top industries, a public list", "industry", industries, counted(table))

            # Which articles were read at all is private: those that many read are shown, for a δ.
            software = ARTICLE.format("industry = 'software'")
            articles = protected.ask(software, epsilon=1, delta=1e-9, analyst="ann")
            show("top articles in software, no list", "article", articles, counted(table, industry="software"))

            again = protected.ask(software, epsilon=1, delta=1e-9, analyst="bob")
            print(f"\nbob asks the same: {'the same answer, for nothing' if again.reused else 'another answer'}")
            alone, private = attacked(protected, table)
            asked = until_refused(protected)
            spent, left = protected.spent, protected.remaining
    print(f"spent  {spent}")
    print(f"left   {left},\n       for all analysts and months to come")
    return {
        "table": table,
        "industries": industries,
        "articles": articles,
        "again": again,
        "alone": alone,
        "private": private,
        "asked": asked,
    }


def counted(table: pa.Table, **audience: object) -> dict[object, int]:
    """How many members are in each industry, or of an audience read each article: what the author knows."""
    for column, value in audience.items():
        table = table.filter(pa.compute.equal(table[column], value))
    by = "article" if audience else "industry"
    counts = table.group_by(by).aggregate([("member", "count_distinct")])
    return dict(zip(counts[by].to_pylist(), counts["member_count_distinct"].to_pylist(), strict=True))


def show(title: str, by: str, answer: dp.Answer, truth: dict[object, int]) -> None:
    """Print an answer beside the truth."""
    print(f"{title:<36}{'members':>8}   answer, ε = {float(answer.cost.epsilon):g}")
    for key, number, (low, high) in zip(answer[by], answer["n"], answer.interval("n"), strict=True):
        print(f"    {by} {key!s:<{31 - len(by)}}{truth.get(key, 0):>8,}   {number:,} ({low:,} to {high:,})")


def attacked(protected: dp.Protected, table: pa.Table) -> tuple[int, int]:
    """Narrow an audience down to one member, and ask what it reads.

    Returns:
        How many articles exact counts give away, and how many answers do.
    """
    one = table.filter(pa.compute.equal(table["member"], 0)).to_pylist()
    company, industry = one[0]["company"], one[0]["industry"]
    exact = counted(table, company=company, industry=industry)
    question = ARTICLE.format(f"company = {company} AND industry = '{industry}'")
    answer = protected.ask(question, epsilon=1, delta=1e-9, analyst="bob")
    print("\nAttack: bob knows a member's company and industry, and asks what that audience reads.")
    print(f"exact counts    {len(exact)}, all that its few members read")
    print(f"these answers   {len(answer)}; what so few read is shown with a chance of δ = 1e-09 at most")
    return len(exact), len(answer)


def until_refused(protected: dp.Protected) -> int:
    """How many more questions ann's month pays for."""
    print("\nAnn goes on, at ε = 0.5 a question:")
    for number, industry in enumerate(INDUSTRIES):
        try:
            protected.ask(
                f"SELECT COUNT(DISTINCT member) AS n FROM reads WHERE industry = '{industry}'",
                epsilon="0.5",
                analyst="ann",
                limits=dp.Limits(rows=1),
                cut_off=False,
            )
        except dp.DiscreetError as error:
            print(f"question {number + 1}: refused, {error.code}")
            return number
    return len(INDUSTRIES)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", choices=MEMBERS, default="full")
    tell(parser.parse_args().scale)
