"""Tokens: who may come in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response

from discreet.interfaces.http.problems import Problem, problems
from discreet.interfaces.http.requests import (
    Issuing,
    Serving,
    Who,
)
from discreet.service import Caller, role_of

if TYPE_CHECKING:
    from discreet.ledger import Grant


TOKENS = APIRouter(tags=["tokens"])


@TOKENS.get(
    "/v1/me",
    response_description="`token` (its id), `subject`, `role`, `most_epsilon`, `expires`.",
    responses=problems(),
)
def me(who: Who) -> dict[str, Any]:
    """The holder of this token, and what it allows."""
    return _caller(who)


@TOKENS.get(
    "/v1/tokens", response_description="A list of tokens by their ids, with what each allows.", responses=problems()
)
def tokens(service: Serving, who: Who) -> list[dict[str, Any]]:
    """Who may come in; never the tokens themselves."""
    return [_grant(grant, allowed) for grant, allowed in service.tokens(who)]


@TOKENS.post(
    "/v1/tokens",
    status_code=201,
    response_description="`text`, the token, and what it allows.",
    responses=problems(413, 422),
)
def issue(asked: Issuing, service: Serving, who: Who) -> dict[str, Any]:
    """Make a token. It is in this reply, and nowhere else."""
    issued = service.issue(
        who,
        asked.subject,
        role_of(asked.role),
        days=asked.days,
        most_epsilon=asked.most_epsilon,
        most_rho=asked.most_rho,
        share=asked.shared(),
        datasets=asked.datasets,
    )
    return {"text": issued.text, **_caller(issued.caller)}


@TOKENS.delete(
    "/v1/tokens/{name}",
    status_code=204,
    response_description="It is revoked.",
    responses=problems(404, 422),
)
def revoke(name: str, service: Serving, who: Who) -> Response:
    """Let a token in no more."""
    if service.revoke(who, name) is None:
        return Problem("not_found", "there is no such token", status=404).reply()
    return Response(status_code=204)


def _caller(caller: Caller) -> dict[str, Any]:
    """The holder of a token, as data."""
    return {
        "token": caller.token,
        "subject": caller.subject,
        "role": str(caller.role),
        "most_epsilon": None if caller.most_epsilon is None else str(caller.most_epsilon),
        "most_rho": None if caller.most_rho is None else str(caller.most_rho),
        "share": caller.share or None,
        "datasets": list(caller.datasets),
        "expires": caller.expires.isoformat(),
    }


def _grant(grant: Grant, caller: Caller) -> dict[str, Any]:
    """A token, as the custodian sees it."""
    revoked = None if grant.revoked is None else grant.revoked.isoformat()
    return {**_caller(caller), "made": grant.at.isoformat(), "revoked": revoked}
