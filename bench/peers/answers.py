"""What other libraries answer to the questions of `bench/cells.py`, draw by draw: run by the Python that has them.

    python bench/peers/answers.py < asked.json

Standard input holds rows, ε and the number of draws; standard output gets, by library and question, the answers of each
draw. Each is used as its documentation says, for neighbours by one row, with all of ε in equal shares where several
numbers are asked for; SmartNoise has its own split, scaled so that its own account of the cost is ε. What a library
can't be asked is left out. diffprivlib takes the number of rows for known, and hides values alone.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping

import numpy as np

Answers = dict[str, list[list[float]]]
Rows = Mapping[str, np.ndarray]

AVG = "AVG(x) AS a"
COUNT_AVG = "COUNT(*) AS n, AVG(x) AS a"
COUNT_SUM_AVG = "COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a"
FLAG = "AVG(CASE WHEN x > 50 THEN 1 ELSE 0 END) AS a"
THREE = "COUNT_IF(x < 70) AS p, COUNT_IF(x BETWEEN 70 AND 80) AS q, COUNT_IF(x > 80) AS r"
VARIANCE = "VAR_SAMP(x) AS v"
UNITS = "COUNT(*) AS n, COUNT(DISTINCT id) AS u"

_FEW = 300
"""Draws of libraries that take long."""

_MOST_OF_UNIT = 10


def flags(x: np.ndarray) -> list[np.ndarray]:
    """The conditions of `THREE`."""
    return [x < 70, (x >= 70) & (x <= 80), x > 80]


def diffprivlib(rows: Rows, epsilon: float, draws: int) -> Answers:
    """Laplace noise of the diffprivlib tools, in floats."""
    from diffprivlib import tools

    x = rows["x"]

    def drawn(*numbers: Callable[[float], float]) -> list[list[float]]:
        return [[float(each(epsilon / len(numbers))) for each in numbers] for _ in range(draws)]

    def mean(e: float) -> float:
        return tools.mean(x, epsilon=e, bounds=(0, 100))

    def count(e: float) -> float:
        return tools.count_nonzero(np.ones_like(x), epsilon=e)

    return {
        AVG: drawn(mean),
        COUNT_AVG: drawn(count, mean),
        COUNT_SUM_AVG: drawn(count, lambda e: tools.sum(x, epsilon=e, bounds=(0, 100)), mean),
        FLAG: drawn(lambda e: tools.mean((x > 50) * 1.0, epsilon=e, bounds=(0, 1))),
        THREE: drawn(*(lambda e, flag=flag: tools.count_nonzero(flag, epsilon=e) for flag in flags(x))),
        VARIANCE: drawn(lambda e: tools.var(x, epsilon=e, bounds=(0, 100)) * len(x) / (len(x) - 1)),
    }


def opendp(rows: Rows, epsilon: float, draws: int) -> Answers:
    """OpenDP's transformations and discrete noise; an average is a sum over a count."""
    import opendp.prelude as op

    op.enable_features("contrib")
    space = op.vector_domain(op.atom_domain(T=float, nan=False)), op.symmetric_distance()
    x = rows["x"]

    def measured(pipe: object, e: float) -> Callable[[list[float]], float]:
        return op.binary_search_chain(lambda scale: pipe >> op.m.then_laplace(scale), d_in=1, d_out=e)

    def total(values: np.ndarray, high: float, e: float) -> Iterator[float]:
        made = measured(space >> op.t.then_clamp((0.0, high)) >> op.t.then_sum(), e)
        return (made(list(map(float, values))) for _ in range(min(draws, _FEW)))

    def count(values: np.ndarray, e: float) -> Iterator[float]:
        made = measured(space >> op.t.then_count(), e)
        return (made(list(map(float, values))) for _ in range(min(draws, _FEW)))

    def both(values: np.ndarray, high: float) -> list[tuple[float, float]]:
        return list(zip(count(values, epsilon / 2), total(values, high, epsilon / 2), strict=True))

    return {
        AVG: [[s / n] for n, s in both(x, 100.0)],
        COUNT_AVG: [[n, s / n] for n, s in both(x, 100.0)],
        COUNT_SUM_AVG: [[n, s, s / n] for n, s in both(x, 100.0)],
        FLAG: [[s / n] for n, s in both((x > 50) * 1.0, 1.0)],
        THREE: [list(each) for each in zip(*(count(x[flag], epsilon / 3) for flag in flags(x)), strict=True)],
    }


def smartnoise(rows: Rows, epsilon: float, draws: int) -> Answers:
    """SmartNoise SQL."""
    import pandas as pd
    import snsql

    bounds = {name: {"type": "float", "lower": 0.0, "upper": 100.0} for name in rows}
    frame = pd.DataFrame({**rows, "id": np.arange(len(rows["x"])) // 4})

    def drawn(select: str, facts: Mapping[str, object]) -> list[list[float]]:
        def reader(e: float) -> snsql.PrivateReader:
            told = {"": {"s": {"t": {"rows": len(frame), **facts}}}}
            return snsql.from_df(frame, privacy=snsql.Privacy(epsilon=e, delta=1e-7), metadata=told)

        sql = f"SELECT {select} FROM s.t"
        cost, _ = reader(epsilon).get_privacy_cost(sql)
        asked = reader(epsilon * epsilon / cost)
        return [list(map(float, asked.execute(sql)[1])) for _ in range(min(draws, _FEW))]

    by_row = {"row_privacy": True, **bounds}
    by_person = {"censor_dims": False, "max_ids": _MOST_OF_UNIT, "id": {"private_id": True, "type": "int"}, **bounds}
    found = {each: drawn(each, by_row) for each in (AVG, COUNT_AVG, COUNT_SUM_AVG)}
    found[VARIANCE] = drawn("VARIANCE(x) AS v", by_row)
    found[UNITS] = drawn(UNITS, by_person)
    return found


def tumult(rows: Rows, epsilon: float, draws: int) -> Answers:
    """Tumult Analytics: all draws at once, as groups that hold the same rows."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    import pandas as pd
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    settings = {"spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false", "spark.driver.memory": "2g"}
    spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    x, few = rows["x"], min(draws, _FEW)
    copies = pd.DataFrame({"draw": np.repeat(np.arange(few), len(x)), "x": np.tile(x, few)})
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(1_000 * epsilon),
        source_id="t",
        dataframe=spark.createDataFrame(copies),
        protected_change=AddOneRow(),
    )
    grouped = QueryBuilder("t").groupby(KeySet.from_dict({"draw": list(range(few))}))

    def drawn(*asked: object) -> list[list[float]]:
        columns = []
        for each in asked:
            answer = session.evaluate(each, PureDPBudget(epsilon / len(asked))).toPandas().sort_values("draw")
            columns.append(answer.drop(columns="draw").iloc[:, 0].astype(float))
        return [list(row) for row in zip(*columns, strict=True)]

    def where(condition: str) -> object:
        return QueryBuilder("t").filter(condition).groupby(KeySet.from_dict({"draw": list(range(few))})).count()

    average, count = grouped.average("x", 0, 100), grouped.count()
    return {
        AVG: drawn(average),
        COUNT_AVG: drawn(count, average),
        COUNT_SUM_AVG: drawn(count, grouped.sum("x", 0, 100), average),
        THREE: drawn(where("x < 70"), where("x >= 70 AND x <= 80"), where("x > 80")),
        VARIANCE: drawn(grouped.variance("x", 0, 100)),
    }


LIBRARIES: Mapping[str, Callable[[Rows, float, int], Answers]] = {
    "OpenDP": opendp,
    "SmartNoise": smartnoise,
    "Tumult": tumult,
    "diffprivlib, n known": diffprivlib,
}


def main() -> None:
    """Answer with what is installed."""
    warnings.simplefilter("ignore")
    columns, epsilon, draws = json.load(sys.stdin)
    rows = {name: np.array(values) for name, values in columns.items()}
    found = {}
    for name, answers in LIBRARIES.items():
        try:
            found[name] = answers(rows, epsilon, draws)
        except ImportError as error:
            print(f"{name} isn't here: {error}", file=sys.stderr)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
