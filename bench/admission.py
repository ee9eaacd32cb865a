"""Admission beside DuckDB's own `COPY … TO parquet` of the same columns, sorted by part, and the memory that it takes.

    python bench/admission.py --data FILE [--rounds 3]

Each round measures the processor time of both in turn; the ratio is of medians. An admission is all that `discreet
admit` does with a table: it is read, cast, put into parts, hashed and put on the disk. Peaks are those of fresh
processes that admit once: the same table as Parquet, and a fifth of it as CSV and JSON lines, whose peak doesn't depend
on the number of rows. Exits with 1 if a requirement isn't met. It is a part of `bench/query.py`, and without arguments
it does nothing.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time

import discreet as dp
from discreet.tables import Source, Table
from discreet.tables.admission import admit, describe
from discreet.tables.admission.parts import number_of_parts

TIMES = 2.5
"""How often the processor time of a COPY an admission may take."""

PEAK = 1000
"""Its peak memory in MB, whatever the size of the table."""

OTHERS = {"CSV": ("visits.csv", "FORMAT csv, HEADER"), "JSON lines": ("visits.jsonl", "FORMAT json")}
"""Other formats: the name of a file, and how DuckDB is told to write it."""


def copy(data: Path, folder: Path) -> None:
    """What DuckDB does by itself."""
    import duckdb

    out = folder / "copy.parquet"
    with duckdb.connect() as connection:
        ((rows,),) = connection.execute(f"SELECT count(*) FROM read_parquet('{data}')").fetchall()
        by_part = f"FROM read_parquet('{data}') ORDER BY hash(user_id) % {number_of_parts(rows)}"
        connection.execute(f"COPY ({by_part}) TO '{out}' (FORMAT parquet)")
    out.unlink()


def admission(path: Path, folder: Path, typed: tuple[dp.Column, ...] = ()) -> None:
    """What the custodian does."""
    source = Source.of(path)
    columns = typed or describe(source, {})
    table = Table(name="visits", source=source, columns=columns, unit=dp.Unit("user_id"), limits=dp.Limits(rows=50))
    target = Path(tempfile.mkdtemp(dir=folder))
    admit([table], {}, target).save()
    shutil.rmtree(target)


def peak_of_this_process() -> float:
    """In MB. Linux's own figure, where there is one: getrusage starts from the peak of the process that started us."""
    status = Path("/proc/self/status")
    if status.is_file():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2 ** (20 if sys.platform == "darwin" else 10)


def peak(path: Path, data: Path, folder: Path) -> float:
    """The peak memory, in MB, of a fresh process that admits a file once."""
    command = [sys.executable, __file__, f"--data={data}", f"--folder={folder}", f"--peak={path}"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def judged_peak(name: str, path: Path, data: Path, folder: Path) -> bool:
    """Measure the peak of one format, print its line, and judge it."""
    megabytes = peak(path, data, folder)
    met = megabytes <= PEAK
    size = path.stat().st_size / 1e6
    print(
        f"admission of {size:.0f} MB of {name}: peak {megabytes:.0f} MB, allowed {PEAK}  {'' if met else '← not met'}",
        flush=True,
    )
    return met


def compare(data: Path, folder: Path, rounds: int) -> bool:
    """Time both, measure the peaks, print and judge."""
    import duckdb

    taken: dict[str, list[float]] = {"copy": [], "admission": []}
    for number in range(rounds + 1):
        for name, call in (("copy", copy), ("admission", admission)):
            start = process_time()
            call(data, folder)
            if number:  # the first round loads libraries
                taken[name].append(process_time() - start)
    copied, admitted = median(taken["copy"]), median(taken["admission"])
    met = admitted <= TIMES * copied
    print(
        f"admission: {admitted:.2f} s of processor time, DuckDB's COPY sorted by part {copied:.2f} s: "
        f"ratio {admitted / copied:.2f}, allowed {TIMES:g}  {'' if met else '← not met'}",
        flush=True,
    )
    met &= judged_peak("Parquet", data, data, folder)
    for name, (file, written) in OTHERS.items():
        path = folder / file
        with duckdb.connect() as connection:
            ((rows,),) = connection.execute(f"SELECT count(*) FROM read_parquet('{data}')").fetchall()
            connection.execute(f"COPY (FROM read_parquet('{data}') LIMIT {rows // 5}) TO '{path}' ({written})")
        met &= judged_peak(name, path, data, folder)
        path.unlink()
    return met


def main() -> int:
    """Compare, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a table of visits, as bench/visits.py writes it")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peak", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        admission(arguments.peak, arguments.folder, describe(Source.of(arguments.data), {}))
        print(peak_of_this_process())
        return 0
    if arguments.data is None:
        print("a part of bench/query.py; by itself: python bench/admission.py --data FILE")
        return 0
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as temporary:
        return 0 if compare(arguments.data, Path(temporary), arguments.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
