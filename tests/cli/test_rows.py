"""`discreet deidentify`, `uniqueness` and `generalize`: what the textbook does to rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FIVE = "age,before,after\n42,4,25\n52,24,94\n36,31,57\n24,2,62\n73,3,70\n"
PEOPLE = (
    "name,ssn,zip,born,ill\nKim,1,20002,1970-01-01,flu\nAda,2,10001,1980-01-01,gout\n"
    "Bob,3,10001,1970-01-01,flu\nCy,4,30003,1970-01-01,\n"
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Four people."""
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE, encoding="utf-8")
    return file


def test_two_parts_share_no_name_and_no_order(run: Any, people: Path) -> None:
    """Each is sorted by its own columns; the names are in one of them only."""
    rest, known = people.with_name("rest.csv"), people.with_name("known.csv")
    words = ("--identifying", "name,ssn", "--keep", "zip,born", "--output", str(rest), "--auxiliary", str(known))
    done = run("deidentify", str(people), *words)
    assert done.exit_code == 0
    assert "unique by zip, born: 4 rows" in done.stdout
    assert rest.read_text().splitlines()[:2] == ['"zip","born","ill"', '10001,1970-01-01,"flu"']
    assert known.read_text().splitlines()[:2] == ['"name","ssn","zip","born"', '"Ada",2,10001,1980-01-01']
    assert "Kim" not in rest.read_text()
    assert run("deidentify", str(people), *words).exit_code == 1  # both are there
    found = json.loads(run("deidentify", str(people), "-i", "name,ssn", "--format", "json").stdout)
    assert (found["rows"], found["columns"]) == (4, ["zip", "born", "ill"])
    same = run("deidentify", str(people), "-i", "name", "-o", "x.csv", "--auxiliary", "./x.csv")
    assert "are the same file" in same.stderr
    assert run("deidentify", str(people), "-i", "nmae").exit_code == 1
    assert run("deidentify", str(people), "-i", "name", "-o", str(people), "--force").exit_code == 1


def test_uniqueness_of_each_column_and_of_all(run: Any, people: Path) -> None:
    """ZIP: two alone, two in a pair; birth: one alone, three alike; both: four alone."""
    found = json.loads(run("uniqueness", str(people), "--on", "zip,born", "--format", "json").stdout)
    assert [(each["values"], each["unique"]) for each in found] == [(3, 2), (2, 1), (4, 4)]
    picture = people.with_name("u.svg")
    done = run("uniqueness", str(people), "--on", "zip", "--plot", str(picture))
    assert done.stdout.split()[-10:-3] == ["zip", "3", "2", "50", "%", "2", "0"]
    assert "<svg" in picture.read_text()
    for wrong in (["--on", ""], ["--on", "zpi"], ["--on", "zip", "--plot", str(picture)]):
        assert run("uniqueness", str(people), *wrong).exit_code == 1


def test_the_textbooks_five_rows(run: Any, tmp_path: Path) -> None:
    """1-anonymous, not 2; nor in tens; in hundreds all are 0, or by rounding twice 0 and 100."""
    file, out = tmp_path / "five.csv", tmp_path / "out.csv"
    file.write_text(FIVE, encoding="utf-8")
    names = ("age", "before", "after")

    def reached(*words: str) -> tuple[int, bool]:
        done = run("generalize", str(file), "--on", ",".join(names), "--format", "json", *words)
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        return found["k"], found["anonymous"]

    def by(option: str, level: int) -> list[str]:
        return [word for name in names for word in (option, f"{name}={level}")]

    assert reached() == (1, False)
    assert reached("--k", "1") == (1, True)
    assert reached(*by("--truncate", 1)) == (1, False)
    assert reached(*by("--truncate", 2), "--k", "5", "--output", str(out)) == (5, True)
    assert out.read_text().splitlines() == ['"age","before","after"', *['"0","0","0"'] * 5]
    assert reached(*by("--round", 2)) == (1, False)
    assert reached("--clip", "age=1..1", "--clip", "before=1..1", "--clip", "after=1..1", "--k", "5") == (5, True)
    refused = run("generalize", str(file), "--on", "age", "--output", str(out), "--force")
    assert (refused.exit_code, "5 rows hide among fewer than 2" in refused.stderr) == (1, True)
    said = run("generalize", str(file), "--on", "age", "--clip", "age=30..60", "--truncate", "age=1").stdout
    assert said.splitlines()[0].startswith("age clipped to 30 … 60: 2 of 5 rows moved")
    assert said.splitlines()[-1] == "2-anonymous: no, 3 rows hide among fewer than 2"
    for wrong in (
        ["--truncate", "1"], ["--truncate", "age=x"], ["--truncate", "age=1", "--round", "age=1"],
        ["--clip", "age=5"], ["--clip", "age=a..b"], ["--mask", "before=1"], ["--on", "nope"],
    ):  # fmt: skip
        assert run("generalize", str(file), "--on", "age", *wrong).exit_code == 1, wrong
