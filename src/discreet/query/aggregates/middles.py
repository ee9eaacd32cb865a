"""Middles of ranges: values are added up about them, because noise grows with the size of what is added up."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.aggregates.arguments import range_of
from discreet.query.ir import call, literal
from discreet.tables import Kind

_SMALLEST = Fraction(1, 2**400)
"""The least width of a range of which squares are taken."""

_WIDE = 64
"""In ranges so wide whole numbers are added up as such, about a middle that is rounded down: errors grow by one part in
64 at the most. In narrower ones they are put on the grid of real numbers: of a sum that only an average is made of,
nobody needs that it be whole, and noise in whole steps would reach half a step farther than need be."""

_EXACT = 2**52
"""Below, halves of whole numbers are floats."""


def check_squares(value: ir.Expr) -> None:
    """Refuse values whose squares are too small for a double.

    Raises:
        Unsupported: they lie closer together than 2⁻⁴⁰⁰.
    """
    lo, hi = range_of(value)
    if 0 < hi - lo < _SMALLEST:
        raise Unsupported(
            "these values lie so close together that their squares can't be told from 0", hint="multiply them first"
        )


def centred(value: ir.Expr) -> tuple[Fraction, ir.Expr]:
    """The middle of a value's bounds, and how far the value lies from it.

    Between whole numbers the middle may be a half: of 0 and 1, all lie 1/2 from it, where 1 lies 1 from 0. So much
    smaller is the noise that the sum needs, and four times that of the squares. It is exact, for floats and grids have
    halves. In a wide range half a step more or less is next to nothing, and whole numbers add up faster.
    """
    lo, hi = range_of(value)
    centre = (lo + hi) / 2
    if value.type.kind is not Kind.INTEGER:
        return centre, call("subtract", value, literal(centre))
    if hi - lo < _WIDE and max(abs(lo), abs(hi)) < _EXACT:
        return centre, call("subtract", call("real", value), literal(centre))
    return Fraction(floor(centre)), call("subtract", value, literal(floor(centre)))
