"""Estimates: from released integers to the statistic an analyst asked for, with its interval.

`noise` says what noise a number has, `estimator` how a statistic comes from several numbers; `totals`, `truths`,
`means`, `associations`, `regressions` and `choices` are its families. `laplace_sums`, `many_laplaces`, `discrete_sums`
and `discrete_tails` say how far noise reaches, `intervals` how far it may move an answer, `selected_groups` how far if
noise decides what is shown, and `cut_off` how far what limits leave out may. `outputs` says how far noise will, before
there is an answer, so planning stands on this room. All of it is post-processing: it costs nothing and can give nothing
away, so plain floats will do from here on.
"""

from discreet.query.estimates.associations import Association
from discreet.query.estimates.choices import ModeEstimator, Pick, QuantileEstimator, Selection
from discreet.query.estimates.cut_off import CutOffIntervals, RowsCutOff, RowSpans, SizeClass
from discreet.query.estimates.discrete_sums import Addend, can_be_summed
from discreet.query.estimates.discrete_tails import Mechanism
from discreet.query.estimates.estimator import Estimator
from discreet.query.estimates.grids import Grid, grid_of
from discreet.query.estimates.intervals import SMALLEST, Joint
from discreet.query.estimates.linear import ROWS, Linear, LinearRatio, Slopes
from discreet.query.estimates.means import Mean, Spread
from discreet.query.estimates.noise import Interval, Noise, Noises, Noisy, integer
from discreet.query.estimates.outputs import declared_ends, deviation, parts_with_intervals, ratio_of, slopes_of
from discreet.query.estimates.products import Sums
from discreet.query.estimates.rank_noise import noisy_ranks
from discreet.query.estimates.regressions import Coefficient, Determination, Line, SumOfProducts
from discreet.query.estimates.selected_groups import (
    RAREST,
    Apart,
    Condition,
    HalfSpace,
    Together,
    Unknown,
    Window,
    confidence_if_shown,
    joined,
)
from discreet.query.estimates.totals import OfNoRows, Total
from discreet.query.estimates.truths import Truth

__all__ = [
    "RAREST",
    "ROWS",
    "SMALLEST",
    "Addend",
    "Apart",
    "Association",
    "Coefficient",
    "Condition",
    "CutOffIntervals",
    "Determination",
    "Estimator",
    "Grid",
    "HalfSpace",
    "Interval",
    "Joint",
    "Line",
    "Linear",
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
    "RowSpans",
    "RowsCutOff",
    "Selection",
    "SizeClass",
    "Slopes",
    "Spread",
    "SumOfProducts",
    "Sums",
    "Together",
    "Total",
    "Truth",
    "Unknown",
    "Window",
    "can_be_summed",
    "confidence_if_shown",
    "declared_ends",
    "deviation",
    "grid_of",
    "integer",
    "joined",
    "noisy_ranks",
    "parts_with_intervals",
    "ratio_of",
    "slopes_of",
]
