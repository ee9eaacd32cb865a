"""`discreet plot loss`: how much single outcomes tell."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common.failures import reported
from discreet.cli.common.screen import working
from discreet.cli.plot import options


@reported
def loss(
    *,
    out: options.Out,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="ε of each noise, and the mark in the figure.")] = "1",
    delta: options.Delta = "1e-6",
    sensitivity: options.Sensitivity = 7,
) -> None:
    """Draw how likely each privacy loss is, with Laplace and with Gaussian noise of the same ε.

    Laplace noise never loses more than ε; Gaussian noise may, and δ says by how much at the most.
    """
    from discreet import plot
    from discreet.exact.rational import positive
    from discreet.plot.numbers import shown

    bound = float(positive(epsilon, "epsilon"))
    with working("drawing"):
        names = {
            "Laplace noise": options.Noise.LAPLACE,
            f"Gaussian noise, δ = {shown(float(positive(delta, 'delta')))}": options.Noise.GAUSSIAN,
        }
        laws = {
            name: plot.LossLaw.of_noise(
                options.noise_of(kind, epsilon=epsilon, delta=delta, sensitivity=sensitivity), sensitivity
            )
            for name, kind in names.items()
        }
        figure = plot.loss(laws, epsilon=bound)
    options.finish(figure, out)
