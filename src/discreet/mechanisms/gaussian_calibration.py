"""The exact calibration of discrete Gaussian noise: the least σ that keeps an (ε, δ).

δ(ε) = sup_S (Pr[M(x) ∈ S] − e^ε Pr[M(x′) ∈ S]) is the hockey-stick divergence. Call what works in balls within
`precision(bits)`. Importing this file imports flint.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log, log1p, pi, sqrt

from flint import arb

from discreet.exact.ball import ball, fraction, precision
from discreet.exact.rounding import shorten
from discreet.mechanisms.parameters import GREATEST, LEAST
from discreet.mechanisms.tails import gaussian_tail
from discreet.privacy import Sensitivity


def one_coordinate(sigma: Fraction, shift: int, epsilon: Fraction) -> arb:
    """The exact δ(ε) of discrete Gaussian noise on one integer that moves by at most `shift`.

    Pr[Y ≥ a] − e^ε Pr[Y ≥ a + shift], where a is the least integer above εσ²/shift − shift/2: from there on the
    likelihood ratio exceeds e^ε. A smaller move gives no greater δ: by the ratio's monotony the best S is a half-line
    for every move, and for a fixed half-line the second probability falls as the move grows.

    Source: Canonne, Kamath, Steinke (2020), Theorem 7.
    """
    start = int((epsilon * sigma**2 / shift - Fraction(shift, 2)) // 1) + 1
    return gaussian_tail(sigma, start) - ball(epsilon).exp() * gaussian_tail(sigma, start + shift)


def many_coordinates(
    sigma: Fraction, l2_squared: Fraction, coordinates: int, epsilon: Fraction, smoothing: Fraction
) -> arb:
    """An upper bound on δ(ε) of discrete Gaussian noise on several integers that move by at most ℓ2 together.

    For one coordinate the discrete distribution's own δ(ε) is known; for several no formula in ℓ2 is proved, as it
    depends on the direction. Two bounds hold, and the lesser is taken: the first is all but exact unless σ is small
    (0.4 % above the continuous Gaussian's σ for five counts at ε = 1, δ = 10⁻⁶), the second wins there.

    Args:
        sigma: of the noise.
        l2_squared: square of the ℓ2 sensitivity; above 0.
        coordinates: how many can move; 1 or more.
        epsilon: above 0.
        smoothing: for the first bound; any value is sound. See `smoothing_for`.
    """
    smoothed = _smoothed(sigma, l2_squared, coordinates, epsilon, smoothing)
    return smoothed.min(_concentrated(l2_squared / (2 * sigma**2), epsilon))


def _smoothed(sigma: Fraction, l2_squared: Fraction, coordinates: int, epsilon: Fraction, smoothing: Fraction) -> arb:
    """A bound by showing that the noise is nearly a post-processing of a continuous Gaussian.

    *Lemma.* Let s² = `smoothing` < σ², τ² = σ² − s², and for t > 0 let w(t) = 2Σ_{j≥1} e^(−2π²t²j²). Add N(0, τ²) to
    each integer, then replace the sum X by an integer y drawn with weights e^(−(y−X)²/2s²). By Poisson's summation
    formula these weights add up to √(2π)s·(1 ± w(s)), and all e^(−y²/2σ²) to √(2π)σ times a number from 1 to 1 + w(σ).
    Convolving the two Gaussians, the probability of each y is that under discrete Gaussian noise of σ, but for a factor
    between 1/(1 + w(s)) and (1 + w(σ))/(1 − w(s)).

    So with n coordinates that move (the others cancel), a = n·ln(1 + w(s)) and b = n·ln((1 + w(σ))/(1 − w(s))):
    δ(ε) ≤ e^a · δᵣ(ε − a − b), with δᵣ that of a continuous Gaussian of scale τ on a real that moves by ℓ2.

    Source: Micciancio, Regev (2007), the definition of the smoothing parameter; Peikert (2010), Theorem 3.1 on the
    convolution; Balle, Wang (2018), Theorem 8 for the continuous Gaussian.
    """
    wave, wave_sigma = _wave(smoothing), _wave(sigma**2)
    if smoothing >= sigma**2 or not wave < 1:
        return ball(1)
    above = coordinates * wave.log1p()
    below = coordinates * (wave_sigma.log1p() - (-wave).log1p())
    ratio = (ball(l2_squared) / ball(sigma**2 - smoothing)).sqrt()
    return above.exp() * _continuous(ratio, ball(epsilon) - above - below)


def _concentrated(rho: Fraction, epsilon: Fraction) -> arb:
    """A bound from ρ-zCDP: exp((α−1)(αρ − ε)) · (1 − 1/α)^(α−1) / α, for an α > 1 near the best; any is sound.

    Source: Canonne, Kamath, Steinke (2020), Theorem 14 and Corollary 13.
    """
    r, e = float(rho), float(epsilon)
    low, high = 1e-9, e / (2 * r) + 1 / sqrt(2 * r)
    for _ in range(48):  # α − 1, where the derivative (2α − 1)ρ − ε + ln(1 − 1/α) turns positive
        middle = (low + high) / 2
        low, high = (low, middle) if (1 + 2 * middle) * r > e + log1p(1 / middle) else (middle, high)
    alpha = 1 + ball(Fraction(high))
    return ((alpha - 1) * (alpha * ball(rho) - ball(epsilon) + (-1 / alpha).log1p())).exp() / alpha


def smoothing_for(sigma: Fraction, coordinates: int, epsilon: Fraction) -> Fraction:
    """A good s² for `many_coordinates`: where what it costs in variance balances what it costs in ε.

    The first is about ε·s²/σ² and the second 4n·e^(−2π²s²); their sum is least where 8π²n·e^(−2π²s²) = ε/σ².
    """
    balance = log(8 * pi**2 * coordinates) + 2 * log(sigma) - log(epsilon)
    return Fraction(round(max(balance, 1.0) / (2 * pi**2) * 2**16), 2**16)


def _continuous(ratio: arb, epsilon: arb) -> arb:
    """δ(ε) of a continuous Gaussian on a real, for `ratio` = sensitivity / scale."""
    root = arb(2).sqrt()
    near, far = (epsilon / ratio - ratio / 2) / root, (epsilon / ratio + ratio / 2) / root
    return (near.erfc() - epsilon.exp() * far.erfc()) / 2


def _wave(variance: Fraction) -> arb:
    """An enclosure of 2Σ_{j≥1} q^(j²) with q = e^(−2π²·variance): at least 2q, and at most 2q/(1 − q³)."""
    q = (-2 * arb.pi() ** 2 * ball(variance)).exp()
    return (2 * q).union(2 * q / (1 - q**3))


_RESOLUTION_BITS = 23
"""σ is a number of about this many binary digits: within 2⁻²⁰ of the least that will do."""

_GREATEST_EPSILON = Fraction(2**10)
"""Above this ε the noise is calibrated as for it: a stronger guarantee, and numbers that stay within reason."""

_LEAST_DELTA = Fraction(1, 1 << 1024)  # no smaller bound is stated: its digits would fill pages

_FAR = 2**20  # the first guess exceeds the least σ by much less


@lru_cache(maxsize=1024)
def least_sigma(sensitivity: Sensitivity, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The least σ for which δ(ε) is proved to be at most δ, to the resolution; never below it.

    One step of the resolution less isn't enough, or isn't provably so.
    """
    epsilon = min(epsilon, _GREATEST_EPSILON)
    guess = _guess(sensitivity.l2_squared, epsilon, delta)
    if guess > GREATEST * _FAR:
        return guess  # more than any noise there is, so it's refused
    step = shorten(guess, bits=1, round_up=True) / (1 << _RESOLUTION_BITS)

    def excess(multiple: int) -> float:
        return _log_ratio(_delta(sensitivity, multiple * step, epsilon), delta)

    with precision(working_bits(guess)):
        least = _least_multiple(excess, first=ceil(LEAST / step), start=ceil(guess / step))
    return least * step


def delta_bound(sensitivity: Sensitivity, sigma: Fraction, epsilon: Fraction) -> Fraction:
    """An upper bound on δ(ε), to 40 digits: exact if one coordinate moves, else by `many_coordinates`."""
    epsilon = min(epsilon, _GREATEST_EPSILON)
    with precision(working_bits(sigma)):
        found = _delta(sensitivity, sigma, epsilon)
        if found < ball(_LEAST_DELTA):
            return _LEAST_DELTA
        return fraction(found.upper()) if found < 1 else Fraction(1)


def moving_coordinates(sensitivity: Sensitivity) -> int:
    """How many coordinates of an integer vector can move at once: each takes at least 1 of ℓ1, and 1 of ℓ2²."""
    return min(sensitivity.l0, sensitivity.l1, int(sensitivity.l2_squared))


def working_bits(sigma: Fraction) -> int:
    """Enough to see the difference between two tails that are a step apart, to 100 bits."""
    return 128 + max(0, int(sigma).bit_length())


def _guess(l2_squared: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """A σ that errs on the large side: the lesser of two that suffice for continuous noise.

    By Bun and Steinke's (2016) conversion, ε = ρ + 2√(ρ·ln(1/δ)); and because δ(ε) ≤ δ(0) ≤ ℓ2/(σ√(2π)).
    """
    surprise = log(delta.denominator) - log(delta.numerator)
    ratio = max(float(epsilon), 1e-200) * sqrt(2) / (sqrt(float(epsilon) + surprise) + sqrt(surprise))
    return Fraction(sqrt(l2_squared) / max(ratio, sqrt(2 * pi) * exp(-surprise)))


def _delta(sensitivity: Sensitivity, sigma: Fraction, epsilon: Fraction) -> arb:
    """An enclosure of δ(ε) or of an upper bound on it, by the lemma that applies."""
    coordinates = moving_coordinates(sensitivity)
    if coordinates == 1:
        return one_coordinate(sigma, sensitivity.linf, epsilon)
    smoothing = smoothing_for(sigma, coordinates, epsilon)
    return many_coordinates(sigma, sensitivity.l2_squared, coordinates, epsilon, smoothing)


def _log_ratio(found: arb, target: Fraction) -> float:
    """ln(found/target) as a float, to steer by; but 0 or less only if found ≤ target is proved."""
    steer = float((found.upper() / ball(target)).log())
    return min(steer, 0.0) if found <= ball(target) else max(steer, 1e-300)


def _least_multiple(excess: Callable[[int], float], *, first: int, start: int) -> int:
    """The least integer from `first` on at which a falling `excess` is at most 0.

    Bracketed by doubling, then found by regula falsi in logarithms (Illinois variant).
    """
    low = high = max(first, start)
    under = over = excess(high)
    while over > 0:
        low, under, high = high, over, 2 * high
        over = excess(high)
    while under <= 0:
        if low == first:
            return low
        low, high, over = max(first, low * 3 // 4), low, under
        under = excess(low)
    last = ""
    while high - low > 1:
        weight = under / (under - over)
        middle = min(max(round(low * (high / low) ** weight), low + 1), high - 1)
        value = excess(middle)
        if value > 0:
            over = over / 2 if last == "low" else over
            low, under, last = middle, value, "low"
        else:
            under = under / 2 if last == "high" else under
            high, over, last = middle, value, "high"
    return high
