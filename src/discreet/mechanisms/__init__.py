"""Mechanisms: what adds noise to exact integers, how much of it, and what that costs."""

from discreet.mechanisms.face import gaussian, laplace
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.release import Release
from discreet.mechanisms.threshold import Threshold

__all__ = ["Gaussian", "Laplace", "Release", "Threshold", "gaussian", "laplace"]
