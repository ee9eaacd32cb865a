"""Routes: each path hands a call to the service, in the name of the token's holder, and writes what it says.

A file holds one group of paths, and offers them as `ROUTES`.
"""

from discreet.interfaces.http.routes import account, admissions, health, questions, requests, tokens

ROUTERS = (
    health.ROUTES,
    account.ROUTES,
    questions.ROUTES,
    requests.ROUTES,
    tokens.ROUTES,
    admissions.ROUTES,
)
"""All paths of the API."""

__all__ = ["ROUTERS"]
