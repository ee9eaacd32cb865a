"""The API of a service: its routes, what stands before them, and its replies to errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount

from discreet.errors import DiscreetError, LedgerError
from discreet.interfaces.http.console import add_console, as_page
from discreet.interfaces.http.middleware.bodies import LimitedBodies
from discreet.interfaces.http.middleware.calls import LimitedCalls
from discreet.interfaces.http.middleware.observed import Observed
from discreet.interfaces.http.middleware.safe_headers import SafeHeaders
from discreet.interfaces.http.middleware.strict import Strict
from discreet.interfaces.http.problems import SCHEMA, Problem, problem_of
from discreet.interfaces.http.routes import ROUTERS
from discreet.service import Event, PublicError, Service
from discreet.version import __version__

_THREADS = 400
"""How many calls are served at once: those that wait to be planned, 8 of each analyst, mustn't keep others out."""

_PLACES = 100
"""Among how many wrong places in a body the first is sought; the sender decides how many there are."""


def make_app(service: Service, *, secure: bool = False, behind_proxy: bool = False) -> FastAPI:
    """The API of a service, and its console.

    Guarantee: what a reply says, and when it leaves, is decided by the service. Every path but `/healthz`, `/readyz`,
    `/v1/key`, the description of the API and the console's sign-in needs a token. What went wrong inside is
    unavailable, and no more is said.

    Args:
        service: that answers; the caller closes it.
        secure: whether browsers reach it by TLS, so that their sessions never travel without.
        behind_proxy: whether a proxy in front says whose requests these are, as the last in `X-Forwarded-For`.
    """
    app = FastAPI(
        title="discreet",
        version=__version__,
        summary="Private answers from sensitive tables.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        lifespan=_with_threads,
        description="Every path but `/healthz`, `/readyz`, `/v1/key` and this description needs a token.",
        redirect_slashes=False,  # a redirect would name the host that the request names
    )
    _describe(app)
    app.state.service = service
    app.add_middleware(LimitedBodies)
    whose = lambda name: service.sessions.whose(name)  # noqa: E731, PLW0108 — to be described, it has no service
    app.add_middleware(LimitedCalls, whose=whose)
    app.add_middleware(Strict)
    app.add_middleware(Observed, service=service, behind_proxy=behind_proxy)
    app.add_middleware(SafeHeaders, secure=secure)
    for routes in ROUTERS:
        app.include_router(routes)
    add_console(app, secure=secure)
    _add_errors(app)
    return app


@asynccontextmanager
async def _with_threads(_: FastAPI) -> AsyncIterator[None]:
    """Allow more threads than there are by default; they cost little while they wait."""
    current_default_thread_limiter().total_tokens = _THREADS
    yield


def _describe(app: FastAPI) -> None:
    """Add to what the routes declare what a problem looks like; of each path this says once what it may reply."""
    described_by_routes = app.openapi

    def whole() -> dict[str, Any]:
        found = described_by_routes()
        found["components"]["schemas"]["Problem"] = dict(SCHEMA)
        return found

    app.openapi = whole  # type: ignore[method-assign]  # as FastAPI has it


def _add_errors(app: FastAPI) -> None:
    """Say what went wrong in one form, whatever it is, and no more than is the caller's affair."""

    @app.exception_handler(DiscreetError)
    def ours(request: Request, error: DiscreetError) -> Response:
        if isinstance(error, LedgerError):
            request.app.state.service.metrics.count("discreet_ledger_errors")
        return as_page(request, problem_of(PublicError.of(error)))

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: RequestValidationError) -> Response:
        found = error.errors()[:_PLACES]
        places = sorted({".".join(map(str, each["loc"][1:])) or "the body" for each in found})
        title = f"the request isn't of the form that is documented: {places[0][:70]}"
        return Problem("invalid_argument", title, status=422).reply()

    @app.exception_handler(HTTPException)
    def of_http(request: Request, error: HTTPException) -> Response:
        reply = as_page(request, Problem("http", str(error.detail), status=error.status_code))
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            reply.headers["Allow"] = ", ".join(_allowed(request))
        return reply

    @app.exception_handler(Exception)
    def other(request: Request, __: Exception) -> Response:
        request.app.state.service.log.write(Event.DEFECT)
        return as_page(request, Problem("internal", "the service can't answer this", "tell the custodian", status=500))


_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")


def _allowed(request: Request) -> list[str]:
    """The methods that a path takes (RFC 9110, section 15.5.6)."""
    routes = request.app.routes
    if any(isinstance(each, Mount) and request.url.path.startswith(f"{each.path}/") for each in routes):
        return ["GET", "HEAD"]  # of files, whose mount takes all, and says no itself
    scopes = {method: {**request.scope, "method": method} for method in _METHODS}
    return [name for name, scope in scopes.items() if any(each.matches(scope)[0] is Match.FULL for each in routes)]
