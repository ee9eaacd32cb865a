"""Conversions between losses, each rounded so that the result still holds; one file for each pair of kinds."""

from discreet.accounting.conversions.convert import convert
from discreet.accounting.conversions.from_pure import (
    bounded_range_to_renyi,
    bounded_range_to_zcdp,
    laplace_to_zcdp,
    lowered,
    pure_to_gaussian,
    pure_to_renyi,
    pure_to_zcdp,
)
from discreet.accounting.conversions.gaussian_dp import gaussian_to_delta, gaussian_to_epsilon, mu_for
from discreet.accounting.conversions.renyi_dp import renyi_to_delta, renyi_to_epsilon
from discreet.accounting.conversions.zcdp import (
    gaussian_to_zcdp,
    rho_for,
    to_approx,
    zcdp_to_delta,
    zcdp_to_epsilon,
    zcdp_to_renyi,
)

__all__ = [
    "bounded_range_to_renyi",
    "bounded_range_to_zcdp",
    "convert",
    "gaussian_to_delta",
    "gaussian_to_epsilon",
    "gaussian_to_zcdp",
    "laplace_to_zcdp",
    "lowered",
    "mu_for",
    "pure_to_gaussian",
    "pure_to_renyi",
    "pure_to_zcdp",
    "renyi_to_delta",
    "renyi_to_epsilon",
    "rho_for",
    "to_approx",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
    "zcdp_to_renyi",
]
