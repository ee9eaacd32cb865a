"""Where a token goes: to the server that was named, by TLS that is checked, and into no text."""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509 import NameOID

import discreet as dp
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    ReplyMalformed,
    ServerUnreachable,
)
from discreet.interfaces.client import Remote
from discreet.interfaces.client.credentials import Address, token_of
from support.broken_server import COUNT, TOKEN, Broken, Hangup, Said, answer, broken_server, problem


def test_the_token_goes_to_the_server_that_was_named_and_nowhere_else(broken: Broken, ann: Remote) -> None:
    """Not to a place that a redirect names, not to a proxy in the clear, and not over the network in the clear."""
    with broken_server() as other:
        other.says(Said(200, answer()))
        for status in (301, 302, 303, 307, 308):
            broken.says(Said(status, {}, {"Location": f"{other.address}/v1/answers"}))
            with pytest.raises(ReplyMalformed):
                ann.ask(COUNT, epsilon=1)
        broken.says(Said(202, {"id": "a1"}, {"Location": f"{other.address}/v1/answers/a1"}))
        with pytest.raises(ReplyMalformed):
            ann.ask(COUNT, epsilon=1)
        with pytest.MonkeyPatch.context() as patch:
            for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
                patch.setenv(name, other.address)
            broken.says(Said(200, {"role": "analyst"}))
            with dp.connect(broken.address, TOKEN) as tables:
                tables.me()
        assert other.heard == []
    assert broken.heard[-1].headers["Authorization"] == f"Bearer {TOKEN}"


def test_a_proxy_is_used_for_tls_and_sees_no_token(broken: Broken, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for a tunnel, and refuses; nothing else was said to it."""
    monkeypatch.setenv("https_proxy", broken.address)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    broken.says(Said(403))
    with dp.connect("https://gate.example.org", TOKEN, patience=0.1) as tables, pytest.raises(ServerUnreachable):
        tables.me()
    assert {(heard.method, heard.path) for heard in broken.heard} == {("CONNECT", "gate.example.org:443")}
    assert not any(TOKEN in str(heard) for heard in broken.heard)


@pytest.mark.parametrize(
    "url",
    [
        "http://gate.example.org",
        "http://192.0.2.7:8443",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "ftp://localhost",
        "gate.example.org",
        "",
        "https://",
        "https://ann:secret@gate.example.org",
        "https://gate.example.org/?token=secret",
        "https://gate.example.org/#secret",
        "https://gate.example.org:99999",
        "https://gate.example.org/\r\nX: y",
        "http://[::1",
    ],
)
def test_addresses_that_nobody_should_send_a_token_to(url: str) -> None:
    """In the clear, with secrets in them, or none at all; the error repeats none of the secrets."""
    with pytest.raises(InvalidArgument) as refused:
        dp.connect(url, TOKEN)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://gate.example.org/v1/", "https://gate.example.org"),
        ("https://example.org:8443/discreet/v1", "https://example.org:8443/discreet"),
        ("http://localhost:1", "http://localhost:1"),
        ("http://127.9.9.9:1", "http://127.9.9.9:1"),
        ("http://[::1]:8443", "http://[::1]:8443"),
    ],
)
def test_addresses_as_they_are_read(url: str, shown: str) -> None:
    """With `/v1` or without; this machine also in the clear."""
    assert str(Address.read(url)) == shown


def test_in_the_clear_only_where_it_was_said_to_be_safe() -> None:
    """By the caller's word."""
    assert "gate" in repr(dp.connect("http://gate.example.org", TOKEN, in_the_clear=True))


def test_the_token_is_in_no_text(
    broken: Broken, hasty: Remote, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """In no repr, error, traceback or log, whatever goes wrong."""
    caplog.set_level(logging.DEBUG)
    texts = [repr(hasty), str(hasty), repr(hasty._connection)]
    for reply in (Said(200, answer()), Said(500, b"x"), Hangup, Said(302, {}), problem("unauthenticated", 401)):
        broken.says(reply)
        try:
            hasty.ask(COUNT, epsilon=1)
        except DiscreetError as error:
            texts += [repr(error), str(error), str(error.to_dict()), *traceback.format_exception(error)]
    said = capsys.readouterr()
    assert not [text for text in (*texts, caplog.text, said.out, said.err) if TOKEN[:10] in text]


def certificate_for(address: str, path: Path) -> Path:
    """A file with a certificate that nobody has signed but itself, and its key."""
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gate")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .sign(key, None)
    )
    plain = serialization.NoEncryption()
    own = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + own)
    return path


def test_a_certificate_must_be_trusted_and_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an authority of one's own where `SSL_CERT_FILE` names it; never one of another host."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    for address, trusted, is_heard in (
        ("127.0.0.1", False, False),
        ("127.0.0.1", True, True),
        ("127.0.0.2", True, False),
    ):
        file = certificate_for(address, tmp_path / f"{address}.pem")
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(file))
        with broken_server(file) as other, dp.connect(other.address, TOKEN, patience=0) as tables:
            other.says(Said(200, {"role": "analyst"}))
            if is_heard:
                assert tables.me() == {"role": "analyst"}
            else:
                with pytest.raises(ServerUnreachable, match="TLS certificate"):
                    tables.me()
            assert bool(other.heard) == is_heard


def test_a_server_that_nobody_trusts_gets_nothing(broken: Broken) -> None:
    """A plain server behind https: no TLS, no token."""
    broken.says(Said(200, {}))
    address = broken.address.replace("http:", "https:")
    with (
        dp.connect(address, TOKEN, patience=0.1) as tables,
        pytest.raises(ServerUnreachable, match="doesn't speak TLS"),
    ):
        tables.me()
    assert broken.heard == []


def test_a_token_is_kept_in_a_file_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused where other users can read it, where it isn't there, and where it isn't one; no error repeats it."""
    kept = tmp_path / "token"
    kept.write_text(f"{TOKEN}\n")
    kept.chmod(0o600)
    assert "Remote" in repr(dp.connect("https://gate.example.org", kept))
    for mode in (0o640, 0o604, 0o660, 0o620, 0o601):
        kept.chmod(mode)
        with pytest.raises(InvalidArgument, match="other users can read"):
            dp.connect("https://gate.example.org", kept)
    kept.chmod(0o600)
    for text in ("", "two words", "tök", "x" * 10_000, "a\nb"):
        kept.write_text(text)
        with pytest.raises(InvalidArgument, match="token") as refused:
            dp.connect("https://gate.example.org", kept)
        assert not text or text[:40] not in str(refused.value)
    with pytest.raises(InvalidArgument, match="can't be read"):
        dp.connect("https://gate.example.org", tmp_path / "nowhere")
    with pytest.raises(InvalidArgument, match=r"no file|can't be read"):
        dp.connect("https://gate.example.org", tmp_path)
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)
    with pytest.raises(InvalidArgument, match="there is no token"):
        dp.connect("https://gate.example.org")
    monkeypatch.setenv("DISCREET_TOKEN", TOKEN)
    assert "Remote" in repr(dp.connect("https://gate.example.org"))


def test_authorities_that_cannot_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenSSL would trust nobody, and not say why."""
    monkeypatch.delenv("https_proxy", raising=False)
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    for path, why in ((tmp_path / "nowhere.pem", "can't be read: No such file"), (empty, "holds no certificate")):
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        with pytest.raises(InvalidArgument, match=f"{path.name}.*SSL_CERT_FILE.*{why}"):
            dp.connect("https://gate.example.org", TOKEN)


def test_a_text_may_be_the_path_of_a_token(broken: Broken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file that is there, or one that isn't; as for `Path`, others mustn't read it. A token is what it was."""
    kept = tmp_path / "discreet.token"
    kept.write_text(f"{TOKEN}\n")
    kept.chmod(0o600)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for text in ("discreet.token", str(kept), "~/discreet.token", "./discreet.token", TOKEN):
        assert token_of(text) == TOKEN
    monkeypatch.setenv("DISCREET_TOKEN", "~/discreet.token")
    assert token_of(None) == TOKEN
    kept.chmod(0o640)
    for wrong, why in (("discreet.token", "other users can read"), ("~/another.token", "can't be read: No such file")):
        with pytest.raises(InvalidArgument, match=why) as refused:
            dp.connect(broken.address, wrong)
        assert TOKEN not in "".join(traceback.format_exception(refused.value))
    assert broken.heard == []
