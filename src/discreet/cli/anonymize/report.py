"""The outcome, told: on the screen, as a page of HTML, and in files that are written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from discreet.cli.anonymize.outcome import Outcome, Shown, Threat, is_formula, is_text
from discreet.cli.common import reports, screen
from discreet.cli.common.reports import Write, refuse_to_replace, write_all
from discreet.cli.common.screen import number_of, say
from discreet.errors import InvalidArgument
from discreet.printable import printable
from discreet.results import no_formula, plain

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymity.models import Model
    from discreet.anonymity.reduce.lattice_search import Search

TABLES, REPORTS = (".csv", ".parquet"), (".html", ".json")

_LABEL, _FIGURE = 12, 9


def show(outcome: Outcome, output: Path | None, report: Path | None) -> None:
    """Print what was chosen, what that cost, what proves it, and what attackers can still do."""
    if outcome.release.repeated:
        from discreet.anonymity.words import rows_counted, say_whose

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
    say("\nWhat an attacker can do who knows these columns")
    _threats(outcome.threats)
    say()
    say(f"{outcome.release.caveat} `discreet init` sets up answers that have such a bound.", 0)
    say()
    if outcome.formulas and (output is None or output.suffix.lower() == ".csv"):
        _fact("beware", warning(outcome.formulas))
    written = " and ".join(str(path) for path in (output, report) if path is not None)
    _fact("written", written or "nothing; --output FILE.csv or FILE.parquet writes the table, --report FILE.html this")


def still_at_risk(outcome: Outcome) -> str:
    """What is still at risk, in one sentence."""
    if outcome.release.repeated:
        return "Not told, as rows were counted and not people."
    found = "; ".join(outcome.at_risk) or "nothing is released"
    return f"{found[:1].upper()}{found[1:]}."


def of_rows(outcome: Outcome) -> str:
    """A remark where rows were counted and perhaps not people."""
    return " of rows, not of people" if outcome.release.repeated else ""


def _threats(threats: Sequence[Threat]) -> None:
    """A table of what attackers can do; on a terminal too narrow for it, with folded words."""
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
    """A label and what follows it."""
    say(printable(f"{label:<{_LABEL}}{text}"), _LABEL)


def facts(outcome: Outcome) -> dict[str, str]:
    """What was promised, what it cost, and what proves it, by label."""
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
    """What the other algorithms would lose, where several were tried."""
    release, name = outcome.release, outcome.choices.loss
    others = {way: loss for way, loss in release.tried.items() if way != release.algorithm}
    if not others:
        return ""
    told = ", ".join(f"{way} {_number(loss)}" for way, loss in sorted(others.items(), key=lambda each: each[1]))
    return f", which loses least ({name} {_number(release.tried[release.algorithm])}; {told})"


def _nothing(models: Sequence[Model]) -> str:
    """A remark where nothing is promised that any table wouldn't keep."""
    from discreet.anonymity.models import KAnonymity

    asked = [model for model in models if not (isinstance(model, KAnonymity) and model.k == 1)]
    return "" if asked else ", which asks for nothing; a --k of 2 or more does"


def _number(value: float) -> str:
    """A figure: whole, or with four digits."""
    if not isfinite(value):
        return "∞"
    return f"{value:,.0f}" if value == int(value) or value >= 1_000 else f"{value:.4g}"  # noqa: PLR2004 — four digits


def proof(search: Search) -> dict[str, str]:
    """What was searched, and what that proves."""
    bound = "" if search.bound is None else f"; what wasn't evaluated loses {float(search.bound):.4g} or more"
    return {
        "proof": search.verdict,
        "": f"loss {float(search.loss):.4g} ({search.loss_name}); {search.evaluated:,} evaluated, "
        f"{search.pruned_by_bound:,} ruled out by bounds, {search.pruned_by_monotony:,} by monotony{bound}",
    }


def shown(column: Shown) -> str:
    """How a column is shown, in words."""
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
    """What a spreadsheet would do."""
    cells = number_of(formulas, "cell begins", "cells begin")
    return (
        f"{cells} with =, +, - or @, which a spreadsheet takes for a formula; they are written as they are, so import "
        "the file with its columns as text, or write it with --for-spreadsheets"
    )


def page(outcome: Outcome, name: str) -> str:
    """The outcome as HTML.

    Args:
        outcome: with all figures.
        name: what the original is called.
    """
    from discreet.anonymity.words import rows_counted, say_whose

    release = outcome.release
    promised = ", ".join(str(model) for model in release.models) + of_rows(outcome)
    released = f"{release.rows - release.suppressed:,} of {release.rows:,} rows are released, with {promised}."
    key = [f"{rows_counted(release.repeated)} {say_whose(release.repeated)}"] if release.repeated else []
    beware = [f'<p class="note">{escape(warning(outcome.formulas).capitalize())}.</p>'] if outcome.formulas else []
    return reports.page(
        f"What became of {name}",
        [
            *(f'<p class="key">{escape(each)}</p>' for each in [*(key or [still_at_risk(outcome)]), released]),
            *reports.section(
                "What attackers can do",
                reports.table(
                    ("who knows the columns that become coarser", "before", "after"),
                    [(each.what, *figures(each)) for each in outcome.threats],
                    numbers=2,
                ),
                f"<p>{escape(release.caveat)}</p>",
                reports.REMEDY,
            ),
            *_drawn(outcome),
            *reports.section(
                "How columns are shown",
                reports.table(("column", "how"), [(each.name, shown(each)) for each in outcome.shown], numbers=0),
            ),
            *reports.section("What was done", _facts(outcome), *beware),
        ],
    )


def _facts(outcome: Outcome) -> str:
    """What was promised, what it cost, and what proves it."""
    rows = [(label or "search", text) for label, text in facts(outcome).items()]
    return reports.table(("what", "how"), rows, numbers=0)


def _drawn(outcome: Outcome) -> list[str]:
    """The class sizes of the release."""
    risks = outcome.release.risks
    if risks is None or not len(risks.sizes.sizes):
        return []
    from discreet import plot
    from discreet.anonymity.words import Noun

    counts = dict(zip(risks.sizes.sizes.tolist(), risks.sizes.units.tolist(), strict=True))
    columns, noun = outcome.release.quasi_identifiers, Noun.of(outcome.release.unit).many
    return reports.figures([lambda: plot.class_sizes(counts, columns=columns, noun=noun)])


def check(read: Sequence[Path], output: Path | None, report: Path | None, *, force: bool) -> None:
    """Refuse before anything is computed what couldn't be written, or would replace what is read.

    Args:
        read: the original, and hierarchies.
        output: where the table is to go.
        report: where the report is to go.
        force: whether files that are there may be replaced.

    Raises:
        InvalidArgument: an ending is another, a file is in the way, or two are the same.
    """
    for path, endings in ((output, TABLES), (report, REPORTS)):
        if path is not None:
            refuse_to_replace(path, force=force, read=read, endings=endings)


def save(outcome: Outcome, output: Path | None, report: Path | None, *, name: str, for_spreadsheets: bool) -> None:
    """Write the release and the report: both once both are complete, or neither.

    Raises:
        InvalidArgument: one can't be written.
    """
    files: dict[Path, Write] = {}
    if output is not None:
        is_read = for_spreadsheets and output.suffix.lower() == ".csv"
        table = _without_formulas(_plain(outcome.release.table)) if is_read else outcome.release.table
        files[output] = lambda draft: _write_table(table, draft)
    if report is not None:
        files[report] = lambda draft: draft.write_text(_report(outcome, draft.suffix.lower(), name), encoding="utf-8")
    write_all(files)


def _write_table(table: pa.Table, path: Path) -> None:
    """Write a table as its file's ending says.

    Raises:
        InvalidArgument: CSV has no way to write a column of that kind.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        if path.suffix.lower() == ".parquet":
            pa.parquet.write_table(table, path)
        else:
            pa.csv.write_csv(_plain(table), path)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        raise InvalidArgument(
            f"a column can't be written as {path.suffix}", hint="--output FILE.parquet takes every kind of column"
        ) from None


def _plain(table: pa.Table) -> pa.Table:
    """The table without dictionaries, which CSV doesn't know."""
    import pyarrow as pa

    kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))


def _without_formulas(table: pa.Table) -> pa.Table:
    """The table without texts that a spreadsheet takes for formulas; all else is what it was."""
    import pyarrow as pa

    columns = []
    for column in table.columns:
        if is_text(column.type):
            coded = column.combine_chunks().dictionary_encode()
            texts = [no_formula(text) if is_formula(text) else text for text in coded.dictionary.to_pylist()]
            columns.append(pa.array(texts, column.type).take(coded.indices))
        else:
            columns.append(column)
    return pa.table(columns, names=[no_formula(name) for name in table.column_names])


def _report(outcome: Outcome, ending: str, name: str) -> str:
    """The report as its file's ending says."""
    if ending == ".json":
        return json.dumps(plain(outcome.to_dict()), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    return page(outcome, name)
