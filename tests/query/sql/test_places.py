"""Places of errors: whoever refuses knows an offset, and who reads the refusal a line and a column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlglot import exp, parse_one

from discreet.errors import QueryError, TypeMismatch
from discreet.query.sql import explained, options, parse, question
from discreet.query.sql.places import in_text, offset_of, place_at, placed
from support.asked import TABLES

TEXT = "SELECT COUNT(*)\nFROM people\n  WHERE agee > 3"


def test_places_count_lines_and_columns_from_one() -> None:
    """The place is where the trouble begins."""
    with pytest.raises(QueryError) as caught:
        question(TEXT, TABLES)
    assert caught.value.place == (3, 9)
    assert place_at("a\n\nb", 3) == (3, 1)
    assert "line 3, column 9: " in str(caught.value)


@pytest.mark.parametrize(
    ("read", "place"),
    [
        (lambda: question(TEXT, TABLES), (3, 9)),
        (lambda: parse("SELECT 1\n  FROM a; SELECT 2 FROM b", "duckdb"), (2, 11)),
        (lambda: options("SELECT WITH\n NOISE 1 FROM a", "duckdb"), (2, 2)),
        (lambda: explained("EXPLAIN\nANALYZE SELECT 1"), (2, 1)),
    ],
    ids=["question", "parse", "options", "explained"],
)
def test_no_offset_leaves(read: Callable[[], Any], place: tuple[int, int]) -> None:
    """Wherever a text comes in, errors leave with a line and a column alone."""
    with pytest.raises(QueryError) as caught:
        read()
    assert (caught.value.place, caught.value.at, caught.value.called) == (place, None, "")


def test_the_innermost_node_says_the_place() -> None:
    """A node around it changes nothing; one without a position leaves it to those around it."""
    tree: Any = parse_one("SELECT a\nFROM t")
    new: Any = exp.column("new")
    table = tree.find(exp.Table)
    assert offset_of(new, table, tree) == 7
    with pytest.raises(TypeMismatch) as caught, in_text("SELECT a\nFROM t"), placed(tree), placed(new), placed(table):
        raise TypeMismatch("no")
    assert caught.value.place == (2, 6)
    with pytest.raises(TypeMismatch) as caught, in_text("SELECT a\nFROM t"), placed(tree), placed(new):
        raise TypeMismatch("no")
    assert caught.value.place == (1, 8)


def test_functions_are_called_what_the_question_calls_them() -> None:
    """If the message's name is none of the question's words; and a name within it is left alone."""
    for text, called in (
        ("SELECT COUNT(*) FROM people WHERE UCASE(age) = 1", "UCASE takes"),
        ("SELECT COUNT(*) FROM people WHERE UPPER(age) = 1", "UPPER takes"),
    ):
        with pytest.raises(TypeMismatch, match=called):
            question(text, TABLES, "mysql")
