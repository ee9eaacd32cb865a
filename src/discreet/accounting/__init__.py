"""Accounting: what events cost, what a budget still admits, and what one kind of loss means in terms of another."""

from discreet.accounting.charge import Charge, charge_of
from discreet.accounting.conversions import (
    bounded_range_to_zcdp,
    pure_to_zcdp,
    rho_for,
    to_approx,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from discreet.accounting.filters import Filter, Remaining, filter_for
from discreet.accounting.losses import loss_of

__all__ = [
    "Charge",
    "Filter",
    "Remaining",
    "bounded_range_to_zcdp",
    "charge_of",
    "filter_for",
    "loss_of",
    "pure_to_zcdp",
    "rho_for",
    "to_approx",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]
