"""Exact and directed arithmetic: the numbers that carry privacy.

Ball arithmetic is in `discreet.exact.ball`, which is imported only where it is used: flint takes a while to load.
"""

from discreet.exact.elementary import exp, log, sqrt
from discreet.exact.rational import Rationalizable, positive, probability, rational
from discreet.exact.rounding import to_float

__all__ = ["Rationalizable", "exp", "log", "positive", "probability", "rational", "sqrt", "to_float"]
