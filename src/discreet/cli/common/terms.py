"""The options for the terms beside a question: the offer, accuracy, limits and bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, TypeAlias

import typer

from discreet.cli.common.unfolding import unfolded

Epsilon: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Offer ε: Laplace noise. Exact: 0.1 or 1/10.")
]
Delta: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", help="Offer δ: for groups that aren't public, and for Gaussian noise if its error is smaller."
    ),
]
Rho: TypeAlias = Annotated[str | None, typer.Option(metavar="NUMBER", help="Offer ρ (zCDP): Gaussian noise.")]
Within: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COLUMN=]ERROR",
        help=(
            "Ask for ± this, for every column or for one, at the least cost: 50, or 5%@1000 for 5 % of every value of "
            "at least 1,000. With --epsilon or --rho: at no more than that cost. May be repeated."
        ),
    ),
]
Weights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=NUMBER",
        help="Divide the offer so that this column's relative error counts this many times as much. May be repeated.",
    ),
]
Expecting: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="ROWS",
        min=1,
        help="About how many rows a group has, for which the ± of averages and ratios is stated; 1,000 if left out.",
    ),
]
LimitsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--limits",
        metavar="LIMITS",
        help=(
            "Limit what a unit contributes to this question: 50 rows in all, 50in8 for 50 rows in 8 groups, 5x10 for "
            "10 rows in each of 5 groups, or auto to have limits chosen privately, for a tenth of the offer."
        ),
    ),
]
BoundsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--bounds",
        metavar="COLUMN=LO..HI",
        help=(
            "Move a column's values into these bounds, or into bounds that are chosen privately, for a tenth of the "
            "offer: income=auto. May be repeated."
        ),
    ),
]
Consistent: TypeAlias = Annotated[
    bool, typer.Option("--consistent", help="Without effect: groups of ROLLUP and CUBE add up.")
]
CutOff: TypeAlias = Annotated[
    bool, typer.Option("--cut-off", help="Measure how much limits cut off and bounds move, for a tenth of the offer.")
]
Dialect: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="The SQL dialect of the question.")]
ParametersOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        metavar="VALUE",
        help="The value of a placeholder, ?, in their order: 40, true, null; anything else, and what has quotes, is a "
        "text. May be repeated.",
    ),
]
Analyst: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who asks, if analysts have shares of the budget.")
]
Confidence: TypeAlias = Annotated[
    float, typer.Option(metavar="NUMBER", help="The confidence of the intervals and of --within, between 0 and 1.")
]


class TermOption(NamedTuple):
    """The option of one term of an offer.

    Args:
        kind: as Typer takes it.
        default: of the option.
        read: makes the term of what was typed.
    """

    kind: Any
    default: Any = None
    read: Callable[[Any], Any] = lambda typed: typed


def _typed(reader: str) -> Callable[[Any], Any]:
    """Reads what was typed by a function of the planner, which isn't loaded just to write a command's help."""

    def read(given: str | list[str] | None) -> Any:  # noqa: ANN401 — a term
        if given is None or given == []:
            return None
        from discreet.query import planner

        return getattr(planner, reader)(given)

    return read


TERMS: Mapping[str, TermOption] = {
    "epsilon": TermOption(Epsilon),
    "delta": TermOption(Delta),
    "rho": TermOption(Rho),
    "within": TermOption(Within, read=_typed("typed_by_column")),
    "weights": TermOption(Weights, read=_typed("typed_by_column")),
    "expecting": TermOption(Expecting),
    "limits": TermOption(LimitsOption, read=_typed("typed_limits")),
    "bounds": TermOption(BoundsOption, read=_typed("typed_bounds")),
    "consistent": TermOption(Consistent, default=False),
    "cut_off": TermOption(CutOff, default=False),
    "analyst": TermOption(Analyst),
    "confidence": TermOption(Confidence, default=0.95),
    "dialect": TermOption(Dialect, default="duckdb"),
    "parameters": TermOption(ParametersOption, read=_typed("typed_parameters")),
}
"""The options for the terms of a question, as in `discreet.query.planner.Terms`."""


def _read(**typed: Any) -> dict[str, Any]:  # noqa: ANN401 — what Typer read of options
    """The terms that were typed."""
    return {name: option.read(typed[name]) for name, option in TERMS.items()}


offering = unfolded("terms", _read, [(name, option.kind, option.default) for name, option in TERMS.items()])
"""Gives a command an option for each term, in place of its parameter `terms`."""
