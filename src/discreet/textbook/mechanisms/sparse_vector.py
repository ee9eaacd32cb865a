"""The sparse vector technique: which of many numbers reach a threshold, at the price of the few that do.

The probabilities of its answers are sums over the threshold's noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, log
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parameters import short_enough
from discreet.privacy import Sensitivity
from discreet.privacy.events import Pure

if TYPE_CHECKING:
    from numpy.typing import NDArray


Telling: TypeAlias = Literal["only", "gap", "value"]
"""The answer about a number that reaches the threshold: only that it does, by how much, or a noisy value."""

Answer: TypeAlias = bool | int | None
"""None below the threshold; at or above it True, or the gap or value that is told instead."""

_ROOT_BITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AboveThreshold(Pure):
    """Compares integers, as they come, with a threshold; both with noise; and stops after `most` that reach it.

    Let T be the threshold, and qᵢ the number that is asked about i-th; which it is may depend on earlier answers. Draw
    ρ once, and νᵢ for each number. The answer is "above" iff qᵢ + νᵢ ≥ T + ρ. With `telling="gap"` it is the gap
    qᵢ + νᵢ − T − ρ ≥ 0 itself; with `telling="value"`, qᵢ with noise of its own, drawn afresh.

    Guarantee: ε-DP for ε = Δ/s₁ + c·K·Δ/s₂ + c·Δ/s₃, where s₁ is the scale of ρ, s₂ that of the νᵢ, s₃ that of the
    values told (no such term if none are), c is `most`, and K is 1 for monotone numbers and 2 otherwise. However many
    numbers are found below costs nothing, and the gap costs nothing either.

    *Proof.* Fix the answers and neighbours for which the numbers are qᵢ and qᵢ + dᵢ, |dᵢ| ≤ Δ. Let noise (ρ, ν) give
    these answers on the first. Take a = Δ, or a = 0 if numbers are monotone and all dᵢ ≤ 0. On the second, ρ + a,
    νᵢ − dᵢ + a where the answer is above, and νᵢ elsewhere give the same: above, gaps are what they were; below,
    qᵢ + dᵢ + νᵢ < T + ρ + dᵢ ≤ T + ρ + a. This maps integers one to one. It changes the probability of ρ by a factor
    of at most exp(Δ/s₁), and that of each of the c or fewer νᵢ that change by exp(|a − dᵢ|/s₂), where |a − dᵢ| is at
    most 2Δ, or Δ for monotone numbers. Sum over the noise. Told values are Laplace releases, c at most.

    Gaps are those of these very numbers. To tell qᵢ + νᵢ itself is a known mistake, and so are noise on the νᵢ that
    doesn't grow with c, and none at all.

    Args:
        threshold_scale: s₁, of ρ; from 2⁻¹⁰ to 2⁶⁰, like the others.
        scale: s₂, of each νᵢ.
        value_scale: s₃, of the values told; None if none are.
        sensitivity: Δ, by how much one number can differ between neighbours; 1 or more.
        most: c, after how many above it stops; 1 or more.
        monotone: whether, for any two neighbours, all numbers differ in the same direction, or not at all. Counts do
            when a unit is added or removed; when one is substituted for another, they don't.
        telling: what is told of a number that reaches the threshold.

    Raises:
        InvalidArgument: a number is out of range.

    Source: Dwork, Roth (2014), Algorithm 1 and Theorem 3.23; Lyu, Su, Li (2017), "Understanding the sparse vector
    technique for differential privacy", Algorithm 7, for c, monotone numbers and the split of ε; Wang, Ding, Wang,
    Kifer, Zhang (2019), "Proving differential privacy with shadow execution", and Ding, Wang, Xiao, Wang, Zhang, Kifer
    (2023), "Free gap estimates from the exponential mechanism, sparse vector, noisy max and related mechanisms", their
    algorithms with a gap. The proof above covers all of it.

    Examples:
        >>> alarm = AboveThreshold.calibrate(sensitivity=1, epsilon=1, most=1, monotone=True)
        >>> alarm.threshold_scale, alarm.scale, print(alarm.loss)
        ε = 1
        (Fraction(2, 1), Fraction(2, 1), None)
        >>> alarm.release([0, 3, 1000, 2000], threshold=500)
        [None, None, True]
    """

    threshold_scale: Fraction
    scale: Fraction
    value_scale: Fraction | None = None
    sensitivity: int
    most: int = 1
    monotone: bool = False
    telling: Telling = "only"

    def __post_init__(self) -> None:
        """Check before there is any data."""
        if self.telling not in {"only", "gap", "value"} or (self.telling == "value") != (self.value_scale is not None):
            raise InvalidArgument('telling must be "only", "gap" or "value", and a value needs a scale, alone')
        if any(type(number) is not int or number < 1 for number in (self.sensitivity, self.most)):
            raise InvalidArgument("sensitivity and most must be whole numbers of at least 1")
        for name in ("threshold_scale", "scale", "value_scale"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, self._laplace(getattr(self, name)).scale)
        short_enough(self.epsilon, "epsilon")

    @classmethod
    def calibrate(
        cls,
        sensitivity: int,
        epsilon: Rationalizable,
        *,
        most: int = 1,
        monotone: bool = False,
        telling: Telling = "only",
    ) -> Self:
        """The mechanism that is ε-DP and no more, with ε split so that comparisons err least.

        With s₁ = Δ/ε₁ and s₂ = cKΔ/ε₂ the variance of νᵢ − ρ is least where ε₂/ε₁ = (cK)^(2/3). Values told get half
        of ε.

        Args:
            sensitivity: as above.
            epsilon: above 0.
            most: as above.
            monotone: as above.
            telling: as above.

        Raises:
            InvalidArgument: a number is out of range.

        Source: Lyu, Su, Li (2017), section on optimizing the privacy budget allocation.
        """
        if type(most) is not int or type(sensitivity) is not int or min(most, sensitivity) < 1:
            raise InvalidArgument("sensitivity and most must be whole numbers of at least 1")
        whole = positive(epsilon, "epsilon")
        told = whole / 2 if telling == "value" else Fraction(0)
        weight = most * (1 if monotone else 2)
        ratio = Fraction(round(float(weight) ** (2 / 3) * 2**_ROOT_BITS), 2**_ROOT_BITS)
        first = (whole - told) / (1 + ratio)
        return cls(
            threshold_scale=sensitivity / first,
            scale=weight * sensitivity / (whole - told - first),
            value_scale=most * sensitivity / told if told else None,
            sensitivity=sensitivity,
            most=most,
            monotone=monotone,
            telling=telling,
        )

    @property
    def epsilon(self) -> Fraction:
        """The cost of all answers together."""
        moved = self.sensitivity * self.most
        told = Fraction(0) if self.value_scale is None else moved / self.value_scale
        return self.sensitivity / self.threshold_scale + (1 if self.monotone else 2) * moved / self.scale + told

    def watch(self, threshold: int) -> Watch:
        """Begin: draw the threshold's noise, and wait for numbers.

        Args:
            threshold: T, public.
        """
        noise = self._laplace(self.threshold_scale).release([0])[0]
        return Watch(mechanism=self, threshold=threshold, _noisy_threshold=threshold + noise)

    def release(self, values: Iterable[int], threshold: int) -> list[Answer]:
        """The answers to numbers that are known beforehand, up to the last that is given.

        Args:
            values: the numbers.
            threshold: T, public.
        """
        watch, answers = self.watch(threshold), list[Answer]()
        for value in values:
            answers.append(watch.ask(value))
            if watch.finished:
                break
        return answers

    def radius(self, confidence: Rationalizable, questions: int) -> int:
        """How far off comparisons are: r such that, with this confidence, all are right but within r of the threshold.

        Among that many numbers, none answered "below" is above T + r, and none answered "above" is below T − r;
        and gaps are off by at most r. Half of the doubt goes to ρ, the rest in equal parts to the νᵢ.

        Args:
            confidence: in (0, 1).
            questions: how many numbers are asked about; 1 or more.

        Source: Dwork, Roth (2014), Theorem 3.24, by the same union of bad events.
        """
        if type(questions) is not int or questions < 1:
            raise InvalidArgument("questions must be a whole number of at least 1")
        doubt = (1 - probability(confidence, "confidence")) / 4
        noises = (self._laplace(self.threshold_scale), doubt), (self._laplace(self.scale), doubt / questions)
        return sum(noise.cutoff(chance) - 1 for noise, chance in noises)

    def mass(self, answers: Sequence[Answer], values: Sequence[int], threshold: int) -> float:
        """The probability of these answers to these values, for pictures, audits and tests.

        Summed over the threshold's noise in floats; see `chance_of`.

        Args:
            answers: as `release` gives them.
            values: the numbers, as many or more.
            threshold: T.
        """
        return chance_of(self, answers, values, threshold)

    def told(self, value: int, gap: int) -> Answer:
        """The answer for a number that reaches the threshold by this much."""
        if self.telling == "gap":
            return gap
        return True if self.value_scale is None else self._laplace(self.value_scale).release([value])[0]

    def noise(self) -> int:
        """A fresh νᵢ."""
        return self._laplace(self.scale).release([0])[0]

    def _laplace(self, scale: Fraction) -> Laplace:
        return Laplace(scale, Sensitivity.scalar(self.sensitivity))


@dataclass(slots=True, kw_only=True, repr=False)
class Watch:
    """A threshold with its noise, that is asked about one number after another. Its noise is secret; answers aren't.

    Attributes:
        above: how many numbers were found above so far.
    """

    mechanism: AboveThreshold
    threshold: int
    _noisy_threshold: int
    above: int = field(init=False, default=0)

    @property
    def finished(self) -> bool:
        """Whether as many were found above as are paid for."""
        return self.above >= self.mechanism.most

    def ask(self, value: int) -> Answer:
        """Whether a number reaches the threshold, and what is told of it if so.

        Args:
            value: the exact number.

        Raises:
            InvalidArgument: as many as are paid for were found above before.
        """
        if self.finished:
            raise InvalidArgument(
                "all numbers above the threshold that are paid for were found",
                hint="a new watch costs as much again",
            )
        gap = int(value) + self.mechanism.noise() - self._noisy_threshold
        if gap < 0:
            return None
        self.above += 1
        return self.mechanism.told(int(value), gap)

    def __repr__(self) -> str:
        """The public part; the noise stays hidden."""
        return f"<Watch for {self.threshold}, {self.above} of {self.mechanism.most} found above>"


_FAR = 45
"""This many scales out, an exponential is below 10⁻¹⁹."""

_MOST_TERMS = 1 << 22


def chance_of(mechanism: AboveThreshold, answers: Sequence[Answer], values: Sequence[int], threshold: int) -> float:
    """Σ over ρ of Pr[ρ]·Π Pr[answerᵢ | ρ], in floats; all terms are positive, so nothing cancels.

    Given ρ the answers are independent: below has the probability Pr[ν < T + ρ − q], above Pr[ν ≥ T + ρ − q], a gap g
    Pr[ν = g + T + ρ − q], and a told value that of its noise besides. Beyond all |qᵢ − T| (and gaps) and some scales of
    ν more, no factor rises by much, while Pr[ρ] falls by e for each of its scales: there the sum is cut.

    Raises:
        InvalidArgument: the mechanism can't give these answers, or the noise is too wide to be summed over.
    """
    import numpy as np

    if not _possible(mechanism, answers, values):
        raise InvalidArgument("the mechanism can't give these answers to these values")
    s1, s2 = float(mechanism.threshold_scale), float(mechanism.scale)
    pairs = list(zip(answers, values, strict=False))
    gaps = [answer or 0 for answer, _ in pairs] if mechanism.telling == "gap" else [0]
    out = max((abs(value - threshold) for _, value in pairs), default=0) + max(gaps, default=0)
    reach = out + ceil(s2 * (log(2 * len(pairs) + 2) + 2) + _FAR * s1)
    if 2 * reach >= _MOST_TERMS:
        raise InvalidArgument("the noise is too wide to be summed over", hint="use smaller scales")
    rho = np.arange(-reach, reach + 1, dtype=np.float64)
    terms = _mass(s1, rho)
    for answer, value in pairs:
        terms *= _factor(mechanism, answer, value, threshold + rho)
    return float(np.sum(np.sort(terms)))


def _possible(mechanism: AboveThreshold, answers: Sequence[Answer], values: Sequence[int]) -> bool:
    """Whether answers are as many as there would be, and of the kind that is told."""
    above = [answer for answer in answers if answer is not None]
    kind = bool if mechanism.telling == "only" else int
    ended = len(answers) == len(values) or (len(above) == mechanism.most and answers[-1] is not None)
    early = sum(answer is not None for answer in answers[:-1]) < mechanism.most
    negative = mechanism.telling == "gap" and min(above, default=0) < 0
    return ended and early and len(answers) <= len(values) and not negative and all(type(a) is kind for a in above)


def _factor(mechanism: AboveThreshold, answer: Answer, value: int, bar: NDArray[Any]) -> NDArray[Any]:
    """The probability of one answer, for each noisy threshold."""
    s2 = float(mechanism.scale)
    if answer is None:
        return _tail(s2, value - bar + 1)  # Pr[ν < bar − value], by symmetry
    if mechanism.telling == "gap":
        return _mass(s2, answer + bar - value)
    chance = _tail(s2, bar - value)
    return chance if mechanism.value_scale is None else chance * _mass(float(mechanism.value_scale), answer - value)


def _mass(scale: float, n: int | NDArray[Any]) -> NDArray[Any]:
    """Pr[noise = n] for discrete Laplace noise."""
    import numpy as np

    mass: NDArray[Any] = np.tanh(1 / (2 * scale)) * np.exp(-np.abs(n) / scale)
    return mass


def _tail(scale: float, k: NDArray[Any]) -> NDArray[Any]:
    """Pr[noise ≥ k]: p^k/(1+p) for k ≥ 1, and 1 − p^(1−k)/(1+p) for k ≤ 0, where it is at least 1/2."""
    import numpy as np

    p = np.exp(-1 / scale)
    tail: NDArray[Any] = np.where(
        k >= 1, np.exp(-np.maximum(k, 0) / scale), 1 + p - np.exp(-np.maximum(1 - k, 0) / scale)
    ) / (1 + p)
    return tail
