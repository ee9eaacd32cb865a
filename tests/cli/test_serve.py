"""`discreet token` and `discreet serve`: who may come in, and a server that lets them."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any
from unittest.mock import MagicMock

import httpx2 as httpx
import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509 import NameOID
from prometheus_client import CollectorRegistry

from discreet.cli.common.exit_codes import ExitCode
from discreet.errors import InvalidArgument
from discreet.interfaces.http.serving import _listening, _Server, serve, serve_metrics
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
    assert text not in made.stderr
    assert "\n    discreet connect https://" in made.stderr
    assert "connect" not in run("token", "create", "carla", "--role", "auditor").stderr
    assert (
        run("token", "revoke", json.loads(run("token", "list", "--format", "json").stdout)[1]["token"]).exit_code == 0
    )
    listed = run("token", "list", "--format", "json")
    row = json.loads(listed.stdout)[0]
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
        (["serve", "--host", "0.0.0.0", "--behind-proxy", "--postgres", "0"], "no proxy for HTTP"),  # noqa: S104 — likewise
        (["serve", "--certificate", "cert.pem"], "a certificate and its key"),
        (["serve", "--self-signed", "--behind-proxy"], "takes the place of another one"),
        (["serve", "--self-signed", "--certificate", "cert.pem"], "takes the place of another one"),
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


@pytest.mark.parametrize(
    ("certificate", "key", "words"),
    [
        ("nofile.pem", "key.pem", "the certificate 'nofile.pem' can't be read"),
        ("cert.pem", "nofile.pem", "the key 'nofile.pem' can't be read"),
        ("key.pem", "cert.pem", "there is no certificate in 'key.pem'"),
        ("cert.pem", "other.pem", "can't be used together"),
        ("broken.pem", "key.pem", "can't be used together"),
    ],
)
def test_files_of_no_use_for_tls_are_refused_before_anything_is_said(
    folder: Path, run: Any, certificate: str, key: str, words: str
) -> None:
    """Which one and why; no token is made, and nothing is served."""
    write_certificate(folder / "others.pem", folder / "other.pem")
    write_certificate(folder / "cert.pem", folder / "key.pem")
    (folder / "broken.pem").write_text("-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n")
    result = run("serve", "--certificate", certificate, "--key", key)
    assert result.exit_code == ExitCode.REFUSED, result.output
    assert "error[invalid_argument]" in result.stderr
    assert words in " ".join(result.output.split())
    assert result.stdout == ""
    assert json.loads(run("token", "list", "--format", "json").stdout) == []


def write_certificate(certificate: Path, key: Path) -> None:
    """A certificate that vouches for itself, and its key."""
    made, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gate")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, made.public_key(), 1, now, now + timedelta(days=1))
        .sign(made, hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )
    certificate.write_bytes(signed)
    key.touch(mode=0o600)
    key.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in found:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in found]


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, for two minutes at the most."""
    end = monotonic() + 120
    while not holds():
        assert monotonic() < end
        sleep(0.1)


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """Connects anew for each request, as strangers do; certificates are loaded once, which takes 24 ms."""
    with httpx.Client(limits=httpx.Limits(max_keepalive_connections=0), timeout=60) as found:
        yield found


def status_of(client: httpx.Client, address: str) -> int:
    """What a path without a token replies; 0 if nobody listens."""
    try:
        return client.get(address).status_code
    except httpx.TransportError:
        return 0


@pytest.mark.long
def test_a_server_answers_and_stops(folder: Path, client: httpx.Client) -> None:
    """The custodian's first token lies in a file that nobody else can read, and makes others. Ctrl-C stops it.

    It isn't ready from then on and takes no more, and who paid has their answer before it ends with 0.
    """
    port, metrics = free_ports(2)
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "discreet", "serve", "--port", str(port)),
            *("--metrics-port", str(metrics), "--witness", "witnessed"),
            *("--base", "5", "--scan", "1"),  # long enough to be seen while it answers, also where that is slow
        ],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: server.poll() is not None or status_of(client, f"{address}/readyz") == 200)
        kept = folder / "custodian.token"
        assert kept.stat().st_mode & 0o777 == 0o600
        carla = {"Authorization": f"Bearer {kept.read_text().strip()}"}
        made = client.post(f"{address}/v1/tokens", json={"subject": "ann"}, headers=carla).json()
        ann = {"Authorization": f"Bearer {made['text']}"}
        asked = {"question": "SELECT COUNT(*) AS n FROM people", "epsilon": 1}
        assert client.post(f"{address}/v1/plans", json=asked, headers=ann).json()["step"] == 6.01
        assert client.post(f"{address}/v1/answers", json=asked, headers=carla).status_code == 403
        assert client.get(f"{address}/v1/me").status_code == 401
        key = PublicKey.read(client.get(f"{address}/v1/key").text)
        assert "discreet_ready 1.0" in client.get(f"http://127.0.0.1:{metrics}/metrics").text
        with ThreadPoolExecutor() as pool:
            reply = pool.submit(client.post, f"{address}/v1/answers", json=asked, headers=ann)
            until(lambda: "slots_busy 1.0" in client.get(f"http://127.0.0.1:{metrics}/metrics").text)
            os.killpg(server.pid, signal.SIGINT)  # to all its processes, as Ctrl-C on a terminal does
            until(lambda: status_of(client, f"{address}/readyz") == 503)
            another = {**asked, "epsilon": 2}
            refused = client.post(f"{address}/v1/answers", json=another, headers=ann).json()
            assert refused["code"] == "engine_unavailable"
            assert reply.result().status_code in {200, 500}  # 500 where the machine was too busy to be in time
            assert reply.result().json().get("code", "question_failed") == "question_failed"
        said, log = server.communicate(timeout=60)
    finally:
        server.kill()
    assert server.returncode == 0
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line["event"] for line in lines if line["event"] != "request"] == ["ready", "stopping", "stopped"]
    for secret in (made["text"], kept.read_text().strip()):
        assert secret not in said + log
    heads = [verify_head(each, key) for each in heads_in((folder / "witnessed").read_text())]
    assert len(heads) >= 2  # the token was made between the first and the last
    assert not any(each.problems for each in heads)


@pytest.mark.parametrize("drained", [True, False])
def test_a_second_signal_ends_it_at_once(monkeypatch: pytest.MonkeyPatch, *, drained: bool) -> None:
    """It kills the workers and leaves, whatever is pending. So does the first, where something never ends."""
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    pending, service = Event(), MagicMock(is_stopping=False)
    service.stop = lambda: setattr(service, "is_stopping", True)
    service.drain = lambda: pending.wait() and drained
    server = _Server(uvicorn.Config("none:none"), service)
    server.handle_exit(signal.SIGTERM, None)
    assert not ended
    server.handle_exit(signal.SIGTERM, None)
    assert (ended, service.kill.call_count) == ([1], 1)
    pending.set()
    until(lambda: server.should_exit)  # which the second signal leaves no time for
    assert (len(ended), service.kill.call_count) == ((1, 1) if drained else (2, 2))


def test_no_token_is_made_that_nobody_can_be_shown(folder: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the configuration can only be read, as in a container, the custodian makes it before the first start."""
    assert folder.is_dir()
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and allowed(path, mode))
    result = run("serve")
    assert result.exit_code == ExitCode.REFUSED
    assert "discreet token create custodian" in " ".join(result.output.split())
    assert json.loads(run("token", "list", "--format", "json").stdout) == []


def test_an_address_that_is_taken_is_named() -> None:
    """Nothing is served, and it is said why, for the API and for metrics."""
    service = MagicMock()
    service.metrics.registry = CollectorRegistry
    said: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for start in (partial(serve, bound=said.append), serve_metrics):
            with pytest.raises(InvalidArgument, match=f"nothing can listen at 127.0.0.1:{port}"):
                start(service, host="127.0.0.1", port=port)
    assert said == []
    service.log.tame.assert_not_called()


def test_no_part_of_a_reply_waits_for_another() -> None:
    """Whoever is accepted is sent the body at once, before the head was acknowledged; by default it waits for that."""

    def sends_at_once(listening: socket.socket) -> bool:
        with listening, socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            return bool(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    assert sends_at_once(_listening("127.0.0.1", 0))
    assert not sends_at_once(socket.create_server(("127.0.0.1", 0)))
