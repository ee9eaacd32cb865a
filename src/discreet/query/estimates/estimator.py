"""Estimators: how one aggregate comes from released numbers, and all that can be said of it.

An estimator says which numbers it uses, what its aggregate is in one group, which values the noise leaves possible, and
how far noise will move it. The families are in `totals`, `truths`, `means`, `associations`, `regressions`
and `choices`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Self, TypeAlias

from discreet.privacy import KeyValue
from discreet.query import ir
from discreet.query.estimates.linear import Linear, LinearRatio, Slopes
from discreet.query.estimates.noise import Interval, Noises, Noisy

Value: TypeAlias = KeyValue | float | list[KeyValue]
"""What an estimate can be."""


class Estimator(ABC):
    """How one aggregate is estimated from what was released.

    Nothing is guessed: each family says how far noise moves it, or that this isn't known. What else it leaves unsaid
    promises nothing.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def parts(self) -> tuple[str, ...]:
        """The names of the released integers that are used."""

    @abstractmethod
    def estimate(self, noisy: Noisy, noises: Noises) -> Value:
        """The statistic of one group; None where a noisy count leaves nothing to divide by."""

    @abstractmethod
    def interval(self, noisy: Noisy, noises: Noises, confidence: float) -> Interval | None:
        """An interval that holds the statistic with at least this confidence, over the noise; None if there is none."""

    @abstractmethod
    def slopes(self, noises: Noises, rows: int) -> Slopes | None:
        """How far noise moves it in a group of this many rows; None if that isn't known before there is an answer.

        Args:
            noises: by measure; of any size, since slopes don't depend on it.
            rows: of the reference group.
        """

    @property
    def ratio(self) -> LinearRatio | None:
        """The aggregate as a ratio of linear combinations of measures; None if it isn't one."""
        return None

    def ends(self, of: ir.Type) -> tuple[float, float] | None:
        """The least and the greatest number that it can be by what is declared; None if nothing says so.

        Args:
            of: the type of the released aggregate.
        """
        del of
        return None

    def error_in_words(self, noises: Noises, confidence: Fraction) -> str:
        """How far it may be off, of what isn't a number; empty where slopes or choices say it.

        Args:
            noises: by measure.
            confidence: with which it holds; in (0, 1).
        """
        del noises, confidence
        return ""

    def beside(self, rows: Linear | None) -> Self:
        """The estimator where the group's rows are counted; it changes choices, which can't tell by themselves.

        Args:
            rows: their number; None if nothing counts them.
        """
        del rows
        return self


def is_empty(rows: Linear | None, noisy: Noisy, noises: Noises) -> bool | None:
    """Whether a noisy count leaves no row; None where there is no count to tell.

    Args:
        rows: their number.
        noisy: one group's released integers.
        noises: the mechanisms.
    """
    if rows is None or not rows.factors.keys() <= noisy.keys():
        return None
    return has_too_few(rows.at(noisy, noises), 1)


def has_too_few(count: float | Fraction, least: int) -> bool:
    """Whether a statistic is NULL, as in SQL, in a group with this noisy number of rows.

    Counts and sums are never NULL: no count goes with them, and so they add up over groups, as a NULL wouldn't. SQL's
    SUM is NULL over no rows; here it is 0 and its noise.

    Args:
        count: noisy, of the rows that the statistic is over; where limits weigh rows down, rounded as it is shown.
        least: how many rows the statistic needs.

    Examples:
        >>> [has_too_few(count, 2) for count in (1.0, 2.0)]
        [True, False]
    """
    return round(count) < least
