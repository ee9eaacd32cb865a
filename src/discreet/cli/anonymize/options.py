"""The options of `discreet anonymize`, each described once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer


class AlgorithmChoice(StrEnum):
    """How columns are made coarser."""

    OPTIMAL = "optimal"
    """One level of its hierarchy for each column: those that lose least, with a proof."""
    MONDRIAN = "mondrian"
    """Ranges that differ from class to class."""
    RELAXED_MONDRIAN = "relaxed-mondrian"
    """The same, where rows of one value may be parted."""
    MICROAGGREGATION = "microaggregation"
    """Averages of the nearest rows."""


class LossChoice(StrEnum):
    """What is made as small as can be."""

    NCP = "ncp"
    """How wide the shown ranges are."""
    PRECISION = "precision"
    """How high the levels are."""
    ENTROPY = "entropy"
    """How much is left to guess of each value."""
    DISCERNIBILITY = "discernibility"
    """How many rows each row looks like."""
    CLASS_SIZE = "class_size"
    """How large classes are, on average."""


Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the table: .csv or .parquet.")
]
Report: TypeAlias = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Write a report on it: .html or .json.")
]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
Keep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="What stays as it is, since nobody knows a person by it, by commas."),
]
HierarchyOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=FILE",
        help="How a column gets coarser: a CSV file of each value and its levels. May be repeated. Else proposed.",
    ),
]
K: TypeAlias = Annotated[
    int,
    typer.Option(
        "--k", metavar="COUNT", min=1, help="How many units must look alike, at the least: rows, or what --unit says."
    ),
]
Diversity: TypeAlias = Annotated[
    int | None,
    typer.Option("--l", metavar="COUNT", min=1, help="How many values of each sensitive column they must have."),
]
ClosenessOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--t",
        metavar="NUMBER",
        help="How far their sensitive values may be from those of all that is released, 0 to 1.",
    ),
]
Suppression: TypeAlias = Annotated[
    str, typer.Option(metavar="SHARE", help="Of how many units rows may be left out: 5% or 1/20.")
]
LossOption: TypeAlias = Annotated[
    LossChoice,
    typer.Option(
        "--loss",
        metavar="NAME",
        help="What to make as small as can be: ncp, precision, entropy, discernibility or class_size.",
    ),
]
AlgorithmOption: TypeAlias = Annotated[
    AlgorithmChoice,
    typer.Option(
        "--algorithm",
        metavar="NAME",
        help="How columns are made coarser: optimal, mondrian, relaxed-mondrian or microaggregation.",
    ),
]
LocalRecoding: TypeAlias = Annotated[
    bool, typer.Option("--local-recoding", help="Recode rows that would be left out by themselves.")
]
Nodes: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="COUNT", min=1, help="Try so many generalisations at the most; all that it takes if left out."
    ),
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing: take the columns for what they seem.")]
