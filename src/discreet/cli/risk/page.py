"""The report on a table as a page of HTML."""

from __future__ import annotations

from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from discreet.cli.show import pages

if TYPE_CHECKING:
    from discreet.anonymity.risk import RiskReport
    from discreet.anonymity.words import Noun
    from discreet.cli.risk.filing import Filed

_SETS = 25
"""How many identifying sets are listed; `--format json` has them all."""


def page(report: RiskReport, name: str, filed: Filed) -> str:
    """The report as HTML.

    Args:
        report: with all figures.
        name: what the table is called.
        filed: how it was made.
    """
    from discreet.anonymity.words import taken_as

    return pages.page(
        f"Who can be singled out in {name}",
        [
            _key(report),
            *filed.particulars(report),
            *filed.risks(report),
            *filed.eighteen(report),
            *pages.section("What to do", pages.items(report.advice, numbered=True), pages.REMEDY),
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
            *filed.signature(),
        ],
    )


def _key(report: RiskReport) -> str:
    """The finding, in two sentences."""
    from discreet.anonymity.repeated import rows_counted
    from discreet.anonymity.words import Noun, listed

    if not report.rows:
        return '<p class="key">The table has no rows.</p>'
    if report.repeated:
        return f'<p class="key">{escape(rows_counted(report.repeated))}</p>'
    unique, noun = report.uniqueness, Noun.of(report.unit)
    units = f" A unit is all rows that share {escape(listed(report.unit))}." if report.unit else ""
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
    return pages.figures(
        [
            lambda: plot.class_sizes(counts, columns=report.quasi_identifiers, noun=noun),
            lambda: plot.column_risks(report.columns, total=report.units, unique=report.uniqueness.unique, noun=noun),
        ]
    )


def _risks(report: RiskReport) -> list[str]:
    """The three attackers."""
    found = report.reidentification
    whom = "by the register that was given" if found.population else "at most, because no register was given"
    body = [
        (name, says, _percent(each.highest), _percent(each.average), _percent(each.at_risk))
        for name, says, each in (
            ("prosecutor", "knows that someone is in the table", found.prosecutor),
            ("journalist", f"seeks anyone of the population, {whom}", found.journalist),
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
    return pages.section(title, pages.table(head, body, numbers=3))


def _contents(report: RiskReport) -> list[str]:
    """The section on the contents of columns."""
    body = [(name, str(content)) for name, content in report.contents.items() if content.found]
    if not body:
        return []
    note = "Finding nothing in a column proves nothing: only values with a known form can be found."
    return pages.section(
        "What columns hold, by their values",
        pages.table(("column", "what its values hold"), body, numbers=0),
        f'<p class="note">{note}</p>',
    )


def _columns(report: RiskReport) -> list[str]:
    """The section on what each quasi-identifier adds."""
    total = max(report.units, 1)
    body = [
        (each.name, f"{each.values:,}", _percent(each.alone / total), _percent(each.without / total))
        for each in report.columns
    ]
    head = ("column", "values", "unique by it alone", "unique without it")
    return pages.section("What each column adds", pages.table(head, body, numbers=3))


def _sets(report: RiskReport) -> list[str]:
    """The minimal identifying sets."""
    found = report.identifiers
    limit = "" if found.at_most is None else f", of at most {found.at_most} columns"
    body = [(", ".join(each.columns), _percent(each.unique_share)) for each in found.minimal[:_SETS]]
    more = len(found.minimal) - _SETS
    return pages.section(
        f"Smallest sets of columns that single out more than {_percent(float(found.share))} of the "
        f"{_noun(report).many}{limit}",
        pages.table(("columns", f"unique {_noun(report).many}"), body, numbers=1) if body else "<p>None does.</p>",
        *([f'<p class="note">And {more:,} more.</p>'] if more > 0 else []),
    )


def _exposures(report: RiskReport) -> list[str]:
    """The section on what classes say about sensitive columns."""
    parts, many = [], _noun(report).many
    for each in report.exposures:
        body = [(one.name, one.says, _number(one.value)) for one in each.measures]
        parts += pages.section(
            f"What classes say of {each.sensitive}",
            f"<p>{each.homogeneous:,} {many} are in classes with a single value. A guess from the class is right for "
            f"{_percent(each.guessed)} of the {many}, and for {_percent(each.baseline)} without it.</p>",
            pages.table(("model", "what it says", "reached"), body, numbers=1),
        )
    return parts


def _promises(report: RiskReport) -> list[str]:
    """The models that were asked for."""
    body = [
        ("kept" if each.met else "broken", each.promise, _number(each.reached), f"{each.failing:,}")
        for each in report.checked
    ]
    head = ("", "promise", "reached", f"{_noun(report).many} that break it")
    return pages.section("Promises", pages.table(head, body, numbers=2)) if body else []


def _population(report: RiskReport) -> list[str]:
    """The estimates for the population."""
    found = report.population
    if found is None:
        return []
    models = {"Zayatz": found.zayatz, "slide negative binomial": found.snb, "Pitman": found.pitman}
    body = [(name, "did not converge" if each is None else f"{each:,.0f}") for name, each in models.items()]
    return pages.section(
        "In the population",
        f"<p>About {found.estimate:,.0f} of {found.people:,} people ({_percent(found.share)}) are unique, by the model "
        f"that the decision rule takes: {escape(found.chosen)}.</p>",
        pages.table(("model", "unique people"), body, numbers=1),
    )


def _guesses(report: RiskReport) -> list[str]:
    """The section on what the columns were taken for."""
    if report.attributes is None:
        return []
    body = [(each.column, str(each.kind), each.reason) for each in report.attributes.guesses]
    return pages.section("What the columns were taken for", pages.table(("column", "kind", "why"), body, numbers=0))


def _noun(report: RiskReport) -> Noun:
    from discreet.anonymity.words import Noun

    return Noun.of(report.unit)


def _percent(share: float) -> str:
    """A share in percent, as the report in the terminal has it."""
    from discreet.anonymity.words import percent

    return percent(share)


def _number(value: float) -> str:
    """A figure with four digits."""
    return f"{value:.4g}" if isfinite(value) else "∞"
