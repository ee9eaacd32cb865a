"""Rényi differential privacy of one order: to (ε, δ), as tightly as one order allows, and from pure releases.

*Theorem.* Let D_α(M(x) ‖ M(x′)) ≤ γ for all neighbours. Then M is (ε, δ)-DP if

    (α − 1)·(ε − γ) + ln min_p F(p) ≥ 0,  F(p) = p^α (p − δ)^(1−α) + (1 − p)^α (e^ε − p + δ)^(1−α),  δ < p < 1,

and from a bound in this direction alone it follows for no smaller δ.

*Proof.* Suppose the best event S, with p = Pr[M(x) ∈ S] and q = Pr[M(x′) ∈ S], had p − e^ε q = δ* > δ. Seeing no more
than whether S happened doesn't raise the divergence, so e^((α−1)γ) ≥ p^α q^(1−α) + (1−p)^α (1−q)^(1−α). The right side
falls as q rises towards p, and q = (p − δ*)/e^ε is less than (p − δ)/e^ε, at which it is e^((α−1)ε) F(p). So
e^((α−1)γ) > e^((α−1)ε) min F, against the premise. A release of the single bit with the best p shows that no smaller δ
follows of a pair of which only D_α(M(x) ‖ M(x′)) is bounded; of neighbours in both orders a smaller one may. ∎ Without
the second term of F the minimum has a closed form, and gives Canonne, Kamath and Steinke's bound.

F is convex, as a power divergence is in (p, q) and q is linear in p. So from two points p₁ < p₂ at which its slope is
below and above 0, min F ≥ F(p₁) − |F′(p₁)|·(p₂ − p₁): this is how the minimum is enclosed.

Source: Asoodeh, Liao, Calmon, Kosut, Sankar (2021), "Three variants of differential privacy: lossless conversion and
applications", the theorem on converting Rényi divergences; Canonne, Kamath, Steinke (2020), Proposition 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, inf, log, log1p
from typing import TYPE_CHECKING

from discreet.accounting.loss_arithmetic import BITS, LEAST_EPSILON, LEAST_LOG_DELTA, log_of
from discreet.exact import exp as exp_bound
from discreet.exact.rational import Rationalizable, probability
from discreet.exact.rounding import shorten
from discreet.privacy import ExponentialEvent, PureDP, PureEvent, RenyiDP

if TYPE_CHECKING:
    from flint import arb

_MARGINS = (*(1 + Fraction(1, 2**bits) for bits in (32, 16, 8, 2)), *(Fraction(4**power) for power in range(1, 40, 3)))
"""How much the floats' solution is raised before balls check it: far below what anyone sees, unless floats are at their
end."""

_WIDTHS = tuple(Fraction(1, 2**bits) for bits in (40, 24, 12))
"""How far from the p that floats found the two points lie that enclose the minimum; the first that do serve."""

_LEAST = Fraction(1, 2**100)
"""Where a number is below this, or above its inverse, the closed form serves alone."""

_LEAST_DELTA = Fraction(1, 2**1000)
_LEAST_REST = Fraction(1, 2**50)
_GREATEST_ORDER = 2**30
"""The same for δ, which floats follow further down, for 1 − δ, and for α."""

_MOST_BITS = 1024
"""More than twice this many bits beyond the usual aren't worked with."""

_GREATEST_EXPONENT = 600.0
"""Powers of e beyond this are handled by their logarithms."""


def renyi_to_epsilon(loss: RenyiDP, delta: Rationalizable) -> Fraction:
    """The least ε found at which every release of this loss is (ε, δ)-DP; rounded up, and never 0.

    It is the theorem's, but for parts in 10⁹, where F has its minimum within (δ, 1), as it mostly has for γ ≤ ε, and
    where floats can follow. Elsewhere it is Canonne, Kamath and Steinke's, at the worst.

    Args:
        loss: the bound on one Rényi divergence.
        delta: in (0, 1).

    Examples:
        >>> float(round(renyi_to_epsilon(RenyiDP(10, 1), 1e-5), 4))
        1.918
    """
    return _epsilon(loss, probability(delta, "delta"))


def renyi_to_delta(loss: RenyiDP, epsilon: Rationalizable) -> Fraction:
    """The least δ found at which every release of this loss is (ε, δ)-DP; rounded up, and 1 if there is none.

    It is the theorem's where `renyi_to_epsilon` would be. None below e^−700 is stated.

    Args:
        loss: the bound on one Rényi divergence.
        epsilon: above 0.

    Examples:
        >>> f"{float(renyi_to_delta(RenyiDP(10, 1), 2)):.4g}"
        '4.781e-06'
    """
    return _delta(loss, PureDP(epsilon).epsilon)


@lru_cache(maxsize=1024)
def _epsilon(loss: RenyiDP, delta: Fraction) -> Fraction:
    """`renyi_to_epsilon` of exact arguments: the closed form, and the theorem's where balls confirm that it is less."""
    from discreet.exact.ball import ball, fraction, precision

    with precision(_bits(loss, delta)):
        h = ball(loss.alpha - 1)
        closed = ball(loss.epsilon) - ((1 + h) * ball(delta)).log() / h - (1 / h).log1p()
        found = max(fraction(closed.upper()), LEAST_EPSILON)
        if _moderate(loss, found) and _LEAST_DELTA <= delta <= 1 - _LEAST_REST:
            order, least, most = _Order.of(loss), 0.0, float(found)
            for _ in range(60):
                middle = (least + most) / 2
                least, most = (least, middle) if order.slack(middle, float(delta)) >= 0 else (middle, most)
            for margin in _MARGINS:
                candidate = max(Fraction(most) * margin, LEAST_EPSILON)
                if candidate >= found:
                    break
                if _holds(loss, candidate, delta):
                    found = candidate
                    break
    return shorten(found, bits=53, round_up=True)


@lru_cache(maxsize=1024)
def _delta(loss: RenyiDP, epsilon: Fraction) -> Fraction:
    """`renyi_to_delta` of exact arguments: the closed form, and the theorem's where balls confirm that it is less."""
    from discreet.exact.ball import ball, fraction, precision

    with precision(_bits(loss, epsilon)):
        h = ball(loss.alpha - 1)
        log_delta = h * (ball(loss.epsilon) - ball(epsilon) - (1 / h).log1p()) - h.log1p()
        if log_delta < ball(LEAST_LOG_DELTA):
            return exp_bound(LEAST_LOG_DELTA, round_up=True)
        found = min(fraction(log_delta.exp().upper()), Fraction(1)) if log_delta < 1 else Fraction(1)
        if _moderate(loss, epsilon):
            order, low, most = _Order.of(loss), float(LEAST_LOG_DELTA), log_of(found) if found < 1 else -1e-9
            for _ in range(60):
                middle = (low + most) / 2
                low, most = (low, middle) if order.slack(float(epsilon), exp(middle)) >= 0 else (middle, most)
            for margin in _MARGINS:
                candidate = Fraction(exp(most)) * margin
                if candidate >= found:
                    break
                if _holds(loss, epsilon, candidate):
                    found = candidate
                    break
    return shorten(found, bits=53, round_up=True)


def _moderate(loss: RenyiDP, epsilon: Fraction) -> bool:
    """Whether floats can look for something better than the closed form, and it is worth it."""
    return _LEAST <= loss.alpha - 1 <= _GREATEST_ORDER and all(
        _LEAST <= n <= 1 / _LEAST for n in (loss.epsilon, epsilon)
    )


def _bits(loss: RenyiDP, other: Fraction) -> int:
    """A working precision that sees (α − 1)γ beside 1, if it is the square of a total variation as small as δ."""
    sizes = (abs(n.numerator.bit_length() - n.denominator.bit_length()) for n in (loss.alpha - 1, loss.epsilon, other))
    return BITS + 2 * min(sum(sizes), _MOST_BITS)


def _holds(loss: RenyiDP, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether the theorem's premise is proved; False may mean that it is merely in doubt."""
    share = _Order.of(loss).best_share(float(epsilon), float(delta))
    return any(_holds_between(loss, epsilon, delta, Fraction(share), width) for width in _WIDTHS)


def _holds_between(loss: RenyiDP, epsilon: Fraction, delta: Fraction, share: Fraction, width: Fraction) -> bool:
    """The same from two points so close, relatively, to the p that floats found."""
    from discreet.exact.ball import ball

    room = 1 - delta
    points = [delta + room * share / (1 + width), delta + room * (1 - (1 - share) / (1 + width))]
    if not delta < points[0] < points[1] < 1:
        return False
    (value, slope), (_, beyond) = (_value_and_slope(loss.alpha, epsilon, delta, p) for p in points)
    if not (slope < 0 < beyond):
        return False
    bottom = value + slope * ball(points[1] - points[0])
    return bool(bottom > 0 and ball((loss.alpha - 1) * (epsilon - loss.epsilon)) + bottom.log() >= 0)


def _value_and_slope(alpha: Fraction, epsilon: Fraction, delta: Fraction, p: Fraction) -> tuple[arb, arb]:
    """F(p) and F′(p), enclosed."""
    from discreet.exact.ball import ball

    order, other = ball(alpha), ball(epsilon).exp() - ball(p - delta)
    near = ball(p) / ball(p - delta)
    far = ball(1 - p) / other
    rising, falling = near ** (order - 1), far ** (order - 1)
    value = ball(p) * rising + ball(1 - p) * falling
    slope = rising * (order - (order - 1) * near) - falling * (order - (order - 1) * far)
    return value, slope


@dataclass(frozen=True, slots=True)
class _Order:
    """The theorem's premise in floats, to steer by.

    With q = (p − δ)/e^ε, a = ln(p/q) ≥ 0 ≥ b = ln((1−p)/(1−q)) and h = α − 1, its left side is ln M − hγ with M − 1 =
    p·(e^(ha) − 1) + (1 − p)·(e^(hb) − 1): no power overflows, and little is lost where h, ε, γ and δ are tiny.

    Args:
        h: α − 1.
        gamma: the bound on the divergence.
    """

    h: float
    gamma: float

    @classmethod
    def of(cls, loss: RenyiDP) -> _Order:
        """The same, for a loss whose numbers are moderate."""
        return cls(float(loss.alpha - 1), float(loss.epsilon))

    def slack(self, epsilon: float, delta: float) -> float:
        """The premise's left side at the best p."""
        share = self.best_share(epsilon, delta)
        p, rest, a, b = _logs(epsilon, delta, share)
        if self.h * a > _GREATEST_EXPONENT:
            return log(p) + self.h * (a - self.gamma)  # the other term is at least p − 1
        grown = p * expm1(self.h * a) + rest * expm1(self.h * b)
        return log1p(grown) - self.h * self.gamma if grown > -1 else -inf

    def best_share(self, epsilon: float, delta: float) -> float:
        """Where F is least, as the share of the way from δ to 1, by bisection of its slope's sign."""
        low, high = -650.0, 0.0  # of the share's logarithm
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._falls(epsilon, delta, exp(middle)) else (low, middle)
        return exp((low + high) / 2)

    def _falls(self, epsilon: float, delta: float, share: float) -> bool:
        """The sign of F′, which is that of e^(ha)·(1 − hδ/(p − δ)) − e^(hb)·(1 + h(1 − e^(b − ε)))."""
        own = (1 - delta) * share
        if share >= 1 or own <= 0:
            return own <= 0
        lost = self.h * delta / own
        if lost >= 1:
            return True
        _, _, a, b = _logs(epsilon, delta, share)
        return self.h * (a - b) + log1p(-lost) < log1p(-self.h * expm1(b - epsilon))


def _logs(epsilon: float, delta: float, share: float) -> tuple[float, float, float, float]:
    """p, 1 − p, a and b at a share of the way from δ to 1."""
    own, rest = (1 - delta) * share, (1 - delta) * (1 - share)
    a = epsilon + log1p(delta / own)
    return delta + own, rest, a, (log(rest) if rest > 0 else -inf) - log1p(-own * exp(-epsilon))


def pure_to_renyi(epsilon: Rationalizable, alpha: Rationalizable) -> RenyiDP:
    """The least bound on D_α that holds for every ε-DP release; rounded up.

    D_α = ln((e^(αε) + e^((1−α)ε)) / (1 + e^ε)) / (α − 1), which is that of randomised response with odds e^ε; any
    other ε-DP release is a post-processing of it (Kairouz, Oh, Viswanath 2015, Theorem 2).

    Args:
        epsilon: above 0.
        alpha: above 1.

    Examples:
        >>> print(pure_to_renyi(1, 2))
        ε = 0.735326 of order 2
    """
    return _renyi(PureEvent(epsilon=PureDP(epsilon).epsilon), RenyiDP(alpha, 1))


def bounded_range_to_renyi(epsilon: Rationalizable, alpha: Rationalizable) -> RenyiDP:
    """The least bound on D_α that holds for every release whose privacy loss has a range of ε; rounded up.

    With c = (e^(αε) − 1)/(e^ε − 1) and u = c(α − 1)/(α(c − 1)), it is D_α = ln u + ln(c/α)/(α − 1). For the range see
    `bounded_range_to_zcdp`, for the proof `discreet.textbook.accounting.renyi_divergences`.

    Args:
        epsilon: the range; above 0.
        alpha: above 1.

    Examples:
        >>> print(bounded_range_to_renyi(1, 2))
        ε = 0.240229 of order 2
    """
    return _renyi(ExponentialEvent(epsilon=PureDP(epsilon).epsilon), RenyiDP(alpha, 1))


def _renyi(event: PureEvent | ExponentialEvent, order: RenyiDP) -> RenyiDP:
    from discreet.textbook.accounting.renyi_divergences import log_moment

    bound = log_moment(event, order.alpha) / (order.alpha - 1)
    return RenyiDP(order.alpha, shorten(bound, bits=BITS // 2, round_up=True))
