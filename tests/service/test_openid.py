"""Sign-in by OpenID Connect: whose tokens are believed, and the many that aren't."""

from __future__ import annotations

import hmac
import json
import time
import warnings
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from fastapi.testclient import TestClient
from joserfc import jws, jwt
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from discreet.errors import ConfigError, DiscreetError, Forbidden, Unauthenticated
from discreet.interfaces.http import make_app
from discreet.service import OpenID, Role, openid
from support.served import COUNT, served_in_threads

ISSUER = "https://login.example.org/realms/agency"
CONFIG = f"""
issuer = "{ISSUER}"
audience = "discreet"
algorithms = ["RS256", "ES256", "Ed25519"]
keys = "keys.json"
claim = ["realm_access", "roles"]
most_epsilon = "1/2"

[roles]
statistics = "analyst"
research = "analyst"
data-office = "custodian"
"""

RSA = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})
EC = ECKey.generate_key("P-256", {"kid": "ec", "alg": "ES256"})
ED = OKPKey.generate_key("Ed25519", {"kid": "ed"})
SECRET = OctKey.generate_key(256, {"kid": "secret"})
OTHERS = RSAKey.generate_key(2048, {"kid": "rsa"})
with warnings.catch_warnings(action="ignore"):
    SHORT = RSAKey.generate_key(1024, {"kid": "short"})
ENCRYPTS = RSAKey.generate_key(2048, {"kid": "encrypts", "use": "enc"})
PUBLISHED = {
    "keys": [
        *(key.as_dict(private=False) for key in (RSA, EC, ED, SHORT, ENCRYPTS)),
        SECRET.as_dict(private=True),
        {"kty": "new"},
    ]
}


def claims(**changed: Any) -> dict[str, Any]:
    """What a good token says, with changes; None leaves a claim out."""
    now = int(time.time())
    good = {
        "iss": ISSUER,
        "aud": "discreet",
        "sub": "ann",
        "exp": now + 600,
        "iat": now,
        "realm_access": {"roles": ["statistics", "users"]},
    }
    return {name: value for name, value in (good | changed).items() if value is not None}


def token(key: Any = RSA, alg: str = "RS256", header: dict[str, Any] | None = None, **changed: Any) -> str:
    """A token."""
    algorithms = [alg]
    said = {"alg": alg, "kid": key.kid, **(header or {})}
    registry = jws.JWSRegistry(algorithms=algorithms, strict_check_header=False)
    return jwt.encode(
        {each: said[each] for each in said if said[each] is not None}, claims(**changed), key, algorithms, registry
    )


def part(content: Any) -> str:
    """A part of a token, as it is written."""
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return urlsafe_b64encode(raw).decode().rstrip("=")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a configuration and the provider's keys."""
    found = tmp_path_factory.mktemp("openid")
    (found / "openid.toml").write_text(CONFIG, encoding="utf-8")
    (found / "keys.json").write_text(json.dumps(PUBLISHED), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def provider(folder: Path) -> OpenID:
    """Whom to believe."""
    return OpenID.read(folder / "openid.toml")


def test_whoever_the_provider_vouches_for_comes_in(provider: OpenID) -> None:
    """With each algorithm that is pinned; the name in the ledger is the issuer's and theirs."""
    for key, alg in ((RSA, "RS256"), (EC, "ES256"), (ED, "Ed25519")):
        for header in ({}, {"typ": "JWT"}, {"typ": "at+jwt"}):
            caller = provider.caller(token(key, alg, header))
            assert (caller.subject, caller.role, caller.most_epsilon) == (f"{ISSUER}|ann", Role.ANALYST, Fraction(1, 2))
    assert provider.caller(token(aud=["other", "discreet"])).subject == f"{ISSUER}|ann"
    custodian = provider.caller(token(realm_access={"roles": ["data-office"]}))
    assert (custodian.role, custodian.most_epsilon) == (Role.CUSTODIAN, None)
    assert provider.caller(token(realm_access={"roles": ["statistics", "research", 7]})).role is Role.ANALYST
    first, second = token(), token(sub="bob")
    assert provider.caller(first).token == provider.caller(first).token != provider.caller(second).token


def signed_with_the_public_key() -> str:
    """HMAC under what everybody knows, as if it were a secret."""
    signed = f"{part({'alg': 'HS256', 'kid': 'rsa'})}.{part(claims())}"
    return f"{signed}.{part(hmac.digest(RSA.as_pem(private=False), signed.encode(), 'sha256'))}"


def stolen_signature() -> str:
    """The claims of one token, the signature of another."""
    first, second = token().split("."), token(sub="eve").split(".")
    return ".".join((first[0], second[1], first[2]))


WRONG: dict[str, Callable[[], str]] = {
    "expired": lambda: token(exp=int(time.time()) - 61),
    "expires never": lambda: token(exp=None),
    "expires at infinity": lambda: token(exp=float("inf")),
    "expires at nan": lambda: token(exp=float("nan")),
    "expires as a text": lambda: token(exp=str(int(time.time()) + 600)),
    "expires as true": lambda: token(exp=True),
    "holds for years": lambda: token(exp=int(time.time()) + 10**8),
    "not yet": lambda: token(nbf=int(time.time()) + 3600),
    "made in the future": lambda: token(iat=int(time.time()) + 3600),
    "for somebody else": lambda: token(aud="other"),
    "for nobody": lambda: token(aud=None),
    "for part of us": lambda: token(aud="discreet-other"),
    "for a dictionary": lambda: token(aud={"discreet": 1}) + "x",
    "from somebody else": lambda: token(iss="https://login.example.org/realms/other"),
    "from a longer name": lambda: token(iss=f"{ISSUER}/"),
    "from nobody": lambda: token(iss=None),
    "about nobody": lambda: token(sub=None),
    "about nothing": lambda: token(sub=""),
    "about a number": lambda: token(sub=7),
    "about a line break": lambda: token(sub="ann\nbob"),
    "about a long name": lambda: token(sub="a" * 255),
    "unsigned": lambda: f"{part({'alg': 'none'})}.{part(claims())}.",
    "unsigned, with a signature": lambda: f"{part({'alg': 'none', 'kid': 'rsa'})}.{part(claims())}.{part(b'x')}",
    "unsigned in capitals": lambda: f"{part({'alg': 'NONE', 'kid': 'rsa'})}.{part(claims())}.{part(b'x')}",
    "with the public key as a secret": signed_with_the_public_key,
    "with a published secret": lambda: token(SECRET, "HS256"),
    "with an algorithm that isn't pinned": lambda: token(RSA, "PS256"),
    "with another's algorithm": lambda: token(RSA, "RS256", {"kid": "ec"}),
    "with several algorithms": lambda: f"{part({'alg': ['RS256'], 'kid': 'rsa'})}.{part(claims())}.{part(b'x')}",
    "by somebody else": lambda: token(OTHERS),
    "by a short key": lambda: token(SHORT),
    "by a key for encryption": lambda: token(RSAKey.import_key(ENCRYPTS.as_pem(private=True), {"kid": "encrypts"})),
    "by nobody known": lambda: token(header={"kid": "nope"}),
    "by a path": lambda: token(header={"kid": "../../../../dev/null"}),
    "by a statement": lambda: token(header={"kid": "' OR 1=1 --"}),
    "by a number": lambda: f"{part({'alg': 'RS256', 'kid': 7})}.{part(claims())}.{part(b'x')}",
    "by no name": lambda: token(header={"kid": None}),
    "with a key of its own": lambda: token(OTHERS, header={"jwk": OTHERS.as_dict(private=False)}),
    "with a place for keys": lambda: token(header={"jku": "https://evil.example.org/keys"}),
    "with a place for certificates": lambda: token(header={"x5u": "https://evil.example.org/chain"}),
    "with certificates": lambda: token(header={"x5c": ["MIIB"]}),
    "with what must be understood": lambda: f"{part({'alg': 'RS256', 'kid': 'rsa', 'crit': ['exp']})}.x.x",
    "of another type": lambda: token(header={"typ": "logout+jwt"}),
    "with a signature of others": stolen_signature,
    "huge": lambda: token(padding="x" * 10_000),
    "four parts": lambda: token() + ".x",
    "one part": lambda: "x",
    "nothing": lambda: "",
    "no JSON": lambda: f"{part(b'{')}.{part(b'{')}.{part(b'x')}",
    "a list": lambda: f"{part([])}.{part([])}.{part(b'x')}",
    "deep": lambda: f"{part(b'[' * 5000)}.x.x",
    "not ASCII": lambda: "ä.ä.ä",
    "one of ours": lambda: "dsc_" + "A" * 43,
}


@pytest.mark.parametrize("kind", WRONG)
def test_nobody_else_comes_in(provider: OpenID, kind: str) -> None:
    """All in the same words, which say nothing of why."""
    with pytest.raises(Unauthenticated) as refused:
        provider.caller(WRONG[kind]())
    assert str(refused.value) == str(Unauthenticated())
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "said",
    [
        None,
        {},
        {"roles": []},
        {"roles": ["users"]},
        {"roles": "Statistics"},
        {"roles": {"statistics": 1}},
        "statistics",
    ],
)
def test_no_role_is_none(provider: OpenID, said: object) -> None:
    """Whoever they are, they may do nothing."""
    with pytest.raises(Forbidden, match="no role"):
        provider.caller(token(realm_access=said))


def test_two_roles_are_none(provider: OpenID) -> None:
    """Nobody asks and decides with the same sign-in."""
    with pytest.raises(Forbidden, match="several roles"):
        provider.caller(token(realm_access={"roles": ["statistics", "data-office"]}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"RS256"', '"HS256"'),
        ('["RS256", "ES256", "Ed25519"]', '["none"]'),
        ('["RS256", "ES256", "Ed25519"]', "[]"),
        ('"keys.json"', '"http://login.example.org/keys"'),
        ('"keys.json"', '"file:///etc/passwd"'),
        ('"keys.json"', '"http://localhost.example.org/keys"'),
        ('"analyst"', '"king"'),
        ('"analyst"', "7"),
        ('issuer = "', 'issuers = "'),
        ('audience = "discreet"', ""),
        ('audience = "discreet"', "audience = 7"),
        ('"1/2"', '"-1"'),
        ("[roles]", "[role]"),
        ("[roles]", "["),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path: Path, old: str, new: str) -> None:
    """Before anything is served."""
    assert old in CONFIG
    (tmp_path / "openid.toml").write_text(CONFIG.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError):
        OpenID.read(tmp_path / "openid.toml")


@pytest.fixture
def published() -> Iterator[tuple[str, list[str], dict[str, bytes]]]:
    """A provider on this machine: its address, what was asked of it, and what it replies."""
    asked: list[str] = []
    replies: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            moved = self.path == "/moved"
            self.send_response(302 if moved else 200)
            if moved:
                self.send_header("Location", "/keys")
            self.end_headers()
            self.wfile.write(replies.get(self.path, b""))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked, replies
        server.shutdown()


def test_keys_are_fetched_seldom_and_followed_nowhere(
    provider: OpenID, published: tuple[str, list[str], dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made-up names cost the provider one request a minute; new keys are found then; old ones end with a day."""
    address, asked, replies = published
    replies["/keys"] = json.dumps({"keys": [RSA.as_dict(private=False)]}).encode()
    clock = [0.0]
    monkeypatch.setattr(openid, "monotonic", lambda: clock[0])

    def held(path: str) -> OpenID:
        return replace(provider, keys=openid.ProviderKeys.at(f"{address}{path}", Path()))

    def is_in(who: OpenID, text: str) -> bool:
        try:
            return bool(who.caller(text))
        except Unauthenticated:
            return False

    found = held("/keys")
    assert is_in(found, token())
    assert is_in(found, token(header={"kid": None}))  # there is one key only
    assert not any(is_in(found, token(header={"kid": f"made-up-{number}"})) for number in range(20))
    assert asked == ["/keys"]
    replies["/keys"] = json.dumps({"keys": [EC.as_dict(private=False)]}).encode()
    clock[0] = 61.0
    assert is_in(found, token(EC, "ES256"))
    assert not is_in(found, token())
    assert asked == ["/keys"] * 2
    replies["/keys"] = b"{"
    clock[0] = 61.0 + 80_000
    assert is_in(found, token(EC, "ES256"))  # the provider can't be reached for some hours
    clock[0] = 61.0 + 86_401
    assert not is_in(found, token(EC, "ES256"))
    for path, reply in (
        ("/moved", b""),
        ("/large", b" " * 300_000 + replies["/keys"]),
        ("/none", b"[]"),
        ("/html", b"<p>"),
    ):
        replies[path], before = reply, len(asked)
        assert not is_in(held(path), token())
        assert asked[before:] == [path]
    assert not is_in(replace(provider, keys=openid.ProviderKeys.at("nowhere.json", Path("/nowhere"))), token())


def test_people_come_in_over_http(provider: OpenID, tmp_path: Path) -> None:
    """With the same header as others, and their ceiling holds. Without a provider nobody does."""
    with served_in_threads(tmp_path) as running:
        ann = {"Authorization": f"Bearer {token()}"}
        client = TestClient(make_app(running.service))
        assert client.get("/v1/me", headers=ann).status_code == 401
        running.service.settings = replace(running.service.settings, openid=provider)
        assert client.get("/v1/me", headers=ann).json()["subject"] == f"{ISSUER}|ann"
        ours = {"Authorization": f"Bearer {running.tokens['bob']}"}
        assert client.get("/v1/me", headers=ours).json()["subject"] == "bob"
        assert client.post("/v1/plans", json={"question": COUNT, "epsilon": 1}, headers=ann).status_code == 200
        refused = client.post("/v1/answers", json={"question": COUNT, "epsilon": 1}, headers=ann)
        assert (refused.status_code, refused.json()["code"]) == (403, "above_ceiling")
        nobody = {"Authorization": f"Bearer {token(realm_access=None)}"}
        assert client.get("/v1/me", headers=nobody).status_code == 403
        with pytest.raises(DiscreetError):
            running.service.caller(token(OTHERS))
