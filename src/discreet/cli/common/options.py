"""Options that several commands take, each described once."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer


class Format(StrEnum):
    """How a result is written to standard output."""

    TABLE = "table"
    """For people."""
    JSON = "json"
    """One JSON object; errors are one JSON object too, on standard error."""
    CSV = "csv"
    """Comma-separated, with a header."""
    ARROW = "arrow"
    """An Arrow IPC stream."""


class TextFormat(StrEnum):
    """How a result that isn't a sheet is written."""

    TABLE = "table"
    """For people."""
    JSON = "json"
    """One JSON object."""


Config: TypeAlias = Annotated[
    Path, typer.Option("--config", "-c", help="The configuration that says what is protected, and how.")
]
Formatted: TypeAlias = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]


def _read(question: str) -> str:
    """The question itself, or standard input for `-`."""
    return sys.stdin.read() if question == "-" else question


TextOrJson: TypeAlias = Annotated[TextFormat, typer.Option("--format", "-f", help="How to write the result.")]
Question: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="QUESTION", callback=_read, help="One SELECT in SQL; - reads it from standard input."),
]
Epsilon: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Offer ε: Laplace noise. Exact: 0.1 or 1/10.")
]
Delta: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Offer δ: needed where the groups aren't public.")
]
Rho: TypeAlias = Annotated[str | None, typer.Option(metavar="NUMBER", help="Offer ρ (zCDP): Gaussian noise.")]
Within: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COLUMN=]NUMBER",
        help="Ask for ± this at 95 %, of every column or of one, at the least cost that gives it. May be repeated.",
    ),
]
Dialect: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="The SQL dialect of the question.")]
Analyst: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who asks, where analysts have budgets of their own.")
]

Confidence: TypeAlias = Annotated[float, typer.Option(metavar="NUMBER", help="Of the intervals, between 0 and 1.")]


def widths(within: list[str] | None) -> dict[str, str] | None:
    """The accuracies asked for, by column; `*` stands for every column that isn't named.

    Examples:
        >>> widths(["n=100", "2"])
        {'n': '100', '*': '2'}
    """
    if not within:
        return None
    parts = [one.rpartition("=") for one in within]
    return {name if equals else "*": number for name, equals, number in parts}


CONFIG = Path("discreet.toml")
"""Where commands look for the configuration unless told otherwise."""
