"""`discreet attack`: every attack by its name, against what it can be run against, with its figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.attacks.attack_setup import AGAINST
from discreet.attacks.named_attacks import NAMED
from discreet.cli.common.exit_codes import ExitCode

SMALL = ("--people", "5", "--trials", "1", "--epsilon", "1")
VOTERS = "id,who,years,postcode\n1,Ann,25,12345\n2,Bob,31,12399\n3,Cas,34,20001\n"
PATIENTS = "id,age,zip,ill\n1,20-29,123**,flu\n2,30-39,123**,gout\n3,30-39,200**,flu\n9,30-39,123**,gout\n"


@pytest.fixture
def lists(here: Path) -> Path:
    """A list of voters and one of patients."""
    (here / "voters.csv").write_text(VOTERS, encoding="utf-8")
    (here / "patients.csv").write_text(PATIENTS, encoding="utf-8")
    return here


def test_the_attacks_are_listed(run: Any) -> None:
    """Each with what it does and what it can be run against."""
    shown = run("attack").stdout
    assert [line.split()[0] for line in shown.partition("\n\n")[0].splitlines()] == list(NAMED)
    assert all(target in shown.partition("\n\n")[2] for target in AGAINST)
    listed = json.loads(run("attack", "--format", "json").stdout)
    assert listed == {each.name: {"what": each.what, "against": list(each.against)} for each in NAMED.values()}


@pytest.mark.parametrize("name", NAMED)
def test_every_attack_runs_on_the_census(here: Path, run: Any, name: str) -> None:
    """Without a file the people are made up; the result is one JSON object, and the figure is written."""
    result = run("attack", name, *SMALL, "--plot", "figure.svg", "--format", "json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert sorted(found) == ["attack", "guessed", "on", "results", "sensitive"]
    assert found["attack"] == name
    (only,) = found["results"]
    assert {"attack", "against", "tried", "success", "baseline", "baseline_is", "guesses"} <= set(only)
    assert found["on"] == (None if name == "sparse" else ["dob", "zip", "sex"])
    assert found["sensitive"] == (None if name == "sparse" else "education")
    assert (here / "figure.svg").read_text(encoding="utf-8").count("<title") >= 1
    assert [path.name for path in here.iterdir()] == ["figure.svg"]


def test_targets_are_compared(here: Path, run: Any, census_csv: Path) -> None:
    """`all` is everything that an attack can be run against; a table and a figure set them side by side."""
    told = (census_csv, "--on", "dob,zip", "--sensitive", "education", *SMALL, "--against", "all")
    result = run("attack", "linkage", *told, "--plot", "figure.png")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("linkage against ") == len(NAMED["linkage"].against)
    assert "without it" in result.stdout
    assert "figure.png: Linkage is right in " in result.stdout
    assert (here / "figure.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(run("attack", "linkage", *told, "--format", "json").stdout)
    assert [each["against"].split()[0] for each in found["results"]] == ["raw", "rows", "5-anonymous", "answers"]
    assert (found["on"], found["sensitive"], found["guessed"]) == (["dob", "zip"], "education", False)


@pytest.mark.usefixtures("here")
def test_what_is_known_and_sought_is_guessed(run: Any, census_csv: Path) -> None:
    """Of a file about which nothing is said; the screen says what was taken for what."""
    result = run("attack", "homogeneity", census_csv)
    assert result.exit_code == 0, result.output
    assert "(guessed: --on)" in result.stdout
    assert "(guessed: --sensitive)" in result.stdout
    found = json.loads(run("attack", "homogeneity", census_csv, "--format", "json").stdout)
    assert found["guessed"]
    assert found["sensitive"] not in found["on"]
    assert not {"name", "ssn"} & set(found["on"]), "what names people by itself isn't what links them"


def test_two_files_are_linked(lists: Path, run: Any) -> None:
    """Columns may have two names, people are called by theirs, and the answer key gives precision and recall."""
    told = ("patients.csv", "--auxiliary", "voters.csv", "--on", "years=age,postcode=zip", "--truth", "id")
    result = run("attack", "linkage", *told, "--who", "who", "--plot", "figure.svg")
    assert result.exit_code == 0, result.output
    assert "precision    0.75" in result.stdout
    assert "recall       1" in result.stdout
    assert "Ann: row 1, 100 % sure, right" in result.stdout
    assert (lists / "figure.svg").is_file()
    (found,) = json.loads(run("attack", "linkage", *told, "--format", "json").stdout)["results"]
    assert (found["precision"], found["recall"], found["unique"], found["unique_right"]) == (0.75, 1.0, 2, 2)
    assert found["candidates"] == [[1, 2], [2, 1]]


def test_patients_are_found_behind_ranges(run: Any, trial_data: Path) -> None:
    """The two lists of synthetic patients: each hides among three rows, so that precision is a third."""
    medical, demographic = trial_data / "patients_medical.csv", trial_data / "patients_demographic.csv"
    if not (medical.is_file() and demographic.is_file()):
        pytest.skip(f"the patients aren't in {trial_data}")
    told = ("--auxiliary", demographic, "--on", "Gender,Age,Zip", "--truth", "ID", "--format", "json")
    (found,) = json.loads(run("attack", "linkage", medical, *told).stdout)["results"]
    assert found["precision"] == pytest.approx(1 / 3)
    assert found["recall"] == 1
    assert found["candidates"] == [[3, 30_000]]


@pytest.mark.usefixtures("lists")
@pytest.mark.parametrize(
    "arguments",
    [
        ["nope"],
        ["linkage", "nope.csv"],
        ["linkage", "patients.csv", "--on", "nope", "-s", "ill"],
        ["linkage", "patients.csv", "--on", "age", "-s", "nope"],
        ["linkage", "patients.csv", "--on", "age", "-s", "age"],
        ["linkage", "patients.csv", "--on", "", "-s", "ill"],
        ["linkage", "voters.csv"],
        ["linkage", "--against", "nope"],
        ["linkage", "--against", ""],
        ["query-log", "--against", "raw"],
        ["small-groups", "patients.csv"],
        ["small-groups", "patients.csv", "--on", "age,zip", "-s", "ill", "--value", "ill"],
        ["tracing", "patients.csv", "--on", "age,zip", "-s", "ill", "--against", "anonymized"],
        ["sparse", "patients.csv"],
        ["sparse", "patients.csv", "--on", "id,zip"],
        ["linkage", "--epsilon", "-1", "--against", "answers"],
        ["linkage", "--epsilon", "lots", "--against", "answers"],
        ["linkage", "--budget", "0", "--against", "answers"],
        ["linkage", "--plot", "figure.pdf"],
        ["linkage", "--plot", "nowhere/figure.svg"],
        ["linkage", "patients.csv", "--auxiliary", "voters.csv"],
        ["fuzzy", "patients.csv", "--auxiliary", "voters.csv", "--on", "id"],
        ["linkage", "--auxiliary", "voters.csv", "--on", "id"],
        ["linkage", "patients.csv", "--auxiliary", "voters.csv", "--on", "id", "--against", "all"],
        ["linkage", "patients.csv", "--auxiliary", "nope.csv", "--on", "id"],
        ["linkage", "patients.csv", "--auxiliary", "voters.csv", "--on", "years=nope"],
        ["linkage", "patients.csv", "--auxiliary", "voters.csv", "--on", "id", "--truth", "nope"],
    ],
)
def test_what_cannot_be_attacked_is_refused(lists: Path, run: Any, arguments: list[str]) -> None:
    """By a typed error, and nothing is written."""
    before = sorted(lists.iterdir())
    result = run("attack", *arguments)
    assert result.exit_code == ExitCode.REFUSED, result.output
    assert result.stderr.startswith("error[")
    assert result.stdout == ""
    assert sorted(lists.iterdir()) == before


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("arguments", [["--k", "0"], ["--people", "1"], ["--trials", "0"], ["--format", "csv"]])
def test_numbers_that_mean_nothing_are_wrong_usage(run: Any, arguments: list[str]) -> None:
    """As the shell expects."""
    assert run("attack", "linkage", *arguments).exit_code == ExitCode.USAGE


@pytest.mark.usefixtures("here")
def test_what_means_nothing_is_named(run: Any) -> None:
    """Numbers that were given in vain, and no others; defaults aren't given."""
    shown = run("attack", "linkage", "--people", "5", "--trials", "2", "--k", "5", "--against", "answers").stdout
    assert shown.endswith("\nmeans nothing here: --k, --trials\n")
    assert "means nothing" not in run("attack", "linkage", "--people", "5", "--against", "answers").stdout
    told = ("--against", "anonymized", "--trials", "2", "--k", "5")
    assert "means nothing" not in run("attack", "singling-out", *told).stdout
    vain = ("--people", "5", "--trials", "2", "--format", "json")
    assert json.loads(run("attack", "linkage", *vain).stdout)["attack"] == "linkage"


def test_a_log_is_attacked(here: Path, run: Any) -> None:
    """Who did what: people are found by eight things that they did, of the file's rows and not of made-up ones."""
    lines = [
        f"p{person},f{(person * 7 + step * (person + 3)) % 90},{step}" for person in range(40) for step in range(12)
    ]
    (here / "log.csv").write_text("\n".join(["person,film,stars", *lines, ""]), encoding="utf-8")
    told = ("--on", "person,film", "--value", "stars", "--people", "5", "--format", "json")
    result = run("attack", "sparse", "log.csv", *told)
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["results"]
    assert (found["people"], found["tried"]) == (40, 5)


def test_a_figure_says_what_the_text_says(here: Path, run: Any) -> None:
    """How many answers give the exact one away: half as many by the median as by the mean."""
    told = ("attack", "averaging", "--against", "fresh", "--trials", "5", "--plot", "figure.svg")
    result = run(*told)
    assert "needed    1,537" in result.stdout
    assert "1,537 would" in result.stdout.splitlines()[-1]
    assert "1,537" in (here / "figure.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "against"),
    [
        ("averaging", "exact"),
        ("averaging", "anonymized"),
        ("query-log", "answers"),
        ("query-log", "anonymized"),
        ("reconstruction", "anonymized"),
    ],
)
def test_what_has_no_noise_to_draw_is_drawn_as_an_outcome(here: Path, run: Any, name: str, against: str) -> None:
    """One answer, or answers that are off by an unknown amount: the figure says how often that was right."""
    result = run("attack", name, *SMALL, "--against", against, "--plot", "figure.svg")
    assert result.exit_code == 0, result.output
    assert "is right in" in result.stdout.splitlines()[-1]
    assert (here / "figure.svg").is_file()


def test_a_table_without_rows_is_refused(here: Path, run: Any) -> None:
    """There is nobody to attack."""
    (here / "none.csv").write_text("age,ill\n", encoding="utf-8")
    result = run("attack", "linkage", "none.csv", "--on", "age", "-s", "ill")
    assert result.exit_code == ExitCode.REFUSED
    assert "no rows" in result.stderr


VISITS = "patient_id,zip,ill\n" + "1,x,flu\n" * 3 + "2,x,gout\n" * 3


@pytest.fixture
def visits(here: Path) -> Path:
    """Two people with three rows each."""
    path = here / "visits.csv"
    path.write_text(VISITS, encoding="utf-8")
    return path


def test_people_are_counted_by_unit(run: Any, visits: Path) -> None:
    """Two of them, of whom one is found; in JSON it is said of what."""
    told = ("attack", "linkage", "--unit", "patient_id", "--on", "zip", "--sensitive", "ill", visits)
    shown = run(*told).stdout
    assert shown.startswith("linkage against raw rows\ntried     2\ncounted   units of patient_id\n")
    assert "right     50 %, where the commonest value is right in 50 %" in shown
    (only,) = json.loads(run(*told, "--format", "json").stdout)["results"]
    assert (only["tried"], only["unit"], only["repeated"], only["note"]) == (2, ["patient_id"], [], None)
    assert only["candidates"] == [[2, 2]]


def test_rows_of_an_unnamed_unit_are_noted(here: Path, run: Any, visits: Path) -> None:
    """In the first line, in a field of the JSON, and in the figure; not if it is said that rows are people."""
    told = ("attack", "linkage", "--on", "zip", "--sensitive", "ill", visits)
    result = run(*told, "--plot", "figure.svg")
    first = "Rows were counted, not people: patient_id has 2 values in 6 rows."
    assert result.stdout.startswith(first)
    assert "--unit patient_id" in result.stdout
    assert "right     50 % of rows, where" in result.stdout
    assert "of the rows have a single candidate" in result.stdout
    assert first in " ".join((here / "figure.svg").read_text(encoding="utf-8").split())
    (only,) = json.loads(run(*told, "--format", "json").stdout)["results"]
    assert only["note"].startswith(first)
    several = run(*told, "--against", "raw,anonymized", "--k", "2", "--plot", "several.svg").stdout
    assert several.count(first) == 1
    assert several.startswith(first)
    assert first in " ".join((here / "several.svg").read_text(encoding="utf-8").split())
    assert "Rows were counted" not in run(*told, "--rows-are-people").stdout


def test_everything_is_attacked_by_unit(here: Path, run: Any, visits: Path) -> None:
    """Rows, with pseudonyms, anonymised, and answers are about two people, in words, in JSON and in the figure."""
    told = (visits, "--unit", "patient_id", "--on", "zip", "--sensitive", "ill", "--k", "2")
    everything = run("attack", "linkage", *told, "--against", "all", "--plot", "both.svg")
    assert everything.exit_code == 0, everything.output
    assert everything.stdout.count("counted   units of patient_id") == 4
    assert "not tried" not in everything.stdout
    assert "both.svg: Linkage is right in " in everything.stdout
    assert (here / "both.svg").is_file()
    results = json.loads(run("attack", "linkage", *told, "--against", "all", "--format", "json").stdout)["results"]
    assert [(each["tried"], each["unit"], each["note"]) for each in results] == [(2, ["patient_id"], None)] * 4
    (asked,) = json.loads(run("attack", "averaging", *told, "--against", "exact", "--format", "json").stdout)["results"]
    assert (asked["truth"], asked["unit"]) == (1, ["patient_id"])
    assert "COUNT(DISTINCT" in asked["question"]


def test_units_are_named_once(run: Any, visits: Path) -> None:
    """And not of people who are made up, nor beside --rows-are-people."""
    told = (visits, "--unit", "patient_id", "--on", "zip", "--sensitive", "ill", "--k", "2")
    assert run("attack", "linkage", "--unit", "patient_id").exit_code == ExitCode.REFUSED  # of made-up people
    both = run("attack", "linkage", *told, "--rows-are-people")
    assert both.exit_code == ExitCode.REFUSED
    twice = run("attack", "linkage", visits, "--unit", "patient_id", "--on", "zip,patient_id", "--sensitive", "ill")
    assert twice.exit_code == ExitCode.REFUSED


def test_people_are_found_by_what_they_did_by_unit(here: Path, run: Any) -> None:
    """The unit says who did it; it may be named again, and nobody else may."""
    lines = [f"{n // 10},{n // 5},i{n},{n % 3}" for n in range(100)]
    (here / "log.csv").write_text("\n".join(["home,who,item,day", *lines, ""]), encoding="utf-8")
    for on in ("item", "home,item"):
        told = ("attack", "sparse", "log.csv", "--unit", "home", "--on", on, "--format", "json")
        (found,) = json.loads(run(*told).stdout)["results"]
        assert (found["people"], found["unit"], found["success"]) == (10, ["home"], 1.0)
    refused = run("attack", "sparse", "log.csv", "--unit", "home", "--on", "who,item")
    assert refused.exit_code == ExitCode.REFUSED
    assert "the unit says who did it: home" in " ".join(refused.stderr.split())


def test_two_files_are_linked_by_unit(here: Path, run: Any, visits: Path) -> None:
    """The released rows of one person are one candidate."""
    (here / "known.csv").write_text("name,zip\nAnn,x\n", encoding="utf-8")
    told = ("attack", "linkage", visits, "--auxiliary", "known.csv", "--on", "zip", "--format", "json")
    (by_unit,) = json.loads(run(*told, "--unit", "patient_id").stdout)["results"]
    assert (by_unit["candidates"], by_unit["units"], by_unit["note"]) == ([[2, 1]], 2, None)
    (by_row,) = json.loads(run(*told).stdout)["results"]
    assert by_row["candidates"] == [[6, 1]]
    (here / "known.csv").write_text("number,zip\n2,x\n", encoding="utf-8")
    for key, unit in (("number=patient_id", "patient_id"), ("number = patient_id", "patient_id,ill")):
        (keyed,) = json.loads(run(*told, "--unit", unit, "--truth", key).stdout)["results"]
        assert (keyed["precision"], keyed["recall"], keyed["success"]) == (0.5, 1.0, 0.5)
    assert by_row["note"].startswith("Rows were counted, not people")


def test_what_risk_proposes_next_can_be_run(run: Any, visits: Path) -> None:
    """The command that it prints is taken as it is."""
    from shlex import split

    shown = run("risk", visits, "--unit", "patient_id", "--quasi-identifying", "zip", "--sensitive", "ill").stdout
    (command,) = [line for line in shown.splitlines() if line.strip().startswith("discreet attack ")]
    assert "--unit patient_id" in command
    result = run(*split(command)[1:])
    assert result.exit_code == 0, result.output
    assert "counted   units of patient_id" in result.stdout


def test_a_release_is_judged_beside_its_original(here: Path, run: Any) -> None:
    """A copy with noise in one column: the three names that the law has, their risks, and what is wrongly said."""
    rows = [f"{20 + 7 * i % 61},{900 + 37 * i},{'abcdefg'[i * i % 7]},{i % 2}" for i in range(120)]
    files = {
        "original": rows,
        "release": [f"{row.split(',')[0]},{int(row.split(',')[1]) + 3},{','.join(row.split(',')[2:])}" for row in rows],
        "control": [f"{21 + 5 * i % 61},{911 + 41 * i},{'gfedcba'[i * 3 % 7]},{i % 3 % 2}" for i in range(120)],
    }
    for name, lines in files.items():
        (here / f"{name}.csv").write_text("\n".join(["age,pay,zone,sex", *lines]) + "\n", encoding="utf-8")
    said = ("release.csv", "--original", "original.csv", "--control", "control.csv", "--trials", "100")
    for name in ("singling-out", "linkability", "inference"):
        found = json.loads(run("attack", name, *said, "--format", "json").stdout)
        assert max(each["risk"] or 0 for each in found["results"]) > 0.5
        shown = run("attack", name, *said)
        assert shown.exit_code == ExitCode.OK, shown.output
        assert "the same among people who aren't in it" in shown.stdout
    assert "of zone" in run("attack", "inference", *said, "--sensitive", "zone").stdout
    listed = run("attack").stdout
    assert all(name in listed for name in ("linkability", "inference"))
    for arguments, why in (
        (("linkability", "release.csv"), "--original FILE --control FILE"),
        (("singling-out", *said[:3]), "three files"),
        (("averaging", *said), "isn't tried beside an original"),
        (("inference", *said, "--against", "raw"), "--against can't be combined with --original"),
        (("inference", *said[:3], "--control", "original.csv"), "the control is the original"),
    ):
        refused = run("attack", *arguments)
        assert refused.exit_code == ExitCode.REFUSED
        assert why in " ".join(refused.stderr.split())
