"""Health: whether the server is there, and whether it takes questions; both are public."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from discreet.interfaces.http.callers import Serving
from discreet.interfaces.http.problems import described, problems

ROUTES = APIRouter(tags=["health"])


@ROUTES.get("/healthz", response_description="It is there.")
def healthz(service: Serving) -> dict[str, str]:
    """Whether the server is there: ok, or degraded where the ledger's witness isn't."""
    return {"status": "degraded" if service.sender.is_behind else "ok"}


@ROUTES.get("/readyz", response_description="It takes questions.", responses={503: problems(503)[503]})
def readyz(service: Serving) -> Response:
    """Whether the server takes questions: its processes are there, the ledger can be read, and it isn't stopping."""
    if not service.is_ready:
        return described(503, "not_ready", "the server takes no questions now", "ask again later")
    return JSONResponse({"status": "ready"})
