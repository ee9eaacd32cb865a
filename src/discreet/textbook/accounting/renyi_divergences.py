"""Rényi divergences of events, whole and on a secret random sample: ln Σ P^α Q^(1−α), for the worst neighbours.

This is (α − 1)·D_α(P ‖ Q), the *log-moment*. Of independent releases it adds up, and so it does of those chosen one
after the other, each bounded whatever came before. Rounded up to 64 bits.

**Events.** How the log-moment of each is found, exactly:

- *Gaussian*: α(α−1)·ℓ2²/2σ², exactly so for whole α if the noise is discrete (Canonne, Kamath, Steinke 2020,
  Proposition 5), and for every α if it is continuous (Mironov 2017, Proposition 7).
- *Laplace*, on one integer that moves by v: with p = e^(−1/scale), adding up the geometric series on either side and in
  between gives ln(A·e^((α−1)v/scale) + B·e^(−αv/scale)), A = (1 − p^(2α)) / ((1 + p)(1 − p^(2α−1))), B = 1 − A ≥ 0.
  That is convex in v and 0 at 0, so among all ways to share out ℓ1, at most ℓ∞ each, the worst is to move as few
  coordinates as possible. With v = 1 it is randomised response with odds e^(1/scale), the worst ε-DP release.
- *Exponential*, one choice whose log ratio r of probabilities has a range of a: as r ↦ r^α is convex, for given ends of
  the range the worst law of r puts all its weight on them. With ends u and u·e^a, the moment is u^α + u^(α−1)(1 − u)c
  with c = (e^(αa) − 1)/(e^a − 1), greatest at u = c(α−1)/(α(c−1)): it's u^(α−1)·c/α there. Among several choices with
  Σaᵢ ≤ ε and each aᵢ ≤ a, the worst are ε/a choices of a, because f(a)/a increases, f being the log-moment. *Proof.* In
  logits, f(a) is the greatest over x of g(x, a) = A(x + αa) − αA(x + a) + (α−1)A(x), with A(x) = ln(1 + e^x). Write y =
  x + a, z = x + αa and s = A′, which increases. Then g/a is α − 1 times the mean of s on [y, z] less that on [x, y], so
  at most (α−1)(s(z) − s(x)); and f′(a) = α(s(z) − s(y)) at the best x, where s(z) − s(y) = (α−1)(s(y) − s(x)), which
  makes it (α−1)(s(z) − s(x)). So f/a ≤ f′. ∎

**Samples.** Let P and Q be the outcomes of the event on neighbouring samples, q the rate. There are several bounds on
the log-moment of what happened to a secret random sample, each right, and the least is taken.

*Poisson*, neighbours with and without one unit. Without it the outcome is a mixture of Qs, with it of (1−q)Q + qP;
divergences are quasi-convex in the pair, so it is enough to bound that of one such pair, in both directions.

1. *Lemma.* If P/Q has the same law under P as Q/P has under Q, the greater divergence is D_α((1−q)Q + qP ‖ Q).
   *Proof.* Let r = P/Q, u = 1 − q + qr, w = 1 − q + q/r. By symmetry Σ Q f(r) = ½ Σ Q·(f(r) + r·f(1/r)), so it's enough
   that u^α + r·w^α ≥ u^(1−α) + r·w^(1−α) for r ≥ 1. With c = α − ½ that says √u·sinh(c·ln u) ≥ r√w·sinh(c·ln(1/w)). At
   c = ½ both sides are q(r−1)/2. As uw = (1−q)² + q² + q(1−q)(r + 1/r) ≥ 1, ln u ≥ ln(1/w) ≥ 0, so the left side
   grows faster with c, since x·coth x increases. ∎ It holds for Gaussian noise, and for Laplace noise on integers
   (reflect each coordinate about the middle of its move), and for randomised response. For whole n the moment is then

       Σ_k C(n,k) (1−q)^(n−k) q^k e^(m(k)),  m(k) the log-moment of the event itself, m(0) = m(1) = 0.

2. *Pure* events are post-processings of randomised response, so are their samples: for every α, whole or not, it is
   ln((e^ε(1 − q + q·e^(−ε))^α + (1 − q + q·e^ε)^α) / (1 + e^ε)).
3. *Any* event: the sum in (1) with its terms from k = 3 on counted three times.

*Without replacement*, neighbours having one unit in place of another; for whole n, with ε(j) = m(j)/(j − 1) and b = e^ε
− 1 if the event is ε-DP,

       1 + C(n,2) q² min(4(e^ε(2) − 1), e^ε(2)·min(2, b²)) + Σ_{j≥3} C(n,j) q^j e^(m(j)) min(2, b^j).

A pure event is ln(1 + q·b)-DP when sampled (`amplify_poisson`), which bounds every α. For Gaussian noise there is a
bound of about a quarter, see `sampled_gaussian.py`.

*Between whole orders* the log-moment is convex, so the chord is above it; sampling never adds to a loss, so the
event's own log-moment is a bound as well, and the one that is left for orders above 1,024. For Gaussian noise on a
Poisson sample there is a better bound in between, see `discreet.textbook.accounting.sampled_gaussian`.

Source: Mironov, Talwar, Zhang (2019), Section 3 for (1); Zhu, Wang (2019), Theorem 5 for (3); Wang, Balle,
Kasiviswanathan (2019), Theorem 9 for samples without replacement. Importing this file imports flint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Protocol, TypeAlias

from flint import arb

from discreet.exact.ball import ball, enclose, fraction, precision
from discreet.exact.rounding import shorten
from discreet.privacy import ExponentialEvent, GaussianEvent, LaplaceEvent, PureEvent
from discreet.textbook.accounting.sampled_gaussian import between, replaced

_BITS = 64

Plain: TypeAlias = GaussianEvent | LaplaceEvent | ExponentialEvent | PureEvent
"""Events that happen to everyone, and that have no δ."""


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


GREATEST_ORDER = 1024
"""The sums have as many terms as their order; beyond, it's the event's own log-moment."""

_FAR = 2**30
"""Beyond this loss, or log-moment, it's also the event's own: no sample makes such an event private."""

_TAIL = 3
"""From this term on the sum of (3) counts three times."""

_WORKING = 160
"""All terms are positive, so almost no precision is lost; rounding errs upwards."""


class Unsampled(Protocol):
    """The event that happened to the sample, accounted for on its own; hashable, since bounds are cached by it."""

    def __hash__(self) -> int:
        """By value."""

    def log_moment(self, alpha: Fraction) -> Fraction:
        """Its log-moment, rounded up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The bounds on an event that happened to a sample.

    Args:
        whole: what happened to the sample.
        epsilon: its pure loss; None if it has none.
        symmetric: whether the lemma above holds for it.
        rho: its ℓ2²/2σ² if it is Gaussian noise; else None.
        rate: the share that is sampled.
        replaced: whether neighbours differ in place of one unit, and the sample's size is fixed.
    """

    whole: Unsampled
    epsilon: Fraction | None
    symmetric: bool
    rho: Fraction | None
    rate: Fraction
    replaced: bool

    def log_moment(self, alpha: Fraction) -> Fraction:
        """The least bound on the log-moment of the sampled event."""
        bounds = [self.whole.log_moment(alpha)]
        if self.epsilon is not None and self.epsilon <= _FAR:
            bounds.append(self._pure(self.epsilon, alpha))
        if alpha <= GREATEST_ORDER and self.whole.log_moment(Fraction(max(ceil(alpha), 2))) <= _FAR:
            bounds.append(self._chord(alpha))
        return min(bounds)

    def _pure(self, epsilon: Fraction, alpha: Fraction) -> Fraction:
        """The bound for pure events."""
        if self.replaced:
            from discreet.textbook.accounting.composition import amplified

            return log_moment(PureEvent(epsilon=amplified(epsilon, self.rate)), alpha)
        return _randomised_response(epsilon, self.rate, alpha)

    def _chord(self, alpha: Fraction) -> Fraction:
        """The bound by whole orders; in between the chord, or what is closer."""
        low, high = floor(alpha), ceil(alpha)
        above = self._whole(high)
        if low == high:
            return above
        below = self._whole(low) if low > 1 else Fraction(0)
        chord = below + (alpha - low) * (above - below)
        closer = None if self.rho is None or self.replaced else between(self.rho, self.rate, alpha)
        return chord if closer is None else min(chord, closer)

    def _whole(self, order: int) -> Fraction:
        """The bound at a whole order."""
        if self.replaced and self.rho is not None:
            return replaced(self.rho, self.rate, order)
        if self.replaced:
            return _without_replacement(self.whole, self.epsilon, self.rate, order)
        return _poisson(self.whole, self.rate, order, tail=1 if self.symmetric else 3)


def is_symmetric(event: object) -> bool:
    """Whether the lemma holds for the event's own pair of outcomes."""
    return isinstance(event, GaussianEvent | LaplaceEvent)


@lru_cache(maxsize=1 << 14)
def _randomised_response(epsilon: Fraction, rate: Fraction, alpha: Fraction) -> Fraction:
    """The log-moment of randomised response on a Poisson sample, as ln(1 + (1−c)(u^α − 1) + c(w^α − 1))."""

    def moment() -> arb:
        q, e = ball(rate), ball(epsilon)
        rarely = 1 / (1 + e.exp())
        less, more = (q * (-e).expm1()).log1p(), (q * e.expm1()).log1p()
        return ((1 - rarely) * (ball(alpha) * less).expm1() + rarely * (ball(alpha) * more).expm1()).log1p()

    return shorten(enclose(moment, bits=_BITS)[1], bits=_BITS, round_up=True)


@lru_cache(maxsize=1 << 14)
def _poisson(whole: Unsampled, rate: Fraction, order: int, *, tail: int) -> Fraction:
    """The sum for Poisson samples: ln(1 + Σ_{k≥2} weight·(e^(m(k)) − 1)), terms from 3 on counted `tail` times in full.

    With `tail` above 1 the sum isn't one of a probability any more, and gets (tail − 1)·weight on top for each term.
    """
    with precision(_WORKING):
        odds = ball(rate / (1 - rate))
        weight, total = ball(1 - rate) ** order, arb(0)
        for k in range(1, order + 1):
            weight = weight * odds * (order - k + 1) / k
            if k > 1:
                rise = ball(whole.log_moment(Fraction(k))).expm1()
                times = 1 if k < _TAIL else tail
                total = total + weight * (times * rise + (times - 1))
        return shorten(fraction(total.log1p().upper()), bits=_BITS, round_up=True)


@lru_cache(maxsize=1 << 14)
def _without_replacement(whole: Unsampled, epsilon: Fraction | None, rate: Fraction, order: int) -> Fraction:
    """The sum for samples without replacement."""
    with precision(_WORKING):
        excess = None if epsilon is None else ball(epsilon).expm1()
        second = ball(whole.log_moment(Fraction(2)))
        weight = ball(rate) ** 2 * (order * (order - 1) // 2)
        total = weight * (4 * second.expm1()).min(second.exp() * _capped(excess, 2))
        for j in range(3, order + 1):
            weight = weight * ball(rate) * (order - j + 1) / j
            total = total + weight * ball(whole.log_moment(Fraction(j))).exp() * _capped(excess, j)
        return shorten(fraction(total.log1p().upper()), bits=_BITS, round_up=True)


def _capped(excess: arb | None, power: int) -> arb:
    """min(2, b^j)."""
    return arb(2) if excess is None else (excess**power).min(arb(2))
