"""Composition of losses that were fixed before the first release: sequential, parallel, of groups, and of samples.

Releases about the same people add up. Releases about disjoint groups of people cost as much as the most expensive one.
A guarantee for one unit implies a weaker one for several. A release about a secret random sample costs less than one
about everyone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar, cast

from discreet.accounting.loss_arithmetic import BITS, LEAST_EPSILON, root, total
from discreet.errors import InvalidArgument, LossNotAccepted
from discreet.exact import log
from discreet.exact.rational import Rationalizable, positive, probability
from discreet.exact.rounding import shorten
from discreet.privacy import ADD_REMOVE, ZCDP, Adjacency, AnyLoss, ApproxDP, GaussianDP, PureDP, RenyiDP

if TYPE_CHECKING:
    from flint import arb

LossT = TypeVar("LossT", PureDP, ApproxDP, ZCDP, RenyiDP, GaussianDP)
"""One kind of loss."""


def sequential(losses: Sequence[LossT]) -> LossT:
    """The loss of all releases together: ε and δ add up, ρ adds up, μ² adds up, ε of one order adds up.

    It holds however each release was chosen after the answers before it, as long as the losses were fixed; where they
    may be chosen as well, use a filter (`discreet.textbook.accounting.adaptive`), which knows the same sums.

    Args:
        losses: one or more, of one kind, and of one order if they are Rényi divergences; `convert` makes them so.

    Raises:
        LossNotAccepted: they are of different kinds or orders.
        InvalidArgument: there is none, or the δs add up to 1 or more.

    Source: Dwork, Roth (2014), Theorem 3.16, for ε and δ; Bun, Steinke (2016), Lemma 1.7, for ρ; Mironov (2017),
    Proposition 1, for one order; Dong, Roth, Su (2019), Corollary 3.3, for μ.

    Examples:
        >>> print(sequential([ApproxDP(1, 1e-6), ApproxDP("0.5", 1e-6)]))
        ε = 1.5, δ = 2e-06
        >>> print(sequential([GaussianDP(3), GaussianDP(4)]))
        μ = 5
    """
    kinds = {type(loss) for loss in losses}
    if len(kinds) != 1:
        raise _different(kinds)
    found = _summed(cast("Sequence[AnyLoss]", losses))
    return cast("LossT", found)


def _different(kinds: Collection[type[AnyLoss]]) -> InvalidArgument | LossNotAccepted:
    """The error for losses of different kinds."""
    if not kinds:
        return InvalidArgument("there must be a loss to compose")
    names = " and ".join(sorted(kind.__name__ for kind in kinds))
    return LossNotAccepted(f"{names} don't add up", hint="`convert` states them in one kind")


def _summed(losses: Sequence[AnyLoss]) -> AnyLoss:
    """The sum of losses of one kind."""
    match losses[0]:
        case PureDP():
            return PureDP(total(loss.epsilon for loss in losses if isinstance(loss, PureDP)))
        case ApproxDP():
            same = [loss for loss in losses if isinstance(loss, ApproxDP)]
            return ApproxDP(total(loss.epsilon for loss in same), total(loss.delta for loss in same))
        case ZCDP():
            concentrated = [loss for loss in losses if isinstance(loss, ZCDP)]
            return ZCDP(total(loss.rho for loss in concentrated), total(loss.delta for loss in concentrated))
        case GaussianDP():
            square = total(loss.mu**2 for loss in losses if isinstance(loss, GaussianDP))
            return GaussianDP(root(square))
        case RenyiDP(alpha=alpha):
            renyi = [loss for loss in losses if isinstance(loss, RenyiDP)]
            if any(loss.alpha != alpha for loss in renyi):
                raise LossNotAccepted("Rényi divergences of different orders don't add up")
            return RenyiDP(alpha, total(loss.epsilon for loss in renyi))


def parallel(losses: Sequence[LossT], *, adjacency: Adjacency) -> LossT:
    """The loss of one release on each part of a table that was divided so that every unit is in one part only.

    Under add-remove, one unit more changes one part: it costs the greatest loss (in each of its amounts separately).
    Under substitution the new unit may be in another part than the old one, so two parts change: the two greatest add
    up.

    Args:
        losses: of the releases, about neighbouring parts under the same relation; one or more, of one kind. Under
            substitution a part may also lose a unit or get one, so there the loss must cover that, too.
        adjacency: which tables are neighbours.

    Raises:
        LossNotAccepted: they are of different kinds or orders.
        InvalidArgument: there is none, or the two greatest δ add up to 1 or more.

    Source: McSherry (2009), Theorem 4.

    Examples:
        >>> print(parallel([PureDP(1), PureDP(2), PureDP(3)], adjacency=ADD_REMOVE))
        ε = 3
        >>> from discreet.privacy import SUBSTITUTION
        >>> print(parallel([PureDP(1), PureDP(2), PureDP(3)], adjacency=SUBSTITUTION))
        ε = 5
    """
    sequential(losses[:1])  # refuses an empty sequence
    if len({type(loss) for loss in losses}) != 1:
        raise LossNotAccepted("losses of different kinds can't be compared", hint="`convert` states them in one kind")
    changing = 1 if adjacency is ADD_REMOVE else 2
    return cast("LossT", _greatest(cast("Sequence[AnyLoss]", losses), changing))


def _greatest(losses: Sequence[AnyLoss], changing: int) -> AnyLoss:
    """The greatest amounts of these losses, composed."""
    orders = {loss.alpha for loss in losses if isinstance(loss, RenyiDP)}
    if len(orders) > 1:
        raise LossNotAccepted("Rényi divergences of different orders can't be compared")

    def amounts(name: str) -> list[Fraction]:
        return sorted(map(attrgetter(name), losses), reverse=True)[:changing]

    match losses[0]:
        case PureDP():
            return sequential([PureDP(epsilon) for epsilon in amounts("epsilon")])
        case ApproxDP():
            pairs = zip(amounts("epsilon"), amounts("delta"), strict=True)
            return sequential([ApproxDP(epsilon, delta) for epsilon, delta in pairs])
        case ZCDP():
            return sequential([ZCDP(rho, delta) for rho, delta in zip(amounts("rho"), amounts("delta"), strict=True)])
        case GaussianDP():
            return sequential([GaussianDP(mu) for mu in amounts("mu")])
        case RenyiDP(alpha=alpha):
            return sequential([RenyiDP(alpha, epsilon) for epsilon in amounts("epsilon")])


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
    return LossNotAccepted(f"the δ of this loss no longer says anything about a group of {size}")


def amplify_poisson(loss: PureDP | ApproxDP, rate: Rationalizable) -> PureDP | ApproxDP:
    """The loss if each unit is in the sample independently with probability q: ε′ = ln(1 + q(e^ε − 1)), δ′ = qδ.

    It speaks of neighbours with and without a unit, and assumes that no one learns who was in the sample.

    Args:
        loss: of what was done to the sample, about neighbouring samples.
        rate: q, in (0, 1).

    Source: Balle, Barthe, Gaboardi (2018), Theorem 8; for pure ε Li, Qardaji, Su (2012), Theorem 1.

    Examples:
        >>> print(amplify_poisson(ApproxDP(1, 1e-6), "0.01"))
        ε = 0.0170369, δ = 1e-08
    """
    return _amplified(loss, probability(rate, "rate"))


def amplify_without_replacement(loss: PureDP | ApproxDP, size: int, of: int) -> PureDP | ApproxDP:
    """The loss if the sample has `size` of `of` units, all such samples alike: as for Poisson, with q = size/of.

    It speaks of neighbours with one unit in place of another, before and after sampling, and assumes that no one learns
    who was in the sample.

    Args:
        loss: of what was done to the sample, about samples with one unit in place of another.
        size: of the sample; 1 or more, below `of`.
        of: how many units there are; public.

    Source: Balle, Barthe, Gaboardi (2018), Theorem 9.

    Examples:
        >>> print(amplify_without_replacement(PureDP(1), 10, of=1000))
        ε = 0.0170369
    """
    return _amplified(loss, probability(Fraction(size, of), "the share that is sampled"))


def amplified(epsilon: Rationalizable, rate: Rationalizable) -> Fraction:
    """ln(1 + q(e^ε − 1)), rounded up; never above ε.

    Args:
        epsilon: above 0.
        rate: q, in (0, 1).
    """
    from discreet.exact.ball import ball, enclose

    whole, q = positive(epsilon, "epsilon"), probability(rate, "rate")

    def less() -> arb:
        return (ball(q) * ball(whole).expm1()).log1p()

    high = enclose(less, bits=BITS)[1]
    return min(shorten(max(high, LEAST_EPSILON), bits=BITS // 2, round_up=True), whole)


def _amplified(loss: PureDP | ApproxDP, rate: Fraction) -> PureDP | ApproxDP:
    epsilon = amplified(loss.epsilon, rate)
    return ApproxDP(epsilon, rate * loss.delta) if isinstance(loss, ApproxDP) else PureDP(epsilon)
