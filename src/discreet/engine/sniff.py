"""Guessing what the columns of a CSV file hold. It reads the cells, so the guess is private to the custodian."""

from __future__ import annotations

from discreet.engine.reader import Snapshot
from discreet.engine.session import Session
from discreet.engine.text import name, string
from discreet.tables import Kind

_TESTS = (
    (Kind.BOOLEAN, "lower({0}) IN ('true', 'false')"),
    # a leading zero says that it is a code, such as a ZIP, and no number
    (Kind.INTEGER, "regexp_full_match({0}, '[+-]?(0|[1-9][0-9]*)') AND TRY_CAST({0} AS BIGINT) IS NOT NULL"),
    (Kind.REAL, "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT regexp_full_match({0}, '[+-]?0[0-9].*')"),
    (Kind.DATE, "regexp_full_match({0}, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}') AND TRY_CAST({0} AS DATE) IS NOT NULL"),
    (Kind.TIMESTAMP, "TRY_CAST({0} AS TIMESTAMP) IS NOT NULL AND contains({0}, ':')"),
)

_MISSING = ("?", "NA", "N/A", "NULL", "NaN")
"""What is often written for NULL. It doesn't make a text of a column: as a number, it is read as NULL anyway."""


def guess_kinds(session: Session, opened: Snapshot) -> list[Kind]:
    """The narrowest kind that holds all cells of each column; text if there is none, or no cell at all.

    Args:
        session: with the file open in it.
        opened: the file.
    """
    rows = session.execute(f"SELECT {', '.join(_verdicts(name(column)) for column in opened.types)} FROM {opened.view}")
    kinds = [kind for kind, _ in _TESTS]
    return [next((kind for kind, holds in zip(kinds, each, strict=True) if holds), Kind.TEXT) for each in rows[0]]


def _verdicts(cell: str) -> str:
    """For each test in turn, whether all cells that say something pass it; NULL if there is none."""
    asked = f"{cell} NOT IN ({', '.join(map(string, _MISSING))})"
    return "[" + ", ".join(f"bool_and({test.format(cell)}) FILTER ({asked})" for _, test in _TESTS) + "]"
