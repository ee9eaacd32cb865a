"""All conversions in one place: what a loss of one kind says in terms of another, or why it says nothing.

from ╲ to   pure        (ε, δ)         zCDP           Rényi, one order       Gaussian
pure        itself      yes            yes            yes                    yes
(ε, δ)      if δ = 0    δ may grow     with its δ     if δ = 0               if δ = 0
zCDP        never       yes            itself         if δ = 0               not known
Rényi       never       yes            never          of lower orders        never
Gaussian    never       yes            yes            yes                    itself
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never, overload

from discreet.accounting.gaussian_dp import gaussian_to_epsilon, pure_to_gaussian
from discreet.accounting.loss_arithmetic import BITS, LEAST_EPSILON
from discreet.accounting.zcdp import (
    gaussian_to_zcdp,
    pure_to_zcdp,
    zcdp_to_epsilon,
    zcdp_to_renyi,
)
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.exact.rational import Rationalizable, probability
from discreet.exact.rounding import shorten
from discreet.privacy import ZCDP, AnyLoss, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.textbook.accounting.renyi_dp import pure_to_renyi, renyi_to_epsilon

_RARE = "with probability δ anything may come out, so no bound on every outcome, or on their average, follows"
_GAUSSIAN = "Gaussian noise has such a loss, and the ratio of its densities on neighbours has no bound"
_ONE_ORDER = "a divergence of one order says nothing about greater orders, and bounds no ratio"
_NO_TRADE_OFF = "no μ is known to follow from a bound on Rényi divergences"


@overload
def convert(loss: AnyLoss, to: type[PureDP]) -> PureDP: ...
@overload
def convert(loss: AnyLoss, to: type[ApproxDP], *, delta: Rationalizable | None = None) -> ApproxDP: ...
@overload
def convert(loss: AnyLoss, to: type[ZCDP]) -> ZCDP: ...
@overload
def convert(loss: AnyLoss, to: type[RenyiDP], *, alpha: Rationalizable) -> RenyiDP: ...
@overload
def convert(loss: AnyLoss, to: type[GaussianDP]) -> GaussianDP: ...


def convert(
    loss: AnyLoss,
    to: type[AnyLoss],
    *,
    delta: Rationalizable | None = None,
    alpha: Rationalizable | None = None,
) -> AnyLoss:
    """A loss stated as one of another kind, for every release that has it; only rounded up.

    Args:
        loss: what is proved of the release.
        to: the kind to state it in.
        delta: for `ApproxDP`: the δ to state. Needed unless the loss is pure or approximate already, for which it may
            be more than the loss's own, and lowers ε.
        alpha: for `RenyiDP`: the order; above 1.

    Raises:
        LossNotAccepted: no loss of that kind follows; the message says why.
        InvalidArgument: δ or α is missing, has no meaning here, or is out of range.

    Examples:
        >>> print(convert(GaussianDP(1), ApproxDP, delta=1e-6))
        ε = 4.88655, δ = 1e-06
        >>> print(convert(PureDP(1), ZCDP))
        ρ = 0.462121
    """
    if alpha is not None and to is not RenyiDP:
        raise InvalidArgument("alpha belongs to RenyiDP alone")
    if delta is not None and to is not ApproxDP:
        raise InvalidArgument("delta belongs to ApproxDP alone")
    if to is ApproxDP:
        return _approx(loss, delta)
    if to is RenyiDP:
        if alpha is None:
            raise InvalidArgument("a Rényi divergence has an order", hint="convert(loss, RenyiDP, alpha=8)")
        return _renyi(loss, RenyiDP(alpha, 1).alpha)
    if to is PureDP:
        return _pure(loss)
    if to is ZCDP:
        return _zcdp(loss)
    if to is GaussianDP:
        return _gaussian(loss)
    raise InvalidArgument(f"{to!r} isn't a kind of loss")


def _approx(loss: AnyLoss, delta: Rationalizable | None) -> ApproxDP:
    """As (ε, δ)."""
    if isinstance(loss, PureDP | ApproxDP):
        own = loss.delta if isinstance(loss, ApproxDP) else Fraction(0)
        if delta is None:
            return ApproxDP(loss.epsilon, own)
        _at_least(probability(delta, "delta"), own)
        return lowered(loss, delta)
    if delta is None:
        raise InvalidArgument(
            "this loss is (ε, δ)-DP for many δ: say which", hint="convert(loss, ApproxDP, delta=1e-6)"
        )
    stated = probability(delta, "delta")
    match loss:
        case ZCDP(rho=rho, delta=own):
            _at_least(stated, own, strictly=True)
            return ApproxDP(zcdp_to_epsilon(rho, stated - own), stated)
        case RenyiDP():
            return ApproxDP(renyi_to_epsilon(loss, stated), stated)
        case GaussianDP(mu=mu):
            return ApproxDP(gaussian_to_epsilon(mu, stated), stated)
    assert_never(loss)


def _pure(loss: AnyLoss) -> PureDP:
    """As pure ε."""
    match loss:
        case PureDP():
            return loss
        case ApproxDP(epsilon=epsilon, delta=delta):
            return PureDP(_certain(epsilon, delta, PureDP))
        case ZCDP() | GaussianDP():
            raise _refusal(loss, PureDP, _GAUSSIAN)
        case RenyiDP():
            raise _refusal(loss, PureDP, _ONE_ORDER)
    assert_never(loss)


def _zcdp(loss: AnyLoss) -> ZCDP:
    """As ρ-zCDP; approximately, with the loss's own δ, if it has one (Bun, Steinke 2016, Definition 8.1)."""
    match loss:
        case ZCDP():
            return loss
        case PureDP(epsilon=epsilon):
            return ZCDP(pure_to_zcdp(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ZCDP(pure_to_zcdp(epsilon), delta)
        case GaussianDP(mu=mu):
            return ZCDP(gaussian_to_zcdp(mu))
        case RenyiDP():
            raise _refusal(loss, ZCDP, _ONE_ORDER)
    assert_never(loss)


def _renyi(loss: AnyLoss, alpha: Fraction) -> RenyiDP:
    """As a Rényi divergence of one order. It never falls with the order, so a bound holds for all lower ones."""
    match loss:
        case PureDP(epsilon=epsilon):
            return pure_to_renyi(epsilon, alpha)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return pure_to_renyi(_certain(epsilon, delta, RenyiDP), alpha)
        case ZCDP(rho=rho, delta=delta):
            return zcdp_to_renyi(_certain(rho, delta, RenyiDP), alpha)
        case GaussianDP(mu=mu):
            return zcdp_to_renyi(gaussian_to_zcdp(mu), alpha)
        case RenyiDP(alpha=known, epsilon=epsilon):
            if alpha > known:
                raise _refusal(loss, RenyiDP, _ONE_ORDER)
            return RenyiDP(alpha, epsilon)
    assert_never(loss)


def _gaussian(loss: AnyLoss) -> GaussianDP:
    """As μ-GDP."""
    match loss:
        case GaussianDP():
            return loss
        case PureDP(epsilon=epsilon):
            return GaussianDP(pure_to_gaussian(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return GaussianDP(pure_to_gaussian(_certain(epsilon, delta, GaussianDP)))
        case ZCDP() | RenyiDP():
            raise _refusal(loss, GaussianDP, _NO_TRADE_OFF)
    assert_never(loss)


def _certain(amount: Fraction, delta: Fraction, to: type[AnyLoss]) -> Fraction:
    """The amount of a loss that has no δ."""
    if delta:
        raise LossNotAccepted(f"no {to.__name__} follows from a loss with a δ: {_RARE}")
    return amount


def _refusal(loss: AnyLoss, to: type[AnyLoss], why: str) -> LossNotAccepted:
    """The error that says why."""
    return LossNotAccepted(f"no {to.__name__} follows from {type(loss).__name__} ({loss}): {why}")


def _at_least(delta: Fraction, own: Fraction, *, strictly: bool = False) -> None:
    """Refuse a δ in which the loss's own doesn't fit."""
    if delta < own or (strictly and own and delta == own):
        raise InvalidArgument(f"delta must be above {float(own):.3g}, the loss's own, not {float(delta):.3g}")


def lowered(loss: PureDP | ApproxDP, delta: Rationalizable) -> ApproxDP:
    """The least ε at which every release of this loss is (ε, δ)-DP, for a δ above its own; rounded up.

    It is ε′ = ln(e^ε − (1 + e^ε)·(δ′ − δ)/(1 − δ)), or next to 0 where that isn't above 1.

    Proof. Every (ε, δ)-DP release is a post-processing of: with probability δ say which neighbour it is, else
    randomised response with odds e^ε (Kairouz, Oh, Viswanath 2015, Theorem 2). The δ of that at ε′ ≤ ε is
    δ + (1 − δ)·(e^ε − e^ε′)/(1 + e^ε), by which δ′ is reached at the ε′ above, and at no smaller one.

    Args:
        loss: what is known.
        delta: the δ′ to state; at least the loss's own, below 1.

    Examples:
        >>> print(lowered(PureDP(1), "0.1"))
        ε = 0.852905, δ = 0.1
    """
    from discreet.exact.ball import ball, fraction, precision

    stated, own = probability(delta, "delta"), loss.delta if isinstance(loss, ApproxDP) else Fraction(0)
    if stated == own:
        return ApproxDP(loss.epsilon, stated)
    with precision(BITS):
        share = ball((stated - own) / (1 - own))
        inner = 1 - share - share * ball(-loss.epsilon).exp()  # e^(ε′ − ε)
        least = fraction((ball(loss.epsilon) + inner.log()).upper()) if inner > 0 else LEAST_EPSILON
    return ApproxDP(min(shorten(max(least, LEAST_EPSILON), bits=53, round_up=True), loss.epsilon), stated)
