"""The first minutes of a custodian, and of a stranger on another machine, replayed as the commands that they type."""

from __future__ import annotations

import csv
import json
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import pandas as pd
import pytest
import sqlalchemy

import discreet as dp
from discreet.cli.common.exit_codes import ExitCode
from discreet.errors import QuestionFailed
from support.dialect import register

register()  # which an installation does

COUNT = "SELECT COUNT(*) AS n FROM census WHERE age >= 40"
CONFIDENCE = "0.999999999999"
"""At which an answer may be asked for the truth: it is farther from it once in 10¹² runs."""


@dataclass
class Steps:
    """What is typed, one step after the other, and how long each takes.

    Args:
        run: runs a command in this process.
        taken: seconds, and what took them.
    """

    run: Any
    taken: list[tuple[float, str]] = field(default_factory=list)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Note how long something takes."""
        begun = monotonic()
        yield
        self.taken.append((monotonic() - begun, what))

    def __call__(self, *arguments: object) -> Any:
        """Run a command, which must do."""
        with self.timed(f"discreet {' '.join(map(str, arguments))}"):
            done = self.run(*arguments)
        assert done.exit_code == ExitCode.OK, done.output
        return done


@pytest.fixture
def step(run: Any, capsys: pytest.CaptureFixture[str]) -> Iterator[Steps]:
    """Steps, which are printed at the end."""
    steps = Steps(run)
    yield steps
    with capsys.disabled():
        sys.stdout.write("".join(f"\n  {seconds:6.2f} s  {what[:90]}" for seconds, what in steps.taken) + "\n")


@contextmanager
def serving(port: int) -> Iterator[str]:
    """A server in a process of its own, as `discreet serve --self-signed`; what it said, once it listens."""
    command = (sys.executable, "-m", "discreet", "serve", "--self-signed", "--port", str(port), "--base", "4")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            said = ""
            while "dp.connect" not in said:
                line = server.stdout.readline()
                assert line, "the server ended"
                said += line
            yield said
        finally:
            server.terminate()
            try:
                server.wait(60)
            finally:
                server.kill()


@pytest.mark.long
def test_from_an_empty_folder_to_a_strangers_answer(here: Path, step: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first answer is within its ± of the truth; what is printed can be pasted; a stranger needs nothing else."""
    for name in ("DISCREET_SERVER", "DISCREET_TOKEN", "DISCREET_FINGERPRINT", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    step("demo", "--save", "census.csv")
    step("init", "census.csv")
    step("admit")
    answer = json.loads(step("ask", COUNT, "--epsilon", "0.1", "--confidence", CONFIDENCE, "--format", "json").stdout)
    with Path("census.csv").open(encoding="utf-8", newline="") as file:
        truth = sum(int(row["age"]) >= 40 for row in csv.DictReader(file))
    ((low, high),) = answer["intervals"]["n"]
    assert low <= truth <= high
    assert high - low < truth / 10
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with ExitStack() as stack:
        with step.timed("discreet serve --self-signed"):
            said = stack.enter_context(serving(port))
        made = step("token", "create", "ann", "--url", f"https://127.0.0.1:{port}")
        (pasted,) = re.findall(r"^    discreet (connect .*)$", made.stderr, re.MULTILINE)
        (code,) = re.findall(r"^    (dp\.connect.*)$", made.stderr, re.MULTILINE)
        assert pasted in said
        assert code in said
        elsewhere = here / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        Path("discreet.token").touch(mode=0o600)
        Path("discreet.token").write_text(made.stdout)
        assert "you are    ann, analyst" in step(*shlex.split(pasted)).stdout
        with step.timed(f"tables.ask, by {code}"):
            tables = eval(code, {"dp": dp})  # noqa: S307 — it is what an analyst pastes
            free = tables.ask(COUNT, epsilon="0.1")  # as the custodian did
            assert (free["n"], free.reused) == ([answer["rows"][0]["n"]], True)
            tables.close()
        fingerprint = pasted.split()[-1]
        url = f"discreet://127.0.0.1:{port}?token_file=discreet.token&epsilon=0.01&fingerprint={fingerprint}"
        engine = sqlalchemy.create_engine(url)
        with step.timed("pandas.read_sql"):
            frame = read(engine)
        assert abs(int(frame["n"][0]) - 32_561) < 5_000  # at ε = 0.01, once in 10²¹


def read(engine: sqlalchemy.Engine) -> pd.DataFrame:
    """A count of everyone, by pandas; tried again where a busy machine missed the time at which an answer leaves."""
    for age in range(3):
        try:
            return pd.read_sql(f"SELECT COUNT(*) AS n FROM census WHERE age >= {age}", engine)
        except sqlalchemy.exc.DBAPIError as failed:
            if not isinstance(failed.orig and failed.orig.__cause__, QuestionFailed):
                raise
    raise TimeoutError
