"""Roles: what each token is for, and what its holder may do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from discreet.errors import Forbidden, InvalidArgument


class Role(StrEnum):
    """The purpose of a token."""

    ANALYST = "analyst"
    """Plans and asks, and sees what they asked themselves."""

    CUSTODIAN = "custodian"
    """Decides who may come in, and admits tables; never asks."""

    AUDITOR = "auditor"
    """Reads the whole history and verifies it; never asks."""

    OPERATOR = "operator"
    """Sees whether the service is well, and nothing that was asked."""


def role_of(name: str) -> Role:
    """The role of a name.

    Raises:
        InvalidArgument: there is none.

    Examples:
        >>> role_of("auditor")
        <Role.AUDITOR: 'auditor'>
    """
    if name not in list(Role):
        raise InvalidArgument(f"there is no role {name[:20]!r}", hint=f"there are {', '.join(Role)}")
    return Role(name)


class Action(StrEnum):
    """The things that a caller may want to do."""

    DATASETS = "see what may be asked about"
    PLAN = "plan a question"
    ASK = "ask a question"
    BUDGET = "see what is left of the budget"
    OWN_HISTORY = "see what they asked themselves"
    HISTORY = "see what everyone asked"
    VERIFY = "verify the ledger"
    APPROVE = "approve requests"
    HEAD = "have the signed head of the ledger"
    TOKENS = "decide who may come in"
    ADMIT = "admit the tables again"
    HEALTH = "see whether the service is well"


_EVERYBODY = frozenset({Action.DATASETS, Action.BUDGET})

ALLOWED: Mapping[Role, frozenset[Action]] = MappingProxyType(
    {
        Role.ANALYST: _EVERYBODY | {Action.PLAN, Action.ASK, Action.OWN_HISTORY},
        Role.CUSTODIAN: _EVERYBODY
        | {Action.PLAN, Action.HISTORY, Action.VERIFY, Action.HEAD, Action.APPROVE, Action.TOKENS, Action.ADMIT},
        Role.AUDITOR: _EVERYBODY | {Action.HISTORY, Action.VERIFY, Action.HEAD},
        Role.OPERATOR: frozenset({Action.HEALTH}),
    }
)
"""The actions of each role; any other is refused."""


def check_allowed(role: Role, action: Action) -> None:
    """Refuse what a role may not do.

    Raises:
        Forbidden: it isn't listed for the role.
    """
    if action not in ALLOWED[role]:
        who = next((str(each) for each in Role if action in ALLOWED[each]), "nobody")
        raise Forbidden(f"a token of role {role} may not {action}", hint=f"a token of role {who} may")
