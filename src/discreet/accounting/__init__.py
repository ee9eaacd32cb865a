"""Accounting: what events cost, what a budget still admits, and what one kind of loss means in terms of another.

- `charge_of`, `filter_for`, `loss_of`: what the ledger counts, and admits.
- `convert` and the functions beside it: one kind of loss in terms of another.
- `sequential`, `parallel`, `advanced`, `heterogeneous`, `optimal`, `group`, `amplify_…`: losses of several releases, of
  several people, of samples. For what was fixed in advance.
- `curve_of`, `renyi_curve_of`, `best_of`: guarantees for every δ at once, likewise. The first is mostly the tightest;
  the second knows more of choices by the exponential mechanism, and of Gaussian noise on several counts with a σ of
  few steps.
- `PrivacyFilter`, `Odometer`: accounts of conversations, in which each release depends on the answers before it.
- `solve`, `training`: noise, ε, δ, number of uses and accuracy from one another.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from discreet.accounting.charge import Charge, charge_of, first_charge_of, loss_of
from discreet.accounting.filters import Filter, Remaining, filter_for
from discreet.accounting.gaussian_dp import (
    gaussian_loss_of,
    gaussian_mu,
    gaussian_to_delta,
    gaussian_to_epsilon,
    mu_for,
    pure_to_gaussian,
)
from discreet.accounting.zcdp import (
    bounded_range_to_zcdp,
    gaussian_to_zcdp,
    laplace_to_zcdp,
    pure_to_zcdp,
    rho_for,
    to_approx,
    zcdp_to_delta,
    zcdp_to_epsilon,
    zcdp_to_renyi,
)

if TYPE_CHECKING:
    from discreet.textbook.accounting.accuracy import Noise, radius_of, scale_within
    from discreet.textbook.accounting.adaptive import (
        AdaptiveTotal,
        ApproxSum,
        GaussianSum,
        PrivacyFilter,
        PureSum,
        RenyiSum,
        ZCDPSum,
    )
    from discreet.textbook.accounting.advanced_composition import advanced, heterogeneous
    from discreet.textbook.accounting.calibration import Solution, solve
    from discreet.textbook.accounting.composition import (
        amplify_poisson,
        amplify_without_replacement,
        group,
        parallel,
        sequential,
    )
    from discreet.textbook.accounting.convert import convert, lowered
    from discreet.textbook.accounting.dp_sgd import Training, training
    from discreet.textbook.accounting.guarantee import Accountant, Guarantee, best_of
    from discreet.textbook.accounting.odometer import Odometer
    from discreet.textbook.accounting.optimal_composition import optimal, optimal_delta
    from discreet.textbook.accounting.pld import LossCurve, curve_of
    from discreet.textbook.accounting.renyi_curve import RenyiCurve, renyi_curve_of
    from discreet.textbook.accounting.renyi_dp import (
        bounded_range_to_renyi,
        pure_to_renyi,
        renyi_to_delta,
        renyi_to_epsilon,
    )

__all__ = [
    "Accountant",
    "AdaptiveTotal",
    "ApproxSum",
    "Charge",
    "Filter",
    "GaussianSum",
    "Guarantee",
    "LossCurve",
    "Noise",
    "Odometer",
    "PrivacyFilter",
    "PureSum",
    "Remaining",
    "RenyiCurve",
    "RenyiSum",
    "Solution",
    "Training",
    "ZCDPSum",
    "advanced",
    "amplify_poisson",
    "amplify_without_replacement",
    "best_of",
    "bounded_range_to_renyi",
    "bounded_range_to_zcdp",
    "charge_of",
    "convert",
    "curve_of",
    "filter_for",
    "first_charge_of",
    "gaussian_loss_of",
    "gaussian_mu",
    "gaussian_to_delta",
    "gaussian_to_epsilon",
    "gaussian_to_zcdp",
    "group",
    "heterogeneous",
    "laplace_to_zcdp",
    "loss_of",
    "lowered",
    "mu_for",
    "optimal",
    "optimal_delta",
    "parallel",
    "pure_to_gaussian",
    "pure_to_renyi",
    "pure_to_zcdp",
    "radius_of",
    "renyi_curve_of",
    "renyi_to_delta",
    "renyi_to_epsilon",
    "rho_for",
    "scale_within",
    "sequential",
    "solve",
    "to_approx",
    "training",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
    "zcdp_to_renyi",
]

_TEXTBOOK = {
    "accuracy": ["Noise", "radius_of", "scale_within"],
    "adaptive": ["AdaptiveTotal", "ApproxSum", "GaussianSum", "PrivacyFilter", "PureSum", "RenyiSum", "ZCDPSum"],
    "advanced_composition": ["advanced", "heterogeneous"],
    "calibration": ["Solution", "solve"],
    "composition": ["amplify_poisson", "amplify_without_replacement", "group", "parallel", "sequential"],
    "convert": ["convert", "lowered"],
    "dp_sgd": ["Training", "training"],
    "guarantee": ["Accountant", "Guarantee", "best_of"],
    "odometer": ["Odometer"],
    "optimal_composition": ["optimal", "optimal_delta"],
    "pld": ["LossCurve", "curve_of"],
    "renyi_curve": ["RenyiCurve", "renyi_curve_of"],
    "renyi_dp": ["bounded_range_to_renyi", "pure_to_renyi", "renyi_to_delta", "renyi_to_epsilon"],
}
"""The module of each name that no question uses. It is loaded when first asked for, so no question loads it."""


def __getattr__(name: str) -> object:
    for home, names in _TEXTBOOK.items():
        if name in names:
            globals()[name] = getattr(import_module(f"discreet.textbook.accounting.{home}"), name)
            return globals()[name]
    raise AttributeError(f"module 'discreet.accounting' has no attribute {name!r}")
