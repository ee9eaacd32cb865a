"""`discreet init`: a proposal that works at once, marks its leaks, and replaces nobody's decisions."""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import sqlite3
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import pytest
from deltalake import write_deltalake
from pyarrow import csv, parquet

from support.tables import write_arrow

COUNT = "SELECT COUNT(*) AS n FROM census WHERE age >= 40"


def test_init_then_ask_works_in_the_same_folder(here: Path, census_csv: Path, run: Any) -> None:
    """The table may lie elsewhere: configuration and ledger are written where the shell is."""
    result = run("init", census_csv)
    assert result.exit_code == 0, result.stderr
    assert sorted(path.name for path in here.iterdir()) == ["census.ledger", "census.ledger.key", "discreet.toml"]
    assert sorted(path.name for path in census_csv.parent.iterdir()) == ["census.csv"]
    answer = run("ask", COUNT, "--epsilon", "0.1")
    assert answer.exit_code == 0, answer.stderr


def test_the_folder_of_the_table_may_be_read_only(here: Path, census_csv: Path, run: Any) -> None:
    """Nothing is written beside the table."""
    vault = here / "vault"
    vault.mkdir()
    shutil.copy(census_csv, vault)
    vault.chmod(0o555)
    try:
        assert run("init", "vault/census.csv").exit_code == 0
        assert run("ask", COUNT, "--epsilon", "0.1").exit_code == 0
    finally:
        vault.chmod(0o755)
    assert [path.name for path in vault.iterdir()] == ["census.csv"]


def test_a_project_can_be_moved_as_a_whole(here: Path, census_csv: Path, run: Any) -> None:
    """With the table in the same folder, the configuration holds no absolute path."""
    shutil.copy(census_csv, here)
    assert run("init", "census.csv").exit_code == 0
    text = (here / "discreet.toml").read_text(encoding="utf-8")
    assert str(here) not in text
    assert 'source = "census.csv"' in text
    assert 'ledger = "census.ledger"' in text


def test_what_was_read_off_the_data_is_marked(here: Path, census_csv: Path, run: Any) -> None:
    """Only where it was asked for; named on the screen and in the file; what is public knowledge isn't one."""
    assert run("init", census_csv).exit_code == 0
    blank = (here / "discreet.toml").read_text(encoding="utf-8")
    assert 'income = { kind = "integer" }' in blank
    assert not any(line.startswith("# LEAK") for line in blank.splitlines())
    result = run("init", census_csv, "--leak", "--force")
    text = (here / "discreet.toml").read_text(encoding="utf-8")
    leaking = [line.split()[0] for line in result.stdout.splitlines() if "LEAK" in line]
    assert "income" in leaking
    assert "age" not in leaking
    assert text.count("LEAK") > 1
    assert "read off the data" in result.stdout


def test_it_says_how_to_see_whom_rows_would_single_out(here: Path, census_csv: Path, run: Any) -> None:
    """By a command that works as it stands, beside what answers do instead."""
    shutil.copy(census_csv, here / "the town.csv")
    shown = " ".join(run("init", "the town.csv").stdout.split())
    assert "ε bounds what they tell about anyone" in shown
    command = shown.partition("`")[2].partition("`")[0]
    assert shlex.split(command) == ["discreet", "risk", "the town.csv"]
    assert run(*shlex.split(command)[1:]).exit_code == 0


STREETS = ["12 Elm Street", "Hauptstraße 5", "Calle Mayor, 7"]
TOWNS = ["Bath", "York"]


def people(folder: Path) -> Path:
    """A table whose columns' names don't say that they lead to people."""
    rows = [f"{STREETS[n % 3]};p{n}@example.org;{TOWNS[n % 2]};{1_000 + 7 * n}" for n in range(60)]
    path = folder / "people.csv"
    path.write_text("\n".join(["lives;reach;town;paid", *rows]), encoding="utf-8")
    return path


@pytest.mark.parametrize("options", [[], ["--leak"], ["--strict"]], ids=str)
def test_what_leads_to_people_is_never_in_the_file(here: Path, run: Any, options: list[str]) -> None:
    """Nor on the screen; the file is meant to be public. Towns that many have are told where leaks are wanted."""
    result = run("init", people(here), *options)
    assert result.exit_code == 0, result.output
    shown = (here / "discreet.toml").read_text(encoding="utf-8") + result.output
    assert [text for text in [*STREETS, "@", "Elm", "Mayor"] if text in shown] == []
    assert all((town in shown) == (options == ["--leak"]) for town in TOWNS)


@pytest.mark.usefixtures("here")
def test_what_is_not_looked_at_is_not_told(census_csv: Path, run: Any) -> None:
    """Both at once can't be meant."""
    refused = run("init", census_csv, "--leak", "--strict")
    assert refused.exit_code == 1
    assert "--leak or --strict" in refused.stderr


def test_decimal_commas_and_the_order_of_dates_are_declared(here: Path, run: Any) -> None:
    """What init sees is how admission reads: the rows count, with their numbers and days."""
    rows = "".join(f"{day:02d}.03.2024;{day},5\n" for day in range(1, 29))
    (here / "sales.csv").write_text(f"sold;price\n{rows}", encoding="utf-8")
    assert run("init", "sales.csv").exit_code == 0
    text = (here / "discreet.toml").read_text(encoding="utf-8")
    assert 'source = { path = "sales.csv", decimal = ",", dates = "dmy" }' in text
    assert "# REVIEW: the decimal mark and the order of dates" in text
    report = run("admit", "--report")
    assert report.exit_code == 0
    assert "couldn't be read" not in report.stdout
    question = "SELECT COUNT(*) AS n, AVG(price, contribution_bounds_per_row => (0, 30)) AS p FROM sales"
    answer = run("ask", f"{question} WHERE sold >= DATE '2024-03-14'", "--epsilon", "2.9", "--format", "json")
    assert answer.exit_code == 0, answer.stderr


def test_what_can_be_read_in_two_ways_is_asked(here: Path, run: Any) -> None:
    """With the option that says which; said, it is declared, and the question is gone."""
    (here / "sales.csv").write_text("sold,price\n01/02/2024,5\n03/04/2024,7\n", encoding="utf-8")
    shown = " ".join(run("init", "sales.csv").stdout.split())
    assert "the dates of sold can be read with the day first, or the month: --dates says which" in shown
    assert 'sold = { kind = "text" }' in (here / "discreet.toml").read_text(encoding="utf-8")
    shown = run("init", "sales.csv", "--dates", "mdy", "--force").stdout
    assert "--dates" not in shown.replace("discreet risk --dates", "")
    text = (here / "discreet.toml").read_text(encoding="utf-8")
    assert 'dates = "mdy"' in text
    assert "# REVIEW: the decimal mark" not in text
    assert 'sold = { kind = "date" }' in text


def test_how_a_file_is_written_can_be_said(here: Path, run: Any) -> None:
    """An encoding that init itself needs, before there is a configuration to say it in; the hint names the option."""
    (here / "t.csv").write_bytes("größe,n\n1,2\n".encode("latin-1"))
    refused = run("init", "t.csv")
    assert refused.exit_code == 1
    assert "--encoding cp1252" in " ".join(refused.stderr.split())
    assert run("init", "t.csv", "--encoding", "cp1252").exit_code == 0
    assert 'encoding = "cp1252"' in (here / "discreet.toml").read_text(encoding="utf-8")


def test_strict_looks_at_nothing(here: Path, census_csv: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables with one schema give the same file and the same screen."""
    header, *rows = census_csv.read_text(encoding="utf-8").splitlines()
    results = []
    for name, part in {"all": rows, "some": rows[500:900]}.items():
        (here / name).mkdir()
        monkeypatch.chdir(here / name)
        Path("census.csv").write_text("\n".join([header, *part, ""]), encoding="utf-8")
        result = run("init", "census.csv", "--strict")
        results.append((result.exit_code, result.stdout, Path("discreet.toml").read_text(encoding="utf-8")))
    assert results[0] == results[1]
    assert results[0][0] == 0
    assert "LEAK" not in results[0][1]


def test_strict_takes_no_kind_from_the_cells(here: Path, run: Any) -> None:
    """One person's cell changes nothing of the file: neither whole numbers, nor dates, nor truths are told from it."""
    plain, odd = "7,1,2024-01-02,true,34\n", "x,y,z,w,v\n"
    seen = []
    for name, cells in (("plain", plain), ("odd", plain + odd)):
        (here / name).mkdir()
        file = here / name / "t.csv"
        file.write_text(f"points,code,seen,ok,age\n{cells}", encoding="utf-8")
        config = here / name / "t.toml"
        assert run("init", file, "--strict", "-o", config).exit_code == 0
        seen.append(config.read_text(encoding="utf-8"))
    assert seen[0] == seen[1]
    assert 'age = { kind = "integer", bounds = [0, 125] }' in seen[0]  # as anybody may know
    assert 'points = { kind = "text" }' in seen[0]


@pytest.mark.usefixtures("here")
def test_guessed_kinds_are_said_to_be(census_csv: Path, run: Any) -> None:
    """Of a CSV file, unless nothing was looked at."""
    assert "guessed from the cells" in " ".join(run("init", census_csv).stdout.split())
    assert "guessed from the cells" not in " ".join(run("init", census_csv, "--strict", "--force").stdout.split())


def test_a_configuration_is_not_replaced_unless_told(here: Path, census_csv: Path, run: Any) -> None:
    """`--force` replaces the configuration, and keeps the ledger with what was spent."""
    assert run("init", census_csv).exit_code == 0
    assert run("ask", COUNT, "--epsilon", "0.5").exit_code == 0
    config = here / "discreet.toml"
    config.write_text(f"# mine\n{config.read_text(encoding='utf-8')}", encoding="utf-8")
    refused = run("init", census_csv)
    assert refused.exit_code == 1
    assert refused.stderr.startswith("error[config]: ")
    assert "--force" in refused.stderr
    assert config.read_text(encoding="utf-8").startswith("# mine\n")
    assert run("init", census_csv, "--force").exit_code == 0
    assert not config.read_text(encoding="utf-8").startswith("# mine\n")
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == 0.5


def test_the_unit_can_be_named(here: Path, census_csv: Path, run: Any) -> None:
    """A column that tells whose row it is, or `row`; an unknown one is refused and nothing is written."""
    assert run("init", census_csv, "--unit", "ssn").exit_code == 0
    assert 'unit = "ssn"' in (here / "discreet.toml").read_text(encoding="utf-8")
    assert run("init", census_csv, "--unit", "row", "--force").exit_code == 0
    assert 'unit = "row"' in (here / "discreet.toml").read_text(encoding="utf-8")
    assert run("ask", COUNT, "--epsilon", "0.1").exit_code == 0
    spent = run("init", census_csv, "--unit", "ssn", "--force")
    assert spent.exit_code == 1
    assert "losses by the unit 'row'" in spent.stderr
    assert 'unit = "row"' in (here / "discreet.toml").read_text(encoding="utf-8")
    refused = run("init", census_csv, "--unit", "nobody", "-o", "other.toml")
    assert refused.exit_code == 1
    assert "ssn" in refused.stderr
    assert not (here / "other.toml").exists()


@pytest.mark.parametrize("name", ["my town", "a'b", 'say "hi"', "$(touch gone)", "`touch gone`", "x;y", "-n", "1st"])
def test_the_question_it_ends_with_can_be_pasted(here: Path, census_csv: Path, run: Any, name: str) -> None:
    """Whatever the file is called, a shell hands the last line to discreet as it is meant, and it is answered."""
    shutil.copy(census_csv, here / f"{name}.csv")
    result = run("init", here / f"{name}.csv", "--strict")
    assert result.exit_code == 0, result.output
    line = result.stdout.splitlines()[-1].strip()
    assert line.startswith("discreet ask '")  # within single quotes a shell obeys nothing
    _, *arguments = shlex.split(line)
    answer = run(*arguments)
    assert answer.exit_code == 0, answer.output


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("missing.csv", None, "source_missing"),
        ("letter.docx", b"PK", "source_unsupported"),
        ("empty.csv", b"", "source_unsupported"),
        ("broken.parquet", b"PAR1 no", "source_unsupported"),
        ("folder.csv", "folder", "source_unsupported"),
    ],
)
def test_what_cannot_be_read_is_refused(
    here: Path, run: Any, name: str, content: bytes | str | None, code: str
) -> None:
    """A typed error, and no file is left behind."""
    if content == "folder":
        (here / name).mkdir()
    elif isinstance(content, bytes):
        (here / name).write_bytes(content)
    before = sorted(here.iterdir())
    result = run("init", name)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error[source"), result.stderr
    assert code in result.stderr
    assert sorted(here.iterdir()) == before


def test_without_a_place_for_the_ledger_nothing_is_written(here: Path, census_csv: Path, run: Any) -> None:
    """A configuration without its account would be half a protection."""
    (here / "census.ledger").mkdir()
    result = run("init", census_csv)
    assert result.exit_code == 4, result.output
    assert not (here / "discreet.toml").exists()


def test_a_configuration_that_cannot_be_written_is_a_typed_error(here: Path, census_csv: Path, run: Any) -> None:
    """Its folder isn't there."""
    result = run("init", census_csv, "--output", here / "nowhere" / "discreet.toml")
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error[config]: ")


SHOP = {
    "customers": "id,name,age\n1,Ann,30\n2,Bob,44\n",
    "orders": "id,customer_id,total\n10,1,9.5\n11,2,19.5\n",
    "products": "id,label\n7,pen\n8,ink\n",
}


def policies(folder: Path) -> Path:
    """Three years of each of 400 policies, under names that say nothing; two columns are the policy's."""
    rng = np.random.default_rng()
    numbers, age, value = rng.permutation(400) + 7_000, rng.integers(6, size=400), rng.integers(5, size=400)
    rows = (f"{numbers[n]},{age[n]},{value[n]},{year}" for n in range(400) for year in range(3))
    path = folder / "p.csv"
    path.write_text("\n".join(["k1,k2,k3,k4", *rows]), encoding="utf-8")
    return path


def test_rows_that_look_like_one_persons_are_asked_about(here: Path, run: Any) -> None:
    """On the screen, whatever columns are called; the file says nothing of it, unless it may hold leaks, marked."""
    path = policies(here)
    asked = run("init", path.name).stdout
    assert "k1 has 400 values in 1,200 rows, and looks like the number of a person" in " ".join(asked.split())
    assert "--unit k1" in asked
    config = (here / "discreet.toml").read_text(encoding="utf-8")
    assert tomllib.loads(config)["tables"]["p"]["unit"] == "row"
    run("init", path.name, "--force", "--leak")
    config = (here / "discreet.toml").read_text(encoding="utf-8")
    assert tomllib.loads(config)["tables"]["p"]["unit"] == "k1"
    assert "LEAK: read off the data: k1 looks like" in config
    assert "1,200" not in config
    assert "whose?" not in run("init", path.name, "--force", "--unit", "k1").stdout
    assert "whose?" not in run("init", path.name, "--force", "--strict").stdout


def shop(folder: Path) -> list[Path]:
    """Three tables, of which two are about the same people."""
    for name, text in SHOP.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return [folder / f"{name}.csv" for name in SHOP]


def test_several_tables_become_one_account(here: Path, run: Any) -> None:
    """One configuration and one ledger, links by names, marked as such; where ids may repeat, no limit is guessed."""
    result = run("init", *shop(here))
    assert result.exit_code == 0, result.stderr
    text = (here / "discreet.toml").read_text(encoding="utf-8")
    assert 'links = { customer_id = "customers.id" }' in text
    assert "# REVIEW: judging by its name alone, customer_id links to customers.id" in text
    assert "public =" not in text
    assert sorted(path.suffix for path in here.iterdir()) == [".csv", ".csv", ".csv", ".key", ".ledger", ".toml"]
    shown = result.stdout.split()
    assert [name for name in shown if name in SHOP][:3] == list(SHOP)
    assert "found along customer_id → customers.id" in " ".join(shown)
    for table in SHOP:
        question = f"SELECT COUNT(*) AS n FROM {table}"
        answer = run("ask", question, "--epsilon", "0.1")
        assert answer.exit_code == 0, answer.stderr
        assert ("what limits cut off" in answer.stdout) is (table == "orders")  # of which it proposes none
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == pytest.approx(0.3)


def test_several_tables_strictly_show_nothing_of_the_data(here: Path, run: Any) -> None:
    """`--strict` looks at no table, whichever it is in the list."""
    result = run("init", *shop(here), "--strict")
    assert result.exit_code == 0, result.stderr
    assert "LEAK" not in result.stdout
    assert '"pen"' not in (here / "discreet.toml").read_text(encoding="utf-8")


def test_the_unit_of_several_tables_is_the_first_ones(here: Path, run: Any) -> None:
    """Named once, it is what the others are linked to."""
    assert run("init", *shop(here), "--unit", "id").exit_code == 0
    assert 'unit = "id"' in (here / "discreet.toml").read_text(encoding="utf-8")
    refused = run("init", *shop(here), "--unit", "customer_id", "--force")
    assert refused.exit_code == 1
    assert "no column 'customer_id'" in refused.stderr


def test_what_cannot_be_meant_of_several_tables_is_refused(here: Path, run: Any) -> None:
    """A table's name inside of which file? And two tables of one name can't be told apart; nothing is written."""
    files = shop(here)
    named = run("init", *files, "--table", "orders")
    assert named.exit_code == 1
    assert "--table" in named.stderr
    twice = run("init", files[0], files[0])
    assert twice.exit_code == 1
    assert "two tables of one name" in twice.stderr
    assert not (here / "discreet.toml").exists()


def packed(table: Path, path: Path) -> None:
    """A CSV file, packed."""
    path.write_bytes(gzip.compress(table.read_bytes()))


def json_lines(table: Path, path: Path) -> None:
    """JSON lines."""
    path.write_text("\n".join(map(json.dumps, pd.read_csv(table).to_dict("records"))), encoding="utf-8")


def sqlite(table: Path, path: Path) -> None:
    """A SQLite database."""
    connection = sqlite3.connect(path)
    pd.read_csv(table).to_sql("census", connection, index=False)
    connection.close()


def spreadsheet(table: Path, path: Path) -> None:
    """A spreadsheet."""
    book = openpyxl.Workbook()
    for line in table.read_text(encoding="utf-8").splitlines()[:500]:
        book.active.append([int(cell) if cell.isdigit() else cell for cell in line.replace('"', "").split(",")])
    book.active.title = "census"
    book.save(path)


def database(table: Path, path: Path) -> None:
    """A DuckDB database."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE census AS FROM read_csv('{table}')")


FORMATS: dict[str, Callable[[Path, Path], object]] = {
    "census.csv.gz": packed,
    "census.jsonl": json_lines,
    "census.sqlite": sqlite,
    "census.db": sqlite,
    "census.duckdb": database,
    "census.xlsx": spreadsheet,
    "census.feather": lambda table, path: write_arrow(csv.read_csv(table), path),
    "census.parquet": lambda table, path: parquet.write_table(csv.read_csv(table), path),
    "census": lambda table, path: write_deltalake(path, csv.read_csv(table)),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_proposed_for_and_asked(here: Path, census_csv: Path, run: Any, name: str) -> None:
    """Its columns get the kinds that they have in the CSV file, and a question is answered at once."""
    (here / "data").mkdir()
    FORMATS[name](census_csv, here / "data" / name)
    result = run("init", here / "data" / name)
    assert result.exit_code == 0, result.stderr
    text = (here / "discreet.toml").read_text(encoding="utf-8")
    assert 'age = { kind = "integer", bounds = [0, 125] }' in text
    assert 'sex = { kind = "text", keys = ["Female", "Male"] }' in text
    answer = run("ask", COUNT, "--epsilon", "0.1")
    assert answer.exit_code == 0, answer.stderr


def test_the_first_question_is_asked_of_what_was_written(here: Path, run: Any) -> None:
    """Of another file than the usual one, the command that is shown names it; pasted, it answers."""
    (here / "t.csv").write_text("age\n" + "30\n" * 60)
    shown = " ".join(run("init", "t.csv", "-o", "b c.toml").stdout.split())
    assert "--epsilon 0.1 -c 'b c.toml'" in shown
    assert run("ask", "SELECT COUNT(*) AS n FROM t", "--epsilon", "1", "-c", "b c.toml").exit_code == 0
    assert " -c " not in run("init", "t.csv").stdout


def test_it_names_the_form_that_reads_a_column(here: Path, run: Any) -> None:
    """As it is declared; and of a file laid out for readers, what of it would be a row."""
    lines = [f'P{number},"$1,{number + 100}.50",{number % 28 + 1}-OCT-2023' for number in range(60)]
    (here / "t.csv").write_text("\n".join(["person,income,seen", *lines, "Total,$99,1-OCT-2023"]) + "\n")
    shown = " ".join(run("init", "t.csv").stdout.split())
    assert 'income is numbers with strip = "$", thousands = ","; seen is dates with format = "%d-%b-%Y"' in shown
    assert "the last row seems to sum up the others" in shown
