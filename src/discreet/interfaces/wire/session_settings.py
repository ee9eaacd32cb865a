"""Session settings: what SET, the connection's options and comments say, of ours and of those that drivers send."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from discreet.errors import InvalidArgument, Unsupported
from discreet.interfaces.wire.statements import Statement, Token
from discreet.query.planner import typed_by_column
from discreet.suggestions import did_you_mean
from discreet.version import __version__

OFFERS = ("epsilon", "rho", "delta", "within", "confidence", "limits", "cut_off")
"""The terms that `discreet.…` settings say."""

PREFIX = "discreet."

_INTERVALS = "intervals"

_METADATA_PROBES = "metadata_probes"

_FLAGS = {_INTERVALS, _METADATA_PROBES, "cut_off"}

_OURS = (*OFFERS, _INTERVALS, _METADATA_PROBES)

_AMOUNT = re.compile(r"\d{1,30}(\.\d{0,30})?([eE][+-]?\d{1,2})?|\.\d{1,30}|\d{1,30}/\d{1,30}", re.ASCII)

_FORMS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "limits": re.compile(r"auto|\d{1,9}", re.ASCII),
        "within": re.compile(r"[\d.eE+%-]{1,40}|[^=,]{1,100}=[^=,]{1,40}(,[^=,]{1,100}=[^=,]{1,40}){0,20}"),
    }
)
"""The forms of values, which keep what is read here short; amounts have one in common."""

_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "epsilon": "0.5",
        "rho": "0.01",
        "delta": "'1e-6'",
        "within": "100, or 'n=100, mean=5%'",
        "confidence": "0.95",
        "limits": "auto, or 5",
    }
)
"""What each may be set to."""

DIALECT = "postgres"
"""The dialect in which questions are meant here."""

SERVER_VERSION = "15.0"
"""The version of PostgreSQL whose protocol, catalogue and words are spoken."""

VERSION = f"PostgreSQL {SERVER_VERSION} (discreet {__version__})"
"""What `version()` says."""

DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "application_name": "",
        "bytea_output": "hex",
        "client_encoding": "UTF8",
        "client_min_messages": "notice",
        "datestyle": "ISO, MDY",
        "default_transaction_isolation": "read committed",
        "default_transaction_read_only": "on",
        "extra_float_digits": "1",
        "geqo": "on",
        "idle_in_transaction_session_timeout": "0",
        "integer_datetimes": "on",
        "intervalstyle": "postgres",
        "is_superuser": "off",
        "jit": "off",
        "lc_collate": "C",
        "lc_ctype": "C",
        "lc_messages": "C",
        "lc_monetary": "C",
        "lc_numeric": "C",
        "lc_time": "C",
        "lock_timeout": "0",
        "max_identifier_length": "63",
        "max_index_keys": "32",
        "row_security": "on",
        "search_path": '"$user", public',
        "server_encoding": "UTF8",
        "server_version": SERVER_VERSION,
        "server_version_num": "150000",
        "session_authorization": "",
        "ssl_renegotiation_limit": "0",
        "standard_conforming_strings": "on",
        "statement_timeout": "0",
        "synchronize_seqscans": "on",
        "timezone": "UTC",
        "transaction_isolation": "read committed",
        "transaction_read_only": "on",
        "work_mem": "4MB",
    }
)
"""PostgreSQL's settings that are known; nothing follows from what they are set to."""

_FIXED = {
    "integer_datetimes", "is_superuser", "lc_collate", "lc_ctype", "max_identifier_length", "max_index_keys",
    "server_encoding", "server_version", "server_version_num", "session_authorization",
}  # fmt: skip
"""Settings that can't be set."""

_ONLY: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        # SQL_ASCII converts nothing; it is what psql says where a machine has no locale.
        "client_encoding": (r"(?i)utf-?8|unicode|sql_ascii", "UTF8"),
        "datestyle": (r"(?i)iso(\s*,\s*\w+)?|mdy|ymd|dmy", "ISO, MDY"),
        "standard_conforming_strings": (r"(?i)on|true|1|yes", "on"),
    }
)
"""Settings on which the form of results or questions depends: what is allowed, and what that is shown as."""

REPORTED: Mapping[str, str] = MappingProxyType(
    {
        "application_name": "application_name",
        "client_encoding": "client_encoding",
        "datestyle": "DateStyle",
        "default_transaction_read_only": "default_transaction_read_only",
        "integer_datetimes": "integer_datetimes",
        "intervalstyle": "IntervalStyle",
        "is_superuser": "is_superuser",
        "server_encoding": "server_encoding",
        "server_version": "server_version",
        "session_authorization": "session_authorization",
        "standard_conforming_strings": "standard_conforming_strings",
        "timezone": "TimeZone",
    }
)
"""Settings that clients are told of, by the names that they know."""

_LONGEST = 200

Kept: TypeAlias = tuple[Mapping[str, str], Mapping[str, str]]
"""What is set at one moment: for the session, and for the transaction."""


class SessionSettings:
    """The settings of one connection.

    Args:
        said: the parameters of its start-up message; what they say of settings is the default of the session.

    Raises:
        InvalidArgument: a setting can't have the value that it is given.
        Unsupported: there is no such setting.
    """

    def __init__(self, said: Mapping[str, str]) -> None:
        self._first: dict[str, str] = dict(DEFAULTS)
        for name, value in (*said.items(), *_options(said.get("options", ""))):
            if name not in _CONNECTION and not name.startswith("_pq_."):
                lowered = name.lower()
                self._put(self._first, lowered, _checked(lowered, value))
        self._first["session_authorization"] = said.get("user", "")
        self._now = dict(self._first)
        self._before: dict[str, str] | None = None
        self._local: dict[str, str] = {}

    # ── What is asked with ───────────────────────────────────────────────────────────────────────────────────────────

    def terms(self, hints: Mapping[str, str]) -> dict[str, Any]:
        """What is offered for a question: what its comments say goes before what was set.

        Raises:
            InvalidArgument: a comment says what can't be.
            Unsupported: there is no such setting.
        """
        said = {**self._now, **self._local}
        for name, value in hints.items():
            self._put(said, PREFIX + name, _checked(PREFIX + name, value))
        found = {name: _term(name, said[PREFIX + name]) for name in OFFERS if said.get(PREFIX + name)}
        return {**found, "dialect": DIALECT}

    def intervals(self, hints: Mapping[str, str]) -> bool:
        """Whether the ends of intervals are wanted, as columns beside each value.

        Raises:
            InvalidArgument: a comment says neither yes nor no.
        """
        return self._is_on(_INTERVALS, hints)

    def metadata_probes(self, hints: Mapping[str, str]) -> bool:
        """Whether MIN and MAX of a whole table are answered with declared bounds.

        Raises:
            InvalidArgument: a comment says neither yes nor no.
        """
        return self._is_on(_METADATA_PROBES, hints)

    @property
    def is_in_utc(self) -> bool:
        """Whether the session's times are in UTC."""
        return self.show("timezone").upper().removeprefix("ETC/") in {"UTC", "GMT", "Z", "0"}

    def _is_on(self, name: str, hints: Mapping[str, str]) -> bool:
        """Whether a flag is set, by a comment or else by the session."""
        said = hints.get(name, self.get(PREFIX + name) or "off")
        return _checked(PREFIX + name, said) == "on"

    # ── SET, SHOW, RESET ─────────────────────────────────────────────────────────────────────────────────────────────

    def get(self, name: str) -> str | None:
        """The value of a setting; None if there is no such setting, and empty where nothing was said of ours."""
        name = name.lower()
        found = self._local.get(name, self._now.get(name))
        ours = name.removeprefix(PREFIX) if name.startswith(PREFIX) else ""
        return found or ("off" if ours in _FLAGS else "") if ours in _OURS else found

    def show(self, name: str) -> str:
        """The value of a setting.

        Raises:
            Unsupported: there is no such setting.
        """
        if (found := self.get(name)) is None:
            raise _unknown(name)
        return found

    def all(self) -> list[tuple[str, str]]:
        """All settings, by name."""
        names = sorted({*self._now, *(PREFIX + each for each in _OURS)})
        return [(REPORTED.get(name, name), self.get(name) or "") for name in names]

    def set(self, name: str, value: str | None, *, local: bool = False) -> str:
        """Set one, or take it back where `value` is None; the name by which a client is told of it, or nothing.

        Args:
            name: of the setting.
            value: as it was written.
            local: whether for this transaction alone.

        Raises:
            InvalidArgument: it can't have that value.
            Unsupported: there is no such setting.
        """
        name = name.lower()
        said = self._first.get(name, "") if value is None else _checked(name, value)
        if value is None:
            _checked(name, None)
        self._put(self._local if local else self._now, name, said)
        if not local:
            for each in (name, _INSTEAD.get(name, name)):
                self._local.pop(each, None)
        return REPORTED.get(name, "")

    def reset_all(self) -> None:
        """Take all of them back to what the connection began with."""
        self._now, self._local = dict(self._first), {}

    def begin(self) -> None:
        """A transaction begins."""
        self._before = dict(self._now)

    def end(self, *, kept: bool) -> None:
        """It ends; what was set in it stays only if it was committed."""
        if self._before is not None and not kept:
            self._now = self._before
        self._before, self._local = None, {}

    def kept(self) -> Kept:
        """What is set now, to go back to."""
        return dict(self._now), dict(self._local)

    def go_back(self, kept: Kept) -> None:
        """Take back what was set since."""
        self._now, self._local = map(dict, kept)

    def _put(self, where: dict[str, str], name: str, value: str) -> None:
        """Note a value; an offer in ε takes the place of one in ρ, and the other way about."""
        where[name] = value
        other = _INSTEAD.get(name)
        if other is not None and value:
            where[other] = ""


_INSTEAD: Mapping[str, str] = MappingProxyType({PREFIX + "epsilon": PREFIX + "rho", PREFIX + "rho": PREFIX + "epsilon"})
"""Offers of which the later one takes the place of the other."""

_CONNECTION = {"user", "database", "options", "replication"}
"""What a start-up message says that isn't a setting."""


def _checked(name: str, value: str | None) -> str:
    """A value that a setting can have.

    Raises:
        InvalidArgument: it can't have it.
        Unsupported: there is no such setting.
    """
    if name in {PREFIX + each for each in _OURS}:
        return _ours(name.removeprefix(PREFIX), value or "")
    if name not in DEFAULTS:
        raise _unknown(name)
    if name in _FIXED:
        raise InvalidArgument(f"{name} can't be set")
    if value is None:
        return ""
    if len(value) > _LONGEST:
        raise InvalidArgument(f"a setting has at most {_LONGEST} characters")
    if name in _ONLY:
        allowed, shown = _ONLY[name]
        if not re.fullmatch(allowed, value.strip().strip("'\"")):
            raise InvalidArgument(f"{name} can only be {shown} here")
        return shown
    return value


def _ours(name: str, value: str) -> str:
    """A value of one of our own settings; empty for none.

    Raises:
        InvalidArgument: it isn't one.
    """
    value = value.strip()
    if name in _FLAGS:
        if value.lower() in {"on", "true", "yes", "1"}:
            return "on"
        if value.lower() in {"off", "false", "no", "0", ""}:
            return "off"
        raise InvalidArgument(f"{PREFIX}{name} is on or off")
    if value and not _FORMS.get(name, _AMOUNT).fullmatch(value):
        raise InvalidArgument(f"{PREFIX}{name} can't be {value[:40]!r}", hint=f"SET {PREFIX}{name} = {_EXAMPLES[name]}")
    return value


def _term(name: str, value: str) -> Any:  # noqa: ANN401 — JSON, as a term is sent
    """A term as it is sent; whether it is in range, the planner says."""
    if name == "within" and "=" in value:
        return typed_by_column(value.split(","))
    return value == "on" if name in _FLAGS else value


def _unknown(name: str) -> Unsupported:
    """The refusal of an unknown setting."""
    known = [*DEFAULTS, *(PREFIX + each for each in _OURS)]
    hint = did_you_mean(name, known) or f"there are {', '.join(PREFIX + each for each in _OURS)}"
    return Unsupported(f"there is no setting {name[:_LONGEST]!r}", hint=hint)


_OPTION = re.compile(r"\s*(?:-c\s*|--)([\w.-]+)=((?:\\.|[^\s\\])*)\s*", re.DOTALL)


def _options(said: str) -> Iterator[tuple[str, str]]:
    r"""Settings in a connection's options: `-c name=value` or `--name=value`; a backslash goes before a blank.

    Raises:
        InvalidArgument: they are anything else.

    Examples:
        >>> list(_options(r"-c discreet.epsilon=0.5 --search-path=a\ b"))
        [('discreet.epsilon', '0.5'), ('search_path', 'a b')]
    """
    at = 0
    while at < len(said.rstrip()):
        found = _OPTION.match(said, at)
        if found is None:
            raise InvalidArgument(
                "the connection's options can't be read", hint="each is -c, a name, an equals sign and a value"
            )
        yield found[1].replace("-", "_"), re.sub(r"\\(.)", r"\1", found[2])
        at = found.end()


def read_set(statement: Statement) -> tuple[str, str | None, bool] | None:
    """What a SET says: a setting, its value or None for its default, and whether for the transaction alone.

    Returns:
        None where it says something that has no meaning here, such as an isolation level.

    Raises:
        InvalidArgument: it can't be read.
    """
    rest = list(statement.tokens[1:])
    local = bool(rest) and rest[0].word == "LOCAL"
    if rest and rest[0].word in {"LOCAL", "SESSION"} and not _is(rest[1:2], "=", "TO"):
        rest = rest[1:]
    if not rest:
        raise _unreadable()
    if rest[0].word in {"TRANSACTION", "CHARACTERISTICS"}:
        return None
    if [each.word for each in rest[:2]] == ["TIME", "ZONE"]:
        return "timezone", _value(rest[2:]), local
    if rest[0].word in {"NAMES", "ROLE", "AUTHORIZATION"}:
        name = "client_encoding" if rest[0].word == "NAMES" else "role"
        if name == "role":
            raise InvalidArgument("who asks follows from the token", hint="connect with another token")
        return name, _value(rest[1:]), local
    end = next((at for at, each in enumerate(rest) if _is([each], "=", "TO")), None)
    if end is None:
        raise _unreadable()
    return "".join(each.text for each in rest[:end]).strip('"').lower(), _value(rest[end + 1 :]), local


def _is(tokens: list[Token], *said: str) -> bool:
    """Whether it is one of these."""
    return bool(tokens) and tokens[0].text.upper() in said


def _value(tokens: list[Token]) -> str | None:
    """The value that tokens say; None for the default."""
    if not tokens:
        raise _unreadable()
    if [each.word for each in tokens] in (["DEFAULT"], ["LOCAL"]):
        return None
    if len(tokens) == 1 and tokens[0].kind == "text" and tokens[0].text.startswith("'"):
        return tokens[0].text[1:-1].replace("''", "'")
    return "".join(each.text for each in tokens)


def _unreadable() -> InvalidArgument:
    """The refusal of a SET that isn't of its form."""
    return InvalidArgument("this SET can't be read", hint="SET discreet.epsilon = 0.5")
