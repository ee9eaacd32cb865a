"""Losses of events: stated in the terms in which they are tightest, and in no others."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.accounting import loss_of
from discreet.errors import LossNotAccepted
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    ComposedEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    Loss,
    PureDP,
    SelectionEvent,
)

LAPLACE = LaplaceEvent(scale=Fraction(10), l1=1)
GAUSSIAN = GaussianEvent(sigma=Fraction(10), l2_squared=Fraction(1))
SELECTION = SelectionEvent(delta=Fraction(1, 10**6))


@pytest.mark.parametrize(
    ("events", "loss"),
    [
        ([LAPLACE], PureDP("0.1")),
        ([LAPLACE, LAPLACE], PureDP("0.2")),
        ([LAPLACE, SELECTION], ApproxDP("0.1", "1e-6")),
        ([GAUSSIAN], ZCDP("0.005")),
        ([GAUSSIAN, SELECTION], ZCDP("0.005", "1e-6")),
    ],
)
def test_each_mix_of_events_has_its_kind_of_loss(events: list[Event], loss: Loss) -> None:
    """Laplace noise is pure; selection adds δ; Gaussian noise is zCDP."""
    assert loss_of(ComposedEvent(tuple(events))) == loss


def test_laplace_beside_gaussian_noise_is_counted_in_zcdp() -> None:
    """A mix has no finite pure loss, so the Laplace part is read as zCDP."""
    loss = loss_of(ComposedEvent((LAPLACE, GAUSSIAN)))
    assert isinstance(loss, ZCDP)
    assert Fraction(5, 1000) + Fraction(49, 10_000) < loss.rho <= Fraction(5, 1000) + Fraction(5, 1000)


@pytest.mark.parametrize("event", [ComposedEvent(()), SELECTION, ComposedEvent((SELECTION,))])
def test_an_event_without_noise_has_no_loss_to_state(event: Event) -> None:
    """A guarantee of ε = 0 is never given."""
    with pytest.raises(LossNotAccepted):
        loss_of(event)
