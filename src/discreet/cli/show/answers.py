"""Answers: every noisy value with its ±, above what it cost and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet, cell, is_number, show_json, show_table
from discreet.cli.show.standing import of_everyone
from discreet.printable import printable
from discreet.results import cell_texts, with_ends

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote
    from discreet.results import Answer, AnswerColumn, Summary

Interval: TypeAlias = tuple[float, float] | None

UNDER = 11
"""The column where the text of the lines under an answer begins, after their titles."""


def show_answer(
    answer: Answer, tables: Protected | Remote, as_format: Format, confidence: float, *, raw: bool = False
) -> None:
    """Write an answer to standard output.

    A table ends with the notes of the answer. JSON has `rows`, `intervals`, `cost`, `spent`, `entry`, `reused` and
    `origin`: the entries that the answer follows from, if it was worked out from others; `warnings`, if any;
    `certificate` and `signature`.
    In CSV and Arrow the ends of a column's intervals follow it, as `name_low` and `name_high`.

    Args:
        answer: what was released.
        tables: that were asked, for what JSON says of what is spent.
        as_format: how to write it.
        confidence: of the intervals, in (0, 1).
        raw: leave texts in CSV as they are.
    """
    intervals = {name: answer.interval(name, confidence) for name in answer.names}
    match as_format:
        case Format.TABLE:
            _show_table(answer, intervals)
            show_notes(answer)
        case Format.JSON:
            data = answer.to_json(confidence)
            found = {name: data.pop(name) for name in ("columns", "rows", "intervals", "confidence", "cost")}
            show_json({**found, "spent": of_everyone(tables).data["spent"], **data})
        case Format.CSV | Format.ARROW:
            names, rows = with_ends(answer, confidence)
            Sheet(tuple(names), rows, {column.name: column.kind for column in answer.columns}).show(as_format, raw=raw)


def _show_table(answer: Answer, intervals: dict[str, list[Interval]]) -> None:
    """Print the values, each with its ±."""
    columns = [with_errors(answer.column(name), intervals[name]) for name in answer.names]
    right = [any(intervals[name]) or all(map(is_number, answer[name])) for name in answer.names]
    show_table(answer.names, list(zip(*columns, strict=True)), right=right)


def show_notes(answer: Answer | Summary) -> None:
    """Print the notes under an answer."""
    for title, words in answer.notes("cli"):
        say(printable(f"{title:<11}{words}"), UNDER)


def with_errors(column: AnswerColumn, intervals: Sequence[Interval]) -> list[str]:
    """Each value with its ±, rounded to the digits that are meaningful, without signs that a terminal would obey.

    Args:
        column: of an answer.
        intervals: around each value; None where there is none.

    Examples:
        >>> from discreet.results import AnswerColumn
        >>> with_errors(AnswerColumn("a", "real", (38.58164, None)), [(38.34, 38.82), None])
        ['38.58 ± 0.24', 'NULL']
    """
    texts = cell_texts(column, intervals)
    return [
        cell(value)
        if ends is None and column.is_informative(value, ends) and row not in column.withheld
        else printable(text)
        for row, (value, ends, text) in enumerate(zip(column.values, intervals, texts, strict=True))
    ]
