"""Group privacy: what a guarantee for one unit says about several."""

from __future__ import annotations

from typing import cast

from discreet.accounting.composition.sequential import LossT
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.exact import log
from discreet.exact.rounding import shorten
from discreet.privacy import ZCDP, AnyLoss, ApproxDP, GaussianDP, PureDP, RenyiDP


def group(loss: LossT, size: int) -> LossT:
    """The loss about tables that differ in up to `size` units, from that about tables that differ in one.

    - ε-DP: kε.
    - (ε, δ)-DP: kε and δ·(e^(kε) − 1)/(e^ε − 1), by going through the tables in between: δ is carried over k − 1,
      k − 2, … more steps, each of which stretches it by e^ε.
    - ρ-zCDP: k²ρ; not known for a loss with a δ.
    - μ-GDP: kμ.
    - (α, ε)-Rényi: (α/2^c, 3^c ε) for k ≤ 2^c, as long as α ≥ 2^(c+1).

    Args:
        loss: about one unit.
        size: k, how many units; 1 or more.

    Raises:
        LossNotAccepted: nothing is known, or δ would be 1 or more.
        InvalidArgument: `size` isn't 1 or more.

    Source: Dwork, Roth (2014), Theorem 2.2; Vadhan (2017), Lemma 2.2; Bun, Steinke (2016), Proposition 1.9; Dong, Roth,
    Su (2019), Theorem 2.14; Mironov (2017), Proposition 2.

    Examples:
        >>> print(group(ApproxDP(1, 1e-6), 3))
        ε = 3, δ = 1.11e-05
        >>> print(group(ZCDP("0.1"), 3))
        ρ = 0.9
    """
    if size < 1:
        raise InvalidArgument(f"a group has one unit or more, not {size}")
    return loss if size == 1 else cast("LossT", _of_many(loss, size))


def _of_many(loss: AnyLoss, size: int) -> AnyLoss:
    """`group` for two or more."""
    match loss:
        case PureDP(epsilon=epsilon):
            return PureDP(size * epsilon)
        case ApproxDP():
            return _approximate(loss, size)
        case ZCDP(rho=rho, delta=delta):
            if delta:
                raise LossNotAccepted(
                    "no bound on groups is known for zCDP with a δ", hint="convert it to ApproxDP first"
                )
            return ZCDP(size**2 * rho)
        case GaussianDP(mu=mu):
            return GaussianDP(size * mu)
        case RenyiDP(alpha=alpha, epsilon=epsilon):
            doublings = (size - 1).bit_length()
            if alpha < 2 ** (doublings + 1):
                raise LossNotAccepted(f"an order of {float(alpha):.6g} is too low for a group of {size}")
            return RenyiDP(alpha / 2**doublings, 3**doublings * epsilon)


def _approximate(loss: ApproxDP, size: int) -> ApproxDP:
    """(kε, δ·(e^(kε) − 1)/(e^ε − 1))."""
    from discreet.exact.ball import ball, enclose

    if not loss.delta:
        return ApproxDP(size * loss.epsilon, 0)
    if (size - 1) * loss.epsilon > log(1 / loss.delta, round_up=True):  # the factor is e^((k − 1)ε) or more
        raise _says_nothing(size)
    high = enclose(lambda: ball(size * loss.epsilon).expm1() / ball(loss.epsilon).expm1() * ball(loss.delta), bits=64)[
        1
    ]
    delta = shorten(high, bits=53, round_up=True)
    if delta >= 1:
        raise _says_nothing(size)
    return ApproxDP(size * loss.epsilon, delta)


def _says_nothing(size: int) -> LossNotAccepted:
    """The refusal of a δ of 1 or more."""
    return LossNotAccepted(f"for a group of {size} the δ of this loss says nothing any more")
