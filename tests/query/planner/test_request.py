"""Requests: each term is read, checked, written and read again in one place, and reaches every face from there."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import discreet as dp
from discreet.cli import app
from discreet.cli.common.terms import TERMS
from discreet.errors import InvalidArgument
from discreet.query.planner import Request, Terms
from discreet.query.planner.terms import FORMS
from support.project import ROOT
from support.terms import SAID, TYPED

NAMES = [each.name for each in fields(Request)]


def test_there_is_something_to_say_of_each_term() -> None:
    """Fields of a request, the terms that users say, how they are read, and the examples here are the same."""
    assert list(Terms.__annotations__) == NAMES
    assert list(FORMS) == NAMES
    assert list(SAID) == list(TYPED) == NAMES


@pytest.mark.parametrize("method", [dp.Protected.plan, dp.Protected.ask])
def test_plan_and_ask_take_each_term_by_name(method: Any) -> None:
    """`help` and editors show each, with its default and kind; what it says stands in `Terms`."""
    shown = inspect.signature(method).parameters
    assert [name for name in NAMES if shown[name].kind is not inspect.Parameter.KEYWORD_ONLY] == []
    assert shown["confidence"].default == Fraction(19, 20)
    assert shown["within"].default is None
    assert Terms.__doc__ is not None
    assert [name for name in NAMES if f"        {name}: " not in Terms.__doc__] == []


@pytest.mark.parametrize("command", ["ask", "explain"])
def test_the_command_line_has_an_option_for_each_term(command: str) -> None:
    """And hands it on under its name."""
    group: Any = get_command(app)
    options = {each.name for each in group.commands[command].params}
    assert [name for name in NAMES if name not in options] == []
    assert set(TERMS) == set(NAMES)


def test_a_page_explains_each_term() -> None:
    """With an example, or among the options."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in Path(ROOT / "docs").rglob("*.md"))
    assert [name for name in NAMES if f"{name}=" not in text and f"`{name}`" not in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_term_is_written_and_read_again(name: str) -> None:
    """As JSON text, exactly; a term that wasn't said isn't written."""
    request = Request.read({name: SAID[name]})  # type: ignore[misc]  # each of them
    assert getattr(request, name) != getattr(Request(), name)
    written = request.to_json()
    assert list(written) == [name]
    assert Request.from_json(json.loads(json.dumps(written))) == request


def test_times_are_written_and_read_again() -> None:
    """Bounds of dates and of timestamps."""
    ends = {"day": (date(2020, 1, 1), date(2021, 1, 1)), "at": (datetime(2020, 1, 1, 12), datetime(2021, 1, 1))}
    request = Request.read({"bounds": {name: dp.Bounds(*each) for name, each in ends.items()}})
    assert Request.from_json(json.loads(json.dumps(request.to_json()))) == request


def test_a_request_of_before_is_read() -> None:
    """All nine terms that there were, those that weren't said as null or empty."""
    assert Request.from_json(
        {
            "epsilon": "2",
            "rho": None,
            "delta": None,
            "within": [["n", None, "1/20", "1000"]],
            "weights": [],
            "confidence": "9/10",
            "limits": {"groups": None, "rows_per_group": None, "rows": 3},
            "bounds": [["age", ["0", "90"]]],
            "consistent": False,
        }
    ) == Request.of(
        epsilon=2,
        within={"n": ("5%", 1000)},
        confidence=0.9,
        limits=dp.Limits(rows=3),
        bounds={"age": dp.Bounds(0, 90)},
    )


@pytest.mark.parametrize(
    "data",
    [
        {"epsilom": "1"},
        {"epsilon": "1e999999999"},
        {"epsilon": "-1"},
        {"epsilon": {}},
        {"epsilon": "1/0"},
        {"within": "n"},
        {"within": [["n", "x", None, None]]},
        {"weights": 5},
        {"limits": {"columns": 5}},
        {"limits": [5]},
        {"bounds": [["age", ["0"]]]},
        {"bounds": [["age", "often"]]},
        {"consistent": "yes"},
        {"dialect": 1},
        {"analyst": ["ada"]},
        [],
        None,
        "epsilon",
    ],
    ids=str,
)
def test_what_is_no_request_is_refused(data: Any) -> None:
    """With one typed error, whatever is wrong."""
    with pytest.raises(InvalidArgument):
        Request.from_json(data)


@pytest.mark.parametrize(
    ("terms", "message", "hint"),
    [
        ({"epsilom": 1}, "there is no term 'epsilom'", "did you mean epsilon?"),
        ({"cutoff": True}, "there is no term 'cutoff'", "did you mean cut_off?"),
        ({"x": 1}, "there is no term 'x'", "there are epsilon, delta"),
        ({"epsilon": 1, "consistent": "yes"}, "consistent must be True or False, not str", ""),
        ({"epsilon": 1, "dialect": None}, "dialect must be a text, not NoneType", ""),
        ({"epsilon": 1, "analyst": 5}, "analyst must be a text, not int", ""),
    ],
)
def test_what_is_no_term_is_refused(terms: Any, message: str, hint: str) -> None:
    """With the name that was meant, or what it must be."""
    with pytest.raises(InvalidArgument) as caught:
        Request.of(**terms)
    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)


UNREADABLE = [1e-300, 1e300, float("inf"), float("-inf"), float("nan"), 0, -1, "1e400", "1e-400", "1/0", "x", True]


@pytest.mark.parametrize("number", UNREADABLE)
@pytest.mark.parametrize("name", ["epsilon", "rho", "within", "weights", "confidence", "delta"])
def test_numbers_that_nobody_can_mean_are_refused_by_name(name: str, number: Any) -> None:
    """Whatever they are, and wherever they stand, the error is ours: floats that hold their squares would overflow."""
    said = [{"n": number}] if name in {"within", "weights"} else [number]
    said += [number, ("5%", number), f"{number}%"] if name == "within" else []
    for one in said:
        with pytest.raises(InvalidArgument):
            Request.of(**{"epsilon": 1, name: one} if name in {"weights", "confidence"} else {name: one})


@pytest.mark.parametrize(
    ("terms", "message"), [({}, "nothing says what"), ({"epsilon": 1, "rho": 1}, "in ε or in ρ, not in both")]
)
def test_an_offer_that_is_missing_or_made_twice_is_refused_in_the_words_of_each_door(terms: Any, message: str) -> None:
    """What may be said stands as it is written there."""
    with pytest.raises(InvalidArgument, match=message) as caught:
        Request.of(**terms).checked()
    assert "epsilon=0.5, rho=0.01 or within=100" in caught.value.hint
    assert "--epsilon 0.5, --rho 0.01 or --within 100" in caught.value.hint_at("cli")
    assert "=" not in caught.value.hint_at("cli")
