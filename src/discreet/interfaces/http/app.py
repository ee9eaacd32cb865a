"""The API of a service: its routes, how large a body may be, and how errors are said."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from discreet.errors import DiscreetError
from discreet.interfaces.http.bodies import LimitedBodies
from discreet.interfaces.http.console import SafeHeaders, add_console, as_page
from discreet.interfaces.http.problems import described, problem
from discreet.interfaces.http.routes import ROUTERS
from discreet.service import Service
from discreet.version import __version__


def make_app(service: Service, *, secure: bool = False) -> FastAPI:
    """The API of a service, and its console.

    Guarantee: what a reply says, and when it leaves, is decided by the service. Every path but `/healthz`, the
    description of the API and the console's sign-in needs a token. What went wrong inside is unavailable, and no more
    is said of it.

    Args:
        service: that answers; whoever made it closes it.
        secure: whether browsers reach it by TLS, so that their sessions never travel without.
    """
    app = FastAPI(
        title="discreet",
        version=__version__,
        summary="Private answers from sensitive tables.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.state.service = service
    app.add_middleware(LimitedBodies)
    app.add_middleware(SafeHeaders)
    for routes in ROUTERS:
        app.include_router(routes)
    add_console(app, secure=secure)
    _add_errors(app)
    return app


def _add_errors(app: FastAPI) -> None:
    """Say what went wrong in one form, whatever it is, and no more than is the caller's affair."""

    @app.exception_handler(DiscreetError)
    def ours(request: Request, error: DiscreetError) -> Response:
        return as_page(request, problem(error))

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: RequestValidationError) -> Response:
        places = sorted({".".join(map(str, each["loc"][1:])) or "the body" for each in error.errors()})
        return described(422, "invalid_argument", f"the request isn't of the form that is documented: {places[0][:70]}")

    @app.exception_handler(HTTPException)
    def of_http(request: Request, error: HTTPException) -> Response:
        return as_page(request, described(error.status_code, "http", str(error.detail)))

    @app.exception_handler(Exception)
    def other(request: Request, _: Exception) -> Response:
        return as_page(request, described(500, "internal", "the service can't answer this", "tell the custodian"))
