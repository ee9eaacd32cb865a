"""Bounded questions beside plain DuckDB SQL, in one run on one table of visits.

    python bench/query.py [--rows 1e7] [--data FILE] [--users FILE] [--rounds 5] [--threads N] [--memory GB]
                          [--no-gateway]

Each round times all contenders in turn, so that whatever else the machine does falls on all of them; ratios are of
medians. The floor is the least that anybody bounding a user's contribution in DuckDB has to do: to group by user and
group once, after joining if tables are joined. `engine` is the exact part of a plan, `ask` the whole way from SQL text
to a stored answer. The column of memory is the peak of a fresh process, beside that of one that runs the floor;
tables were admitted before.

Afterwards, beside each other: a warm `ask` of a count on 10,000 rows, and the two durable commits that it takes, alone;
the second question on a CSV file, and on Parquet (`bench/warm.py`); and admission (`bench/admission.py`). Exits with 1
if a requirement isn't met.

DISCREET_BENCH=long takes 10^8 rows, in 8 GB.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import nan
from pathlib import Path
from statistics import median

import admission
import discreet as dp
import warm
from admission import peak_of_this_process
from discreet.tables import Table
from discreet.tables.admission import Snapshot, admit, identifying
from visits import CATEGORIES, DAYS, GREATEST_AMOUNT, REGIONS, TIERS, write_users, write_visits
from warm import paid, timed

LONG = os.environ.get("DISCREET_BENCH") == "long"


@dataclass(frozen=True)
class Case:
    """A question with its floor, and what is required of the engine.

    Args:
        question: in SQL.
        unit: whose presence is hidden.
        limits: what a unit may contribute.
        floor: plain SQL over `visits` and `users`, which does the least that has to be done.
        times: how often the floor's time the engine may take,
        plus: and how many seconds more.
        plain: unprotected SQL that answers the same, of whose time the engine may take five times as much.
        linked: whether the unit is found along a link, from visits to users; it is a column of `users` then.
    """

    question: str
    unit: dp.Unit
    limits: dp.Limits | None
    floor: str
    times: float
    plus: float = 0.0
    plain: str = ""
    linked: bool = False


USER = dp.Unit("user_id")
ASKED = {
    "count": "COUNT(*) AS x",
    "sum": "SUM(amount) AS x",
    "average": "AVG(amount) AS x",
    "both": "COUNT(*) AS n, SUM(amount) AS x",
}
SHAPES = {"50 rows": (dp.Limits(rows=50), 0.3), "5 × 10 rows": (dp.Limits(groups=5, rows_per_group=10), 1.0)}
PAIRS = (
    "SELECT count(*), sum(n), sum(total) FROM (SELECT user_id, region, count(*) AS n, sum(amount) AS total "
    "FROM visits GROUP BY user_id, region)"
)
BOUNDED = """
    WITH heavy AS (SELECT user_id FROM visits GROUP BY user_id HAVING count(*) > 50), kept AS (
        SELECT region, amount FROM visits ANTI JOIN heavy USING (user_id)
        UNION ALL
        SELECT region, amount FROM (
            SELECT region, amount, row_number() OVER (PARTITION BY user_id ORDER BY hash(amount, region)) AS number
            FROM visits SEMI JOIN heavy USING (user_id)
        ) WHERE number <= 50
    )
    SELECT region, approx_quantile(amount, 0.5) FROM kept GROUP BY region
"""
CASES = {
    "row, count": Case(
        question="SELECT region, COUNT(*) AS n FROM visits GROUP BY region",
        unit=dp.Unit.row(),
        limits=None,
        floor="SELECT region, count(*) FROM visits GROUP BY region",
        times=1.5,
        plus=0.06,
    ),
    **{
        f"{shape}, {name}": Case(
            question=f"SELECT region, {asked} FROM visits GROUP BY region",
            unit=USER,
            limits=limits,
            floor=PAIRS,
            times=times,
            plain=f"SELECT region, {asked} FROM visits GROUP BY region" if shape == "50 rows" else "",
        )
        for shape, (limits, times) in SHAPES.items()
        for name, asked in ASKED.items()
    },
    "50 rows, both, filtered": Case(
        question="SELECT region, COUNT(*) AS n, SUM(amount) AS x FROM visits WHERE day < 200 GROUP BY region",
        unit=USER,
        limits=dp.Limits(rows=50),
        floor=PAIRS.replace("FROM visits", "FROM visits WHERE day < 200"),
        times=0.5,
    ),
    "50 rows, median": Case(
        question="SELECT region, MEDIAN(amount) AS x FROM visits GROUP BY region",
        unit=USER,
        limits=dp.Limits(rows=50),
        floor=BOUNDED,
        times=0.6,
    ),
    "private keys": Case(
        question="SELECT category, COUNT(*) AS n FROM visits GROUP BY category",
        unit=USER,
        limits=dp.Limits(groups=20, rows_per_group=10),
        floor="SELECT count(*), sum(n) FROM (SELECT user_id, category, count(*) AS n FROM visits "
        "GROUP BY user_id, category)",
        times=0.9,
    ),
    "50 rows, private keys": Case(
        question="SELECT category, COUNT(*) AS n FROM visits GROUP BY category",
        unit=USER,
        limits=dp.Limits(rows=50, groups=50),
        floor="SELECT count(*), sum(n) FROM (SELECT user_id, category, count(*) AS n FROM visits "
        "GROUP BY user_id, category)",
        times=0.9,
    ),
    "count users": Case(
        question="SELECT COUNT(DISTINCT user_id) AS users FROM visits",
        unit=USER,
        limits=dp.Limits(rows=50),
        floor="SELECT count(DISTINCT user_id) FROM visits",
        times=0.25,
    ),
}
CASES |= {
    f"join, {name} by {by}": Case(
        question=f"SELECT {by}, {asked} AS x FROM visits JOIN users ON visits.user_id = users.id GROUP BY {by}",
        unit=dp.Unit("household"),
        limits=dp.Limits(rows=200),
        floor=f"SELECT count(*), sum(n), sum(total) FROM (SELECT household, {by}, count(*) AS n, sum(amount) AS total "
        f"FROM visits JOIN users ON user_id = id GROUP BY household, {by})",
        times=0.35,
        linked=True,
    )
    for name, asked in {"count": "COUNT(*)", "sum": "SUM(amount)"}.items()
    for by in ("region", "tier")
}
PEAK = 1.5
"""How often the floor's peak memory the engine's may be."""


@dataclass(frozen=True)
class Setting:
    """What all contenders run on: the files, and how many threads and bytes they may use."""

    data: Path
    users: Path
    folder: Path
    threads: int | None
    memory: int | None


def protected(case: Case, setting: Setting) -> dp.Protected:
    """The tables behind an account that is never used up."""
    columns = {"region": dp.Keys(REGIONS), "amount": dp.Bounds(0, GREATEST_AMOUNT), "day": dp.Bounds(0, DAYS)}
    link = {"user_id": "users.id"} if case.linked else {}
    unit = None if case.linked else case.unit
    tables = [dp.table(setting.data, name="visits", unit=unit, links=link, columns=columns, limits=case.limits)]
    if case.linked:
        tiers = {"tier": dp.Keys(TIERS)}
        tables.append(dp.table(setting.users, name="users", unit=case.unit, columns=tiers, limits=case.limits))
    return dp.protect(
        tables,
        name="visits",
        budget=dp.Budget(epsilon=10**6, delta="1/1000"),
        ledger=setting.folder / f"{list(CASES.values()).index(case)}.ledger",
    )


def floor(case: Case, setting: Setting) -> Callable[[], object]:
    """The floor, on a connection that is open already."""
    return in_sql(case.floor, setting)


def plain(case: Case, setting: Setting) -> Callable[[], object]:
    """What is asked, without any protection."""
    return in_sql(case.plain, setting)


def in_sql(query: str, setting: Setting) -> Callable[[], object]:
    """A query on a connection that is open already."""
    import duckdb

    settings = {"threads": setting.threads} if setting.threads else {}
    settings |= {"memory_limit": f"{setting.memory}B"} if setting.memory else {}
    connection = duckdb.connect(config={**settings, "temp_directory": str(setting.folder)})
    for name, path in (("visits", setting.data), ("users", setting.users)):
        connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{path}')")
    return lambda: connection.execute(query).fetchall()


def engine(case: Case, setting: Setting) -> Callable[[], object]:
    """The exact part of a plan."""
    from discreet.engine.duckdb import DuckDB

    plan = protected(case, setting).plan(case.question, epsilon=1, delta="1e-9")
    (level,) = plan.levels
    exact = replace(level.exact, limits=case.limits or level.exact.limits)  # plans may choose the other, cheaper shape
    opened = DuckDB(admitted(plan.dataset.tables, setting), threads=setting.threads, memory=setting.memory)
    return lambda: opened.run(exact)


def admitted(tables: Sequence[Table], setting: Setting) -> Snapshot:
    """The tables' snapshot: made once for all cases that identify the same, and for processes that measure memory."""
    named = [f"{table.name}-{column}" for table in tables for column in sorted(identifying(table, tables))]
    folder = setting.folder / "_".join(["snapshot", *named])
    if not folder.exists():
        folder.mkdir()
        admit(tables, {}, folder).save()
    return Snapshot.load(folder, {})


def ask(case: Case, setting: Setting) -> Callable[[], object]:
    """The whole way; each time at twice the price, for what errs no less than a stored answer is free."""
    table = protected(case, setting)
    doubled = count()
    return lambda: paid(table, case.question, epsilon=f"{2 ** next(doubled)}/8", delta="1e-9")


CONTENDERS = {"floor": floor, "plain": plain, "engine": engine, "ask": ask}

OF_PLAIN = 5.0
"""How often the time of plain SQL the engine may take, where that is asked as well."""


def peak(name: str, contender: str, arguments: list[str]) -> float:
    """The peak memory, in MB, of a fresh process that does it once."""
    command = [sys.executable, __file__, *arguments, "--peak", contender, name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(name: str, setting: Setting, arguments: argparse.Namespace, forwarded: list[str]) -> bool:
    """Time one case, print its line, and judge it."""
    case = CASES[name]
    left_out = {*([] if arguments.gateway else ["ask"]), *([] if case.plain else ["plain"])}
    contenders = [each for each in CONTENDERS if each not in left_out]
    calls = {contender: CONTENDERS[contender](case, setting) for contender in contenders}
    for call in calls.values():
        call()
    rounds = [{contender: timed(call) for contender, call in calls.items()} for _ in range(arguments.rounds)]
    clock, cpu = ({each: median(one[each][part] for one in rounds) for each in calls} for part in (0, 1))
    memory = {contender: peak(name, contender, forwarded) for contender in ("floor", "engine")}
    allowed = case.times * clock["floor"] + case.plus
    times_plain = clock["engine"] / clock["plain"] if case.plain else 0.0
    met = clock["engine"] <= allowed and times_plain <= OF_PLAIN and memory["engine"] <= PEAK * memory["floor"]
    asked = f"{clock['ask']:>9.3f}" if "ask" in clock else f"{'—':>9}"
    print(
        f"{name:<22}{clock['floor']:>9.3f}{clock['engine']:>9.3f}{asked}{clock['engine'] / clock['floor']:>8.2f}"
        f"{allowed / clock['floor']:>9.2f}{cpu['engine'] / cpu['floor']:>7.2f}"
        f"{memory['engine'] / memory['floor']:>8.2f}{memory['engine']:>8.0f}{times_plain or nan:>8.1f}"
        f"  {'' if met else '← not met'}",
        flush=True,
    )
    return met


def parse() -> tuple[argparse.Namespace, list[str]]:
    """The arguments, and those that a process for measuring memory needs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e8 if LONG else 1e7, help="of the table made for the run")
    parser.add_argument("--data", type=Path, help="a table of visits that is there already")
    parser.add_argument("--users", type=Path, help="the table of its users")
    parser.add_argument("--rounds", type=int, default=3 if LONG else 5)
    parser.add_argument("--threads", type=int, help="of DuckDB; by default one per core")
    parser.add_argument("--memory", type=float, default=8 if LONG else None, help="of DuckDB, in GB")
    parser.add_argument("--no-gateway", dest="gateway", action="store_false", help="leave the whole way out")
    parser.add_argument("--case", choices=list(CASES), action="append", help="only this one")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peak", nargs=2, metavar=("CONTENDER", "CASE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    forwarded = [f"--{name}={value}" for name in ("threads", "memory") if (value := getattr(arguments, name))]
    return arguments, forwarded


def main() -> int:
    """Make the table, compare, and judge."""
    arguments, forwarded = parse()
    memory = int(arguments.memory * 1e9) if arguments.memory else None
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as temporary:
        folder = arguments.folder or Path(temporary)
        data, users = arguments.data or folder / "visits.parquet", arguments.users or folder / "users.parquet"
        setting = Setting(data, users, folder, arguments.threads, memory)
        if arguments.peak:
            contender, name = arguments.peak
            CONTENDERS[contender](CASES[name], setting)()
            print(peak_of_this_process())
            return 0
        if not arguments.data:
            write_visits(int(arguments.rows), data)
        if not arguments.users:
            write_users(int(arguments.rows), users)
        print(f"{data.stat().st_size / 1e6:.0f} MB of visits, {len(REGIONS)} regions, {len(CATEGORIES)} categories; ")
        print(f"medians of {arguments.rounds}, in seconds; ratios to the floor")
        print(
            f"{'':<22}{'floor':>9}{'engine':>9}{'ask':>9}{'ratio':>8}{'allowed':>9}{'cpu':>7}{'memory':>8}{'MB':>8}"
            f"{'÷ plain':>8}"
        )
        forwarded = [f"--data={data}", f"--users={users}", f"--folder={folder}", *forwarded]
        verdicts = [compare(name, setting, arguments, forwarded) for name in arguments.case or CASES]
        if not arguments.case:
            verdicts += [warm.compare_small(folder), warm.compare_formats(data, folder, arguments.rounds)]
            verdicts.append(admission.compare(data, folder, min(arguments.rounds, 3)))
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
