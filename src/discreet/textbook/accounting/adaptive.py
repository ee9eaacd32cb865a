"""Ways of adding up losses that hold when each release, its loss included, depends on the answers before it.

Few bounds do. A bound for a sequence that was fixed in advance (advanced or optimal composition, a privacy loss
distribution, a Rényi curve with its order picked at the end) says nothing of a conversation in which what is asked, and
how much noise it gets, was decided by answers. So what may be used in a filter is a type of its own, `AdaptiveTotal`.
Anything else is refused, by mypy and when the program runs. Each total names the theorem it rests on.

A privacy filter sets a limit at the start, within which every conversation keeps its guarantee. The ledger's own filter
is `discreet.accounting.filters`, which counts in two ways at once. Those here count in one, for programs that keep an
account of their own in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar, cast, final

from discreet.accounting.loss_arithmetic import rounded_up
from discreet.errors import BudgetExhausted, InvalidArgument, LossNotAccepted
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP

LossT = TypeVar("LossT", PureDP, ApproxDP, ZCDP, RenyiDP, GaussianDP)
"""One kind of loss."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts that add up: a main one (ε, ρ or μ², say) and a δ, both exact or rounded up."""

    main: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Refuse refunds."""
        if self.main < 0 or self.delta < 0:
            raise InvalidArgument("an amount of loss can't be negative")

    def __add__(self, other: Amounts) -> Amounts:
        """Both; never below the exact sum."""
        return Amounts(rounded_up(self.main + other.main), rounded_up(self.delta + other.delta))

    def within(self, limit: Amounts) -> bool:
        """Whether neither amount exceeds that of `limit`; an exact comparison."""
        return self.main <= limit.main and self.delta <= limit.delta


class AdaptiveTotal(ABC, Generic[LossT]):
    """A sum that is proved for releases and losses that are chosen one after the other."""

    __slots__ = ()

    @abstractmethod
    def amounts(self, loss: LossT) -> Amounts:
        """The amounts that one loss adds.

        Raises:
            LossNotAccepted: the loss is of another kind.
        """


@final
class PureSum(AdaptiveTotal[PureDP]):
    """Σε ≤ ε: the conversation is ε-DP.

    Rogers, Roth, Ullman, Vadhan (2016), the filter of basic composition. *Proof.* The ratio of a transcript's
    probabilities on neighbours is the product of its releases' ratios, given what came before, so at most e^Σε. ∎
    """

    __slots__ = ()

    def amounts(self, loss: PureDP) -> Amounts:
        """ε."""
        return Amounts(_checked(loss, PureDP).epsilon)


@final
class ApproxSum(AdaptiveTotal[ApproxDP]):
    """Σε ≤ ε and Σδ ≤ δ: the conversation is (ε, δ)-DP.

    Rogers, Roth, Ullman, Vadhan (2016), the filter of basic composition. *Proof.* Each release is (1−δᵢ)Pᵢ + δᵢJᵢ on
    one and (1−δᵢ)Qᵢ + δᵢJ′ᵢ on the other of two neighbours, with Pᵢ ≤ e^εᵢ Qᵢ (Kairouz, Oh, Viswanath 2015,
    Theorem 2). Some junk J comes up with probability at most Σδᵢ; the transcripts without it have ratios up to
    e^Σεᵢ. ∎
    """

    __slots__ = ()

    def amounts(self, loss: ApproxDP) -> Amounts:
        """ε and δ."""
        return Amounts(_checked(loss, ApproxDP).epsilon, loss.delta)


@final
class ZCDPSum(AdaptiveTotal[ZCDP]):
    """Σρ ≤ ρ and Σδ ≤ δ: the conversation is ρ-zCDP, but for events of probability δ.

    Whitehouse, Ramdas, Rogers, Wu (2023), Theorem 1; for δ = 0 already Feldman, Zrnic (2021), as it holds at each order
    separately. *Proof.* Given what came before, release i multiplies E[e^((α−1)L)] by at most e^((α−1)αρᵢ), L being the
    privacy loss so far; so e^((α−1)(L − αΣρᵢ)) is a supermartingale, and its mean at the end is at most 1. ∎
    """

    __slots__ = ()

    def amounts(self, loss: ZCDP) -> Amounts:
        """ρ and δ."""
        return Amounts(_checked(loss, ZCDP).rho, loss.delta)


@final
@dataclass(frozen=True, slots=True)
class RenyiSum(AdaptiveTotal[RenyiDP]):
    """Σε ≤ ε at one order that was set before the first question: the conversation has that divergence.

    Feldman, Zrnic (2021), the Rényi filter; the proof is that of `ZCDPSum`. With several orders, of which the best is
    picked at the end, it fails.

    Args:
        alpha: the order; above 1.
    """

    alpha: Fraction

    def amounts(self, loss: RenyiDP) -> Amounts:
        """ε, at this order only."""
        if _checked(loss, RenyiDP).alpha != self.alpha:
            raise LossNotAccepted(f"this filter counts divergences of order {float(self.alpha):.6g} only")
        return Amounts(loss.epsilon)


@final
class GaussianSum(AdaptiveTotal[GaussianDP]):
    """Σμ² ≤ μ²: the conversation is μ-GDP.

    Smith, Thakurta (2022), "Fully adaptive composition for Gaussian differential privacy"; Koskela, Tobaben, Honkela
    (2023). *Proof.* Let W be a Brownian motion on [0, μ²], without drift on one neighbour and with drift 1 on the
    other. Its increment over a span of time μᵢ² is N(0, μᵢ²) or N(μᵢ², μᵢ²), which are as hard to tell apart as
    N(0, 1) and N(μᵢ, 1), so a μᵢ-GDP release can be made from it by post-processing (Blackwell's theorem; Dong, Roth,
    Su 2019, Theorem 2.10). Make every answer so, from the increment that follows those used before. Increments are
    independent of the past, so the conversation has its right law; it never needs more than the path up to μ². So
    it is a post-processing of that path, of which the end point, N(0, μ²) or N(μ², μ²), tells as much as all of it. ∎
    """

    __slots__ = ()

    def amounts(self, loss: GaussianDP) -> Amounts:
        """μ²."""
        return Amounts(_checked(loss, GaussianDP).mu ** 2)


def total_for(limit: LossT) -> AdaptiveTotal[LossT]:
    """The way of adding up that goes with a kind of limit.

    Examples:
        >>> total_for(PureDP(1)).amounts(PureDP("0.5"))
        Amounts(main=Fraction(1, 2), delta=Fraction(0, 1))
    """
    found: Any  # of the limit's kind, which mypy can't follow through a match
    match limit:
        case PureDP():
            found = PureSum()
        case ApproxDP():
            found = ApproxSum()
        case ZCDP():
            found = ZCDPSum()
        case RenyiDP(alpha=alpha):
            found = RenyiSum(alpha)
        case GaussianDP():
            found = GaussianSum()
        case _:
            raise LossNotAccepted(f"{type(limit).__name__} isn't a kind of loss that a conversation can be kept within")
    return cast("AdaptiveTotal[LossT]", found)


def _checked(loss: LossT, kind: type[LossT]) -> LossT:
    if not isinstance(loss, kind):
        raise LossNotAccepted(
            f"this filter counts {kind.__name__}, not {type(loss).__name__}", hint="`convert` where that is sound"
        )
    return loss


@dataclass(frozen=True, slots=True)
class PrivacyFilter(Generic[LossT]):
    """Admits a release as long as all that was admitted, itself included, stays within the limit; build it with `over`.

    Guarantee: everything admitted has the loss `limit`, even if releases and their losses are chosen one by one, after
    seeing all answers so far. Refusals give nothing away: they depend on the losses only. A filter never changes;
    `spend` returns the next one, so that a program can't forget a debit by half.

    Args:
        limit: what all answers together may give away.
        total: how losses are added up; only what is proved for conversations.
        spent: what was admitted so far.

    Raises:
        LossNotAccepted: `total` isn't proved for conversations, or counts other losses than the limit's.

    Examples:
        >>> from discreet.privacy import GaussianDP
        >>> account = PrivacyFilter.over(GaussianDP(5)).spend(GaussianDP(3))
        >>> account.admits(GaussianDP(4)), account.admits(GaussianDP("4.001"))
        (True, False)
    """

    limit: LossT
    total: AdaptiveTotal[LossT]
    spent: Amounts = field(default_factory=Amounts)

    def __post_init__(self) -> None:
        """Refuse bounds that are proved for fixed sequences only."""
        if not isinstance(self.total, AdaptiveTotal):
            name = getattr(self.total, "__name__", type(self.total).__name__)
            raise LossNotAccepted(
                f"{name} isn't proved for releases that are chosen after answers were seen",
                hint="a filter takes an AdaptiveTotal, such as ZCDPSum",
            )
        self.total.amounts(self.limit)

    @classmethod
    def over(cls, limit: LossT) -> PrivacyFilter[LossT]:
        """The filter that keeps a conversation within a loss, with nothing spent."""
        return PrivacyFilter(limit, total_for(limit))

    def admits(self, loss: LossT) -> bool:
        """Whether a release of this loss may be answered.

        Raises:
            LossNotAccepted: the loss is of another kind than the limit.
        """
        return self._after(loss).within(self.total.amounts(self.limit))

    def spend(self, loss: LossT) -> PrivacyFilter[LossT]:
        """The filter after a release of this loss; to be kept before the data is touched.

        Raises:
            BudgetExhausted: it isn't admitted.
            LossNotAccepted: the loss is of another kind than the limit.
        """
        if not self.admits(loss):
            raise BudgetExhausted(f"a release at {loss} would bring the total above {self.limit}")
        return replace(self, spent=self._after(loss))

    def _after(self, loss: LossT) -> Amounts:
        """The total with one release more."""
        return self.spent + self.total.amounts(loss)
