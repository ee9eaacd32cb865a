"""`discreet shell`: what `ask`, `explain`, `budget` and `tables` say, statement after statement in one process."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

import discreet as dp
from discreet.cli.common import extras
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.interrupt import Abandoned, Errand
from discreet.cli.shell import prompt
from discreet.cli.shell.command import _converse
from discreet.cli.shell.completion import FUNCTIONS, KEYWORDS, OPTIONS, Words
from discreet.cli.shell.session import Session
from discreet.cli.shell.statements import cut
from discreet.query.planner import OFFERED, SessionSettings
from discreet.query.sql import options_clause
from discreet.query.sql.unread_text import _EXPLAINED
from support.project import DOCS

COUNT = "SELECT COUNT(*) AS n FROM census WHERE age >= 40"


def asked(run: Any) -> list[str]:
    """The questions in the account."""
    entries = json.loads(run("history", "--format", "json").stdout)
    return [each["text"] for each in entries if each["kind"] == "question"]


@pytest.mark.usefixtures("town")
def test_a_script_is_what_its_commands_would_be(run: Any) -> None:
    """Plans, answers, notes and standings are those of the commands; only options are spelled otherwise."""
    script = f"""
    -- what there is
    \\d census
    SET discreet.epsilon = 0.25;
    \\cost {COUNT};
    EXPLAIN
      {COUNT};
    {COUNT};
    .mode json
    {COUNT} ; \\mode csv
    {COUNT};
    \\budget
    \\reset epsilon
    SHOW discreet.epsilon;
    """
    plan = run("explain", COUNT, "--epsilon", "0.25").stdout
    done = run("shell", stdin=script)
    assert (done.exit_code, done.stderr) == (0, "")
    again = run("ask", COUNT, "--epsilon", "0.25").stdout
    sheet = run("ask", COUNT, "--epsilon", "0.25", "--format", "csv").stdout
    value = re.search(r"^\d+ ± \d+$", again, re.MULTILINE)
    assert value is not None
    assert done.stdout.startswith(run("tables").stdout)
    found = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert (found["rows"][0]["n"], found["reused"]) == (int(value[0].split()[0]), True)
    assert value[0] in done.stdout
    assert done.stdout.endswith(sheet + run("budget", "--format", "csv").stdout + "\n")
    assert "cost       ε = 0.25, entry 1\n" in done.stdout
    assert done.stdout.count(plan) == 2
    assert asked(run) == [COUNT]


@pytest.mark.usefixtures("town")
def test_forms_of_answers(run: Any) -> None:
    """Every mode shows the same values, each with its ±, above the same notes."""
    question = "SELECT sex, COUNT(*) AS n FROM census GROUP BY sex;"
    script = f"\\set rho 0.01\n{question}\n\\mode line\n{question}\n\\mode markdown\n{question}\n\\mode"
    shown = run("shell", "--mode", "table", stdin=script).stdout
    (female, male), *others = re.findall(r"(?:Female +(\d+ ± \d+)\nMale +(\d+ ± \d+))", shown)
    assert others == []
    assert f"sex  Female\nn    {female}\n\nsex  Male\nn    {male}\n\n" in shown
    assert f"| sex | n |\n| :-- | --: |\n| Female | {female} |\n| Male | {male} |\n\n" in shown
    assert shown.count("±          at 95 %") == 3
    assert r"\set cut_off on measures" not in shown or "--cut-off" not in shown
    assert shown.endswith("markdown\n")


WRONG = {
    f"{COUNT};": r"error[offer_required]|\set epsilon 0.5, \set rho 0.01 or \set within 100",
    "\\set epsilon 1\nSELECT AVG(agee),\n  1 FROM census;": "1 │ SELECT AVG(agee),|│            ^",
    "\\set epsilon 1\nSELECT COUNT(*)\nFROM census\n\\q": "a question ends with ;|3 │ \\q",
    f"\\set epsilon 100\n{COUNT};": "error[budget_exhausted]",
    "\\set epsilon 0": "epsilon must be above 0",
    "\\set rho 1\n\\set epsilon 1": "not in both|reset the other one first",
    "\\set analyst ann": "who asks is settled",
    "\\mode arrow": "there is no mode|table, markdown, line, json, csv",
    "\\d cencus": "error[unknown_table]|did you mean census?",
    "\\bugdet": "there is no command \\bugdet|did you mean \\budget?",
    "\\history none": "isn't a number of entries",
    "\\cost": "which question?",
}
"""What goes wrong, and what is said of it."""


@pytest.mark.usefixtures("town")
def test_errors_name_their_place_and_stop_a_script(run: Any) -> None:
    """With a caret and no traceback; what follows isn't asked, nothing is charged, and the exit code is the error's."""
    for said, words in WRONG.items():
        done = run("shell", stdin=f"{said}\n\\reset\n\\set epsilon 1\n{COUNT};")
        assert done.exit_code == (ExitCode.BUDGET if "budget_" in words else ExitCode.REFUSED), done.output
        assert [each for each in words.split("|") if each not in done.stderr] == [], done.stderr
        assert "Traceback" not in done.output
        assert "--epsilon" not in done.stderr
    assert asked(run) == []


@pytest.mark.usefixtures("town")
def test_a_question_that_warns_is_asked_with_yes_alone(run: Any) -> None:
    """Where there is no terminal to ask at, as for `discreet ask`."""
    warned = "\\set epsilon 0.1\nSELECT COUNT(*) AS n FROM census WHERE sex = 'female' OR age >= 40;"
    refused = run("shell", stdin=warned)
    assert refused.exit_code == ExitCode.REFUSED
    assert "may not be what you meant" in refused.stderr
    assert run("shell", "--yes", stdin=warned).exit_code == ExitCode.OK


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("", [], ""),
        ("  -- nothing\n/* ; */ ", [], ""),
        ("select 1", [], "select 1"),
        ("select ';', \";\", `;` -- ;\n/* ; */ ; ;;", ["select ';', \";\", `;` -- ;\n/* ; */"], ""),
        ("select 'it''s;", [], "select 'it''s;"),
        ("/* open ; ", [], "/* open ; "),
        ("\\d t\n .mode csv\nselect 1; \\q", ["\\d t", ".mode csv", "select 1", "\\q"], ""),
        ("select 1\n  \\q", [], "select 1\n  \\q"),
        ("select 1\n\\q\nselect 2;", ["select 1\n\\q", "select 2"], ""),
        ("select '\n\\q';", ["select '\n\\q'"], ""),
    ],
)
def test_where_statements_end(text: str, statements: list[str], rest: str) -> None:
    """At semicolons outside of quotations and comments; commands with their line."""
    assert cut(text) == (statements, rest)


def test_long_texts_take_no_longer_than_their_length() -> None:
    """Quotations and comments that never end are read once."""
    for sign in ("'", '"', "/*", "--", "'a", "/* '"):
        assert cut("select " + sign * 100_001)[0] == []


SCHEMA = {
    "tables": [
        {
            "name": "visits",
            "columns": [
                {"name": "ward", "kind": "text", "keys": ["Surgery, general", "O'Neill", "Eye"]},
                {"name": "Cost €", "kind": "real", "keys": None},
            ],
        },
        {"name": "people", "columns": [{"name": "age", "kind": "integer", "keys": [1, 2]}]},
    ]
}


@pytest.mark.parametrize(
    ("text", "begun", "among", "never"),
    [
        ("SELECT cou", "cou", {"count(", "count_if("}, {"COUNT("}),
        ("SELECT * FROM ", "", {"visits", "people"}, {"ward", "COUNT("}),
        ("SELECT COUNT(*) FROM visits WHERE ", "", {"ward", '"Cost €"', "AND"}, {"age"}),
        ("SELECT COUNT(*) FROM visits v JOIN people p ON v.", "", {"ward", "age"}, {"COUNT("}),
        ("SELECT cos", "cos", {'"Cost €"'}, {"ward"}),
        ("SELECT COUNT(*) FROM visits WHERE ward = 'S", "S", {"Surgery, general'"}, {"Eye'"}),
        ("SELECT COUNT(*) FROM visits WHERE ward IN ('Eye', '", "", {"O''Neill'"}, {"ward"}),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(ep", "ep", {"epsilon"}, {"ward"}),
        ("\\bu", "bu", {"budget"}, {"d"}),
        ("\\d p", "p", {"people"}, {"visits"}),
        ("\\set wi", "wi", {"within"}, {"epsilon"}),
        (".mode m", "m", {"markdown"}, {"csv"}),
        ("\\cost SELECT me", "me", {"median("}, {"mode"}),
    ],
)
def test_words_are_completed(text: str, begun: str, among: set[str], never: set[str]) -> None:
    """From what the caller may see, and from the language."""
    found, words = Words(SCHEMA).for_(text)
    assert found == begun
    names = {word for word, _ in words}
    assert among <= names
    assert not never & names


def test_words_are_those_of_the_language() -> None:
    """Functions are on the page of SQL, keywords are read, and options are those that there are."""
    page = (DOCS / "reference" / "sql.md").read_text(encoding="utf-8")
    assert [each for each in FUNCTIONS if not re.search(rf"\b{each}\b", page)] == []
    known = {word for words, _ in _EXPLAINED for each in words.split() for word in each.split("_")}
    extra = {"EXPLAIN", "SUMMARIZE", "DIFFERENTIAL", "PRIVACY", "OPTIONS", "BY", "AS", "ASC", "SETS"}
    assert {word for each in KEYWORDS for word in re.findall(r"[A-Z]+", each)} <= known | extra
    assert set(OPTIONS) == set(options_clause._NAMES)


class Slow:
    """Tables whose questions take until they are let go."""

    def __init__(self) -> None:
        self.asked, self.let_go = list[object](), Event()
        self.schema = SCHEMA
        self.admissions = None  # as only tables on this machine have
        self.entries = list[Any]()

    def plan(self, question: str, **terms: object) -> Any:
        """A plan that costs something and warns of nothing."""
        return SimpleNamespace(digest=question, is_free=False, warnings=(), cost=terms["epsilon"])

    def ask(self, plan: object) -> list[Any]:
        """Nothing that is shown, in the end."""
        self.asked.append(plan)
        assert self.let_go.wait(60)
        return []

    def history(self) -> list[Any]:
        """The entries."""
        return self.entries


def test_ctrl_c_ends_the_wait_and_says_what_stands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before it is charged and after; asked again, the question is waited for and not asked twice."""
    tables: Any = Slow()
    monkeypatch.setattr("discreet.cli.shell.session.read_first", lambda _: None)
    session = Session(tables, SessionSettings().set("epsilon", "1/2"), config=None)
    wait = Errand.wait

    def pressed(*_: object, **__: object) -> None:
        raise Abandoned

    monkeypatch.setattr(Errand, "wait", pressed)
    with pytest.raises(KeyboardInterrupt):
        session.carry_out(COUNT)
    assert "It isn't charged yet, but may be" in capsys.readouterr().out
    assert session.is_waited_for
    cost = SimpleNamespace(epsilon=0.5, rho=None, delta=0)
    tables.entries.append(SimpleNamespace(kind="question", text=COUNT, number=7, cost=cost))
    with pytest.raises(KeyboardInterrupt):
        session.carry_out(COUNT)
    assert "Entry 7 is charged, ε = 0.5, and stays so" in capsys.readouterr().out
    planned = tables.plan
    tables.plan = pressed
    with pytest.raises(KeyboardInterrupt):
        session.carry_out(f"{COUNT} AND age < 50")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("stopped before it was asked; nothing is charged\n", "")
    tables.plan = planned
    monkeypatch.setattr(Errand, "wait", wait)
    tables.let_go.set()
    assert session.carry_out(COUNT) is None
    assert len(tables.asked) == 1
    assert not session.is_waited_for


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Types at a prompt, on a terminal that is only made up."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(prompt, "create_output", lambda **_: DummyOutput())
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield keys.send_text


def test_a_conversation(
    town: Path,
    run: Any,
    typed: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Several lines, an error, Ctrl-C, Ctrl-D; what was typed is remembered, and no answer."""
    typed("\\set epsilon 0.1\r")
    typed("SELECT COUNT(*) AS n FROM census\rWHERE sex = 'Female';\r")
    typed("SELECT nope FROM census;\r")
    typed("SELECT never\x03")
    typed("\\budget\r\x04")
    with dp.load() as tables:
        _converse(Session(tables, SessionSettings(), config=None), prompt.Prompt(tables.schema))
    shown = capsys.readouterr()
    assert re.search(r"^ *\d+ ± \d+$", shown.out, re.MULTILINE)
    assert "spent      ε = 0.1" in shown.out
    assert "error[unknown_column]" in shown.err
    kept = town / "state" / "discreet" / "shell_history"
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    typed_before = kept.read_text()
    assert "+SELECT COUNT(*) AS n FROM census\n+WHERE sex = 'Female';" in typed_before
    assert "±" not in typed_before
    assert "never" not in typed_before
    assert asked(run) == ["SELECT COUNT(*) AS n FROM census\nWHERE sex = 'Female'"]
    (found,) = prompt._Completer(Words(SCHEMA)).get_completions(Document("\\d peo"), CompleteEvent())
    assert (found.text, found.start_position) == ("people", -3)
    kept.chmod(0o640)
    with pytest.raises(prompt.InvalidArgument, match="can be read by users other"):
        prompt.Prompt(SCHEMA)


@pytest.mark.usefixtures("town")
def test_a_prompt_needs_an_extra(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, before anything is opened; a script needs none."""
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    assert run("shell", stdin="\\mode").exit_code == ExitCode.OK
    monkeypatch.setattr("discreet.cli.shell.command.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    refused = run("shell")
    assert refused.exit_code == ExitCode.REFUSED
    assert "error[extra_missing]: a prompt needs packages" in refused.stderr
    assert "pip install 'discreet[shell]'" in refused.stderr


@pytest.mark.usefixtures("town")
def test_the_page_shows_what_is_said(run: Any) -> None:
    """The transcript on the page, statement by statement, but for the numbers that noise makes."""
    page = (DOCS / "shell.md").read_text(encoding="utf-8")
    transcript = next(each for each in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if "discreet> " in each)
    lines = transcript.splitlines()
    typed_lines = [
        line.removeprefix(mark) for line in lines for mark in ("discreet> ", "       -> ") if line.startswith(mark)
    ]
    said = [line for line in lines if not line.startswith(("discreet> ", "       -> "))]
    done = run("shell", stdin="\n".join(typed_lines))

    def without_numbers(text: str) -> list[str]:
        return re.sub(r"\d[\d.,]*|[─ ]+", " # ", text).split()

    assert without_numbers("\n".join(said)) == without_numbers(done.stdout + done.stderr)


@pytest.mark.usefixtures("town")
def test_every_term_can_be_set(run: Any) -> None:
    """All that is offered beside a question, but who asks; shown with its default."""
    shown = run("shell", stdin="\\set epsilon 0.5\n\\mode csv\n\\set").stdout
    assert [line.split(",")[0] for line in shown.splitlines()[1:]] == list(OFFERED)
    assert "epsilon,0.5" in shown
