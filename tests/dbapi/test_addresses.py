"""Addresses and tokens: what a URL says, and that no text says the token."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

from discreet import dbapi
from discreet.dbapi.sqlalchemy_dialect import DiscreetDialect
from support.dialect import register

TOKEN = f"dsc_{'S' * 43}"


@pytest.mark.parametrize(
    ("url", "source", "token", "arguments"),
    [
        (f"discreet://:{TOKEN}@gate.example.org", "https://gate.example.org", TOKEN, {}),
        (f"discreet+https://ann:{TOKEN}@h:8443/gate", "https://h:8443/gate", TOKEN, {}),
        (f"discreet+http://:{TOKEN}@[::1]:8000", "http://[::1]:8000", TOKEN, {}),
        ("discreet://gate.example.org?token_file=~/t", "https://gate.example.org", Path("~/t"), {}),
        ("discreet:///data/discreet.toml?analyst=ann", "data/discreet.toml", None, {"analyst": "ann"}),
        ("discreet://", "discreet.toml", None, {}),
        (
            "discreet://h?epsilon=0.5&delta=1e-9&intervals=on&key=k&in_the_clear=off&patience=3&confidence=0.9",
            "https://h",
            None,
            {
                "epsilon": "0.5",
                "delta": "1e-9",
                "intervals": "on",
                "key": "k",
                "in_the_clear": False,
                "patience": 3.0,
                "settings": {"confidence": "0.9"},
            },
        ),
    ],
)
def test_a_url_says_whom_to_ask(url: str, source: str, token: object, arguments: dict[str, Any]) -> None:
    """The server or the file, the token and settings."""
    found = DiscreetDialect().create_connect_args(make_url(url))
    assert found == ([source, token], {"settings": {}} | arguments)


@pytest.mark.parametrize(
    "try_it",
    [
        lambda: sa.create_engine(f"discreet://{TOKEN}@gate.example.org"),
        lambda: sa.create_engine(f"discreet://:{TOKEN}@/discreet.toml").connect(),
        lambda: sa.create_engine(f"discreet+http://:{TOKEN}@gate.example.org").connect(),
        lambda: sa.create_engine(f"discreet://:{TOKEN}@h?epsilon=1&epsilon=2"),
        lambda: sa.create_engine(f"discreet://:{TOKEN}@h?in_the_clear=perhaps"),
        lambda: sa.create_engine(f"discreet://:{TOKEN}@h?colour=red").connect(),
        lambda: sa.create_engine(f"discreet+http://:{TOKEN}@127.0.0.1:9?patience=0").connect().connection.schema,
        lambda: dbapi.connect(f"discreet://:{TOKEN}@gate.example.org"),
        lambda: dbapi.connect(f"https://:{TOKEN}@gate.example.org"),
        lambda: dbapi.connect("http://gate.example.org", TOKEN),
        lambda: dbapi.connect("gate.example.org", TOKEN),
        lambda: dbapi.connect(TOKEN),
        lambda: dbapi.connect(f"gate.example.org:{TOKEN}"),
        lambda: sa.create_engine(f"discreet://:{TOKEN}@h?patience={TOKEN}").connect(),
        lambda: dbapi.connect("https://gate.example.org", f"{TOKEN} and more"),
        lambda: dbapi.connect("https://gate.example.org", TOKEN, analyst="ann"),
        lambda: dbapi.connect("http://127.0.0.1:9", TOKEN, patience=0).schema,
    ],
)
def test_no_refusal_says_the_token(try_it: Callable[[], object]) -> None:
    """Neither its words nor what they were made of, down to the first cause."""
    register()
    with pytest.raises(Exception) as caught:  # noqa: PT011 — of several kinds
        try_it()
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=False).format(chain=True))
    said, cause = [repr(caught.value), str(caught.value)], caught.value.__cause__
    while cause is not None:
        said, cause = [*said, repr(cause), str(cause)], cause.__cause__
    assert TOKEN not in "".join(said)
    assert TOKEN not in shown


def test_what_is_open_shows_no_token() -> None:
    """Engine, URL and connection."""
    register()
    engine = sa.create_engine(f"discreet://:{TOKEN}@gate.example.org?epsilon=0.5")
    connection = dbapi.connect("https://gate.example.org", TOKEN)
    shown = [str(engine), repr(engine), str(engine.url), repr(engine.url), repr(connection), repr(connection.tables)]
    shown += [repr(vars(connection)), repr(connection.cursor()), repr(vars(connection.cursor()))]
    assert TOKEN not in "".join(shown)
    with engine.connect() as found:
        assert TOKEN not in repr(found) + repr(found.connection) + repr(found.connection.dbapi_connection)
    engine.dispose()
