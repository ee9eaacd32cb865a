"""Routes: each path hands a call to the service, in the name of the token's holder, and writes what it says."""

from discreet.interfaces.http.routes.account import ACCOUNT, ADMISSIONS, HEALTH, TOKENS
from discreet.interfaces.http.routes.questions import QUESTIONS, REQUESTS

ROUTERS = (HEALTH, ACCOUNT, QUESTIONS, REQUESTS, TOKENS, ADMISSIONS)
"""All paths of the API."""

__all__ = ["ROUTERS"]
