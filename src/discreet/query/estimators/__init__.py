"""Estimators: from released integers to the statistic an analyst asked for, with its interval.

All of it is post-processing: it costs nothing and can give nothing away, so plain floats will do from here on.
"""

from discreet.query.estimators.associations import Association
from discreet.query.estimators.base import Estimator, Noises, Noisy, Value
from discreet.query.estimators.means import Mean
from discreet.query.estimators.modes import Frequent
from discreet.query.estimators.quantiles import Ranked
from discreet.query.estimators.spreads import Spread
from discreet.query.estimators.totals import Total

__all__ = [
    "Association",
    "Estimator",
    "Frequent",
    "Mean",
    "Noises",
    "Noisy",
    "Ranked",
    "Spread",
    "Total",
    "Value",
]
