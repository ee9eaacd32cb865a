"""The words of differential privacy: units, neighbours, bounds, keys, limits, sensitivities, losses, events."""

from discreet.privacy.adjacency import ADD_REMOVE, SUBSTITUTION, Adjacency
from discreet.privacy.bounds import Bounds, BoundValue
from discreet.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    SampledEvent,
    SelectionEvent,
)
from discreet.privacy.failures import FAILURES, checked_failures
from discreet.privacy.keys import Keys, KeyValue
from discreet.privacy.least_units import checked_least_units
from discreet.privacy.limits import Limits
from discreet.privacy.losses import (
    FAR,
    NEAR,
    ZCDP,
    AnyLoss,
    ApproxDP,
    Budget,
    GaussianDP,
    Loss,
    MonthlyShare,
    PureDP,
    RenyiDP,
    rho_of_range,
)
from discreet.privacy.sensitivity import Sensitivity
from discreet.privacy.unit import Period, Unit

__all__ = [
    "ADD_REMOVE",
    "FAILURES",
    "FAR",
    "NEAR",
    "SUBSTITUTION",
    "ZCDP",
    "Adjacency",
    "AnyLoss",
    "ApproxDP",
    "ApproxEvent",
    "BoundValue",
    "Bounds",
    "Budget",
    "ComposedEvent",
    "Event",
    "ExponentialEvent",
    "GaussianDP",
    "GaussianEvent",
    "KeyValue",
    "Keys",
    "LaplaceEvent",
    "Limits",
    "Loss",
    "MonthlyShare",
    "Period",
    "PureDP",
    "PureEvent",
    "RenyiDP",
    "SampledEvent",
    "SelectionEvent",
    "Sensitivity",
    "Unit",
    "checked_failures",
    "checked_least_units",
    "rho_of_range",
]
