"""Summaries: a row for each column, counts by key with bars, and what it cost; or the ± to expect of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from discreet.cli.show.answers import UNDER, show_notes
from discreet.cli.show.formats import Format
from discreet.cli.show.plans import prospect_of, show_plan
from discreet.cli.show.screen import say, width
from discreet.cli.show.sheets import Sheet, show_json, show_table
from discreet.cli.show.standing import of_everyone
from discreet.printable import printable
from discreet.results import BAR, PARTS, Summary, answered_already, counts_text

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote, RemotePlan
    from discreet.query.planner import Plan
    from discreet.results import Count

_QUARTILES = ("q25", "median", "q75")

_NUMBERS = {"rows", "units", *PARTS.values()}
"""Columns that are set to the right."""

_GAP = 4
"""Blanks between counts that stand side by side."""


def show_summary(summary: Summary, tables: Protected | Remote, as_format: Format, *, raw: bool = False) -> None:
    """Write a summary to standard output.

    JSON has the table as text, and the `answers` with their certificates. In CSV and Arrow each number has a row.

    Args:
        summary: what was released.
        tables: that were asked, for what JSON says of what is spent.
        as_format: how to write it.
        raw: leave texts in CSV as they are.
    """
    match as_format:
        case Format.TABLE:
            say(printable(summary.headline))
            say()
            _show_columns(*summary.sheet())
            for lines in _beside([_counts(name, each) for name, each in summary.counts().items()]):
                say(printable("\n".join(lines)))
                say()
            show_notes(summary)
        case Format.JSON:
            show_json({**summary.to_json(), "spent": of_everyone(tables).data["spent"]})
        case Format.CSV | Format.ARROW:
            names = ("column", "part", "key", "value", "low", "high")
            rows = [list(row) for row in summary.long()]
            if as_format is Format.ARROW:  # whose columns are of one type
                rows = [[None if value is None else str(value) for value in row] for row in rows]
            Sheet(names, rows).show(as_format, raw=raw)


def show_summary_plan(plan: Plan | RemotePlan, tables: Protected | Remote, as_format: Format, *, raw: bool) -> None:
    """Write what a summary would cost, and the ± to expect of each part, to standard output."""
    if as_format is not Format.TABLE:
        show_plan(plan, tables, as_format, raw=raw)
        return
    found: dict[str, dict[str, str]] = {}
    for each in _expected(plan):
        column, _, part = each.column.rpartition(" ")
        found.setdefault(column, {})
        if half := _half(each):
            found[column][part] = half
    parts = [part for part in ("rows", "units", *PARTS) if any(part in halves for halves in found.values())]
    names = ["column", *(PARTS.get(part, part) for part in parts)]
    rows = [[column or "(all)", *(halves.get(part, "") for part in parts)] for column, halves in found.items()]
    _show_columns(names, rows)
    say(f"cost       {plan.cost}", UNDER)
    say(f"±          {_what(plan)}", UNDER)
    _, budget = prospect_of(plan, tables)
    for line in [answered_already(plan.answered_by)] if plan.answered_by else budget:
        title, _, words = line.partition(" ")
        say(f"{title:<11}{words.strip()}", UNDER)


def _show_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print the row of each column; in several tables, with quartiles apart, where a terminal is too narrow for one."""
    if not rows:
        return
    quartiles = {PARTS[part] for part in _QUARTILES}
    wide = [max(map(len, column)) + 2 for column in zip(names, *rows, strict=True)]
    limit = width()
    parts = [[0]]
    if limit is None or sum(wide) <= limit:
        parts = [list(range(len(names)))]
    else:
        for place in range(1, len(names)):
            together = (names[place] in quartiles) == (names[parts[-1][-1]] in quartiles)
            if parts[-1] != [0] and not (together and sum(wide[each] for each in (*parts[-1], place)) <= limit):
                parts.append([0])
            parts[-1].append(place)
    for some in parts:
        kept = [[row[place] for place in some] for row in rows]
        kept = [row for row in kept if any(row[1:])]
        show_table([names[place] for place in some], kept, right=[names[place] in _NUMBERS for place in some])
        say()


def _counts(name: str, counts: Sequence[Count]) -> list[str]:
    """The keys of a column, each with its rows and a bar."""
    if not counts:
        return [name, "none that enough people share"]
    room, limit = BAR, width()
    if limit is not None:
        keys, words = [name, *(one.key for one in counts)], ["rows", *(one.words for one in counts)]
        room = max(min(limit - max(map(len, keys)) - max(map(len, words)) - 4, BAR), 0)
    return counts_text(name, counts, room).split("\n")


def _beside(blocks: Sequence[list[str]]) -> Iterator[list[str]]:
    """Blocks of lines, two beside each other where the terminal is wide enough for both."""
    waiting = list(blocks)
    limit = width()
    while waiting:
        first = waiting.pop(0)
        long = max(map(len, first))
        if limit is None or not waiting or long + _GAP + max(map(len, waiting[0])) > limit:
            yield first
            continue
        pairs = zip_longest(first, waiting.pop(0), fillvalue="")
        yield [f"{one:<{long + _GAP}}{other}".rstrip() for one, other in pairs]


def _expected(plan: Plan | RemotePlan) -> Iterator[Any]:
    """The error to expect of each column of each answer; each plan has its own kind."""
    plans = getattr(plan, "plans", None)
    yield from plan.expected if plans is None else (one for each in plans for one in each.expected)


def _half(expected: Any) -> str:  # noqa: ANN401 — each plan has its own kind
    """The ± to expect, in short; of quartiles in rows by which their ranks are off."""
    if expected.error is not None:
        return f"± {expected.error:,.3g}" if expected.error < 100 else f"± {expected.error:,.0f}"  # noqa: PLR2004 — digits
    return "" if expected.ranks is None else f"{expected.ranks:,.0f} ranks"


def _what(plan: Plan | RemotePlan) -> str:
    """What must be known to read the ± to expect."""
    every = list(_expected(plan))
    rows = next((each.rows for each in every if each.rows is not None), None)
    words = [] if rows is None else [f"that of means holds in a group of {rows:,} rows"]
    words += ["quartiles are off by so many ranks"] if any(each.ranks is not None for each in every) else []
    words += ["that of std comes with the answer"] if any(each.column.endswith(" std") for each in every) else []
    return "; ".join(words or ["of counts"])
