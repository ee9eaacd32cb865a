"""Mechanisms make exact answers private, by noise or by a random choice, and say how much and at what cost.

Questions use `Laplace`, `Gaussian`, `Threshold`, `Quantile`, `QuantileInterval` and `Mode`, and the last three use
`Exponential`. The functions `laplace`, `gaussian` and `exponential` are for exact numbers of your own. Mechanisms that
no question uses are in `discreet.mechanisms.textbook`.
"""

from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.functions import exponential, gaussian, laplace
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.histogram import Contribution
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mode import Mode
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.quantile_interval import QuantileInterval
from discreet.mechanisms.release import Choice, Release
from discreet.mechanisms.threshold import Threshold

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
