"""Admissions: what was put in force, and what couldn't be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.cli.common.table_file import say_unread
from discreet.cli.show.screen import error_console, say
from discreet.cli.show.words import number_of

if TYPE_CHECKING:
    from discreet.gateway import AdmissionReport


def show_admission(done: AdmissionReport, *, report: bool) -> None:
    """Say what was put in force, and of which tables something couldn't be read."""
    if done.version is None:
        say("nothing was put in force")
    for group, version in done.groups.items():
        say(f"version {version} is in force{f', of {group}' if group else ''}")
    if done.problem:
        error_console().print(f"the sources couldn't be read, so the earlier snapshot stays in use: {done.problem}")
    for name, found in done.tables.items():
        lost = found["left_out"] + found["malformed"]
        if report:
            rows, records = number_of(found["rows"], "row", "rows"), number_of(lost, "record", "records")
            say(f"{name}: {rows}; {records} left out")
            for line in _lines(found):
                say(f"  {line}")
        elif is_incomplete(found):
            say(f"{name}: not everything could be read; --report says what")


def _lines(found: Mapping[str, Any]) -> list[str]:
    """Lines on what couldn't be read of a table, one for each kind."""
    lines = []
    if found["left_out"]:
        of_ids = found.get("unreadable_ids", 0)
        unread = f"; of {of_ids:,} because it couldn't be read" if of_ids else ""
        rows = number_of(found["left_out"], "row doesn't say whose it is", "rows don't say whose they are")
        lines.append(rows + unread)
    beyond = found["beyond_most_rows_per_unit"]
    if beyond["units"]:
        units = number_of(beyond["units"], "unit has", "units have")
        rows = number_of(beyond["rows"], "row", "rows")
        lines.append(f"{units} more rows than most_rows_per_unit; {rows} beyond it left out")
    if found["malformed"]:
        first = ", ".join(map(str, found["malformed_lines"][:10]))
        where = f"; the first on lines {first}" if found["malformed"] > 1 else f", on line {first}"
        causes = ", ".join(f"{count:,} {cause}" for cause, count in found.get("malformed_causes", {}).items())
        lines.append(number_of(found["malformed"], "malformed record", "malformed records") + where + f" ({causes})")
    for column, count in found["unreadable"].items():
        unread = number_of(count, "value couldn't be read, and is", "values couldn't be read, and are")
        lines.append(f"{column}: {unread} NULL")
    for column, count in found["cut"].items():
        cut = number_of(count, "text was", "texts were")
        lines.append(f"{column}: {cut} cut to max_length")
    return [*lines, *_unit_sizes(found["units"], found["rows"])] if "units" in found else lines


def _unit_sizes(units: Mapping[str, Any], rows: int) -> list[str]:
    """How many rows units have, and what limits would cut off; nothing for an empty table."""
    if not units["units"]:
        return []
    if units["greatest"] == 1:
        lines = [f"each of {units['units']:,} units has one row"]
    else:
        quantiles = ", ".join(f"{part} % at most {size:,}" for part, size in units["quantiles"].items())
        greatest = f"{units['greatest']:,} ({_part(units['greatest'], rows)})"
        cut_off = ", ".join(f"{_part(lost, rows)} at {limit}" for limit, lost in units["cut_off"].items())
        lines = [
            f"rows of one unit: {quantiles}; the greatest of {units['units']:,} units has {greatest}",
            f"limits on rows would cut off {cut_off}",
        ]
    for form, each in units["placeholders"].items():
        ids = number_of(each["ids"], "id looks", "ids look")
        counted = number_of(each["rows"], "row", "rows")
        lines.append(f"{ids} like a place-holder ({form}), with {counted}: left out, because they are nobody's")
    return lines


def _part(count: int, rows: int) -> str:
    """A share of all rows, in percent with three digits."""
    return f"{100 * count / rows:.3g} %" if rows else "0 %"


def say_incomplete(done: AdmissionReport | None) -> None:
    """Say on standard error which tables couldn't be read whole, after a command that admitted tables by itself.

    Args:
        done: what the admission did; None if there was none.
    """
    say_unread(
        [
            f"{name}: not everything could be read; `discreet admit --check --report` says what"
            for name, found in (done.tables if done is not None else {}).items()
            if is_incomplete(found)
        ]
    )


def is_incomplete(found: Mapping[str, Any]) -> bool:
    """Whether something of a table was left out, or is NULL because it couldn't be read."""
    beyond = found["beyond_most_rows_per_unit"]["units"]
    return bool(found["left_out"] or found["malformed"] or found["unreadable"] or beyond)
