"""Mechanisms that no question uses: for your own programs, for audits and for the textbook.

`docs/mechanisms.md` shows them at work.
"""

from discreet.mechanisms.textbook.bounded_laplace import BoundedLaplace, TruncatedLaplace
from discreet.mechanisms.textbook.group_selection import StableHistogram, TruncatedGeometric
from discreet.mechanisms.textbook.noisy_max import NoisyMax, TopK
from discreet.mechanisms.textbook.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.textbook.range_tree import Ranges, RangeTree
from discreet.mechanisms.textbook.sparse_vector import AboveThreshold, Watch
from discreet.mechanisms.textbook.staircase import RandomisedResponse, Staircase
from discreet.mechanisms.textbook.vector_clipping import Clipping

__all__ = [
    "AboveThreshold",
    "BoundedLaplace",
    "Clipping",
    "NoisyMax",
    "PermuteAndFlip",
    "RandomisedResponse",
    "RangeTree",
    "Ranges",
    "StableHistogram",
    "Staircase",
    "TopK",
    "TruncatedGeometric",
    "TruncatedLaplace",
    "Watch",
]
