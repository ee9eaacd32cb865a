"""Microsoft's privacy guard: an analyst asks a guard, the guard asks the database, and its answer has noise.

After "Differential privacy for everyone", Microsoft (2012), whose figure has the four steps. The guard is `discreet
serve` on this machine; the analysts have an address and a token, and speak HTTP.

    python examples/guard.py [--scale small|full]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server

import pyarrow.csv

import discreet as dp

PEOPLE = {"small": 2_000, "full": 32_561}
QUESTION = "SELECT COUNT(*) AS n FROM people WHERE age >= 40"
REWORDED = "SELECT COUNT(*) AS n FROM people WHERE age >= {} AND age + 0 >= {}"
EPSILON = "1/2"
TIMES = dp.attacks.answers_needed(EPSILON, "median")  # after so many answers with fresh noise, 95 % know the exact one

CONFIG = """\
name = "people"
ledger = "people.ledger"
adjacency = "add_remove"
budget = { epsilon = 2 }

[tables.people]
source = "people.csv"
unit = "row"

[tables.people.columns]
age = { kind = "integer", bounds = [0, 125] }
sex = { kind = "text", keys = ["Female", "Male"] }
"""


def discreet(folder: Path, *arguments: str) -> str:
    """What a command of discreet prints, run in a folder."""
    command = [sys.executable, "-m", "discreet", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The guard, in a process of its own; its address. Every answer takes two seconds, whatever it takes to compute."""
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "discreet", "serve", "--port", str(port), "--base", "1", "--scan", "1"]
    guard = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        while guard.poll() is None:
            with dp.connect(address, "nobody", patience=0.5) as stranger:
                try:
                    stranger.me()
                except dp.errors.ServerUnreachable:
                    time.sleep(0.1)
                except dp.errors.Unauthenticated:
                    break  # it answers: it doesn't know us
        yield address
    finally:
        guard.terminate()  # it answers what was paid for, and ends
        guard.wait()


def tell(scale: str = "full") -> dict[str, object]:
    """Set the guard up, ask it, attack it, print it all, and return what was found."""
    people = dp.census.synthetic(PEOPLE[scale]).select(["age", "sex"])
    truth = sum(age >= 40 for age in people["age"].to_pylist() if age is not None)
    with tempfile.TemporaryDirectory(prefix="discreet-") as name:
        folder = Path(name)
        pyarrow.csv.write_csv(people, folder / "people.csv")
        (folder / "discreet.toml").write_text(CONFIG, encoding="utf-8")
        discreet(folder, "ledger", "create")
        discreet(folder, "admit")
        tokens = [discreet(folder, "token", "create", who, "--share", "all") for who in ("ann", "bob")]
        with (
            serving(folder) as address,
            dp.connect(address, tokens[0]) as ann,
            dp.connect(address, tokens[1]) as bob,
        ):
            found = asked(ann, truth)
            found |= averaged(ann, bob, people, found["answer"], truth)
    return found


def asked(ann: dp.Remote, truth: int) -> dict[str, object]:
    """The four steps of the figure."""
    plan = ann.plan(QUESTION, epsilon=EPSILON)
    answer = ann.ask(plan)
    ((low, high),) = answer.interval("n")
    print("analyst ──1──▶ guard ──3──▶ database")
    print("        ◀──4──       ◀─────\n")
    print(f"1  the analyst asks      {QUESTION}")
    print(f"2  the guard assesses    one person moves it by at most 1: {plan.cost}, {plan.expected[0]}")
    print(f"3  it asks the database  {truth:,}: the clean answer, which nobody sees")
    print(f"4  it adds noise         {answer['n'][0]:,} ± {(high - low) / 2:.0f}, signed, after {plan.seconds:.1f} s")
    return {"answer": answer, "truth": truth}


def averaged(ann: dp.Remote, bob: dp.Remote, people: object, first: dp.Answer, truth: int) -> dict[str, object]:
    """The averaging attack: on noise without a guard, on the guard, in the same words and in others."""
    bare = dp.attacks.Bare(dp.attacks.Exact(people, name="people"), epsilon=EPSILON)
    without = dp.attacks.averaging(bare, QUESTION, repeats=TIMES, truth=truth)
    again = [(ann, bob)[turn % 2].ask(QUESTION, epsilon=first.cost.epsilon) for turn in range(1, TIMES)]
    values = {answer["n"][0] for answer in (first, *again)}
    print(f"\nAttack: ask {TIMES} times, and take the median. The truth is {truth:,}.\n")
    print("against                             different   median   cost")
    row = "{:<37} {:>7}   {:>6,.0f}   {}"
    print(row.format("noise without a guard", len(set(without.answers)), without.estimate, f"ε = {without.epsilon:g}"))
    print(row.format("the guard, two analysts in turns", len(values), first["n"][0], ann.spent))

    # Whoever words it differently each time gets fresh noise, and pays for it.
    fresh, refused = [], ""
    for turn in range(TIMES):
        try:
            fresh.append((ann, bob)[turn % 2].ask(REWORDED.format(40, 40 - turn), epsilon=EPSILON)["n"][0])
        except dp.errors.BudgetExhausted as error:
            refused = error.code
            break
    known = sorted([first["n"][0], *fresh])[len(fresh) // 2]
    print(row.format("the guard, in other words each time", len(fresh), known, f"{ann.spent}, then {refused}"))
    return {"without": without, "values": values, "fresh": fresh, "refused": refused, "spent": ann.spent}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", choices=PEOPLE, default="full")
    tell(parser.parse_args().scale)
