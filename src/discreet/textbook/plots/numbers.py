"""Numbers that people can read, and the axes that bear them."""

from __future__ import annotations

from itertools import pairwise
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Literal

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_LEAST, _MOST = 1e-3, 1e6
"""Numbers between these are written out."""


def shown(number: float, digits: int = 3) -> str:
    """A number to that many significant digits, without an exponent where people wouldn't use one.

    Examples:
        >>> shown(22026.4658), shown(0.25), shown(122.93), shown(4.33e-6), shown(-1e-9)
        ('22,026', '0.25', '123', '4.33·10⁻⁶', '−10⁻⁹')
    """
    sign, size = ("−" if number < 0 else ""), abs(number)
    if size == 0 or _LEAST <= size < _MOST:
        decimals = 0 if size == 0 else max(digits - 1 - floor(log10(size)), 0)
        text = f"{size:,.{decimals}f}"
        return sign + (text.rstrip("0").rstrip(".") if "." in text else text)
    mantissa, _, exponent = f"{size:.{digits - 1}e}".partition("e")
    power = f"10{str(int(exponent)).translate(_RAISED)}"
    bare = mantissa.rstrip("0").rstrip(".")
    return sign + (power if bare == "1" else f"{bare}·{power}")


def percent(share: float) -> str:
    """A share as a percentage, never as 0 % or 100 % unless it is.

    Examples:
        >>> percent(0.5817), percent(0.99996), percent(1.0)
        ('58 %', '99.996 %', '100 %')
    """
    for decimals in range(12):
        text = f"{100 * share:.{decimals}f}"
        if float(text) not in {0.0, 100.0} or share in {0.0, 1.0}:
            return f"{text} %"
    return f"{shown(100 * share)} %"


def finite(values: Sequence[object], name: str, *, least: float | None = None) -> list[float]:
    """Numbers read as floats, for drawing only.

    Args:
        values: numbers of any kind.
        name: what to call them in an error.
        least: the smallest that makes sense; None for any.

    Raises:
        InvalidArgument: there are none, one isn't a finite number, or one is too small.

    Examples:
        >>> from fractions import Fraction
        >>> finite([1, Fraction(1, 2)], "epsilons")
        [1.0, 0.5]
    """
    try:
        numbers = [float(value) for value in values]  # type: ignore[arg-type]  # whatever refuses is refused below
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{name} must be numbers") from None
    if not numbers:
        raise InvalidArgument(f"{name} must not be empty")
    if not all(map(isfinite, numbers)):
        raise InvalidArgument(f"{name} must be finite")
    if least is not None and min(numbers) < least:
        raise InvalidArgument(f"{name} must be at least {shown(least)}, not {shown(min(numbers))}")
    return numbers


def rising(values: Sequence[object], name: str) -> list[float]:
    """Positive numbers, each above the one before; two at least: an axis.

    Raises:
        InvalidArgument: they aren't.

    Examples:
        >>> rising([1, 10, 100], "uses")
        [1.0, 10.0, 100.0]
    """
    numbers = finite(values, name)
    if len(numbers) < 2 or numbers[0] <= 0 or any(a >= b for a, b in pairwise(numbers)):  # noqa: PLR2004 — two ends
        raise InvalidArgument(f"{name} must be two or more numbers above 0, in rising order")
    return numbers


def spaced(low: float, high: float, count: int) -> list[float]:
    """Numbers from `low` to `high`, each the same multiple of the one before.

    Examples:
        >>> [round(number, 6) for number in spaced(0.01, 100, 5)]
        [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    return [low * (high / low) ** (place / (count - 1)) for place in range(count)]


def by_powers(axes: Axes, which: Literal["x", "y"], *, linear_below: float | None = None) -> None:
    """Make an axis logarithmic, with numbers people can read.

    Args:
        axes: whose axis.
        which: of the two.
        linear_below: where the axis turns linear, so that it has a 0; None for nowhere.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, SymmetricalLogLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    change = axes.set_xscale if which == "x" else axes.set_yscale
    if linear_below is None:
        change("log")
        axis.set_major_locator(LogLocator(base=10, numticks=9))
    else:
        change("symlog", linthresh=linear_below, linscale=0.5)
        axis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=linear_below))
    axis.set_major_formatter(FuncFormatter(lambda number, _: shown(number)))
    axis.set_minor_formatter(NullFormatter())
