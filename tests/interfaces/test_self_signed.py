"""TLS without an authority: a certificate beside the ledger, and clients that were told its fingerprint."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest

import discreet as dp
from discreet import dbapi
from discreet.errors import AnswerContradicted, InvalidArgument, ServerUnreachable
from discreet.interfaces import self_signed
from discreet.interfaces.self_signed import SelfSigned, beside
from support.broken_server import TOKEN, Said, broken_server
from support.served import CONFIG

NAMES = ["localhost", "127.0.0.1", "::1"]


@pytest.fixture
def own(tmp_path: Path) -> SelfSigned:
    """A certificate for this machine."""
    return SelfSigned.made(tmp_path / "people.ledger", NAMES)


def served_by(own: SelfSigned, folder: Path) -> Path:
    """The certificate and its key in one file."""
    both = folder / "both.pem"
    both.write_bytes(own.certificate.read_bytes() + own.key.read_bytes())
    return both


def test_it_is_made_once_and_kept(own: SelfSigned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In files that nobody else can read; made anew for a new name, near its end, and where the two don't match."""
    ledger = tmp_path / "people.ledger"
    assert [each.stat().st_mode & 0o777 for each in (own.certificate, own.key)] == [0o600, 0o600]
    assert SelfSigned.made(ledger, NAMES[:2]) == own == SelfSigned.found(ledger)
    assert timedelta(days=360) < own.until - datetime.now(UTC) < timedelta(days=366)
    wider = SelfSigned.made(ledger, ["gate.example.org"])
    assert wider.fingerprint != own.fingerprint
    assert wider.names == {*NAMES, "gate.example.org"}
    monkeypatch.setattr(self_signed, "_LEAST", timedelta(days=366))
    later = SelfSigned.made(ledger, NAMES)
    monkeypatch.undo()
    assert later.fingerprint != wider.fingerprint
    key = later.key.read_bytes()
    SelfSigned.made(tmp_path / "other.ledger", NAMES)
    later.key.write_bytes((tmp_path / "other.ledger.tls.key").read_bytes())
    assert SelfSigned.found(ledger) is None
    later.key.write_bytes(key)
    assert SelfSigned.found(ledger) == later
    later.key.chmod(0o640)
    with pytest.raises(InvalidArgument, match="can be read by users other"):
        SelfSigned.made(ledger, NAMES)


def test_it_lies_where_the_account_has_its_key(tmp_path: Path) -> None:
    """Beside a ledger that is a file, else beside the configuration."""
    config = tmp_path / "discreet.toml"
    for ledger, name in (("people.ledger", "people.ledger"), ("postgresql://localhost/ledger", "discreet")):
        config.write_text(CONFIG.replace("people.ledger", ledger), encoding="utf-8")
        assert beside(config) == tmp_path / name


def test_who_was_told_its_fingerprint_trusts_it_alone(
    own: SelfSigned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever authorities say; to another certificate nothing is sent, and it isn't tried again."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    other = SelfSigned.made(tmp_path / "other.ledger", NAMES)
    spelled = ":".join(own.fingerprint.upper()[at : at + 2] for at in range(0, 64, 2))
    with broken_server(served_by(own, tmp_path)) as server:
        server.says(Said(200, {"role": "analyst"}))
        with dp.connect(server.address, TOKEN, patience=0) as tables, pytest.raises(ServerUnreachable) as refused:
            tables.me()
        assert "fingerprint" in refused.value.hint
        with (
            dp.connect(server.address, TOKEN, fingerprint=other.fingerprint, patience=60) as tables,
            pytest.raises(AnswerContradicted, match="another TLS certificate than the one you named; nothing was sent"),
        ):
            tables.me()
        assert server.heard == []
        for said in (own.fingerprint, spelled, f"SHA256 Fingerprint={spelled}"):
            with dp.connect(server.address, TOKEN, fingerprint=said, patience=0) as tables:
                assert tables.me() == {"role": "analyst"}
        with dbapi.connect(server.address, TOKEN, fingerprint=own.fingerprint, patience=0) as connection:
            server.says(Said(200, {"name": "p", "adjacency": "add_remove", "tables": []}))
            assert connection.schema["name"] == "p"
        monkeypatch.setenv("SSL_CERT_FILE", str(other.certificate))
        with dp.connect(server.address, TOKEN, patience=0) as tables, pytest.raises(ServerUnreachable):
            tables.me()
        monkeypatch.setenv("SSL_CERT_FILE", str(own.certificate))
        with dp.connect(server.address, TOKEN, patience=0) as tables:
            assert tables.me()["name"] == "p"  # by its file, which the host's name must be in


def test_a_fingerprint_that_could_be_forged_is_refused() -> None:
    """MD5 and SHA-1 are shorter; a server without TLS has none; nor have tables on this machine."""
    for said in ("", "ab" * 16, "ab" * 20, "ab" * 31 + "zz", "ab" * 33):
        with pytest.raises(InvalidArgument, match="64 digits"):
            dp.connect("https://gate.example.org", TOKEN, fingerprint=said)
    with pytest.raises(InvalidArgument, match="https"):
        dp.connect("http://127.0.0.1:1", TOKEN, fingerprint="ab" * 32)
    with pytest.raises(dbapi.ProgrammingError, match="tables on this machine"):
        dbapi.connect("discreet.toml", fingerprint="ab" * 32)


def test_the_strictest_checks_take_it(own: SelfSigned) -> None:
    """As an anchor of trust that can sign nothing, for OpenSSL's strict rules, which newer Pythons set."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(own.certificate, own.key)
    asking = ssl.create_default_context(cafile=own.certificate)
    asking.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    near, far = socket.socketpair()

    def serve() -> None:
        with serving.wrap_socket(far, server_side=True) as stream:
            stream.sendall(b"hello")

    thread = Thread(target=serve)
    thread.start()
    with asking.wrap_socket(near, server_hostname="localhost") as stream:
        assert stream.recv(5) == b"hello"
    thread.join()
