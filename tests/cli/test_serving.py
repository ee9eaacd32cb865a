"""`discreet token` and `discreet serve`: who may come in, and a server that lets them."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx2 as httpx
import pytest

from discreet.cli.common.failures import ExitCode
from discreet.results import PublicKey, heads_in, verify_head
from support.served import CONFIG


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any) -> Path:
    """A configuration with a ledger, in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,k\n" + "\n".join(f"{n},a" for n in range(100)), encoding="utf-8")
    Path("discreet.toml").write_text(CONFIG, encoding="utf-8")
    assert run("ledger", "create").exit_code == 0
    return tmp_path


def test_a_token_is_made_listed_and_revoked(folder: Path, run: Any) -> None:
    """It is shown once; afterwards by its name alone."""
    made = run("token", "create", "ann", "--days", "2", "--most-epsilon", "1/2")
    text = made.stdout.strip()
    assert re.fullmatch(r"dsc_[\w-]{43}", text)
    listed = run("token", "list", "--format", "json")
    (row,) = json.loads(listed.stdout)
    assert (row["name"], row["role"], row["most_epsilon"], row["revoked"]) == ("ann", "analyst", "1/2", None)
    assert text not in listed.stdout
    assert text.encode() not in (folder / "people.ledger").read_bytes()
    assert run("token", "revoke", row["token"]).exit_code == 0
    assert json.loads(run("token", "list", "--format", "json").stdout)[0]["revoked"] is not None
    assert "token" in run("history").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["token", "create", "ann", "--role", "king"], "there is no role 'king'"),
        (["token", "create", "ann", "--days", "9999"], "1 to 3660 days"),
        (["token", "create", "ann", "--role", "auditor", "--most-epsilon", "1"], "no ceiling"),
        (["token", "revoke", "0a1b2c3d4e5f"], "no such token"),
        (["serve", "--host", "0.0.0.0"], "in the clear"),  # noqa: S104 — it is refused
        (["serve", "--certificate", "cert.pem"], "a certificate and its key"),
        (["serve", "--base", "0"], "base must be above 0"),
        (["serve", "--witness-every", "0"], "witness_every must be above 0"),
        (["serve", "--witness", "http://witness.example/"], "https"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, run: Any, arguments: list[str], words: str) -> None:
    """In words, and nothing is made or served."""
    assert folder.is_dir()
    result = run(*arguments)
    assert result.exit_code == ExitCode.REFUSED, result.output
    assert words in " ".join(result.output.split())
    assert json.loads(run("token", "list", "--format", "json").stdout) == []


def test_a_server_answers_and_stops(folder: Path) -> None:
    """The custodian's first token lies in a file that nobody else can read, and makes others; Ctrl-C stops it."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "discreet", "serve", "--port", str(port), "--witness", "witnessed"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 — tests have threads of their own
    )
    try:
        address, end = f"http://127.0.0.1:{port}", monotonic() + 120
        while True:
            assert server.poll() is None
            assert monotonic() < end
            try:
                assert httpx.get(f"{address}/healthz").json() == {"status": "ok"}
                break
            except httpx.TransportError:
                sleep(0.2)
        kept = folder / "custodian.token"
        assert kept.stat().st_mode & 0o777 == 0o600
        carla = {"Authorization": f"Bearer {kept.read_text().strip()}"}
        made = httpx.post(f"{address}/v1/tokens", json={"subject": "ann"}, headers=carla).json()
        ann = {"Authorization": f"Bearer {made['text']}"}
        asked = {"question": "SELECT COUNT(*) AS n FROM people", "epsilon": 1}
        assert httpx.post(f"{address}/v1/plans", json=asked, headers=ann).json()["step"] == 2
        assert httpx.post(f"{address}/v1/answers", json=asked, headers=carla).status_code == 403
        assert httpx.get(f"{address}/v1/me").status_code == 401
        key = PublicKey.read(httpx.get(f"{address}/v1/key").text)
    finally:
        server.send_signal(signal.SIGINT)
        said = server.communicate(timeout=60)[0]
    assert server.returncode in {0, ExitCode.INTERRUPTED}
    assert "Traceback" not in said
    assert made["text"] not in said
    assert kept.read_text().strip() not in said
    heads = [verify_head(each, key) for each in heads_in((folder / "witnessed").read_text())]
    assert [each.problems for each in heads] == [(), ()]  # the token was made between the first and the last
