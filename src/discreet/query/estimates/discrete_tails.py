"""Tails of discrete noise: how likely one is to reach a number, as a logarithm."""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, fsum, log, log1p, pi, sqrt
from typing import TypeAlias

from discreet.mechanisms import Gaussian, Laplace

Mechanism: TypeAlias = Laplace | Gaussian

_MILLS = 30.0
"""Beyond this many standard deviations a normal tail is bounded by Mills' ratio instead of computed."""

_WIDE = 16.0
"""Gaussian noise of a σ above is so wide that one step more or less doesn't matter."""


def log_tail(noise: Mechanism, least: int) -> tuple[float, float]:
    """Bounds on ln Pr[noise ≥ least]."""
    if least < 1:  # by symmetry, 1 − Pr[noise ≥ 1 − least], which is at least 1/2
        below, above = log_tail(noise, 1 - least)
        return log_rest(above), log_rest(below)
    if isinstance(noise, Gaussian):
        return _log_gaussian_tail(float(noise.sigma), least)
    rate = 1 / float(noise.scale)
    exact = -rate * least - log1p(exp(-rate))
    return exact, exact


def log_rest(log_part: float) -> float:
    """ln(1 − e^x)."""
    return log1p(-exp(log_part))


@lru_cache(maxsize=1 << 16)  # the same few are asked for again in each group
def _log_gaussian_tail(sigma: float, least: int) -> tuple[float, float]:
    """Bounds on ln Pr[noise ≥ least], for `least` above 0.

    Narrow noise is summed. Else, as the density falls there, Σ e^(−n²/2σ²) over n ≥ least lies between the integrals
    from `least` and from `least` − 1, and over all n it is √(2π)σ, by Poisson's formula, but for less than 10⁻⁶⁰ of it.
    """
    if sigma > _WIDE:
        return _log_normal_tail(least / sigma)[0], min(_log_normal_tail((least - 1) / sigma)[1], log(0.5))
    reach = range(int(_MILLS * sigma) + 2)
    beyond = fsum(exp(-(2 * least * n + n * n) / (2 * sigma**2)) for n in reach)
    whole = 2 * fsum(exp(-n * n / (2 * sigma**2)) for n in reach) - 1
    exact = log(beyond) - least**2 / (2 * sigma**2) - log(whole)
    return exact, exact


def _log_normal_tail(distance: float) -> tuple[float, float]:
    """Bounds on the logarithm of the normal law's upper tail, for a distance from 0 on."""
    if distance < _MILLS:
        exact = log(erfc(distance / sqrt(2)) / 2)
        return exact, exact
    above = -(distance**2) / 2 - log(distance * sqrt(2 * pi))
    return above - log1p(distance**-2), above
