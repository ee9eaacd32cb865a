"""`discreet anonymize`: the table that it writes meets what was promised, and is whole or not there."""

from __future__ import annotations

import errno
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.anonymity import read
from discreet.cli.anonymize import command, outcome, saving
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.files import write_all
from discreet.cli.common.shares import share_of

NAMES = ["name", "age", "zip", "disease"]
AGES = "".join(f"{age};{age // 10 * 10}s;*\n" for age in range(20, 60))


def rows(number: int = 200) -> list[list[str | int]]:
    """Made-up patients."""
    return [
        [f"P{row}", 20 + row * 7 % 40, f"1{row % 4}00{row % 3}", ("flu", "gout", "=1+1")[row * row % 11 % 3]]
        for row in range(number)
    ]


@pytest.fixture
def people(here: Path) -> Path:
    """A folder with a table and a hierarchy."""
    lines: list[list[str | int]] = [[*NAMES], *rows()]
    (here / "people.csv").write_text("".join(",".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    (here / "ages.csv").write_text(AGES, encoding="utf-8")
    return here


def classes(path: Path, quasi: list[str], sensitive: str = "disease") -> dict[tuple[object, ...], list[object]]:
    """The sensitive values of each class of a written table."""
    table = read(path).to_arrow().to_pylist()
    found: dict[tuple[object, ...], list[object]] = {}
    for row in table:
        found.setdefault(tuple(row[name] for name in quasi), []).append(row.get(sensitive))
    return found


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "relaxed-mondrian", "microaggregation"])
def test_the_table_meets_its_promise(people: Path, run: Any, output: str, algorithm: str) -> None:
    """Counted on the file: each class has k rows and l values; who names people is left out."""
    result = run(
        "anonymize",
        "people.csv",
        "-o",
        output,
        "--k",
        "4",
        "--l",
        "2",
        "--algorithm",
        algorithm,
        "--suppression",
        "10%",
    )
    assert result.exit_code == 0, result.output
    found = classes(people / output, ["age", "zip"])
    assert min(len(each) for each in found.values()) >= 4
    assert min(len(set(each)) for each in found.values()) >= 2
    assert read(people / output).names == ("age", "zip", "disease")
    assert sum(map(len, found.values())) >= 180
    assert max(Counter(str(row[3]) for row in rows()).values()) >= max(
        Counter(str(value) for each in found.values() for value in each).values()
    )
    assert sorted(path.name for path in people.iterdir()) == sorted(["ages.csv", "people.csv", output])


def test_what_was_done_is_said(people: Path, run: Any) -> None:
    """In words, as JSON, and in both reports, which agree; levels, losses, proof, attackers and the caveat."""
    told = ("anonymize", "people.csv", "--hierarchy", "age=ages.csv", "--k", "5")
    shown = run(*told).stdout
    found = json.loads(run(*told, "--format", "json", "--report", "report.json").stdout)
    assert json.loads((people / "report.json").read_text(encoding="utf-8")) == found
    assert found["search"]["optimal"]
    assert f"{found['search']['evaluated']:,} evaluated" in shown
    assert "read from ages.csv" in shown
    assert "proposed: " in shown
    assert found["columns"]["age"]["height"] == 2
    assert found["left_out"] == found["identifying"] == ["name"]
    assert found["caveat"] in " ".join(shown.split())
    risks = {each["what"]: (each["before"], each["after"]) for each in found["attackers"]}
    assert risks["highest risk of a row"][1] <= 1 / 5 < risks["highest risk of a row"][0]
    assert "nothing; --output" in shown
    run(*told, "--report", "report.html")
    page = (people / "report.html").read_text(encoding="utf-8")
    assert found["caveat"] in page.replace("&#x27;", "'")
    assert "differentially private" not in page


def test_columns_of_no_kind_are_left_out(people: Path, run: Any) -> None:
    """Where it is said what may be known, whatever isn't named isn't released; what is kept is."""
    assert run("anonymize", "people.csv", "-q", "age", "-o", "a.csv").exit_code == 0
    assert read(people / "a.csv").names == ("age",)
    assert run("anonymize", "people.csv", "-q", "age", "--keep", "disease", "-o", "b.csv").exit_code == 0
    assert read(people / "b.csv").names == ("age", "disease")


def test_closeness_is_kept(people: Path, run: Any) -> None:
    """No class's values are farther from the table's than t: half the sum of differences, counted on the file."""
    result = run("anonymize", "people.csv", "--k", "3", "--t", "0.2", "--suppression", "0", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    whole = Counter(str(row[3]) for row in rows())
    for each in classes(people / "out.csv", ["age", "zip"]).values():
        held = Counter(map(str, each))
        distance = sum(abs(Fraction(held[value], len(each)) - Fraction(whole[value], 200)) for value in whole) / 2
        assert distance <= Fraction(1, 5)


def test_texts_that_spreadsheets_obey_are_named_and_left_alone(people: Path, run: Any) -> None:
    """Nothing is altered silently: the cells are as they were, and the screen says how to open them."""
    result = run("anonymize", "people.csv", "-o", "out.csv")
    assert "spreadsheet would take for a formula" in " ".join(result.stdout.split())
    assert '"=1+1"' in (people / "out.csv").read_text(encoding="utf-8")
    assert "spreadsheet" not in run("anonymize", "people.csv", "-q", "age", "-o", "other.csv").stdout
    for_people = run("anonymize", "people.csv", "-o", "safe.csv", "--for-spreadsheets")
    assert "formula" not in for_people.stdout
    assert '"\'=1+1"' in (text := (people / "safe.csv").read_text(encoding="utf-8"))
    assert '"=' not in text
    run("anonymize", "people.csv", "-o", "safe.parquet", "--for-spreadsheets")
    assert "=1+1" in pq.read_table(people / "safe.parquet")["disease"].to_pylist()
    assert outcome.formulas(pa.table({"a": ["=1", "+x", "-5", "- 5", "@a", " =b", "a=b", None, "-1.5e3"]})) == 5


def test_written_values_are_read_again(here: Path, run: Any) -> None:
    """Commas, quotation marks, line ends, missing values and long texts survive, in both formats."""
    values = ['a,"b"', "line\nend", None, "", "ä漢", "x" * 1000] * 5
    table = pa.table({"age": ["1"] * 30, "note": values, "count": [None, *range(29)]})
    pq.write_table(table, here / "in.parquet")
    for output in ("out.parquet", "out.csv"):
        told = ("-q", "age", "--keep", "note,count", "--yes-keep", "count", "-o", output)
        assert run("anonymize", "in.parquet", *told).exit_code == 0
    again = pq.read_table(here / "out.parquet").to_pylist()
    assert sorted(map(repr, again)) == sorted(map(repr, table.to_pylist()))
    texts = Counter(row["note"] or "" for row in read(here / "out.csv").to_arrow().to_pylist())
    assert texts == Counter((value or "").strip() for value in values)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-q", "agee"], "did you mean age?"),
        (["-s", "nope"], "there are: name, age, zip, disease"),
        (["--keep", "Zip"], "did you mean zip?"),
        (["-q", "age", "-i", "age"], "by --identifying and by --quasi-identifying"),
        (["-q", "age", "--keep", "zip,zip"], "'zip' is named twice, by --keep"),
        (["-i", "age,zip,name", "-s", "disease"], "--quasi-identifying"),
        (["--hierarchy", "age=nope.csv"], "nope.csv"),
        (["--hierarchy", "agee=ages.csv"], "did you mean age?"),
        (["--hierarchy", "zip=ages.csv"], "zip"),
        (["--hierarchy", "age"], "age"),
        (["--hierarchy", "age=ages.csv", "--hierarchy", "age=ages.csv"], "two hierarchies"),
        (["--hierarchy", "age=people.csv"], "people.csv"),
        (["-q", "age", "--l", "2"], "--sensitive"),
        (["-q", "age", "-s", "disease", "--l", "4"], "'disease' has only 3"),
        (["--k", "201"], "only 200 could look alike"),
        (["--k", "201", "--algorithm", "mondrian"], "only 200 could look alike"),
        (["--k", "201", "--algorithm", "microaggregation"], "only 200 could look alike"),
        (["--t", "2"], "share"),
        (["--suppression", "half"], "suppression"),
        (["--suppression", "101%"], "suppression"),
        (["--local-recoding", "--algorithm", "mondrian"], "optimal"),
        (["--report", "report.txt"], ".html or .json"),
        (["--delimiter", ";"], "delimiter"),
    ],
)
def test_what_cannot_be_made_is_refused(people: Path, run: Any, arguments: list[str], says: str) -> None:
    """By a typed error that says what to change, and neither file is there."""
    before = sorted(people.iterdir())
    told = ("anonymize", "people.csv", "-o", "out.csv", *arguments)
    result = run(*told)
    assert result.exit_code == ExitCode.REFUSED, result.output
    assert result.stderr.startswith("error[")
    assert "defect" not in result.stderr
    assert says in result.stderr
    assert result.stdout == ""
    assert json.loads(run(*told, "--format", "json").stderr)["message"]
    assert sorted(people.iterdir()) == before


def test_what_few_levels_cannot_reach_is_refused(people: Path, run: Any) -> None:
    """Where k is no more than the rows, and the highest level of a hierarchy still parts them."""
    decades = "".join(f"{line.rpartition(';')[0]}\n" for line in AGES.splitlines())
    (people / "decades.csv").write_text(decades, encoding="utf-8")
    told = ("anonymize", "people.csv", "-q", "age", "--hierarchy", "age=decades.csv", "--k")
    assert run(*told, 50).exit_code == 0
    refused = run(*told, 51)
    assert refused.exit_code == ExitCode.REFUSED
    assert "left out" in refused.stderr
    assert "a level that is one group" in refused.stderr


def test_a_k_of_one_is_said_to_ask_for_nothing(people: Path, run: Any) -> None:
    """Unless something else is asked for."""
    assert people.is_dir()
    told = ("anonymize", "people.csv", "-q", "age", "-s", "disease", "--k")
    assert "promised    1-anonymity, which every table is" in run(*told, 1).stdout
    assert "asks for nothing" not in run(*told, 2).stdout
    assert "asks for nothing" not in run(*told, 1, "--l", 2).stdout


def test_dates_with_dots_become_months_and_years(here: Path, run: Any) -> None:
    """As dates do, in a table that was written in Germany."""
    lines = [f"{1 + row % 28:02d}.{1 + row % 12:02d}.{1950 + row % 5};{row % 3},5\n" for row in range(120)]
    (here / "de.csv").write_text("geboren;betrag\n" + "".join(lines), encoding="utf-8")
    result = run("anonymize", "de.csv", "-q", "geboren", "--k", "20", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    assert "dates with dots" in result.stdout
    assert {row["geboren"] for row in read(here / "out.csv").to_arrow().to_pylist()} == set(range(1950, 1955))


def test_files_that_are_there_stay_unless_told(people: Path, run: Any) -> None:
    """The original is never replaced, whatever it is called; another file only with `--force`."""
    original = (people / "people.csv").read_bytes()
    (people / "link.csv").symlink_to("people.csv")
    (people / "out.csv").write_text("mine", encoding="utf-8")
    for output in ("people.csv", "./people.csv", "link.csv"):
        assert run("anonymize", "people.csv", "-o", output, "--force").exit_code == ExitCode.REFUSED
    assert run("anonymize", "people.csv", "-o", "out.csv").exit_code == ExitCode.REFUSED
    assert (people / "out.csv").read_text(encoding="utf-8") == "mine"
    assert run("anonymize", "people.csv", "-o", "out.csv", "--force").exit_code == 0
    assert (people / "out.csv").read_text(encoding="utf-8") != "mine"
    assert (people / "people.csv").read_bytes() == original
    ages = (people / "ages.csv").read_bytes()
    refused = run("anonymize", "people.csv", "--hierarchy", "age=ages.csv", "-o", "ages.csv", "--force")
    assert refused.exit_code == ExitCode.REFUSED
    assert (people / "ages.csv").read_bytes() == ages


@pytest.mark.parametrize("failing", ["write_table", "_report"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_full_disk_leaves_nothing(
    people: Path, run: Any, monkeypatch: pytest.MonkeyPatch, failing: str, error: BaseException
) -> None:
    """Whichever of both files fails halfway, neither is there, and what was there before still is."""

    def half(*arguments: object) -> None:
        """Write a part, and fail."""
        for each in arguments:
            if isinstance(each, Path):
                each.write_text("half", encoding="utf-8")
        raise error

    (people / "report.json").write_text("before", encoding="utf-8")
    before = sorted(people.iterdir())
    monkeypatch.setattr(saving, failing, half)
    result = run("anonymize", "people.csv", "-o", "out.csv", "--report", "report.json", "--force")
    assert result.exit_code == (ExitCode.REFUSED if isinstance(error, OSError) else ExitCode.INTERRUPTED)
    assert sorted(people.iterdir()) == before
    assert (people / "report.json").read_text(encoding="utf-8") == "before"


@pytest.mark.parametrize("there", [False, True])
def test_two_files_are_replaced_together(here: Path, monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    """Where the second can't be moved to its place, the first is as it was before."""
    first, second = here / "a.csv", here / "b.csv"
    if there:
        first.write_text("old", encoding="utf-8")
    replace = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        """Move what isn't for the second place."""
        if Path(target) == second:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(KeyboardInterrupt):
        write_all({path: lambda draft: draft.write_text("new", encoding="utf-8") for path in (first, second)})
    assert [path.name for path in here.iterdir()] == (["a.csv"] if there else [])
    if there:
        assert first.read_text(encoding="utf-8") == "old"


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C ends the programs that a test starts, also where the tests run in the background and so ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what is handled here isn't ignored there
    yield
    signal.signal(signal.SIGINT, before)


SLOW = """
import sys, time
from discreet.cli import main
from discreet.cli.anonymize import saving

def slowly(table, path):
    path.write_text("half")
    print("writing", flush=True)
    for _ in range(1800):
        time.sleep(0.1)  # a signal that another thread took is heard between two steps

saving.write_table = slowly  # in the place of a table that takes its time
sys.argv = ["discreet", "anonymize", "people.csv", "-o", "out.csv", "--report", "out.json"]
main()
"""


@pytest.mark.usefixtures("heeded")
def test_ctrl_c_leaves_nothing(people: Path) -> None:
    """A real SIGINT, while the table is being written."""
    before = sorted(people.iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", SLOW], cwd=people, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        assert sorted(people.iterdir()) != before, "there is something to clear away"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == ExitCode.INTERRUPTED
    assert out == ""
    assert "stopped by Ctrl-C" in err
    assert "paid" not in err
    assert sorted(people.iterdir()) == before


def test_nothing_is_asked_without_a_terminal(people: Path, run: Any) -> None:
    """In a pipe, the columns are taken for what they seem, and standard input isn't read."""
    result = run("anonymize", "people.csv", stdin="-\n-\n-\n")
    assert result.exit_code == 0, result.output
    assert "seem" not in result.stdout
    assert sorted(path.name for path in people.iterdir()) == ["ages.csv", "people.csv"]


def test_what_is_answered_is_done(people: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind is corrected in one pass; an answer that can't be read is asked for again."""
    monkeypatch.setattr(command, "may_ask", lambda: True)
    answers = ["", "nope", "zip", "-", "many", "201", "3", "13", "2", "200%", "10%", "people.csv", "out.csv"]
    result = run("anonymize", "people.csv", stdin="\n".join([*answers, ""]))
    assert result.exit_code == 0, result.output
    assert "What the columns seem to be" in result.stdout
    assert result.output.count("Error: ") == 6
    assert "a whole number from 1 to 200" in result.output, "no more than there are rows"
    assert "a whole number from 1 to 12" in result.output, "no more than the sensitive column has values"
    found = classes(people / "out.csv", ["age", "disease"], "zip")
    assert min(len(each) for each in found.values()) >= 3
    assert min(len(set(each)) for each in found.values()) >= 2
    assert read(people / "out.csv").names == ("age", "zip", "disease")


@pytest.mark.parametrize("given", [["--yes"], ["-q", "age"], ["-s", "disease"], ["--format", "json"]])
@pytest.mark.usefixtures("people")
def test_nothing_is_asked_where_it_was_said(run: Any, monkeypatch: pytest.MonkeyPatch, given: list[str]) -> None:
    """Nor where the answer is for a program."""
    monkeypatch.setattr(command, "may_ask", lambda: True)
    result = run("anonymize", "people.csv", *given, stdin="")
    assert result.exit_code == 0, result.output
    assert "seem to be" not in result.stdout


def test_who_thinks_better_of_it_leaves_no_trace(people: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of what is typed ends it, as Ctrl-C does."""
    monkeypatch.setattr(command, "may_ask", lambda: True)
    before = sorted(people.iterdir())
    assert run("anonymize", "people.csv", "-o", "out.csv", stdin="\n\n").exit_code == ExitCode.INTERRUPTED
    assert sorted(people.iterdir()) == before


def asleep(process: subprocess.Popen[bytes]) -> bool:
    """Whether a program waits, as for what is typed; where the system doesn't tell, it is taken to."""
    told = Path(f"/proc/{process.pid}/stat")
    return not told.exists() or told.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "S"


@pytest.mark.usefixtures("heeded")
def test_a_terminal_is_asked(people: Path) -> None:
    """On a real one: the first question comes, and Ctrl-C there ends with 130.

    Python misses a Ctrl-C that comes between its prompt and its reading, so it is pressed when the program waits, and
    again if nothing is said to it. Once it is heard it isn't: a second one would disturb an orderly end.
    """
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "discreet", "anonymize", "people.csv"],
        cwd=people,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        seen, end = b"", time.monotonic() + 300
        while process.poll() is None and time.monotonic() < end and not (seen.endswith(b": ") and asleep(process)):
            if select.select([ours], [], [], 0.01)[0]:
                seen += os.read(ours, 65536)
        for _ in range(6):
            process.send_signal(signal.SIGINT)
            if select.select([ours], [], [], 10)[0]:
                break
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=120)
        process.kill()  # where it hangs all the same, so that the test fails and doesn't
    assert process.returncode == ExitCode.INTERRUPTED
    os.close(ours)
    os.close(theirs)
    assert b"Which columns name people by themselves?" in seen


def test_shares_are_read_exactly() -> None:
    """As they are written."""
    assert [share_of(text, "x") for text in ("5%", "0.05", "1/20", " 5 % ")] == [Fraction(1, 20)] * 4


def test_a_table_without_rows_becomes_one(here: Path, run: Any) -> None:
    """Nobody is in it, so every promise is kept."""
    (here / "none.csv").write_text("age,disease\n", encoding="utf-8")
    for algorithm in ("optimal", "mondrian", "microaggregation"):
        result = run(
            "anonymize", "none.csv", "-q", "age", "-s", "disease", "-o", f"{algorithm}.csv", "--algorithm", algorithm
        )
        assert result.exit_code == ExitCode.OK, result.output
        assert (here / f"{algorithm}.csv").read_text(encoding="utf-8") == '"age","disease"\n'


def test_people_of_several_rows(here: Path, run: Any) -> None:
    """What is promised is of people, and so is what is left out."""
    visits = "".join(f"{row // 3},{row // 6},{row % 2}\n" for row in range(30))
    (here / "visits.csv").write_text(f"patient_id,age,ill\n{visits}77,99,1\n", encoding="utf-8")
    asked = ("anonymize", "visits.csv", "-q", "age", "-s", "ill", "--k", "2", "--suppression", "1/10")
    shown = run(*asked, "--unit", "patient_id").stdout
    assert "11, by patient_id; 1 has rows that are left out (9.09 %, 10 % may be)" in shown
    assert "Rows were counted" not in shown
    noted = run(*asked).stdout
    assert noted.startswith("Rows were counted, not people: patient_id has 11 values in 31 rows.")
    assert "--unit patient_id" in noted


def test_what_is_kept_is_looked_at(here: Path, run: Any) -> None:
    """A kept badge tells everybody apart: text, JSON and page lead with that, before what is promised."""
    lines = ["age,badge,disease", *(f"{20 + row % 2},{row},{('flu', 'gout')[row // 2 % 2]}" for row in range(40))]
    (here / "kept.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = ["anonymize", "kept.csv", "-q", "age", "-s", "disease", "--report", "kept.html"]
    shown = run(*said, "--keep", "badge", "--yes-keep", "badge").stdout
    lead = "40 rows are unique if badge is known, too"
    assert shown.startswith(f"at risk     {lead}")
    assert "disease of 40 rows is certain if badge is known, too" in " ".join(shown.split())
    page = (here / "kept.html").read_text(encoding="utf-8")
    assert page.index(lead) < page.index("rows are released, with 5-anonymity")
    found = json.loads(run(*said[:-2], "--keep", "badge", "--yes-keep", "badge", "--format", "json").stdout)
    assert found["at_risk"][0] == lead
    assert {"what": f"rows that are unique{lead[18:]}", "before": 40, "after": 40} in found["attackers"]
    alone = json.loads(run(*said[:-2], "--format", "json").stdout)
    assert not any("badge" in sentence for sentence in alone["at_risk"])
    assert alone["at_risk"][0].startswith("the highest risk of a row to be found is")


def test_what_leads_to_people_is_kept_only_by_those_who_know(here: Path, run: Any) -> None:
    """A column that singles out, or holds e-mail addresses in one row of twenty, kept or sensitive; nothing is written.

    Left to itself, the command leaves such a column out, whatever it is called.
    """
    lines = [
        f"{20 + row % 2},{row},{f'write p{row}@example.org' if row % 20 == 3 else 'nothing'},{row % 3}"
        for row in range(100)
    ]
    (here / "notes.csv").write_text("\n".join(["age,badge,m,flag", *lines]) + "\n", encoding="utf-8")
    asked = ("anonymize", "notes.csv", "-q", "age", "-o", "out.csv")
    for said, why in (
        (("--keep", "badge"), "'badge' would be released as it is, and it singles out 100 % of the rows by itself"),
        (("--keep", "flag,m"), "'m' would be released as it is, and it holds e-mail addresses in 5 % of its values"),
        (("-s", "m"), "'m' would be released as it is, and it holds e-mail addresses in 5 % of its values"),
    ):
        refused = run(*asked, *said)
        name = why.split("'")[1]
        assert refused.exit_code == ExitCode.REFUSED
        assert why in " ".join(refused.stderr.split())
        assert f"--yes-keep {name}" in refused.stderr
        assert "p3@" not in refused.output
        assert not (here / "out.csv").exists()
        told = run(*asked, *said, "--yes-keep", name, "--force", "--format", "json")
        assert told.exit_code == ExitCode.OK, told.output
        held = "m holds e-mail addresses in 5 % of its values"
        assert (json.loads(told.stdout)["at_risk"][0] == held) == (name == "m")
        (here / "out.csv").unlink()
    assert run(*asked, "--keep", "flag").exit_code == ExitCode.OK
    assert "did you mean badge?" in run(*asked, "--force", "--yes-keep", "badg").stderr
    guessed = json.loads(run("anonymize", "notes.csv", "--format", "json").stdout)
    assert {"m", "badge"} <= set(guessed["left_out"])


def test_the_trade_between_algorithms_is_shown(people: Path, run: Any) -> None:
    """Unless one is named, what loses least is taken, and text and JSON say what the others would lose."""
    told = ("anonymize", str(people / "people.csv"), "-q", "age,zip", "-s", "disease")
    found = json.loads(run(*told, "--format", "json").stdout)
    assert found["tried"][found["algorithm"]] == min(found["tried"].values()) == found["losses"]["ncp"]
    assert f"found by {found['algorithm']}, which loses least (ncp " in " ".join(run(*told).stdout.split())


def test_a_column_that_gathers_rows_is_released_on_the_officers_word_only(here: Path, run: Any) -> None:
    """An income of one's own links the five visits of everybody: refused; with a word for it, the report leads with it.

    A pulse that is taken anew at each visit links nobody's.
    """
    visits = [
        f"{n},W{(n * 7 + v * v) % 6},{20_000 + 37 * n},{50 + (n * 31 + v * 17) % 60}"
        for n in range(120)
        for v in range(5)
    ]
    (here / "visits.csv").write_text("\n".join(["patient_id,ward,income,pulse", *visits]) + "\n", encoding="utf-8")
    said = ("anonymize", "visits.csv", "--unit", "patient_id", "-q", "ward", "--yes", "--format", "json")
    refused = run(*said, "-s", "income")
    assert refused.exit_code == ExitCode.REFUSED
    assert "income gathers the rows of 120 of 120 units" in " ".join(refused.stderr.split())
    assert "--yes-keep income" in refused.stderr
    for role in ("-s", "--keep"):
        told = json.loads(run(*said, role, "income", "--yes-keep", "income").stdout)
        assert told["at_risk"][0].startswith("income gathers the rows of 120 of 120 units, of which")
    assert not json.loads(run(*said, "-s", "pulse").stdout)["gathered"]
