"""`discreet risk`: what it says of a table, the page that it writes, and what it refuses."""

from __future__ import annotations

import json
import re
import shlex
from hashlib import sha256
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from discreet.anonymity import read
from discreet.anonymity.risk import assess
from discreet.cli.common import columns
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.risk.filing import Filed, digest
from discreet.cli.risk.page import page
from discreet.cli.show import pages

PEOPLE = "age,zip,disease\n" + "".join(
    f"{30 + row % 7},{row % 3},{'flu' if row % 2 else 'gout'}\n" for row in range(84)
)
NASTY = "<script>alert(1)</script>"


class Outline(HTMLParser):
    """The tags of a page, checked to be closed in order, with their attributes and texts."""

    VOID = frozenset({"meta", "path", "use", "rect"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """It closes the one that was opened last."""
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Remember it."""
        if self.open and self.open[-1] not in {"style", "script"}:
            self.texts.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of each such tag."""
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def people(here: Path) -> Path:
    """A small table."""
    (here / "people.csv").write_text(PEOPLE, encoding="utf-8")
    return here


def test_what_is_counted_is_the_librarys(people: Path, run: Any) -> None:
    """The JSON is the report's, and the text is the report's text with what to do next."""
    report = assess(people / "people.csv")
    assert json.loads(run("risk", "people.csv", "--format", "json").stdout) == report.to_dict()
    shown = run("risk", "people.csv").stdout
    assert shown.startswith(f"{report}\n\nNext\n")


def test_columns_can_be_named(people: Path, run: Any) -> None:
    """By commas or by repeating the option; then nothing is guessed."""
    found = json.loads(run("risk", "people.csv", "-q", "age,zip", "-s", "disease", "--format", "json").stdout)
    assert (found["quasi_identifiers"], found["sensitive"], found["guessed"]) == (["age", "zip"], ["disease"], {})
    again = json.loads(run("risk", "people.csv", "-q", "age", "-q", "zip", "-s", "disease", "-f", "json").stdout)
    assert again == found
    assert found["k"] == 4
    assert (people / "people.csv").read_text(encoding="utf-8") == PEOPLE


def test_people_of_several_rows(here: Path, run: Any) -> None:
    """The first line says that rows were counted, until it is said whose they are; saying nothing isn't saying that."""
    visits = "".join(f"{row // 3},{row // 6},{row % 2}\n" for row in range(30))
    (here / "visits.csv").write_text(f"patient_id,age,ill\n{visits}", encoding="utf-8")
    asked = ("risk", "visits.csv", "-q", "age", "-s", "ill")
    warned = run(*asked).stdout
    assert warned.startswith("Rows were counted, not people: patient_id has 10 values in 30 rows.")
    found = json.loads(run(*asked, "--unit", "patient_id", "--format", "json").stdout)
    assert (found["k"], found["units"], found["unit"]) == (2, 10, ["patient_id"])
    for said in (["--unit", "patient_id"], ["--rows-are-people"]):
        shown = run(*asked, *said).stdout
        assert "Rows were counted" not in shown
        attack, anonymize = [line.split()[1:] for line in shown.splitlines() if line.startswith("    discreet ")][:2]
        assert run(*attack).exit_code == 0
        assert anonymize[: 1 + len(said)] == ["anonymize", *said]
        assert run(*anonymize, "--k", "2").exit_code == 0
    for empty in ("", " , "):
        refused = run(*asked, "--unit", empty)
        assert refused.exit_code == ExitCode.REFUSED
        assert "--unit names no column" in refused.output
    assert run(*asked, "--unit", "", "--rows-are-people").exit_code == ExitCode.REFUSED


def test_what_is_next_can_be_pasted(here: Path, run: Any) -> None:
    """Whatever the file and its columns are called, the commands are words for a shell, and they work."""
    name = "a b's; $(touch gone).csv"
    (here / name).write_text(PEOPLE.replace("age", '"a, b"', 1), encoding="utf-8")
    shown = run("risk", name, "-q", '"a, b",zip', "-s", "disease").stdout
    lines = [line.strip() for line in shown.splitlines() if line.startswith("    discreet ")]
    assert [shlex.split(line)[1] for line in lines] == ["attack", "anonymize", "init"]
    for line in lines[:2]:
        assert run(*shlex.split(line)[1:]).exit_code == 0, line
    assert sorted(path.name for path in here.iterdir()) == [name]


def test_no_attack_is_proposed_where_nothing_is_sought(here: Path, run: Any) -> None:
    """Of a table without a sensitive column there is nothing to learn; what else is proposed works."""
    (here / "ages.csv").write_text("age\n1\n2\n3\n3\n3\n4\n", encoding="utf-8")
    shown = run("risk", "ages.csv").stdout
    lines = [line.strip() for line in shown.splitlines() if line.startswith("    discreet ")]
    assert [shlex.split(line)[1] for line in lines] == ["anonymize", "init"]
    assert run(*shlex.split(lines[0])[1:]).exit_code == 0


def test_what_columns_hold_is_said_everywhere(here: Path, run: Any) -> None:
    """On the screen, on the page and in JSON, whatever columns are called; also where their kinds are said."""
    rows = "".join(
        f"{row % 30},{'kim' if row else 'a'}{row}@example.org,{row % 12 + 1}/{row % 28 + 1}/{1950 + row % 9}\n"
        if row % 4
        else f"{row % 30},none,{row % 12 + 1}/{row % 28 + 1}/{1950 + row % 9}\n"
        for row in range(120)
    )
    (here / "t.csv").write_text(f"age,x,y\n{rows}", encoding="utf-8")
    shown = " ".join(run("risk", "t.csv", "-o", "t.html").stdout.split())
    held = "e-mail addresses in 75 % of its values"
    assert f"x: identifying, it holds {held}" in shown
    assert "y: quasi-identifying, others may know dates" in shown
    assert f"x: {held}" in shown
    assert held in (here / "t.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    calls = "".join(f"{row % 30},+47{22_000_000 + row * 7_919}\n" for row in range(120))
    (here / "calls.csv").write_text(f"age,z\n{calls}", encoding="utf-8")
    assert "z: identifying, it holds telephone numbers in all of its values" in run("risk", "calls.csv").stdout
    asked = json.loads(run("risk", "t.csv", "-q", "age", "--format", "json").stdout)
    assert asked["contents"]["x"]["found"] == [{"what": "e-mail addresses", "share": 0.75, "identifies": True}]
    assert asked["contents"]["y"]["found"] == [{"what": "dates", "share": 1.0, "identifies": False}]
    assert "age" not in asked["contents"]
    assert asked["advice"][0] == f"x holds {held}: leave it out, or take that out of its values."


def test_a_population_and_a_share_are_used(people: Path, run: Any) -> None:
    """With a register the journalist's risk is looked up; with a share, the population is estimated."""
    (people / "all.csv").write_text(PEOPLE + PEOPLE.partition("\n")[2] * 4, encoding="utf-8")
    told = ("-q", "age,zip", "--format", "json")
    alone = json.loads(run("risk", "people.csv", *told).stdout)
    found = json.loads(run("risk", "people.csv", *told, "--population", "all.csv", "--sampled", "20%").stdout)
    assert found["reidentification"]["prosecutor"] == alone["reidentification"]["prosecutor"]
    assert found["reidentification"]["journalist"]["highest"] == pytest.approx(
        alone["reidentification"]["journalist"]["highest"] / 5
    )
    assert alone["population"] is None
    assert found["population"] is not None


def test_missing_values_are_what_is_said(here: Path, run: Any) -> None:
    """A value of their own, anything, or an error."""
    (here / "gaps.csv").write_text("age,zip\n1,\n1,2\n1,2\n?,2\n", encoding="utf-8")
    found = {
        policy: run("risk", "gaps.csv", "-q", "age,zip", "--null", "?", "--null", "", "--missing", policy, "-f", "json")
        for policy in ("own-value", "wildcard", "refuse")
    }
    assert json.loads(found["own-value"].stdout)["k"] == 1
    assert json.loads(found["wildcard"].stdout)["k"] == 4
    assert found["refuse"].exit_code == ExitCode.REFUSED
    assert "'age' lacks 1 of 4" in found["refuse"].stderr


def test_a_table_without_rows_is_reported(here: Path, run: Any) -> None:
    """Nobody can be singled out of nobody, on the screen and on the page."""
    (here / "none.csv").write_text("age,zip\n", encoding="utf-8")
    result = run("risk", "none.csv", "-q", "age,zip", "--html", "none.html")
    assert result.exit_code == 0, result.output
    assert "The table has no rows." in (here / "none.html").read_text(encoding="utf-8")


def test_the_page_is_whole_and_readable(people: Path, run: Any) -> None:
    """In one file that fetches nothing: a language, headings in order, tables with headers, figures with words."""
    result = run("risk", "people.csv", "--html", "people.html")
    assert result.exit_code == 0, result.output
    assert "people.html" in result.stdout
    text = (people / "people.html").read_text(encoding="utf-8")
    outline = Outline(text)
    assert outline.of("html")[0]["lang"] == "en"
    assert len(outline.of("h1")) == len(outline.of("title")) - len(outline.of("svg")) == 1
    assert len(outline.of("h2")) >= 6
    assert len(outline.of("thead")) == len(outline.of("table")) > 3
    assert {each.get("scope") for each in outline.of("th")} == {"col", "row"}
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "@import" not in text
    assert [each["role"] for each in outline.of("svg")] == ["img", "img"]


def test_the_page_can_be_filed(here: Path, run: Any) -> None:
    """When, by which command, of which files, judged by WP216 and HIPAA, to sign; no cell of either table is on it."""
    rows = "".join(f"Zoë{n % 7},{n % 5}0{n % 7}42,{40 + n % 3},Xy{n % 2}\n" for n in range(140))
    (here / "t.csv").write_text(f"nick,zip,age,illness\n{rows}", encoding="utf-8")
    (here / "safe.csv").write_text("age,illness\n" + "40,Xy1\n" * 70 + "41,Xy0\n" * 70, encoding="utf-8")
    said = ("risk", "t.csv", "-q", "zip,age", "-s", "illness", "--rows-are-people", "-o", "t.html")
    assert run(*said, "--release", "safe.csv").exit_code == 0
    text = (here / "t.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    words = " ".join(" ".join(Outline(text).texts).split())
    command = "discreet risk t.csv --quasi-identifying zip,age --sensitive illness --rows-are-people"
    for each in (
        f"{command} --html t.html --release safe.csv",
        f"discreet {version('discreet')}",
        *(sha256((here / name).read_bytes()).hexdigest() for name in ("t.csv", "safe.csv")),
        "singling out: Can one person be isolated in the table? not seen",
        "B Geographic subdivisions smaller than a state by name and by content ☒ zip, by its name ☐ not found",
        "Q Full-face photographs and comparable images can't be told from a table – –",
        "illness: 140 of 140 rows have a class of one value.",
        "This report is no legal advice.",
        "Signature",
    ):
        assert each in words
    assert words.count("☒") + words.count("☐") + words.count("–") >= 36
    assert not re.search("Zoë|0042|Xy[01]", text)
    alone = run(*said[:-2], "--release", "safe.csv")
    assert (alone.exit_code, "--html FILE" in alone.stderr) == (ExitCode.REFUSED, True)
    (here / "other.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    refused = run(*said, "--force", "--release", "other.csv")
    assert (refused.exit_code, "zip, age" in refused.stderr) == (ExitCode.REFUSED, True)


def test_a_folder_has_a_hash(here: Path) -> None:
    """That of all files in it: names, contents and all."""
    (here / "parts").mkdir()
    (here / "parts" / "a").write_text("1", encoding="utf-8")
    first = digest(here / "parts")
    (here / "parts" / "b").write_text("1", encoding="utf-8")
    second = digest(here / "parts")
    (here / "parts" / "b").write_text("2", encoding="utf-8")
    assert len({first, second, digest(here / "parts")}) == 3


def test_names_within_the_page_are_its_own(people: Path, run: Any) -> None:
    """No two figures share an id, each is named by texts that exist, and whatever is referred to is there."""
    run("risk", "people.csv", "--html", "people.html")
    text = (people / "people.html").read_text(encoding="utf-8")
    names = re.findall(r'\sid="([^"]+)"', text)
    assert len(set(names)) == len(names) > 0
    used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)
    labels = [name for each in re.findall(r'aria-labelledby="([^"]+)"', text) for name in each.split()]
    assert len(labels) == 4
    assert {one or other for one, other in used} | set(labels) <= set(names)
    clashing = '<svg id="a"><use href="#a"/></svg>' * 2
    assert len(re.findall(r'\sid="a"', clashing)) == 2, "the measure sees names that collide"


@pytest.mark.parametrize("name", [NASTY, 'a" onload="x', "a&b", "$x$", "</svg></figure><b>", 'id="title"'])
def test_names_are_texts_on_the_page(name: str) -> None:
    """Whatever a column, a file or a sensitive attribute is called, it makes no tag and no attribute."""
    table = read({name: [1, 2, 2, 3], f"{name}2": ["a", "a", "b", "b"]})
    report = assess(table, quasi_identifiers=[name], sensitive=[f"{name}2"])
    made = Path(__file__)
    filed = Filed(command=name, source=made, release=made, parameters={name: name}, of_release=report)
    text = page(report, name, filed)
    outline = Outline(text)
    assert {"script", "b"} & {tag for tag, _ in outline.tags} == set()
    assert not any(key.startswith("on") for _, attributes in outline.tags for key in attributes)
    assert any(name in each for each in outline.texts)


def test_inlining_leaves_texts_alone() -> None:
    """Only names in tags get a prefix, even where a text looks like one."""
    svg = '<?xml version="1.0"?>\n<svg id="a" xlink:href="#a" style="fill: url(#a)"><text>id="a" url(#a)</text></svg>'
    assert pages.inlined(svg, "f") == (
        '<svg id="f-a" xlink:href="#f-a" style="fill: url(#f-a)"><text>id="a" url(#a)</text></svg>'
    )


def test_a_page_is_not_replaced_unless_told(people: Path, run: Any) -> None:
    """Nor is anything counted before that is known."""
    (people / "page.html").write_text("mine", encoding="utf-8")
    refused = run("risk", "nothing.csv", "--html", "page.html")
    assert refused.exit_code == ExitCode.REFUSED
    assert "--force" in refused.stderr
    assert run("risk", "people.csv", "--html", "page.html", "--force").exit_code == 0
    (people / "people.html").write_text(PEOPLE, encoding="utf-8")
    for table in (["people.html"], ["people.csv", "--population", "people.html"]):
        result = run("risk", *table, "--html", "people.html", "--force")
        assert (result.exit_code, "is read" in result.stderr) == (ExitCode.REFUSED, True)
    assert (people / "people.html").read_text(encoding="utf-8") == PEOPLE
    assert (people / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


MALFORMED: dict[str, bytes | None] = {
    "missing.csv": None,
    "empty.csv": b"",
    "ragged.csv": b"a,b\n1,2\n3\n",
    "twice.csv": b"a,a\n1,2\n",
    "quoted.csv": b'a,b\n1,"6" tall"\n',
    "latin.csv": b"a,b\n1,\xe9\n",
    "wide.csv": b",".join(b"c%d" % number for number in range(100_001)) + b"\n",
    "huge.csv": b"a,b\n1," + b"x" * 2_000_000 + b"\n",
    "open.csv": b'a,b\n1,"x\n' + b"1,2\n" * 600_000,
    "packed.csv.gz": b"\x1f\x8b\x08\x00",
    "broken.parquet": b"PAR1 no",
}


@pytest.mark.parametrize(
    "command", [["risk"], ["anonymize", "-o", "out.csv", "--report", "out.json"], ["attack", "linkage"]]
)
@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_table_is_refused(here: Path, run: Any, command: list[str], name: str) -> None:
    """By a typed error that quotes no cell, and nothing is left behind."""
    content = MALFORMED[name]
    if content is not None:
        (here / name).write_bytes(content)
    before = sorted(here.iterdir())
    result = run(*command, name)
    assert result.exit_code == ExitCode.REFUSED, result.output
    assert result.stderr.startswith("error[source_"), result.stderr
    assert result.stdout == ""
    assert len(result.stderr) < 500
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["-q", "nope"],
        ["-s", "nope"],
        ["-q", "age", "-s", "age"],
        ["-q", ""],
        ["--delimiter", ";"],
        ["--delimiter", "::"],
        ["--sampled", "2"],
        ["--sampled", "many"],
        ["--sampled", "0"],
        ["--sampled", "101%"],
        ["--population", "nope.csv"],
        ["--html", "nowhere/page.html"],
        ["--html", "page.pdf"],
        ["--html", "."],
    ],
)
def test_wrong_arguments_are_refused(people: Path, run: Any, arguments: list[str]) -> None:
    """By a typed error, as JSON where answers are, and nothing is written."""
    before = sorted(people.iterdir())
    result = run("risk", "people.csv", *arguments)
    assert result.exit_code == ExitCode.REFUSED, result.output
    assert re.match(r"error\[\w+\]: ", result.stderr)
    assert json.loads(run("risk", "people.csv", *arguments, "--format", "json").stderr)["code"] != "defect"
    assert sorted(people.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "says", "hint"),
    [
        (["-q", "agee"], "no column 'agee' (--quasi-identifying)", "did you mean age?"),
        (["-s", "Disease"], "no column 'Disease' (--sensitive)", "did you mean disease?"),
        (["-i", "x"], "no column 'x' (--identifying)", "there are: age, zip, disease"),
        (["-q", "age,zip,age"], "'age' is named twice, by --quasi-identifying", "name it once"),
        (
            ["-q", "age", "-s", "age"],
            "'age' is named twice, by --quasi-identifying and by --sensitive",
            "only one kind",
        ),
        (["-q", "zip", "-s", "age", "-i", "age"], "'age' is named twice, by --sensitive and by --identifying", "once"),
        (["-q", ","], "one or more quasi-identifiers", "--quasi-identifying COLUMNS"),
        (["--sampled", "0%"], "--sampled can't be 0", "1%"),
        (["-q", "age", "--population", "few.csv"], "the population has 83 rows, fewer than the 84", "everyone"),
        (["-q", "disease", "--population", "few.csv"], "the population doesn't fit", "it has 2"),
    ],
)
def test_a_refusal_names_cause_and_fix(people: Path, run: Any, arguments: list[str], says: str, hint: str) -> None:
    """With the option that is meant, and the name that is nearest."""
    few = [line.rpartition(",")[0] for line in PEOPLE.splitlines()[:-1]]
    (people / "few.csv").write_text("\n".join([*few, ""]), encoding="utf-8")
    error = json.loads(run("risk", "people.csv", *arguments, "--format", "json").stderr)
    assert says in error["message"]
    assert hint in error["hint"]


def test_a_table_without_rows_cannot_be_guessed(here: Path, run: Any) -> None:
    """That is what is wrong, and not that its columns are harmless."""
    (here / "none.csv").write_text("age,zip\n", encoding="utf-8")
    for command in ("risk", "anonymize"):
        result = run(command, "none.csv")
        assert result.exit_code == ExitCode.REFUSED
        assert "the table has no rows" in result.stderr
        assert "--quasi-identifying COLUMNS" in result.stderr


def test_names_go_by_commas_and_quotation_marks() -> None:
    """What `written` writes, `names` reads."""
    for names in (["a"], ["a b", "c,d"], ['say "hi"', "x"]):
        assert columns.names([columns.written(names)]) == names


def test_control_signs_in_names_are_not_obeyed(here: Path, run: Any) -> None:
    """A column may be called anything; on the screen it is text."""
    (here / "t.csv").write_text("age\x1b[2J,b\n1,2\n1,3\n", encoding="utf-8")
    result = run("risk", "t.csv", "-q", "age\x1b[2J,b")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
