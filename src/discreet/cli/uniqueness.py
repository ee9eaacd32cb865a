"""`discreet uniqueness`: how many rows a column, or several together, lead to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.common import columns, options, table_file
from discreet.cli.common.files import refuse_to_replace, write_all
from discreet.cli.common.reporting import reported
from discreet.cli.show.formats import TextFormat
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import show_json, show_table
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument
from discreet.printable import printable


@reported
@table_file.with_written
def uniqueness(  # noqa: PLR0913 — each is an option of the command
    file: table_file.File,
    *,
    on: Annotated[
        list[str], typer.Option("--on", metavar="COLUMNS", help="What others may know, separated by commas.")
    ],
    unit: columns.UnitOption = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", "-o", metavar="FILE", help="Draw it for all columns together, to this .svg or .png."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing picture.")] = False,
    missing: columns.MissingOption = columns.MissingChoice.OWN_VALUE,
    how: table_file.Written,
    format_: options.TextOrJson = TextFormat.TABLE,
) -> None:
    """Count the rows that share a value with nobody, with one other row, and with more: for each column, and for all.

    It counts on the custodian's own table, and says things about the people in it. `discreet risk` says more.
    """
    if plot is not None:
        refuse_to_replace(plot, force=force, read=[file], endings=(".svg", ".png"))
    with working("counting"):
        from discreet.anonymity import read
        from discreet.anonymity import uniqueness as found_by

        whose = columns.unit_of(unit, rows_are_people=False)
        records = read(how.source(file), unit=whose, missing=missing.policy)
        known = columns.names(on)
        if not known:
            raise InvalidArgument("--on names no column", hint="name what others may know: --on age,zip")
        columns.check({"--unit": whose, "--on": known}, [*records.names, *(whose or ())])
        sets = [[name] for name in known] + ([known] if len(known) > 1 else [])
        found = [found_by(records, chosen) for chosen in sets]
    if plot is not None:
        from discreet import plot as figures

        noun = "units" if whose else "rows"
        counts = {each["size"]: each["units"] for each in found[-1].sizes.to_dict()}
        figure = figures.class_sizes(counts, columns=known, noun=noun)
        write_all({plot: lambda draft: figures.save(figure, draft)})
    if format_ is TextFormat.JSON:
        show_json([each.to_dict() for each in found])
        return
    from discreet.anonymity.words import percent

    rows = [
        (
            printable(", ".join(each.columns)),
            each.values,
            each.unique,
            percent(each.unique_share),
            each.shared_by(2),
            each.units - each.unique - each.shared_by(2),
        )
        for each in found
    ]
    show_table(("columns", "values", "unique", "share", "in pairs", "more alike"), rows)
    if plot is not None:
        say(f"Drawn to {printable(str(plot))}")
