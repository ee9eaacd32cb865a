"""Errors on the screen: laid out for a reader, or as JSON, each with its exit code, none with a row's value."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from discreet import errors
from discreet.cli.common.exit_codes import ExitCode, exit_code
from discreet.cli.common.reporting import Scene, reported
from discreet.cli.show.errors import excerpt_on_screen, raised_at
from discreet.cli.show.formats import Format

CANARY = "canary-7f3a"


def shown(error: BaseException, capsys: pytest.CaptureFixture[str], scene: Scene) -> tuple[int, str]:
    """The exit code and what standard error says when `error` is raised in a command."""
    with pytest.raises(typer.Exit) as ended, scene:
        raise error
    captured = capsys.readouterr()
    assert captured.out == ""
    return ended.value.exit_code, captured.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UnknownColumn("no"), ExitCode.REFUSED),
        (errors.ConfigError("no"), ExitCode.REFUSED),
        (errors.SourceMissing("no"), ExitCode.REFUSED),
        (errors.InvalidArgument("no"), ExitCode.REFUSED),
        (errors.BudgetExhausted("no"), ExitCode.BUDGET),
        (errors.LossNotAccepted("no"), ExitCode.BUDGET),
        (errors.AccuracyUnreachable("no"), ExitCode.BUDGET),
        (errors.LedgerMissing("no"), ExitCode.LEDGER),
        (errors.LedgerCorrupt("no"), ExitCode.LEDGER),
        (errors.ServerUnreachable("no"), ExitCode.SERVER),
        (errors.QuestionFailed(), ExitCode.FAILED),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error: errors.DiscreetError, code: ExitCode) -> None:
    """A script can tell a refusal from an empty budget, a broken ledger and a question that failed."""
    assert exit_code(error) is code


def test_an_error_shows_code_message_place_and_hint(capsys: pytest.CaptureFixture[str]) -> None:
    """The line of the question is shown with a caret under the place."""
    question = "SELECT COUNT(*) AS n\nFROM adult WHERE agee >= 40"
    error = errors.UnknownColumn("table 'adult' has no column 'agee'", hint="did you mean age?", place=(2, 18))
    code, text = shown(error, capsys, Scene(as_json=False, question=question, config=None))
    assert code == 1
    assert text.splitlines() == [
        "error[unknown_column]: table 'adult' has no column 'agee'",
        "  2 │ FROM adult WHERE agee >= 40",
        "    │                  ^",
        "hint: did you mean age?",
    ]


def test_a_configuration_error_shows_the_line_of_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Its place lies in the file that `--config` names, whatever the question was."""
    config = tmp_path / "discreet.toml"
    config.write_text('name = "adult"\nledger = = "adult.ledger"\n', encoding="utf-8")
    scene = Scene(as_json=False, question="SELECT 1", config=config)
    _, text = shown(errors.ConfigError("not TOML", place=(2, 10)), capsys, scene)
    assert text.splitlines()[1:] == ['  2 │ ledger = = "adult.ledger"', "    │          ^"]


def test_as_json_an_error_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    """Code, message, hint and place, as `DiscreetError.to_dict` has them, on one line of standard error."""
    error = errors.BudgetExhausted("ε = 2 asked, 1 left", hint="ask for less", place=(1, 2))
    code, text = shown(error, capsys, Scene(as_json=True, question="", config=None))
    assert code == 3
    assert text.count("\n") == 1
    assert json.loads(text) == {
        "code": "budget_exhausted",
        "message": "ε = 2 asked, 1 left",
        "hint": "ask for less",
        "place": [1, 2],
    }


@pytest.mark.parametrize("as_json", [False, True])
def test_an_unexpected_error_is_shown_without_its_text(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    """A library's message may quote a row, and so may the error it came from: only type and line are shown."""
    error = ValueError(f"could not convert {CANARY}")
    error.__cause__ = KeyError(CANARY)
    code, text = shown(error, capsys, Scene(as_json=as_json, question="SELECT 1", config=None))
    assert code == ExitCode.DEFECT
    assert CANARY not in text
    assert "ValueError at test_errors.py:" in text


def test_ctrl_c_says_that_what_was_paid_stays_paid(capsys: pytest.CaptureFixture[str]) -> None:
    """The code is the shell's for SIGINT."""
    code, text = shown(KeyboardInterrupt(), capsys, Scene(as_json=False, question="SELECT 1", config=None))
    assert code == 130
    assert "stays spent" in text
    assert "discreet history" in text


@pytest.mark.parametrize("error", [typer.Exit(7), typer.Abort(), typer.BadParameter("x"), BrokenPipeError()])
def test_what_typer_handles_itself_is_passed_on(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    """Ends and usage errors keep their meaning; nothing is printed here."""
    with pytest.raises(type(error)) as ended, Scene(as_json=False, question="", config=None):
        raise error
    assert ended.value is error
    assert capsys.readouterr() == ("", "")


def test_terminal_commands_in_a_message_are_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    """A column's name may hold anything; on the screen it is text."""
    error = errors.UnknownColumn("no column 'a\x1b]0;owned\x07'", hint="it has \x1b[2J", place=(1, 8))
    _, text = shown(error, capsys, Scene(as_json=False, question="SELECT a\x1b[2J\u202e FROM t", config=None))
    assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "no column 'a�]0;owned�'" in text


@pytest.mark.parametrize(("line", "column"), [(0, 1), (3, 1), (-1, 1)])
def test_a_place_outside_the_text_shows_no_line(line: int, column: int) -> None:
    """A wrong place can't break the report of an error."""
    assert excerpt_on_screen("SELECT 1\nFROM t", line, column) == []


@pytest.mark.parametrize("column", [1, 40, 300, 500, 501, 900])
def test_a_long_line_is_cut_around_the_place(column: int) -> None:
    """What is shown fits 80 columns, and the caret stands under the character at the place."""
    text = "".join(chr(ord("a") + place % 26) for place in range(500))
    source, caret = excerpt_on_screen(text, 1, column)
    assert len(source) <= 80
    if column <= len(text):
        assert source[caret.index("^")] == text[column - 1]


def test_the_caret_stands_right_behind_wide_characters() -> None:
    """Characters of two cells move the caret by two."""
    source, caret = excerpt_on_screen("SELECT 漢字, agee", 1, 12)
    assert source.endswith("agee")
    assert caret.index("^") == source.index("agee") + 2


def test_where_names_no_value() -> None:
    """The report of a defect holds the type and the line, and not the text."""
    with pytest.raises(KeyError) as raised:
        raise KeyError(CANARY)
    found = raised_at(raised.value, raised.tb)
    assert found.startswith("KeyError at test_errors.py:")
    assert CANARY not in found


def test_a_command_reads_its_scene_from_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    """The wrapper finds question, configuration and format among the command's own arguments."""

    @reported
    def command(question: str, *, format_: Format, config: Path) -> None:
        raise errors.SqlSyntax(f"{question} {config} {format_}", place=(1, 1))

    with pytest.raises(typer.Exit):
        command(question="SELEKT", format_=Format.TABLE, config=Path("x.toml"))
    assert "1 │ SELEKT" in capsys.readouterr().err
    with pytest.raises(typer.Exit):
        command(question="SELEKT", format_=Format.JSON, config=Path("x.toml"))
    assert json.loads(capsys.readouterr().err)["code"] == "sql_syntax"


@pytest.mark.parametrize(
    "statement",
    [
        f"raise ValueError('{CANARY}')",
        f"import threading; t = threading.Thread(target=int, args=('{CANARY}',)); t.start(); t.join()",
        f"import warnings; warnings.warn('{CANARY}')",
        f"import logging; logging.getLogger('sqlglot').warning('{CANARY}')",
        f"class A:\n def __del__(self): raise ValueError('{CANARY}')\nA()",
    ],
)
def test_no_way_out_of_the_process_tells_a_value(statement: str) -> None:
    """Errors outside of commands, in threads and finalisers, warnings and log lines: none is printed with its text."""
    program = f"from discreet.cli.app import hold_tongues; hold_tongues()\n{statement}\n"
    run = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert CANARY not in run.stdout + run.stderr
    loud = subprocess.run([sys.executable, "-c", statement], check=False, capture_output=True, text=True)
    assert CANARY in loud.stderr, "the statement says nothing to begin with"
