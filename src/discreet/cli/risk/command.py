"""`discreet risk`: the report on the screen, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import columns, options, table_file
from discreet.cli.common.files import refuse_to_replace, write_text
from discreet.cli.common.reporting import reported
from discreet.cli.common.said import as_said
from discreet.cli.common.shares import share_of
from discreet.cli.risk.filing import Filed
from discreet.cli.risk.page import page
from discreet.cli.show import pages
from discreet.cli.show.formats import TextFormat
from discreet.cli.show.screen import cut_sections, say, say_command, say_sections, width
from discreet.cli.show.sheets import show_json
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.anonymity.risk import RiskReport
    from discreet.tables import Source


@reported
@table_file.with_written
def risk(  # noqa: PLR0913 — each is an option of the command
    context: typer.Context,
    file: table_file.File,
    *,
    quasi_identifying: columns.QuasiIdentifying = None,
    sensitive: columns.Sensitive = None,
    identifying: columns.Identifying = None,
    unit: columns.UnitOption = None,
    rows_are_people: columns.RowsArePeople = False,
    population: Annotated[
        str | None, typer.Option(metavar="FILE", help="A table of everyone the rows were drawn from.")
    ] = None,
    sampled: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="The share of the population that the units make up: 1% or 1/100."),
    ] = None,
    missing: columns.MissingOption = columns.MissingChoice.OWN_VALUE,
    how: table_file.Written,
    html: Annotated[
        Path | None,
        typer.Option("--html", "-o", metavar="FILE", help="Also write the report as a page, to be filed and signed."),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What was made of the table, to be looked at beside it on the page."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Show every line, however many there are.")] = False,
    format_: options.TextOrJson = TextFormat.TABLE,
) -> None:
    """Show who can be singled out in a table, by which columns, and what it would cost to prevent it.

    It guesses the role of each column and says why; name the columns to correct it. It counts on the custodian's own
    table: nothing is charged, and nothing leaves the machine. The report says things about people, so it is for the
    custodian alone.

    The page says how it was made, of which files, judges the three risks of WP216 and the eighteen identifiers of
    HIPAA, and has a line to sign. It is no legal advice.
    """
    if html is not None:
        read_from = [each for each in (file, population, release) if each is not None]
        refuse_to_replace(html, force=force, read=read_from, endings=pages.ENDINGS)
        _refuse_elsewhere(read_from)
    elif release is not None:
        raise InvalidArgument("--release is for the page", hint="--html FILE writes it")
    with working("counting"):
        from discreet.anonymity.records import read
        from discreet.anonymity.risk import assess

        whose = columns.unit_of(unit, rows_are_people=rows_are_people)
        source, beside = how.source(file), None if population is None else how.source_beside(file, population)
        fraction = _fraction(sampled)
        table = read(source, unit=whose, missing=missing.policy)
        known, hidden, naming = (columns.names(each) for each in (quasi_identifying, sensitive, identifying))
        roles = {"--quasi-identifying": known, "--sensitive": hidden, "--identifying": table.identifying(naming or ())}
        columns.check({"--unit": whose, **roles}, [*table.names, *(whose or ())])
        report = assess(
            table,
            quasi_identifiers=known,
            sensitive=hidden,
            identifying=naming,
            unit=whose,
            population=beside,
            sampling_fraction=fraction,
            missing=table.missing,
        )
        after = None if release is None else _of_release(report, how.source_beside(file, release), whose)
    if html is not None:
        write_text(html, page(report, table_file.name_of(file), _filed(as_said(context), file, report, release, after)))
    if format_ is TextFormat.JSON:
        show_json(report.to_dict())
        return
    from discreet.anonymity.risk.report_text import written

    found = str(report) if (limit := width()) is None else written(report, limit)
    say_sections(cut_sections(printable(found), whole=all_))
    say()
    if html is not None:
        say(f"Written to {printable(str(html))}\n")
    _show_next(file, how, report, known, hidden, whose)


def _of_release(report: RiskReport, release: Source, unit: tuple[str, ...] | None) -> RiskReport:
    """The same report on what was made of the table: its columns keep their roles, and those left out have none.

    Raises:
        InvalidArgument: it has none of the columns that others may know.
    """
    from discreet.anonymity.records import read
    from discreet.anonymity.risk import assess

    names = set(read(release).names)
    known, hidden, naming = (
        [name for name in each if name in names]
        for each in (report.quasi_identifiers, report.sensitive, report.identifying)
    )
    if not known:
        raise InvalidArgument(
            f"the release has none of the columns that others may know: {', '.join(report.quasi_identifiers)}",
            hint="columns keep their names in a release; --quasi-identifying names others",
        )
    whose = None if report.repeated or (unit and not set(unit) <= names) else unit or ()
    return assess(
        release,
        quasi_identifiers=known,
        sensitive=hidden,
        identifying=naming,
        unit=whose,
        missing=report.missing,
    )


def _refuse_elsewhere(files: Sequence[str]) -> None:
    """Refuse to make a page of what isn't on this machine: a page names files by their digests."""
    if any("://" in file for file in files):
        raise InvalidArgument(
            "the page names each file by its SHA-256, which what a URL leads to doesn't have",
            hint="copy it here, and name the file; or leave --html out",
        )


def _filed(command: str, file: str, report: RiskReport, release: str | None, after: RiskReport | None) -> Filed:
    """What a page says of how it was made."""
    from discreet.anonymity.words import percent, taken_as

    guessed = "" if report.attributes is None else " (guessed)"
    parameters = {
        "what others may know": ", ".join(report.quasi_identifiers) + guessed,
        "what they must not learn": (", ".join(report.sensitive) or "none named") + guessed,
        "what names people": ", ".join(report.identifying) or "none named",
        "a unit is": f"all rows that share {', '.join(report.unit)}" if report.unit else "a row",
        "missing values": f"taken as {taken_as(report.missing)}",
        "at risk": f"above {percent(float(report.reidentification.threshold))}",
    }
    return Filed(
        command=command,
        source=Path(file),
        release=None if release is None else Path(release),
        parameters=parameters,
        of_release=after,
    )


def _show_next(  # noqa: PLR0913, PLR0917 — what was said on the command line
    file: str,
    how: table_file.Written,
    report: RiskReport,
    quasi_identifying: list[str] | None,
    sensitive: list[str] | None,
    unit: tuple[str, ...] | None,
) -> None:
    """Print what to do next, as commands to paste, with the columns as they were named."""
    name = f"{how}{quote(file)}"
    whose = "" if unit is None else f"--unit {quote(columns.written(unit))} " if unit else "--rows-are-people "
    known = f"{quote(columns.written(quasi_identifying))} " if quasi_identifying else ""
    sought = f"{quote(columns.written(sensitive))} " if sensitive else ""
    attacked = (known and f"--on {known}") + (sought and f"--sensitive {quote((sensitive or [''])[0])} ")
    reduced = (known and f"--quasi-identifying {known}") + (sought and f"--sensitive {sought}")
    attack = (
        [("See it done", f"attack linkage {whose}{attacked}{name}")] if report.sensitive else []
    )  # else nothing is sought
    say("Next")
    for why, command in (
        *attack,
        ("See what safer rows would cost", f"anonymize {whose}{reduced}{name}"),
        (
            "Or give away no rows, and answer questions with a guarantee that composes",
            f"init {table_file.Written(table=how.table)}{quote(file)}",
        ),
    ):
        say(f"  {why}:", 4)
        say_command(f"discreet {printable(command)}")


def _fraction(sampled: str | None) -> Fraction | None:
    """Which share of the population the units are.

    Raises:
        InvalidArgument: it isn't a share, or none of it.
    """
    share = None if sampled is None else share_of(sampled, "--sampled")
    if share == 0:
        raise InvalidArgument("--sampled can't be 0: the rows are part of the population", hint="1% or 1/100")
    return share
