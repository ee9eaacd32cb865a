"""Mechanisms: what makes exact answers private, by noise or by a drawn choice; how much of it, and what that costs.

Questions use `Laplace`, `Gaussian`, `Threshold`, `Quantile`, `QuantileInterval` and `Mode`, and the last three use
`Exponential`. The
functions `laplace`, `gaussian` and `exponential` are for exact numbers of your own. What is imported from `textbook/`
serves your own programs, audits and the textbook; no question uses it.
"""

from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.functions import exponential, gaussian, laplace
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.histogram import Contribution
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mode_and_quantile import Mode, Quantile
from discreet.mechanisms.quantile_interval import QuantileInterval
from discreet.mechanisms.release import Choice, Release
from discreet.mechanisms.textbook.bounded_laplace import BoundedLaplace, TruncatedLaplace
from discreet.mechanisms.textbook.group_selection import StableHistogram, TruncatedGeometric
from discreet.mechanisms.textbook.noisy_max import NoisyMax
from discreet.mechanisms.textbook.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.textbook.randomised_response import RandomisedResponse
from discreet.mechanisms.textbook.range_tree import Ranges, RangeTree
from discreet.mechanisms.textbook.sparse_vector import AboveThreshold, Watch
from discreet.mechanisms.textbook.staircase import Staircase
from discreet.mechanisms.textbook.top_k import TopK
from discreet.mechanisms.textbook.vector_clipping import Clipping
from discreet.mechanisms.threshold import Threshold

__all__ = [
    "AboveThreshold",
    "BoundedLaplace",
    "Choice",
    "Clipping",
    "Contribution",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Mode",
    "NoisyMax",
    "PermuteAndFlip",
    "Quantile",
    "QuantileInterval",
    "RandomisedResponse",
    "RangeTree",
    "Ranges",
    "Release",
    "StableHistogram",
    "Staircase",
    "Threshold",
    "TopK",
    "TruncatedGeometric",
    "TruncatedLaplace",
    "Watch",
    "exponential",
    "gaussian",
    "laplace",
]
