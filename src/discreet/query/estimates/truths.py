"""Truths: whether some row, or every row, meets a condition, from the noisy number of rows that decide it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from discreet.query.estimates.estimator import Estimator, is_empty
from discreet.query.estimates.linear import Linear, Slopes
from discreet.query.estimates.noise import Noises, Noisy

_SURE = Fraction(19, 20)
"""With this confidence, no noise alone decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth(Estimator):
    """Whether there is a row that decides: one where a condition holds, or one where it doesn't.

    No noisy number tells 1 row from none, so one side has to be favoured. There is said to be a row only where noise
    alone wouldn't reach that far in 19 of 20 groups without one. Else any group without such rows, of which there may
    be many, would be said to have one every second time. So what is said to be there is there, but for 1 time in 20;
    and where nothing is said to be, there may be as many rows as `error_in_words` names.

    Args:
        number: of the rows which decide.
        decided: what is so if there is one: True for BOOL_OR, False for BOOL_AND.
        rows: the number of the group's rows, where it is known.
    """

    number: Linear
    decided: bool
    rows: Linear | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The numbers used."""
        return tuple(self.number.factors)

    def estimate(self, noisy: Noisy, noises: Noises) -> bool | None:
        """The truth of one group; None where a count of its rows leaves none."""
        if is_empty(self.rows, noisy, noises):
            return None
        is_there = self.number.exactly(noisy, noises) > self._end(noises)
        return self.decided if is_there else not self.decided

    def interval(self, _noisy: Noisy, _noises: Noises, _confidence: float) -> None:
        """None: a truth has no ends."""

    def slopes(self, _noises: Noises, rows: int) -> Slopes:
        """The slopes of the number that decides: they share out the offer, and are no error of the truth."""
        return Slopes(self.number.floats, size=float(rows), is_announced=False)

    def error_in_words(self, noises: Noises, confidence: Fraction) -> str:
        """How often it is in error where no row decides, and how many rows it may overlook.

        With R rows there it says so unless R + noise ≤ r, with r as above. The noise is symmetric, so that is at most
        as probable as noise beyond R − r.
        """
        said, other = ("TRUE", "FALSE") if self.decided else ("FALSE", "TRUE")
        overlooked = self._end(noises) + _reach(self.number, noises, confidence)
        return (
            f"{said} by chance in {float(100 * (1 - _SURE)):g} % at most; "
            f"{other} overlooks {overlooked:,.4g} rows at most, at {float(100 * confidence):.3g} %"
        )

    def _end(self, noises: Noises) -> float:
        """Beyond it there is said to be a row: half of one at least, however little noise there is."""
        return max(_reach(self.number, noises, _SURE), 0.5)

    def beside(self, rows: Linear | None) -> Self:
        """It is NULL then where the count leaves no row."""
        return replace(self, rows=rows)


def _reach(number: Linear, noises: Noises, confidence: Fraction) -> float:
    """An r that the noise, which is symmetric, exceeds with probability 1 − confidence at most."""
    both = 2 * confidence - 1
    return number.radius(noises, both) if both > 0 else 0.0
