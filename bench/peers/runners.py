"""The same four questions, asked of one library: run by the Python of an environment that has it.

    python bench/peers/runners.py NAME < job.json

Standard input holds the columns, ε, and for how many draws and how many seconds at most each question is asked;
standard output gets the version, and for each question the answers of each draw and the seconds that each took. A
question is asked end to end as the library's documentation says, on a table that is loaded, with nothing kept from the
draw before; the first draw isn't timed. Neighbours differ by one row.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

KEYS = [f"k{number}" for number in range(10)]
LOW, HIGH = 0, 100
Ask = Callable[[], list[float]]
"""Asks a question once: its numbers, those of groups in the order of `KEYS`."""
Rows = Mapping[str, np.ndarray]


def discreet(rows: Rows, epsilon: float) -> Mapping[str, Ask]:
    """Discreet, in memory, each draw on a version of its own: else the second answer would be the first, free."""
    import pyarrow as pa

    import discreet as dp

    account = dp.protect(
        pa.table(dict(rows)),
        name="t",
        unit=dp.Unit.row(),
        columns={"x": dp.Bounds(LOW, HIGH), "g": dp.Keys(KEYS)},
        budget=dp.Budget(epsilon=1_000_000),
        ledger=Path(tempfile.mkdtemp()) / "t.ledger",
    )

    def asked(select: str) -> Callable[[], list[float]]:
        def ask() -> list[float]:
            answer = account.ask(select, epsilon=str(epsilon))
            return [float(value) for value in answer[answer.names[-1]]]

        ask.before = account.refresh  # type: ignore[attr-defined] — not part of what is timed
        return ask

    return {
        "count": asked("SELECT COUNT(*) AS n FROM t"),
        "sum": asked("SELECT SUM(x) AS n FROM t"),
        "mean": asked("SELECT AVG(x) AS n FROM t"),
        "count by group": asked("SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY g"),
    }


def opendp(rows: Rows, epsilon: float) -> Mapping[str, Ask]:
    """The OpenDP library, by its Polars interface."""
    import opendp.prelude as op
    import polars as pl

    op.enable_features("contrib")
    frame = pl.DataFrame(dict(rows)).lazy()
    most = len(rows["x"])

    def context() -> Any:  # noqa: ANN401 — OpenDP's, without public types
        return op.Context.compositor(
            data=frame,
            privacy_unit=op.unit_of(contributions=1),
            privacy_loss=op.loss_of(epsilon=epsilon),
            split_evenly_over=1,
            margins=[
                op.polars.Margin(max_length=most),
                op.polars.Margin(by=["g"], max_length=most, max_groups=len(KEYS), invariant="keys"),
            ],
        )

    def alone(*expressions: object) -> list[float]:
        found = context().query().select(*expressions).release().collect()
        return [float(value) for value in found.row(0)]

    def mean() -> list[float]:
        total, count = alone(pl.col("x").fill_nan(0.0).fill_null(0.0).dp.sum((float(LOW), float(HIGH))), op.len())
        return [total / count]

    def groups() -> list[float]:
        found = context().query().group_by("g").agg(op.len()).release().collect().sort("g")
        return [float(value) for value in found["len"]]

    return {
        "count": lambda: alone(op.len()),
        "sum": lambda: alone(pl.col("x").fill_nan(0.0).fill_null(0.0).dp.sum((float(LOW), float(HIGH)))),
        "mean": mean,
        "count by group": groups,
    }


def smartnoise(rows: Rows, epsilon: float) -> Mapping[str, Ask]:
    """SmartNoise SQL, its ε so scaled that its own account of a question's cost is ε."""
    import pandas as pd
    import snsql

    frame = pd.DataFrame(dict(rows))
    facts = {
        "row_privacy": True,
        "rows": len(frame),
        "censor_dims": False,
        "clamp_counts": False,
        "x": {"type": "float", "lower": float(LOW), "upper": float(HIGH)},
        "g": {"type": "string", "cardinality": len(KEYS)},
    }

    def asked(select: str) -> Ask:
        def reader(offer: float) -> Any:  # noqa: ANN401 — SmartNoise's
            told = {"": {"s": {"t": facts}}}
            return snsql.from_df(frame, privacy=snsql.Privacy(epsilon=offer, delta=1e-9), metadata=told)

        cost, _ = reader(epsilon).get_privacy_cost(select)
        prepared = reader(epsilon * epsilon / cost)

        def ask() -> list[float]:
            found = sorted(prepared.execute(select)[1:])
            return [float(row[-1]) for row in found]

        return ask

    return {
        "count": asked("SELECT COUNT(*) AS n FROM s.t"),
        "sum": asked("SELECT SUM(x) AS n FROM s.t"),
        "mean": asked("SELECT AVG(x) AS n FROM s.t"),
        "count by group": asked("SELECT g, COUNT(*) AS n FROM s.t GROUP BY g"),
    }


def pipelinedp(rows: Rows, epsilon: float) -> Mapping[str, Ask]:
    """PipelineDP on its local backend, with public partitions."""
    import pipeline_dp as pdp

    data = list(zip(range(len(rows["x"])), rows["g"].tolist(), rows["x"].tolist(), strict=True))

    def asked(metric: object, keys: list[str], *, grouped: bool) -> Ask:
        def ask() -> list[float]:
            account = pdp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-9)
            engine = pdp.DPEngine(account, pdp.LocalBackend())
            params = pdp.AggregateParams(
                metrics=[metric],
                noise_kind=pdp.NoiseKind.LAPLACE,
                max_partitions_contributed=1,
                max_contributions_per_partition=1,
                min_value=LOW,
                max_value=HIGH,
            )
            extractors = pdp.DataExtractors(
                privacy_id_extractor=lambda row: row[0],
                partition_extractor=(lambda row: row[1]) if grouped else (lambda _: "all"),
                value_extractor=lambda row: row[2],
            )
            found = engine.aggregate(data, params, extractors, public_partitions=keys)
            account.compute_budgets()
            return [float(metrics[0]) for _, metrics in sorted(found)]

        return ask

    return {
        "count": asked(pdp.Metrics.COUNT, ["all"], grouped=False),
        "sum": asked(pdp.Metrics.SUM, ["all"], grouped=False),
        "mean": asked(pdp.Metrics.MEAN, ["all"], grouped=False),
        "count by group": asked(pdp.Metrics.COUNT, KEYS, grouped=True),
    }


def tumult(rows: Rows, epsilon: float) -> Mapping[str, Ask]:
    """Tumult Analytics, on Spark with two local cores."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    import pandas as pd
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    settings = {"spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false", "spark.driver.memory": "3g"}
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    frame = spark.createDataFrame(pd.DataFrame(dict(rows))).cache()
    frame.count()
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(1_000_000), source_id="t", dataframe=frame, protected_change=AddOneRow()
    )

    def asked(query: object) -> Ask:
        def ask() -> list[float]:
            found = session.evaluate(query, PureDPBudget(epsilon)).toPandas()
            names = list(found.columns)
            return [float(value) for value in found.sort_values(names[0])[names[-1]]]

        return ask

    table = QueryBuilder("t")
    return {
        "count": asked(table.count()),
        "sum": asked(table.sum("x", LOW, HIGH)),
        "mean": asked(table.average("x", LOW, HIGH)),
        "count by group": asked(table.groupby(KeySet.from_dict({"g": KEYS})).count()),
    }


def diffprivlib(rows: Rows, epsilon: float) -> Mapping[str, Ask]:
    """Tools of diffprivlib; its mean takes the number of rows for known."""
    from diffprivlib import tools

    x, ones = rows["x"], np.ones(len(rows["x"]))
    codes = np.searchsorted(KEYS, rows["g"])
    ends = (0, len(KEYS))
    return {
        "count": lambda: [float(tools.count_nonzero(ones, epsilon=epsilon))],
        "sum": lambda: [float(tools.sum(x, epsilon=epsilon, bounds=(LOW, HIGH)))],
        "mean": lambda: [float(tools.mean(x, epsilon=epsilon, bounds=(LOW, HIGH)))],
        "count by group": lambda: list(
            map(float, tools.histogram(codes, epsilon=epsilon, bins=len(KEYS), range=ends)[0])
        ),
    }


RUNNERS: Mapping[str, tuple[str, Callable[[Rows, float], Mapping[str, Ask]]]] = {
    "discreet": ("discreet", discreet),
    "OpenDP": ("opendp", opendp),
    "SmartNoise": ("smartnoise-sql", smartnoise),
    "PipelineDP": ("pipeline-dp", pipelinedp),
    "Tumult": ("tmlt.analytics", tumult),
    "diffprivlib": ("diffprivlib", diffprivlib),
}
"""Each library's distribution, whose version is named, and what asks it."""


def main() -> None:
    """Ask one library."""
    warnings.simplefilter("ignore")
    said, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no part of the reply
    job = json.load(sys.stdin)
    distribution, runner = RUNNERS[sys.argv[1]]
    rows = {name: np.array(values) for name, values in job["columns"].items()}
    found = {}
    for question, ask in runner(rows, job["epsilon"]).items():
        answers, seconds, before = [], [], getattr(ask, "before", lambda: None)
        before()
        ask()  # warms up
        begun = perf_counter()
        while len(answers) < job["draws"] and (len(answers) < job["least"] or perf_counter() - begun < job["seconds"]):
            before()
            started = perf_counter()
            answers.append(ask())
            seconds.append(perf_counter() - started)
        found[question] = {"answers": answers, "seconds": seconds}
    json.dump({"version": version(distribution), "found": found}, said)


if __name__ == "__main__":
    main()
