"""`discreet admit`: read the sources once, and put what they hold in force as the next version."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.common import options
from discreet.cli.common.failures import ExitCode, reported
from discreet.cli.common.screen import counting, error_console, number_of, say, say_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.gateway import AdmissionReport
    from discreet.tables import Dataset


@reported
def admit(  # noqa: PLR0913 — each is an option of the command
    *,
    report: Annotated[
        bool,
        typer.Option("--report", help="Say what couldn't be read, by column. It isn't private."),
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Read everything, put nothing in force.")] = False,
    scheduled: Annotated[
        bool,
        typer.Option(
            "--scheduled", help="Advance the version whatever happens; if nothing can be read, serve what there was."
        ),
    ] = False,
    at_most_unreadable: Annotated[
        str, typer.Option(metavar="PART", help="Refuse a table of which more can't be read: 1%, 0.01, 0.")
    ] = "100%",
    skip_malformed: Annotated[
        bool, typer.Option("--skip-malformed", help="Leave malformed records of text files out, instead of refusing.")
    ] = False,
    group: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only the tables of this refresh group; '' is those that name none."),
    ] = None,
    keep: Annotated[int, typer.Option(metavar="COUNT", min=0, help="Keep so many earlier snapshots.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
    config: options.Config = options.CONFIG,
) -> None:
    """Read the tables once, into a snapshot that questions are asked of: the next version.

    The number of the version goes up whether or not anything changed, so that it says nothing about the tables. A row
    that can't say whose it is, is left out; a value that can't be read as what it is declared to be is NULL. Until this
    is run again, nobody looks at the sources.

    With --scheduled the exit code is 7 where the sources couldn't be read and the earlier snapshot serves again.
    """
    from discreet.gateway import admissions_of
    from discreet.service import report_to_json
    from discreet.tables import load_config

    dataset = load_config(config)
    most = options.share_of(at_most_unreadable, "--at-most-unreadable")
    with (
        admissions_of(_skipping(dataset) if skip_malformed else dataset) as admissions,
        counting("reading") as progress,
    ):
        if check:
            done = admissions.check(group=group, progress=progress, at_most_unreadable=most)
        elif scheduled:
            done = admissions.admit_on_schedule(group=group, progress=progress, at_most_unreadable=most, keep=keep)
        else:
            done = admissions.admit(group=group, progress=progress, at_most_unreadable=most, keep=keep)
    if as_json:
        say_whole(json.dumps(report_to_json(done), ensure_ascii=False))
    else:
        _show(done, report=report)
    if done.problem:
        raise typer.Exit(ExitCode.SERVED_AGAIN)


def _show(done: AdmissionReport, *, report: bool) -> None:
    """What was done, in words."""
    if done.version is None:
        say("nothing was put in force")
    for group, version in done.groups.items():
        say(f"version {version} is in force{f', of {group}' if group else ''}")
    if done.problem:
        error_console().print(f"the sources couldn't be read, so the earlier snapshot serves again: {done.problem}")
    for name, found in done.tables.items():
        lost = found["left_out"] + found["malformed"]
        if report:
            rows, records = number_of(found["rows"], "row", "rows"), number_of(lost, "record", "records")
            say(f"{name}: {rows}; {records} left out")
            for line in _lines(found):
                say(f"  {line}")
        elif lost or found["unreadable"]:
            say(f"{name}: not everything could be read; --report says what")


def _lines(found: Mapping[str, Any]) -> list[str]:
    """What was left out of a table, a line each."""
    lines = []
    if found["left_out"]:
        lines.append(number_of(found["left_out"], "row doesn't say whose it is", "rows don't say whose they are"))
    if found["malformed"]:
        first = ", ".join(map(str, found["malformed_lines"][:10]))
        where = f"; the first on lines {first}" if found["malformed"] > 1 else f", on line {first}"
        lines.append(number_of(found["malformed"], "malformed record", "malformed records") + where)
    for column, count in found["unreadable"].items():
        unread = number_of(count, "value couldn't be read, and is", "values couldn't be read, and are")
        lines.append(f"{column}: {unread} NULL")
    for column, count in found["cut"].items():
        cut = number_of(count, "text was", "texts were")
        lines.append(f"{column}: {cut} cut to 1,000 characters")
    return lines


def _skipping(dataset: Dataset) -> Dataset:
    """The dataset with malformed records of text files left out."""
    tables = tuple(
        replace(table, source=replace(table.source, skip_malformed=True))
        if table.source.kind in {"csv", "jsonl"}
        else table
        for table in dataset.tables
    )
    return replace(dataset, tables=tables)
