"""Whoever has many calls open gets no more, and keeps nobody else out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from typing import Any

import pytest

from discreet.interfaces.http.middleware import calls
from discreet.interfaces.http.middleware.calls import LimitedCalls
from discreet.service import digest_of

SESSION, OTHER = "5" * 64, "6" * 64
TOKEN = digest_of("dsc_a")


class Holding:
    """An application whose replies wait until they are let go."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()

    async def __call__(self, _scope: Any, _receive: Any, send: Any) -> None:
        """Wait, and reply."""
        await self.let_go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})


async def status(app: LimitedCalls, *headers: tuple[str, str]) -> int:
    """The status of a reply to a call with these headers."""
    found: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        found.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError

    raw = [(name.encode(), value.encode()) for name, value in headers]
    await app({"type": "http", "headers": raw}, receive, send)
    return int(found[0]["status"])


def test_so_many_calls_of_one_caller_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """However their header is written, and with any cookies beside; others, and those who show nothing, come in."""
    monkeypatch.setattr(calls, "_MOST_CALLS", 2)

    async def tried() -> None:
        holding = Holding()
        app = LimitedCalls(holding, _nobodys)
        for one, same, other in (
            (("authorization", "Bearer a"), ("authorization", "bEARER  a"), ("authorization", "Bearer b")),
            (("cookie", f"s={SESSION}"), ("cookie", f"x=y; s={SESSION}; z=1"), ("cookie", f"s={OTHER}")),
        ):
            opened = [asyncio.create_task(status(app, one)) for _ in range(2)]
            await asyncio.sleep(0)
            assert await status(app, same) == 429
            opened += [asyncio.create_task(status(app, *each)) for each in ([other], [], [("cookie", "x=y")] * 3)]
            opened += [asyncio.create_task(status(app, ("cookie", "lang=en"))) for _ in range(5)]
            await asyncio.sleep(0)
            holding.let_go.set()
            assert set(await asyncio.gather(*opened)) == {200}
            assert await status(app, same) == 200
            holding.let_go.clear()
        assert not app._open

    asyncio.run(tried())


def _nobodys(_: str) -> None:
    """Whose a session is, where there is none."""


@pytest.mark.parametrize(("whose", "expected"), [({SESSION: TOKEN, OTHER: TOKEN}.get, 429), (_nobodys, 200)])
def test_all_sessions_of_a_token_are_one_caller(
    monkeypatch: pytest.MonkeyPatch, whose: Callable[[str], str | None], expected: int
) -> None:
    """Together with the token itself; where nobody knows whose they are, each has as many calls: the wrong twin."""
    monkeypatch.setattr(calls, "_MOST_CALLS", 2)
    shown = [("cookie", f"s={SESSION}"), ("cookie", f"s={OTHER}"), ("authorization", "Bearer dsc_a")]

    async def tried() -> None:
        holding = Holding()
        app = LimitedCalls(holding, whose)
        opened = [asyncio.create_task(status(app, each)) for each in shown[:2]]
        await asyncio.sleep(0)
        more = [asyncio.create_task(status(app, each)) for each in shown]
        await asyncio.sleep(0)
        holding.let_go.set()
        assert set(await asyncio.gather(*opened)) == {200}
        assert set(await asyncio.gather(*more)) == {expected}
        assert not app._open

    asyncio.run(tried())


def test_a_call_that_fails_is_open_no_more() -> None:
    """Whatever is raised."""

    async def failing(*_: object) -> None:
        raise RuntimeError

    async def tried() -> None:
        app = LimitedCalls(failing, _nobodys)
        with pytest.raises(RuntimeError):
            await status(app, ("authorization", "Bearer a"))
        assert not app._open

    asyncio.run(tried())
