"""Noise for your own numbers, and a choice by your own scores: `dp.laplace`, `dp.gaussian`, `dp.exponential`.

They are for programs that compute their own exact answers and know the sensitivity. The rest of discreet derives both.

**Grids.** Real numbers become integers, on a power-of-two grid that doesn't depend on them.
A value x becomes ⌊x/g + 1/2⌋ steps of size g. This commutes with moving x by whole steps, so two values at most Δ apart
are at most ⌈Δ/g⌉ steps apart: with n = ⌈Δ/g⌉, ⌊a + n⌋ = ⌊a⌋ + n bounds the one from the other. (Rounding halves to even
would not do: 1/2 and 3/2 become 0 and 2.) In d coordinates each moves by less than one step more than its real value:

- ℓ1: Σ⌈Δⱼ/g⌉ < Δ1/g + d, so at most ⌈Δ1/g⌉ + d − 1 steps; which for d = 1 is ⌈Δ/g⌉ again.
- ℓ2: by the triangle inequality at most Δ2/g + √d; which for d = 1 is bettered by ⌈Δ/g⌉.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite, isqrt
from typing import Any, Literal, TypeAlias

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.release import Choice, Release
from discreet.privacy import ApproxDP, Loss, Sensitivity

_FINE_BITS, _WIDE_BITS = 20, 50
"""A grid is finer than noise and sensitivity by 20 bits or more, unless the noise would then pass 2⁵⁰ steps."""


@dataclass(frozen=True, slots=True)
class Grid:
    """All multiples of a step.

    Args:
        step: a power of two, such as 1/1024, 1 or 8.

    Raises:
        InvalidArgument: the step isn't a power of two.

    Examples:
        >>> Grid("0.125").steps_of(Fraction(1, 3))
        3
    """

    step: Fraction

    def __post_init__(self) -> None:
        """Check the step: other grids have points that floats can't hold."""
        step = positive(self.step, "grid")
        if min(step.numerator, step.denominator) != 1 or (step.numerator * step.denominator).bit_count() != 1:
            raise InvalidArgument(f"grid must be a power of two, not {self.step}", hint="0.125, 1 and 1024 are")
        object.__setattr__(self, "step", step)

    @classmethod
    def fitting(cls, sensitivity: Fraction, scale: Fraction, coordinates: int) -> Grid:
        """A grid so fine that rounding costs next to nothing, chosen from public numbers only.

        Args:
            sensitivity: how far the values can move together; above 0.
            scale: about how large the noise will be; above 0.
            coordinates: how many values there are; 1 or more.
        """
        fine = _power_below(min(sensitivity, scale) / coordinates) - _FINE_BITS
        return cls(Fraction(2) ** max(fine, _power_below(scale) - _WIDE_BITS))

    def steps_of(self, value: Fraction) -> int:
        """The nearest grid point, in steps; the upper one of two."""
        return floor(value / self.step + Fraction(1, 2))

    def l1(self, sensitivity: Fraction, coordinates: int) -> Sensitivity:
        """The sensitivity in steps of values that move by at most `sensitivity` in sum."""
        l1 = ceil(sensitivity / self.step) + coordinates - 1
        return _by_l1(l1, coordinates)

    def l2(self, sensitivity: Fraction, coordinates: int) -> Sensitivity:
        """The sensitivity in steps of values that move by at most `sensitivity` in the Euclidean norm."""
        if coordinates == 1:
            return Sensitivity.scalar(ceil(sensitivity / self.step))
        return _by_l2((sensitivity / self.step + isqrt(coordinates - 1) + 1) ** 2, coordinates)


def whole_l1(sensitivity: Fraction, coordinates: int) -> Sensitivity:
    """The sensitivity of integers that move by at most `sensitivity` in sum: by a whole number, so by its floor."""
    return _by_l1(floor(sensitivity), coordinates)


def whole_l2(sensitivity: Fraction, coordinates: int) -> Sensitivity:
    """The sensitivity of integers that move by at most `sensitivity` in the Euclidean norm."""
    return _by_l2(sensitivity**2, coordinates)


def _by_l1(l1: int, coordinates: int) -> Sensitivity:
    """All norms, for integers that move by at most `l1` in sum."""
    return Sensitivity(l0=min(coordinates, l1), linf=l1, l1=l1, l2_squared=Fraction(l1**2))


def _by_l2(l2_squared: Fraction, coordinates: int) -> Sensitivity:
    """All norms, for integers that move by at most the root of `l2_squared`.

    Squares of integers add up to an integer, which is at least their sum. ℓ1 ≤ √d·ℓ2 by Cauchy and Schwarz, and
    ℓ2² ≤ ℓ1·ℓ∞ by Hölder.
    """
    square = floor(l2_squared)
    linf = isqrt(square)
    l1 = min(coordinates * linf, isqrt(coordinates * square), square)
    return Sensitivity(l0=min(coordinates, square), linf=linf, l1=l1, l2_squared=Fraction(min(square, l1 * linf)))


def _power_below(number: Fraction) -> int:
    """An exponent e with 2^e ≤ number < 2^(e+2)."""
    return number.numerator.bit_length() - number.denominator.bit_length() - 1


Number: TypeAlias = int | float | Fraction | Decimal
Numbers: TypeAlias = Number | Sequence[Number]
"""A number, or a list, tuple or one-dimensional array of them."""


@taking_known
def laplace(
    value: Numbers | Any,  # noqa: ANN401 — arrays and series of any library that has tolist()
    sensitivity: Rationalizable,
    epsilon: Rationalizable,
    *,
    grid: Rationalizable | None = None,
) -> Release:
    """Release a number, or a vector of them, with ε-differential privacy by adding Laplace noise.

    Guarantee: ε-DP, exactly, if neighbours' values differ by at most `sensitivity` in sum. Noise is an exact sample of
    the discrete distribution on a grid that is chosen without looking at the values, so no digit gives them away.

    Integers stay integers if the sensitivity is one. Otherwise values are rounded to a power-of-two grid some 2²⁰
    times finer than the noise, and what rounding can add to the sensitivity is paid for. That decision rests on the
    *types* of the values, so those must not depend on the data: don't pass an int in one case and a float in another.

    Args:
        value: an int, float, Fraction or Decimal, or a list, tuple or one-dimensional array of them; finite.
        sensitivity: ℓ1: the most by which the values of neighbours can differ, summed over all coordinates; above 0.
            It must hold for the numbers as they are passed: a float sum taken in another order is another number.
        epsilon: above 0.
        grid: the grid's step, a power of two, where you want to fix it.

    Raises:
        InvalidArgument: an argument is out of range, or a value isn't a finite number.

    Source: Dwork, McSherry, Nissim, Smith (2006), Proposition 1; for the grid see `discreet.mechanisms.functions`.

    Examples:
        >>> release = laplace(17450, sensitivity=1, epsilon=0.1)
        >>> print(release.loss)
        ε = 0.1
        >>> low, high = release.interval(confidence=0.95)
        >>> high - low
        60
    """
    size, exact_epsilon = positive(sensitivity, "sensitivity"), positive(epsilon, "epsilon")
    values = _Values.read(value)
    if values.stay_whole(size, grid):
        mechanism = Laplace.calibrate(whole_l1(size, len(values)), exact_epsilon)
        return values.released(mechanism, Grid(Fraction(1)), mechanism.loss)
    chosen = Grid.fitting(size, size / exact_epsilon, len(values)) if grid is None else Grid(positive(grid, "grid"))
    mechanism = Laplace.calibrate(chosen.l1(size, len(values)), exact_epsilon)
    return values.released(mechanism, chosen, mechanism.loss)


@taking_known
def gaussian(  # noqa: PLR0913 — the parameters of two ways to state a guarantee
    value: Numbers | Any,  # noqa: ANN401 — arrays and series of any library that has tolist()
    sensitivity: Rationalizable,
    epsilon: Rationalizable | None = None,
    delta: Rationalizable | None = None,
    *,
    rho: Rationalizable | None = None,
    method: Literal["exact", "classical"] = "exact",
    grid: Rationalizable | None = None,
) -> Release:
    """Release a number, or a vector of them, with (ε, δ)- or ρ-zero-concentrated DP by adding Gaussian noise.

    Guarantee: as stated by `.loss`, if neighbours' values differ by at most `sensitivity` in the Euclidean norm. For
    integers, grids and types see `laplace`.

    Args:
        value: an int, float, Fraction or Decimal, or a list, tuple or one-dimensional array of them; finite.
        sensitivity: ℓ2: the most by which the values of neighbours can differ, as the root of the sum of squares over
            all coordinates; above 0. It must hold for the numbers as they are passed.
        epsilon: above 0; with `delta`, instead of `rho`.
        delta: in (0, 1).
        rho: above 0; instead of `epsilon` and `delta`.
        method: how σ is found for ε and δ: `"exact"`, or `"classical"` for the textbook's formula, which adds more
            noise and is refused for ε above 1.
        grid: the grid's step, a power of two, where you want to fix it.

    Raises:
        InvalidArgument: an argument is out of range or missing, or a value isn't a finite number.

    Source: Canonne, Kamath, Steinke (2020), Theorem 7; Balle, Wang (2018), Theorem 8; see `Gaussian`.

    Examples:
        >>> print(gaussian([3.5, 1.25], sensitivity=1, epsilon=0.5, delta=1e-5).loss)
        ε = 0.5, δ = 1e-05
        >>> print(gaussian(17450, sensitivity=1, rho=0.005).loss)
        ρ = 0.005
    """
    size = positive(sensitivity, "sensitivity")
    calibrate, loss = _calibration(epsilon, delta, rho, method)
    values = _Values.read(value)
    if values.stay_whole(size, grid):
        mechanism = calibrate(whole_l2(size, len(values)))
        return values.released(mechanism, Grid(Fraction(1)), loss or mechanism.loss)
    if grid is None:
        about = size * calibrate(Sensitivity.scalar(1)).sigma
        chosen = Grid.fitting(size, about, len(values))
    else:
        chosen = Grid(positive(grid, "grid"))
    mechanism = calibrate(chosen.l2(size, len(values)))
    return values.released(mechanism, chosen, loss or mechanism.loss)


@taking_known
def exponential(
    options: Iterable[Any],
    scores: Numbers | Any,  # noqa: ANN401 — arrays and series of any library that has tolist()
    sensitivity: Rationalizable,
    epsilon: Rationalizable,
    *,
    monotone: bool = False,
) -> Choice:
    """Choose one of several options by their scores, with ε-differential privacy, by the exponential mechanism.

    Guarantee: ε-DP, exactly, if the options are the same for all neighbours and no score moves by more than
    `sensitivity`. An option's probability is proportional to e^(ε·score/(2·sensitivity)), drawn exactly; a float is
    taken as the binary number it is, and differences of scores aren't rounded.

    Args:
        options: what to choose from, in an order that doesn't depend on the data; one or more.
        scores: of each option, the higher the better: ints, floats, Fractions or Decimals; finite.
        sensitivity: the most by which the score of any one option can differ between neighbours; above 0. It must hold
            for the numbers as they are passed: a float sum taken in another order is another number.
        epsilon: above 0.
        monotone: whether, for any two neighbours, all scores move in the same direction, or not at all; then the factor
            2 isn't needed. That is so of counts where neighbours differ by one unit added or removed, and not where one
            is substituted for another.

    Raises:
        InvalidArgument: an argument is out of range, a score isn't a finite number, or there isn't one for each option.

    Source: McSherry, Talwar (2007), Theorem 6; Dwork, Roth (2014), Section 3.4.

    Examples:
        >>> flavour = exponential(["lemon", "mint", "vanilla"], [120, 3, 40], sensitivity=1, epsilon=2, monotone=True)
        >>> flavour.value, print(flavour.loss)
        ε = 2
        ('lemon', None)
    """
    mechanism = Exponential.calibrate(sensitivity, epsilon, monotone=monotone)
    listed = list(options)
    numbers = _Values.read(scores)
    if not numbers.is_vector or len(numbers) != len(listed):
        raise InvalidArgument("each option needs one score", hint="two lists of the same length")
    return Choice(value=listed[mechanism.choose(numbers.numbers)], options=len(listed), mechanism=mechanism)


def _calibration(
    epsilon: Rationalizable | None, delta: Rationalizable | None, rho: Rationalizable | None, method: str
) -> tuple[Callable[[Sensitivity], Gaussian], Loss | None]:
    """A way to find σ for a sensitivity, and the loss to state; None for the mechanism's own."""
    if method not in {"exact", "classical"}:
        raise InvalidArgument(f"unknown method {method!r}", hint='"exact" or "classical"')
    if rho is not None and epsilon is None and delta is None:
        exact_rho = positive(rho, "rho")
        return lambda sensitivity: Gaussian.for_rho(sensitivity, exact_rho), None
    if rho is not None or epsilon is None or delta is None:
        raise InvalidArgument("Gaussian noise needs epsilon and delta, or rho", hint="epsilon=0.5, delta=1e-6")
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta")
    find = Gaussian.classical if method == "classical" else Gaussian.for_epsilon_delta
    return lambda sensitivity: find(sensitivity, e, d), ApproxDP(e, d)


@dataclass(frozen=True, slots=True)
class _Values:
    """Values read exactly: ints as ints, all others as fractions."""

    numbers: tuple[int | Fraction, ...]
    is_vector: bool

    @classmethod
    def read(cls, value: Any) -> _Values:  # noqa: ANN401 — told apart here
        """Read a number or a flat list of them; messages never quote a value."""
        plain = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(plain, (list, tuple)):
            return cls((_exact(plain),), is_vector=False)
        if not plain:
            raise InvalidArgument("there are no values")
        return cls(tuple(map(_exact, plain)), is_vector=True)

    def __len__(self) -> int:
        return len(self.numbers)

    def stay_whole(self, sensitivity: Fraction, grid: Rationalizable | None) -> bool:
        """Whether the values are integers and are released on the grid of all integers."""
        on_integers = sensitivity.denominator == 1 if grid is None else positive(grid, "grid") == 1
        return on_integers and self._are_integers

    def released(self, mechanism: Laplace | Gaussian, grid: Grid, loss: Loss) -> Release:
        """The values on the grid, with noise."""
        return Release(
            steps=tuple(mechanism.release([grid.steps_of(Fraction(number)) for number in self.numbers])),
            grid=grid.step,
            whole=self._are_integers and grid.step.denominator == 1,
            rounded=not (self._are_integers and grid.step <= 1),
            is_vector=self.is_vector,
            mechanism=mechanism,
            loss=loss,
        )

    @property
    def _are_integers(self) -> bool:
        """Whether all values were given as integers."""
        return all(isinstance(number, int) for number in self.numbers)


def _exact(value: object) -> int | Fraction:
    """One value, exactly; a float is the binary number it is."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return value
    if not isinstance(value, (float, Decimal)):
        raise InvalidArgument(
            f"values must be numbers, not {type(value).__name__}", hint="a list or array may have one dimension"
        )
    if not isfinite(value):
        raise InvalidArgument("values must be finite", hint="clamp them to bounds before they are added up")
    return Fraction(value)
