"""Questions and admission by tasks of Sail, beside the embedded engine, in one run on one table of visits.

    python bench/spark.py [--rows 1e7] [--data FILE] [--rounds 3] [--tasks N]

Each round takes both in turn. What is judged is processor time, for a cluster has other clocks: that of this process,
in which Sail runs as well, may be half as much again as the embedded engine's. Integers are compared too. Where
`SPARK_HOME` says where a whole Spark lies, Spark SQL's own GROUP BY of the same files is the floor, of which a question
may take half; and admission by Spark's tasks may take three times what Spark takes to repartition the files by user and
write them. Sail's own time for that is shown. Afterwards: how long it takes from the import of Sail to a first answer.
Exits with 1 if a requirement isn't met.
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
from discreet.engine.spark.admission import admit_by_cluster
from discreet.engine.spark.connection import Connection
from discreet.privacy import Unit
from discreet.query.ir import Exact
from discreet.tables import Source, Table
from discreet.tables.admission import describe
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
OF_EMBEDDED, OF_FLOOR, OF_WRITING = 1.5, 0.5, 3

FLOOR = """
import json, os, shutil, sys, tempfile, threading, time
from pathlib import Path
from pyspark.sql import SparkSession
from spark import admitted_by
from discreet.tables.schema.spark import SparkConnect
data, rounds = Path(sys.argv[1]), int(sys.argv[2])
spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
spark.read.parquet(str(data)).createOrReplaceTempView("visits")
ticks = {}
def look():
    while True:
        fields = {}
        for file in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields[int(file.parent.name)] = file.read_text().rpartition(")")[2].split()
            except OSError:
                pass
        family = {os.getppid()}
        while more := {each for each, said in fields.items() if int(said[1]) in family} - family:
            family |= more
        ticks.update({each: int(fields[each][11]) + int(fields[each][12]) for each in family & fields.keys()})
        time.sleep(0.2)
threading.Thread(target=look, daemon=True).start()
def spent():
    time.sleep(0.5)
    return sum(ticks.values()) / os.sysconf("SC_CLK_TCK")
def grouped(folder):
    spark.sql("SELECT count(*), sum(n), sum(total) FROM (SELECT user_id, region, count(*) AS n, sum(amount) AS total "
              "FROM visits GROUP BY user_id, region)").collect()
def written(folder):
    spark.read.parquet(str(data)).repartition(8, "user_id").write.parquet(f"{folder}/written")
def admitted(folder):
    admitted_by(SparkConnect(session=spark), data, Path(folder))
found = {each.__name__: [] for each in (grouped, written, admitted)}
for _ in range(rounds):
    for each in (grouped, written, admitted):
        folder = tempfile.mkdtemp()
        before = spent()
        each(folder)
        found[each.__name__].append(spent() - before)
        shutil.rmtree(folder)
print("FLOOR", json.dumps(found))
"""
"""It runs within the Python of a Spark driver, whose parent is the process that computes, or starts those that do."""


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


def admitted_by(cluster: SparkConnect, data: Path, folder: Path) -> int:
    """Have a cluster admit the visits; in how many parts."""
    table = Table(name="visits", source=Source.of(data), columns=describe(Source.of(data), {}), unit=Unit("user_id"))
    snapshot = admit_by_cluster([table], folder, cluster, among=[table])
    assert snapshot is not None, "of so few rows one machine makes one part"
    snapshot.save()
    return len(snapshot.tables["visits"].files)


def compare_admission(data: Path, rounds: int, tasks: int | None) -> None:
    """Have Sail's tasks admit the table, and have Sail repartition and write it, each round."""
    cluster = SparkConnect(remote="local", tasks=tasks)
    connection = Connection(cluster)
    connection.ready()
    spent: dict[str, list[float]] = {"admission": [], "writing": []}
    parts = 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="discreet-bench-") as folder:
            begun = time.process_time()
            parts = admitted_by(cluster, data, Path(folder))
            spent["admission"].append(time.process_time() - begun)
            begun = time.process_time()
            rows = connection.session().read.parquet(str(data)).repartition(parts, "user_id")
            rows.write.parquet(f"{folder}/written")
            spent["writing"].append(time.process_time() - begun)
    ours, own = (median(each) for each in spent.values())
    print(
        f"admission into {parts} parts on Sail {ours:.1f} s, Sail's repartition and write {own:.1f} s: {ours / own:.2f}"
    )


def of_spark(data: Path, rounds: int) -> tuple[float | None, bool]:
    """The processor time of Spark SQL's own GROUP BY, on two cores; and whether admission by Spark is within bounds.

    Returns:
        None and True if there is no Spark.
    """
    home = os.environ.get("SPARK_HOME")
    if not home:
        return None, True
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(FLOOR)
        script.flush()
        command = [f"{home}/bin/spark-submit", "--master", "local[2]", "--driver-memory", "3g", script.name]
        command += [str(data), str(rounds + 1)]
        paths = os.pathsep.join(path for path in sys.path if path)
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": paths}
        said = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    found = json.loads(said.partition("FLOOR ")[2])
    grouped, written, admitted = (median(found[name][1:]) for name in ("grouped", "written", "admitted"))
    print(f"Spark SQL's GROUP BY user_id, region takes {grouped:.1f} s of processor time")
    met = admitted <= OF_WRITING * written
    print(
        f"admission on Spark {admitted:.1f} s, Spark's repartition and write {written:.1f} s: "
        f"ratio {admitted / written:.2f}, allowed {OF_WRITING}  {'' if met else '← not met'}",
        flush=True,
    )
    return grouped, met


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
        floor, met = of_spark(data, arguments.rounds)
        compare_admission(data, arguments.rounds, arguments.tasks)
        start = float(subprocess.run([sys.executable, "-c", FIRST], check=True, capture_output=True, text=True).stdout)
        print(f"from the first import to a cluster that was seen to be whole: {start:.2f} s")
        print(f"medians of {arguments.rounds}, in seconds of processor time, then of the clock")
        columns = ("parts", "here", "Sail", "ratio", "here", "Sail", "÷ floor")
        print(
            f"{'':<25}{columns[0]:>6}{columns[1]:>9}{columns[2]:>9}{columns[3]:>8}{columns[4]:>9}{columns[5]:>9}{columns[6]:>8}"
        )
        verdicts = [compare(name, setting, arguments.rounds, arguments.tasks, floor) for name in ASKED]
    return 0 if met and all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
