"""Traces: whatever goes wrong in a real server's processes, none of them says why where others can read it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from discreet.interfaces.conformance import Finding, Verdict, conform
from discreet.interfaces.conformance.wire import Reply, Wire
from support.attacked import CANARY, prepared
from support.timed import free_port, wait_for
from support.traced import CRASH

TESTS = Path(__file__).parents[2]


@contextmanager
def failing(folder: Path, *arguments: str) -> Iterator[tuple[str, dict[str, str], Path]]:
    """A server of which much goes wrong; its address, tokens, and what it writes."""
    tokens, port, written = prepared(folder), free_port(), folder / "standard.error"
    script = "import sys; from support.traced import main; main(*sys.argv[1:])"
    command = [sys.executable, "-c", script, str(folder), str(port), *arguments]
    environment = {**os.environ, "PYTHONPATH": f"{TESTS.parent / 'src'}{os.pathsep}{TESTS}", "PYTHONFAULTHANDLER": "1"}
    with written.open("wb") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
    try:
        wait_for(port, process)
        yield f"http://127.0.0.1:{port}", tokens, written
    finally:
        process.terminate()
        process.wait()


def provoked(folder: Path, *arguments: str) -> tuple[Finding, list[Reply], bytes]:
    """What the family finds, once a worker has crashed and a request has failed; the replies; what was written."""
    with failing(folder, *arguments) as (url, tokens, written):
        wire, as_json = Wire(url, 60.0), ("Content-Type", "application/json")
        question = f'{{"question": "SELECT COUNT(*) AS n FROM people WHERE id {CRASH}", "epsilon": "1/1000"}}'.encode()
        replies = [
            wire.send("POST", "/v1/answers", [("Authorization", f"Bearer {tokens['analyst']}"), as_json], question),
            wire.send("GET", "/v1/verification", [("Authorization", f"Bearer {tokens['auditor']}")]),
        ]
        texts = [tokens["analyst"], tokens["operator"]]
        report = conform(url, texts, families=["traces"], canaries=[CANARY], written=[written])
    return report.findings[0], replies, written.read_bytes()


def test_nothing_is_said_of_what_goes_wrong(tmp_path: Path) -> None:
    """A library that writes, chains of exceptions, a crash with the fault handler on, a request that fails inside."""
    found, replies, written = provoked(tmp_path)
    assert (found.verdict, found.evidence) == (Verdict.HELD, ())
    assert [each.code for each in replies] == ["question_failed", "internal"]
    assert b'"event": "defect"' in written
    assert all(line.startswith(b'{"time"') for line in written.splitlines()), written


def test_a_server_that_says_what_goes_wrong_is_caught(tmp_path: Path) -> None:
    """The wrong twin: the same, and nobody told its processes to say nothing."""
    found, _, written = provoked(tmp_path, "untamed")
    assert found.verdict is Verdict.BROKEN
    assert {
        "a token or a marked value",
        "a traceback",
        "a chain of exceptions",
        "the stack of a process that crashed",
    } <= {each.removeprefix("in standard.error there is ") for each in found.evidence}
    assert {f"{CANARY}-{each}".encode() in written for each in (1, 2, 4, 6, 7)} == {True}


@pytest.mark.parametrize("name", ["nothing", "."])
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    """Before anything is tried."""
    from discreet.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match="can't be read"):
        conform("http://127.0.0.1:9", [], written=[tmp_path / name])
