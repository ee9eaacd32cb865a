"""Mechanisms: what makes exact answers private, by noise or by a drawn choice; how much of it, and what that costs."""

from discreet.mechanisms.choice import Choice
from discreet.mechanisms.contribution import Contribution
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.face import exponential, gaussian, laplace
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mode import Mode
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.release import Release
from discreet.mechanisms.threshold import Threshold

__all__ = [
    "Choice",
    "Contribution",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Mode",
    "Quantile",
    "Release",
    "Threshold",
    "exponential",
    "gaussian",
    "laplace",
]
