"""Exact and directed arithmetic: the numbers that carry privacy.

Ball arithmetic is in `discreet.exact.ball`, which is imported only where it is used: flint takes a while to load.
"""

from discreet.exact.rational import Rationalizable, positive, probability, rational
from discreet.exact.rounding import exp, log, sqrt, to_float

__all__ = ["Rationalizable", "exp", "log", "positive", "probability", "rational", "sqrt", "to_float"]
