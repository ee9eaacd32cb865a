"""Privacy-loss distributions: tight (ε, δ) curves of compositions that are fixed in advance.

A loss curve is all that an event gives away, as the least δ for every ε.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, probability, rational
from discreet.exact.rounding import to_float
from discreet.privacy import Event

if TYPE_CHECKING:
    from discreet.textbook.accounting.pld.pairs import Pairs
    from discreet.textbook.accounting.pld.sides import Side


__all__ = ["LossCurve", "curve_of"]


class LossCurve:
    """δ(ε) of what dominates an event, for all ε ≥ 0; never below what the event gives away.

    Guarantee: the release, or the whole composition, is (ε, δ)-DP for every ε with δ = `delta(ε)`, and for every δ with
    ε = `epsilon(δ)`; about neighbours under the adjacency that the event's sensitivities refer to. All errors, of the
    grid, of what is cut off, of the FFT and of floats, are bounded and go upward. `optimistic` is a lower bound on the
    δ of the same dominating pairs: together they enclose it. Where pairs are tight (pure and approximate events,
    selections, Laplace noise where ℓ1 is 4096 steps or less, discrete Gaussian noise of σ < 32 on one count, continuous
    Gaussian noise, and Poisson samples of one of these) that is what the worst neighbours give away.

    Grids and transforms are made when they are first asked for, and kept.
    """

    def __init__(self, pairs: Pairs, *, round_up: bool = True) -> None:
        """Make the curve of dominating pairs; see `curve_of`."""
        self._pairs = pairs
        self._round_up = round_up

    @cached_property
    def optimistic(self) -> LossCurve:
        """The twin that is never above: bounds from below, for both δ and ε."""
        return LossCurve(self._pairs, round_up=False)

    def delta(self, epsilon: Rationalizable) -> float:
        """The least δ for ε; rounded up, or down in the optimistic twin.

        Args:
            epsilon: 0 or above.

        Raises:
            InvalidArgument: ε is below 0 or isn't a finite number.
        """
        exact = rational(epsilon, "epsilon")
        if exact < 0:
            raise InvalidArgument(f"epsilon must be 0 or above, not {epsilon}")
        at = to_float(exact, round_up=not self._round_up)
        return max(side.delta(at) for side in self._sides)

    def epsilon(self, delta: Rationalizable) -> float:
        """The least ε ≥ 0 for δ; rounded up, or down in the optimistic twin.

        Args:
            delta: in (0, 1).

        Raises:
            InvalidArgument: δ is out of range, or so small that no ε is large enough.
        """
        at = to_float(probability(delta, "delta"), round_up=not self._round_up)
        found = [side.epsilon(at) for side in self._sides]
        if any(each is None for each in found):
            raise InvalidArgument(
                f"no epsilon holds at a delta of {float(at):.3g}",
                hint="something is released with a greater probability than that",
            )
        return max(each for each in found if each is not None)

    @cached_property
    def _sides(self) -> list[Side]:
        """The bounds for neighbours in either order."""
        from discreet.textbook.accounting.pld.sides import sides_of

        return sides_of(self._pairs, round_up=self._round_up)


def curve_of(event: Event, times: int = 1) -> LossCurve:
    """The loss curve of an event.

    Args:
        event: what was done, or will be; a composition is one event.
        times: how often it is done, each time with randomness of its own; 1 or more.

    Raises:
        LossNotAccepted: the event is of a kind that has no curve, or has too little noise for one.
        InvalidArgument: `times` isn't a positive integer.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.privacy import GaussianEvent, SampledEvent
        >>> count = GaussianEvent(sigma=Fraction(50), l2_squared=Fraction(1))
        >>> round(curve_of(count, times=1000).epsilon(1e-6), 2)
        2.92
        >>> noise = GaussianEvent(sigma=Fraction(1), l2_squared=Fraction(1), continuous=True)
        >>> curve = curve_of(SampledEvent(event=noise, rate=Fraction(1, 100)), times=10_000)
        >>> round(curve.epsilon(1e-6), 2), round(curve.optimistic.epsilon(1e-6), 2)
        (6.91, 6.9)
    """
    if type(times) is not int or times < 1:
        raise InvalidArgument(f"times must be an integer of at least 1, not {times}")
    from discreet.textbook.accounting.pld.pairs import pairs_of

    return LossCurve(pairs_of(event, times))
