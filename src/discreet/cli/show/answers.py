"""Answers: every noisy value with its ±, above what it cost and what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    match as_format:
        case Format.TABLE:
            rows, right = laid_out(answer, confidence)
            show_table(answer.names, rows, right=right)
            show_notes(answer)
        case Format.JSON:
            data = answer.to_json(confidence)
            found = {name: data.pop(name) for name in ("columns", "rows", "intervals", "confidence", "cost")}
            show_json({**found, "spent": of_everyone(tables).data["spent"], **data})
        case Format.CSV | Format.ARROW:
            names, values = with_ends(answer, confidence)
            Sheet(tuple(names), values, {column.name: column.kind for column in answer.columns}).show(
                as_format, raw=raw
            )


def laid_out(answer: Answer, confidence: float) -> tuple[list[tuple[str, ...]], list[bool]]:
    """The rows of an answer as texts, each noisy value with its ±; and which columns are set to the right.

    Args:
        answer: what was released.
        confidence: of the intervals, in (0, 1).
    """
    intervals = {name: answer.interval(name, confidence) for name in answer.names}
    columns = [with_errors(answer.column(name), intervals[name]) for name in answer.names]
    right = [any(intervals[name]) or all(map(is_number, answer[name])) for name in answer.names]
    return list(zip(*columns, strict=True)), right


def show_notes(answer: Answer | Summary, spelled: Callable[[str], str] = str) -> None:
    """Print the notes under an answer.

    Args:
        answer: what was released.
        spelled: puts what they say of options into the words of where they are read.
    """
    for title, words in answer.notes("cli"):
        say(printable(f"{title:<11}{spelled(words)}"), UNDER)


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
