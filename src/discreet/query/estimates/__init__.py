"""Estimates: from released integers to the statistic an analyst asked for, with its interval.

`noise` says what noise a number has, `intervals` how far that may carry an answer, and each estimator how a statistic
comes from several numbers. `slopes` tells how far it will move before there is an answer, so planning stands on this
room. All of it is post-processing: it costs nothing and can give nothing away, so plain floats will do from here on.
"""

from discreet.query.estimates.associations import Association
from discreet.query.estimates.choices import Grid, ModeEstimator, QuantileEstimator, grid_of
from discreet.query.estimates.estimators import Estimator, Mean, Noises, Noisy, OfNoRows, Spread, Total, integer
from discreet.query.estimates.intervals import Interval, Joint
from discreet.query.estimates.linear import LinearRatio, deviation, parts_with_intervals, ratio_of
from discreet.query.estimates.noise import Mechanism, Noise, Pick, Selection, can_be_summed
from discreet.query.estimates.products import Sums
from discreet.query.estimates.selected_groups import Selected
from discreet.query.estimates.slopes import ROWS, Slopes, is_announced, magnitude, slopes_of, slopes_of_aggregate

__all__ = [
    "ROWS",
    "Association",
    "Estimator",
    "Grid",
    "Interval",
    "Joint",
    "LinearRatio",
    "Mean",
    "Mechanism",
    "ModeEstimator",
    "Noise",
    "Noises",
    "Noisy",
    "OfNoRows",
    "Pick",
    "QuantileEstimator",
    "Selected",
    "Selection",
    "Slopes",
    "Spread",
    "Sums",
    "Total",
    "can_be_summed",
    "deviation",
    "grid_of",
    "integer",
    "is_announced",
    "magnitude",
    "parts_with_intervals",
    "ratio_of",
    "slopes_of",
    "slopes_of_aggregate",
]
