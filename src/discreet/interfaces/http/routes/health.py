"""Health: whether the server is there, and whether it takes questions; both are public."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from discreet.interfaces.http.callers import Serving
from discreet.interfaces.http.problems import described

ROUTES = APIRouter()


@ROUTES.get("/healthz")
def healthz() -> dict[str, str]:
    """Whether the server is there."""
    return {"status": "ok"}


@ROUTES.get("/readyz")
def readyz(service: Serving) -> Response:
    """Whether the server takes questions: its processes are there, the ledger can be read, and it isn't stopping."""
    if not service.is_ready:
        return described(503, "not_ready", "the server takes no questions now", "ask again later")
    return JSONResponse({"status": "ready"})
