"""The words of differential privacy: units, neighbours, bounds, keys, limits, sensitivities, losses, events."""

from discreet.privacy.declarations import Bounds, BoundValue, Keys, KeyValue, Limits
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
from discreet.privacy.losses import ZCDP, AnyLoss, ApproxDP, Budget, GaussianDP, Loss, PureDP, RenyiDP, rho_of_range
from discreet.privacy.neighbours import ADD_REMOVE, SUBSTITUTION, Adjacency, Period, Sensitivity, Unit

__all__ = [
    "ADD_REMOVE",
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
    "Period",
    "PureDP",
    "PureEvent",
    "RenyiDP",
    "SampledEvent",
    "SelectionEvent",
    "Sensitivity",
    "Unit",
    "rho_of_range",
]
