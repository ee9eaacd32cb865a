"""Mechanisms that no question uses: for your own programs, for audits and for the textbook.

`docs/mechanisms.md` shows them at work.
"""

from discreet.textbook.mechanisms.adaptive_weights import AdaptiveWeights
from discreet.textbook.mechanisms.bounded_laplace import BoundedLaplace, TruncatedLaplace
from discreet.textbook.mechanisms.local_sensitivity import median_sensitivities, steps_until
from discreet.textbook.mechanisms.noisy_max import NoisyMax
from discreet.textbook.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.textbook.mechanisms.propose_test_release import ProposeTestRelease
from discreet.textbook.mechanisms.randomised_response import RandomisedResponse
from discreet.textbook.mechanisms.range_tree import Ranges, RangeTree
from discreet.textbook.mechanisms.sample_and_aggregate import SampleAndAggregate
from discreet.textbook.mechanisms.smooth_sensitivity import SmoothSensitivity
from discreet.textbook.mechanisms.sparse_vector import AboveThreshold, Watch
from discreet.textbook.mechanisms.stable_histogram import StableHistogram
from discreet.textbook.mechanisms.staircase import Staircase
from discreet.textbook.mechanisms.top_k import TopK
from discreet.textbook.mechanisms.truncated_geometric import TruncatedGeometric
from discreet.textbook.mechanisms.vector_clipping import Clipping

__all__ = [
    "AboveThreshold",
    "AdaptiveWeights",
    "BoundedLaplace",
    "Clipping",
    "NoisyMax",
    "PermuteAndFlip",
    "ProposeTestRelease",
    "RandomisedResponse",
    "RangeTree",
    "Ranges",
    "SampleAndAggregate",
    "SmoothSensitivity",
    "StableHistogram",
    "Staircase",
    "TopK",
    "TruncatedGeometric",
    "TruncatedLaplace",
    "Watch",
    "median_sensitivities",
    "steps_until",
]
