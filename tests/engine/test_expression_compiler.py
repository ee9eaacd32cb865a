"""Ends of ranges, as they are compiled: whole steps, within 64 bits."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import pytest

from discreet.engine.aggregate_compiler import _end, _in_steps
from discreet.query.ir import Type
from discreet.tables import Kind


@pytest.mark.parametrize(
    ("end", "grid", "wanted"),
    [(Fraction(3, 2), 0, 2), (Fraction(-3, 2), 0, -2), (Fraction(7, 5), 0, 1), (Fraction(5), 1, 3), (None, 0, 9)],
)
def test_ends_of_ranges_in_steps(end: Fraction | None, grid: int, wanted: int) -> None:
    """They are rounded as values are, halves away from zero, so that no value is moved that lies within."""
    assert _in_steps(end, grid, 9) == wanted


def test_ends_of_ranges_are_whole_numbers_of_64_bits() -> None:
    """However far the range goes."""
    for end, wanted in ((Fraction(2**70), 2**63 - 1), (Fraction(-(2**70)), -(2**63)), (Fraction(5, 2), 2)):
        assert _end(Type(Kind.INTEGER), floor, end).op().arg.value == str(wanted)  # a text that is cast
