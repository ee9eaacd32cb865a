"""Wald's sequential test of a share: draws until it is clear, mostly a tenth of what a fixed number would have to be.

The odds of what was seen under the share that would be wrong, over those under the share that is claimed, are a
martingale if the claim is just met, and fall on average if it is more than met. By Ville's inequality they ever reach
1/α with probability α at most: that is the false alarm, however long it takes. Their inverse reaches 1/β with
probability β at most where the share is as wrong as that, or more so: that is the chance that it is let through.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

MISS = Fraction(1, 100)
"""A wrong share is let through one time in a hundred."""

ROUNDING = 1e-6
"""Added to the logarithms of odds that decide: far more than they are off by."""


@dataclass(frozen=True, slots=True)
class Claim:
    """That something happens with at least this probability or, where the wrong one is greater, at the most.

    Args:
        share: the probability that is claimed.
        wrong: one that must be found out, as any beyond it.
        alarm: with which probability the claim is rejected, at the most, where it holds.
        miss: with which probability it isn't, at the most, where the truth is `wrong` or beyond it.
    """

    share: float
    wrong: float
    alarm: Fraction
    miss: Fraction = MISS

    def verdict(self, hits: int, trials: int) -> bool | None:
        """Whether the claim stands after so many trials; None while it isn't clear."""
        log_odds = hits * log(self.wrong / self.share) + (trials - hits) * log((1 - self.wrong) / (1 - self.share))
        if log_odds >= -log(self.alarm) + ROUNDING:
            return False
        return True if log_odds <= log(self.miss) - ROUNDING else None


def stands(trials: Iterable[bool], *claims: Claim) -> bool:
    """Whether all claims do; trials, of which there must be enough, are drawn until each of them is clear.

    Args:
        trials: whether it happened, time after time.
        claims: about how often it does.
    """
    hits, waiting = 0, list(claims)
    for number, hit in enumerate(trials, start=1):
        hits += hit
        verdicts = {claim: claim.verdict(hits, number) for claim in waiting}
        if False in verdicts.values():
            return False
        waiting = [claim for claim, verdict in verdicts.items() if verdict is None]
        if not waiting:
            return True
    raise AssertionError("there were too few trials to tell")


def all_stand(trials: Iterable[Sequence[bool]], claim: Claim) -> bool:
    """Whether a claim stands of each of several things that happen in the same trials.

    Args:
        trials: which of them happened, time after time.
        claim: about how often each does.
    """
    hits: dict[int, int] | None = None  # of those that aren't clear
    for number, happened in enumerate(trials, start=1):
        hits = dict.fromkeys(range(len(happened)), 0) if hits is None else hits
        for place in list(hits):
            hits[place] += happened[place]
            verdict = claim.verdict(hits[place], number)
            if verdict is False:
                return False
            if verdict:
                del hits[place]
        if not hits:
            return True
    raise AssertionError("there were too few trials to tell")
