"""`--server`: the same commands, with nothing but an address and a token."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest

import discreet as dp
from discreet.cli import ask
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.interrupt import Abandoned
from discreet.duckdb import session
from discreet.errors import QuestionFailed
from discreet.interfaces.http import make_app
from discreet.results import PublicKey
from support.served import COUNT, Served, served
from support.uvicorn_server import listening


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """One service for all tests, and its address."""
    with served(tmp_path_factory.mktemp("cli"), step=1.0) as running, listening(make_app(running.service)) as address:
        yield running, address


@pytest.fixture
def ann(gate: tuple[Served, str], here: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options of an analyst in an empty folder: a server, and a token in a file of their own."""
    running, address = gate
    monkeypatch.delenv("DISCREET_SERVER", raising=False)
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)
    kept = here / "ann.token"
    kept.write_text(running.tokens["analyst"])
    kept.chmod(0o600)
    return ["--server", address, "--token-file", str(kept)]


def test_a_question_is_explained_asked_and_in_the_history(ann: list[str], run: Any) -> None:
    """In the forms in which they come from a configuration."""
    plan = json.loads(run("explain", COUNT, "--epsilon", "1/2", "--format", "json", *ann).stdout)
    assert plan["cost"]["exact"]["epsilon"] == "1/2"
    assert plan["remaining_after"]["epsilon"] == pytest.approx(plan["remaining_like_this"] / 2 - 0.5, abs=0.5)
    assert "after one, what is left is ε = " in " ".join(run("explain", COUNT, "--epsilon", "1/2", *ann).stdout.split())
    assert "budget    doesn't pay for it" in run("explain", COUNT, "--epsilon", "100", *ann).stdout
    assert run("explain", COUNT, "--epsilon", "1", "--format", "csv", *ann).stdout.startswith("column,error,rows,ranks")
    asked = run("ask", COUNT, "--epsilon", "1/2", "--format", "json", *ann)
    assert asked.exit_code == ExitCode.OK, asked.output
    answer = json.loads(asked.stdout)
    again = run("ask", COUNT, "--epsilon", "1/2", *ann)
    assert again.exit_code == ExitCode.OK, again.output
    assert str(answer["rows"][0]["n"]) in again.stdout
    assert "the same answer again" in again.stdout
    assert "the budget is ε = 10" in again.stdout
    history = json.loads(run("history", "--format", "json", *ann).stdout)
    assert (history[-1]["text"], history[-1]["epsilon"]) == (COUNT, "1/2")
    assert COUNT in run("history", "--full", *ann).stdout
    assert "EXPLAIN" not in run("ask", f"EXPLAIN {COUNT}", "--epsilon", "1", *ann).stdout


def test_ctrl_c_names_the_key_by_which_the_answer_is_had(
    ann: list[str], run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here it comes too late: the question is paid for. Asked as the hint says, it isn't paid for again."""

    def left(work: Callable[[], object]) -> NoReturn:
        with suppress(QuestionFailed):  # of a busy machine; then that is what the key stands for
            work()
        raise Abandoned

    with monkeypatch.context() as patched:
        patched.setattr(ask, "patiently", left)
        patched.setattr(session, "remove_directories", lambda: None)
        patched.setattr(os, "_exit", sys.exit)
        stopped = run("ask", COUNT, "--epsilon", "1/11", *ann)
    assert stopped.exit_code == ExitCode.INTERRUPTED
    said = " ".join(stopped.stderr.split())
    key = said.partition("--idempotency-key ")[2]
    assert re.fullmatch("[0-9a-f]{32}", key), said
    spent = run("budget", "--format", "json", *ann).stdout
    again = run("ask", COUNT, "--epsilon", "1/11", "--idempotency-key", key, *ann)
    assert again.exit_code in {ExitCode.OK, ExitCode.FAILED}, again.output
    assert run("budget", "--format", "json", *ann).stdout == spent


def test_the_budget_is_everyones_and_ones_own(ann: list[str], run: Any) -> None:
    """As a server tells it."""
    found = json.loads(run("budget", "--format", "json", *ann).stdout)
    assert found["budget"] == {"epsilon": 10.0, "rho": None, "delta": 0.0}
    assert found["analysts"]["you"]["spent"] == found["spent"]
    shown = run("budget", *ann).stdout
    assert "everyone" in shown
    assert "you" in shown


def test_the_page_of_a_budget_is_of_what_a_token_may_see(
    ann: list[str], gate: tuple[Served, str], here: Path, run: Any
) -> None:
    """An analyst's own questions, no picture of everyone's spending where these aren't all, and no proof."""
    running, _ = gate
    kept = here / "bob.token"
    kept.write_text(running.tokens["bob"])
    kept.chmod(0o600)
    assert run("ask", COUNT, "--epsilon", "3/4", *ann[:3], str(kept)).exit_code == 0
    assert run("budget", "--html", "mine.html", *ann).exit_code == 0
    text = (here / "mine.html").read_text(encoding="utf-8")
    assert "a server's word" in text
    assert "public key" not in text
    assert "bob" not in text
    assert "So there is no picture." in text
    assert "<dt>left to you</dt>" in text
    assert running.tokens["analyst"] not in text


def test_what_may_be_asked_about_is_the_same_here_and_there(gate: tuple[Served, str], ann: list[str], run: Any) -> None:
    """`tables`, from a server and from its configuration; and `connect`, with who one is."""
    config = str(gate[0].folder / "discreet.toml")
    for form in ("table", "json", "csv"):
        there = run("tables", "--format", form, *ann)
        assert there.exit_code == ExitCode.OK, there.output
        assert there.stdout == run("tables", "--format", form, "--config", config).stdout
        assert ("limits 1 row" in there.stdout) == (form == "table")
        assert form != "table" or "1 rows" not in there.stdout
    assert 'people,k,text,True,,"a, b"' in there.stdout
    connected = run("connect", *ann[1:])
    assert "analyst" in connected.stdout
    assert "people" in connected.stdout
    data = json.loads(run("connect", *ann[1:], "--format", "json").stdout)
    assert data["key"] in connected.stdout
    assert "check with the custodian" in connected.stdout
    assert "check with the custodian" not in run("connect", *ann[1:], "--key", data["key"]).stdout
    other = PublicKey(bytes(32)).text
    assert run("ask", COUNT, "--epsilon", "1", *ann, "--key", "AAAA").exit_code == ExitCode.REFUSED
    refused = run("ask", COUNT, "--epsilon", "1/7", "--format", "json", *ann, "--key", other)
    assert json.loads(refused.stderr)["code"] == "answer_contradicted"
    history = json.loads(run("history", "--format", "json", *ann).stdout)
    assert "1/7" not in [each["epsilon"] for each in history]
    assert run("connect", *ann[1:], "--key", other).exit_code == ExitCode.SERVER
    assert data["caller"]["role"] == "analyst"
    assert data["dataset"]["name"] == "people"


def test_the_variables_say_it_too(
    gate: tuple[Served, str], here: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`DISCREET_SERVER` and `DISCREET_TOKEN`; an operator connects, and sees no tables."""
    running, address = gate
    assert list(here.iterdir()) == []
    monkeypatch.setenv("DISCREET_SERVER", address)
    monkeypatch.setenv("DISCREET_TOKEN", running.tokens["analyst"])
    assert "everyone" in run("budget").stdout
    monkeypatch.setenv("DISCREET_TOKEN", running.tokens["operator"])
    assert "operator" in run("connect").stdout
    refused = run("budget", "--config", "other.toml")
    assert refused.exit_code == ExitCode.REFUSED
    assert "not to both" in refused.output


def test_a_token_is_never_said_on_the_command_line_or_read_by_others(ann: list[str], run: Any) -> None:
    """There is no option for it; a file that other users can read is refused; no output holds it."""
    token = Path(ann[3]).read_text()
    assert run("budget", "--server", ann[1], "--token", token).exit_code == ExitCode.USAGE
    nothing = run("budget", "--server", ann[1])
    assert nothing.exit_code == ExitCode.REFUSED
    assert "--token-file" in nothing.output
    Path(ann[3]).chmod(0o644)
    refused = run("budget", *ann)
    assert refused.exit_code == ExitCode.REFUSED
    assert "other users can read" in " ".join(refused.output.split())
    assert token not in refused.output


def test_errors_of_a_server_end_as_those_of_a_configuration(ann: list[str], run: Any) -> None:
    """With their exit code, and a caret under their place."""
    wrong = run("ask", "SELECT nope FROM people", "--epsilon", "1", *ann)
    assert wrong.exit_code == ExitCode.REFUSED
    assert "^" in wrong.output
    assert run("ask", COUNT, "--epsilon", "100", *ann).exit_code == ExitCode.BUDGET
    assert run("ask", COUNT, "--epsilon", "1", "--analyst", "bob", *ann).exit_code == ExitCode.REFUSED
    clear = run("budget", "--server", "http://gate.example.org", *ann[2:])
    assert "in the clear" in " ".join(clear.output.split())


def test_an_earlier_version_is_read_by_its_number(gate: tuple[Served, str], ann: list[str], run: Any) -> None:
    """From a server and from its configuration; a version that has no answer is refused, and nothing is paid."""
    question = f"{COUNT} WHERE id < 77"
    for epsilon in ("1/2", "1/3", "1/4", "1/5"):
        asked = run("ask", question, "--epsilon", epsilon, "--format", "json", *ann)
        if asked.exit_code == ExitCode.OK:
            break
    rows = json.loads(asked.stdout)["rows"]
    with dp.load(gate[0].folder / "discreet.toml") as tables:
        number = tables.refresh().version - 1
    spent = json.loads(run("budget", "--format", "json", *ann).stdout)["spent"]
    config = ["--config", str(gate[0].folder / "discreet.toml")]
    for where in (ann, config):
        said = ("ask", question, "--epsilon", epsilon, "--format", "json", *where, "--version")
        assert json.loads(run(*said, str(number)).stdout)["rows"] == rows
        refused = run(*said, str(number + 7))
        assert refused.exit_code == ExitCode.REFUSED
        assert "is stored for version" in json.loads(refused.stderr)["message"]
    assert json.loads(run("budget", "--format", "json", *ann).stdout)["spent"] == spent


def test_a_question_above_ones_ceiling_is_requested_and_asked(
    gate: tuple[Served, str], ann: list[str], run: Any
) -> None:
    """From the command line alone; it says who else may read the answer, and what became of it."""
    running, _ = gate
    Path(ann[3]).write_text(running.tokens["bob"])
    question = (f"{COUNT} WHERE id < 88", "--epsilon", "2")
    assert run("ask", *question, *ann).exit_code == ExitCode.REFUSED
    made = run("request", "create", *question, "--purpose", "the yearly report", *ann)
    assert made.exit_code == ExitCode.OK, made.output
    assert "gets it free" in " ".join(made.stdout.split())
    (row,) = json.loads(run("request", "list", "--format", "json", *ann).stdout)
    assert (row["name"], row["epsilon"], row["purpose"], row["state"]) == ("bob", "2", "the yearly report", "open")
    assert run("request", "approve", row["request"], *gate_config(gate)).exit_code == ExitCode.OK
    by = ("--approval", row["request"], "--idempotency-key", "the yearly report")
    asked = run("ask", *question, *by, "--format", "json", *ann)
    assert asked.exit_code in {ExitCode.OK, ExitCode.FAILED}, asked.output  # on a busy machine; paid for all the same
    again = run("ask", *question, *by, "--format", "json", *ann)
    assert again.exit_code == asked.exit_code
    if asked.exit_code == ExitCode.OK:
        assert json.loads(again.stdout)["entry"] == json.loads(asked.stdout)["entry"]
    (row,) = json.loads(run("request", "list", "--format", "json", *ann).stdout)
    assert row["state"] == "used"
    second = json.loads(run("request", "create", *question, "--purpose", "why", "--format", "json", *ann).stdout)
    assert "readers" in second
    denied = run("request", "deny", second["request"], "--reason", "ask by region", *gate_config(gate))
    assert denied.exit_code == ExitCode.OK
    assert json.loads(run("request", "list", "--format", "json", *ann).stdout)[-1]["reason"] == "ask by region"


def gate_config(gate: tuple[Served, str]) -> list[str]:
    """The configuration that the server has."""
    return ["--config", str(gate[0].folder / "discreet.toml")]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (("ask", COUNT, "--epsilon", "1", "--approval", "x"), "a server's"),
        (("ask", COUNT, "--epsilon", "1", "--idempotency-key", "x"), "a server's"),
        (("request", "create", COUNT, "--epsilon", "1", "--purpose", "why"), "name it with --server"),
    ],
)
def test_what_a_server_takes_needs_one(said: tuple[str, ...], message: str, here: Path, run: Any) -> None:
    """Nothing is left out in silence."""
    assert list(here.iterdir()) == []
    refused = run(*said)
    assert refused.exit_code == ExitCode.REFUSED
    assert message in " ".join(refused.stderr.split())


@pytest.mark.parametrize("key", ["", " a", "a\n", "é", "x" * 201, "a\r\nX-Role: custodian"])
def test_what_is_no_key_is_sent_nowhere(key: str, ann: list[str], run: Any) -> None:
    """Nor does anything get into the head of a request by it."""
    refused = run("ask", COUNT, "--epsilon", "1", "--idempotency-key", key, *ann)
    assert refused.exit_code == ExitCode.REFUSED
    assert "200 printable ASCII" in " ".join(refused.stderr.split())


def test_the_shell_asks_a_server(ann: list[str], run: Any) -> None:
    """With the same words as here: tables, plans, an answer and again for nothing, the budget, a refusal."""
    script = f"\\d\n\\cost {COUNT}\n{COUNT};\n.mode json\n{COUNT};\n.mode table\n\\budget\nSELECT nope FROM people;"
    done = run("shell", "--epsilon", "1/13", "--server", ann[1], "--token-file", ann[3], stdin=script)
    assert done.exit_code == ExitCode.REFUSED
    assert "'people' has no column 'nope'" in done.stderr
    found = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert found["reused"]
    for words in ("people  id    1 row", "cost      ε = 0.0769", "\nyou\n"):
        assert words in done.stdout
    refused = run("shell", "--analyst", "bob", *ann, stdin=f"\\set epsilon 1\n{COUNT};")
    assert "the token's holder" in refused.stderr
