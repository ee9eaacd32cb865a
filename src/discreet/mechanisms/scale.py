"""Which scales of noise there are: what samplers and accounts can hold, checked before any data is touched."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.privacy import Sensitivity

LEAST, GREATEST = Fraction(1, 2**10), Fraction(2**60)
"""What the samplers of `discreet.noise` take, in steps of the grid."""

_MOST_BITS = 512
"""How long a numerator or denominator may be; an ε of hundreds of digits would burden all later accounts."""


def checked(scale: Fraction, name: str) -> Fraction:
    """The scale itself, if noise of it can be drawn and accounted for.

    Raises:
        InvalidArgument: it is too small, too large, or written with too many digits.
    """
    if not LEAST <= scale <= GREATEST:
        problem, size = ("large", "above 2⁶⁰") if scale > GREATEST else ("small", "below 2⁻¹⁰")
        raise InvalidArgument(
            f"{name} is too {problem}: {size} steps of the grid",
            hint=f"the guarantee asked for is too {'strong' if problem == 'large' else 'weak'} for the sensitivity",
        )
    return short(scale, name)


def short(number: Fraction, name: str) -> Fraction:
    """The number itself, if accounts can carry its digits for good.

    Raises:
        InvalidArgument: it is written with too many.
    """
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
        raise InvalidArgument(f"{name} has too many digits", hint="give epsilon, rho and delta with fewer digits")
    return number


def sensitive(sensitivity: Sensitivity) -> Sensitivity:
    """The sensitivity itself, if there is something to hide and some noise hides it.

    Raises:
        InvalidArgument: it is 0: the answer is the same for all neighbours, and a loss of 0 can't be stated; or it is
            beyond what the greatest scale protects.
    """
    if sensitivity.linf < 1:
        raise InvalidArgument("the sensitivity is 0, so there is nothing that noise could hide")
    if sensitivity.l2_squared > (GREATEST * 2**20) ** 2:
        raise InvalidArgument("the sensitivity is above 2⁸⁰ steps of the grid", hint="choose a coarser grid")
    return sensitivity
