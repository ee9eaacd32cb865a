"""Which private groups are released: those whose noisy number of units passes a threshold."""

from __future__ import annotations

from dataclasses import replace

from discreet.mechanisms import Threshold
from discreet.query import ir
from discreet.query.draft import Draft


def selection(draft: Draft) -> Draft:
    """Set the threshold, if groups aren't public.

    A group that is present in one neighbour only holds a single unit there, which counts 1. One unit makes at most
    `limits.groups` groups present that would otherwise be absent. With substitution, groups that only the other
    neighbour has can't be released from this one, so the number is the same. δ bounds the probability that any of
    them passes.
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
        ),
    )
