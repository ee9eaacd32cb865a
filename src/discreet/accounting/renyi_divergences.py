"""Rényi divergences of events, exactly: ln Σ P^α Q^(1−α), which is (α − 1)·D_α(P ‖ Q), for the worst neighbours.

In this form, the *log-moment*, divergences of independent releases add up, and so do those of releases chosen one after
the other, each bounded whatever came before. Rounded up to 64 bits. How each is found:

- *Gaussian*: α(α−1)·ℓ2²/2σ², exactly so for whole α if the noise is discrete (Canonne, Kamath, Steinke 2020,
  Proposition 5), and for every α if it is continuous (Mironov 2017, Proposition 7).
- *Laplace*, on one integer that moves by v: with p = e^(−1/scale), adding up the geometric series on either side and in
  between gives ln(A·e^((α−1)v/scale) + B·e^(−αv/scale)), A = (1 − p^(2α)) / ((1 + p)(1 − p^(2α−1))), B = 1 − A ≥ 0.
  That is convex in v and 0 at 0, so among all ways to share out ℓ1, at most ℓ∞ each, the worst is to move as few
  coordinates as possible. With v = 1 it is randomised response with odds e^(1/scale), the worst ε-DP release.
- *Exponential*, one choice whose log ratio r of probabilities has a range of a: as r ↦ r^α is convex, for given ends
  of the range the worst law of r puts all its weight on them. With ends u and u·e^a, the moment is
  u^α + u^(α−1)(1 − u)c with c = (e^(αa) − 1)/(e^a − 1), greatest at u = c(α−1)/(α(c−1)): it's u^(α−1)·c/α there.
  Of several choices with Σaᵢ ≤ ε and each aᵢ ≤ a, the worst are ε/a choices of a, because f(a)/a increases, f being
  the log-moment. *Proof.* In logits, f(a) is the greatest over x of g(x, a) = A(x + αa) − αA(x + a) + (α−1)A(x), with
  A(x) = ln(1 + e^x). Write y = x + a, z = x + αa and s = A′, which increases. Then g/a is α − 1 times the mean of s
  on [y, z] less that on [x, y], so at most (α−1)(s(z) − s(x)); and f′(a) = α(s(z) − s(y)) at the best x, where
  s(z) − s(y) = (α−1)(s(y) − s(x)), which makes it (α−1)(s(z) − s(x)). So f/a ≤ f′. ∎

Importing this file imports flint.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from flint import arb

from discreet.exact.ball import ball, enclose
from discreet.exact.rounding import shorten
from discreet.privacy import ExponentialEvent, GaussianEvent, LaplaceEvent, PureEvent

_BITS = 64

Plain: TypeAlias = GaussianEvent | LaplaceEvent | ExponentialEvent | PureEvent
"""Events that happen to everybody, and that have no δ."""


@lru_cache(maxsize=1 << 16)
def log_moment(event: Plain, alpha: Fraction) -> Fraction:
    """(α − 1)·D_α of an event's worst neighbours, rounded up.

    Args:
        event: what happened.
        alpha: the order; above 1.

    Examples:
        >>> log_moment(GaussianEvent(sigma=Fraction(2), l2_squared=Fraction(1)), Fraction(2))
        Fraction(1, 4)
        >>> float(log_moment(PureEvent(epsilon=Fraction(1)), Fraction(2)))
        0.7353256640555192
    """
    match event:
        case GaussianEvent(sigma=sigma, l2_squared=l2_squared):
            return alpha * (alpha - 1) * l2_squared / (2 * sigma**2)
        case LaplaceEvent(scale=scale, l1=l1, linf=linf):
            moving, rest = divmod(l1, linf or l1)
            whole = moving * _laplace(scale, linf or l1, alpha)
            return whole + (_laplace(scale, rest, alpha) if rest else 0)
        case ExponentialEvent(epsilon=epsilon, each=each):
            return epsilon / (each or epsilon) * _choice(each or epsilon, alpha)
        case PureEvent(epsilon=epsilon):
            return _laplace(1 / epsilon, 1, alpha)


@lru_cache(maxsize=1 << 16)
def _laplace(scale: Fraction, move: int, alpha: Fraction) -> Fraction:
    """The log-moment of discrete Laplace noise on one integer that moves.

    With x = move/scale it is ln(1 + A·(e^((α−1)x) − 1) + B·(e^(−αx) − 1)), where nothing is lost if x is small.
    """
    x = move / scale

    def moment() -> arb:
        share = _rise(-2 * alpha / scale) / (_rise(-(2 * alpha - 1) / scale) * (1 + ball(-1 / scale).exp()))
        return (share * _rise((alpha - 1) * x) + (1 - share) * _rise(-alpha * x)).log1p()

    return _above(moment, at_most=(alpha - 1) * x)


def _choice(a: Fraction, alpha: Fraction) -> Fraction:
    """The log-moment of one choice whose log ratio has a range of `a`."""

    def moment() -> arb:
        c = _rise(alpha * a) / _rise(a)
        u = c * ball(alpha - 1) / (ball(alpha) * (c - 1))
        return ball(alpha - 1) * u.log() + (c / ball(alpha)).log()

    return _above(moment, at_most=(alpha - 1) * a)


def _rise(x: Fraction) -> arb:
    """e^x − 1."""
    return ball(x).expm1()


def _above(moment: Callable[[], arb], *, at_most: Fraction) -> Fraction:
    """A log-moment, enclosed and rounded up; `at_most` is what pure differential privacy makes of it."""
    return min(shorten(enclose(moment, bits=_BITS)[1], bits=_BITS, round_up=True), at_most)
