"""Errors of discreet's as those of PEP 249, each with an SQLSTATE."""

from __future__ import annotations

import re

import pytest

from discreet import dbapi, errors
from discreet.dbapi.exceptions import error_of
from discreet.errors import Category, DiscreetError
from discreet.interfaces.sqlstates import BY_CATEGORY, BY_KIND, sqlstate_of


def kinds(kind: type[DiscreetError] = DiscreetError) -> list[type[DiscreetError]]:
    """An error and all below it."""
    return [kind, *(error for child in kind.__subclasses__() for error in kinds(child))]


def test_every_error_has_a_state_and_a_class() -> None:
    """Five characters; and whatever was charged is no error that says nothing was."""
    assert set(BY_CATEGORY) == set(Category)
    for kind in kinds():
        error = kind.__new__(kind)
        DiscreetError.__init__(error, "wrong", hint="right", place=(1, 2))
        assert re.fullmatch("[0-9A-Z]{5}", sqlstate_of(error))
        found = error_of(error)
        assert (found.code, found.hint, found.place) == (kind.code, "right", (1, 2))
        assert str(found) == "line 1, column 2: wrong (right)"
        assert isinstance(found, dbapi.InternalError) == (kind.category is Category.FAILED)


def test_states_are_those_of_other_databases() -> None:
    """The few that programs look for, also of errors below them."""
    assert sqlstate_of(errors.UnknownColumn("x")) == "42703"
    assert sqlstate_of(errors.SnapshotChanged()) == BY_CATEGORY[Category.UNAVAILABLE]
    assert sqlstate_of(errors.NotTried("x")) == BY_KIND[errors.InvalidArgument]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.BudgetExhausted("x"), dbapi.OperationalError),
        (errors.Forbidden("x"), dbapi.OperationalError),
        (errors.TooManyWaiting("x"), dbapi.OperationalError),
        (errors.Unsupported("x"), dbapi.NotSupportedError),
        (errors.TypeMismatch("x"), dbapi.ProgrammingError),
        (errors.QuestionFailed(), dbapi.InternalError),
    ],
)
def test_classes_say_what_to_do(error: DiscreetError, kind: type[dbapi.Error]) -> None:
    """Ask differently, ask later, or give up."""
    assert type(error_of(error)) is kind
