"""Events: what was done to the data, in exactly the parameters that accounting needs.

Contract: an event type is never removed or given another meaning, because ledgers hold them for as long as the data
lives; a new field is optional; what an accountant doesn't know, it refuses. Sensitivities are taken under the
adjacency named in the entry that holds the event.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import LedgerCorrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceEvent:
    """Discrete Laplace noise, Pr[n] ∝ exp(−|n|/scale), was added to each coordinate of an integer vector.

    Args:
        scale: of the noise, in steps of the grid; above 0.
        l1: the vector's ℓ1 sensitivity in steps.
    """

    scale: Fraction
    l1: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianEvent:
    """Discrete Gaussian noise, Pr[n] ∝ exp(−n²/2σ²), was added to each coordinate of an integer vector.

    Args:
        sigma: of the noise, in steps of the grid; above 0.
        l2_squared: square of the vector's ℓ2 sensitivity, in steps squared.
    """

    sigma: Fraction
    l2_squared: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionEvent:
    """Groups were released only where a noisy count passed a threshold.

    The noise of that count is an event of its own.

    Args:
        delta: bound on the probability that a group present in one neighbour only is released.
    """

    delta: Fraction


@dataclass(frozen=True, slots=True)
class ComposedEvent:
    """All of `events` happened, on the same data."""

    events: tuple[Event, ...]


Event: TypeAlias = LaplaceEvent | GaussianEvent | SelectionEvent | ComposedEvent


def to_dict(event: Event) -> dict[str, object]:
    """The event as JSON-ready data; rationals as `"p/q"`.

    Examples:
        >>> to_dict(LaplaceEvent(scale=Fraction(10), l1=1))
        {'event': 'laplace', 'scale': '10', 'l1': 1}
    """
    match event:
        case LaplaceEvent(scale=scale, l1=l1):
            return {"event": "laplace", "scale": str(scale), "l1": l1}
        case GaussianEvent(sigma=sigma, l2_squared=l2_squared):
            return {"event": "gaussian", "sigma": str(sigma), "l2_squared": str(l2_squared)}
        case SelectionEvent(delta=delta):
            return {"event": "selection", "delta": str(delta)}
        case ComposedEvent(events=events):
            return {"event": "composed", "events": [to_dict(part) for part in events]}


def from_dict(data: object) -> Event:
    """Read back what `to_dict` wrote.

    Raises:
        LedgerCorrupt: it isn't an event this version knows; to guess would be to undercount.

    Examples:
        >>> from_dict({"event": "selection", "delta": "1/1000000"})
        SelectionEvent(delta=Fraction(1, 1000000))
    """
    try:
        match data:
            case {"event": "laplace", "scale": str(scale), "l1": int(l1)}:
                return LaplaceEvent(scale=Fraction(scale), l1=l1)
            case {"event": "gaussian", "sigma": str(sigma), "l2_squared": str(l2_squared)}:
                return GaussianEvent(sigma=Fraction(sigma), l2_squared=Fraction(l2_squared))
            case {"event": "selection", "delta": str(delta)}:
                return SelectionEvent(delta=Fraction(delta))
            case {"event": "composed", "events": list(events)}:
                return ComposedEvent(tuple(from_dict(part) for part in events))
            case _:
                pass
    except (ValueError, ZeroDivisionError):
        pass
    raise LedgerCorrupt("an event in the ledger is of an unknown kind, or its parameters can't be read")
