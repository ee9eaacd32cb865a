"""`discreet anonymize`: a table whose rows hide among others, and a report on it."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from discreet.cli.anonymize.asking import ask, may_ask
from discreet.cli.anonymize.choices import Choices, Roles
from discreet.cli.anonymize.outcome import made
from discreet.cli.anonymize.report import show
from discreet.cli.anonymize.saving import check, save
from discreet.cli.common import columns, options, table_file
from discreet.cli.common.reporting import reported
from discreet.cli.show.formats import TextFormat
from discreet.cli.show.sheets import show_json
from discreet.cli.show.waiting import working


class AlgorithmChoice(StrEnum):
    """The ways to make columns coarser."""

    AUTO = "auto"
    """The one of the next three that loses least."""
    OPTIMAL = "optimal"
    """One level of its hierarchy for each column, with a proof that no others lose less."""
    MONDRIAN = "mondrian"
    """Ranges that differ from class to class."""
    RELAXED_MONDRIAN = "relaxed-mondrian"
    """The same, but rows of one value may be separated."""
    MICROAGGREGATION = "microaggregation"
    """Averages of the nearest rows."""


class LossChoice(StrEnum):
    """The losses that can be minimised."""

    NCP = "ncp"
    """How wide the shown ranges are."""
    ARX = "arx"
    """The share of its hierarchy's values that each cell stands for: the mean over cells."""
    ARX_GEOMETRIC = "arx_geometric"
    """The same with ARX's default mean over columns."""
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
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
ForSpreadsheets: TypeAlias = Annotated[
    bool,
    typer.Option("--for-spreadsheets", help="In CSV, put ' before texts that a spreadsheet would take for formulas."),
]
Keep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns that stay as they are because nobody recognises a person by them, separated by commas.",
    ),
]
YesKeep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--yes-keep",
        metavar="COLUMNS",
        help="Release these as they are, although they single people out or lead to them.",
    ),
]
HierarchyOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=FILE",
        help="How a column gets coarser: a CSV file of each value and its levels. May be repeated. Proposed if left "
        "out.",
    ),
]
K: TypeAlias = Annotated[
    int,
    typer.Option(
        "--k", metavar="COUNT", min=1, help="At least how many units must look alike: rows, or what --unit says."
    ),
]
Diversity: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--l", metavar="COUNT", min=1, help="At least how many values of each sensitive column they must have."
    ),
]
ClosenessOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--t",
        metavar="NUMBER",
        help="How far their sensitive values may be from those of the whole release, 0 to 1.",
    ),
]
Suppression: TypeAlias = Annotated[
    str, typer.Option(metavar="SHARE", help="The share of units that may lose rows: 5% or 1/20.")
]
LossOption: TypeAlias = Annotated[
    LossChoice,
    typer.Option(
        "--loss",
        metavar="NAME",
        help="Which loss to make small: ncp, arx, arx_geometric, precision, entropy, discernibility or class_size.",
    ),
]
AlgorithmOption: TypeAlias = Annotated[
    AlgorithmChoice,
    typer.Option(
        "--algorithm",
        metavar="NAME",
        help=(
            "How columns are made coarser: auto (the one of the next three that loses least), optimal, mondrian, "
            "relaxed-mondrian or microaggregation."
        ),
    ),
]
LocalRecoding: TypeAlias = Annotated[
    bool, typer.Option("--local-recoding", help="Recode the rows that would be left out, among themselves.")
]
Nodes: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="COUNT", min=1, help="Try at most this many generalisations; as many as it takes if left out."
    ),
]
Yes: TypeAlias = Annotated[
    bool, typer.Option("--yes", "-y", help="Ask nothing: take the columns for what they seem to be.")
]

_ROLES = ("--identifying", "--quasi-identifying", "--sensitive", "--keep")
"""The options that say what the columns are."""


@reported
@table_file.with_written
def anonymize(  # noqa: PLR0913 — each is an option of the command
    file: table_file.File,
    *,
    output: Output = None,
    report: Report = None,
    force: Force = False,
    for_spreadsheets: ForSpreadsheets = False,
    quasi_identifying: columns.QuasiIdentifying = None,
    sensitive: columns.Sensitive = None,
    identifying: columns.Identifying = None,
    keep: Keep = None,
    yes_keep: YesKeep = None,
    unit: columns.UnitOption = None,
    rows_are_people: columns.RowsArePeople = False,
    hierarchy: HierarchyOption = None,
    k: K = 5,
    diversity: Diversity = None,
    closeness: ClosenessOption = None,
    suppression: Suppression = "5%",
    loss: LossOption = LossChoice.NCP,
    algorithm: AlgorithmOption = AlgorithmChoice.AUTO,
    local_recoding: LocalRecoding = False,
    nodes: Nodes = None,
    missing: columns.MissingOption = columns.MissingChoice.OWN_VALUE,
    how: table_file.Written,
    yes: Yes = False,
    format_: options.TextOrJson = TextFormat.TABLE,
) -> None:
    """Make rows of a table look alike, at the least loss, and report the loss and what attackers can still do.

    On a terminal it asks for the roles of columns that you don't give. Without `--output` it writes nothing, and only
    reports. Columns that name people are left out, and so are columns of unknown kind. This isn't differential privacy.
    """
    from discreet.anonymity.records import read

    choices = Choices.of(
        k=k, diversity=diversity, closeness=closeness, suppression=suppression, loss=loss.value,
        algorithm=algorithm.value.replace("-", " "), local_recoding=local_recoding, nodes=nodes, hierarchies=hierarchy,
    )  # fmt: skip
    check([file, *choices.hierarchies.values()], output, report, force=force)
    whose = columns.unit_of(unit, rows_are_people=rows_are_people)
    with working("reading"):
        records = read(how.source(file), unit=whose, missing=missing.policy)
    table_file.say_unread(records.unread.words())
    said = [columns.names(each) for each in (identifying, quasi_identifying, sensitive, keep)]
    said[0] = said[0] and list(records.identifying(said[0]))
    columns.check({"--unit": whose, **dict(zip(_ROLES, said, strict=True))}, [*records.names, *(whose or ())])
    columns.check({"--yes-keep": (known := columns.names(yes_keep) or [])}, records.names)
    roles = Roles.of(records, *said)
    if may_ask() and not yes and not any(said) and format_ is TextFormat.TABLE:
        roles, choices, output = ask(file, records, roles, choices, output, force=force)
    roles.require_known(records.rows)
    roles.require_harmless(records, known)
    choices.require_possible(records, roles.sensitive)
    with working("searching"):
        outcome = made(records, roles, choices, whose)
        outcome = replace(outcome, formulas=0) if for_spreadsheets else outcome
    with working("writing"):
        save(outcome, output, report, name=table_file.name_of(file), for_spreadsheets=for_spreadsheets)
    if format_ is TextFormat.JSON:
        show_json(outcome.to_dict())
    else:
        show(outcome, output, report)
