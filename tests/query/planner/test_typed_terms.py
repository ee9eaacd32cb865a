"""Terms as they are typed: on a command line, in a form, after SET."""

from __future__ import annotations

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy import Limits
from discreet.query.planner import Request
from discreet.query.planner.terms import FORMS
from discreet.query.planner.typed_terms import typed_bounds, typed_by_column, typed_flag, typed_limits
from support.terms import SAID, TYPED


@pytest.mark.parametrize("name", FORMS)
def test_a_text_says_the_same_as_python(name: str) -> None:
    """Of every term that there is."""
    assert Request.read({name: FORMS[name].typed(TYPED[name])}) == Request.read({name: SAID[name]})


def test_what_is_asked_of_columns_is_read_by_column() -> None:
    """`NAME=NUMBER` is for one column, whatever signs its name has; a bare number for the rest."""
    assert typed_by_column(["n=100", "a=b=0.5", "7"]) == {"n": "100", "a=b": "0.5", "*": "7"}
    assert typed_by_column([]) == {}


@pytest.mark.parametrize("parts", [["n=1", "n=2"], ["1", "2"], ["n=1", " n = 1"]])
def test_what_is_said_twice_of_a_column_is_refused(parts: list[str]) -> None:
    """One of the two would be ignored."""
    with pytest.raises(InvalidArgument, match="is said twice"):
        typed_by_column(parts)


@pytest.mark.parametrize("parts", [["age"], ["0..10"], ["age=5"], ["*=0..10"], ["=0..10"], ["age=0.."], ["age=9..1"]])
def test_bounds_are_of_a_column_and_have_two_ends(parts: list[str]) -> None:
    """Or are auto."""
    with pytest.raises(InvalidArgument):
        typed_bounds(parts)


def test_limits_are_read_in_every_shape() -> None:
    """Rows in all, rows in so many groups, or rows in each of so many groups; anything else is refused."""
    assert typed_limits("50") == Limits(rows=50)
    assert typed_limits("5×10") == typed_limits("5x10") == Limits(groups=5, rows_per_group=10)
    assert typed_limits("50in8") == typed_limits("50IN8") == Limits(rows=50, groups=8)
    assert typed_limits("Auto") == "auto"
    for wrong in ("", "x", "5x", "5x10x2", "in8", "50in", "50in5x2", "-3", "1.5", "0", "٣", "9" * 5_000):
        with pytest.raises(InvalidArgument):
            typed_limits(wrong)


@pytest.mark.parametrize("wrong", ["", "maybe", "2", "t", "y" * 9_999])
def test_a_flag_is_on_or_off(wrong: str) -> None:
    """In the words that databases have for it."""
    assert [typed_flag(each) for each in ("on", "TRUE", "yes", "1", "off", "false", "No", "0")] == [True] * 4 + [
        False
    ] * 4
    with pytest.raises(InvalidArgument) as caught:
        typed_flag(wrong)
    assert len(caught.value.message) < 150
