"""The commands about re-identification read what `init` reads, as it is said to be written."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.table_file import Written
from support.tables import write_arrow

ROWS = [(30 + row % 7, f"0{row % 3}", "flu" if row % 2 else "gout") for row in range(84)]
TABLE = pa.table(dict(zip(("age", "zip", "ill"), map(list, zip(*ROWS, strict=True)), strict=True)))
WRITTEN = "alter;plz;krank\n" + "".join(f"{age},5;{code};{ill}\n" for age, code, ill in ROWS)


def lines(path: Path) -> None:
    """JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()))


def in_duckdb(path: Path) -> None:
    """DuckDB, two tables."""
    with duckdb.connect(str(path)) as made:
        made.register("given", TABLE)
        made.execute("CREATE TABLE people AS SELECT * FROM given; CREATE TABLE other AS SELECT 1 AS a")


def in_sqlite(path: Path) -> None:
    """SQLite."""
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE people (age, zip, ill)")
    made.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
    made.commit()
    made.close()


def packed(path: Path) -> None:
    """CSV, packed."""
    csv.write_csv(TABLE, path.with_suffix(""))
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))


def folder(path: Path) -> None:
    """A folder of Parquet files."""
    path.mkdir()
    parquet.write_table(TABLE, path / "part.parquet")


FORMATS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "t.csv": (lambda path: csv.write_csv(TABLE, path), []),
    "t.csv.gz": (packed, []),
    "t.jsonl": (lines, []),
    "t.parquet": (lambda path: parquet.write_table(TABLE, path), []),
    "parts": (folder, []),
    "t.feather": (lambda path: write_arrow(TABLE, path), []),
    "t.duckdb": (in_duckdb, ["--table", "people"]),
    "t.db": (in_sqlite, []),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read_by_every_command(here: Path, run: Any, name: str) -> None:
    """And comes to the same figures."""
    make, options = FORMATS[name]
    make(here / name)
    said = ["--format", "json", *options]
    found = json.loads(run("risk", name, "-q", "age,zip", "-s", "ill", *said).stdout)
    assert (found["rows"], found["k"], found["unread"]) == (84, 4, [])
    made = run("anonymize", name, "-q", "age,zip", "-s", "ill", "--k", "2", "-o", "out.csv", *said)
    assert made.exit_code == 0, made.output
    codes = {line.split(",")[1].strip('"') for line in (here / "out.csv").read_text().splitlines()[1:]}
    assert codes == {"00", "01", "02"}  # released as they were written
    attacked = json.loads(run("attack", "linkage", name, "--on", "age,zip", "--sensitive", "ill", *said).stdout)
    assert attacked["results"][0]["tried"] == 84


def test_how_a_file_is_written_can_be_said(here: Path, run: Any) -> None:
    """To each command alike; and what is proposed next says it, too."""
    (here / "t.csv").write_text(f"{WRITTEN}31,5;?;flu\n31,5\n", encoding="utf-16")
    options = ["--encoding", "utf-16", "--delimiter", ";", "--decimal", ",", "--null", "?", "--skip-malformed"]
    found = json.loads(run("risk", "t.csv", "-q", "alter,plz", *options, "--format", "json").stdout)
    assert (found["rows"], found["k"], found["unread"]) == (85, 1, ["1 malformed line was left out"])
    shown = run("risk", "t.csv", "-q", "alter,plz", "-s", "krank", *options).stdout
    assert "1 malformed line was left out" in shown
    how = "--null '?' --delimiter ';' --encoding utf-16 --decimal , --skip-malformed t.csv"
    assert f"discreet anonymize --quasi-identifying alter,plz --sensitive krank {how}\n" in shown
    assert "discreet init t.csv\n" in shown
    made = run("anonymize", "t.csv", "-q", "alter,plz", "--k", "2", "-o", "out.parquet", *options)
    assert made.exit_code == 0, made.output
    assert made.stderr == "1 malformed line was left out\n"
    attacked = run("attack", "linkage", "t.csv", "--on", "alter,plz", "--sensitive", "krank", *options)
    assert attacked.exit_code == 0, attacked.output
    assert attacked.stderr == "1 malformed line was left out\n"


def test_a_file_beside_is_written_alike(here: Path, run: Any) -> None:
    """If it is of the same kind; else an option of the one would mean nothing for the other."""
    (here / "t.csv").write_text(WRITTEN)
    (here / "all.csv").write_text(WRITTEN + "30,5;00;flu\n")
    parquet.write_table(
        pa.table({"alter": [each[0] + 0.5 for each in ROWS], "plz": [each[1] for each in ROWS]}), "all.parquet"
    )
    options = ["--delimiter", ";", "--decimal", ",", "--format", "json"]
    for other in ("all.csv", "all.parquet"):
        found = run("risk", "t.csv", "-q", "alter,plz", "--population", other, *options)
        assert found.exit_code == 0, found.output
    linked = run(
        "attack", "linkage", "t.csv", "--auxiliary", "all.csv", "--on", "alter,plz", "--sensitive", "krank", *options
    )
    assert linked.exit_code == 0, linked.output


def test_what_of_a_file_beside_is_not_read_is_said(here: Path, run: Any) -> None:
    """Of a population and of an auxiliary table, as of the table itself."""
    (here / "t.csv").write_text(WRITTEN)
    (here / "all.csv").write_text(WRITTEN + "30,5;00;flu\n30,5\n")
    options = ["--delimiter", ";", "--decimal", ",", "--skip-malformed"]
    said = "1 malformed line was left out"
    told = ["-q", "alter,plz", "--population", "all.csv", *options]
    found = run("risk", "t.csv", *told, "--format", "json", "--html", "t.html")
    assert json.loads(found.stdout)["unread"] == [f"of the population: {said}"]
    assert f"Not read: of the population: {said}." in (here / "t.html").read_text()
    assert f"of the population: {said}" in run("risk", "t.csv", *told).stdout
    linked = run("attack", "linkage", "t.csv", "--auxiliary", "all.csv", "--on", "alter,plz", *options)
    assert linked.exit_code == 0, linked.output
    assert linked.stderr == f"of the auxiliary table: {said}\n"


@pytest.mark.parametrize("command", [["risk"], ["anonymize"], ["attack", "linkage"]])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["t.parquet", "--delimiter", ";"], "delimiter means nothing for a source of kind 'parquet'"),
        (["t.csv", "--decimal", ";"], "unknown decimal mark ';'"),
        (["t.csv", "--table", "people"], "table means nothing for a source of kind 'csv'"),
        (["t.data"], "the name 't.data' doesn't say what kind of file it is"),
        (["t.csv"], "no whole record starts on line 2 of 't.csv'"),
    ],
)
def test_what_cannot_be_read_is_refused(
    here: Path, run: Any, command: list[str], arguments: list[str], says: str
) -> None:
    """In the words that `init` has for it, which quote no cell."""
    (here / "t.csv").write_text('age,zip\n1,"6" tall" guy\n')
    refused = run(*command, *arguments)
    assert refused.exit_code == ExitCode.REFUSED
    assert says in refused.stderr
    assert "tall" not in refused.output


def test_what_is_left_out_is_said(here: Path, run: Any) -> None:
    """In the report, on the page, and where there is no report on standard error."""
    parquet.write_table(TABLE.append_column("photo", pa.array([b"x"] * 84)), "t.parquet")
    said = "the column 'photo' was left out: it holds binary"
    assert json.loads(run("risk", "t.parquet", "--format", "json").stdout)["unread"] == [said]
    assert f"not read            {said}" in run("risk", "t.parquet", "--html", "t.html").stdout
    assert "photo" in (here / "t.html").read_text(encoding="utf-8")
    assert run("anonymize", "t.parquet", "--k", "2").stderr == f"{said}\n"


def test_options_are_written_as_they_are_read() -> None:
    """Nothing where nothing was said."""
    assert str(Written()) == ""
    assert str(Written(table="my visits", dates="dmy")) == "--table 'my visits' --dates dmy "
