"""Filters and odometers: what is admitted, or spent, where each question may depend on the answers before it.

**Filters** say which questions a budget still admits.
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
3. On B: let M_B be the conversation without junk that answers a question if (B) holds and refuses it otherwise. What is
   answered in y ∈ B, M_B answers too; what is refused in y was refused by (A) and by (B), so M_B refuses it. Hence M_B
   gives y the same probabilities P(y) and Q(y). It is ρ*-zCDP by the second filter, so it is (ε, δc)-DP, which says
   that Σ_y max(0, P(y) − e^ε Q(y)) ≤ δc. As 0 ≤ w ≤ 1, also Σ_{y∈S∩B} w(y)(P(y) − e^ε Q(y)) ≤ δc.
4. Together, Pr[M(x) ∈ S] ≤ e^ε Σ_{y∈S} w(y)Q(y) + δc + δs ≤ e^ε Pr[M(x′) ∈ S] + δ. ∎

*Why there is no third filter.* Sums of μ², of Gaussian DP, keep a conversation too (`adaptive.GaussianSum`), and with
the same δc they would admit 13 % more Gaussian noise than ρ* does at ε = 3, δ = 10⁻⁶. But another way to be admitted
takes a δ of its own: step 3 would be done once for the transcripts that the second filter keeps, and once for those
that the third alone does. With half of δc for each, Gaussian noise would gain 7 % and all else would lose 5 %. (The
first filter takes none, as P(y) never exceeds e^ε Q(y) on A.) Nor can the third take the place of the second: of
Laplace noise at a small ε, μ² is (π/2)·ε², and 2ρ is ε². A single plan is fixed in advance, so it may be proved by
either bound; and a program that adds Gaussian noise alone has `PrivacyFilter.over(GaussianDP(…))`.

**Odometers** run along with a conversation; their bound holds at every moment, without a limit set at the start.

*Theorem.* Fix λ₀, λ₁, … > 0 and δ₀, δ₁, … > 0 with Σδⱼ ≤ δ before the first question. Let the n-th release be ρₙ-zCDP
given the answers before it, ρₙ chosen after them, and let L be the privacy loss ln(Pr[M(x) = y] / Pr[M(x′) = y]) of the
transcript y so far. Then with probability at least 1 − δ over the answers on x, at all times at once,

    L ≤ minⱼ (1 + λⱼ)·Σρ + ln(1/δⱼ)/λⱼ.

*Proof.* Given the past, E[e^(λL′)] ≤ e^(λ(λ+1)ρₙ) for the loss L′ of the n-th release, by the definition of zCDP at
order 1 + λ. So e^(λL − λ(λ+1)Σρ) is a supermartingale that starts at 1, and with probability at least 1 − δⱼ never
reaches 1/δⱼ (Ville's inequality). Take logarithms, and the sum over j. ∎

Pure releases also have L ≤ Σε with certainty, so the lesser of both bounds is shown. The grid: level j serves sums near
ρⱼ = 4^j times a first one, with λⱼ = √(ln(1/δⱼ)/ρⱼ), the best for ρⱼ, and δⱼ = δ/((j+1)(j+2)), which add up to δ.
Between two levels the bound is at most 7 % above what the best λ would give at the same δⱼ.

What it is good for: if a program stops, by whatever rule, at a moment when the odometer shows at most ε, all that it
released is (ε, δ)-DP. That is as with a filter, only that the program may look and go on instead.

Source: Rogers, Roth, Ullman, Vadhan (2016), "Privacy odometers and filters", its definition of a privacy odometer;
Whitehouse, Ramdas, Rogers, Wu (2023), "Fully-adaptive composition in differential privacy", its theorem on odometers
from time-uniform inequalities. The theorem above has its own proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import nextafter

from discreet.accounting.charge import Charge
from discreet.accounting.loss_arithmetic import rounded_up
from discreet.accounting.zcdp import gaussian_to_zcdp, pure_to_zcdp, rho_for
from discreet.errors import LossNotAccepted
from discreet.exact import log, sqrt, to_float
from discreet.exact.rational import Rationalizable, probability, shorten, shown
from discreet.privacy import ZCDP, ApproxDP, Budget, GaussianDP, Loss, PureDP

_LEVELS = 24
"""From the first ρ, 2⁻²⁰, to 2²⁶: below, plain sums are as good; above, nothing is private."""

_FIRST = Fraction(1, 2**20)
_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Odometer:
    """Shows an ε that holds for all that was released so far, whenever one looks; build it with `start`.

    Guarantee: see the theorem above. Losses may be chosen after the answers before them. It never changes; `record`
    returns the next one.

    Args:
        delta: the probability with which it may show too little, ever; in (0, 1). Set at the start.
        epsilon: sum of pure losses so far; None once one wasn't pure.
        rho: sum of zCDP losses so far, pure and Gaussian ones included.

    Examples:
        >>> odometer = Odometer.start(delta=1e-6)
        >>> for _ in range(3):
        ...     odometer = odometer.record(PureDP("0.1"))
        >>> float(odometer.bound)
        0.3
        >>> for _ in range(97):
        ...     odometer = odometer.record(PureDP("0.1"))
        >>> float(round(odometer.bound, 2))
        6.95
    """

    delta: Fraction
    epsilon: Fraction | None = Fraction(0)
    rho: Fraction = Fraction(0)

    @classmethod
    def start(cls, delta: Rationalizable) -> Odometer:
        """An odometer that shows 0.

        Args:
            delta: in (0, 1).
        """
        return cls(probability(delta, "delta"))

    def record(self, loss: PureDP | ZCDP | GaussianDP) -> Odometer:
        """The odometer after a release of this loss; to be kept before the data is touched.

        Raises:
            LossNotAccepted: the loss isn't of a kind that implies zCDP, or has a δ of its own.
        """
        match loss:
            case PureDP(epsilon=epsilon):
                more = None if self.epsilon is None else rounded_up(self.epsilon + epsilon)
                return replace(self, epsilon=more, rho=rounded_up(self.rho + pure_to_zcdp(epsilon)))
            case GaussianDP(mu=mu):
                return replace(self, epsilon=None, rho=rounded_up(self.rho + gaussian_to_zcdp(mu)))
            case ZCDP(rho=rho, delta=delta) if not delta:
                return replace(self, epsilon=None, rho=rounded_up(self.rho + rho))
        raise LossNotAccepted(f"an odometer counts PureDP, GaussianDP, and ZCDP without a δ, not {loss}")

    @property
    def bound(self) -> Fraction:
        """The ε that holds now; rounded up."""
        if not self.rho:
            return Fraction(0)
        found = _running(self.delta, self.rho)
        return found if self.epsilon is None else min(found, self.epsilon)


@lru_cache(maxsize=1024)
def _running(delta: Fraction, rho: Fraction) -> Fraction:
    """The least of all lines."""
    return shorten(min((1 + rate) * rho + offset for rate, offset in lines(delta)), bits=53, round_up=True)


@lru_cache(maxsize=64)
def lines(delta: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
    """For each level, λⱼ and ln(1/δⱼ)/λⱼ, the latter rounded up; any λ is sound.

    Examples:
        >>> len(lines(Fraction(1, 10**6)))
        24
    """
    found = []
    for level in range(_LEVELS):
        surprise = log((level + 1) * (level + 2) / delta, round_up=True)
        rate = shorten(sqrt(surprise / (_FIRST * _FACTOR**level), round_up=True), bits=20, round_up=True)
        found.append((rate, shorten(surprise / rate, bits=64, round_up=True)))
    return tuple(found)


_CONVERTED = Fraction(1, 2)
"""The share of a budget's δ that is kept for reading zCDP as (ε, δ); the rest pays for the selection of groups.

ρ* depends on it only through its logarithm: at ε = 3, δ = 10⁻⁶, all of δ instead of half would raise ρ* by 5 %.
"""

_BITS = 64
"""Roots are rounded down to this many binary digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """What a next question may cost: each amount is the greatest on its own, if the question costs nothing else.

    Args:
        epsilon: of a question with Laplace noise on one count; a sum of many steps may have a little more.
        rho: of a question with Gaussian noise.
        delta: of a selection of groups; its noise comes on top.
    """

    epsilon: Fraction
    rho: Fraction
    delta: Fraction

    def to_dict(self) -> dict[str, float]:
        """The amounts as JSON-ready numbers, rounded down so that what they say is admitted."""
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

        Of amounts so long that sums of them are rounded up, it may be one more than are admitted in the end.

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
        """What a next question may cost when `spent` has been spent so far; never more than would be admitted.

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
