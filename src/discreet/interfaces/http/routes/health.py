"""Health: whether the server is there, whether it takes questions, and its metrics."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from discreet.interfaces.http.problems import Problem, problems
from discreet.interfaces.http.requests import Serving, Who

HEALTH = APIRouter(tags=["health"])


@HEALTH.get("/healthz", response_description="It is up.")
def healthz(service: Serving) -> dict[str, str]:
    """Whether the server is up: ok, or degraded while heads can't be sent to the ledger's witness."""
    return {"status": "degraded" if service.sender.is_behind else "ok"}


@HEALTH.get("/readyz", response_description="It takes questions.", responses=problems(token=False))
def readyz(service: Serving) -> Response:
    """Whether the server takes questions: its processes run, the ledger can be read, and it isn't stopping."""
    if not service.is_ready:
        return Problem("not_ready", "the server takes no questions now", "ask again later", status=503).reply()
    return JSONResponse({"status": "ready"})


@HEALTH.get(
    "/v1/metrics",
    responses={**problems(), 200: {"content": {"text/plain": {}}, "description": "Text, in Prometheus's format."}},
    response_class=Response,
)
def metrics(service: Serving, who: Who) -> Response:
    """The metrics that the operator's port shows, for an operator's token."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return Response(generate_latest(service.health(who).registry()), media_type=CONTENT_TYPE_LATEST)
