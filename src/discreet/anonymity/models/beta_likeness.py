"""β-likeness and δ-disclosure privacy: no sensitive value is much more frequent in a class than in the table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.anonymity.columns import Mask, Reals
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.models.counting import Counts, at_most, counts_of, log_at_most, settled
from discreet.anonymity.models.model import AgainstTable, above_zero, attribute, shown
from discreet.exact.rational import Rationalizable

_MARGIN = 1e-12
"""The error of a relative gain and of the logarithm beside it; each is off by a few units of 2^-52."""


class _SharesWithin(AgainstTable):
    """A model that keeps each value's share in a class within an interval that follows from the table."""

    __slots__ = ()

    @property
    def merges(self) -> bool:
        """True.

        Proof. For each value the model is an interval for its share, an upper limit or both ends, that depends on the
        table alone, and the share in a union lies between those in its parts.
        """
        return True


@dataclass(frozen=True, slots=True)
class BetaLikeness(_SharesWithin):
    """A sensitive value with the share p of the table has, in every class, a share q with (q − p)/p ≤ β.

    Gains are relative, so that rare values, whose holders have most to lose, are guarded as strictly as frequent ones.
    That a value is less frequent in a class, or absent, isn't counted. Enhanced β-likeness also asks for
    (q − p)/p ≤ −ln p, so that a frequent value can't come to fill a class.

    Args:
        beta: above 0.
        sensitive: the sensitive attribute.
        enhanced: whether to ask for both.

    Raises:
        InvalidArgument: beta is no such number.

    Source: Cao, Karras, "Publishing microdata with a robust privacy guarantee" (2012), the definitions of basic and
    enhanced β-likeness.

    Examples:
        >>> from discreet.anonymity.frequencies import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> table = read({"zip": ["1", "1", "2", "2"], "ill": ["flu", "HIV", "flu", "flu"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> BetaLikeness(1, "ill").measure(found).round(3).tolist(), BetaLikeness(1, "ill").met(found).tolist()
        ([1.0, 0.333], [True, True])
        >>> BetaLikeness(1, "ill", enhanced=True).met(found).tolist()  # flu fills a class: ⅓ is more than −ln ¾
        [True, False]
    """

    beta: Rationalizable
    sensitive: str
    enhanced: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", above_zero(self.beta, "beta"))
        attribute(self.sensitive)

    @property
    def grows(self) -> bool:
        """False: rows with one value raise its share up to 1, which is too much if the value is rare in the table."""
        return False

    @property
    def _beta(self) -> Fraction:
        """The threshold, as read."""
        return above_zero(self.beta, "beta")

    def measure(self, frequencies: Frequencies) -> Reals:
        """For each class, the largest gain; where enhanced, ∞ if one is above −ln p, as no β would do.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        counts = counts_of(frequencies, self.sensitive)
        largest = np.asarray(counts.most(_gains(counts)), dtype=np.float64)
        if self.enhanced:
            largest[~counts.every(_below_log(counts))] = np.inf
        return largest

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it, exactly.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        counts = counts_of(frequencies, self.sensitive)
        fine = at_most(*counts.gains(), 1 + self._beta)  # (q − p)/p ≤ β if and only if q/p ≤ 1 + β
        if self.enhanced:
            fine &= _below_log(counts)
        return counts.every(fine)

    def __str__(self) -> str:
        """As "enhanced (β=1)-likeness of disease"."""
        return f"{'enhanced ' if self.enhanced else ''}(β={shown(self._beta)})-likeness of {self.sensitive}"


def _gains(counts: Counts) -> Reals:
    """For each pair, (q − p)/p where that is above 0, else 0."""
    have, due = counts.gains()
    gains: Reals = np.maximum(have - due, 0) / due
    return gains


def _below_log(counts: Counts) -> Mask:
    """For each pair, whether (q − p)/p ≤ −ln p; those too near to tell are settled exactly."""
    gains, whole = _gains(counts), counts.whole
    room = np.log(whole / counts.totals[counts.values])
    fine: Mask = (gains < room - _MARGIN * (1 + room)) | (gains <= 0)
    doubtful = np.flatnonzero(~fine & (gains <= room + _MARGIN * (1 + room)))
    if len(doubtful):
        have, due = counts.gains()
        held = counts.totals[counts.values[doubtful]]
        cases = zip(have[doubtful].tolist(), due[doubtful].tolist(), held.tolist(), strict=True)
        fine[doubtful] = settled(lambda case: _is_below_log(*case, whole), cases)
    return fine


def _is_below_log(have: int, due: int, total: int, whole: int) -> bool:
    """Whether have/due − 1 ≤ ln(whole/total), exactly."""
    return log_at_most(Fraction(total, whole), 1 - Fraction(have, due))


_MARGIN_OF_LOGS = 1e-12
"""The error of a logarithm of a ratio; it is off by a few units of 2^-52."""


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(_SharesWithin):
    """A sensitive value with the share p of the table has, in every class, a share q with |ln(q/p)| < δ.

    A value that a class lacks makes it infinite: learning that someone surely does *not* have it is learning too. So
    every class must hold every value of the table, which makes it the strictest model here.

    Args:
        delta: above 0; for natural logarithms.
        sensitive: the sensitive attribute.

    Raises:
        InvalidArgument: delta is no such number.

    Source: Brickell, Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data
    publishing" (2008), the definition of δ-disclosure privacy, which leaves the base of the logarithm open.

    Examples:
        >>> from discreet.anonymity.frequencies import frequencies_of
        >>> from discreet.anonymity.records import read
        >>> table = read({"zip": ["1", "1", "2", "2"], "ill": ["flu", "HIV", "flu", "flu"]})
        >>> found = frequencies_of(table, ["zip"], "ill")
        >>> model = DeltaDisclosure(0.7, "ill")
        >>> print(model, model.measure(found).round(3).tolist(), model.met(found).tolist())
        (δ=0.7)-disclosure privacy of ill [0.693, inf] [True, False]
    """

    delta: Rationalizable
    sensitive: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", above_zero(self.delta, "delta"))
        attribute(self.sensitive)

    @property
    def grows(self) -> bool:
        """False: rows with one value lower the shares of all others as far as one likes."""
        return False

    @property
    def _delta(self) -> Fraction:
        """The threshold, as read."""
        return above_zero(self.delta, "delta")

    def measure(self, frequencies: Frequencies) -> Reals:
        """For each class, the largest |ln(q/p)|; ∞ if it lacks a value.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        counts = counts_of(frequencies, self.sensitive)
        largest = np.asarray(counts.most(_shifts(counts)), dtype=np.float64)
        largest[~_complete(counts)] = np.inf
        return largest

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes meet it, exactly: shifts within 10^-12 of δ, relative to 1 + δ, are settled in ball arithmetic.

        Raises:
            InvalidArgument: the frequencies are about another attribute.
        """
        counts = counts_of(frequencies, self.sensitive)
        shifts, bound = _shifts(counts), float(self._delta)
        margin = _MARGIN_OF_LOGS * (1 + bound)
        fine = shifts < bound - margin
        doubtful = np.flatnonzero((shifts <= bound + margin) & ~fine & counts.spread(_complete(counts)))
        if len(doubtful):
            have, due = counts.gains()
            cases = zip(have[doubtful].tolist(), due[doubtful].tolist(), strict=True)
            fine[doubtful] = settled(lambda case: self._is_below(*case), cases)
        return counts.every(fine) & _complete(counts)

    def _is_below(self, have: int, due: int) -> bool:
        """Whether |ln(have/due)| < δ, exactly; ln of a rational is never δ, save for 0, which isn't δ."""
        return log_at_most(Fraction(max(have, due), min(have, due)), self._delta)

    def __str__(self) -> str:
        """As "(δ=1)-disclosure privacy of disease"."""
        return f"(δ={shown(self._delta)})-disclosure privacy of {self.sensitive}"


def _shifts(counts: Counts) -> Reals:
    """For each pair, |ln(q/p)|."""
    have, due = counts.gains()
    shifts: Reals = np.abs(np.log(have / due))
    return shifts


def _complete(counts: Counts) -> Mask:
    """Which classes have every value that occurs in the table."""
    complete: Mask = counts.lengths == np.count_nonzero(counts.totals)
    return complete
