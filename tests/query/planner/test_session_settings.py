"""Session settings: set, shown and reset by name, and what of them holds beside a question."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy import Limits
from discreet.query.planner import OFFERED, Request, SessionSettings
from discreet.query.planner.terms import FORMS
from discreet.query.sql import Options
from support.terms import TYPED


@pytest.mark.parametrize("name", OFFERED)
def test_each_term_is_set_shown_and_reset(name: str) -> None:
    """All but who asks; what was there stays as it is, for others may have it."""
    before = SessionSettings()
    after = before.set(name, f" {TYPED[name]} ")
    assert after.show(name) == TYPED[name]
    assert after.terms == {name: FORMS[name].typed(TYPED[name])}
    assert after.reset(name) == after.reset() == before
    usual = "off" if getattr(Request(), name) is False else ""
    assert before.show(name) == {"confidence": "0.95", "dialect": "duckdb"}.get(name, usual)


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("epsilom", "there is no term 'epsilom'", "did you mean epsilon?"),
        ("EPSILON", "there is no term 'EPSILON'", "did you mean epsilon?"),
        ("x", "there is no term 'x'", "there are epsilon, delta"),
        ("analyst", "who asks is settled when a session begins", "leave the analyst out"),
    ],
)
def test_what_is_no_setting_is_refused(name: str, message: str, hint: str) -> None:
    """Set, shown or reset, with the name that was meant."""
    session = SessionSettings()
    for call in (lambda: session.set(name, "1"), lambda: session.show(name), lambda: session.reset(name)):
        with pytest.raises(InvalidArgument) as caught:
            call()
        assert caught.value.message == message
        assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize("text", ["", "-1", "x", "1e400", "9" * 5_000, "1;2"])
@pytest.mark.parametrize("name", ["epsilon", "delta", "rho", "within", "weights", "confidence", "expecting", "cut_off"])
def test_what_a_term_cannot_be_is_refused_when_it_is_set(name: str, text: str) -> None:
    """And not when the next question is asked."""
    with pytest.raises(InvalidArgument):
        SessionSettings().set(name, text)


@pytest.mark.parametrize(
    ("first", "second"),
    [("epsilon", "rho"), ("weights", "within"), ("cut_off", "within")],
)
def test_settings_that_contradict_each_other_are_refused(first: str, second: str) -> None:
    """In either order; one would be ignored."""
    for one, other in ((first, second), (second, first)):
        session = SessionSettings().set(one, TYPED[one])
        with pytest.raises(InvalidArgument) as caught:
            session.set(other, TYPED[other])
        assert "reset" in caught.value.hint
        assert session.reset(one).set(other, TYPED[other]).show(other) == TYPED[other]


@pytest.mark.parametrize(
    ("settings", "terms", "holds"),
    [
        ({}, {"epsilon": 1}, {"epsilon": 1}),
        ({"epsilon": "0.5"}, {}, {"epsilon": "0.5"}),
        ({"epsilon": "0.5"}, {"epsilon": None}, {"epsilon": "0.5"}),
        ({"epsilon": "0.5"}, {"epsilon": 1}, {"epsilon": 1}),
        ({"epsilon": "0.5"}, {"rho": 1}, {"rho": 1}),
        ({"epsilon": "0.5", "delta": "0.1"}, {"rho": 1}, {"delta": "0.1", "rho": 1}),
        ({"epsilon": "0.5"}, {"within": 5}, {"epsilon": "0.5", "within": 5}),
        ({"within": "5"}, {"cut_off": True, "epsilon": 1}, {"cut_off": True, "epsilon": 1}),
        ({"within": "5"}, {"limits": "auto", "epsilon": 1}, {"limits": "auto", "epsilon": 1}),
        ({"within": "5"}, {"limits": {"rows": 3}}, {"within": "5", "limits": {"rows": 3}}),
        ({"bounds": "age=auto", "epsilon": "1"}, {"within": 5}, {"epsilon": "1", "within": 5}),
        ({"cut_off": "on"}, {"cut_off": False, "within": 5}, {"cut_off": False, "within": 5}),
        ({"confidence": "0.9"}, {"confidence": 0.95}, {"confidence": 0.95}),
        ({"dialect": "postgres"}, {"epsilon": 1}, {"dialect": "postgres", "epsilon": 1}),
    ],
)
def test_what_is_said_beside_a_question_wins(settings: Any, terms: Any, holds: Any) -> None:
    """Over the setting of its name, and over those that contradict it; the others stay."""
    assert SessionSettings.of(settings).beside(terms) == holds


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (Options(), {"epsilon": "0.5", "delta": "0.1", "limits": "auto"}),
        (Options(epsilon=Fraction(1)), {"delta": "0.1", "limits": "auto"}),
        (Options(rho=Fraction(1)), {"delta": "0.1", "limits": "auto"}),
        (Options(delta=Fraction(0)), {"epsilon": "0.5", "limits": "auto"}),
        (Options(max_rows_contributed=3), {"epsilon": "0.5", "delta": "0.1"}),
        (Options(max_groups_contributed=3), {"epsilon": "0.5", "delta": "0.1"}),
    ],
)
def test_what_a_question_says_in_its_own_words_wins(options: Options, left: dict[str, str]) -> None:
    """And isn't refused as a contradiction, as a term beside the question is."""
    session = SessionSettings.of({"epsilon": "0.5", "delta": "0.1", "limits": "auto"})
    assert session.beside({}, options) == left
    assert session.beside({"limits": Limits(rows=9)}, options) == {**left, "limits": Limits(rows=9)}


def test_settings_go_to_the_process_that_plans() -> None:
    """Which knows a question's OPTIONS; whoever holds the session doesn't read questions."""
    session = SessionSettings().set("epsilon", "0.5").set("limits", "5x10")
    assert pickle.loads(pickle.dumps(session)) == session  # noqa: S301 — made here


def test_what_holds_is_what_would_hold_if_it_were_all_said() -> None:
    """A request made with settings differs in nothing from one that says the same, so it is planned the same."""
    session = SessionSettings.of({"epsilon": "1/2", "limits": "5x10", "bounds": "age=0..110", "cut_off": "yes"})
    said = {"epsilon": 0.5, "limits": Limits(groups=5, rows_per_group=10), "bounds": {"age": (0, 110)}, "cut_off": True}
    assert Request.read(session.beside({"dialect": "mysql"})) == Request.read({**said, "dialect": "mysql"})
