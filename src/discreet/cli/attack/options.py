"""The options of `discreet attack`, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from discreet.cli.common.columns import FORMATS

Name: TypeAlias = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which attack. None: their names.")]
File: TypeAlias = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help=f"The table: {FORMATS}. None: a synthetic census.")
]
Against: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="WHAT", help="What is attacked: raw, anonymized, answers, … by commas, or `all`."),
]
On: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="What is known of people, by commas. Guessed if left out."),
]
Sensitive: TypeAlias = Annotated[
    str | None, typer.Option("--sensitive", "-s", metavar="COLUMN", help="What to learn. Guessed if left out.")
]
ValueOption: TypeAlias = Annotated[
    str | None, typer.Option("--value", metavar="COLUMN", help="Numbers, for attacks on totals.")
]
Auxiliary: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="For linkage: what is known of people, one row each, in a file of its own."),
]
Truth: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --auxiliary: the column of both that says who is who; known=released if names differ.",
    ),
]
Who: TypeAlias = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="With --auxiliary: its column that names people.")
]
K: TypeAlias = Annotated[int, typer.Option(min=1, metavar="COUNT", help="Of the anonymised rows.")]
Epsilon: TypeAlias = Annotated[str, typer.Option(metavar="NUMBER", help="ε of each answer.")]
BudgetOption: TypeAlias = Annotated[str, typer.Option("--budget", metavar="NUMBER", help="ε of all answers together.")]
People: TypeAlias = Annotated[
    int, typer.Option(metavar="COUNT", min=2, help="How many to ask about, where it takes questions.")
]
Trials: TypeAlias = Annotated[
    int, typer.Option(metavar="COUNT", min=1, help="How often to repeat what is left to chance.")
]
Plot: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", "-o", metavar="FILE", help="Also draw it: .svg or .png.")
]
