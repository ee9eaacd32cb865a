"""From a bounded range of the privacy loss to zCDP."""

from __future__ import annotations

from fractions import Fraction

from discreet.exact.rational import Rationalizable, positive


def bounded_range_to_zcdp(epsilon: Rationalizable) -> Fraction:
    """A ρ such that every release whose privacy loss has a range of ε is ρ-zCDP: the lesser of ε²/8 and ε.

    At small ε that is the least there is, and a quarter of what pure DP gives; at ε = 4 it is 20 % above the least.

    The range is bounded by ε if for all neighbours x, x′ there is an a such that the privacy loss
    L(y) = ln(Pr[M(x) = y] / Pr[M(x′) = y]) of every outcome y lies in [a, a + ε]. The exponential mechanism is such:
    L(y) = rate·(u(x, y) − u(x′, y)) − ln(Z/Z′), where the second term is the same for all y.

    Proof. Let K(t) = ln E[e^(tL)] over y from M(x′), so that K(0) = K(1) = 0 and D_α(M(x) ‖ M(x′)) = K(α)/(α − 1).
    K″(t) is the variance of L under a law tilted by e^(tL), and L lies in an interval of length ε, so K″ ≤ ε²/4
    (Popoviciu). Hence K(t) − ε²/8·t(t − 1) is concave, and 0 at 0 and at 1, so at most 0 beyond: D_α ≤ α·ε²/8. Also,
    E[e^L] = 1 puts 0 into [a, a + ε]; so |L| ≤ ε, which is ε-DP, and D_α ≤ ε.

    Args:
        epsilon: the range; above 0.

    Source: Durfee, Rogers (2019), Section 4, for bounded range; Cesar, Rogers (2021), the theorem that a range of ε is
    ε²/8-zCDP.

    Examples:
        >>> bounded_range_to_zcdp(1)
        Fraction(1, 8)
    """
    exact = positive(epsilon, "epsilon")
    return min(exact**2 / 8, exact)
