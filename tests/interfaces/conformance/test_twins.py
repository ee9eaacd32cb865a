"""Two servers that differ by one person: told apart where they answer when they are done, and not where they wait."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from discreet.errors import InvalidArgument
from discreet.interfaces.conformance import Finding, Verdict, conform
from discreet.interfaces.conformance.disclosures import DRAWS, are_apart
from discreet.interfaces.conformance.wire import Wire
from discreet.interfaces.http import make_app
from discreet.stats import ks_critical
from support.attacked import CANARY, App, Edited, Exchange, attacked, listening

TOKEN = "dsc_" + "T" * 43
FAMILIES = ["bytes of twins", "times of twins"]


def small(work: float, release: float = 0.0, error: str = "no such column") -> FastAPI:
    """A server that answers any question; what it works on it takes so many seconds for.

    Args:
        work: seconds.
        release: seconds after which the answer leaves; 0 for when it is done.
        error: what a refusal says.
    """
    app, numbers = FastAPI(openapi_url=None), count()

    @app.get("/v1/{what}")
    async def told(what: str) -> Any:
        columns = [{"name": "k", "kind": "text", "keys": None, "bounds": None}]
        return {
            "me": {"subject": "ann", "role": "analyst"},
            "dataset": {"tables": [{"name": "t", "columns": columns}]},
            "budget": {"own": {"spent": {"epsilon": "0"}}},
        }.get(what, {"code": "http"})

    @app.post("/v1/{what}")
    async def asked(what: str, request: Request) -> Any:
        question = (await request.json()).get("question", "")
        if "nope" in question:
            return JSONResponse({"title": error}, 422)
        if what == "plans":
            return {"digest": question[-9:]}
        due = monotonic() + release
        await asyncio.sleep(work)
        await asyncio.sleep(max(0.0, due - monotonic()))
        return {"rows": [{"n": next(numbers)}]}

    return app


@contextmanager
def pair(first: App, second: App, tokens: list[str], families: list[str]) -> Iterator[list[Finding]]:
    """What families find of two servers."""
    with listening(first) as url, listening(second) as twin:
        yield list(conform(url, tokens, twin=twin, families=families).findings)


def test_servers_that_wait_are_not_told_apart() -> None:
    """One has three times the work, and both answer at the same time; false alarm at most 3e-9."""
    with pair(small(0.01, 0.05), small(0.03, 0.05), [TOKEN], FAMILIES) as (said, times):
        assert (said.verdict, said.evidence) == (Verdict.HELD, ())
        assert (times.verdict, times.evidence) == (Verdict.HELD, ())


def test_servers_that_answer_when_they_are_done_are_told_apart() -> None:
    """With a heavy person more, one takes longer: its times lie apart but for a few."""
    with pair(small(0.001), small(0.2), [TOKEN], ["times of twins"]) as (times,):
        assert times.verdict is Verdict.BROKEN
        assert times.evidence == ("answers of two servers are told apart by their times",)


def test_an_error_that_a_person_makes_longer_is_caught() -> None:
    """By the bytes of a refusal."""
    with pair(small(0), small(0, error="no such column, in 1,001 rows"), [TOKEN], ["bytes of twins"]) as (said,):
        assert said.verdict is Verdict.BROKEN


def test_the_test_of_times_finds_what_it_says() -> None:
    """Samples that don't overlap are apart at so many draws; a fifth of them astray is too much to tell."""
    assert 2 * ks_critical(DRAWS, 5e-10) < 1
    low, high = [float(n) for n in range(DRAWS)], [float(n + DRAWS) for n in range(DRAWS)]
    assert are_apart(low, high)
    assert not are_apart(low, low)
    assert not are_apart(low, [*low[: DRAWS // 5], *high[DRAWS // 5 :]])


@pytest.mark.soak
def test_real_servers_that_differ_by_a_person_are_not_told_apart(tmp_path: Path) -> None:
    """Neither by bytes nor by times, with the real thing on both sides; an error that quotes a row is."""
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    with attacked(tmp_path / "one", 1000) as (first, some), attacked(tmp_path / "other", 1001) as (second, more):
        tokens = [some["analyst"], more["analyst"]]
        with pair(make_app(first), make_app(second), tokens, FAMILIES) as (said, times):
            assert (said.verdict, said.evidence) == (Verdict.HELD, ())
            assert (times.verdict, times.evidence) == (Verdict.HELD, ())

        def quotes(exchange: Exchange) -> None:
            if exchange.status == 422:
                exchange.answer(422, {"title": f"could not convert {CANARY}-1000"})

        with pair(make_app(first), Edited(make_app(second), after=quotes), tokens, FAMILIES[:1]) as (said,):
            assert said.verdict is Verdict.BROKEN


@pytest.mark.parametrize("url", ["127.0.0.1:1", "http://", "http://h:0", "http://h:99999", "http://h/v1", "ftp://h"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    """In words."""
    with pytest.raises(InvalidArgument, match="address"):
        Wire(url, 1.0)
