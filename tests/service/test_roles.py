"""Roles: each may do what is listed, and nobody both asks and decides."""

from __future__ import annotations

import pytest

from discreet.errors import Forbidden
from discreet.service.roles import ALLOWED, Action, Role, check_allowed

DECIDES = {Action.TOKENS, Action.ADMIT}
READS_OTHERS = {Action.HISTORY, Action.VERIFY}


def test_what_is_not_listed_is_refused() -> None:
    """For every role and every action; the message names who may."""
    for role in Role:
        for action in Action:
            if action in ALLOWED[role]:
                check_allowed(role, action)
                continue
            with pytest.raises(Forbidden) as caught:
                check_allowed(role, action)
            assert f"of role {role}" in caught.value.message
            assert any(f"role {other} may" in caught.value.hint for other in Role if action in ALLOWED[other])


def test_who_asks_neither_decides_nor_reads_what_others_asked() -> None:
    """So that a stolen analyst's token is no more than an analyst; and every action is somebody's."""
    for allowed in ALLOWED.values():
        assert Action.ASK not in allowed or not allowed & (DECIDES | READS_OTHERS)
    assert frozenset().union(*ALLOWED.values()) == set(Action)
    assert ALLOWED.keys() == set(Role)
    assert ALLOWED[Role.OPERATOR] == {Action.HEALTH}
