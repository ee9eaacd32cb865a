"""Mechanisms make exact answers private, by noise or by a random choice, and say how much and at what cost.

Questions use `Laplace`, `Gaussian`, `Threshold`, `NoisyRanks`, `Quantile` and `Mode`, and the last two use
`Exponential`. The functions `laplace`, `gaussian` and `exponential` are for exact numbers of your own. Mechanisms that
no question uses are in `discreet.mechanisms.textbook`.
"""

from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.functions import exponential, gaussian, laplace
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.histogram import Contribution
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mode import Mode
from discreet.mechanisms.noisy_ranks import NoisyRanks
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.release import Choice, Release
from discreet.mechanisms.threshold import Threshold

__all__ = [
    "Choice",
    "Contribution",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Mode",
    "NoisyRanks",
    "Quantile",
    "Release",
    "Threshold",
    "exponential",
    "gaussian",
    "laplace",
]
