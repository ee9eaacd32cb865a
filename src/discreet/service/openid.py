"""Sign-in by OpenID Connect: people show a token that their organisation's provider signed, in place of one of ours.

Only what the configuration pins is believed: the issuer, the audience, the algorithms and where the keys are. A token's
own header chooses among these by `alg` and `kid`, and nothing else: keys that it brings or points to are refused.
"""

from __future__ import annotations

import re
import tomllib
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from hashlib import sha256
from math import isfinite
from pathlib import Path
from threading import Lock, Semaphore
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.request import build_opener

from discreet.errors import ConfigError, Forbidden, InvalidArgument, ProviderBusy, Unauthenticated
from discreet.exact.rational import positive
from discreet.service.roles import Role, role_of
from discreet.service.sign_in import MOST_ASKING, NoRedirects, SignIn, checked_address, one_of
from discreet.service.tokens import Caller
from discreet.strict_json import strict_json

if TYPE_CHECKING:
    from joserfc.jwk import Key, KeySet

ALGORITHMS = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519"})
"""The algorithms that may be pinned: signatures by a private key, so neither `none` nor HMAC."""

_MOST_CHARACTERS = 8192
_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", re.ASCII)
_SUBJECT = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)
_TYPES = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
_BROUGHT = frozenset({"crit", "b64", "jwk", "jku", "x5u", "x5c", "enc", "zip"})
"""Fields of a header that are refused: keys that a token brings along or points to, and extensions, none of which is
known here.
"""

_SKEW = 60.0
"""How many seconds the provider's clock may differ from ours."""

_LONGEST = 86_400.0
"""How many seconds a token may be valid: the provider can't revoke it here."""

_FRESH, _AGAIN, _STALE = 600.0, 60.0, 86_400.0
"""Seconds after which keys are fetched again; after which an unknown key may have them fetched; and after which they
are dropped if they can't be fetched.
"""

_MOST_BYTES = 262_144
_TIMEOUT = 5.0
_FEWEST_BITS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenID:
    """A provider of identities, and what it is believed; `read` makes it from a file.

    Guarantee: a caller who isn't refused showed a token for this audience that is valid now, signed by a key of the
    provider's with a pinned algorithm. Its `iss|sub` is the analyst's name in the ledger.

    Args:
        issuer: as tokens must say it in `iss`.
        audience: what tokens must be for, in `aud`.
        algorithms: that signatures may have.
        keys: the provider's public keys.
        claim: where a token says what its holder is, name by name from the outside inwards.
        roles: the role that each value of the claim gives.
        most_epsilon: the ceiling on what one question of an analyst may cost in ε; None for none.
        sign_in: how people are sent to the provider to sign in; None if they aren't.
    """

    issuer: str
    audience: str
    algorithms: frozenset[str]
    keys: ProviderKeys
    claim: tuple[str, ...]
    roles: Mapping[str, Role]
    most_epsilon: Fraction | None = None
    sign_in: SignIn | None = None

    @classmethod
    def read(cls, path: Path) -> OpenID:
        """Read the configuration of a provider.

        Raises:
            ConfigError: the file can't be read, or says something else than it should.
        """
        try:
            said = tomllib.loads(path.read_text(encoding="utf-8"))
            return cls._read(said, path.absolute().parent)
        except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"the file {str(path)!r} can't be read: {error}") from None
        except InvalidArgument as error:
            raise ConfigError(f"the file {str(path)!r}: {error.message}", hint=error.hint) from None
        except (AttributeError, KeyError, TypeError) as error:
            raise ConfigError(
                f"the file {str(path)!r} has a key that is missing, unknown or of the wrong type: {error}",
                hint="it takes issuer, audience, algorithms, keys, claim and [roles]; most_epsilon and [sign_in] are "
                "optional",
            ) from None

    @classmethod
    def _read(cls, said: dict[str, Any], folder: Path) -> OpenID:
        """Read what was declared; what is wrong with it is some built-in error."""
        claim, algorithms = said.pop("claim"), frozenset(said.pop("algorithms"))
        if not algorithms or not algorithms <= ALGORITHMS:
            raise InvalidArgument(
                f"tokens can't be signed with {', '.join(sorted(algorithms - ALGORITHMS)) or 'nothing'}",
                hint=f"of {', '.join(sorted(ALGORITHMS))}, those that the provider uses",
            )
        ceiling, sign_in = said.pop("most_epsilon", None), said.pop("sign_in", None)
        return cls(
            issuer=_text(said.pop("issuer")),
            audience=_text(said.pop("audience")),
            algorithms=algorithms,
            keys=ProviderKeys.at(_text(said.pop("keys")), folder),
            claim=tuple(map(_text, [claim] if isinstance(claim, str) else claim)),
            roles={value: role_of(_text(name)) for value, name in said.pop("roles").items()},
            most_epsilon=None if ceiling is None else positive(ceiling, "most_epsilon"),
            sign_in=None if sign_in is None else SignIn.read(sign_in, folder),
            **said,  # nothing, unless a key is unknown
        )

    def caller(self, text: str) -> Caller:
        """The caller who shows this token.

        Raises:
            Unauthenticated: it isn't one of the provider's for us, or holds no more. It isn't said which.
            Forbidden: it is, and gives no role here, or several.
        """
        claims, expires = self._verified(text, {"aud": self.audience})
        return self._caller(claims, text, expires)

    def signed_in(self, name: str, said: Mapping[str, str]) -> Caller:
        """The caller who comes back from the provider, where `sign_in` sent them.

        Args:
            name: what their browser was given to keep.
            said: what the address says, to which the provider sent it.

        Raises:
            Unauthenticated, Forbidden: as for `caller`; also where it wasn't sent there, or has come back before.
        """
        if self.sign_in is None:
            raise Unauthenticated
        text, nonce = self.sign_in.finish(self.issuer, name, said)
        claims, _ = self._verified(text, {"aud": self.sign_in.client_id, "nonce": nonce})
        if claims.get("azp", self.sign_in.client_id) != self.sign_in.client_id:
            raise Unauthenticated
        return self._caller(claims, text, datetime.now(UTC) + timedelta(hours=self.sign_in.hours))

    def _verified(self, text: str, expected: Mapping[str, str]) -> tuple[Mapping[str, Any], datetime]:
        """The claims of a token and its expiry; raises `Unauthenticated` if it can't be trusted."""
        from joserfc.errors import JoseError

        try:
            claims = self._claims(text)
            return claims, datetime.fromtimestamp(self._checked(claims, expected), UTC)
        except (
            JoseError,
            ArithmeticError,
            AttributeError,
            LookupError,
            OSError,
            RecursionError,
            TypeError,
            ValueError,
        ):
            raise Unauthenticated from None

    def _caller(self, claims: Mapping[str, Any], text: str, expires: datetime) -> Caller:
        """The caller that a token describes."""
        name = claims.get("sub")
        subject = f"{self.issuer}|{name}"
        if not isinstance(name, str) or not name or not _SUBJECT.fullmatch(subject):
            raise Unauthenticated
        role = self._role(claims)
        return Caller(
            token=f"openid-{sha256(text.encode()).hexdigest()[:12]}",
            subject=subject,
            role=role,
            most_epsilon=self.most_epsilon if role is Role.ANALYST else None,
            expires=expires,
        )

    def _claims(self, text: str) -> Mapping[str, Any]:
        """The claims of a token whose signature holds; otherwise raises some built-in error or one of the library's."""
        from joserfc import jwt

        if len(text) > _MOST_CHARACTERS or not _TOKEN.fullmatch(text):
            raise ValueError
        first = text.partition(".")[0]
        header = strict_json(_decoded(first))
        kind = _text(header.get("typ", ""))
        if header["alg"] not in self.algorithms or header.keys() & _BROUGHT or kind.lower() not in _TYPES:
            raise ValueError
        key = self.keys.find(header.get("kid"))
        if key.get("alg") not in {None, header["alg"]} or key.get("use") not in {None, "sig"}:
            raise ValueError
        jwt.decode(text, key, algorithms=[header["alg"]])  # what the signature is worth; what it says is read strictly
        claims: Mapping[str, Any] = strict_json(_decoded(text.split(".")[1]))
        return claims

    def _checked(self, claims: Mapping[str, Any], expected: Mapping[str, str]) -> float:
        """The expiry of a token that is as expected and valid now; otherwise raises some built-in error."""
        audience, now = claims["aud"], datetime.now(UTC).timestamp()
        audiences = [_text(each) for each in (audience if isinstance(audience, list) else [audience])]
        said = {**claims, "aud": expected["aud"] if expected["aud"] in audiences else None}
        if claims["iss"] != self.issuer or any(said[name] != value for name, value in expected.items()):
            raise ValueError
        expires = _moment(claims["exp"])
        if not now - _SKEW < expires < now + _LONGEST + _SKEW:
            raise ValueError
        if any(_moment(claims[name]) > now + _SKEW for name in ("nbf", "iat") if name in claims):
            raise ValueError
        return expires

    def _role(self, claims: Mapping[str, Any]) -> Role:
        """The one role that a token gives.

        Raises:
            Forbidden: it gives none, or several.
        """
        said: Any = claims
        for name in self.claim:
            said = said.get(name) if isinstance(said, Mapping) else None
        values = [said] if isinstance(said, str) else said if isinstance(said, list) else []
        found = {self.roles[value] for value in values if isinstance(value, str) and value in self.roles}
        if len(found) != 1:
            raise Forbidden(
                "this sign-in gives several roles, and the one who asks can't be the one who decides"
                if found
                else "this sign-in gives no role on this server",
                hint="ask the custodian which group gives one",
            )
        return found.pop()


@dataclass(slots=True, eq=False)
class ProviderKeys:
    """The public keys of a provider, as a JSON Web Key Set in a file or at an address.

    Those at an address are kept for ten minutes. A key that isn't known has them fetched again, once a minute at the
    most, so that made-up names can't have the provider asked for each.

    Args:
        location: the path of a file, or a URL.
    """

    location: str
    _known: KeySet | None = None
    _read: float = -_STALE
    _tried: float = -_STALE
    _lock: Lock = field(default_factory=Lock)
    _asking: Semaphore = field(default_factory=partial(Semaphore, MOST_ASKING))

    @classmethod
    def at(cls, location: str, folder: Path) -> ProviderKeys:
        """Keys in a file, whose path starts at a folder, or at a URL.

        Raises:
            InvalidArgument: the address isn't encrypted, and not of this machine.
        """
        if "://" not in location:
            return cls(str(folder / location))
        return cls(checked_address(location))

    def find(self, name: object) -> Key:
        """The key of this name; the only one, if there is one and no name.

        Raises:
            LookupError: there is none, or they can't be had.
            ProviderBusy: too many wait for them to be fetched already.
        """
        found = self._found(name) if monotonic() - self._read < _FRESH else None
        if found is None and self._is_due():
            try:
                with one_of(self._asking), self._lock:
                    if self._is_due():  # nobody has fetched them meanwhile
                        self._fetch()
            except ProviderBusy:
                if self._found(name) is None:
                    raise
        if found is None and monotonic() - self._read < _STALE:
            found = self._found(name)
        if found is None:
            raise LookupError
        return found

    def _is_due(self) -> bool:
        """Whether they may be fetched again."""
        return monotonic() - self._tried >= _AGAIN

    def _found(self, name: object) -> Key | None:
        """The key of this name among those that are known."""
        keys = [] if self._known is None else self._known.keys
        fitting = keys if name is None else [key for key in keys if key.kid is not None and key.kid == name]
        return fitting[0] if len(fitting) == 1 else None

    def _fetch(self) -> None:
        """Read the keys; what can't be read leaves those that are known, until they're stale."""
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        try:
            listed = strict_json(self._content())["keys"]
            known = [KeySet.import_key_set({"keys": [each]}).keys[0] for each in listed if _is_public(each)]
            self._known, self._read = KeySet(known), monotonic()
        except (JoseError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError):
            pass
        self._tried = monotonic()  # in the end: who comes meanwhile waits, or hears that too many do

    def _content(self) -> bytes:
        """The content of the file or address, if it isn't too long."""
        if "://" not in self.location:
            with Path(self.location).open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        else:
            with build_opener(NoRedirects).open(self.location, timeout=_TIMEOUT) as reply:
                content = reply.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError
        return content


def _is_public(key: Mapping[str, Any]) -> bool:
    """Whether a key can check signatures, and nobody can make some with it; short RSA keys are left out."""
    if key["kty"] == "RSA":
        return len(_text(key["n"])) * 6 >= _FEWEST_BITS
    return key["kty"] in {"EC", "OKP"}


def _moment(said: object) -> float:
    """A point in time, in seconds."""
    if isinstance(said, bool) or not isinstance(said, int | float) or not isfinite(said):
        raise ValueError
    return float(said)


def _decoded(part: str) -> bytes:
    """A part of a token."""
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _text(said: object) -> str:
    """A text that isn't anything else."""
    if not isinstance(said, str):
        raise TypeError("a string was expected")
    return said
