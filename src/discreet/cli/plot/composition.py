"""`discreet plot composition`: what many uses cost together, by each theorem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common.failures import reported
from discreet.cli.common.screen import working
from discreet.cli.plot import options

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.privacy import Event

_POINTS = 25


@reported
def composition(
    *,
    out: options.Out,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="ε of each use.")] = "0.1",
    delta: Annotated[str, typer.Option(metavar="NUMBER", help="δ of all uses together. Exact: 1e-6.")] = "1e-6",
    uses: Annotated[int, typer.Option(metavar="COUNT", min=2, max=10_000, help="The most uses.")] = 1_000,
    sensitivity: options.Sensitivity = 100,
) -> None:
    """Draw the total ε of many uses of Laplace noise, as each way of adding up has it.

    Plain sums, advanced composition, the best that holds for any ε-DP mechanism, zCDP, and the loss distribution of
    the noise itself.
    """
    from discreet import plot
    from discreet.exact.rational import positive, probability
    from discreet.plot.numbers import shown

    each, rest = positive(epsilon, "epsilon"), probability(delta, "delta")
    with working("drawing"):
        noise = options.noise_of(options.Noise.LAPLACE, epsilon=epsilon, delta=delta, sensitivity=sensitivity)
        counts = sorted({round(count) for count in plot.spaced(1, uses, _POINTS)})
        sums = [_totals(noise.event, each, rest, count) for count in counts]
        figure = plot.composition(
            counts,
            {name: [one[name] for one in sums] for name in sums[0]},
            subtitle=f"Laplace noise, ε = {shown(float(each))} a use; δ = {shown(float(rest))} for all. Upper bounds.",
        )
    options.finish(figure, out)


def _totals(event: Event, epsilon: Fraction, delta: Fraction, count: int) -> dict[str, float]:
    """The ε of so many uses, by the name of the theorem."""
    from discreet.accounting import advanced, optimal, pure_to_zcdp, zcdp_to_epsilon
    from discreet.accounting.pld import curve_of
    from discreet.privacy import PureDP

    each = PureDP(epsilon)
    return {
        "basic": float(count * epsilon),
        "advanced": float(advanced(each, count, delta).epsilon),
        "optimal": float(optimal(each, count, delta).epsilon),
        "zCDP": float(zcdp_to_epsilon(count * pure_to_zcdp(epsilon), delta)),
        "PLD": float(curve_of(event, count).epsilon(delta)),
    }
