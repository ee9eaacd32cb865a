"""`discreet risk`: one command that says who can be singled out in a table, by what, and what to do."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import options, tables
from discreet.cli.common.failures import reported
from discreet.cli.common.files import refuse_to_replace, write_text
from discreet.cli.common.screen import cut_sections, say, say_command, say_sections, width, working
from discreet.cli.common.sheets import show_json
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.anonymity.risk import RiskReport
    from discreet.tables import Source

_PAGES = (".html", ".htm")


@reported
@tables.with_written
def risk(  # noqa: PLR0913 — each is an option of the command
    file: tables.File,
    *,
    quasi_identifying: tables.QuasiIdentifying = None,
    sensitive: tables.Sensitive = None,
    identifying: tables.Identifying = None,
    unit: tables.UnitOption = None,
    rows_are_people: tables.RowsArePeople = False,
    population: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of everybody whom the rows were drawn from.")
    ] = None,
    sampled: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Which share of the population the units are: 1% or 1/100.")
    ] = None,
    missing: tables.MissingOption = tables.MissingChoice.OWN_VALUE,
    how: tables.Written,
    html: Annotated[
        Path | None,
        typer.Option("--html", "-o", metavar="FILE", help="Also write the report as a page, with figures."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a page that is there.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Show every line, however many there are.")] = False,
    format_: options.TextOrJson = options.TextFormat.TABLE,
) -> None:
    """Say who can be singled out in a table, by which columns, and what it would cost to stop it.

    What each column is gets guessed, and the report says why; name the columns to correct it. Everything is counted on
    the custodian's own table, nothing is charged, and nothing leaves the machine. The report itself says things about
    people: it is for the custodian.
    """
    if html is not None:
        read = [file] if population is None else [file, population]
        refuse_to_replace(html, force=force, read=read, endings=_PAGES)
    with working("counting"):
        whose = tables.unit_of(unit, rows_are_people=rows_are_people)
        report = _report(
            how.source(file),
            quasi_identifying,
            sensitive,
            identifying,
            whose,
            None if population is None else how.source_beside(file, population),
            sampled,
            missing,
        )
    if html is not None:
        from discreet.cli.risk_page import page

        write_text(html, page(report, file.name))
    if format_ is options.TextFormat.JSON:
        show_json(report.to_dict())
        return
    from discreet.anonymity.risk.report_text import written

    found = str(report) if (limit := width()) is None else written(report, limit)
    say_sections(cut_sections(printable(found), whole=all_))
    say()
    if html is not None:
        say(f"Written to {printable(str(html))}\n")
    _show_next(file, how, report, tables.names(quasi_identifying), tables.names(sensitive), whose)


def _show_next(  # noqa: PLR0913, PLR0917 — what was said on the command line
    file: Path,
    how: tables.Written,
    report: RiskReport,
    quasi_identifying: list[str] | None,
    sensitive: list[str] | None,
    unit: tuple[str, ...] | None,
) -> None:
    """What to do next, each a command that can be pasted, with what was said of the columns."""
    name = f"{how}{quote(str(file))}"
    whose = "" if unit is None else f"--unit {quote(tables.written(unit))} " if unit else "--rows-are-people "
    known = f"{quote(tables.written(quasi_identifying))} " if quasi_identifying else ""
    sought = f"{quote(tables.written(sensitive))} " if sensitive else ""
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
            "Or give no rows away: answer questions, with a guarantee that composes",
            f"init {tables.Written(table=how.table)}{quote(str(file))}",
        ),
    ):
        say(f"  {why}:", 4)
        say_command(f"discreet {printable(command)}")


def _report(  # noqa: PLR0913, PLR0917 — what was said on the command line
    source: Source,
    quasi_identifying: list[str] | None,
    sensitive: list[str] | None,
    identifying: list[str] | None,
    unit: tuple[str, ...] | None,
    population: Source | None,
    sampled: str | None,
    missing: tables.MissingChoice,
) -> RiskReport:
    """Read the table, and assess it.

    Raises:
        InvalidArgument: no column is quasi-identifying, or an argument is wrong.
        SourceError: a table can't be read, or lacks a column.
    """
    from discreet.anonymity.records import read
    from discreet.anonymity.risk import assess

    fraction = _fraction(sampled)
    table = read(source, unit=unit, missing=missing.policy)
    known, hidden, naming = (tables.names(each) for each in (quasi_identifying, sensitive, identifying))
    said = {"--unit": unit, "--quasi-identifying": known, "--sensitive": hidden, "--identifying": naming}
    tables.check(said, [*table.names, *(unit or ())])
    return assess(
        table,
        quasi_identifiers=known,
        sensitive=hidden,
        identifying=naming,
        unit=unit,
        population=population,
        sampling_fraction=fraction,
        missing=table.missing,
    )


def _fraction(sampled: str | None) -> Fraction | None:
    """Which share of the population the units are.

    Raises:
        InvalidArgument: it isn't a share, or none of it.
    """
    share = None if sampled is None else options.share_of(sampled, "--sampled")
    if share == 0:
        raise InvalidArgument("--sampled can't be 0: the rows are a part of the population", hint="1% or 1/100")
    return share
