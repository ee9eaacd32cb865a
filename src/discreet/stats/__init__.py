"""Exact intervals and tests, shared by audits, plots and the test suite.

Levels are proved, not approximated: what is called a false alarm of 1e-9 happens at most that often.
"""

from discreet.stats.chi_square import chi_square, chi_square_critical, chi_square_p_value
from discreet.stats.confidence_bounds import clopper_pearson, lower_bound, upper_bound
from discreet.stats.kolmogorov import ks_critical, ks_distance, ks_draws
from discreet.stats.likelihood_ratio import likelihood_ratio, likelihood_ratio_critical, likelihood_ratio_p_value

__all__ = [
    "chi_square",
    "chi_square_critical",
    "chi_square_p_value",
    "clopper_pearson",
    "ks_critical",
    "ks_distance",
    "ks_draws",
    "likelihood_ratio",
    "likelihood_ratio_critical",
    "likelihood_ratio_p_value",
    "lower_bound",
    "upper_bound",
]
