"""A server that misbehaves, and somebody who asks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import discreet as dp
from discreet.interfaces.client import Remote, connection
from support.broken_server import KEY, TOKEN, Broken, broken_server


@pytest.fixture(scope="module")
def serving() -> Iterator[Broken]:
    """One server for all tests."""
    with broken_server() as found:
        yield found


@pytest.fixture
def broken(serving: Broken, monkeypatch: pytest.MonkeyPatch) -> Broken:
    """The same; nobody sleeps for long."""
    monkeypatch.setattr(connection, "_FIRST_PAUSE", 0.01)
    serving.key = KEY.to_json()
    return serving


@pytest.fixture
def ann(broken: Broken) -> Iterator[Remote]:
    """The tables, for an analyst who waits for a busy machine, but not for 30 seconds if told to."""
    with dp.connect(broken.address, TOKEN, patience=25) as tables:
        yield tables


@pytest.fixture
def hasty(broken: Broken) -> Iterator[Remote]:
    """The tables, for an analyst with little patience."""
    with dp.connect(broken.address, TOKEN, patience=1) as tables:
        yield tables
