"""Finite distributions of binary fractions: every tape agrees exactly, and other ends are refused."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.noise import finite
from discreet.noise.finite import finite_law
from discreet.stats import likelihood_ratio, likelihood_ratio_critical
from support.tapes import Tape, outcomes

sums = st.lists(st.integers(0, 2**7), max_size=6).map(lambda inner: [*sorted(inner), 2**7])


def shares(ends: Sequence[int], bits: int) -> dict[int, Fraction]:
    """What each index is promised, where that isn't 0."""
    steps = [Fraction(high - low, 2**bits) for low, high in pairwise([0, *ends])]
    return {index: step for index, step in enumerate(steps) if step}


@given(sums, st.sampled_from([1, 2, 3]))
def test_every_tape_agrees(ends: list[int], width: int) -> None:
    """All tapes of 7 bits or a little more, in words of 1, 2 and 3, give exactly the promised shares."""
    law = finite_law(ends, 7)
    decided, undecided = outcomes(lambda source: int(law.draw(1, source)[0]), width=width, depth=-(-7 // width))
    assert undecided == 0
    assert decided == shares(ends, 7)


def test_ends_longer_than_a_word_are_told_apart() -> None:
    """Two ends that differ in their 126th bit only: the uniform number next to each gives the index after it."""
    middle = 2**125 + 12345
    law = finite_law([middle, middle + 1, 2**126], 126)
    for offset, index in ((-1, 0), (0, 1), (1, 2)):
        words = divmod(middle + offset, 2**63)
        assert law.draw(1, Tape(words, width=63)).tolist() == [index]


def test_draws_fit_and_other_shares_do_not() -> None:
    """Likelihood ratio, false alarm 1e-9: 2^20 draws fit; a twin in which one share is 3 % smaller is 100 nats off."""
    ends, twin = [300, 300, 700, 1024], [291, 291, 700, 1024]
    critical = likelihood_ratio_critical(3, Fraction(1, 10**9))
    claimed = np.array([float(share) for share in shares(ends, 10).values()])
    for drawn, fits in ((finite(ends, 10, size=2**20), True), (finite(twin, 10, size=2**20), False)):
        counts = np.bincount(drawn, minlength=4)
        assert counts[1] == 0
        assert (likelihood_ratio(counts[[0, 2, 3]], claimed) <= critical) is fits


@pytest.mark.parametrize(
    ("ends", "bits"),
    [([], 3), ([7], 3), ([9], 3), ([5, 4, 8], 3), ([-1, 8], 3), ([4.0, 8], 3), ([True, 8], 3), ([1], 0), ([8], "3")],
    ids=str,
)
def test_other_ends_are_refused(ends: Any, bits: Any) -> None:
    """They never fall, begin at 0 or above, and the last is 2^bits."""
    with pytest.raises(InvalidArgument, match="ends"):
        finite(ends, bits)
