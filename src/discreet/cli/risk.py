"""`discreet risk`: who can be singled out in a table, by what, and what to do; on the screen, and as a page of HTML."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from math import isfinite
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.app import reported
from discreet.cli.common import options, reports, tables
from discreet.cli.common.reports import refuse_to_replace, write_text
from discreet.cli.common.screen import cut_sections, say, say_command, say_sections, show_json, width, working
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.anonymity.risk import RiskReport
    from discreet.anonymity.words import Noun

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
        refuse_to_replace(html, force=force, read=filter(None, (file, population)), endings=_PAGES)
    with working("counting"):
        from discreet.anonymity.records import read
        from discreet.anonymity.risk import assess

        whose = tables.unit_of(unit, rows_are_people=rows_are_people)
        source, beside = how.source(file), None if population is None else how.source_beside(file, population)
        fraction = _fraction(sampled)
        table = read(source, unit=whose, missing=missing.policy)
        known, hidden, naming = (tables.names(each) for each in (quasi_identifying, sensitive, identifying))
        roles = {"--quasi-identifying": known, "--sensitive": hidden, "--identifying": table.identifying(naming or ())}
        tables.check({"--unit": whose, **roles}, [*table.names, *(whose or ())])
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
    if html is not None:
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
    _show_next(file, how, report, known, hidden, whose)


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


def _fraction(sampled: str | None) -> Fraction | None:
    """Which share of the population the units are.

    Raises:
        InvalidArgument: it isn't a share, or none of it.
    """
    share = None if sampled is None else options.share_of(sampled, "--sampled")
    if share == 0:
        raise InvalidArgument("--sampled can't be 0: the rows are a part of the population", hint="1% or 1/100")
    return share


# ── The page ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_SETS = 25
"""So many identifying sets are listed; `--format json` has all."""


def page(report: RiskReport, name: str) -> str:
    """The report as HTML.

    Args:
        report: with all figures.
        name: what the table is called.
    """
    from discreet.anonymity.words import taken_as

    return reports.page(
        f"Who can be singled out in {name}",
        [
            _key(report),
            *reports.section("What to do", reports.items(report.advice, numbered=True), reports.REMEDY),
            *_drawn(report),
            *_risks(report),
            *_contents(report),
            *_columns(report),
            *_sets(report),
            *_exposures(report),
            *_promises(report),
            *_population(report),
            *_guesses(report),
            f'<p class="note">{escape(report.caveat)} Missing values were taken as {taken_as(report.missing)}.</p>',
            *([f'<p class="note">Left out: {escape(report.left_out)}.</p>'] if report.silent else []),
            *(f'<p class="note">Not read: {escape(each)}.</p>' for each in report.not_read),
        ],
    )


def _key(report: RiskReport) -> str:
    """The finding, in two sentences."""
    from discreet.anonymity.words import Noun, listed, rows_counted

    if not report.rows:
        return '<p class="key">The table has no rows.</p>'
    if report.repeated:
        return f'<p class="key">{escape(rows_counted(report.repeated))}</p>'
    unique, noun = report.uniqueness, Noun.of(report.unit)
    units = f" A unit is whoever shares {escape(listed(report.unit))}." if report.unit else ""
    known = escape(listed(report.quasi_identifiers))
    return (
        f'<p class="key">{unique.unique:,} of {noun.counted(report.units)} ({_percent(unique.unique_share)}) are the '
        f"only ones with their {known}. The table is {report.k:,}-anonymous.{units}</p>"
    )


def _drawn(report: RiskReport) -> list[str]:
    """Class sizes and columns, drawn."""
    from discreet import plot

    sizes = report.uniqueness.sizes
    counts, noun = dict(zip(sizes.sizes.tolist(), sizes.units.tolist(), strict=True)), _noun(report).many
    if not counts:
        return []
    return reports.figures(
        [
            lambda: plot.class_sizes(counts, columns=report.quasi_identifiers, noun=noun),
            lambda: plot.column_risks(report.columns, total=report.units, unique=report.uniqueness.unique, noun=noun),
        ]
    )


def _risks(report: RiskReport) -> list[str]:
    """The three attackers."""
    found = report.reidentification
    whom = "in the register that was given" if found.population else "at the most, since no register was given"
    body = [
        (name, says, _percent(each.highest), _percent(each.average), _percent(each.at_risk))
        for name, says, each in (
            ("prosecutor", "knows that somebody is in the table", found.prosecutor),
            ("journalist", f"seeks anybody of the population, {whom}", found.journalist),
        )
    ]
    body.append(("marketer", "links all of them at once", "", _percent(found.marketer), ""))
    head = (
        "attacker",
        "who",
        "highest risk",
        "average",
        f"{_noun(report).many} above {_percent(float(found.threshold))}".replace(" %", "\u00a0%"),
    )
    title = "Risks of rows, not of people" if report.repeated else "Risks"
    return reports.section(title, reports.table(head, body, numbers=3))


def _contents(report: RiskReport) -> list[str]:
    """What the values of columns look like."""
    body = [(name, str(content)) for name, content in report.contents.items() if content.found]
    if not body:
        return []
    note = "That nothing was seen in a column proves nothing: only what has a form can be found."
    return reports.section(
        "What columns hold, by their values",
        reports.table(("column", "what its values hold"), body, numbers=0),
        f'<p class="note">{note}</p>',
    )


def _columns(report: RiskReport) -> list[str]:
    """What each quasi-identifier adds."""
    total = max(report.units, 1)
    body = [
        (each.name, f"{each.values:,}", _percent(each.alone / total), _percent(each.without / total))
        for each in report.columns
    ]
    head = ("column", "values", "unique by it alone", "unique without it")
    return reports.section("What each column adds", reports.table(head, body, numbers=3))


def _sets(report: RiskReport) -> list[str]:
    """The minimal identifying sets."""
    found = report.identifiers
    limit = "" if found.at_most is None else f", of {found.at_most} columns at the most"
    body = [(", ".join(each.columns), _percent(each.unique_share)) for each in found.minimal[:_SETS]]
    more = len(found.minimal) - _SETS
    return reports.section(
        f"Smallest sets of columns that single out more than {_percent(float(found.share))} of the "
        f"{_noun(report).many}{limit}",
        reports.table(("columns", f"unique {_noun(report).many}"), body, numbers=1) if body else "<p>None does.</p>",
        *([f'<p class="note">And {more:,} more.</p>'] if more > 0 else []),
    )


def _exposures(report: RiskReport) -> list[str]:
    """What classes say of sensitive columns."""
    parts, many = [], _noun(report).many
    for each in report.exposures:
        body = [(one.name, one.says, _number(one.value)) for one in each.measures]
        parts += reports.section(
            f"What classes say of {each.sensitive}",
            f"<p>{each.homogeneous:,} {many} are in classes with a single value. A guess from the class is right for "
            f"{_percent(each.guessed)} of the {many}, and for {_percent(each.baseline)} without it.</p>",
            reports.table(("model", "what it says", "reached"), body, numbers=1),
        )
    return parts


def _promises(report: RiskReport) -> list[str]:
    """The models that were asked for."""
    body = [
        ("kept" if each.met else "broken", each.promise, _number(each.reached), f"{each.failing:,}")
        for each in report.checked
    ]
    head = ("", "promise", "reached", f"{_noun(report).many} that break it")
    return reports.section("Promises", reports.table(head, body, numbers=2)) if body else []


def _population(report: RiskReport) -> list[str]:
    """The estimates for the population."""
    found = report.population
    if found is None:
        return []
    models = {"Zayatz": found.zayatz, "slide negative binomial": found.snb, "Pitman": found.pitman}
    body = [(name, "did not converge" if each is None else f"{each:,.0f}") for name, each in models.items()]
    return reports.section(
        "In the population",
        f"<p>About {found.estimate:,.0f} of {found.people:,} people ({_percent(found.share)}) are unique, by the model "
        f"that the decision rule takes: {escape(found.chosen)}.</p>",
        reports.table(("model", "unique people"), body, numbers=1),
    )


def _guesses(report: RiskReport) -> list[str]:
    """What the columns were taken for."""
    if report.attributes is None:
        return []
    body = [(each.column, str(each.kind), each.reason) for each in report.attributes.guesses]
    return reports.section("What the columns were taken for", reports.table(("column", "kind", "why"), body, numbers=0))


def _noun(report: RiskReport) -> Noun:
    """What is counted."""
    from discreet.anonymity.words import Noun

    return Noun.of(report.unit)


def _percent(share: float) -> str:
    """A share in percent, as the report in the terminal has it."""
    from discreet.anonymity.words import percent

    return percent(share)


def _number(value: float) -> str:
    """A figure with four digits."""
    return f"{value:.4g}" if isfinite(value) else "∞"
