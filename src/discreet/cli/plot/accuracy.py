"""`discreet plot accuracy`: what ε buys, and what it costs."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common.failures import reported
from discreet.cli.common.screen import working
from discreet.cli.plot import options

_POINTS = 61


@reported
def accuracy(  # noqa: PLR0913 — each is an option of the command
    *,
    out: options.Out,
    least: Annotated[str, typer.Option(metavar="NUMBER", help="The smallest ε of the figure.")] = "0.01",
    most: Annotated[str, typer.Option(metavar="NUMBER", help="The largest ε of the figure.")] = "10",
    delta: options.Delta = "1e-6",
    sensitivity: options.Sensitivity = 1,
    confidence: Annotated[float, typer.Option(metavar="NUMBER", help="Of the ±, between 0 and 1.")] = 0.95,
) -> None:
    """Draw the ± of an answer against its ε, and below it how well an attacker can guess.

    Beyond ε of about 5 there is little left to gain, and little left to protect.
    """
    from discreet import plot
    from discreet.exact.rational import positive, probability
    from discreet.plot.numbers import shown

    probability(confidence, "confidence")
    epsilons = plot.spaced(float(positive(least, "least")), float(positive(most, "most")), _POINTS)
    names = {
        "Laplace": options.Noise.LAPLACE,
        f"Gaussian,\nδ = {shown(float(positive(delta, 'delta')))}": options.Noise.GAUSSIAN,
    }
    with working("drawing"):
        errors = {
            name: [
                options.noise_of(kind, epsilon=repr(one), delta=delta, sensitivity=sensitivity).radius(confidence)
                for one in epsilons
            ]
            for name, kind in names.items()
        }
        figure = plot.accuracy(epsilons, errors, confidence=confidence)
    options.finish(figure, out)
