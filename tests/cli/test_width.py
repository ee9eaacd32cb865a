"""Terminals of any width: lines fit, and nothing is lost; what goes to a file or a program has no width."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from discreet.cli import app
from discreet.cli.common.help import EXAMPLES
from discreet.cli.show.screen import folded, say
from support import commandline

NOT_HERE = {
    "discreet serve": "it serves until it is stopped, see test_serving",
    "discreet connect": "there is no such server, see test_server_option",
    "discreet token revoke": "its token is somebody's own, see test_serving",
    "discreet request create": "there is no such server, see test_server_option",
    "discreet request approve": "its request is somebody's own, see test_request",
    "discreet request deny": "the same",
    "discreet conform": "there is no such server, see test_conform",
}
"""Examples that can't be run as they stand, and why."""

LONG = (
    "SELECT sex, education, COUNT(*) AS number_of_people, AVG(age) AS average_age, SUM(income) AS income_in_total\n"
    "FROM census WHERE age >= 40 AND education IN ('Secondary', 'Tertiary') GROUP BY sex, education"
)
SHOWN = [
    ["init", "census.csv", "--force", "--leak"],
    ["explain", LONG, "--epsilon", "0.5", "--delta", "1e-8"],
    ["ask", LONG, "--epsilon", "0.1", "--delta", "1e-8"],
    ["ask", "SELECT agee FROM census", "--epsilon", "1"],
    ["summary", "--epsilon", "0.1", "--delta", "1e-8", "--columns", "sex,education,income"],
    ["summary", "--epsilon", "0.1", "--dry-run", "--columns", "sex,income"],
    ["ask", "SELECT COUNT(*) FROM census", "--epsilon", "10"],
    ["budget"],
    ["history"],
    ["history", "--full"],
    ["verify"],
    ["ledger", "create"],
    ["admit", "--report"],
    ["risk", "census.csv"],
    ["attack"],
]

OnScreen: TypeAlias = Callable[..., str]
"""Runs a command on a terminal of so many columns; what is shown."""


class Terminal(io.StringIO):
    """A screen that somebody watches."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.fixture
def on_screen(monkeypatch: pytest.MonkeyPatch) -> OnScreen:
    """Run a command in this process, as on a terminal."""

    def invoke(columns: int, *arguments: str) -> str:
        screen = Terminal()
        with monkeypatch.context() as patched:
            for name, value in {"COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"}.items():
                patched.setenv(name, value)
            patched.setattr(sys, "stdout", screen)
            patched.setattr(sys, "stderr", screen)
            get_command(app)(list(arguments), prog_name="discreet", standalone_mode=False)
        return screen.getvalue()

    return invoke


def words(text: str) -> str:
    """What is shown, without spaces, frames and the backslashes that end a line."""
    return re.sub(r"[\s─\\]+", "", text)


@pytest.fixture(scope="module")
def made_asked(made_town: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The town, of which one question was asked."""
    folder = tmp_path_factory.mktemp("asked") / "town"
    shutil.copytree(made_town, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        asked = CliRunner().invoke(app, ["ask", LONG, "--epsilon", "0.1", "--delta", "1e-8"], prog_name="discreet")
    assert asked.exit_code == 0, asked.output
    return folder


@pytest.fixture
def asked_town(here: Path, made_asked: Path) -> None:
    """A copy of it, to run commands in."""
    shutil.copytree(made_asked, here, dirs_exist_ok=True)


@pytest.mark.usefixtures("asked_town")
@pytest.mark.parametrize("command", SHOWN, ids=lambda command: " ".join(command)[:24])
def test_lines_fit_and_nothing_is_lost(run: Any, on_screen: OnScreen, command: list[str]) -> None:
    """From 40 columns on; each word that a wide screen shows is on a narrow one."""
    if command[0] in {"init", "ask", "summary", "ledger", "admit"}:  # what is done once says something else then
        run(*command)
    shown = {columns: on_screen(columns, *command) for columns in (200, 61, 40)}
    assert [columns for columns, text in shown.items() if max(map(len, text.splitlines())) > columns] == []
    said = re.findall(r"[A-Za-z]{4,8}", shown[200])
    assert said
    # A place in a question is shown with what is around it; a report on risk, and a cut question, fit to the width.
    if not any("agee" in part for part in command) and command not in (["risk", "census.csv"], ["history"]):
        lost = {columns: [word for word in said if word not in words(text)] for columns, text in shown.items()}
        assert lost == {200: [], 61: [], 40: []}


@pytest.mark.usefixtures("asked_town")
def test_what_goes_to_a_program_has_no_width(run: Any, on_screen: OnScreen, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON and CSV are never folded, and in a pipe nothing is, whatever COLUMNS says."""
    assert json.loads(on_screen(40, "history", "--format", "json"))[-1]["text"] == LONG
    lines = io.StringIO(on_screen(40, "history", "--format", "csv"), newline="")
    assert list(csv.DictReader(lines))[-1]["text"] == LONG
    assert len(on_screen(40, "admit", "--json").splitlines()) == 1
    monkeypatch.setenv("COLUMNS", "40")
    assert max(map(len, run("explain", LONG, "--epsilon", "1", "--delta", "1e-8").stdout.splitlines())) > 100
    assert [line for line in run("init", "census.csv", "--force").stdout.splitlines() if line != line.rstrip()] == []


@pytest.mark.usefixtures("town")
def test_a_question_is_shown_as_it_was_asked(run: Any) -> None:
    """By the number of its entry, or of all entries; a number that isn't there is said."""
    for epsilon in ("0.1", "0.2"):
        assert run("ask", LONG, "--epsilon", epsilon, "--delta", "1e-8").exit_code == 0
    whole = "\n".join(f"  {line}" for line in LONG.splitlines())
    cut = run("history").stdout
    assert whole.strip() not in cut
    assert " ".join(LONG.split()) in cut  # on one line; a terminal cuts it
    entries = [row["entry"] for row in json.loads(run("history", "--format", "json").stdout) if row["entry"]]
    one = run("history", entries[-1]).stdout
    assert one.startswith(f"entry {entries[-1]}, ")
    assert one.count(whole) == 1
    assert run("history", "--full").stdout.count(whole) == 2
    refused = run("history", "999")
    assert refused.exit_code == 1
    assert f"there are {entries[0]} to {entries[-1]}" in refused.stderr


@pytest.mark.parametrize("columns", [40, 52, 79])
def test_folded_commands_can_be_pasted(town: Path, on_screen: OnScreen, columns: int) -> None:
    """What a shell makes of the lines is the command, whatever the table is called."""
    (town / "the town.csv").write_bytes((town / "census.csv").read_bytes())
    shown = on_screen(columns, "init", "the town.csv", "--force", "--strict")
    command = shown[shown.rindex("    discreet ask") :].replace("\\\n", "")
    assert shlex.split(" ".join(command.split())) == [
        "discreet",
        "ask",
        'SELECT COUNT(DISTINCT ssn) AS n FROM "the town"',
        "--epsilon",
        "0.1",
    ]


def test_folding_keeps_titles_and_percents() -> None:
    """The rest stands under the text, and a number stays with its sign; a word longer than a line is broken."""
    assert folded("limits     cut off 3 % of all rows", 24).splitlines() == [
        "limits     cut off 3 %",
        "           of all rows",
    ]
    assert folded("limits     cut off 3 % of all", 21).splitlines() == ["limits     cut off", "  3 % of all"]
    assert "".join(folded("a" * 50, 20).split()) == "a" * 50


def test_long_lists_are_cut_with_a_count(here: Path, run: Any) -> None:
    """Of columns and of advice: the first, how many there are besides, and the option that shows all."""
    names = ["patient_id", *(f"measure_{n}" for n in range(40))]
    cells = "\n".join(",".join(str(n * row % 7) for n in range(41)) for row in range(1, 20))
    (here / "wide.csv").write_text(f"{','.join(names)}\n{cells}\n", encoding="utf-8")
    for command, count in (
        (["init", "wide.csv", "--force"], "and 11 more: --all"),
        (["risk", "wide.csv"], "more: --all"),
    ):
        cut, whole = run(*command).stdout, run(*command, "--all").stdout
        assert count in cut
        assert "--all" not in whole
        assert len(cut.splitlines()) < len(whole.splitlines())
        assert all(name in whole for name in names)


HELPED = ["", "plot", "ledger", "token", "request", *commandline.commands()]


@pytest.mark.parametrize("name", HELPED)
def test_no_option_is_lost_in_narrow_help(on_screen: OnScreen, name: str) -> None:
    """Every option and command that a wide screen shows is there, whole, in 40 columns; and so is the example."""
    texts = {}
    for columns in (200, 80, 40):
        text = texts[columns] = on_screen(columns, *name.split(), "--help")
        # An option with the names of its choices, which is one word, may be longer.
        assert [line for line in text.splitlines() if len(line) > columns and len(line.split()) > 3] == []
        assert words(EXAMPLES[f"discreet {name}".strip()]) in words(text)
    found = [set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) for text in texts.values()]
    assert found[0]
    assert all(each >= found[0] for each in found)


def test_every_command_has_an_example_that_exists() -> None:
    """With options and commands that there are; and no example is of a command that isn't."""
    assert {f"discreet {name}".strip() for name in HELPED} == set(EXAMPLES)
    assert {path: found for path, line in EXAMPLES.items() if (found := commandline.unknown(line)) is not None} == {}


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path not in NOT_HERE], ids=str)
def test_examples_work(town: Path, run: Any, path: str) -> None:
    """Each as it stands, beside the census; what something would be made over is taken away first."""
    if path == "discreet ledger restore":
        for line in (EXAMPLES["discreet ledger backup"], EXAMPLES["discreet witness"]):
            assert run(*shlex.split(line)[1:]).exit_code == 0
    for made in {
        "discreet init": ["discreet.toml", "census.ledger"],
        "discreet demo": ["census.csv"],
        "discreet ledger": ["census.ledger"],
        "discreet ledger create": ["census.ledger"],
        "discreet ledger restore": ["census.ledger"],
    }.get(path, []):
        (town / made).unlink()
    result = run(*shlex.split(EXAMPLES[path])[1:])
    assert result.exit_code == 0, result.output


def test_a_long_line_is_folded_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a pipe a line stays a line; on a terminal what follows hangs under the text."""
    line = "measures  " + "word " * 30
    say(line, 10)
    assert capsys.readouterr().out == f"{line}\n"
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "60")
    say(line, 10)
    first, *rest = terminal.getvalue().splitlines()
    assert len(first) <= 60
    assert rest
    assert all(one.startswith(" " * 10 + "word") for one in rest)


def test_a_number_stays_with_its_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is folded isn't folded there."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("COLUMNS", "12")
    say("right 23 in 13.2 %", 6)
    assert shown.getvalue() == "right 23 in\n      13.2 %\n"
