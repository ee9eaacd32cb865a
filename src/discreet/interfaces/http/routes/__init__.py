"""The paths of the API: each hands a call to the service, in the name of the token's holder, and writes its answer."""

from discreet.interfaces.http.routes.account import ACCOUNT
from discreet.interfaces.http.routes.admissions import ADMISSIONS
from discreet.interfaces.http.routes.health import HEALTH
from discreet.interfaces.http.routes.questions import QUESTIONS
from discreet.interfaces.http.routes.requests import REQUESTS
from discreet.interfaces.http.routes.tokens import TOKENS

__all__ = ["ROUTERS"]

ROUTERS = (HEALTH, ACCOUNT, QUESTIONS, REQUESTS, TOKENS, ADMISSIONS)
"""All paths, in the order in which the API's description has them."""
