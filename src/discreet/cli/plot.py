"""`discreet plot`: figures of what privacy means, with your own numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias

import typer

from discreet.cli.common.help import Command, Group
from discreet.cli.common.reporting import reported
from discreet.cli.show.screen import say
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.plot import AdditiveNoise
    from discreet.privacy import Event

    class Calibrated(AdditiveNoise, Protocol):
        """Noise that also says what its use costs."""

        @property
        def event(self) -> Event:
            """The release as an event for accounting."""


_USES, _EPSILONS = 25, 61
"""How many points a curve has, over uses and over ε."""

_ANSWERS = 100_000
"""How many answers are drawn for an average, at most."""

_NO_EPSILON = Fraction(1, 2**64)
"""Stands for ε = 0, which zCDP's formula doesn't take."""

plot = typer.Typer(
    name="plot",
    cls=Group,
    help="Draw what privacy means with numbers of your own, as SVG or PNG.",
    epilog="No data is read and no budget is spent. Needs Matplotlib: pip install 'discreet[plot]'",
    rich_markup_mode="markdown",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Noise(StrEnum):
    """Which noise to draw."""

    LAPLACE = "laplace"
    """Pure ε-DP."""
    GAUSSIAN = "gaussian"
    """(ε, δ)-DP, with the least σ that will do."""


Out: TypeAlias = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="The .svg or .png file to write or replace."),
]
Sensitivity: TypeAlias = Annotated[
    int, typer.Option(metavar="COUNT", min=1, help="The most by which the exact answers of neighbours can differ.")
]
Delta: TypeAlias = Annotated[str, typer.Option(metavar="NUMBER", help="δ of Gaussian noise. Exact: 1e-6.")]


@plot.command(cls=Command)
@reported
def neighbours(  # noqa: PLR0913 — each is an option of the command
    *,
    out: Out,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER", help="ε of a panel. May be given up to three times. [default: 0.5, 10]"),
    ] = None,
    answers: Annotated[
        tuple[int, int], typer.Option(metavar="COUNT COUNT", help="The exact answers on D and on D′.")
    ] = (5, 10),
    sensitivity: Sensitivity = 7,
    draws: Annotated[int, typer.Option(metavar="COUNT", min=0, max=200, help="Answers to draw on each.")] = 20,
    noise: Annotated[Noise, typer.Option(help="Which noise.")] = Noise.LAPLACE,
    delta: Delta = "1e-6",
) -> None:
    """Draw how likely each answer is on two neighbours, with some draws.

    Where the two laws are close, an answer says little about which dataset it is from.
    """
    from discreet import plot as figures

    if abs(answers[0] - answers[1]) > sensitivity:
        raise InvalidArgument(
            f"the answers {answers[0]} and {answers[1]} differ by more than the sensitivity, {sensitivity}",
            hint="give a greater --sensitivity, or --answers that neighbours can have",
        )
    with working("drawing"):
        noises = {
            f"ε = {one}": noise_of(noise, epsilon=one, delta=delta, sensitivity=sensitivity)
            for one in epsilon or ("0.5", "10")
        }
        figure = figures.neighbours(noises, answers=answers, draws=draws)
    finish(figure, out)


@plot.command(cls=Command)
@reported
def loss(
    *,
    out: Out,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="ε of each noise, marked in the figure.")] = "1",
    delta: Delta = "1e-6",
    sensitivity: Sensitivity = 7,
) -> None:
    """Draw how likely each privacy loss is, with Laplace and with Gaussian noise of the same ε.

    Laplace noise never loses more than ε; Gaussian noise may, and δ bounds by how much.
    """
    from discreet import plot as figures
    from discreet.exact.rational import positive
    from discreet.textbook.plots.numbers import shown

    bound = float(positive(epsilon, "epsilon"))
    with working("drawing"):
        names = {
            "Laplace noise": Noise.LAPLACE,
            f"Gaussian noise, δ = {shown(float(positive(delta, 'delta')))}": Noise.GAUSSIAN,
        }
        laws = {
            name: figures.LossLaw.of_noise(
                noise_of(kind, epsilon=epsilon, delta=delta, sensitivity=sensitivity), sensitivity
            )
            for name, kind in names.items()
        }
        figure = figures.loss(laws, epsilon=bound)
    finish(figure, out)


@plot.command(cls=Command)
@reported
def delta(  # noqa: PLR0913 — each is an option of the command
    *,
    out: Out,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="ε for which the noise of each use is made.")] = "1",
    delta: Delta = "1e-6",
    sensitivity: Sensitivity = 1,
    uses: Annotated[int, typer.Option(metavar="COUNT", min=1, max=10_000, help="How many times each is used.")] = 1,
    most: Annotated[str, typer.Option(metavar="NUMBER", help="The largest ε of the figure.")] = "2",
) -> None:
    """Draw δ against ε, for Laplace and for Gaussian noise made for the same ε.

    It also shows the δ of Gaussian noise by zCDP, which is how an account kept in ρ is read.
    """
    from discreet import plot as figures
    from discreet.accounting import charge_of, curve_of
    from discreet.exact.rational import positive

    end = float(positive(most, "most"))
    with working("drawing"):
        laplace, gaussian = (
            noise_of(kind, epsilon=epsilon, delta=delta, sensitivity=sensitivity).event
            for kind in (Noise.LAPLACE, Noise.GAUSSIAN)
        )
        curves: dict[str, figures.Curve] = {
            "Laplace": curve_of(laplace, uses),
            "Gaussian": curve_of(gaussian, uses),
            "Gaussian,\nas zCDP has it": _Concentrated(uses * (charge_of(gaussian).rho or Fraction(0))),
        }
        figure = figures.delta(curves, most=end)
    finish(figure, out)


@dataclass(frozen=True, slots=True)
class _Concentrated:
    """The δ that ρ-zCDP gives.

    Args:
        rho: above 0.
    """

    rho: Fraction

    def delta(self, epsilon: float) -> Fraction:
        """A δ for this ε."""
        from discreet.accounting import zcdp_to_delta

        return zcdp_to_delta(self.rho, max(Fraction(epsilon), _NO_EPSILON))


@plot.command(cls=Command)
@reported
def composition(
    *,
    out: Out,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="ε of each use.")] = "0.1",
    delta: Annotated[str, typer.Option(metavar="NUMBER", help="δ of all uses together. Exact: 1e-6.")] = "1e-6",
    uses: Annotated[int, typer.Option(metavar="COUNT", min=2, max=10_000, help="The most uses.")] = 1_000,
    sensitivity: Sensitivity = 100,
) -> None:
    """Draw the total ε of many uses of Laplace noise, by each way to add it up.

    These are plain sums, advanced composition, the best composition of any ε-DP mechanisms, zCDP, and the privacy loss
    distribution of the noise itself.
    """
    from discreet import plot as figures
    from discreet.exact.rational import positive, probability
    from discreet.textbook.plots.numbers import shown

    each, rest = positive(epsilon, "epsilon"), probability(delta, "delta")
    with working("drawing"):
        noise = noise_of(Noise.LAPLACE, epsilon=epsilon, delta=delta, sensitivity=sensitivity)
        counts = sorted({round(count) for count in figures.spaced(1, uses, _USES)})
        sums = [_totals(noise.event, each, rest, count) for count in counts]
        figure = figures.composition(
            counts,
            {name: [one[name] for one in sums] for name in sums[0]},
            subtitle=f"Laplace noise, ε = {shown(float(each))} a use; δ = {shown(float(rest))} for all. Upper bounds.",
        )
    finish(figure, out)


def _totals(event: Event, epsilon: Fraction, delta: Fraction, count: int) -> dict[str, float]:
    """The total ε of `count` uses, by the name of each theorem."""
    from discreet.accounting import advanced, curve_of, optimal, pure_to_zcdp, zcdp_to_epsilon
    from discreet.privacy import PureDP

    each = PureDP(epsilon)
    return {
        "basic": float(count * epsilon),
        "advanced": float(advanced(each, count, delta).epsilon),
        "optimal": float(optimal(each, count, delta).epsilon),
        "zCDP": float(zcdp_to_epsilon(count * pure_to_zcdp(epsilon), delta)),
        "PLD": float(curve_of(event, count).epsilon(delta)),
    }


@plot.command(cls=Command)
@reported
def accuracy(  # noqa: PLR0913 — each is an option of the command
    *,
    out: Out,
    least: Annotated[str, typer.Option(metavar="NUMBER", help="The smallest ε of the figure.")] = "0.01",
    most: Annotated[str, typer.Option(metavar="NUMBER", help="The largest ε of the figure.")] = "10",
    delta: Delta = "1e-6",
    sensitivity: Sensitivity = 1,
    confidence: Annotated[
        float, typer.Option(metavar="NUMBER", help="The confidence of the ±, between 0 and 1.")
    ] = 0.95,
) -> None:
    """Draw the ± of an answer against its ε, and below it how well an attacker can guess.

    Beyond ε of about 5 there is little left to gain, and little left to protect.
    """
    from discreet import plot as figures
    from discreet.exact.rational import positive, probability
    from discreet.textbook.plots.numbers import shown

    probability(confidence, "confidence")
    epsilons = figures.spaced(float(positive(least, "least")), float(positive(most, "most")), _EPSILONS)
    names = {
        "Laplace": Noise.LAPLACE,
        f"Gaussian,\nδ = {shown(float(positive(delta, 'delta')))}": Noise.GAUSSIAN,
    }
    with working("drawing"):
        errors = {
            name: [
                noise_of(kind, epsilon=repr(one), delta=delta, sensitivity=sensitivity).radius(confidence)
                for one in epsilons
            ]
            for name, kind in names.items()
        }
        figure = figures.accuracy(epsilons, errors, confidence=confidence)
    finish(figure, out)


@plot.command(cls=Command)
@reported
def averaging(
    *,
    out: Out,
    count: Annotated[int, typer.Option(metavar="COUNT", help="The exact answer.")] = 4,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="ε of each answer.")] = "0.5",
    answers: Annotated[
        int, typer.Option(metavar="COUNT", min=2, max=_ANSWERS, help="How many times the question is asked.")
    ] = 200,
) -> None:
    """Draw the averaging attack: the mean of many noisy answers to one question.

    It works if each repetition gets fresh noise. `discreet ask` gives the same answer again instead.
    """
    from discreet import plot as figures
    from discreet.exact.rational import positive

    with working("drawing"):
        noise = noise_of(Noise.LAPLACE, epsilon=epsilon, delta="1e-6", sensitivity=1)
        figure = figures.averaging(
            noise.release([count] * answers), truth=count, epsilon=float(positive(epsilon, "epsilon"))
        )
    finish(figure, out)


def noise_of(kind: Noise, *, epsilon: str, delta: str, sensitivity: int) -> Calibrated:
    """The mechanism, as `discreet.laplace` and `discreet.gaussian` calibrate it.

    Raises:
        InvalidArgument: ε, δ or the sensitivity is out of range.
    """
    from discreet import gaussian, laplace

    match kind:
        case Noise.LAPLACE:
            return laplace(0, sensitivity=sensitivity, epsilon=epsilon).mechanism
        case Noise.GAUSSIAN:
            return gaussian(0, sensitivity=sensitivity, epsilon=epsilon, delta=delta).mechanism


def finish(figure: Figure, out: Path) -> None:
    """Write a figure to its file, and describe it on the screen."""
    from discreet.plot import save

    save(figure, out)
    say(printable(f"{out}: {figure.get_suptitle()}"))
    say(printable(str(figure.get_label())))
