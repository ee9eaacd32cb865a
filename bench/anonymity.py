"""Re-identification: how long it takes to measure risk and to reduce it, beside a bare group-by and beside pycanon.

    python bench/anonymity.py [--rounds 3] [--rows 1000000]

Takes UCI Adult and ARX's hierarchies from DISCREET_DATA (`../shared/data`); without them it says so and stops. The
larger tables are Adult's rows drawn again, a fifth of each column's cells swapped at random. Each round runs all cases
of a size in turn; figures are medians. `DISCREET_BENCH=long` adds 10 M rows, each case in a process of its own, so that
its peak memory can be told. There k is compared with Polars twice: what a process's first call takes, which has to get
memory from the system, and what later ones do. Ours and Polars' run in processes of their own, by turns; both time
nothing but the call on a lazy frame that the process has made before, so libraries are loaded. pycanon is timed if it
is installed, on 2,000 rows unless the bench is long: it takes about forty seconds for Adult. Exits with 1 if a
requirement isn't met.
"""

from __future__ import annotations

import argparse
import atexit
import importlib.util
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import TemporaryDirectory, mkdtemp
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from discreet import anonymity
from discreet.anonymity import KAnonymity, minimal_identifiers, read, read_hierarchy
from discreet.anonymity.classes import classes_of
from discreet.anonymity.reduce.generalisation import optimum
from discreet.anonymity.reduce.mondrian import mondrian

DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[2] / "shared" / "data"))
ARX = DATA / "adult_arx"
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
NINE = (*QUASI, "salary-class")
SENSITIVE = "salary-class"
LARGE = 10_000_000
BESIDE = "pycanon"


@dataclass(frozen=True)
class Case:
    """What is timed, and what is required of it.

    Args:
        name: what it is.
        run: does it.
        seconds: the most it may take; None if only the ratio matters.
        beside: what it is compared with; None for nothing.
        ratio: the most that its time may be of the other's.
        gigabytes: the most memory of a process that does it, where that is measured.
    """

    name: str
    run: Callable[[], object]
    seconds: float | None = None
    beside: Callable[[], object] | None = None
    ratio: float | None = None
    gigabytes: float | None = None


@cache
def adult() -> pa.Table:
    """ARX's Adult: 30,162 rows, nine columns."""
    return read(ARX / "adult.csv").to_arrow()


@cache
def resampled(rows: int) -> pa.Table:
    """As many rows drawn from Adult, a fifth of each column's cells replaced by another row's. The same each time."""
    random = np.random.default_rng(2024)
    source = read(adult())
    drawn = random.integers(0, source.rows, rows)
    columns = {}
    for name, column in source.columns.items():
        codes = column.codes[drawn]
        moved = np.flatnonzero(random.random(rows) < 0.2)
        codes[moved] = column.codes[random.integers(0, source.rows, len(moved))]
        columns[name] = pa.DictionaryArray.from_arrays(codes, column.values)
    return pa.table(columns)


@cache
def table_of(rows: int) -> pa.Table:
    """The same, from the file that BENCH_TABLE names if it does: then its making is no part of a process's peak."""
    file = os.environ.get("BENCH_TABLE")
    return resampled(rows) if file is None else pq.read_table(file)


@cache
def hierarchies() -> dict[str, Any]:
    """ARX's, of the nine columns."""
    return {name: read_hierarchy(ARX / f"hierarchy_{name}.csv", delimiter=";") for name in NINE}


@cache
def lazy(rows: int) -> Any:  # noqa: ANN401 — a Polars frame
    """A Polars frame of categories."""
    import polars as pl

    texts = pa.table({name: table_of(rows)[name].cast(pa.string()) for name in QUASI})
    frame = pl.from_arrow(texts)
    assert isinstance(frame, pl.DataFrame)
    return frame.select(pl.all().cast(pl.Categorical))


def checked(rows: int) -> int:
    """The k of a lazy Polars frame."""
    return int(classes_of(read(lazy(rows).lazy(), columns=QUASI), QUASI).sizes.min())


def grouped(rows: int) -> int:
    """The same by Polars alone."""
    import polars as pl

    return int(lazy(rows).lazy().group_by(QUASI).len().select(pl.col("len").min()).collect().item())


@cache
def csv_of(rows: int) -> Path:
    """The table as a CSV file, which goes with this process."""
    folder = mkdtemp()
    atexit.register(rmtree, folder)
    columns = {name: table_of(rows)[name].cast(pa.string()) for name in table_of(rows).column_names}
    pa.csv.write_csv(pa.table(columns), Path(folder) / "large.csv")
    return Path(folder) / "large.csv"


def by_arrow(path: Path) -> object:
    """The same cells by PyArrow alone, which looks for no malformed records and reads no kinds."""
    texts = dict.fromkeys(NINE, pa.dictionary(pa.int32(), pa.string()))
    return pa.csv.read_csv(path, convert_options=pa.csv.ConvertOptions(column_types=texts))


def report(table: pa.Table) -> object:
    """Every model, risk and class size."""
    return anonymity.assess(table, quasi_identifiers=QUASI, sensitive=[SENSITIVE])


def optimal(table: pa.Table, suppression: str) -> object:
    """The optimum over ARX's lattice, with its proof, and the released table."""
    return anonymity.anonymize(
        table, hierarchies=hierarchies(), models=[KAnonymity(5)], suppression=suppression, loss="ncp"
    )


@cache
def by_unit(rows_each: int) -> anonymity.Records:
    """Adult with whose each row is: everybody's so many rows alike; of 0, households of two rows on average, drawn."""
    table = adult()
    if not rows_each:
        whose = np.random.default_rng().integers(0, table.num_rows // 2, table.num_rows)
    else:
        whose = np.repeat(np.arange(table.num_rows), rows_each)
        table = table.take(pa.array(whose))
    return read(table.append_column("whose", pa.array(whose)), unit="whose")


def searched(records: anonymity.Records) -> object:
    """The optimum alone, of a table that is read already: 5 % suppressed."""
    return optimum(records, hierarchies(), [KAnonymity(5)], suppression="0.05")


def cut(records: anonymity.Records) -> object:
    """Mondrian's classes and cells over eight quasi-identifiers, of a table that is read already."""
    return mondrian(records, QUASI, [KAnonymity(5)])


def released(table: pa.Table) -> object:
    """The same from the table to the release: read, cut, written out, sorted, and checked again."""
    return anonymity.anonymize(
        table, quasi_identifiers=QUASI, sensitive=[SENSITIVE], models=[KAnonymity(5)], algorithm="mondrian"
    )


def sets() -> object:
    """All minimal identifying sets of 13 columns of UCI Adult."""
    table = uci()
    return minimal_identifiers(table, table.names[:2] + table.names[3:14], share=0.5)


@cache
def uci() -> anonymity.Records:
    """UCI Adult: 32,561 rows, 15 columns."""
    return read(DATA / "adult.csv")


def by_them(rows: int) -> object:
    """The same measures by pycanon."""
    import pandas as pd
    from pycanon import anonymity as theirs

    table: pd.DataFrame = adult().slice(0, rows).to_pandas().astype(str)
    quasi, sensitive = list(QUASI), [SENSITIVE]
    return (
        theirs.k_anonymity(table, quasi),
        theirs.alpha_k_anonymity(table, quasi, sensitive),
        theirs.l_diversity(table, quasi, sensitive),
        theirs.entropy_l_diversity(table, quasi, sensitive),
        theirs.recursive_c_l_diversity(table, quasi, sensitive),
        theirs.t_closeness(table, quasi, sensitive),
        theirs.basic_beta_likeness(table, quasi, sensitive),
        theirs.enhanced_beta_likeness(table, quasi, sensitive),
        theirs.delta_disclosure(table, quasi, sensitive),
    )


def small() -> Iterator[Case]:
    """Cases on Adult."""
    few = 2_000 if os.environ.get("DISCREET_BENCH") != "long" else adult().num_rows
    yield Case("report, Adult, 8 QIs", lambda: report(adult()), 0.15)
    if importlib.util.find_spec(BESIDE) is not None:
        part = adult().slice(0, few)
        yield Case(
            f"report, {few:,} rows, beside pycanon", lambda: report(part), beside=lambda: by_them(few), ratio=0.02
        )
    for limit, most in (("0", 0.4), ("0.05", 1.5), ("1", 3.0)):
        yield Case(f"optimal k = 5, Adult, {float(limit):.0%} suppressed", lambda s=limit: optimal(adult(), s), most)  # type: ignore[misc]  # the default binds the limit
    records = read(adult())
    for name, each in (("six rows each", 6), ("households", 0)):
        yield Case(
            f"the same at 5 % by unit: {name}", lambda e=each: searched(by_unit(e)), None,  # type: ignore[misc]  # as above
            beside=lambda: searched(records), ratio=2.0 if each else 6.0,
        )  # fmt: skip
    yield Case("Mondrian k = 5, Adult", lambda: cut(records), 0.1)
    yield Case("the same, read, released and checked", lambda: released(adult()))
    yield Case("minimal identifying sets of 13 columns", sets, 5.0)


def large(rows: int) -> Iterator[Case]:
    """Cases on many rows; for 10 M rows the requirements are others."""
    size = f"{rows / 1e6:g} M"
    huge = rows >= LARGE
    table = table_of(rows)
    if importlib.util.find_spec("polars") is not None:
        yield Case(f"k, {size}, beside Polars", lambda: checked(rows), beside=lambda: grouped(rows), ratio=1.5)
    if not huge:
        file = csv_of(rows)
        yield Case(f"CSV read, {size}, beside PyArrow", lambda: read(file), beside=lambda: by_arrow(file), ratio=4.0)
    yield Case(f"report, {size}, 8 QIs", lambda: report(table), None if huge else 1.5)
    yield Case(
        f"optimal k = 5, {size}, 5 % suppressed", lambda: optimal(table, "0.05"), 20.0 if huge else 5.0,
        gigabytes=2.0 if huge else None,
    )  # fmt: skip
    records = read(table)
    yield Case(f"Mondrian k = 5, {size}", lambda: cut(records), 6.0 if huge else 1.0)
    yield Case("the same, read, released and checked", lambda: released(table))


def timed(call: Callable[[], object]) -> float:
    """How many seconds a call takes."""
    start = perf_counter()
    call()
    return perf_counter() - start


def judged(case: Case, own: float, other: float | None, most: float | None) -> bool:
    """Print a line, and say whether what is required is met."""
    ratio = None if other is None else own / other
    met = (
        (case.seconds is None or own <= case.seconds)
        and (case.ratio is None or (ratio is not None and ratio <= case.ratio))
        and (case.gigabytes is None or most is None or most <= case.gigabytes)
    )
    cells = [
        f"{case.name:<42}{own:>9.3f}",
        f"{case.seconds:>9.2f}" if case.seconds is not None else " " * 9,
        f"{other:>9.3f}{ratio:>9.3f}{case.ratio:>9.3f}" if other is not None else " " * 27,
        f"{most:>8.2f}" if most is not None else " " * 8,
        "" if met else "   not met",
    ]
    print("".join(cells), flush=True)
    return met


def run(cases: list[Case], rounds: int) -> bool:
    """Time all cases in turn, round after round."""
    for case in cases[:1]:
        case.run()  # libraries are loaded before anything is timed
    times: list[list[tuple[float, float | None]]] = [[] for _ in cases]
    for _ in range(rounds):
        for case, found in zip(cases, times, strict=True):
            found.append((timed(case.run), None if case.beside is None else timed(case.beside)))
    met = True
    for case, found in zip(cases, times, strict=True):
        beside = None if case.beside is None else median(other for _, other in found if other is not None)
        met &= judged(case, median(own for own, _ in found), beside, None)
    return met


def peak() -> float:
    """The most memory that this process had, in GB: the table that is read counts, too."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def alone(place: int, rounds: int) -> int:
    """One case of 10 M rows, in this process; what is compared runs in processes of its own."""
    case = list(large(LARGE))[place]
    if case.beside is None:
        return 0 if judged(case, timed(case.run), None, peak()) else 1
    command = [sys.executable, __file__, "--calls"]
    found: dict[str, list[list[float]]] = {"checked": [], "grouped": []}
    for _ in range(rounds):
        for side, figures in found.items():
            printed = subprocess.run([*command, side], check=True, stdout=subprocess.PIPE, text=True).stdout
            figures.append([float(figure) for figure in printed.split()])
    own, other = ([median(each) for each in zip(*figures, strict=True)] for figures in found.values())
    met = judged(replace(case, name=f"{case.name}: first call"), own[0], other[0], None)
    met &= judged(replace(case, name=f"{case.name}: later calls"), own[1], other[1], None)
    return 0 if met else 1


def calls(side: str) -> int:
    """Print what the first call on a lazy frame of 10 M rows takes in this process, and what later ones do."""
    call = {"checked": checked, "grouped": grouped}[side]
    lazy(LARGE)
    first, *later = [timed(lambda: call(LARGE)) for _ in range(6)]
    print(first, median(later))
    return 0


def main() -> int:
    """Time, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--calls", help=argparse.SUPPRESS)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    said = parser.parse_args()
    if not ARX.is_dir():
        print("skipped: UCI Adult and ARX's hierarchies aren't here; DISCREET_DATA names their folder")
        return 0
    if said.make is not None:
        pq.write_table(resampled(LARGE), said.make)
        return 0
    if said.alone is not None:
        return alone(said.alone, said.rounds)
    if said.calls is not None:
        return calls(said.calls)
    print(f"median of {said.rounds} rounds; seconds")
    print(f"{'':<42}{'ours':>9}{'allowed':>9}{'beside':>9}{'ratio':>9}{'allowed':>9}{'peak GB':>8}")
    met = run(list(small()), said.rounds)
    met &= run(list(large(said.rows)), said.rounds)
    if os.environ.get("DISCREET_BENCH") == "long":
        with TemporaryDirectory() as folder:
            file = str(Path(folder) / "large.parquet")
            subprocess.run([sys.executable, __file__, "--make", file], check=True)
            for place in range(5):
                command = [sys.executable, __file__, "--alone", str(place), "--rounds", str(said.rounds)]
                done = subprocess.run(command, check=False, env={**os.environ, "BENCH_TABLE": file})
                met &= done.returncode == 0
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
