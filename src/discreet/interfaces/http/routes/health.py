"""Health: whether the server is there."""

from __future__ import annotations

from fastapi import APIRouter

ROUTES = APIRouter()


@ROUTES.get("/healthz")
def healthz() -> dict[str, str]:
    """Whether the server is there."""
    return {"status": "ok"}
