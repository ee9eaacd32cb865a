"""The options of what may be said beside a question: the offer, accuracy, limits and bounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import typer

from discreet.cli.common.unfolding import unfolded
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.privacy import Bounds, Limits

Epsilon: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Offer ε: Laplace noise. Exact: 0.1 or 1/10.")
]
Delta: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", help="Offer δ: for groups that aren't public, and for Gaussian noise where that errs less."
    ),
]
Rho: TypeAlias = Annotated[str | None, typer.Option(metavar="NUMBER", help="Offer ρ (zCDP): Gaussian noise.")]
Within: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COLUMN=]ERROR",
        help=(
            "Ask for ± this, of every column or of one, at the least cost that gives it: 50, or 5%@1000 for 5 % of "
            "every value of at least 1,000. With --epsilon or --rho: at that cost at the most. May be repeated."
        ),
    ),
]
Weights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=NUMBER",
        help="Share the offer so that this column's relative error counts so many times. May be repeated.",
    ),
]
Expecting: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="ROWS",
        min=1,
        help="About how many rows a group has: for so many, the ± of averages and ratios is told; 1,000 if left out.",
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
    bool, typer.Option("--consistent", help="Make the groups of ROLLUP add up to their totals.")
]
CutOff: TypeAlias = Annotated[
    bool, typer.Option("--cut-off", help="Measure what limits cut off and bounds move, for a tenth of the offer.")
]
Dialect: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="The SQL dialect of the question.")]
Analyst: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who asks, where analysts have budgets of their own.")
]
Confidence: TypeAlias = Annotated[
    float, typer.Option(metavar="NUMBER", help="Of the intervals, and of --within, between 0 and 1.")
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


def by_column(given: list[str] | None) -> dict[str, str] | None:
    """What is asked of each column; `*` stands for those that aren't named.

    Examples:
        >>> by_column(["n=5%@1000", "2"])
        {'n': '5%@1000', '*': '2'}
    """
    if not given:
        return None
    parts = [one.rpartition("=") for one in given]
    return {name if equals else "*": number for name, equals, number in parts}


def bounds_of(given: list[str] | None) -> dict[str, Bounds | Literal["auto"]] | None:
    """The bounds of columns.

    Raises:
        InvalidArgument: one isn't `COLUMN=LO..HI` or `COLUMN=auto`.

    Examples:
        >>> print(bounds_of(["age=0..110", "income=auto"])["age"])
        [0, 110]
    """
    from discreet.privacy import Bounds

    found: dict[str, Bounds | Literal["auto"]] = {}
    for one in given or ():
        name, _, ends = one.rpartition("=")
        lo, dots, hi = ends.partition("..")
        if not name or (ends.lower() != "auto" and not dots):
            raise InvalidArgument(f"bounds can't be {one!r}", hint="income=0..100000, or income=auto")
        found[name] = "auto" if not dots else Bounds(lo, hi)
    return found or None


def limits_of(text: str | None) -> Limits | Literal["auto"] | None:
    """Limits, written in one of their shapes.

    Raises:
        InvalidArgument: it is none of them.

    Examples:
        >>> for text in ("5x10", "50", "50in8"):
        ...     print(limits_of(text))
        5 groups × 10 rows
        50 rows
        50 rows in 8 groups
    """
    from discreet.privacy import Limits

    if text is None:
        return None
    if text.lower() == "auto":
        return "auto"
    for shape in _SHAPES:
        found = shape.fullmatch(text)
        if found is not None:
            return Limits(**{name: int(number) for name, number in found.groupdict().items()})
    raise InvalidArgument(f"limits can't be {text!r}", hint="50, 50in8, 5x10 or auto")


_SHAPES = [
    re.compile(shape, re.ASCII | re.IGNORECASE)
    for shape in (
        r"(?P<rows>\d{1,10})",
        r"(?P<rows>\d{1,10})in(?P<groups>\d{1,10})",
        r"(?P<groups>\d{1,10})[x×](?P<rows_per_group>\d{1,10})",
    )
]

TERMS: Mapping[str, TermOption] = {
    "epsilon": TermOption(Epsilon),
    "delta": TermOption(Delta),
    "rho": TermOption(Rho),
    "within": TermOption(Within, read=by_column),
    "weights": TermOption(Weights, read=by_column),
    "expecting": TermOption(Expecting),
    "limits": TermOption(LimitsOption, read=limits_of),
    "bounds": TermOption(BoundsOption, read=bounds_of),
    "consistent": TermOption(Consistent, default=False),
    "cut_off": TermOption(CutOff, default=False),
    "analyst": TermOption(Analyst),
    "confidence": TermOption(Confidence, default=0.95),
    "dialect": TermOption(Dialect, default="duckdb"),
}
"""The options of what may be said beside a question, as `discreet.query.planner.Terms` has them."""


def _read(**typed: Any) -> dict[str, Any]:  # noqa: ANN401 — what Typer read of options
    """The terms that were typed."""
    return {name: option.read(typed[name]) for name, option in TERMS.items()}


offering = unfolded("terms", _read, [(name, option.kind, option.default) for name, option in TERMS.items()])
"""Gives a command an option for each term, in the place of its parameter `terms`."""
