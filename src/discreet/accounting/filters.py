"""Filters: which questions a budget still admits, where each may depend on the answers before it.

An analyst chooses each question, its noise included, after seeing the answers so far. Theorems on composition that fix
the losses in advance say nothing about that; a *privacy filter* does: it admits a question while the losses that were
charged, the new one included, stay within limits that were set at the start, and the whole conversation then has the
stated guarantee however the questions were chosen. Two are proved as tight as if everything had been fixed:

- *plain sums* Σε ≤ ε: the whole is ε-DP (Rogers, Roth, Ullman, Vadhan 2016, the filter of basic composition);
- *zCDP* Σρ ≤ ρ: the whole is ρ-zCDP, approximately so if Σδ ≤ δ (Whitehouse, Ramdas, Rogers, Wu 2023, Theorem 1).

Privacy loss distributions (PLD) are tighter still for a plan that is fixed in advance, and unsound here: a distribution
convolved for the questions that happened to be asked ignores that they were asked because of the answers. Optimising
the order α of a Rényi curve after the fact fails for the same reason.

**A budget in (ε, δ) runs both filters, and admits what either admits.** Of ε = 3, δ = 10⁻⁶, a question with Laplace
noise at ε = 1 costs a third in plain sums, while in zCDP it would cost more than there is; with a hundred questions at
ε = 0.05 it is the other way round.

*Theorem.* Let δ = δs + δc, and let ρ* be such that every ρ*-zCDP release is (ε, δc)-DP. Let M answer a question if, the
new question included, (A) Σε ≤ ε and Σδ ≤ δs, or (B) Σρ ≤ ρ* and Σδ ≤ δs; otherwise M refuses it, and may be asked
another. Then the transcript of M is (ε, δ)-DP.

*Proof.* Fix neighbours x, x′ and an analyst (a random one is a mixture of fixed ones). Each answered question i, given
the transcript before it, is a release with law (1−δᵢ)Pᵢ + δᵢJᵢ on x, for some junk Jᵢ, and (1−δᵢ)Qᵢ + δᵢJ′ᵢ on x′,
where Pᵢ and Qᵢ are within both εᵢ and ρᵢ of each other: that's the promise of `charge_of`. Write w(y) = Π(1−δᵢ) over
the questions answered in transcript y, and P(y) = ΠPᵢ, Q(y) = ΠQᵢ for the laws of the same conversation without junk.
Let A be the transcripts whose totals satisfy (A), and B all others; their totals satisfy (B), since the last admission
did. Totals only grow, so every prefix of a transcript in A satisfies (A), and every prefix of one in B satisfies (B).

1. Junk is rare. Along any transcript Σδᵢ ≤ δs, so Pr[M(x) ∈ S] ≤ Σ_{y∈S} w(y)P(y) + δs, while
   Pr[M(x′) ∈ S] ≥ Σ_{y∈S} w(y)Q(y).
2. On A: P(y) ≤ e^{Σεᵢ} Q(y) ≤ e^ε Q(y).
3. On B: let M_B be the conversation without junk that answers a question if (B) holds and refuses it otherwise. M_B
   answers whatever y ∈ B answers; whatever y refuses was refused by (A) and by (B), so M_B refuses it. Hence M_B gives
   y the same probabilities P(y) and Q(y). It is ρ*-zCDP by the second filter, so it is (ε, δc)-DP, which says that Σ_y
   max(0, P(y) − e^ε Q(y)) ≤ δc. As 0 ≤ w ≤ 1, also Σ_{y∈S∩B} w(y)(P(y) − e^ε Q(y)) ≤ δc.
4. Together, Pr[M(x) ∈ S] ≤ e^ε Σ_{y∈S} w(y)Q(y) + δc + δs ≤ e^ε Pr[M(x′) ∈ S] + δ. ∎

*Why there is no third filter.* Sums of μ², of Gaussian DP, keep a conversation too (`GaussianSum`), and with the same
δc they would admit 13 % more Gaussian noise than ρ* does at ε = 3, δ = 10⁻⁶. But another way to be admitted
takes a δ of its own: step 3 would be done once for the transcripts that the second filter keeps, and once for those
that the third alone does. With half of δc for each, Gaussian noise would gain 7 % and all else would lose 5 %. (The
first filter takes none, as P(y) never exceeds e^ε Q(y) on A.) Nor can the third take the place of the second: of
Laplace noise at a small ε, μ² is (π/2)·ε², and 2ρ is ε². A single plan is fixed in advance, so it may be proved by
either bound; and a program that adds Gaussian noise alone has `PrivacyFilter.over(GaussianDP(…))`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import nextafter

from discreet.accounting.charge import Charge
from discreet.accounting.zcdp import rho_for
from discreet.exact import sqrt, to_float
from discreet.exact.rounding import shorten, shown
from discreet.privacy import ZCDP, ApproxDP, Budget, Loss, PureDP

_CONVERTED = Fraction(1, 2)
"""The share of a budget's δ that is kept for reading zCDP as (ε, δ); the rest pays for the selection of groups.

ρ* depends on it only through its logarithm: at ε = 3, δ = 10⁻⁶, all of δ instead of half would raise ρ* by 5 %.
"""

_BITS = 64
"""Roots are rounded down to this many binary digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """The most that the next question may cost: each amount is the greatest if the question costs nothing else.

    Args:
        epsilon: of a question with Laplace noise on one count; a sum of many steps may have a little more.
        rho: of a question with Gaussian noise.
        delta: of a selection of groups; its noise comes on top.
    """

    epsilon: Fraction
    rho: Fraction
    delta: Fraction

    def to_dict(self) -> dict[str, float]:
        """The amounts as JSON-ready numbers, rounded down, so that a question at these amounts is admitted."""
        return {name: _readable(getattr(self, name)) for name in ("epsilon", "rho", "delta")}

    def __repr__(self) -> str:
        """The same, in short: the exact amounts are its attributes."""
        return f"Remaining({self})"

    def __str__(self) -> str:
        amounts = [f"ε = {shown(self.epsilon, 4)}"]
        amounts += [f"ρ = {shown(self.rho, 4)}"] if self.rho else []
        return " or ".join(amounts) + (f", with δ = {shown(self.delta, 3)} for groups" if self.delta else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Decides which questions may be answered; build it with `filter_for`.

    Args:
        limits: alternatives; what has been spent must stay within one of them.
        guarantee: what then holds for all answers together.
    """

    limits: tuple[Charge, ...]
    guarantee: Loss

    def admits(self, spent: Charge) -> bool:
        """Whether a question may be answered that would bring the total, itself included, to `spent`.

        Examples:
            >>> spent = Charge(epsilon=Fraction(3), rho=Fraction(9, 2), delta=Fraction(0))
            >>> filter_for(Budget(epsilon=3)).admits(spent)
            True
        """
        return any(spent.within(limit) for limit in self.limits)

    def times(self, spent: Charge, cost: Charge) -> int | None:
        """How many questions of one cost, one after the other, may be answered after `spent`; None if they're free.

        For amounts so long that their sums are rounded up, it may be one more than will be admitted.

        Examples:
            >>> from discreet.privacy import LaplaceEvent
            >>> from discreet.accounting import charge_of
            >>> tenth = charge_of(LaplaceEvent(scale=Fraction(10), l1=1))
            >>> filter_for(Budget(epsilon=3)).times(tenth, tenth)
            29
        """
        if cost == Charge.zero():
            return None
        unspent = [limit for limit in self.limits if spent.within(limit)]
        return max((_times(limit, spent, cost) for limit in unspent), default=0)

    def accepts(self, charge: Charge) -> bool:
        """Whether the account can hold a charge of this kind, whatever its size.

        A budget in pure ε can't hold Gaussian noise, nor any δ.
        """
        return any(
            (limit.epsilon is None or charge.epsilon is not None)
            and (limit.rho is None or charge.rho is not None)
            and (limit.delta > 0 or charge.delta == 0)
            for limit in self.limits
        )

    def remaining(self, spent: Charge) -> Remaining:
        """The most that the next question may cost once `spent` is spent; never more than would be admitted.

        Examples:
            >>> print(filter_for(Budget(epsilon=3)).remaining(Charge.zero()))
            ε = 3
        """
        unspent = [limit for limit in self.limits if spent.within(limit)]
        return Remaining(
            epsilon=max((_greatest_epsilon(limit, spent) for limit in unspent), default=Fraction(0)),
            rho=max((_greatest_rho(limit, spent) for limit in unspent), default=Fraction(0)),
            delta=max((limit.delta - spent.delta for limit in unspent), default=Fraction(0)),
        )


@lru_cache(maxsize=256)
def filter_for(budget: Budget) -> Filter:
    """The filter that keeps all answers together within a budget.

    - `Budget(epsilon)`: plain sums, and no δ.
    - `Budget(epsilon, delta)`: plain sums or zCDP, whichever admits; see the theorem above.
    - `Budget(rho=, delta=)`: sums of ρ and of δ.

    Examples:
        >>> print(filter_for(Budget(epsilon=3, delta=1e-6)).remaining(Charge.zero()))
        ε = 3 or ρ = 0.1757, with δ = 5e-07 for groups
    """
    if budget.epsilon is None:
        rho = budget.rho or Fraction(0)
        return Filter(limits=(Charge(epsilon=None, rho=rho, delta=budget.delta),), guarantee=ZCDP(rho, budget.delta))
    if budget.is_pure:
        limit = Charge(epsilon=budget.epsilon, rho=None, delta=Fraction(0))
        return Filter(limits=(limit,), guarantee=PureDP(budget.epsilon))
    converted = budget.delta * _CONVERTED
    selecting = budget.delta - converted
    return Filter(
        limits=(
            Charge(epsilon=budget.epsilon, rho=None, delta=selecting),
            Charge(epsilon=None, rho=rho_for(budget.epsilon, converted), delta=selecting),
        ),
        guarantee=ApproxDP(budget.epsilon, budget.delta),
    )


def _times(limit: Charge, spent: Charge, cost: Charge) -> int:
    """How often a cost fits between what was spent and one limit, as it must in each amount that is limited."""
    counts = [(limit.delta - spent.delta) // cost.delta] if cost.delta else []
    for most, before, each in ((limit.epsilon, spent.epsilon, cost.epsilon), (limit.rho, spent.rho, cost.rho)):
        if most is None:
            continue
        if before is None or each is None:
            return 0
        counts += [(most - before) // each] if each else []
    return min(counts, default=0)


def _greatest_rho(limit: Charge, spent: Charge) -> Fraction:
    """The greatest ρ that Gaussian noise may cost under one limit; none under a limit on ε."""
    if limit.epsilon is not None or limit.rho is None or spent.rho is None:
        return Fraction(0)
    return limit.rho - spent.rho


def _greatest_epsilon(limit: Charge, spent: Charge) -> Fraction:
    """The greatest ε that Laplace noise on a single number may cost under one limit; rounded down where it's a root.

    Under a limit r on ρ it solves `pure_to_zcdp`(ε) = r. Either ε = r, or it is a root: with E = ε² it solves
    E² + (60 − 12r)E − 120r = 0, so E = 120r/(h + √(h² + 120r)), h = 30 − 6r. The greater of both is the greatest.
    """
    if limit.epsilon is not None:
        return limit.epsilon - spent.epsilon if spent.epsilon is not None else Fraction(0)
    if limit.rho is None or spent.rho is None or limit.rho == spent.rho:
        return Fraction(0)
    left = limit.rho - spent.rho
    half = 30 - 6 * left
    square = 120 * left / (half + sqrt(half**2 + 120 * left, round_up=True, bits=_BITS))
    return max(left, shorten(sqrt(square, round_up=False, bits=_BITS), bits=_BITS, round_up=False))


def _readable(amount: Fraction) -> float:
    """The amount as a float that isn't above it when read back by its decimal digits."""
    number = to_float(amount, round_up=False)
    return number if Fraction(repr(number)) <= amount else nextafter(number, 0)
