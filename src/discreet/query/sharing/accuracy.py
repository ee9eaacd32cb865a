"""Accuracy first: the least offer that brings every column within the width wanted of it.

For given shares, all errors fall together as the offer grows, so the least offer follows by search; and since errors
scale with it, the shares that need the least are those of `split`, with each column's error compared with its wish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.draft import Draft
from discreet.query.estimates import Estimator, Noise, Slopes, is_announced, ratio_of, slopes_of
from discreet.query.sharing.shares import Prices, check_columns
from discreet.query.sharing.split import split

_LEAST, MOST = Fraction(1, 2**14), Fraction(2**10)
"""The offers that are looked at: grids are made for the least, and nobody should call the most private."""

_DIGITS = 4
"""Offers have so many decimal digits, so that costs can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A column with the half width wanted of it.

    Args:
        column: its name.
        slopes: how it moves with the noise.
        width: wanted.
    """

    column: str
    slopes: Slopes
    width: Fraction

    def is_met(self, noises: Mapping[str, Noise], confidence: Fraction) -> bool:
        """Whether these noises leave it within the width."""
        return self.slopes.radius(noises, float(confidence)) <= self.width


def targets(draft: Draft, noises: Mapping[str, Noise]) -> tuple[Target, ...]:
    """The columns that something is wished of.

    Args:
        draft: with measures and estimators.
        noises: by measure, of any size.

    Raises:
        UnknownColumn: a wish for what isn't a column of the answer.
        Unsupported: a wish whose size, or whose column's error, isn't known before the answer.
    """
    wanted = dict(draft.request.within)
    check_columns(draft, wanted, "within")
    estimators = dict(draft.estimators)
    found = []
    for output in draft.question.outputs:
        wish = wanted.get(output.name, wanted.get("*"))
        slopes = slopes_of(output.expr, estimators, noises)
        if wish is None or (output.name not in wanted and slopes is None):
            continue
        if slopes is None or not is_announced(output.expr, estimators):
            raise Unsupported(
                f"how wide {output.name!r} is depends on its noisy answer, so no width can be promised",
                hint="ask with epsilon; counts, sums, averages, variances and ratios of sums can be asked for by width",
            )
        width = wish.half_width(_least_size(output.expr, estimators))
        if width is None:
            raise Unsupported(
                f"{wish} of {output.name!r} is a number only once its size is known, and that is private",
                hint=f'say from which size on: within={{"{output.name}": ("{_percent(wish.part)}", 1000)}}',
            )
        found.append(Target(column=output.name, slopes=slopes, width=width))
    if not found:
        raise Unsupported("within names no column whose error is known in advance", hint="ask with epsilon")
    return tuple(found)


def shares_for(wanted: tuple[Target, ...], prices: Prices) -> dict[str, Fraction]:
    """The shares that reach all targets at the least offer; what no target rests on gets the mean of the others."""
    claims = [
        {name: abs(factor) * prices.error(name) / float(one.width) for name, factor in one.slopes.factors.items()}
        for one in wanted
    ]
    parts = split(claims, prices.power)
    others = [name for name in (*prices.noises, *prices.ranks) if name not in parts]
    mean = Fraction(1, len(parts))
    total = 1 + mean * len(others)
    return {name: parts.get(name, mean) / total for name in (*prices.noises, *prices.ranks)}


def least_offer(is_enough: Callable[[Fraction], bool]) -> Fraction | None:
    """An offer that is enough, above the least by a thousandth at the most, in four digits; None if even 2¹⁰ isn't.

    Args:
        is_enough: false below some offer, true above.
    """
    low, high = _LEAST, MOST
    if not is_enough(high):
        return None
    while high - low > high / 10 ** (_DIGITS - 1):
        middle = _short((low + high) / 2 if high < 4 * low else _geometric(low, high))
        if not low < middle < high:
            break
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high


def _geometric(low: Fraction, high: Fraction) -> Fraction:
    """A number about half way between, as ratios go."""
    return Fraction((float(low) * float(high)) ** 0.5)


def _short(offer: Fraction) -> Fraction:
    """An offer in four significant decimal digits."""
    return Fraction(f"{float(offer):.{_DIGITS}g}")


def _least_size(expr: ir.Expr, estimators: Mapping[str, Estimator]) -> Fraction:
    """The least size of an output's value: 0 unless bounds say more."""
    ratio = ratio_of(expr, estimators)
    lo, hi = (ratio.ends if ratio is not None else None) or (Fraction(0), Fraction(0))
    return max(lo, -hi, Fraction(0))


def _percent(part: Fraction | None) -> str:
    """A part as it is written."""
    return f"{float(100 * (part or 0)):.4g}%"
