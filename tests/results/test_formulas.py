"""No text that somebody wrote is a formula in what people open: of all writers of CSV, each with every beginning."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.show.formats import Format
from discreet.cli.show.sheets import Sheet
from discreet.results import no_formula, to_csv
from support.examples import examples

OBEYED = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "﹢", " =", "\u00a0@", "\ufeff+", "\u200b-")
"""How cells begin that a spreadsheet carries out, or may."""

FORMULAS = st.builds(str.__add__, st.sampled_from(OBEYED), st.text(max_size=8))
HARMLESS = st.text(st.characters(categories=["L", "N"]), max_size=8)


def read(text: str) -> list[list[str]]:
    """The cells, as a program reads them."""
    return list(csv.reader(io.StringIO(text, newline="")))


def sheet(names: list[str], rows: list[list[object]], *, raw: bool) -> str:
    """The same as the command line writes it."""
    written = io.StringIO(newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", written)
        Sheet(tuple(names), rows).show(Format.CSV, raw=raw)
    return written.getvalue()


WRITERS: tuple[Callable[..., str], ...] = (to_csv, sheet)


@pytest.mark.parametrize("write", WRITERS)
@given(FORMULAS, FORMULAS, HARMLESS)
@examples(100)
def test_no_cell_begins_like_a_formula(write: Callable[..., str], name: str, text: str, harmless: str) -> None:
    """Neither a value nor a header: each that does has an apostrophe before it, and is else what it was."""
    cells = read(write([name, harmless], [[text, harmless], [harmless, text]], raw=False))
    assert cells == [[f"'{name}", harmless], [f"'{text}", harmless], [harmless, f"'{text}"]]
    assert read(write([name, harmless], [[text, harmless]], raw=True)) == [[name, harmless], [text, harmless]]


@pytest.mark.parametrize("write", WRITERS)
@given(
    st.lists(
        st.one_of(
            st.integers(),
            st.floats(allow_nan=False, allow_infinity=False),
            st.decimals(allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
    )
)
@examples(50)
def test_numbers_stay_numbers(write: Callable[..., str], numbers: list[Any]) -> None:
    """Also those below zero; raw or not, they are written alike."""
    columns = [f"c{place}" for place in range(len(numbers))]
    written = write(columns, [numbers], raw=False)
    if not any(isinstance(number, Decimal) for number in numbers):
        assert written == write(columns, [numbers], raw=True)
        assert [float(cell) for cell in read(written)[1]] == [float(number) for number in numbers]


def test_dates_truths_and_nulls_stay_what_they_are() -> None:
    """No apostrophe before them."""
    assert to_csv(["a", "b", "c"], [[date(2020, 4, 1), True, None]]) == "a,b,c\n2020-04-01,True,\n"


@given(st.text())
@examples(200)
def test_what_has_an_apostrophe_gets_no_other(text: str) -> None:
    """A text is left as it is, or has one sign more; what was made harmless stays so."""
    once = no_formula(text)
    assert once in {text, f"'{text}"}
    assert no_formula(once) == once
