"""How far the commonest questions are from the truth at one ε: each number apart, from cells, and by other libraries.

    python bench/cells.py [--draws 2000] [--epsilon 1] [--peers PYTHON ...]

1,000 rows with x and y in [0, 100], whose means lie at three quarters; each row is a unit, but for the questions that
count people: 250 of them have 4 rows each, and may have 10. "apart" and "cells" are the
radii that plans announce at 95 %, "found" the one that 95 % of draws of fresh noise stay within, and "holds" how often
the interval that comes with an answer holds the truth. With `--peers`, the Pythons of environments where OpenDP,
SmartNoise, Tumult or diffprivlib are installed, the same is asked of these on the same rows with the same ε, see
`peers/answers.py`. Exits with 1 if a radius is above what is required, or intervals hold in less than 94 %.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import quantiles

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.engine import ExactResult
from discreet.gateway.answers import evaluate, interval_of
from discreet.gateway.execute import release, with_room
from discreet.query.estimates import Noisy
from discreet.query.planner import Level, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Kind

REQUIRED: Mapping[str, Mapping[str, float]] = {
    "AVG(x) AS a": {"a": 0.24},
    "COUNT(*) AS n, AVG(x) AS a": {"n": 4.2, "a": 0.24},
    "COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a": {"n": 4.2, "s": 310, "a": 0.24},
    "AVG(CASE WHEN x > 50 THEN 1 ELSE 0 END) AS a": {"a": 0.0025},
    "100.0 * COUNT_IF(x > 50) / COUNT(*) AS p": {"p": 0.25},
    "COUNT_IF(x < 70) AS p, COUNT_IF(x BETWEEN 70 AND 80) AS q, COUNT_IF(x > 80) AS r": dict.fromkeys("pqr", 3.1),
    "VAR_SAMP(x) AS v": {"v": 17},
    "COUNT(*) AS n, CORR(x, y) AS c": {"n": 9},
    "CORR(x, y) AS c, AVG(x) AS a, AVG(y) AS b": {"a": 0.45, "b": 0.45},
    "COUNT(*) AS n, COUNT(DISTINCT id) AS u": {"n": 31, "u": 4.2},
    "AVG(x) AS a, COUNT(DISTINCT id) AS u": {"a": 2.4, "u": 5},
}
"""The most that each column's radius may be at ε = 1."""

ROWS = 1_000


def rows() -> dict[str, np.ndarray]:
    """Two columns that go together, about 75."""
    source = np.random.default_rng()
    x = np.clip(75 + 12 * source.normal(size=ROWS), 0, 100)
    return {"x": x, "y": np.clip(75 + 0.5 * (x - 75) + 10 * source.normal(size=ROWS), 0, 100)}


def protected(data: Mapping[str, np.ndarray], folder: Path, unit: dp.Unit) -> dp.Protected:
    """The rows behind a fresh account."""
    columns = {name: dp.Column(name=name, kind=Kind.REAL, bounds=dp.Bounds(0, 100), nullable=False) for name in data}
    return dp.protect(
        pa.table({"id": np.arange(ROWS) // 4} | {name: pa.array(values) for name, values in data.items()}),
        name="t",
        unit=unit,
        columns={"id": dp.Column(name="id", kind=Kind.INTEGER)} | columns,
        limits=None if unit.is_row else dp.Limits(rows=10),
        budget=dp.Budget(epsilon=100),
        ledger=folder / f"{unit.is_row}.ledger",
    )


def drawn(
    level: Level, exact: ExactResult, truth: Sequence[float], draws: int
) -> tuple[list[list[float]], list[list[bool]]]:
    """The errors of so many draws, and whether the interval of each column held the truth."""
    rules = [interval_of(level.draft, output.expr, 0.95) for output in level.draft.question.outputs]
    errors, held = list[list[float]](), list[list[bool]]()
    for _ in range(draws):
        (group,) = release(level, exact)
        answers, found = values_of(level, group.noisy), [rule(group.noisy) for rule in rules]
        errors.append([abs(one - true) for one, true in zip(answers, truth, strict=True)])
        held.append([one is None or one.lo <= true <= one.hi for one, true in zip(found, truth, strict=True)])
    return errors, held


def values_of(level: Level, noisy: Noisy) -> list[float]:
    """The values of a question's columns."""
    found = {name: each.estimate(noisy, level.draft.laws) for name, each in level.draft.estimators}
    return [float(evaluate(output.expr, found)) for output in level.draft.question.outputs]


def reach(errors: Sequence[float]) -> float:
    """Within which 95 % of errors lie."""
    return quantiles(errors, n=100)[94]


def peers(
    pythons: Sequence[str], data: Mapping[str, np.ndarray], epsilon: float, draws: int
) -> dict[str, dict[str, list[list[float]]]]:
    """The answers of other libraries, by library and question."""
    asked = json.dumps([{name: list(values) for name, values in data.items()}, epsilon, draws])
    script = Path(__file__).with_name("peers") / "answers.py"
    answers: dict[str, dict[str, list[list[float]]]] = {}
    for python in pythons:
        found = subprocess.run([python, script], input=asked, stdout=subprocess.PIPE, text=True, check=True)
        answers |= json.loads(found.stdout)
    return answers


def main() -> int:
    """Print all figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--peers", nargs="+", default=[])
    arguments = parser.parse_args()
    data, is_good, epsilon = rows(), True, float(Fraction(arguments.epsilon))
    others = peers(arguments.peers, data, epsilon, arguments.draws)
    with (
        tempfile.TemporaryDirectory() as folder,
        protected(data, Path(folder), dp.Unit.row()) as by_row,
        protected(data, Path(folder), dp.Unit("id")) as by_person,
    ):
        for asked, required in REQUIRED.items():
            table = by_person if "DISTINCT id" in asked else by_row
            engine = table._admissions.current().engine  # noqa: SLF001 — what no analyst can ask
            print(f"{asked}   (ε = {arguments.epsilon})")
            sql = f"SELECT {asked} FROM t"
            plan = table.plan(sql, epsilon=arguments.epsilon)
            bound = question(sql, table.dataset.tables)
            apart = make_plan(bound, Request.of(epsilon=arguments.epsilon), table.dataset, in_cells=False)
            (level,) = plan.levels
            exact = with_room(level, engine.run(level.exact))
            truth = values_of(level, {name: numbers[0] for name, numbers in exact.measures.items()})
            errors, held = drawn(level, exact, truth, arguments.draws)
            for place, (said, before) in enumerate(zip(plan.expected, apart.expected, strict=True)):
                share = sum(row[place] for row in held) / len(held)
                most = required.get(said.column)
                is_good &= share >= 0.94 and (most is None or (said.error or 0) * epsilon <= most)
                line = f"  {said.column:<3} apart {shown(before.error)}  cells {shown(said.error)}"
                line += f"  found {shown(reach([row[place] for row in errors]))}  holds {share:.3f}"
                for name, answers in others.items():
                    if asked in answers:
                        off = [abs(row[place] - truth[place]) for row in answers[asked]]
                        line += f"  {name} {shown(reach(off))}"
                print(line)
    return 0 if is_good else 1


def shown(error: float | None) -> str:
    """An error in its place."""
    return f"{'–' if error is None else format(error, '.4g'):>8}"


if __name__ == "__main__":
    sys.exit(main())
