"""What can't be drawn is refused by a typed error that says why, before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from discreet import plot
from discreet.errors import InvalidArgument
from discreet.textbook.plots.numbers import finite, percent, shown
from support.figures import COLUMNS, EXACT, OUTCOMES, POINTS, RESPONSE, WIDE, KnownCurve, KnownNoise, Tail

NAN = float("nan")

WRONG: dict[str, Callable[[], Any]] = {
    "no noise": lambda: plot.neighbours({}),
    "four panels": lambda: plot.neighbours(dict.fromkeys("abcd", WIDE)),
    "equal answers": lambda: plot.neighbours({"a": WIDE}, answers=(5, 5)),
    "negative draws": lambda: plot.neighbours({"a": WIDE}, draws=-1),
    "too many draws": lambda: plot.neighbours({"a": WIDE}, draws=201),
    "too wide to show": lambda: plot.neighbours({"a": KnownNoise(1e4)}),
    "answers too far apart": lambda: plot.neighbours({"a": WIDE}, answers=(0, 10**9)),
    "no law": lambda: plot.loss({}, epsilon=1),
    "too many laws": lambda: plot.loss(dict.fromkeys("abcdefg", RESPONSE), epsilon=1),
    "epsilon 0": lambda: plot.loss({"a": RESPONSE}, epsilon=0),
    "epsilon not a number": lambda: plot.loss({"a": RESPONSE}, epsilon=NAN),
    "no curve": lambda: plot.delta({}),
    "axis without length": lambda: plot.delta({"a": RESPONSE}, most=0),
    "floor at 0": lambda: plot.delta({"a": RESPONSE}, least=0),
    "curve above 1": lambda: plot.delta({"a": Tail(-1, 5)}),
    "curve of nothing": lambda: plot.delta({"a": Tail(NAN, 5)}),
    "no totals": lambda: plot.composition([1, 2], {}),
    "one use": lambda: plot.composition([1], {"a": [1]}),
    "uses that fall": lambda: plot.composition([2, 1], {"a": [1, 2]}),
    "totals that are missing": lambda: plot.composition([1, 2], {"a": [1]}),
    "a total of 0": lambda: plot.composition([1, 2], {"a": [0, 1]}),
    "an infinite total": lambda: plot.composition([1, 2], {"a": [1, float("inf")]}),
    "no errors": lambda: plot.accuracy([1, 2], {}),
    "errors that are missing": lambda: plot.accuracy([1, 2], {"a": [1]}),
    "a negative error": lambda: plot.accuracy([1, 2], {"a": [1, -1]}),
    "confidence of 1": lambda: plot.accuracy([1, 2], {"a": [1, 1]}, confidence=1),
    "one answer": lambda: plot.averaging([1], truth=1, epsilon=1),
    "text for answers": lambda: plot.averaging(["a", "b"], truth=1, epsilon=1),  # type: ignore[list-item]  # on purpose
    "negative epsilon": lambda: plot.averaging([1, 2], truth=1, epsilon=-1),
    "sensitivity of 0": lambda: plot.averaging([1, 2], truth=1, epsilon=1, sensitivity=0),
    "no room": lambda: plot.averages_needed(1, within=0),
    "probabilities of other outcomes": lambda: plot.LossLaw.of([0.5, 0.5], [1.0]),
    "probabilities above 1": lambda: plot.LossLaw.of([0.9, 0.9], [0.5, 0.5]),
    "a negative probability": lambda: plot.LossLaw.of([-0.1, 0.9], [0.5, 0.5]),
    "nothing in common": lambda: plot.LossLaw.of([1.0, 0.0], [0.0, 1.0]),
    "no shift": lambda: plot.LossLaw.of_noise(WIDE, 0),
    "no rows": lambda: plot.class_sizes({}, columns=["a"]),
    "a class of nobody": lambda: plot.class_sizes({0: 1}, columns=["a"]),
    "no column": lambda: plot.column_risks([], total=1, unique=0),
    "more unique rows than rows": lambda: plot.column_risks(COLUMNS, total=700, unique=600),
    "no result": lambda: plot.outcomes([]),
    "no success that is known": lambda: plot.outcomes(OUTCOMES[-1:]),
    "too many results": lambda: plot.outcomes(OUTCOMES[:1] * 13),
    "nobody": lambda: plot.candidates([], against="rows"),
    "fewer than no candidates": lambda: plot.candidates([(-1, 2)], against="rows"),
    "one point": lambda: plot.recovery(POINTS[:1], people=1, questions=1, baseline=0.5),
    "a baseline above 1": lambda: plot.recovery(POINTS, people=1, questions=1, baseline=1.5),
    "no curve of members": lambda: plot.members({}),
    "too many curves of members": lambda: plot.members(dict.fromkeys("abcdef", EXACT)),
    "a curve that ends early": lambda: plot.members({"a": KnownCurve((0.0, 1.0), (0.0,), None)}),
    "noise too wide to list": lambda: plot.LossLaw.of_noise(KnownNoise(1e5), 1),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_drawn_is_refused(name: str) -> None:
    """Each with words of its own."""
    with pytest.raises(InvalidArgument) as caught:
        WRONG[name]()
    assert len(caught.value.message.split()) >= 4


def test_numbers_of_all_kinds_are_taken() -> None:
    """Exact rationals as accounts give them, and whatever has a float."""
    assert finite([1, Fraction(1, 2), 0.25], "numbers") == [1.0, 0.5, 0.25]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (1, "1"),
        (1234.5, "1,234"),
        (1e-6, "10⁻⁶"),
        (2.5e-7, "2.5·10⁻⁷"),
        (1e9, "10⁹"),
        (-0.5, "−0.5"),
        (999999.0, "999,999"),
    ],
)
def test_numbers_are_written_as_people_write_them(number: float, text: str) -> None:
    """Without exponents where there needn't be one, and with real minus signs and superscripts."""
    assert shown(number) == text


@pytest.mark.parametrize("share", [1e-15, 0.004, 0.5, 0.9999, 1 - 1e-9])
def test_what_is_uncertain_is_never_called_certain(share: float) -> None:
    """Neither 0 % nor 100 %."""
    assert percent(share) not in {"0 %", "100 %"}
