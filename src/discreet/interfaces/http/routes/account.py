"""The account: what may be asked about, what was spent, what was asked, and whether it holds."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from fastapi.responses import JSONResponse
from pydantic import BeforeValidator

from discreet.interfaces.http.problems import Problem, problems
from discreet.interfaces.http.requests import (
    Serving,
    Who,
)
from discreet.service import entry_to_json

_BUDGET = (
    "`budget`, `spent`, `remaining`. For an analyst also their `own`: `spent`, in all, and `this_month`, `remaining`, "
    "and when their share `renews`, or null. `failures`: how many questions have `failed` since the custodian last "
    "looked, how many are `allowed` to, and how many are `pending`. `damaged`: whether the ledger is known to be "
    "damaged; `own` is left out then."
)

ACCOUNT = APIRouter(tags=["account"])

_WHOLE = re.compile("[1-9][0-9]{0,15}", re.ASCII)


def _whole(said: object) -> int:
    """A number as the history writes it, and not as `+1`, `1.0` or `1_0`.

    Raises:
        ValueError: it isn't.
    """
    if not isinstance(said, str) or not _WHOLE.fullmatch(said):
        raise ValueError("a whole number from 1")
    return int(said)


@ACCOUNT.get(
    "/v1/dataset", responses=problems(), response_description="Tables, columns, kinds, units, bounds, keys and limits."
)
def dataset(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What may be asked about."""
    return service.dataset(who)


@ACCOUNT.get("/v1/budget", responses=problems(), response_description=_BUDGET)
def budget(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """What was spent, and what is left."""
    return service.budget(who)


@ACCOUNT.get("/v1/history", responses=problems(), response_description="A list of entries, oldest first.")
def history(service: Serving, who: Who) -> list[dict[str, Any]]:
    """The history: an analyst's own questions; for custodians and auditors, all entries."""
    return [entry_to_json(entry) for entry in service.history(who)]


@ACCOUNT.get(
    "/v1/history/{entry}/certificate",
    responses=problems(404, 422),
    response_description="The entry, its `certificate`, its `problems`, which should be empty, and a `signature`.",
)
def certificate(
    entry: Annotated[int, BeforeValidator(_whole), Path(ge=1, le=2**53)], service: Serving, who: Who
) -> Response:
    """The signed certificate of a question that was paid for, no matter who asked it; without the answer."""
    found = service.certificate(who, entry)
    return (
        Problem("not_found", "there is no such entry", status=404).reply()
        if found is None
        else JSONResponse(dict(found))
    )


@ACCOUNT.get(
    "/v1/verification",
    responses=problems(),
    response_description="`entries`, `head` and `problems`, which should be empty.",
)
def verification(service: Serving, who: Who) -> dict[str, Any]:
    """Whether the ledger holds: its hash chain, and every loss in it."""
    found = service.verify(who)
    return {"entries": found.entries, "head": found.head, "problems": [str(each) for each in found.problems]}


@ACCOUNT.get("/v1/key", responses=problems(token=False), response_description="`algorithm`, `key` in base64, and `id`.")
def key(service: Serving) -> dict[str, str]:
    """The public key that verifies signatures of answers and heads. It needs no token."""
    return service.key.to_json()


@ACCOUNT.get("/v1/head", responses=problems(), response_description="The head, with its `signature`.")
def head(service: Serving, who: Who) -> Any:  # noqa: ANN401 — JSON
    """The ledger's head, signed: how many entries there are, the hash of the last, and what was spent."""
    return service.head(who)
