"""The outcome on the screen, and the words that the page shares with it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from discreet.cli.anonymize.outcome import Outcome, Shown, Threat
from discreet.cli.show import screen
from discreet.cli.show.screen import say
from discreet.cli.show.words import number_of
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.anonymity.models import Model
    from discreet.anonymity.reduce.lattice_search import Search

_LABEL, _FIGURE = 12, 9


def show(outcome: Outcome, output: Path | None, report: Path | None) -> None:
    """Print what was chosen, what that cost, what proves it, and what attackers can still do."""
    if outcome.release.repeated:
        from discreet.anonymity.repeated import rows_counted, say_whose

        say(printable(rows_counted(outcome.release.repeated)), 0)
        say(printable(say_whose(outcome.release.repeated)), 0)
        say()
    _fact("at risk", still_at_risk(outcome))
    for label, text in facts(outcome).items():
        _fact(label, text)
    say("\nHow columns are shown")
    width = max((len(each.name) for each in outcome.shown), default=0) + 2
    for each in outcome.shown:
        say(printable(f"  {each.name:<{width}}{shown(each)}"), width + 2)
    say("\nWhat an attacker who knows these columns can do")
    _threats(outcome.threats)
    say()
    say(f"{outcome.release.caveat} `discreet init` sets up answers that have such a bound.", 0)
    say()
    if outcome.formulas and (output is None or output.suffix.lower() == ".csv"):
        _fact("beware", warning(outcome.formulas))
    written = " and ".join(str(path) for path in (output, report) if path is not None)
    _fact("written", written or "nothing; --output FILE.csv or FILE.parquet writes the table, --report FILE.html this")


def still_at_risk(outcome: Outcome) -> str:
    """The remaining risk in one sentence."""
    if outcome.release.repeated:
        return "Not known, because rows were counted, not people."
    found = "; ".join(outcome.at_risk) or "nothing is released"
    return f"{found[:1].upper()}{found[1:]}."


def of_rows(outcome: Outcome) -> str:
    """A remark for tables whose rows may not be people."""
    return " of rows, not of people" if outcome.release.repeated else ""


def _threats(threats: Sequence[Threat]) -> None:
    """Print a table of what attackers can do, its words folded if the terminal is narrow."""
    width = max(len(each.what) for each in threats) + 2
    if (limit := screen.width()) is not None:
        width = min(width, max(limit - 2 - 2 * _FIGURE, min(_LABEL, limit // 2)))
    say(f"  {'':<{width}}{'before':>{_FIGURE}}{'after':>{_FIGURE}}")
    for threat in threats:
        before, after = figures(threat)
        *above, last = wrap(printable(threat.what), width - 2)
        for line in above:
            say(f"  {line}")
        say(f"  {last:<{width}}{before:>{_FIGURE}}{after:>{_FIGURE}}")


def _fact(label: str, text: str) -> None:
    """Print a label and its text."""
    say(printable(f"{label:<{_LABEL}}{text}"), _LABEL)


def facts(outcome: Outcome) -> dict[str, str]:
    """The promise, its cost and its proof, by label."""
    from discreet.anonymity.words import percent

    release = outcome.release
    share = release.suppressed / release.rows if release.rows else 0.0
    allowed = f"{percent(float(outcome.choices.suppression))} may be"
    by_unit = {}
    if release.unit:
        touched = release.touched / release.units if release.units else 0.0
        by_unit["units"] = (
            f"{release.units:,}, by {', '.join(release.unit)}; {release.touched:,} "
            f"{'has' if release.touched == 1 else 'have'} rows that are left out ({percent(touched)}, {allowed})"
        )
    roles = outcome.roles
    lines = {
        "promised": ", ".join(str(model) for model in release.models) + of_rows(outcome) + _nothing(release.models),
        "reached": ", ".join(f"{_number(value)} in {name}" for name, value in release.reached.items()),
        "rows": f"{release.rows - release.suppressed:,} of {release.rows:,}; {release.suppressed:,} left out "
        f"({percent(share)}" + (")" if release.unit else f", {allowed})"),
        **by_unit,
        "coarser": ", ".join(roles.quasi_identifying),
        "as they are": ", ".join([*roles.sensitive, *roles.kept]) or "none",
        "left out": ", ".join([*release.unit, *roles.left_out]) or "no column",
        "losses": ", ".join(f"{name} {_number(value)}" for name, value in release.losses.items()),
        "found by": release.algorithm + _trade(outcome),
    }
    return {**lines, **({} if release.search is None else proof(release.search))}


def _trade(outcome: Outcome) -> str:
    """The losses of the other algorithms, if several were tried."""
    release, name = outcome.release, outcome.choices.loss
    others = {way: loss for way, loss in release.tried.items() if way != release.algorithm}
    if not others:
        return ""
    told = ", ".join(f"{way} {_number(loss)}" for way, loss in sorted(others.items(), key=lambda each: each[1]))
    return f", which loses least ({name} {_number(release.tried[release.algorithm])}; {told})"


def _nothing(models: Sequence[Model]) -> str:
    """A remark where the promise asks for nothing."""
    from discreet.anonymity.models import KAnonymity

    asked = [model for model in models if not (isinstance(model, KAnonymity) and model.k == 1)]
    return "" if asked else ", which every table is; ask for a --k of 2 or more"


def _number(value: float) -> str:
    """A figure: whole, or with four digits."""
    if not isfinite(value):
        return "∞"
    return f"{value:,.0f}" if value == int(value) or value >= 1_000 else f"{value:.4g}"  # noqa: PLR2004 — four digits


def proof(search: Search) -> dict[str, str]:
    """The extent of the search, and what it proves."""
    bound = "" if search.bound is None else f"; any other loses at least {float(search.bound):.4g}"
    return {
        "proof": search.verdict,
        "": f"loss {float(search.loss):.4g} ({search.loss_name}); {search.evaluated:,} evaluated, "
        f"{search.pruned_by_bound:,} ruled out by bounds, {search.pruned_by_monotony:,} by monotony{bound}",
    }


def shown(column: Shown) -> str:
    """The form in which a column is shown, in words."""
    values = number_of(column.values, "value", "values")
    what = "as it was" if column.level == 0 else f"{values} become {column.cells:,}"
    level = "" if column.level is None else f", level {column.level} of {column.height}"
    origin = f" ({column.origin})" if column.origin else ""
    return f"{what}{level}{origin}"


def figures(threat: Threat) -> tuple[str, str]:
    """Both figures of a threat: shares in percent, rows as they are."""
    from discreet.anonymity.words import percent

    before, after = (
        f"{value:,}" if isinstance(value, int) else percent(value) for value in (threat.before, threat.after)
    )
    return before, after


def warning(formulas: int) -> str:
    """The warning about cells that a spreadsheet would take for formulas."""
    cells = number_of(formulas, "cell begins", "cells begin")
    return (
        f"{cells} with =, +, - or @, which a spreadsheet would take for a formula; they are written as they are, so "
        "import the columns as text, or write the file with --for-spreadsheets"
    )
