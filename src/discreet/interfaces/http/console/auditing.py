"""Auditing: whether the ledger holds, for those who may ask."""

from __future__ import annotations

import json

from fastapi import APIRouter, Response

from discreet.interfaces.http.console.pages import page
from discreet.interfaces.http.console.visits import Filled, Visiting
from discreet.service import Action, check_allowed

ROUTES = APIRouter()


@ROUTES.get("/verification")
def verification(visit: Visiting) -> Response:
    """What a verification does, and a button to begin one: it reads the whole ledger."""
    check_allowed(visit.caller.role, Action.VERIFY)
    return page("verification", visit, found=None, head=None)


@ROUTES.post("/verification")
def verify(visit: Visiting, _: Filled) -> Response:
    """Recompute the ledger's hash chain, and every loss in it; and sign the head as it is."""
    head = json.dumps(visit.service.head(visit.caller), indent=1)
    return page("verification", visit, found=visit.service.verify(visit.caller), head=head)
