"""Mechanisms: what makes exact answers private, by noise or by a drawn choice; how much of it, and what that costs.

Questions use `Laplace`, `Gaussian`, `Threshold`, `Quantile`, `QuantileInterval` and `Mode`, and the last three use
`Exponential`. The functions `laplace`, `gaussian` and `exponential` are for exact numbers of your own. What no question
uses is in `discreet.mechanisms.textbook`.
"""

from discreet.mechanisms.additive_noise import Gaussian, Laplace
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.functions import exponential, gaussian, laplace
from discreet.mechanisms.histogram import Contribution, Mode
from discreet.mechanisms.quantile import Quantile, QuantileInterval
from discreet.mechanisms.release import Choice, Release, Threshold

__all__ = [
    "Choice",
    "Contribution",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Mode",
    "Quantile",
    "QuantileInterval",
    "Release",
    "Threshold",
    "exponential",
    "gaussian",
    "laplace",
]
