"""Plans on the screen, or in a format for programs."""

from __future__ import annotations

from discreet.cli.common.options import Format
from discreet.cli.common.screen import printable, say_folded
from discreet.cli.common.sheets import Sheet, show_json
from discreet.query.planner import Plan

_HANG = 10
"""Where the text of a plan begins, behind its titles."""


def show_plan(plan: Plan, as_format: Format) -> None:
    """Write what a question would cost, and the ± to expect, to standard output.

    As CSV or Arrow: the error to expect of each column.
    """
    expected = Sheet(
        ("column", "error", "rows", "ranks", "share"),
        [(one.column, one.error, one.rows, one.ranks, one.share) for one in plan.expected],
    )
    match as_format:
        case Format.TABLE:
            for line in plan.explain().splitlines():
                say_folded(printable(line), _HANG)
        case Format.JSON:
            show_json({**plan.to_dict(), "expected": expected.records()})
        case Format.CSV | Format.ARROW:
            expected.show(as_format)
