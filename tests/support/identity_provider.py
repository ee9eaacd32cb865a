"""A provider of OpenID Connect on this machine: it signs in whoever comes, and is as careless as it is told to be."""

from __future__ import annotations

import json
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey
from joserfc.jws import JWSRegistry

from discreet.service import OpenID

CLIENT, SECRET = "discreet-console", "a secret: of+its own"
KEY = ECKey.generate_key("P-256", {"kid": "ec", "alg": "ES256", "use": "sig"})
OTHERS = ECKey.generate_key("P-256", {"kid": "ec", "alg": "ES256", "use": "sig"})


@dataclass
class Provider:
    """What the provider does; tests change it.

    Args:
        address: where it is.
        said: what ID tokens say otherwise than they should; None leaves a claim out.
        checks_verifier: whether a code belongs to the verifier of who asked for it.
        once: whether a code is good once.
        key: that signs.
        reply: of the token endpoint, in place of a good one: status and body.
        who: is signed in.
        twice: which part of ID tokens says something twice: "claims" or "header"; empty for neither.
        codes: that were given, with what was asked.
        exchanged: codes that somebody came with.
    """

    address: str
    said: dict[str, Any] = field(default_factory=dict)
    checks_verifier: bool = True
    once: bool = True
    key: Any = field(default_factory=lambda: KEY)
    reply: tuple[int, bytes] | None = None
    who: str = "ann"
    twice: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    exchanged: list[str] = field(default_factory=list)

    def configured(self, folder: Path, address: str) -> OpenID:
        """How a server at an address is told of it."""
        folder.mkdir(exist_ok=True)
        secret = folder / "client.secret"
        secret.touch(0o600)
        secret.write_text(f"{SECRET}\n", encoding="utf-8")
        (folder / "openid.toml").write_text(self.config(address), encoding="utf-8")
        return OpenID.read(folder / "openid.toml")

    def config(self, address: str) -> str:
        """The same as it is written."""
        return f"""
issuer = "{self.address}"
audience = "discreet-api"
algorithms = ["ES256"]
keys = "{self.address}/keys"
claim = "roles"
most_epsilon = "1/2"

[roles]
statistics = "analyst"
data-office = "custodian"

[sign_in]
client_id = "{CLIENT}"
client_secret = "client.secret"
authorize = "{self.address}/authorize"
token = "{self.address}/token"
address = "{address}"
name = "the agency <b>"
"""

    def authorize(self, asked: dict[str, str]) -> str:
        """Sign somebody in, and say where they go back to."""
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = {**asked, "who": self.who}
        back = {"code": code, "state": asked["state"], "iss": self.address}
        return f"{asked['redirect_uri']}?{urlencode(back)}"

    def exchange(self, sent: dict[str, str], authorization: str) -> tuple[int, bytes]:
        """An ID token for a code, or why there is none."""
        self.exchanged.append(sent.get("code", ""))
        if self.reply is not None:
            return self.reply
        asked = self.codes.get(sent["code"])
        whose = b64encode(urlencode({CLIENT: SECRET}).replace("=", ":", 1).encode()).decode()
        challenge = urlsafe_b64encode(sha256(sent["code_verifier"].encode()).digest()).decode().rstrip("=")
        good = (
            asked is not None
            and authorization == f"Basic {whose}"
            and sent["grant_type"] == "authorization_code"
            and sent["redirect_uri"] == asked["redirect_uri"]
            and (challenge == asked["code_challenge"] or not self.checks_verifier)
        )
        if asked is None or not good:
            return 400, b'{"error": "invalid_grant"}'
        if self.once:
            del self.codes[sent["code"]]
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT,
            "sub": asked["who"],
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "roles": ["statistics"],
        }
        said = {name: value for name, value in (claims | self.said).items() if value is not None}
        token = (
            self._doubled(said) if self.twice else jwt.encode({"alg": "ES256", "kid": "ec"}, said, self.key, ["ES256"])
        )
        return 200, json.dumps({"id_token": token, "access_token": "x", "token_type": "Bearer"}).encode()

    def _doubled(self, said: dict[str, Any]) -> str:
        """An ID token, rightly signed, of which one part says something twice, the second time as it should be."""
        first = {"header": '"kid": "other", ', "claims": '"sub": "eve", '}[self.twice]
        parts = {"header": json.dumps({"alg": "ES256", "kid": "ec"}), "claims": json.dumps(said)}
        parts[self.twice] = f"{{{first}{parts[self.twice][1:]}"
        signed = ".".join(urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts.values())
        signature = JWSRegistry.algorithms["ES256"].sign(signed.encode(), self.key)
        return f"{signed}.{urlsafe_b64encode(signature).decode().rstrip('=')}"


@contextmanager
def provider_at_port() -> Iterator[Provider]:
    """A provider on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = urlsplit(self.path)
            if place.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", found.authorize(dict(parse_qsl(place.query))))
                self.end_headers()
                return
            self._replied(200, json.dumps({"keys": [KEY.as_dict(private=False)]}).encode())

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._replied(*found.exchange(dict(parse_qsl(sent)), self.headers.get("Authorization", "")))

        def _replied(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Location", "/token")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Provider(f"http://localhost:{server.server_port}")
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield found
        server.shutdown()
