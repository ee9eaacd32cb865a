"""Arguments by name: all that is public refuses those that it doesn't take in the words of all other refusals."""

from __future__ import annotations

from inspect import isfunction, signature
from typing import Any

import pytest

import discreet as dp
from discreet.arguments import taking_known
from discreet.errors import InvalidArgument

_MADE = {"ApproxDP", "Bounds", "Budget", "Column", "Keys", "Limits", "PureDP", "Unit", "ZCDP"}

FACE = [
    (name, getattr(dp, name))
    for name in dp.__all__
    if isfunction(getattr(dp, name))
    or name in {"Bounds", "Budget", "Column", "Keys", "Limits", "Unit", "PureDP", "ZCDP"}
]
"""What users call by themselves: functions, and classes that they make things of."""


@pytest.mark.parametrize(("name", "made"), FACE, ids=[name for name, _ in FACE])
def test_a_name_that_is_not_taken_is_refused_with_the_one_that_was_meant(name: str, made: Any) -> None:
    """Of each parameter with its last letter left out, and of a name that means nothing; the value isn't quoted."""
    known = [each for each, one in signature(made).parameters.items() if one.kind is not one.VAR_KEYWORD]
    for parameter in known:
        if parameter[:-1] and parameter[:-1] not in known and name != "sensitivity":
            with pytest.raises(InvalidArgument, match=f"{name} takes no argument '{parameter[:-1]}' .did you mean"):
                made(**{parameter[:-1]: "secret"})
    if name != "sensitivity":
        with pytest.raises(InvalidArgument, match="takes no argument 'xyzzy'") as refusal:
            made(xyzzy="secret")
        assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("made", "placed", "named", "said"),
    [
        (dp.Limits, (), {"row": 3}, "Limits takes no argument 'row' (did you mean rows?)"),
        (dp.Bounds, (1,), {}, "Bounds needs hi"),
        (dp.Bounds, (1, 2, 3), {}, "Bounds takes 2 arguments without a name, not 3 (by name: lo, hi)"),
        (dp.Bounds, (1,), {"lo": 2}, "Bounds is given lo twice"),
        (
            dp.Limits,
            (1, 2),
            {},
            "Limits takes 0 arguments without a name, not 2 (by name: groups, rows_per_group, rows)",
        ),
        (dp.laplace, (3,), {"sens": 1, "epsilon": 1}, "laplace takes no argument 'sens' (did you mean sensitivity?)"),
        (dp.protect, (), {"name": "t"}, "protect needs data"),
    ],
)
def test_what_is_missing_or_too_much_is_said(made: Any, placed: Any, named: Any, said: str) -> None:
    """By name, number or place."""
    with pytest.raises(InvalidArgument) as refusal:
        made(*placed, **named)
    assert str(refusal.value) == said


class _Shelf:
    """Has a public method, and one that isn't."""

    def add(self, book: Any) -> Any:
        """Fail within for anything but a number."""
        return book + 1

    def _hidden(self, book: Any) -> Any:
        """Nothing that is public."""
        return book


def test_errors_from_within_stay_what_they_are() -> None:
    """Only a call that doesn't fit is reworded; of a class its public methods are watched too."""
    shelf: Any = taking_known(_Shelf)()
    with pytest.raises(TypeError, match="concatenate"):
        shelf.add("x")
    with pytest.raises(InvalidArgument, match=r"add takes no argument 'bok' \(did you mean book\?\)"):
        shelf.add(bok="x")
    with pytest.raises(TypeError, match="_hidden"):
        shelf._hidden(bok="x")
