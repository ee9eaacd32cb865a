"""`discreet admit`: what it says, and what schedulers are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.cli.common.exit_codes import ExitCode
from discreet.errors import InvalidArgument, SnapshotChanged

COUNT = "SELECT COUNT(*) AS n FROM people"
CONFIG = """
name = "people"
ledger = "people.ledger"
adjacency = "add_remove"
budget = { epsilon = 1000 }

[tables.people]
source = "people.csv"
unit = "id"
limits = { rows = 1 }
columns = { id = { kind = "integer" }, age = { kind = "integer", bounds = [0, 110] } }
"""
CANARY = "Xanthippe"


@pytest.fixture
def folder(here: Path) -> Path:
    """A table of which not everything can be read, declared, with an account that nothing was admitted to."""
    (here / "people.csv").write_text(f"id,age\n1,30\n2,{CANARY}\n,40\n4,50\n")
    (here / "discreet.toml").write_text(CONFIG)
    dp.load(here / "discreet.toml", create_ledger=True)["people"].close()
    return here


def n_of(folder: Path) -> int:
    """How many people there are, all but exactly."""
    with dp.load(folder / "discreet.toml")["people"] as account:
        return int(account.ask(COUNT, epsilon=100)["n"][0])


def test_it_says_which_version_is_in_force(run: Any, folder: Path) -> None:
    """And what wasn't read only if it is asked to; never a value."""
    first = run("admit")
    assert (first.exit_code, first.stdout.splitlines()[0]) == (0, "version 1 is in force")
    assert "--report" in first.stdout
    second = run("admit", "--report")
    assert second.stdout.splitlines() == [
        "version 2 is in force",
        "people: 3 rows; 1 record left out",
        "  1 row doesn't say whose it is",
        "  age: 1 value couldn't be read, and is NULL",
        "  each of 3 units has one row",
    ]
    assert CANARY not in first.stdout + second.stdout + first.stderr + second.stderr
    assert n_of(folder) == 3


def test_the_report_as_json_says_that_it_is_not_private(run: Any, folder: Path) -> None:
    """It is read off the tables."""
    found = json.loads(run("admit", "--json").stdout)
    assert (found["version"], found["private"], found["problem"]) == (1, False, "")
    assert found["tables"]["people"]["unreadable"] == {"age": 1}
    assert folder.is_dir()


def test_trying_puts_nothing_in_force(run: Any, folder: Path) -> None:
    """Nor does it leave anything."""
    tried = run("admit", "--check")
    assert (tried.exit_code, tried.stdout.splitlines()[0]) == (0, "nothing was put in force")
    assert not list((folder / "people.snapshots").rglob("*.parquet"))


@pytest.mark.parametrize(("part", "code"), [("50%", 0), ("0.5", 0), ("1%", 1), ("0", 1)])
def test_too_much_that_cannot_be_read_is_refused(run: Any, folder: Path, part: str, code: int) -> None:
    """As a percentage or a number."""
    done = run("admit", "--at-most-unreadable", part)
    assert done.exit_code == code
    assert folder.is_dir()


@pytest.mark.parametrize("part", ["101%", "-1%", "much"])
def test_a_part_is_a_part(run: Any, folder: Path, part: str) -> None:
    """From none to all."""
    done = run("admit", f"--at-most-unreadable={part}")
    assert done.exit_code == ExitCode.REFUSED
    assert InvalidArgument.code in done.stderr
    assert folder.is_dir()


def test_malformed_records_are_named_by_line(run: Any, folder: Path) -> None:
    """And left out only where that is asked for."""
    (folder / "people.csv").write_text(f'id,age\n1,30\n2,"6" tall" {CANARY}\n3,40\n')
    refused = run("admit")
    assert refused.exit_code == ExitCode.REFUSED
    assert "line 3" in refused.stderr
    assert CANARY not in refused.stderr
    done = run("admit", "--skip-malformed", "--report")
    assert done.exit_code == 0
    assert "1 malformed record, on line 3" in done.stdout
    assert n_of(folder) == 2


def test_a_schedule_goes_on(run: Any, folder: Path) -> None:
    """The exit code tells the scheduler; the number goes up all the same."""
    assert run("admit", "--scheduled").exit_code == 0
    (folder / "people.csv").unlink()
    again = run("admit", "--scheduled")
    assert again.exit_code == ExitCode.SERVED_AGAIN
    assert again.stdout.splitlines()[0] == "version 2 is in force"
    assert "people.csv" in again.stderr
    assert n_of(folder) == 3


def test_the_first_question_admits(run: Any, folder: Path) -> None:
    """Whoever sits at the command line is the custodian."""
    assert run("ask", COUNT, "--epsilon", "100").exit_code == 0
    assert run("admit").stdout.splitlines()[0] == "version 2 is in force"
    assert folder.is_dir()


def test_a_group_is_admitted_by_its_name(run: Any, folder: Path) -> None:
    """Each group has a line of its own; a name that no table declares is refused."""
    declared = CONFIG.replace("[tables.people]", '[tables.people]\nrefresh = "daily"')
    others = CONFIG[CONFIG.index("[tables.people]") :].replace("tables.people", "tables.others")
    (folder / "discreet.toml").write_text(declared + others)
    assert run("admit").stdout.splitlines()[:2] == ["version 1 is in force, of daily", "version 2 is in force"]
    assert run("admit", "--group", "daily").stdout.splitlines()[0] == "version 3 is in force, of daily"
    assert run("admit", "--scheduled", "--group", "").stdout.splitlines()[0] == "version 4 is in force"
    assert json.loads(run("admit", "--json").stdout)["groups"] == {"daily": 5, "": 6}
    assert n_of(folder) == 3
    tried = run("admit", "--check", "--report", "--group", "daily")
    assert [line.split(":")[0] for line in tried.stdout.splitlines() if "rows;" in line] == ["people"]
    refused = run("admit", "--group", "weekly")
    assert (refused.exit_code, InvalidArgument.code in refused.stderr) == (ExitCode.REFUSED, True)


def test_a_table_in_place_is_admitted_and_watched(run: Any, folder: Path) -> None:
    """By a key of its source; nothing is copied, and a changed file refuses questions until the next admission."""
    path = folder / "people.parquet"
    pq.write_table(pa.table({"id": [1, 2], "age": [30, 40]}), path)
    config = CONFIG.replace('"people.csv"', '{ path = "people.parquet", in_place = true }')
    (folder / "discreet.toml").write_text(config)
    assert run("admit", "--report").stdout.splitlines()[1] == "people: 2 rows; 0 records left out"
    assert not list((folder / "people.snapshots").rglob("*.parquet"))
    assert n_of(folder) == 2
    path.touch()
    refused = run("ask", COUNT, "--epsilon", "100")
    assert (refused.exit_code, SnapshotChanged.code in refused.stderr) == (ExitCode.REFUSED, True)
    assert run("explain", COUNT, "--epsilon", "100").exit_code == 0
    assert run("admit").stdout.splitlines()[0] == "version 2 is in force"
    assert n_of(folder) == 2
    pq.write_table(pa.table({"id": [1, None], "age": [30, 40]}), path)
    kept = run("admit")
    assert (kept.exit_code, "'id' 1" in kept.stderr) == (ExitCode.REFUSED, True)


def test_another_unit_is_refused_once_something_was_spent(run: Any, folder: Path) -> None:
    """By every command, in public words, with the fix; back by the unit of before, all is as it was."""
    assert run("ask", COUNT, "--epsilon", "1").exit_code == 0
    config = folder / "discreet.toml"
    before = config.read_text()
    config.write_text(before.replace('unit = "id"', 'unit = "age"'))
    for command in (["admit"], ["ask", COUNT, "--epsilon", "1"], ["budget"]):
        refused = run(*command)
        assert refused.exit_code != 0
        said = " ".join(refused.stderr.split())
        assert (
            "account 'people' has losses by the unit 'id' of table 'people', to which losses by the unit 'age'" in said
        )
        assert "set the unit back to 'id'" in said
    config.write_text(before.replace("rows = 1", "rows = 2"))
    assert run("admit").exit_code == 0
    assert run("verify").exit_code == 0


@pytest.mark.parametrize(
    ("who", "form"),
    [
        ("0", "zeros"),
        ("00000000-0000-0000-0000-000000000000", "zeros"),
        ("-1", "a negative number"),
        ("99999", "nines"),
        ("Test patient", "the word test, with or without more"),
        ("?", "a word for nobody, such as unknown or n/a"),
        ("4711", None),
        ("testa", "the word test, with or without more"),
        ("1000", None),
        ("P0", None),
    ],
)
def test_what_looks_like_nobody(run: Any, here: Path, who: str, form: str | None) -> None:
    """An id with very many rows, by its form alone: the id itself is in no report."""
    people = [str(number + 5_000) for number in range(300) for _ in range(number % 3 + 1)] + [who] * 777
    pq.write_table(pa.table({"who": people}), here / "t.parquet")
    config = 'name = "t"\nledger = "t.ledger"\nadjacency = "add_remove"\nbudget = { epsilon = 1 }\n[tables.t]\n'
    columns = 'source = "t.parquet"\nunit = "who"\ncolumns = { who = { kind = "text" } }\n'
    (here / "discreet.toml").write_text(config + columns, encoding="utf-8")
    dp.load(here / "discreet.toml", create_ledger=True).close()
    shown = run("admit", "--check", "--report").stdout
    assert "the greatest of 301 units has 777 (56.4 %)" in shown
    assert "limits on rows would cut off" in shown
    assert ("1 id looks like a place-holder" in shown) == (form is not None)
    assert form is None or f"({form}), with 777 rows" in shown
    assert len(who) < 4 or who not in shown


def test_a_question_that_admits_says_what_admitting_says(run: Any, folder: Path) -> None:
    """On standard error, once, and without a value; a question of what is in force already has nothing to say."""
    first = run("ask", COUNT, "--epsilon", "1")
    said = "people: not everything could be read; `discreet admit --check --report` says what"
    assert (first.exit_code, first.stderr.count(said)) == (0, 1)
    assert CANARY not in first.stdout + first.stderr
    assert said not in run("ask", COUNT, "--epsilon", "2").stderr
    assert folder.is_dir()


def test_a_question_of_a_table_that_can_not_be_read_costs_nothing(run: Any, folder: Path) -> None:
    """Nothing is put in force, the exit code says so, and the way out is one that this command's reader has."""
    (folder / "people.csv").write_text("id,age\n" + "".join(f"{number},31-OCT\n" for number in range(60)))
    refused = run("ask", COUNT, "--epsilon", "1")
    assert refused.exit_code == ExitCode.REFUSED
    assert "60 of 60 values of column 'age' can't be read as integer" in refused.stderr
    assert "discreet admit --at-most-unreadable 1" in refused.stderr
    assert {each["kind"] for each in json.loads(run("history", "--format", "json").stdout)} == {
        "budget",
        "declared",
        "key",
    }
    assert run("admit", "--at-most-unreadable", "1").exit_code == 0
    assert folder.is_dir()


def test_keys_with_commas_are_told_from_each_other(run: Any, folder: Path) -> None:
    """Each is shown as one, and those left out are counted as they are."""
    keys = ["Surgery, general", "Medicine", *(f"Ward {number}" for number in range(6))]
    toml = (folder / "discreet.toml").read_text()
    ward = f'columns = {{ ward = {{ kind = "text", keys = {json.dumps(keys)} }},'
    (folder / "discreet.toml").write_text(toml.replace("columns = {", ward))
    shown = " ".join(run("tables").stdout.split())
    assert '"Surgery, general", Medicine, Ward 0, Ward 1, Ward 2, Ward 3 and 2 more' in shown
