"""Losses: what it costs to generalise a table and to leave rows out."""

from discreet.anonymity.loss.cell_losses import NCP, Entropy, GeometricLossMetric, LossMetric, Precision
from discreet.anonymity.loss.class_losses import ClassSize, Discernibility
from discreet.anonymity.loss.loss import Loss
from discreet.anonymity.loss.losses import LOSSES, loss_named
from discreet.anonymity.loss.release_losses import losses_of

__all__ = [
    "LOSSES",
    "NCP",
    "ClassSize",
    "Discernibility",
    "Entropy",
    "GeometricLossMetric",
    "Loss",
    "LossMetric",
    "Precision",
    "loss_named",
    "losses_of",
]
