"""Selection: groups that aren't known in public are those whose noisy number of units passes a threshold."""

from __future__ import annotations

from dataclasses import replace

from discreet.mechanisms import Threshold
from discreet.query import ir
from discreet.query.planner.draft import Draft


def selection(draft: Draft) -> Draft:
    """Set the threshold, if groups aren't public.

    A group is present if some unit keeps rows in it. One that is present in one neighbour only is kept there by a
    single unit, the one that differs, and counts it as 1. A unit keeps rows in at most g = `limits.groups` groups:
    those that are limited to r rows in all have g ≤ r, as nobody with at most r rows is in more groups, and one with
    more rows keeps g of its groups, by hash. So one unit makes at most g groups present that would otherwise be absent,
    however its rows are spread. With substitution, groups that only the other neighbour has can't be released from
    this one, so the number is the same.

    Their noises are independent. So any of them passes the threshold τ with a probability of at most 1 − (1 − p)^g,
    where p = Pr[noise ≥ τ − 1], and τ is the least for which that is at most δ. Unless one passes, what is released is
    about groups that both neighbours have, and costs what the noise costs: every measure moves by no more than its
    sensitivity over all groups, absent ones counting 0, as only rows that are kept are counted at all.

    A custodian who withholds groups of fewer than `least_units` has their threshold be no less than that.
    """
    if draft.selector is None or draft.request.delta is None:
        return draft
    counting = next(noise for noise in draft.noises if noise.measure.name == draft.selector)
    return replace(
        draft,
        threshold=Threshold(
            noise=counting.mechanism,
            l0=draft.limits.groups or 1,
            linf=counting.measure.hi if isinstance(counting.measure, ir.Sum) else 1,
            delta=draft.request.delta,
            least=draft.least_count,
        ),
    )
