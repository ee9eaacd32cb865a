"""Questions computed by tasks of Sail, beside the embedded engine, in one run on one table of visits.

    python bench/spark.py [--rows 1e7] [--data FILE] [--rounds 3] [--tasks N]

Each round takes both in turn. What is judged is processor time, for a cluster has other clocks: that of this process,
in which Sail runs as well, may be half as much again as the embedded engine's. Integers are compared too. Where
`SPARK_HOME` says where a whole Spark lies, Spark SQL's own GROUP BY of the same files is the floor, of which a question
may take half. Afterwards: how long it takes from the import of Sail to a first answer. Exits with 1 if a requirement
isn't met.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from discreet.engine.duckdb import DuckDB
from discreet.engine.interface import Engine
from discreet.engine.spark import Spark
from discreet.query.ir import Exact
from discreet.tables.schema.spark import SparkConnect
from query import CASES, Setting, admitted, protected
from visits import write_visits

ASKED = (
    "50 rows, count",
    "50 rows, both",
    "50 rows, both, filtered",
    "5 × 10 rows, both",
    "private keys",
    "50 rows, median",
    "count users",
)
OF_EMBEDDED, OF_FLOOR = 1.5, 0.5

FLOOR = """
import json, os, sys, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
spark.read.parquet(sys.argv[1]).createOrReplaceTempView("visits")
def spent():
    fields = open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
taken = []
for _ in range(int(sys.argv[2])):
    before, begun = spent(), time.monotonic()
    spark.sql("SELECT count(*), sum(n), sum(total) FROM (SELECT user_id, region, count(*) AS n, sum(amount) AS total "
              "FROM visits GROUP BY user_id, region)").collect()
    taken.append((spent() - before, time.monotonic() - begun))
print("FLOOR", json.dumps(taken))
"""
"""It runs within the Python of a Spark driver, whose parent is the process that computes."""


def taken(engine: Engine, exact: Exact) -> tuple[float, float, object]:
    """Processor time and time of one answer, and what it was."""
    spent, begun = time.process_time(), time.monotonic()
    found = engine.run(exact)
    return time.process_time() - spent, time.monotonic() - begun, (dict(found.measures), dict(found.histograms))


def compare(name: str, setting: Setting, rounds: int, tasks: int | None, floor: float | None) -> bool:
    """Ask one question of both, print its line, and judge it."""
    case = CASES[name]
    plan = protected(case, setting).plan(case.question, epsilon=1, delta="1e-9")
    (level,) = plan.levels
    exact = replace(level.exact, limits=case.limits or level.exact.limits)
    snapshot = admitted(plan.dataset.tables, setting)
    engines = DuckDB(snapshot), Spark(snapshot, SparkConnect(remote="local", tasks=tasks))
    for engine in engines:
        engine.prepare(exact)
        engine.run(exact)
    answers = [[taken(engine, exact) for engine in engines] for _ in range(rounds)]
    assert all(here[2] == there[2] for here, there in answers)
    cpu, clock = ([median(one[place][part] for one in answers) for place in (0, 1)] for part in (0, 1))
    met = cpu[1] <= OF_EMBEDDED * cpu[0] and (floor is None or cpu[1] <= OF_FLOOR * floor)
    beside = "—" if floor is None else f"{cpu[1] / floor:.2f}"
    parts = max(len(held.files) for held in snapshot.tables.values())
    print(
        f"{name:<25}{parts:>6}{cpu[0]:>9.2f}{cpu[1]:>9.2f}{cpu[1] / cpu[0]:>8.2f}{clock[0]:>9.2f}{clock[1]:>9.2f}"
        f"{beside:>8}  {'' if met else '← not met'}",
        flush=True,
    )
    return met


def of_spark(data: Path, rounds: int) -> float | None:
    """The processor time of Spark SQL's own GROUP BY, on two cores; None if there is no Spark."""
    home = os.environ.get("SPARK_HOME")
    if not home:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(FLOOR)
        script.flush()
        command = [f"{home}/bin/spark-submit", "--master", "local[2]", script.name, str(data), str(rounds + 1)]
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
        said = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    found = json.loads(said.partition("FLOOR ")[2])[1:]
    cpu, clock = (median(one[part] for one in found) for part in (0, 1))
    print(f"Spark SQL's GROUP BY user_id, region takes {cpu:.1f} s of processor time, {clock:.1f} s in all")
    return cpu


FIRST = """
import time
begun = time.monotonic()
from discreet.engine.spark.connection import Connection
from discreet.tables.schema.spark import SparkConnect
connection = Connection(SparkConnect(remote="local"))
connection.ready()
print(time.monotonic() - begun)
"""


def main() -> int:
    """Make the table, compare, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7, help="of the table made for the run")
    parser.add_argument("--data", type=Path, help="a table of visits that is there already")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=int, help="that share the parts; by default one per core")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as temporary:
        folder = Path(temporary)
        data = arguments.data or folder / "visits.parquet"
        if not arguments.data:
            write_visits(int(arguments.rows), data)
        setting = Setting(data, folder / "users.parquet", folder, None, None)
        floor = of_spark(data, arguments.rounds)
        start = float(subprocess.run([sys.executable, "-c", FIRST], check=True, capture_output=True, text=True).stdout)
        print(f"from the first import to a cluster that was seen to be whole: {start:.2f} s")
        print(f"medians of {arguments.rounds}, in seconds of processor time, then of the clock")
        columns = ("parts", "here", "Sail", "ratio", "here", "Sail", "÷ floor")
        print(
            f"{'':<25}{columns[0]:>6}{columns[1]:>9}{columns[2]:>9}{columns[3]:>8}{columns[4]:>9}{columns[5]:>9}{columns[6]:>8}"
        )
        verdicts = [compare(name, setting, arguments.rounds, arguments.tasks, floor) for name in ASKED]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
