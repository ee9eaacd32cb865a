"""All losses, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from discreet.anonymity.loss.cell_losses import NCP, Entropy, GeometricLossMetric, LossMetric, Precision
from discreet.anonymity.loss.class_losses import ClassSize, Discernibility
from discreet.anonymity.loss.loss import Loss
from discreet.errors import InvalidArgument

LOSSES: Mapping[str, Loss] = MappingProxyType(
    {
        loss.name: loss
        for loss in (NCP(), LossMetric(), GeometricLossMetric(), Precision(), Entropy(), Discernibility(), ClassSize())
    }
)
"""All of them."""


def loss_named(loss: str | Loss) -> Loss:
    """A loss, by its name or as it is.

    Raises:
        InvalidArgument: there is none of that name.

    Examples:
        >>> loss_named("ncp")
        NCP()
    """
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise InvalidArgument(f"there is no loss {loss!r}", hint=f"one of {', '.join(LOSSES)}")
    return LOSSES[loss]
