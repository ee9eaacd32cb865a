"""`discreet admit`: put the tables in force as they are now."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import options
from discreet.cli.common.exit_codes import ExitCode
from discreet.cli.common.reporting import reported
from discreet.cli.common.shares import share_of
from discreet.cli.show.admissions import show_admission
from discreet.cli.show.screen import say_whole
from discreet.cli.show.waiting import counting

if TYPE_CHECKING:
    from discreet.tables import Dataset


@reported
def admit(  # noqa: PLR0913 — each is an option of the command
    *,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Report what couldn't be read in each column, how many rows units have, and how much limits would cut "
            "off. The report isn't private.",
        ),
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Read everything, but put nothing in force.")] = False,
    scheduled: Annotated[
        bool,
        typer.Option(
            "--scheduled",
            help="Advance the version whatever happens; if nothing can be read, keep serving the earlier snapshot.",
        ),
    ] = False,
    at_most_unreadable: Annotated[
        str | None,
        typer.Option(
            metavar="PART",
            help="Refuse a table if a larger part can't be read, whatever it declares: 5%, 0.05, 0.",
        ),
    ] = None,
    skip_malformed: Annotated[
        bool, typer.Option("--skip-malformed", help="Leave out malformed records of text files instead of refusing.")
    ] = False,
    group: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only the tables of this refresh group; '' means those that name none."),
    ] = None,
    keep: Annotated[int, typer.Option(metavar="COUNT", min=0, help="Keep this many earlier snapshots.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Write the report as JSON.")] = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Read the tables into a snapshot, their next version, which answers questions from then on.

    The version goes up by one whether or not anything changed, so that its number says nothing about the tables. A row
    is left out if it doesn't say whose it is; a value that can't be read as its declared kind becomes NULL. The sources
    aren't read again until the next run.

    With --scheduled the exit code is 7 if the sources couldn't be read and the earlier snapshot stays in force.
    """
    from discreet.gateway import admissions_of
    from discreet.service import report_to_json
    from discreet.tables import load_config

    dataset = load_config(config)
    most = None if at_most_unreadable is None else share_of(at_most_unreadable, "--at-most-unreadable")
    sized = report or as_json
    with (
        admissions_of(_skipping(dataset) if skip_malformed else dataset) as admissions,
        counting("reading") as progress,
    ):
        if check:
            done = admissions.check(group=group, progress=progress, at_most_unreadable=most, sized=sized)
        elif scheduled:
            done = admissions.admit_on_schedule(
                group=group, progress=progress, at_most_unreadable=most, keep=keep, sized=sized
            )
        else:
            done = admissions.admit(group=group, progress=progress, at_most_unreadable=most, keep=keep, sized=sized)
    if as_json:
        say_whole(json.dumps(report_to_json(done), ensure_ascii=False))
    else:
        show_admission(done, report=report)
    if done.problem:
        raise typer.Exit(ExitCode.SERVED_AGAIN)


def _skipping(dataset: Dataset) -> Dataset:
    """The dataset, but malformed records of its text files are left out instead of refused."""
    tables = tuple(
        replace(table, source=replace(table.source, skip_malformed=True))
        if table.source.kind in {"csv", "jsonl"}
        else table
        for table in dataset.tables
    )
    return replace(dataset, tables=tables)
